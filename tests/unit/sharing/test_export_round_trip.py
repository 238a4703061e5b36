"""Sessions that were exported and read again are the same, and exported again they are the same bytes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.agents.gemini.write.session_file import gemini_file_name
from geminids.core import agents
from geminids.core.model import (
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
from geminids.library import Library
from geminids.sharing.export.session_document import is_session_document, read_document
from tests.conftest import FIXTURES, Run
from tests.support.examples import examples
from tests.support.exporting import exported, fixture_sessions, hostile_session
from tests.support.reading import sessions as read_sessions

ALL = sorted(fixture_sessions())
OF_GEMINI = [name for name in ALL if fixture_sessions()[name].agent == "gemini"]


def read_gemini(written: bytes, folder: Path, name: str) -> Session:
    """The one session in a file that Gemini CLI could have written, as we read it."""
    file = folder / name
    file.write_bytes(written)
    reading = agents.load("gemini").read_alone(file)
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


@pytest.mark.parametrize("name", OF_GEMINI)
def test_a_gemini_file_is_read_as_the_session_it_was_made_of(name: str, tmp_path: Path) -> None:
    session = fixture_sessions()[name]
    written = exported("gemini", session)
    again = read_gemini(written, tmp_path, gemini_file_name(session))
    recorded = tuple(message for message in session.messages if message.state is not State.UNRECORDED)
    assert told(again) == told(msgspec.structs.replace(session, messages=recorded))
    assert exported("gemini", again) == written


@pytest.mark.parametrize(
    "own_words",
    [
        "You have stopped calling tools without finishing. You have one final chance to complete the task",
        "You have exceeded the time limit. You have one final chance to complete the task",
        "Your task is to answer the following question about Gemini CLI:\n<question>\nWhy?\n</question>",
        "<intent_summary>\nIt was about notes.\n</intent_summary>",
        "[Continuing from previous AI thoughts...]",
        "System: Please continue.",
        "System: what nobody knows",
        "Go on, a hook says",
    ],
)
def test_what_the_agent_says_by_itself_is_written_once_and_stays_its_own(
    own_words: str, tmp_path: Path
) -> None:
    session = fixture_sessions()[next(name for name in OF_GEMINI if name.startswith("saved-chats/caf20a6a"))]
    prompt = next(m for m in session.messages if m.origin is Origin.HUMAN and m.state is State.CURRENT)
    said = msgspec.structs.replace(
        prompt, id="said", origin=Origin.SYNTHETIC, parts=(Text(own_words, Origin.SYNTHETIC),)
    )
    talk = msgspec.structs.replace(session, messages=(prompt, said))
    written = exported("gemini", talk)
    again = read_gemini(written, tmp_path, gemini_file_name(talk))
    assert [message.origin for message in again.messages] == [Origin.HUMAN, Origin.SYNTHETIC]
    assert exported("gemini", again) == written


def test_a_command_of_the_shell_is_written_as_it_was_sent_and_as_it_was_typed() -> None:
    session = fixture_sessions()[next(name for name in OF_GEMINI if name.startswith("saved-chats/caf20a6a"))]
    records = map(json.loads, exported("gemini", session).splitlines())
    (record,) = [record for record in records if "displayContent" in record and "echo" in str(record)]
    assert record["content"][0]["text"].startswith(
        "I ran the following shell command:\n```sh\necho '\\`\\`\\`'"
    )
    assert record["displayContent"] == [{"text": "echo '```'"}]


@pytest.mark.parametrize("name", [name for name in ALL if name not in OF_GEMINI])
def test_a_gemini_file_of_another_agents_session_says_what_was_said_and_done(
    name: str, tmp_path: Path
) -> None:
    session = fixture_sessions()[name]
    again = read_gemini(exported("gemini", session), tmp_path, gemini_file_name(session))
    current = [message for message in session.messages if message.state is State.CURRENT]
    for origin in (Origin.HUMAN, Origin.MODEL):
        read = iter(_words_of(again.messages, origin))
        assert all(any(words in other for other in read) for words in _words_of(current, origin))
    assert _calls_in_view(again) == _calls_in_view(session)
    context = " ".join(_words_of(session.messages, Origin.INJECTED))
    prompts = _words_of(again.messages, Origin.HUMAN)
    assert not [words for words in prompts if len(words) > 40 and words in context]


def _calls_in_view(session: Session) -> list[str]:
    current = (message for message in session.messages if message.state is State.CURRENT)
    return [call.name for message in current for call in message.tool_calls]


def _words_of(messages: Iterable[Message], origin: Origin) -> list[str]:
    parts = (part for message in messages for part in message.parts)
    texts = (part.text.strip() for part in parts if isinstance(part, Text) and part.origin is origin)
    return [text for text in texts if text]


WORDS = st.text(max_size=30)
"""Any words; those that the agent knows by how they begin come with the origin they have."""
SPECIAL = {
    Origin.HUMAN: ("/tell milk", "? what", "look at @notes.txt", "Please continue.", " "),
    Origin.INJECTED: (
        "<session_context>\n- **Workspace Directories:**\n  - /home/ada/shop\n</session_context>",
        "<hook_context>hi</hook_context>\n\n",
        "Background execution update: <background_output>",
    ),
    Origin.SYNTHETIC: (
        "<state_snapshot>all of it</state_snapshot>",
        "Please continue.",
        "System: Please continue.",
    ),
    Origin.MODEL: ("Got it. Thanks for the additional context!",),
    Origin.NOTICE: ("Request cancelled.", ""),
}
STEERING = (
    Text("User steering update:\n<user_input>\n", Origin.INJECTED),
    Text("and the milk", Origin.HUMAN),
    Text("\n</user_input>\nsays the user", Origin.INJECTED),
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


def texts(origin: Origin) -> st.SearchStrategy[Text]:
    return st.builds(Text, WORDS | st.sampled_from(SPECIAL.get(origin, ("",))), st.just(origin))


ATTACHMENTS = st.one_of(
    st.builds(Attachment, st.just("image/png"), st.just("aGk=")),
    st.builds(Attachment, st.just("image/png")),
    st.builds(Attachment, st.none(), uri=st.just("gs://bucket/file")),
)
RESULTS = st.lists(st.one_of(texts(Origin.TOOL), ATTACHMENTS, st.builds(Unrecognised, JSON)), max_size=3).map(
    tuple
)
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
FILES = st.builds(FileReference, st.just("notes.txt"), st.sampled_from((None, "", "milk\n")))
ANSWERS = st.builds(ToolResult, st.one_of(st.none(), IDS), st.just("read_file"), RESULTS)
UNNAMED = st.builds(Unrecognised, JSON)
PROMPTS = st.lists(texts(Origin.HUMAN) | texts(Origin.INJECTED) | ATTACHMENTS | FILES | UNNAMED, max_size=4)
COMMANDS = st.tuples(st.just(Text("/tell milk", Origin.HUMAN)), texts(Origin.COMMAND))
SHELL = st.tuples(texts(Origin.HUMAN), texts(Origin.SHELL))
MADE_UP = st.tuples(texts(Origin.SYNTHETIC))
TOOL_TURNS = st.one_of(
    st.tuples(ANSWERS, st.one_of(ANSWERS, texts(Origin.TOOL), ATTACHMENTS, UNNAMED)),
    ANSWERS.map(lambda answer: (answer, *STEERING)),
)
MODEL_PARTS = st.one_of(
    texts(Origin.MODEL),
    st.builds(Thought, WORDS, WORDS, MOMENTS),
    CALLS,
    ATTACHMENTS,
    UNNAMED,
)
NOTICE_PARTS = st.one_of(texts(Origin.NOTICE), ATTACHMENTS)
USAGES = st.builds(Usage, st.just(1), COUNTS, COUNTS, st.none(), COUNTS, COUNTS, COUNTS, COUNTS)


@st.composite
def messages(draw: st.DrawFn) -> Message:
    """Any message, of this agent or another."""
    role = draw(st.sampled_from(Role))
    human: st.SearchStrategy[Any] = st.one_of(PROMPTS, COMMANDS, SHELL, MADE_UP, TOOL_TURNS)
    parts = {
        Role.USER: human,
        Role.ASSISTANT: st.lists(MODEL_PARTS, max_size=4),
        Role.SYSTEM: st.lists(NOTICE_PARTS, max_size=2),
    }[role]
    origins = {Role.USER: Origin.HUMAN, Role.ASSISTANT: Origin.MODEL, Role.SYSTEM: Origin.NOTICE}
    is_model = role is Role.ASSISTANT
    return Message(
        draw(st.sampled_from(("a", "b", "c", "", "d04923d38bb0f6017037e74183378ef4"))),
        role,
        origins[role],
        draw(st.sampled_from(State)),
        draw(MOMENTS),
        draw(st.sampled_from((None, "gemini-3-pro"))) if is_model else None,
        tuple(draw(parts)),
        draw(st.none() | USAGES) if is_model else None,
        hostile_session().messages[0].source,
        draw(st.sampled_from(Level)) if role is Role.SYSTEM else None,
    )


@settings(deadline=None, max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(messages(), max_size=8).map(tuple))
def test_any_session_is_written_so_that_it_stays_the_same(
    tmp_path_factory: pytest.TempPathFactory, some: tuple[Message, ...]
) -> None:
    session = msgspec.structs.replace(hostile_session(), messages=some)
    written = exported("gemini", session)
    again = read_gemini(written, tmp_path_factory.getbasetemp(), "session-2026-05-01T10-00-any.jsonl")
    assert exported("gemini", again) == written


# Documents given by hand


def written_document(folder: Path, session: Session) -> Path:
    file = folder / "shared.json"
    file.write_bytes(exported("json", session))
    return file


def of_case(case: str) -> Session:
    return next(session for name, session in fixture_sessions().items() if name.startswith(f"{case}/"))


def test_show_and_doctor_read_a_document(geminids: Run, tmp_path: Path) -> None:
    session = of_case("tool-calls-jsonl-2")
    file = written_document(tmp_path, session)
    shown = geminids("show", file)
    assert (shown.code, shown.err) == (0, "")
    assert "Try all your tools on this folder." in shown.out
    report = json.loads(geminids("doctor", file, "--json").out)
    assert report["bytes"] == {"total": file.stat().st_size, "used": file.stat().st_size} | {
        "ignored": 0,
        "problem": 0,
    }
    assert list(report["formats"]) == ["geminids-session"]
    assert report["sessions"] == {"main": 1}


def test_a_document_shown_as_json_is_a_document_again(geminids: Run, tmp_path: Path) -> None:
    session = of_case("images")
    printed = geminids("show", written_document(tmp_path, session), "--json").out.encode()
    assert read_document(printed) == [session]


def test_a_document_is_exported_like_any_session(geminids: Run, tmp_path: Path) -> None:
    session = of_case("images")
    file = written_document(tmp_path, session)
    assert geminids("export", file, "-f", "json", "-o", "-").out.encode() == file.read_bytes()
    native = geminids("export", file, "-f", "gemini", "-o", "-")
    assert (native.code, native.out.encode()) == (0, exported("gemini", session))


def test_a_session_of_an_agent_we_do_not_know_is_shown(geminids: Run, tmp_path: Path) -> None:
    session = msgspec.structs.replace(of_case("shell-mode"), agent="other", id="other:1", native_id="1")
    shown = geminids("show", written_document(tmp_path, session))
    assert (shown.code, shown.err) == (0, "")
    assert "other" in shown.out


def test_no_file_is_opened_because_a_document_names_it(tmp_path: Path) -> None:
    source = agents.load("gemini")
    (session, *_) = read_sessions(source, FIXTURES / "gemini" / "long-output" / "home")
    assert source.companions().with_outputs(session) != session, "the session names no file that is there"
    with Library(data=tmp_path / "data") as library:
        assert library.file(written_document(tmp_path, session)) == [session]


def _with_a_time(content: bytes, at: bytes) -> bytes:
    return re.sub(rb'"at":"[^"]+"', b'"at":"' + at + b'"', content, count=1)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut": lambda content: content[: len(content) // 2],
    "other kind": lambda content: content.replace(b'"kind":"main"', b'"kind":"\\u001b[31mmine"', 1),
    "other type": lambda content: content.replace(b'"parts":[', b'"parts":[7,', 1),
    "no zone": lambda content: content.replace(b'Z","ended_at"', b'","ended_at"', 1),
    "before all time": lambda content: _with_a_time(content, b"0001-01-01T00:00:00+14:00"),
    "zero": lambda content: _with_a_time(content, b"0001-01-01T00:00:00Z"),
    "after all time": lambda content: _with_a_time(content, b"9999-12-31T23:59:59.999Z"),
    "a size of no file": lambda content: re.sub(rb'"size":\d+', b'"size":' + b"9" * 400, content, count=1),
    "no text": lambda content: content.replace(b"Try all", b"Try \xff\xff\xff", 1),
    "too deep": lambda content: content.replace(b'"arguments":{', b'"arguments":{"x":' + b"[" * 50_000, 1),
    "not all of it": lambda _: b'{"schema":"geminids/session/1"}',
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_document_is_an_error_that_says_where(geminids: Run, tmp_path: Path, damage: str) -> None:
    file = written_document(tmp_path, of_case("tool-calls-jsonl-2"))
    whole = file.read_bytes()
    file.write_bytes(DAMAGES[damage](whole))
    assert file.read_bytes() != whole
    for command in ("show", "doctor"):
        outcome = geminids(command, file)
        assert outcome.code != 0
        assert "a damaged session" in outcome.err
        assert "Traceback" not in outcome.err
        assert "mine" not in outcome.err


@settings(deadline=None, max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_document_that_somebody_changed_is_read_or_refused(
    data: st.DataObject, geminids: Run, tmp_path: Path
) -> None:
    document = json.loads(exported("json", of_case("ask-user")))
    place: Any = document
    while isinstance(place, dict | list) and place:
        keys = sorted(place) if isinstance(place, dict) else list(range(min(len(place), 6)))
        key = data.draw(st.sampled_from(keys))
        if not isinstance(place[key], dict | list) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    if data.draw(st.booleans()) or isinstance(place, list):
        place[key] = data.draw(JSON)
    else:
        del place[key]
    file = tmp_path / "changed.json"
    file.write_text(json.dumps({"schema": "geminids/session/1"} | document), encoding="utf-8")
    outcome = geminids("show", file, "--all")
    assert outcome.code in (0, 1, 3), outcome.err
    assert "Traceback" not in outcome.err
