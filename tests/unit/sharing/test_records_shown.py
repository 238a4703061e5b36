"""Records of every kind can be read by whom they are handed to, and nothing that they name is opened."""

from __future__ import annotations

import copy
import io
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.core.errors import GeminidsError, NotASessionError, NotLoadedByAgentError
from geminids.core.model import (
    Companion,
    CompanionKind,
    Level,
    Origin,
    Role,
    Session,
    SessionFile,
    SessionKind,
    State,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    ToolStatus,
    Unrecognised,
    Usage,
)
from geminids.library import Library
from geminids.query.sessions.input_files import agent_view, is_document, sessions_in
from geminids.sharing.export.data import encode
from geminids.sharing.records.any_record import session_from_any
from geminids.sharing.records.commitment import commit
from geminids.sharing.records.encoding import encode_cbor, encode_json
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.files import is_record, record_in_file
from geminids.sharing.records.redaction import withhold
from geminids.sharing.records.signature import Claims, statement
from geminids.sharing.records.simple import simple_record
from geminids.sharing.records.standalone import Tagged
from geminids.sharing.records.standalone import encode_cbor as cbor
from geminids.sharing.records.translation import record_of
from geminids.sharing.records.vcon import vcon_of
from geminids.sharing.transcript.entries import LEVELS, transcript
from tests.conftest import FIXTURES, Run
from tests.support.examples import examples
from tests.support.exporting import fixture_sessions, hostile_session, looked_at_sessions
from tests.support.homes import write_session
from tests.support.record_making import ED25519_KEY, SEED, signed_in_every_way
from tests.support.records import JSON, WORDS, fixture_homes

NOTE = "checks whether its signature is valid"
FILE = SessionFile("share.json", "agent-conversation-record", 1)


def a_session() -> Session:
    """One with a call, a thought, and turns that were taken back."""
    return looked_at_sessions()["rewind-jsonl-2"]


def a_record() -> dict[str, Any]:
    return copy.deepcopy(record_of(a_session()))


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def foreign(*entries: Any, **about: Any) -> dict[str, Any]:
    """A record as another tool may write it."""
    session = {"session-id": "s-1", "agent-meta": {"model-id": "m", "model-provider": "p"}, **about}
    return {"version": "3.0.0-draft", "id": "r-1", "session": {**session, "entries": [*entries]}}


def told(*entries: Any, **about: Any) -> Session:
    return session_from_any(foreign(*entries, **about), FILE)


# Every kind of file


def whole_files() -> dict[str, bytes]:
    """A whole record of ours in all forms that it can be handed on in."""
    record = a_record()
    committed = commit(record, SEED)
    session_id = record["session"]["session-id"]
    content = encode_json(committed)
    signed = statement(content, committed, ED25519_KEY, Claims("a", session_id, 1), detached=True)
    return {
        "record.json": encode_json(record),
        "indented.json": json.dumps(record, indent=2).encode(),
        "sorted.json": json.dumps(record, sort_keys=True).encode(),
        "marked.json": b"\xef\xbb\xbf" + encode_json(record),
        "committed.json": content,
        "record.cbor": encode_cbor(record),
        "tagged.cbor": cbor(Tagged(4149, record)),
        "record.vcon": encode_json(vcon_of(record)),
        "sorted.vcon.json": json.dumps(vcon_of(record, signature=signed), sort_keys=True).encode(),
        **{
            f"{name}.acr": signed
            for name, signed, beside in signed_in_every_way(record, ED25519_KEY, ["/session/entries/0"])
            if name.startswith("statement") and beside is None
        },
    }


@pytest.mark.parametrize("name", whole_files())
def test_a_whole_record_of_ours_is_the_session_itself(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, whole_files()[name])
    assert sessions_in(path) == [a_session()]
    assert is_document(path)
    assert is_document(path, of_records=True)


