"""How sessions end in every recorded case, by a rule that is written here once more.

The last message is the model's: failure if one of its calls ended in error, else success. The last message is
the human's, or there is none: interrupted. Every departure is a row of the table in docs/accuracy.md.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from geminids.core import agents
from geminids.core.model import (
    Level,
    Message,
    Origin,
    Role,
    Session,
    SessionKind,
    State,
    Status,
    Text,
    ToolCall,
    ToolStatus,
)
from tests.conftest import FIXTURES
from tests.support.reading import sessions as read_sessions

CASES = sorted(path.parent for path in FIXTURES.glob("*/*/home"))
STORES_RESULTS_IN_CALLS = {"gemini"}
"""Agents that write the result of a call into the message that asked; for others it is a record behind it."""
LISTED = {SessionKind.MAIN, SessionKind.SUBAGENT}
UNFINISHED = {ToolStatus.ERROR, ToolStatus.CANCELLED, ToolStatus.PENDING}


def listed_sessions(case: Path) -> list[Session]:
    found = read_sessions(agents.load(case.parent.name), case / "home")
    return [session for session in found if session.kind in LISTED]


def last_message(session: Session) -> Message | None:
    """Return the last message that the agent still sees; notices do not count."""
    current = (m for m in reversed(session.messages) if m.state is State.CURRENT)
    return next((m for m in current if m.origin is not Origin.NOTICE), None)


def calls_of(message: Message) -> list[ToolCall]:
    return [part for part in message.parts if isinstance(part, ToolCall)]


def has_text(message: Message) -> bool:
    return any(isinstance(part, Text) and part.text.strip() for part in message.parts)


def by_the_rule(last: Message | None) -> Status:
    if last is None or last.role is not Role.ASSISTANT:
        return Status.INTERRUPTED
    has_failed = any(call.status is ToolStatus.ERROR for call in calls_of(last))
    return Status.FAILURE if has_failed else Status.SUCCESS


def departure(session: Session, last: Message | None) -> tuple[str, Status] | None:
    """Return the row of the table that a session falls under, and the status that the row gives."""
    after = session.messages[session.messages.index(last) + 1 :] if last else session.messages
    if session.kind is SessionKind.SUBAGENT:
        return "subagent", session.status
    if any(m.state is State.FAILED and m.origin is Origin.HUMAN for m in after):
        return "failed prompt", Status.ERROR
    if any(m.level is Level.ERROR for m in after):
        return "failed prompt", Status.ERROR
    if last and last.origin is Origin.COMMAND and last.role is Role.ASSISTANT:
        return "tool of a slash command", Status.SUCCESS
    if last and last.origin is Origin.INJECTED:
        return "context after the answer", Status.SUCCESS
    if last and last.origin is Origin.MODEL and not has_text(last):
        return "answer without text", Status.INTERRUPTED
    ends_with_call = last and isinstance(last.parts[-1], ToolCall)
    if ends_with_call and session.agent not in STORES_RESULTS_IN_CALLS:
        return "result after the text", Status.INTERRUPTED
    return None


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_a_session_ends_as_the_rule_says_or_as_the_table_of_departures_does(case: Path) -> None:
    for session in listed_sessions(case):
        last = last_message(session)
        expected = by_the_rule(last)
        if session.status is not expected:
            row = departure(session, last)
            assert row is not None, session.id
            assert session.status is row[1], (session.id, row)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_text_and_finished_calls_in_the_last_message_are_a_success(case: Path) -> None:
    for session in listed_sessions(case):
        last = last_message(session)
        if session.agent not in STORES_RESULTS_IN_CALLS or last is None or last.origin is not Origin.MODEL:
            continue
        row = departure(session, last)
        if row is None and has_text(last) and UNFINISHED.isdisjoint(call.status for call in calls_of(last)):
            assert session.status is Status.SUCCESS, session.id


def test_every_row_of_departures_is_recorded() -> None:
    rows = {
        row[0]
        for case in CASES
        for session in listed_sessions(case)
        if session.status is not by_the_rule(last_message(session))
        and (row := departure(session, last_message(session)))
    }
    assert rows == {
        "subagent",
        "failed prompt",
        "tool of a slash command",
        "context after the answer",
        "answer without text",
        "result after the text",
    }
