"""Traces of sessions, which are stored and compared with those of other processes."""

from __future__ import annotations

import subprocess
import sys

import msgspec
import pytest

from geminids.core import agents
from geminids.core.agents.traces import Trace, key, trace
from tests.conftest import FIXTURES
from tests.support.reading import sessions

KEY = "from geminids.core.agents.traces import key; print(key('Fix the  login'))"


def test_a_key_is_the_same_in_every_process() -> None:
    printed = [
        subprocess.run([sys.executable, "-c", KEY], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert {int(number) for number in printed} == {key("Fix\nthe login")} == {-1128957912993312205}


@pytest.mark.parametrize("text", ["", "half \ud83d", "ü" * 70_000, "\0"])
def test_every_text_has_a_key_that_can_be_stored(text: str) -> None:
    assert -(2**63) <= key(text) < 2**63


def test_words_are_told_apart() -> None:
    assert len({key(word) for word in ("one", "two", "onetwo", "one two", "half \ud83d", "half ?")}) == 6


def test_a_trace_can_be_stored() -> None:
    source = agents.load("gemini")
    homes = sorted((FIXTURES / "gemini").glob("*/home"))
    traces = [trace(session) for home in homes for session in sessions(source, home)]
    assert any(found.said and found.calls and found.formats for found in traces)
    stored = msgspec.msgpack.encode(traces)
    assert msgspec.msgpack.decode(stored, type=list[Trace]) == traces