@pytest.mark.parametrize(
    "name", ["excerpt.json", "excerpt.cbor", "excerpt.json.detached", "excerpt.cbor.detached"]
)
def test_an_excerpt_tells_what_is_left(tmp_path: Path, name: str) -> None:
    entries = a_record()["session"]["entries"]
    asked = [m.id for m in a_session().messages if m.origin is Origin.HUMAN]
    first = next(number for number, entry in enumerate(entries) if entry.get("id") == asked[0])
    withheld = [f"/session/entries/{first}/content", *(f"/session/entries/{first + n}" for n in (1, 2))]
    files = {file.name: file for file in signed_in_every_way(a_record(), ED25519_KEY, withheld)}
    path = written(tmp_path, "share", files[name].record or files[name].signed)
    (session,) = sessions_in(path)
    assert is_document(path, of_records=True)
    assert (session.kind, session.agent) == (SessionKind.COPY, "gemini")
    assert session.id == f"gemini:record-{a_session().native_id}"
    assert session.files == (SessionFile(str(path), "agent-conversation-record", path.stat().st_size),)
    cut, gap, *rest = session.messages[first:]
    assert cut.parts == (Text("[redacted]", Origin.HUMAN),)
    assert (gap.level, gap.parts) == (
        Level.WARNING,
        (Text("2 entries were taken out here.", Origin.NOTICE),),
    )
    same = a_session().messages[-len(rest) :]
    assert [message.parts for message in rest] == [message.parts for message in same]
    assert [message.state for message in rest] == [message.state for message in same]
    assert {message.state for message in rest} == {State.CURRENT, State.REWOUND}


TOLD = ("id", "role", "origin", "state", "at", "model", "parts", "usage", "level", "imported", "request_id")
ABOUT = ("agent", "native_id", "title", "started_at", "ended_at", "models", "counts", "usage", "branch")


@pytest.mark.parametrize("name", fixture_sessions())
def test_what_is_left_of_a_record_of_ours_is_told_as_it_was(name: str) -> None:
    session = fixture_sessions()[name]
    retold = session_from_any(record_of(session), FILE)
    told = [message for message in session.messages if message.parts or message.usage]
    for field in TOLD:
        assert [getattr(message, field) for message in retold.messages] == [getattr(m, field) for m in told]
    for field in ABOUT:
        assert getattr(retold, field) == getattr(session, field)


@pytest.mark.parametrize("name", ["statement.json.detached", "excerpt.json.detached"])
def test_of_a_signature_alone_it_is_said_that_the_record_is_elsewhere(
    geminids: Run, tmp_path: Path, name: str
) -> None:
    files = {
        file.name: file.signed
        for file in signed_in_every_way(a_record(), ED25519_KEY, ["/session/entries/0"])
    }
    path = written(tmp_path, "share.json.cose", files[name])
    outcome = geminids("show", path)
    assert (outcome.code, outcome.out) == (1, "")
    assert "a signature; give the file of the record that it signs" in outcome.err
    assert is_document(path)


def test_a_signed_file_of_no_record_is_refused(tmp_path: Path) -> None:
    native = json.dumps({"sessionId": "1", "projectHash": "2", "messages": []}).encode()
    for content in (cbor(Tagged(18, [b"", {}, native, b""])), cbor([b"", {}, native, b""]), b"\xd2\x84"):
        with pytest.raises(NotASessionError, match="a record that cannot be read"):
            sessions_in(written(tmp_path, "x.acr", content))


def test_no_file_of_an_agent_is_a_document_and_few_are_read_to_see_that() -> None:
    read: list[Path] = []
    files = [path for path in FIXTURES.glob("*/*/home/**/*") if path.is_file()]
    assert len(files) > 200
    for path in files:
        content = path.read_bytes()

        def whole(path: Path = path, content: bytes = content) -> bytes:
            read.append(path)
            return content

        assert not is_record(content[:1024], whole), path
    assert len(read) < len(files) / 10


def test_an_agent_would_not_load_a_record(tmp_path: Path) -> None:
    with pytest.raises(NotLoadedByAgentError, match="looks like a record"):
        agent_view(written(tmp_path, "s.acr", whole_files()["statement.json.acr"]))


# What other tools write


def vac(corpus: Path, *names: str) -> Path:
    return corpus.joinpath("vac", *names)


