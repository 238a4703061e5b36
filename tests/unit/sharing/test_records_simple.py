"""The plainer translation says exactly what other tools say of the same files."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from geminids import __version__
from geminids.agents.claude.record.simple import entries as claude_entries
from geminids.agents.claude.record.simple import surroundings as claude_surroundings
from geminids.agents.codex.record.simple import entries as codex_entries
from geminids.agents.codex.record.simple import surroundings as codex_surroundings
from geminids.agents.gemini.record.simple import message_entry as gemini_entry
from geminids.core import agents
from geminids.core.agents.records import Surroundings
from geminids.core.model import Session, SessionKind, State, ToolCall
from geminids.query.sessions.input_files import sessions_in
from geminids.sharing.records.encoding import decode, encode_json
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.mismatches import check_record
from geminids.sharing.records.natives import Natives, read_natives
from geminids.sharing.records.simple import simple_record
from tests.conftest import FIXTURES, RecordProperty
from tests.support.exporting import exported, fixture_sessions, hostile_session
from tests.support.reading import custodian_of
from tests.support.reading import sessions as read_sessions

GEMINI_HOMES = sorted(FIXTURES.glob("gemini/*/home"))
DOCUMENT, LOG = "gemini-json", "gemini-jsonl"
DROPPED = (
    *("projectHash", "lastUpdated", "resultDisplay", "displayName"),
    *("renderOutputAsMarkdown", "tokens", "token-usage"),
)
"""Names of which nothing may be left."""


def naive_record(document: dict[str, Any], own: set[str] | None = None) -> dict[str, Any]:
    """What the breakdown of Gemini CLI's format says, sentence by sentence; of its own messages only."""
    messages = [m for m in document["messages"] if own is None or m["id"] in own]
    model = next((m["model"] for m in messages if "model" in m), "unknown")
    return {
        "version": "3.0.0-draft",
        "id": document["sessionId"],
        "created": document["startTime"],
        "recording-agent": {"name": "geminids", "version": __version__},
        "session": {
            "format": "interactive",
            "session-id": document["sessionId"],
            "session-start": document["startTime"],
            "agent-meta": {
                "model-id": model,
                "model-provider": "google" if model.startswith("gemini") else "unknown",
                "cli-name": "gemini-cli",
            },
            "entries": [naive_entry(m) for m in messages],
        },
    }


def naive_entry(message: dict[str, Any]) -> dict[str, Any]:
    entry = {"type": "user" if message["type"] in ("user", "human") else "assistant"}
    for native, name in (
        ("id", "id"),
        ("timestamp", "timestamp"),
        ("content", "content"),
        ("model", "model-id"),
    ):
        if message.get(native) is not None:
            entry[name] = message[native]
    children = []
    for thought in message.get("thoughts") or []:
        child = {"type": "reasoning", "content": thought["description"]}
        if "subject" in thought:
            child["subject"] = thought["subject"]
        children.append(child)
    for call in message.get("toolCalls") or []:
        at = call.get("timestamp") or message.get("timestamp")
        about = {"call-id": call["id"]} | ({"timestamp": at} if at else {})
        children.append({"type": "tool-call", "name": call["name"], "input": call["args"]} | about)
        if call.get("result") is not None:
            status = {"status": call["status"]} if "status" in call else {}
            children.append({"type": "tool-result", "output": call["result"]} | status | about)
    return entry | ({"children": children} if children else {})


def natives_of(session: Session) -> Natives:
    source = agents.load(session.agent)
    return read_natives(session, lambda path: source.files().unpacked(Path(path)) or Path(path).read_bytes())


def gemini_sessions(homes: list[Path], file_format: str) -> Iterator[Session]:
    """The sessions in files of one format, and nowhere else."""
    for home in homes:
        for session in read_sessions(agents.load("gemini"), home):
            if session.files and all(file.format == file_format for file in session.files):
                yield session


def whole_document(session: Session) -> dict[str, Any] | None:
    """The last file of a session, unless it is torn."""
    try:
        document = json.loads(Path(session.files[-1].path).read_bytes())
    except ValueError:
        return None
    assert isinstance(document, dict)
    return in_whole_characters(document)


