"""Sessions as records: nothing is lost on the way there and back, in JSON and in CBOR."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.core.model import (
    Attachment,
    FileReference,
    Level,
    Message,
    Origin,
    Plain,
    Project,
    Role,
    Session,
    SessionKind,
    State,
    Text,
    Thought,
    ToolCall,
    ToolKind,
    ToolResult,
    ToolStatus,
    Unrecognised,
    Usage,
)
from geminids.library.export import Exporter
from geminids.library.export_items import Item
from geminids.sharing.export.base import Format
from geminids.sharing.export.losses import Verdict, losses
from geminids.sharing.records.encoding import decode, encode_cbor, encode_json
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.evidence import Evidence, FileEvidence, NativeEvidence
from geminids.sharing.records.formats import Vac, VacCbor, VacSimple, Vcon
from geminids.sharing.records.mismatches import check_record
from geminids.sharing.records.natives import Natives
from geminids.sharing.records.reader import session_of
from geminids.sharing.records.translation import model_provider, record_of
from tests.conftest import FIXTURES, RecordProperty
from tests.support.examples import examples
from tests.support.exporting import hostile_session, looked_at_sessions, manner
from tests.support.records import (
    AGENTS,
    JSON,
    corpus_homes,
    fixture_homes,
    natives_of,
    sessions_and_evidence,
    sessions_with_evidence,
)

replace = msgspec.structs.replace


def check_is_lossless(session: Session, evidence: Evidence | None) -> dict[str, Any]:
    record = record_of(session, evidence)
    again = session_of(record)
    assert again == (session, evidence)
    assert record_of(*again) == record
    assert encode_json(record_of(*again)) == encode_json(record)
    assert decode(encode_json(record)) == (record, "json")
    assert decode(encode_cbor(record)) == (record, "cbor")
    assert check_record(record) is None
    return record


def a_session(*messages: Message, **facts: Any) -> Session:
    return replace(hostile_session(), **{"models": ("gemini-3-pro",), **facts}, messages=messages)


def a_message(role: Role, *parts: Any, **facts: Any) -> Message:
    origins = {Role.USER: Origin.HUMAN, Role.ASSISTANT: Origin.MODEL, Role.SYSTEM: Origin.NOTICE}
    known = {
        "id": "m1",
        "origin": origins[role],
        "state": State.CURRENT,
        "at": None,
        "model": None,
        "usage": None,
    }
    return Message(
        **{**known, "source": hostile_session().messages[0].source, **facts}, role=role, parts=parts
    )


def entries_of(*messages: Message) -> list[dict[str, Any]]:
    record = check_is_lossless(a_session(*messages), None)
    entries: list[dict[str, Any]] = record["session"]["entries"]
    return entries


# Lossless


@pytest.mark.slow
@pytest.mark.parametrize("agent", AGENTS)
def test_every_session_of_the_fixtures_comes_back_from_its_record(
    agent: str, record_property: RecordProperty
) -> None:
    count = _check_homes(agent, fixture_homes(agent))
    assert count > 20
    record_property(
        "counts", f"{count} sessions of {agent} told as records and read back with their evidence"
    )


@pytest.mark.slow
def test_every_session_of_the_corpus_comes_back_from_its_record(
    corpus: Path, record_property: RecordProperty
) -> None:
    count = _check_homes("gemini", corpus_homes(corpus))
    assert count > 500
    record_property(
        "counts", f"{count} sessions of the corpus told as records and read back with their evidence"
    )


def _check_homes(agent: str, homes: Iterable[Path]) -> int:
    count = 0
    for home in homes:
        for session, evidence in sessions_with_evidence(agent, home):
            check_is_lossless(session, evidence)
            check_is_lossless(session, None)
            count += 1
    return count


@settings(deadline=None, max_examples=examples(300), suppress_health_check=list(HealthCheck))
@given(sessions_and_evidence())
def test_any_session_comes_back_from_its_record(told: tuple[Session, Evidence | None]) -> None:
    check_is_lossless(*told)


def test_a_hostile_session_comes_back_from_its_record() -> None:
    record = check_is_lossless(hostile_session(), None)
    assert record["x-geminids"]["replaced"] > 1
    encode_json(record).decode()


def test_the_same_session_gives_the_same_bytes() -> None:
    for case, session in looked_at_sessions().items():
        again = msgspec.json.decode(msgspec.json.encode(session), type=Session)
        assert encode_json(record_of(session)) == encode_json(record_of(again)), case
        assert encode_cbor(record_of(session)) == encode_cbor(record_of(again)), case


@pytest.mark.parametrize("agent", AGENTS)
def test_a_record_holds_plain_values_only(agent: str) -> None:
    for home in fixture_homes(agent):
        for session, evidence in sessions_with_evidence(agent, home):
            assert _kinds(record_of(session, evidence)) <= {str, int, float, bool, type(None), list, dict}


def _kinds(value: Any) -> set[type]:
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return {type(value)}.union(*map(_kinds, inside))


def test_a_session_is_not_changed_by_being_told() -> None:
    session = hostile_session()
    encode_cbor(record_of(session))
    session_of(record_of(session))
    assert session == hostile_session()


@pytest.mark.parametrize("chosen", [Vac(), Vcon()], ids=lambda chosen: chosen.name)
def test_the_report_of_losses_finds_none(chosen: Format) -> None:
    for case, session in {**looked_at_sessions(), "hostile": hostile_session()}.items():
        report = losses(session, chosen, manner("everything"))
        assert len(report.having(Verdict.CARRIED)) == len(report.losses) > 5, case


# What the members say


def test_a_message_of_one_text_has_a_text_as_content() -> None:
    (entry,) = entries_of(
        a_message(Role.USER, Text("Hello", Origin.HUMAN), at=datetime(2026, 5, 1, tzinfo=UTC))
    )
    assert entry == {
        "type": "user",
        "id": "m1",
        "timestamp": "2026-05-01T00:00:00Z",
        "content": "Hello",
        "x-source": [{"file": 0, "line": 1, "start": 10, "end": 15}],
    }


def test_several_pieces_of_content_are_blocks() -> None:
    (entry,) = entries_of(
        a_message(
            Role.USER,
            Text("Look", Origin.HUMAN),
            Text("in the folder", Origin.INJECTED),
            Attachment("image/png", data="aGk="),
            FileReference("notes.txt", "milk"),
            Unrecognised([1]),
        )
    )
    assert entry["content"] == [
        {"type": "text", "text": "Look"},
        {"type": "text", "text": "in the folder", "x-geminids": {"origin": "injected"}},
        {"type": "attachment", "mime-type": "image/png", "data": "aGk="},
        {"type": "file-reference", "path": "notes.txt", "text": "milk"},
        {"type": "unrecognised", "value": [1]},
    ]


def test_thoughts_calls_and_results_are_children_in_order() -> None:
    called = ToolCall(
        *("c-1", "run", ToolKind.EXECUTE, {"command": "ls"}, ToolStatus.SUCCESS),
        native_status="success",
        result=(Text("a b", Origin.TOOL),),
        exit_code=0,
        display=Plain("a b"),
    )
    failed = replace(
        called, call_id="c-2", status=ToolStatus.ERROR, native_status=None, exit_code=1, result=()
    )
    waiting = ToolCall("c-3", "ask", ToolKind.OTHER, {}, ToolStatus.PENDING, native_status="executing")
    (entry,) = entries_of(
        a_message(Role.ASSISTANT, Thought("Hm", "A plan"), Text("So", Origin.MODEL), called, failed, waiting)
    )
    assert "x-geminids" not in entry
    assert entry["children"] == [
        {"type": "reasoning", "id": "m1#t1", "subject": "A plan", "content": "Hm"},
        {
            "type": "tool-call",
            "id": "m1#c1",
            "call-id": "c-1",
            "name": "run",
            "input": {"command": "ls"},
            "x-geminids": {"kind": "execute"},
        },
        {
            "type": "tool-result",
            "id": "m1#r1",
            "call-id": "c-1",
            "status": "success",
            "is-error": False,
            "output": "a b",
            "x-geminids": {"display": {"display": "text", "text": "a b"}, "exit_code": 0},
        },
        {
            "type": "tool-call",
            "id": "m1#c2",
            "call-id": "c-2",
            "name": "run",
            "input": {"command": "ls"},
            "x-geminids": {"kind": "execute"},
        },
        {
            "type": "tool-result",
            "id": "m1#r2",
            "call-id": "c-2",
            "is-error": True,
            "output": [],
            "x-geminids": {"display": {"display": "text", "text": "a b"}, "exit_code": 1},
        },
        {
            "type": "tool-call",
            "id": "m1#c3",
            "call-id": "c-3",
            "name": "ask",
            "input": {},
            "x-geminids": {"native_status": "executing"},
        },
    ]


def test_another_order_of_parts_is_noted() -> None:
    result = ToolResult("c-1", "run", (Text("a", Origin.TOOL),))
    thought, said = Thought("Hm"), Text("So", Origin.MODEL)
    (entry,) = entries_of(a_message(Role.ASSISTANT, said, thought, result, said, thought))
    assert entry["x-geminids"] == {"content_after": [0, 2]}
    assert [child["id"] for child in entry["children"]] == ["m1#t1", "m1#r1", "m1#t2"]


def test_what_the_agent_told_the_human_is_an_event() -> None:
    warning = a_message(Role.SYSTEM, Text("Slow", Origin.NOTICE), level=Level.WARNING)
    context = a_message(Role.SYSTEM, Text("You are", Origin.INJECTED), origin=Origin.INJECTED)
    notice = a_message(Role.USER, Text("Interrupted", Origin.NOTICE), origin=Origin.NOTICE)
    told = [
        (entry["type"], entry["event-type"], entry["data"], entry.get("x-geminids"))
        for entry in entries_of(warning, context, notice)
    ]
    assert told == [
        ("system-event", "warning", {"content": "Slow"}, None),
        ("system-event", "injected", {"content": "You are"}, {"origin": "injected"}),
        ("system-event", "notice", {"content": "Interrupted"}, {"role": "user"}),
    ]


def test_tokens_that_were_not_counted_are_not_zero() -> None:
    counted = a_message(Role.ASSISTANT, usage=Usage(1, 10, 0, None, 5, 3, 0, 18))
    odd = a_message(Role.ASSISTANT, usage=Usage(-1, 2**64, output=5))
    first, second = entries_of(counted, odd)
    assert first["token-usage"] == {
        "requests": 1,
        "input": 10,
        "cached": 0,
        "output": 5,
        "reasoning": 3,
        "tool": 0,
        "total": 18,
        "input-includes-cached": True,
    }
    assert second["token-usage"] == {"output": 5, "x-geminids": {"requests": -1, "input": 2**64}}


def test_what_took_messages_out_of_view_is_an_event_where_its_record_stands() -> None:
    base = hostile_session().messages[0].source
    places = [replace(base, line=line, start=line * 10, end=line * 10 + 9) for line in range(1, 5)]
    messages = [
        a_message(Role.USER, id="a", source=places[0]),
        a_message(Role.USER, id="b", source=places[1], state=State.REWOUND, dropped_by=places[2]),
        a_message(Role.USER, id="c", source=places[3]),
    ]
    entries = entries_of(*messages)
    assert [entry.get("event-type", entry.get("id")) for entry in entries] == ["a", "b", "rewind", "c"]
    assert entries[2] == {
        "type": "system-event",
        "event-type": "rewind",
        "data": {"messages": ["b"]},
        "x-source": [{"file": 0, "line": 3, "start": 30, "end": 39}],
        "x-geminids": {"derived": True},
    }


def test_what_files_say_beside_a_session_stands_between_its_messages() -> None:
    base = hostile_session().messages[0].source
    places = [replace(base, line=line, start=line * 10, end=line * 10 + 9) for line in range(1, 5)]
    session = a_session(a_message(Role.USER, source=places[1], also_at=(places[3],)))
    evidence = Evidence(
        (FileEvidence(base.file, 60, "0" * 64),),
        ((NativeEvidence(places[1], "1" * 64), NativeEvidence(places[3], "3" * 64, {"odd": 1})),),
        (
            NativeEvidence(places[0], "4" * 64, {"sessionId": "x"}),
            NativeEvidence(places[2], "5" * 64, ["no object"]),
        ),
        "0.61.0",
    )
    record = check_is_lossless(session, evidence)
    header, message, other = record["session"]["entries"]
    assert (header["event-type"], header["data"]) == ("native:session", {"sessionId": "x"})
    assert (other["event-type"], other["data"]) == ("native:record", {"value": ["no object"]})
    assert message["x-source"][1] == {"file": 0, "line": 4, "start": 40, "end": 49, "sha256": "3" * 64}
    assert message["x-native"] == [None, {"odd": 1}]
    known = {"path": base.file, "format": "gemini-jsonl", "size": 60, "sha256": "0" * 64}
    assert record["x-source"] == [known]
    assert record["session"]["agent-meta"]["cli-version"] == "0.61.0"


def test_evidence_of_another_session_is_refused() -> None:
    session = a_session(a_message(Role.USER))
    elsewhere = replace(session.messages[0].source, start=1)
    for messages in ((), ((NativeEvidence(elsewhere, "0" * 64),),)):
        with pytest.raises(RecordError, match="another session"):
            record_of(session, Evidence((), messages, ()))


def test_the_session_is_told_around_its_entries() -> None:
    known = {"project": Project("/home/ada/shop", None, None, None), "branch": "main", "native_id": "abc"}
    record = record_of(a_session(**known, started_at=datetime(2026, 5, 1, 10, 0, 0, 1000, tzinfo=UTC)))
    session = record["session"]
    assert record["version"] == "3.0.0-draft"
    assert record["id"] == hostile_session().id
    assert record["vcs"] == {"type": "git", "branch": "main"}
    assert record["recording-agent"]["name"] == "geminids"
    assert session["format"] == "interactive"
    assert session["session-id"] == "abc"
    assert session["session-start"] == "2026-05-01T10:00:00.001000Z"
    assert session["environment"] == {"working-dir": "/home/ada/shop", "vcs": record["vcs"]}
    assert session["agent-meta"] == {
        "model-id": "gemini-3-pro",
        "model-provider": "google",
        "models": ["gemini-3-pro"],
        "cli-name": "gemini-cli",
    }
    assert "created" not in record


def test_what_is_not_known_is_left_out_or_said_to_be_unknown() -> None:
    nowhere = Project(None, None, None, None)
    led = a_session(project=nowhere, models=(), branch=None, agent="other", kind=SessionKind.SUBAGENT)
    record = check_is_lossless(led, None)
    assert record["session"]["format"] == "autonomous"
    assert "environment" not in record["session"]
    assert "vcs" not in record
    about = {"model-id": "unknown", "model-provider": "unknown", "cli-name": "other"}
    assert record["session"]["agent-meta"] == about


@pytest.mark.parametrize(
    ("models", "agent", "provider"),
    [
        (("claude-opus-4-6",), "gemini", "anthropic"),
        (("gpt-5.2-codex",), "codex", "openai"),
        (("o3",), "codex", "openai"),
        (("o4-mini",), "codex", "openai"),
        (("google/gemini-3-pro",), "codex", "google"),
        (("own-model",), "claude", "anthropic"),
        (("own-model",), "other", "unknown"),
        ((), "gemini", "google"),
    ],
)
def test_the_provider_is_known_by_the_model_or_else_the_agent(
    models: tuple[str, ...], agent: str, provider: str
) -> None:
    assert model_provider(replace(hostile_session(), models=models, agent=agent)) == provider


# What JSON and CBOR cannot hold


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("half \ud83d", "half \ufffd"),
        (float("inf"), "Infinity"),
        (dict(zip("\ud83d\ud83e", (1, 2), strict=True)), {"\ufffd": 1, "\ufffd\ufffd": 2}),
        ({"a/b~c": ["\udc80"]}, {"a/b~c": ["\ufffd"]}),
        ([float("-inf"), 1.5], ["-Infinity", 1.5]),
    ],
)
def test_what_they_cannot_hold_is_replaced_and_noted(raw: Any, shown: Any) -> None:
    session = a_session(a_message(Role.USER, Unrecognised(raw), Text("ok", Origin.HUMAN)), **_plain_facts())
    record = check_is_lossless(session, None)
    (entry,) = record["session"]["entries"]
    assert entry["content"][0]["value"] == shown
    assert record["x-geminids"]["replaced"] == len(entry["x-geminids"]["originals"]) == 1


def test_what_is_not_a_number_is_a_text() -> None:
    session = a_session(a_message(Role.USER, Unrecognised(float("nan"))), **_plain_facts())
    record = record_of(session)
    (entry,) = record["session"]["entries"]
    assert entry["content"] == [{"type": "unrecognised", "value": "NaN"}]
    (message,) = session_of(record)[0].messages
    assert repr(message.parts) == "(Unrecognised(raw=nan),)"


@pytest.mark.slow
def test_what_is_nested_too_deep_is_a_text() -> None:
    deep = check_is_lossless(
        a_session(a_message(Role.USER, Unrecognised(nested(150))), **_plain_facts()), None
    )
    (block,) = deep["session"]["entries"][0]["content"]
    assert deep["x-geminids"]["replaced"] == 1
    assert _depth(block["value"]) < 100
    fine = check_is_lossless(
        a_session(a_message(Role.USER, Unrecognised(nested(90))), **_plain_facts()), None
    )
    assert "replaced" not in fine["x-geminids"]
    with pytest.raises(RecordError, match="nested too deep"):
        record_of(a_session(a_message(Role.USER, Unrecognised(nested(200_000))), **_plain_facts()))


def _plain_facts() -> dict[str, Any]:
    plain = {"title": None, "summary": None, "branch": None, "unrecorded": (), "status": "success"}
    return {**plain, "project": Project(None, None, None, None)}


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, list) and value:
        depth, value = depth + 1, value[0]
    return depth


# Formats


def written(chosen: Format, session: Session, level: str = "everything", **options: Any) -> bytes:
    return b"".join(chosen.write([session], manner(level, **options)))


def test_the_formats_write_the_same_record() -> None:
    for session in looked_at_sessions().values():
        record = record_of(session)
        assert json.loads(written(Vac(), session)) == record
        assert written(VacCbor(), session) == encode_cbor(record)


@pytest.mark.parametrize("chosen", [Vac(), VacSimple(), Vcon()], ids=lambda chosen: chosen.name)
def test_no_character_in_them_steers_a_terminal(chosen: Format) -> None:
    text = written(chosen, hostile_session()).decode()
    assert text.endswith("\n")
    assert not [c for c in text[:-1] if ord(c) < 32 or 127 <= ord(c) < 160 or c in "\u202e\u2066"]


def test_with_less_detail_less_is_told_and_no_file_looked_at() -> None:
    session, evidence = next(sessions_with_evidence("gemini", FIXTURES / "gemini/tool-calls-jsonl-2/home"))
    looked_at: list[Session] = []

    def look(wanted: Session) -> Natives:
        looked_at.append(wanted)
        return natives_of(wanted)

    assert session_of(json.loads(written(Vac(), session, natives=look))) == (session, evidence)
    assert looked_at == [session]
    for chosen in (Vac(), VacSimple(), Vcon()):
        told = written(chosen, session, "prompts", natives=look)
        assert looked_at == [session]
        assert len(told) < len(written(chosen, session)) // 2


@pytest.mark.parametrize("chosen", [Vac(), VacCbor(), VacSimple(), Vcon()], ids=lambda chosen: chosen.name)
def test_a_folder_of_them_is_written_once(chosen: Format, tmp_path: Path) -> None:
    sessions = [*looked_at_sessions().values()][:3]
    items = [Item(session.id, session.file, partial(_same, session), b"state") for session in sessions]
    first = Exporter(chosen, manner("everything")).to_folder(items, tmp_path)
    again = Exporter(chosen, manner("everything")).to_folder(items, tmp_path)
    assert (first.written, again.written, again.unchanged) == (3, 0, 3)
    names = [file.name for file in tmp_path.iterdir() if not file.name.startswith(".")]
    assert len([name for name in names if name.endswith(chosen.suffix)]) == 3


def _same(session: Session) -> Session:
    return session


# Encoding


@settings(deadline=None, max_examples=examples(200))
@given(st.dictionaries(st.text(max_size=4).filter(lambda key: key.isprintable()), JSON, max_size=4))
def test_what_is_not_refused_is_written_as_it_is(record: dict[str, Any]) -> None:
    for encode in (encode_json, encode_cbor):
        try:
            content = encode(record)
        except RecordError:
            continue
        try:
            assert decode(content)[0] == record
        except RecordError:
            assert encode is encode_cbor
            assert "Infinity" in json.dumps(record)