@pytest.mark.parametrize(
    ("name", "agent", "prompts", "calls", "answered", "thoughts"),
    [
        ("gemini-gemini-3-pro-preview", "gemini", 1, 39, 39, 60),
        ("claude-opus-4-6", "claude", 1, 146, 146, 0),
        ("codex-gpt-5-2-codex", "codex", 5, 93, 86, 181),
        ("codex-gpt-5-2", "codex", 5, 101, 101, 94),
        ("cursor-opus-4-6", "cursor", 1, 0, 0, 0),
    ],
)
def test_what_the_reference_converter_writes_is_read(
    corpus: Path, name: str, agent: str, prompts: int, calls: int, answered: int, thoughts: int
) -> None:
    (session,) = sessions_in(vac(corpus, "reference-translation", f"{name}.spec.json"))
    found = [call for message in session.messages for call in message.tool_calls]
    parts = [part for message in session.messages for part in message.parts]
    assert (session.agent, session.kind, session.counts.prompts) == (agent, SessionKind.COPY, prompts)
    assert (len(found), len([call for call in found if call.status is not ToolStatus.PENDING])) == (
        calls,
        answered,
    )
    assert not [part for part in parts if isinstance(part, ToolResult | Unrecognised)]
    assert len([part for part in parts if isinstance(part, Thought)]) == thoughts


def test_every_form_of_a_foreign_record_tells_the_same(corpus: Path) -> None:
    names = ("record.json", "record.cbor", "record.ed25519.attached.cose")
    sessions = [sessions_in(vac(corpus, "signed", name))[0] for name in names]
    plain = [msgspec.structs.replace(session, files=(), messages=()) for session in sessions]
    assert plain[0] == plain[1] == plain[2]
    reply = sessions[0].messages[1]
    assert [type(part) for part in reply.parts] == [Thought, ToolCall]
    assert reply.tool_calls[0].result == (Text("zz", Origin.TOOL),)
    assert reply.usage == Usage(1, 13283, 8147, None, 21, 248, None, 13552)
    assert sessions[0].messages[2].level is Level.INFO


@pytest.mark.parametrize("name", fixture_sessions())
def test_the_plainer_translation_is_read(name: str) -> None:
    session = fixture_sessions()[name]
    retold = session_from_any(simple_record(session), FILE)
    current = [message for message in session.messages if message.state is State.CURRENT]
    asked = [call.call_id for message in current for call in message.tool_calls if call.call_id]
    found = [call for message in retold.messages for call in message.tool_calls]
    assert [call.call_id for call in found if call.call_id] == asked
    said = "\n".join(part.text for m in retold.messages for part in m.parts if isinstance(part, Text))
    for message in current:
        assert message.text(Origin.MODEL).strip() in said or len(message.parts) > 1


def test_entries_become_messages_and_parts() -> None:
    session = told(
        {"type": "user", "content": "Why?", "timestamp": "2026-05-01T10:00:00+02:00"},
        {
            "type": "assistant",
            "id": "a",
            "model-id": "m-2",
            "timestamp": 1777629603000,
            "content": [{"type": "text", "text": "So."}, {"type": "chart", "points": [1]}, "Yes."],
            "token-usage": {"input": 10, "output": 2, "reasoning": 3, "cached": 4, "cost": 0.1},
            "children": [
                {"type": "reasoning", "content": "Hm.", "subject": "Reason"},
                {"type": "reasoning", "content": "", "encrypted": "AAAA"},
                {"type": "tool-call", "name": "ls", "call-id": "1", "input": '{"path": "a"}'},
                {"type": "tool-call", "name": "rm", "input": "all"},
                {"type": "tool-result", "output": "no", "is-error": True},
                {"type": "tool-result", "call-id": "1", "output": [{"text": "a.py"}], "status": "completed"},
                {"type": "tool-result", "call-id": "9", "output": {"x": 1}},
            ],
        },
        {"type": "system-event", "event-type": "error", "data": {"content": "Out of tokens"}},
        {"type": "system-event", "event-type": "mode", "data": {"to": "plan", "by": ["user", 1]}},
        {"type": "system-event", "event-type": "native:session", "data": {"sessionId": "1"}},
        {"type": "system-event", "event-type": "redacted"},
        {"type": "poem", "lines": 4},
        7,
        environment={"working-dir": "/p", "vcs": {"type": "git", "branch": "main"}},
    )
    asked, answered, *notices = session.messages
    assert (asked.role, asked.parts) == (Role.USER, (Text("Why?", Origin.HUMAN),))
    assert (str(asked.at), str(answered.at)) == ("2026-05-01 08:00:00+00:00", "2026-05-01 10:00:03+00:00")
    thought, *content, ls, rm, other = answered.parts
    assert thought == Thought("Hm.", "Reason")
    assert content == [
        Text("So.", Origin.MODEL),
        Unrecognised({"type": "chart", "points": [1]}),
        Text("Yes.", Origin.MODEL),
    ]
    assert isinstance(ls, ToolCall)
    assert isinstance(rm, ToolCall)
    assert (ls.arguments, ls.status, ls.result) == (
        {"path": "a"},
        ToolStatus.SUCCESS,
        (Text("a.py", Origin.TOOL),),
    )
    assert (rm.arguments, rm.status, rm.result) == (
        {"input": "all"},
        ToolStatus.ERROR,
        (Text("no", Origin.TOOL),),
    )
    assert other == ToolResult("9", None, (Unrecognised({"x": 1}),))
    assert answered.usage == Usage(1, input=10, output=2, thoughts=3, cached=4, total=15)
    assert [(notice.level, notice.text(Origin.NOTICE)) for notice in notices[:3]] == [
        (Level.ERROR, "Out of tokens"),
        (Level.INFO, 'mode: to: plan, by: ["user", 1]'),
        (Level.WARNING, "Entries were taken out here."),
    ]
    assert [notice.parts for notice in notices[3:]] == [
        (Unrecognised({"type": "poem", "lines": 4}),),
        (Unrecognised({"value": 7}),),
    ]
    assert (session.project.path, session.branch, session.models) == ("/p", "main", ("m-2",))