def in_whole_characters(value: dict[str, Any]) -> dict[str, Any]:
    """The same with U+FFFD for halves of characters, which no record can hold."""
    whole: dict[str, Any] = json.loads(
        re.sub("[\ud800-\udfff]", "\ufffd", json.dumps(value, ensure_ascii=False))
    )
    return whole


def members(value: Any) -> Iterator[tuple[str, Any]]:
    """All members at any depth that are not inside of something passed on as it is."""
    match value:
        case dict():
            for name, held in value.items():
                yield name, held
                if name not in ("input", "output", "content"):
                    yield from members(held)
        case list():
            for held in value:
                yield from members(held)


def test_the_published_session_is_translated_as_the_breakdown_says(corpus: Path) -> None:
    native = corpus / "vac" / "native" / "gemini-gemini-3-pro-preview.json"
    (session,) = sessions_in(native)
    record = simple_record(session, natives_of(session))
    assert record == naive_record(json.loads(native.read_bytes()))
    kinds = Counter(child["type"] for e in record["session"]["entries"] for child in e.get("children", ()))
    assert kinds == {"reasoning": 60, "tool-call": 39, "tool-result": 39}


def agrees_with_the_document(session: Session) -> bool:
    """Compare a session with its document; False if that is torn."""
    document = whole_document(session)
    if document is None:
        return False
    record = simple_record(session, natives_of(session))
    expected = naive_record(document, {message.id for message in session.messages})
    if session.kind is SessionKind.SUBAGENT:
        # Subagents wrote into the file of their parent, or under its id: each has an id and a start here.
        record, expected = record["session"]["entries"], expected["session"]["entries"]
    assert record == expected, session.id
    return True


def test_every_document_is_translated_as_the_breakdown_says(record_property: RecordProperty) -> None:
    compared = Counter(agrees_with_the_document(s) for s in gemini_sessions(GEMINI_HOMES, DOCUMENT))
    assert compared[True] > 20
    record_property("counts", f"documents translated as the breakdown says: {compared[True]} of the fixtures")


@pytest.mark.slow
def test_every_recorded_document_is_translated_as_the_breakdown_says(
    corpus: Path, record_property: RecordProperty
) -> None:
    homes = sorted((corpus / "real").glob("*/*/home"))
    compared = Counter(agrees_with_the_document(s) for s in gemini_sessions(homes, DOCUMENT))
    assert compared[True] > 300
    record_property("counts", f"documents translated as the breakdown says: {compared[True]} of the corpus")


def test_logs_are_translated_as_the_agent_would_load_them(record_property: RecordProperty) -> None:
    """Each message that Gemini CLI's own loader returns is told by the same rules as in a document.

    Where a history was written anew under other ids, the messages have those that they had before.
    """
    compared = Counter[str]()
    for session, view in loaded_logs():
        natives = natives_of(session)
        told = {entry["id"]: entry for entry in simple_record(session, natives)["session"]["entries"]}
        written = written_ids(session, natives)
        for message in view["messages"]:
            if message["id"] in told:
                assert told[message["id"]] == naive_entry(in_whole_characters(message))
                compared["the same"] += 1
            else:
                assert not told.keys().isdisjoint(written[message["id"]])
                compared["written anew"] += 1
    assert compared["the same"] > 500
    record_property("counts", f"messages of logs translated as the breakdown says: {dict(compared)}")


def loaded_logs() -> Iterator[tuple[Session, dict[str, Any]]]:
    """Sessions in logs, and what Gemini CLI loads from them."""
    found = list(gemini_sessions(GEMINI_HOMES, LOG))
    holders = Counter(file.path for session in found for file in session.files)
    for session in found:
        path = session.files[-1].path
        view = custodian_of(agents.load("gemini")).agent_view(Path(path))
        # It loads nothing without a header, and of two sessions in one file only the last.
        if view is not None and holders[path] == 1:
            yield session, view


