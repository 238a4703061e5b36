"""What a message tells stands in its records, line by line, unless its agent says that it is told otherwise.

A search for letters concludes from the bytes of a record what is not in a message.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geminids.core import agents
from geminids.core.model import Message
from geminids.core.names import UNNAMED_TOOL
from geminids.query.search.record_files import RecordFiles
from geminids.storage.codec.texts import words
from tests.conftest import FIXTURES
from tests.support.reading import sessions

CASES = sorted(path.parent for path in FIXTURES.glob("*/*/home"))
_DEEPEST = 6


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """All texts in a value, also in JSON that is written as a text."""
    if isinstance(value, str):
        yield value
        if depth < _DEEPEST and value[:1] in ("{", "[", '"'):
            try:
                yield from _strings(json.loads(value), depth + 1)
            except ValueError:
                return
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _strings(inner, depth)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, depth)


def _written(message: Message) -> str:
    """All texts in the records of a message, and the files that it changed."""
    places = (message.source, *message.also_at)
    found = [change.path for call in message.tool_calls for change in call.changes]
    with RecordFiles({number: place.file for number, place in enumerate(places)}) as files:
        for number, place in enumerate(places):
            record = (files.read(number, place.start, place.end) or b"").decode("utf-8", "replace")
            try:
                found += _strings(json.loads(record))
            except ValueError:
                found.append(record)
    return "\n".join(found)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_what_a_message_tells_stands_in_its_records(case: Path) -> None:
    source = agents.load(case.parent.name)
    reworded = source.reworded
    assert reworded is not None
    for session in sessions(source, case / "home"):
        for message in session.messages:
            told = "\n".join(words(message, everything=True))
            # Half a character is written by its number, and a record with one is never ruled out.
            if message.origin in reworded or "\ufffd" in told:
                continue
            written = _written(message)
            missing = [line for line in told.split("\n") if line not in written and line != UNNAMED_TOOL]
            assert not missing, (message.source, missing[0][:80])