def test_conversations_inside_of_calls_are_told_after_them() -> None:
    inner = [
        {"type": "user", "content": "Look"},
        {"type": "tool-call", "name": "grep", "call-id": "2", "input": {}},
        {"type": "tool-result", "call-id": "2", "output": "found"},
    ]
    call = {"type": "tool-call", "name": "agent", "call-id": "1", "input": {}, "children": inner}
    session = told({"type": "assistant", "content": "Wait.", "children": [call]}, call | {"call-id": "3"})
    names = [[call.name for call in message.tool_calls] for message in session.messages]
    assert names == [["agent"], ["grep"], [], ["agent"], ["grep"], []]
    assert [message.text(Origin.HUMAN) for message in session.messages] == ["", "", "Look", "", "", "Look"]


def test_blocks_that_children_repeat_are_told_once() -> None:
    blocks = [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "1", "name": "ls", "input": {}}]
    call = {"type": "tool-call", "name": "ls", "call-id": "1", "input": {}}
    answer = {"type": "tool-result", "call-id": "1", "output": "a"}
    session = told(
        {"type": "assistant", "content": blocks, "children": [call]},
        {"type": "user", "content": [{"type": "tool_result", "tool_use_id": "1"}], "children": [answer]},
        {"type": "assistant", "content": blocks},
    )
    first, last = session.messages
    assert [type(part) for part in first.parts] == [Text, ToolCall]
    assert last.parts[1:] == (Unrecognised(blocks[1]),)


@pytest.mark.parametrize(
    ("provider", "counts", "whole"),
    [
        ("anthropic", {"input": 3, "cached": 10, "cache_creation_input_tokens": 5}, 18),
        ("anthropic", {"input": 18, "cached": 10, "input-includes-cached": True}, 18),
        ("google", {"input": 18, "cached": 10}, 18),
    ],
)
def test_the_input_is_the_whole_prompt(provider: str, counts: dict[str, Any], whole: int) -> None:
    meta = {"model-id": "m", "model-provider": provider}
    session = told({"type": "assistant", "token-usage": counts}, **{"agent-meta": meta})
    assert session.usage.input == whole


@pytest.mark.parametrize(
    ("name", "agent"),
    [("codex-cli", "codex"), ("cursor", "cursor"), ("a: b/c", "a-b-c"), ("", "unknown"), (7, "unknown")],
)
def test_the_agent_is_known_by_the_name_of_its_program(name: object, agent: str) -> None:
    session = told({"type": "user", "content": "x"}, **{"agent-meta": {"cli-name": name}})
    assert (session.agent, session.id) == (agent, f"{agent}:record-s-1")