def written_ids(session: Session, natives: Natives) -> dict[str, set[str]]:
    """All ids under which a message that the agent sees was written, by each of them."""
    found: dict[str, set[str]] = {}
    for message in session.messages:
        files = [(natives.file_of(place), place) for place in (message.source, *message.also_at)]
        values = [file.value_at(place) for file, place in files if file is not None]
        # Others are torn, or lines of the log of what was typed.
        ids = {value["id"] for value in values if isinstance(value, dict) and "id" in value}
        if message.state is State.CURRENT:
            found |= dict.fromkeys(ids, ids)
    return found


def test_what_the_agent_no_longer_sees_is_not_told() -> None:
    (session,) = read_sessions(agents.load("gemini"), FIXTURES / "gemini" / "rewind-jsonl-2" / "home")
    dropped = {message.id for message in session.messages if message.state is not State.CURRENT}
    assert dropped
    for record in (simple_record(session), simple_record(session, natives_of(session))):
        assert dropped.isdisjoint(entry["id"] for entry in record["session"]["entries"])


@pytest.mark.parametrize("with_files", [True, False], ids=["with its files", "without its files"])
def test_nothing_is_left_of_what_is_dropped(with_files: bool) -> None:
    for session in (*gemini_sessions(GEMINI_HOMES, DOCUMENT), *gemini_sessions(GEMINI_HOMES, LOG)):
        record = simple_record(session, natives_of(session) if with_files else None)
        found = list(members(record))
        assert {name for name, _ in found}.isdisjoint((*DROPPED, "description"))
        for name, children in found:
            if name == "children":
                assert not any("timestamp" in child for child in children if child["type"] == "reasoning")


def test_no_extension_is_in_any_record() -> None:
    for session in fixture_sessions().values():
        assert not [name for name, _ in members(simple_record(session)) if name.startswith("x-")]


def test_without_its_files_a_session_is_told_as_gemini_cli_would_write_it() -> None:
    """What our own writer of Gemini's files writes, the breakdown translates to the same entries."""
    for name, session in fixture_sessions().items():
        only_current = tuple(m for m in session.messages if m.state is State.CURRENT)
        current = replace(session, agent="gemini", messages=only_current)
        records = [json.loads(line) for line in exported("gemini", current).splitlines()]
        written = {r["id"]: r for r in messages_of(records)}
        told = json.loads(json.dumps(simple_record(session)["session"]["entries"]))
        assert [entry for entry in told if entry["id"] in written] == [
            naive_entry(written[entry["id"]]) for entry in told if entry["id"] in written
        ], name
        assert len(told) == len(only_current)


