"""CSV: tables that any reader takes apart, and that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise

import msgspec
import pytest

from geminids.core.model import Origin, Session, Text
from geminids.sharing.export.csv_tables import CALLS, FORMULA_STARTS, MESSAGES
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.entries import LEVELS
from tests.support.exporting import exported, fixture_sessions, hostile_session, looked_at_sessions


def rows(table: str, *sessions: Session, level: str = "everything") -> list[dict[str, str]]:
    written = exported("csv", *sessions, level=level, table=table).decode()
    reader = csv.DictReader(io.StringIO(written, newline=""), strict=True)
    return list(reader)


def test_every_message_is_a_row() -> None:
    for session in fixture_sessions().values():
        told = rows("messages", session)
        assert [row["message_id"] for row in told] == [message.id for message in session.messages]
        assert [int(row["number"]) for row in told] == list(range(1, len(session.messages) + 1))
        assert sum(int(row["total_tokens"] or 0) for row in told) == sum(
            message.usage.total or 0 for message in session.messages if message.usage
        )


def test_every_call_is_a_row_with_what_became_of_it() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    told = rows("calls", session)
    calls = [(number, call) for number, m in enumerate(session.messages, 1) for call in m.tool_calls]
    assert [(int(row["message_number"]), row["tool"]) for row in told] == [
        (n, call.name) for n, call in calls
    ]
    assert [json.loads(row["arguments"].removeprefix("'")) for row in told] == [
        call.arguments for _, call in calls
    ]
    failed = next(row for row in told if row["argument"] == "missing.txt")
    assert (failed["status"], failed["error"]) == ("error", "File not found: /tmp/demo/alpha/missing.txt")
    edited = next(row for row in told if row["argument"] == "out/new.md")
    assert (edited["files"], edited["added"], edited["removed"]) == ("/tmp/demo/alpha/out/new.md", "3", "0")
    assert "3" in [row["exit_code"] for row in told]


@pytest.mark.parametrize(("table", "heading"), [("messages", MESSAGES), ("calls", CALLS)])
def test_the_heading_stands_once_and_lines_end_as_the_standard_says(
    table: str, heading: tuple[str, ...]
) -> None:
    sessions = list(looked_at_sessions().values())
    written = exported("csv", *sessions, table=table)
    assert written.startswith(",".join(heading).encode() + b"\n")
    assert written.count(",".join(heading).encode()) == 1
    assert written.endswith(b"\n")
    ids = {row["session_id"] for row in rows(table, *sessions)}
    assert ids <= {session.id for session in sessions}


@pytest.mark.parametrize("table", ["messages", "calls"])
def test_no_cell_of_words_is_a_formula(table: str) -> None:
    session = hostile_session()
    for row in rows(table, session):
        for value in row.values():
            assert not value.startswith(FORMULA_STARTS)


@pytest.mark.parametrize("start", FORMULA_STARTS)
def test_a_formula_gets_an_apostrophe(start: str) -> None:
    session = hostile_session()
    message = msgspec.structs.replace(session.messages[0], parts=(Text(f"{start}1+1", Origin.HUMAN),))
    told = rows("messages", msgspec.structs.replace(session, messages=(message,)))
    # A carriage return alone is shown as a picture, so there is nothing left to defuse.
    assert told[0]["text"] == ("␍1+1" if start == "\r" else f"'{start}1+1")


def test_hostile_words_come_back_as_they_are_shown() -> None:
    session = hostile_session()
    told = rows("messages", session)
    assert told[1]["text"] == safe.text(session.messages[1].text(Origin.MODEL))
    assert told[0]["session_id"] == session.id
    assert len(rows("calls", session)) == 2


def test_numbers_of_messages_are_the_same_at_every_level() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    whole = {row["number"]: row["message_id"] for row in rows("messages", session)}
    told = [
        {row["number"]: row["message_id"] for row in rows("messages", session, level=one)} for one in LEVELS
    ]
    for less, more in pairwise(told):
        assert less.items() <= more.items()
    assert told[-1] == whole
    assert 0 < len(told[0]) < len(told[1]) < len(whole)


def test_below_tools_a_call_has_no_output_but_its_error() -> None:
    told = rows("calls", looked_at_sessions()["tool-calls-jsonl-2"], level="conversation")
    assert not any(row["output"] for row in told)
    assert any(row["error"] for row in told)