# Odd records


VALUES = JSON | st.sampled_from(["[redacted]", "user", "tool-call", 1777629603, "2026-05-01T10:00:00Z"])
ENTRIES = st.recursive(
    VALUES,
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(
                ["user", "assistant", "tool-call", "tool-result", "reasoning", "system-event"]
            )
            | VALUES,
            "event-type": st.sampled_from(["info", "redacted", "native:x"]) | VALUES,
            "call-id": st.sampled_from(["1", "2"]) | VALUES,
            "children": st.lists(inner, max_size=4) | VALUES,
            "x-geminids": st.dictionaries(
                st.sampled_from(["origin", "state", "content_after"]) | WORDS, VALUES
            ),
            **dict.fromkeys(("content", "input", "output", "data", "token-usage", "timestamp"), VALUES),
            **dict.fromkeys(("id", "name", "status", "is-error", "model-id", "subject"), VALUES),
        },
    ),
    max_leaves=12,
)


@settings(max_examples=examples(300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(ENTRIES, max_size=5),
    st.dictionaries(
        st.sampled_from(
            ["agent-meta", "environment", "session-start", "session-end", "x-geminids", "session-id"]
        ),
        VALUES
        | st.dictionaries(st.sampled_from(["cli-name", "models", "model-id", "working-dir", "vcs"]), VALUES),
    ),
    VALUES,
)
def test_any_record_with_entries_is_told(entries: list[Any], about: dict[str, Any], more: Any) -> None:
    record = {"session": {**about, "entries": entries}, "x-commitment": {"redacted": more}, "vcs": more}
    content = encode_json({"version": "3.0.0-draft", **json.loads(json.dumps(_finite(record)))})
    session = session_from_any(record_in_file(content), FILE)
    assert encode(session)
    assert isinstance([*transcript(session, LEVELS["everything"])], list)
    assert session == session_from_any(record_in_file(content), FILE)


def _finite(value: Any) -> Any:
    """What JSON can hold of a value."""
    match value:
        case str():
            return value.encode(errors="replace").decode()
        case float():
            return value if abs(value) < 1e308 else 0.5
        case dict():
            return {_finite(key): _finite(item) for key, item in value.items()}
        case list():
            return [_finite(item) for item in value]
        case _:
            return value


@pytest.mark.parametrize("record", [{}, {"session": []}, {"session": {"entries": {}}}, {"session": {}}])
def test_what_has_no_entries_is_no_record(record: Mapping[str, Any]) -> None:
    with pytest.raises(RecordError, match="no list of entries at /session/entries"):
        session_from_any(record, FILE)


FORMS = [
    *whole_files().values(),
    *(file.signed for file in signed_in_every_way(a_record(), ED25519_KEY, ["/session/entries/0"])),
]


@settings(
    max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.sampled_from(FORMS), st.data())
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, content: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(content) - 1))
    damage = data.draw(st.sampled_from([b"", b"\xff", b"{", b"\x00", b"9"]))
    cut = data.draw(st.booleans())
    path = written(tmp_path, "x", content[:at] + damage + (b"" if cut else content[at + 1 :]))
    try:
        sessions = sessions_in(path)
    except GeminidsError:
        return
    assert all(encode(session) for session in sessions)


def test_cbor_of_another_tool_may_hold_what_json_cannot() -> None:
    entry = {"type": "tool-result", "output": b"\x00\xff", "timestamp": Tagged(1, 1777629603), 7: 0.5}
    record = record_in_file(cbor(foreign(entry)))
    (message,) = session_from_any(record, FILE).messages
    assert message.parts == (ToolResult(None, None, (Text("AP8=", Origin.TOOL),)),)
    assert message.at is not None


def test_a_record_nested_too_deep_is_refused(tmp_path: Path) -> None:
    for content in (b"\xa1\x61x" + b"\x81" * 100_000 + b"\x00", b'{"vcon":"1","x":' + b"[" * 100_000):
        with pytest.raises(NotASessionError):
            sessions_in(written(tmp_path, "x", content))


# The command