def messages_of(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for record in records:
        yield from [record] if "id" in record else record.get("$set", {}).get("messages", ())


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_lines_of_other_agents_are_entries(agent: str) -> None:
    """One line, one entry: those with a message, or all but what is about the session as a whole."""
    entries = 0
    for home in sorted(FIXTURES.glob(f"{agent}/*/home")):
        for session in read_sessions(agents.load(agent), home):
            told = simple_record(session, natives_of(session))["session"]["entries"]
            entries += len(told)
            assert told or not session.messages
    assert entries > 1000


def test_subagents_that_share_a_file_are_told_apart() -> None:
    home = FIXTURES / "claude" / "subagent-1.0.120" / "home"
    found = {session.id: session for session in read_sessions(agents.load("claude"), home)}
    child = next(session for session in found.values() if session.parent_id in found)
    parent = found[child.parent_id or ""]
    assert parent.file == child.file
    assert ids_of(parent)
    assert ids_of(child)
    assert ids_of(parent).isdisjoint(ids_of(child))


def ids_of(session: Session) -> set[str]:
    entries = simple_record(session, natives_of(session))["session"]["entries"]
    return {entry["id"] for entry in entries if "id" in entry}


def test_a_session_whose_file_is_gone_is_told_from_the_model() -> None:
    def gone(path: str) -> bytes:
        raise FileNotFoundError(path)

    for session in fixture_sessions().values():
        assert simple_record(session, read_natives(session, gone)) == simple_record(session)


@pytest.mark.parametrize("with_files", [True, False], ids=["with its files", "without its files"])
def test_every_record_has_the_shape_of_the_format(with_files: bool) -> None:
    for name, session in sessions_in_place().items():
        record = simple_record(session, natives_of(session) if with_files else None)
        assert check_record(record) is None, name
        assert decode(encode_json(record)) == (record, "json")
    assert check_record(simple_record(hostile_session())) is None


def sessions_in_place() -> dict[str, Session]:
    """Every session of every fixture, where its files are."""
    return {
        f"{home.parent.name}/{session.id}": session
        for home in sorted(FIXTURES.glob("*/*/home"))
        for session in read_sessions(agents.load(home.parent.parent.name), home)
    }


def test_what_is_nested_too_deep_is_a_text_or_an_error() -> None:
    session = hostile_session()
    deep, deepest = nested(150), nested(100_000)
    record = simple_record(with_arguments(session, deep))
    assert check_record(record) is None
    assert decode(encode_json(record)) == (record, "json")
    with pytest.raises(RecordError, match="nested too deep"):
        simple_record(with_arguments(session, deepest))


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def with_arguments(session: Session, arguments: Any) -> Session:
    """The session with these arguments in all its calls."""
    messages = [
        replace(
            message,
            parts=tuple(
                replace(part, arguments={"deep": arguments}) if isinstance(part, ToolCall) else part
                for part in message.parts
            ),
        )
        for message in session.messages
    ]
    assert any(message.tool_calls for message in messages)
    return replace(session, messages=tuple(messages))


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2**70)
    | st.floats()
    | st.sampled_from(["", "x", "2026-13-01"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["text", "type", "id"]), inner)
    ),
    max_leaves=4,
)
NAMES = (
    *("id", "uuid", "parentUuid", "timestamp", "type", "role", "model", "content", "thoughts", "toolCalls"),
    *("description", "subject", "name", "args", "result", "status", "input", "output", "call_id", "children"),
    *(
        "data",
        "is-error",
        "token-usage",
        "usage",
        "input_tokens",
        "cost",
        "total",
        "info",
        "payload",
        "message",
    ),
    *("summary", "encrypted_content", "arguments", "event-type", "model-id", "encrypted", "thinking"),
)
KINDS = st.sampled_from(
    [
        *("user", "gemini", "message", "reasoning", "function_call", "function_call_output", "token_count"),
        *(
            "response_item",
            "event_msg",
            "turn_context",
            "user_message",
            "tool_use",
            "tool_result",
            "thinking",
        ),
    ]
)


LISTS = ("content", "thoughts", "toolCalls", "summary")


def odd_maps() -> st.SearchStrategy[dict[str, Any]]:
    """Maps with names that agents use, kinds that they know, and values that they would never write."""
    members = st.dictionaries(st.sampled_from(NAMES), ODD, max_size=5)
    return st.recursive(
        st.builds(lambda held, kind: held | {"type": kind}, members, KINDS),
        lambda inner: st.builds(
            lambda held, below, name: held | {name: [below] if name in LISTS else below},
            inner,
            inner,
            st.sampled_from(["payload", "message", "usage", "info", *LISTS]),
        ),
        max_leaves=4,
    )


@given(st.lists(odd_maps(), max_size=3))
@example([{"type": "response_item", "payload": {"type": "function_call_output", "is-error": 1}}])
@example([{"type": "response_item", "payload": {"type": "function_call", "children": 1, "call_id": 1}}])
def test_odd_records_of_agents_still_have_the_shape_of_the_format(lines: list[dict[str, Any]]) -> None:
    assert {type(about) for about in (claude_surroundings(lines), codex_surroundings(lines))} == {
        Surroundings
    }
    for told in (map(gemini_entry, lines), claude_entries(lines), codex_entries(lines)):
        about = {
            "session-id": "1",
            "agent-meta": {"model-id": "", "model-provider": ""},
            "entries": list(told),
        }
        assert check_record({"version": "", "id": "", "session": about}) is None
