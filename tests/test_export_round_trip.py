"""Sessions that were exported and read again are the same, and exported again they are the same bytes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids import sources
from geminids.export.gemini_session import gemini_file_name
from geminids.export.session_document import is_session_document, read_document
from geminids.model import (
    AnyPart,
    Attachment,
    FileReference,
    Level,
    Message,
    Origin,
    Plain,
    Role,
    Session,
    State,
    Text,
    Thought,
    Todo,
    Todos,
    ToolCall,
    ToolKind,
    ToolResult,
    ToolStatus,
    Unrecognised,
    Usage,
)
from tests.exporting import exported, fixture_sessions, hostile_session

ALL = sorted(fixture_sessions())


def read_gemini(written: bytes, folder: Path, name: str) -> Session:
    """The one session in a file that Gemini CLI could have written, as we read it."""
    file = folder / name
    file.write_bytes(written)
    reading = sources.load("gemini").read_alone(file)
    assert reading is not None
    assert not reading.problems
    (session,) = reading.sessions
    return session


def told(session: Session) -> list[tuple[object, ...]]:
    """All that is said and done in a session, message by message, with when and at what cost."""
    return [
        (m.role, m.state, m.level, m.at, m.model, m.usage, [_told_part(part) for part in m.parts])
        for m in session.messages
    ]


def _told_part(part: AnyPart) -> tuple[object, ...]:
    match part:
        case Text():
            return "text", part.text
        case ToolCall():
            ended = (part.status, part.result, part.changes, part.exit_code)
            shown = (part.display, part.display_name, part.description, part.other)
            return "call", part.call_id, part.name, part.kind, part.arguments, part.at, ended, shown
        case _:
            return (part,)


# Our own document


@pytest.mark.parametrize("name", ALL)
def test_a_json_document_is_read_as_the_session_it_was_made_of(name: str) -> None:
    session = fixture_sessions()[name]
    written = exported("json", session)
    assert is_session_document(written)
    assert read_document(written) == [session]
    assert exported("json", *read_document(written)) == written


def test_a_document_that_was_printed_nicely_is_read_too() -> None:
    session = fixture_sessions()[ALL[0]]
    nice = json.dumps(json.loads(exported("json", session)), indent=2).encode()
    assert is_session_document(b"\xef\xbb\xbf" + nice[:100])
    assert read_document(b"\xef\xbb\xbf" + nice) == [session]


# A session file of Gemini CLI


@pytest.mark.parametrize("name", ALL)
def test_a_gemini_file_is_read_as_the_session_it_was_made_of(name: str, tmp_path: Path) -> None:
    session = fixture_sessions()[name]
    written = exported("gemini", session)
    again = read_gemini(written, tmp_path, gemini_file_name(session))
    assert told(again) == told(session)
    assert exported("gemini", again) == written


WORDS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        (
            *("/tell milk", "? what", "look at @notes.txt", "Please continue.", "Request cancelled.", " ", ""),
            "<state_snapshot>all of it</state_snapshot>",
            "<session_context>\n- **Workspace Directories:**\n  - /home/ada/shop\n</session_context>",
            "<hook_context>hi</hook_context>\n\n",
            "User steering update:\n<user_input>\n",
            "\n</user_input>\nsays the user",
            "Got it. Thanks for the additional context!",
            "System: Please continue.",
        )
    ),
)
MOMENTS = st.one_of(
    st.none(), st.integers(0, 10**6).map(lambda n: datetime(2026, 5, 1, tzinfo=UTC) + timedelta(seconds=n))
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)
IDS = st.sampled_from(("call-1", "call-2", "call-3"))
COUNTS = st.one_of(st.none(), st.integers(0, 10**6))


def texts(*origins: Origin) -> st.SearchStrategy[Text]:
    return st.builds(Text, WORDS, st.sampled_from(origins))


ATTACHMENTS = st.one_of(
    st.builds(Attachment, st.just("image/png"), st.just("aGk=")),
    st.builds(Attachment, st.just("image/png")),
    st.builds(Attachment, st.none(), uri=st.just("gs://bucket/file")),
)
RESULTS = st.lists(
    st.one_of(texts(Origin.TOOL), ATTACHMENTS, st.builds(Unrecognised, JSON)), max_size=3
).map(tuple)
CALLS = st.builds(
    ToolCall,
    st.one_of(st.none(), IDS),
    st.sampled_from(("read_file", "replace", "run_shell_command", "own_tool")),
    st.just(ToolKind.OTHER),
    st.dictionaries(st.text(max_size=5), JSON, max_size=2),
    st.sampled_from(ToolStatus),
    result=RESULTS,
    display=st.one_of(st.none(), st.builds(Plain, WORDS), st.just(Todos((Todo("milk", "pending"),)))),
    at=MOMENTS,
    description=st.one_of(st.none(), WORDS),
)
HUMAN_PARTS = st.one_of(
    texts(Origin.HUMAN, Origin.INJECTED, Origin.SYNTHETIC, Origin.COMMAND, Origin.SHELL, Origin.TOOL),
    ATTACHMENTS,
    st.builds(FileReference, st.just("notes.txt"), st.sampled_from((None, "", "milk\n"))),
    st.builds(ToolResult, st.one_of(st.none(), IDS), st.just("read_file"), RESULTS),
    st.builds(Unrecognised, JSON),
)
MODEL_PARTS = st.one_of(
    texts(Origin.MODEL, Origin.SYNTHETIC),
    st.builds(Thought, WORDS, WORDS, MOMENTS),
    CALLS,
    ATTACHMENTS,
    st.builds(Unrecognised, JSON),
)
NOTICE_PARTS = st.one_of(texts(Origin.NOTICE), ATTACHMENTS)
USAGES = st.builds(Usage, st.just(1), COUNTS, COUNTS, st.none(), COUNTS, COUNTS, COUNTS, COUNTS)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Any message, of this agent or another."""
    role = draw(st.sampled_from(Role))
    parts = {Role.USER: HUMAN_PARTS, Role.ASSISTANT: MODEL_PARTS, Role.SYSTEM: NOTICE_PARTS}[role]
    origins = {
        Role.USER: (Origin.HUMAN, Origin.INJECTED, Origin.SYNTHETIC, Origin.COMMAND, Origin.TOOL),
        Role.ASSISTANT: (Origin.MODEL, Origin.SYNTHETIC),
        Role.SYSTEM: (Origin.NOTICE,),
    }
    is_model = role is Role.ASSISTANT
    return Message(
        draw(st.sampled_from(("a", "b", "c", "", "d04923d38bb0f6017037e74183378ef4"))),
        role,
        draw(st.sampled_from(origins[role])),
        draw(st.sampled_from(State)),
        draw(MOMENTS),
        draw(st.sampled_from((None, "gemini-3-pro"))) if is_model else None,
        tuple(draw(st.lists(parts, max_size=4))),
        draw(st.none() | USAGES) if is_model else None,
        hostile_session().messages[0].source,
        draw(st.sampled_from(Level)) if role is Role.SYSTEM else None,
    )


@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(messages(), max_size=8).map(tuple))
def test_any_session_is_written_so_that_it_stays_the_same(
    tmp_path_factory: pytest.TempPathFactory, some: tuple[Message, ...]
) -> None:
    session = msgspec.structs.replace(hostile_session(), messages=some)
    written = exported("gemini", session)
    again = read_gemini(written, tmp_path_factory.getbasetemp(), "session-2026-05-01T10-00-any.jsonl")
    assert exported("gemini", again) == written