@pytest.fixture
def shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an excerpt in it, in which the commands are given."""
    record = commit(a_record(), SEED)
    (tmp_path / "share.json").write_bytes(encode_json(withhold(record, ["/session/entries/0"])))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_show_says_once_that_nothing_was_verified(geminids: Run, shared: Path) -> None:
    for name, content in whole_files().items():
        written(shared, name, content)
        outcome = geminids("show", name)
        assert (outcome.code, outcome.err.count(NOTE)) == (0, 1)
        assert f"`geminids verify {name}`" in outcome.err
    for words in (("share.json",), ("share.json", "--json")):
        outcome = geminids("show", *words)
        assert (outcome.code, outcome.err.count(NOTE)) == (0, 1)


def test_show_says_nothing_of_that_for_a_session(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path / "home", prompt="Hi")
    (path,) = (tmp_path / "home").rglob("session-*.jsonl")
    document = tmp_path / "document.json"
    document.write_text(geminids("show", path, "--json").out)
    for file in (path, document):
        assert NOTE not in geminids("show", file).err


def test_a_record_can_come_through_a_pipe(
    geminids: Run, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = whole_files()["statement.cbor.acr"]
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    outcome = geminids("show", "-")
    assert (outcome.code, "`geminids verify FILE`" in outcome.err) == (0, True)


@pytest.mark.parametrize("name", ["markdown", "json", "html", "gemini", "vac"])
def test_a_record_can_be_exported_again(geminids: Run, shared: Path, name: str) -> None:
    outcome = geminids("export", "share.json", "-f", name)
    assert (outcome.code, bool(outcome.out)) == (0, True), outcome.err


def test_no_file_is_opened_because_a_record_names_it(geminids: Run, shared: Path) -> None:
    private = written(shared, "private.md", b"nobody may read this")
    beside = Companion(CompanionKind.PLAN, str(private), private.stat().st_size, None)
    record = record_of(msgspec.structs.replace(a_session(), companions=(beside,)))
    # A name that looks like no file is taken for one only where no session has it.
    for name, content in (("sent", encode_cbor(record)), ("sent.json", encode_json(record))):
        written(shared, name, content)
        outcome = geminids("show", name, "--beside", "--all")
        assert outcome.code == 0
        assert "nobody may read this" not in outcome.out
    with Library([shared]) as library:
        assert library.file(shared / "sent") == [session_with(beside)]


def session_with(beside: Companion) -> Session:
    return msgspec.structs.replace(a_session(), companions=(beside,))


SHOW = """
import sys
for name in sys.argv[2].split():
    sys.modules[name] = None
from geminids.faces.cli.main import run
code = run(["show", sys.argv[1]])
print(code, *sorted(sys.modules), file=sys.stderr)
"""


def shown(path: Path, missing: str = "") -> tuple[list[str], str]:
    line = [sys.executable, "-c", SHOW, str(path), missing]
    done = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60)
    *said, last = done.stderr.splitlines()
    return last.split(), "\n".join(said)


@pytest.mark.parametrize("name", ["record.json", "record.cbor", "record.vcon", "statement.json.acr"])
def test_to_read_a_record_nothing_needs_to_be_installed(tmp_path: Path, name: str) -> None:
    (code, *_), said = shown(written(tmp_path, name, whole_files()[name]), "cryptography cbor2")
    assert code == "0", said


def test_a_session_is_shown_without_loading_what_reads_records() -> None:
    (home,) = [home for home in fixture_homes("gemini") if home.parent.name == "rewind-jsonl-2"]
    (code, *modules), _ = shown(next(home.rglob("session-*.jsonl")))
    known = {
        "geminids.sharing.records",
        "geminids.sharing.records.errors",
        "geminids.sharing.records.files",
        "geminids.sharing.records.profile",
    }
    assert code == "0"
    assert {name for name in modules if name.startswith("geminids.sharing.records")} <= known
    assert not {"cryptography", "cbor2"} & {*modules}


def test_a_hostile_record_harms_no_terminal(geminids: Run, shared: Path) -> None:
    record = commit(record_of(hostile_session()), SEED)
    written(shared, "hostile.json", encode_json(withhold(record, ["/session/entries/0"])))
    outcome = geminids("show", "hostile.json", "--all")
    assert outcome.code == 0
    assert "\x1b" not in outcome.out + outcome.err
