"""Plain text: the words of a session, the same on every machine."""

from __future__ import annotations

import os
import time
from itertools import pairwise

import pytest

from geminids.core.model import Session, Thought
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.entries import LEVELS, Turn, transcript
from tests.support.exporting import exported, hostile_session, hostile_words, looked_at_sessions
from tests.support.telling_levels import CASES, told_words


def test_times_do_not_depend_on_where_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    session = looked_at_sessions()["ask-user"]
    before = exported("text", session)
    monkeypatch.setitem(os.environ, "TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert exported("text", session) == before
        assert b"UTC" in before
    finally:
        monkeypatch.undo()
        time.tzset()


def test_hostile_words_are_told_and_harmless() -> None:
    written = exported("text", hostile_session(), level="everything").decode()
    for words in hostile_words():
        for line in safe.text(words).split("\n"):
            assert f"  {line}".rstrip() in written


def test_every_turn_has_a_line_that_says_whose_it_is() -> None:
    session = hostile_session()
    entries = transcript(session, LEVELS["everything"])
    turns = [entry for entry in entries if isinstance(entry, Turn) and not entry.continues]
    written = exported("text", session, level="everything").decode()
    # What is said stands to the right, so only these lines begin at the margin.
    at_margin = [line for line in written.split("-" * 72 + "\n")[1].split("\n") if line and line[0] != " "]
    assert at_margin == [
        "You  10:01",
        "Gemini CLI  10:02",
        "You  10:03",
        "Error  10:04",
        "You  10:05  rewound",
    ]
    assert len(at_margin) == len(turns)


def test_several_sessions_stand_apart() -> None:
    first, second = list(looked_at_sessions().values())[:2]
    written = exported("text", first, second)
    assert written.count(b"\n" + b"=" * 72 + b"\n") == 1
    assert written.startswith(exported("text", first))
    assert written.endswith(exported("text", second))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("name", ["markdown", "text"])
def test_each_level_tells_what_the_one_before_does(name: str, case: str) -> None:
    session = looked_at_sessions()[case]
    told = [told_words(exported(name, session, level=level)) for level in LEVELS]
    for less, more in pairwise(told):
        assert not less - more


@pytest.mark.parametrize("name", ["markdown", "text"])
def test_each_level_adds_what_it_promises(name: str) -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    told = {level: exported(name, session, level=level).decode() for level in LEVELS}
    added = {
        "prompts": "Try all your tools on this folder.",
        "conversation": "One file was missing, one edit failed, the rest worked.",
        "tools": "Successfully created and wrote to new file",
        "thoughts": _a_thought(session),
        "everything": "We are setting up the context for our chat.",
    }
    levels = list(LEVELS)
    for level, words in added.items():
        assert [words in told[one] for one in levels] == [
            levels.index(one) >= levels.index(level) for one in levels
        ]


def _a_thought(session: Session) -> str:
    parts = (part for message in session.messages for part in message.parts)
    return next(part.text for part in parts if isinstance(part, Thought))
