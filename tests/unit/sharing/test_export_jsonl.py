"""JSON Lines: one message a line, each whole and understood alone."""

from __future__ import annotations

import json
from itertools import pairwise

import msgspec
import pytest

from geminids.core.model import Message, Session
from geminids.sharing.export.json_lines import SCHEMA, MessageLine
from geminids.sharing.transcript.entries import LEVELS
from geminids.sharing.transcript.visible import visible_session
from tests.support.exporting import exported, fixture_sessions, hostile_session, looked_at_sessions


def lines(*sessions: Session, level: str = "everything") -> list[MessageLine]:
    written = exported("jsonl", *sessions, level=level)
    assert not written or written.endswith(b"\n")
    return [msgspec.json.decode(line, type=MessageLine) for line in written.split(b"\n") if line]


def message_of(line: MessageLine) -> Message:
    return Message(**{name: getattr(line, name) for name in Message.__struct_fields__})


def test_a_line_has_the_fields_of_a_message() -> None:
    own = ("session_id", "number")
    assert MessageLine.__struct_fields__ == (*own, *Message.__struct_fields__)
    types = {field.name: field.type for field in msgspec.structs.fields(MessageLine)}
    assert {name: types[name] for name in Message.__struct_fields__} == {
        field.name: field.type for field in msgspec.structs.fields(Message)
    }


def test_every_message_comes_back_as_it_was() -> None:
    for session in fixture_sessions().values():
        told = lines(session)
        assert tuple(map(message_of, told)) == session.messages
        assert [line.number for line in told] == list(range(1, len(session.messages) + 1))
        assert {line.session_id for line in told} <= {session.id}


def test_a_line_begins_with_its_schema_and_where_it_belongs() -> None:
    session = looked_at_sessions()["errors"]
    first = exported("jsonl", session).split(b"\n")[0]
    assert list(json.loads(first))[:3] == ["schema", "session_id", "number"]
    assert json.loads(first)["schema"] == SCHEMA


def test_hostile_words_come_back_and_take_one_line_each() -> None:
    session = hostile_session()
    written = exported("jsonl", session)
    assert written.count(b"\n") == len(session.messages)
    told = [json.loads(line) for line in written.split(b"\n") if line]
    assert told[0]["parts"][3]["text"] == session.messages[0].parts[3].text  # type: ignore[union-attr]


@pytest.mark.parametrize("case", sorted(looked_at_sessions()))
def test_each_level_tells_what_the_one_before_does(case: str) -> None:
    session = looked_at_sessions()[case]
    told = {level: lines(session, level=level) for level in LEVELS}
    for level, messages in told.items():
        assert tuple(map(message_of, messages)) == visible_session(session, LEVELS[level]).messages
        assert all(session.messages[line.number - 1].id == line.id for line in messages)
    numbers = [{line.number for line in messages} for messages in told.values()]
    for less, more in pairwise(numbers):
        assert less <= more


def test_sessions_follow_one_another() -> None:
    first, second = list(looked_at_sessions().values())[:2]
    assert exported("jsonl", first, second) == exported("jsonl", first) + exported("jsonl", second)
