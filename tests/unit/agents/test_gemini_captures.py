"""Conversations that were saved, shared, printed or reported tell the same as the sessions they come from."""

from __future__ import annotations

import json
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geminids.agents.gemini import GeminiSource
from geminids.agents.gemini.companions.captures import read_copy
from geminids.core.agents.base import Reading
from geminids.core.model import (
    Level,
    Message,
    Origin,
    ProblemKind,
    Session,
    SessionKind,
    Status,
    ToolStatus,
    Unrecognised,
)
from tests.conftest import CORPUS, FIXTURES, RecordProperty
from tests.support.accounts import accounted
from tests.support.documents import assert_valid
from tests.support.examples import examples
from tests.support.reading import sessions
from tests.support.strategies import JSON

SOURCE = GeminiSource()
SETTINGS = settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
SCENARIOS = sorted(
    {path.parent for path in (CORPUS / "real").glob("*/i-chat-tags/manifest.json")}
    | {path.parent for path in (CORPUS / "real").glob("*/output-formats/manifest.json")}
    | {path.parent for path in (CORPUS / "real").glob("*/i-checkpoints/manifest.json")}
)
CASES = sorted(path.parent for path in FIXTURES.glob("gemini/*/beside"))
DIVIDER = re.compile(r"\n\n---\n\n## (?:USER 🧑💻|MODEL ✨)\n\n")

INVISIBLE = re.compile("<!--.*?-->|[\u200b-\u200d\ufeff]", re.DOTALL)


class Said(NamedTuple):
    """Words of somebody, or a call."""

    who: str
    words: str
    arguments: object = None
    call_id: str | None = None


def copies_in(scenario: Path) -> Iterator[Path]:
    """Everything in a scenario that holds a conversation and is no session."""
    homes = [scenario / "home", *sorted(scenario.glob("snap-*"))]
    for home in homes:
        yield from sorted(home.glob(".gemini/tmp/*/checkpoint*.json"))
        yield from sorted(home.glob(".gemini/tmp/*/checkpoints/*.json"))
        yield from sorted(home.glob(".gemini/tmp/*/bug-report-history-*.json"))
    for folder in ("project-files", "beside"):
        yield from sorted(path for path in (scenario / folder).rglob("*") if is_copy(path))
    if scenario.name == "output-formats":
        yield from sorted(scenario.glob("stdout-*.txt"))


def is_copy(path: Path) -> bool:
    return path.suffix in {".md", ".json", ".jsonl"} and path.stat().st_size > 0 and "home" not in path.parts


def read(path: Path) -> Reading:
    """A file as a copy, checked for what holds for all of them."""
    reading = read_copy(path, path.read_bytes())
    assert reading is not None, path
    check(reading, path.stat().st_size)
    return reading


def check(reading: Reading, size: int) -> None:
    (account,) = reading.accounts
    assert accounted(account) == account.size == size
    fates = (account.used, account.ignored, account.problem)
    assert all(tally.bytes >= 0 for tallies in fates for tally in tallies.values())
    for session in reading.sessions:
        assert_valid(session)
        ids = [message.id for message in session.messages]
        assert len(ids) == len(set(ids))
        for message in session.messages:
            assert 0 <= message.source.start < message.source.end <= size


def told(messages: Sequence[Message]) -> list[Said]:
    """What a conversation comes to: words of the human and of the model, and calls."""
    found: list[Said] = []
    for message in messages:
        if message.origin in (Origin.HUMAN, Origin.COMMAND):
            found.append(Said("human", words(message, Origin.HUMAN)))
        elif message.origin is Origin.MODEL:
            spoken = words(message, Origin.MODEL)
            found.extend([Said("model", spoken)] if spoken else [])
            found.extend(
                Said("call", c.name, c.arguments, bare(c.call_id, c.name)) for c in message.tool_calls
            )
    return found


def words(message: Message, origin: Origin) -> str:
    """The words of a message as all releases store them: since 0.53 without invisible characters."""
    return INVISIBLE.sub("", message.text(origin)).strip()


def bare(call_id: str | None, name: str) -> str | None:
    """An id as all releases have it: sessions put the tool's name before it since 0.43, requests do not."""
    return call_id.removeprefix(f"{name}__") if call_id else None


def is_same(one: Said, other: Said) -> bool:
    """Whether both are the same. Until 0.42 a call that waits for its end has no id yet."""
    ids_fit = one.call_id == other.call_id or None in (one.call_id, other.call_id)
    return one[:3] == other[:3] and ids_fit


def are_same(some: Sequence[Said], others: Sequence[Said]) -> bool:
    return len(some) == len(others) and all(map(is_same, some, others))


def is_within(some: Sequence[Said], all_of_it: Sequence[Said]) -> bool:
    """Whether all of some things are said elsewhere, in order."""
    rest = iter(all_of_it)
    return all(any(is_same(one, other) for other in rest) for one in some)


def fit(copy: Session, talks: Sequence[Session]) -> str:
    """How a copy stands to the sessions of its scenario."""
    said = told(copy.messages)
    if not said:
        return "no words"
    if not talks:
        return "no session was written"
    fits = {how_it_fits(said, talk) for talk in talks}
    return next((how for how in FITS if how in fits), "nothing")


FITS = (
    "all of the session",
    "the session up to then",
    "a part of the session, in order",
    "all but calls, which this session does not hold",
    "the session, with a quoted divider taken for one",
)


def how_it_fits(said: Sequence[Said], talk: Session) -> str | None:
    whole = told(talk.messages)
    kept = told([message for message in talk.messages if message.state == "current"])
    if are_same(said, whole) or are_same(said, kept):
        return FITS[0]
    if are_same(said, whole[: len(said)]) or are_same(said, kept[: len(said)]):
        return FITS[1]
    if is_within(said, whole):
        return FITS[2]
    if not any(one.who == "call" for one in whole) and is_within([s for s in said if s.who != "call"], whole):
        return FITS[3]
    split = [Said("", piece, o.arguments, o.call_id) for o in whole for piece in DIVIDER.split(o.words)]
    return FITS[4] if is_within([one._replace(who="") for one in said], split) else None


def compare(scenario: Path) -> Counter[str]:
    fits: Counter[str] = Counter()
    homes = (scenario / "home", *sorted(scenario.glob("snap-*")))
    everything = [s for home in homes for s in sessions(SOURCE, home) if s.kind is SessionKind.MAIN]
    for path in copies_in(scenario):
        for copy in read(path).sessions:
            how = fit(copy, everything)
            fits[f"{copy.files[0].format}: {how}"] += 1
            assert how != "nothing", f"{path}: {told(copy.messages)}"
    return fits


def test_copies_tell_what_the_sessions_tell_in_the_corpus(
    corpus: Path, record_property: RecordProperty
) -> None:
    fits = sum((compare(scenario) for scenario in SCENARIOS), Counter())
    for how, number in sorted(fits.items()):
        record_property("counts", f"copies in the corpus: {number:3} {how}")
    assert fits.total() > 40


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_copies_tell_what_the_sessions_tell_in_fixtures(case: Path, record_property: RecordProperty) -> None:
    for how, number in sorted(compare(case).items()):
        record_property("counts", f"copies in {case.name}: {number:3} {how}")


SETUP = "This is the Gemini CLI. We are setting up the context for our chat."
TURNS: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"text": SETUP}]},
    {"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]},
    {"role": "user", "parts": [{"text": "Count the notes"}]},
    {
        "role": "model",
        "parts": [
            {"text": "I look.", "thoughtSignature": "x"},
            {"functionCall": {"name": "read_file", "args": {"file_path": "a"}}},
            {"functionCall": {"name": "read_file", "args": {"file_path": "b"}}},
        ],
    },
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "c-1", "name": "read_file", "response": {"output": "A"}}},
            {"functionResponse": {"id": "c-2", "name": "read_file", "response": {"error": "no"}}},
        ],
    },
    {"role": "model", "parts": [{"text": "Two."}, {"hologram": {"depth": 3}}]},
]
STREAM = (
    b"(node:7) DeprecationWarning: punycode\n"
    b'{"type":"init","timestamp":"2026-01-01T00:00:00.000Z","session_id":"s-1","model":"m-1"}\n'
    b'{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","role":"user","content":"hi"}\n'
    b'{"type":"message","timestamp":"2026-01-01T00:00:02.000Z","role":"assistant","content":"He","delta":true}\n'
    b'{"type":"message","timestamp":"2026-01-01T00:00:02.100Z","role":"assistant","content":"re","delta":true}\n'
    b'{"type":"tool_use","timestamp":"2026-01-01T00:00:03.000Z","tool_name":"glob","tool_id":"t1","parameters":{}}\n'
    b'{"type":"tool_result","timestamp":"2026-01-01T00:00:04.000Z","tool_id":"t1","status":"error",'
    b'"output":"No.","error":{"type":"x","message":"No files."}}\n'
    b'{"type":"error","timestamp":"2026-01-01T00:00:05.000Z","severity":"warning","message":"Loop"}\n'
    b'{"type":"result","timestamp":"2026-01-01T00:00:06.000Z","status":"success","stats":'
    b'{"total_tokens":100,"input_tokens":80,"output_tokens":15,"cached":30,"input":50,"duration_ms":1}}\n'
    b"done\n"
)
ANSWER = {
    "session_id": "s-2",
    "response": "Done.",
    "stats": {
        "models": {
            "m-1": {
                "api": {"totalRequests": 2},
                "tokens": {
                    "input": 5,
                    "prompt": 9,
                    "candidates": 3,
                    "total": 14,
                    "cached": 4,
                    "thoughts": 2,
                    "tool": 0,
                },
            }
        }
    },
}
POINT = {
    "history": [{"type": "user", "text": "x", "id": 1}],
    "clientHistory": [*TURNS[:3], {"role": "model", "parts": [TURNS[3]["parts"][1]]}],
    "toolCall": {"name": "read_file", "args": {"file_path": "a"}},
    "commitHash": "c0ffee",
    "messageId": "s-3########1",
}
REPORT = {"error": {"message": "No key", "stack": "at x"}, "context": [TURNS[2], TURNS[2]]}
REQUEST = {"contents": TURNS, "generationConfig": {}, "systemInstruction": {"parts": []}}
EVENT = {"sessionId": "s-4", "timestamp": 1767225600000}
LOG = "\n".join(
    json.dumps(record | EVENT, separators=(",", ":"))
    for record in (
        {"type": "console", "payload": {"type": "warn", "content": "careful", "timestamp": 1767225600000}},
        {
            "type": "network",
            "payload": {
                "id": "r1",
                "timestamp": 1767225601000,
                "url": "https://x/v1/models/m-1:streamGenerateContent?alt=sse",
                "body": json.dumps({"contents": TURNS[2:3]}),
            },
        },
        {
            "type": "network",
            "payload": {
                "id": "r1",
                "response": {
                    "status": 200,
                    "body": 'data: {"candidates":[{"content":{"parts":[{"text":"Tw"}]}}]}\r\n\r\n'
                    'data: {"candidates":[{"content":{"parts":[{"text":"o."}]}}],"modelVersion":"m-1",'
                    '"usageMetadata":{"promptTokenCount":7,"totalTokenCount":9}}\r\n\r\n',
                },
            },
        },
    )
)
MARKDOWN = (
    "## USER 🧑‍💻\n\n<session_context>\nx\n</session_context>Count\n\n---\n\nfor me\n\n---\n\n## MODEL ✨\n\n"
    'I look.**Tool Command**:\n```json\n{\n  "name": "glob",\n  "args": {},\n  "id": "t1"\n}\n```'
    "\n\n---\n\n## USER 🧑‍💻\n\n"
    '**Tool Response**:\n```json\n{\n  "id": "t1",\n  "name": "glob",\n  "response": {}\n}\n```'
    '\n\n---\n\n## MODEL ✨\n\nDone.\n\n---\n\n## User 🧑‍💻\n\n**Tool Command**:\n```json\n{"a": 1}\n```'
)


def as_bytes(value: object) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode()


FILES = {
    "checkpoint-a.json": as_bytes({"history": TURNS, "authType": "x"}),
    "checkpoint-b.json": as_bytes(TURNS),
    "point.json": as_bytes(POINT),
    "shared.md": MARKDOWN.encode(),
    "stream.txt": STREAM,
    "answer.txt": b"a line\n" + as_bytes(ANSWER) + b"\nanother\n",
    "error.json": as_bytes(REPORT),
    "request.json": as_bytes(REQUEST),
    "activity.jsonl": LOG.encode(),
}


def reading_of(folder: Path, name: str, content: bytes) -> Reading | None:
    path = folder / name
    path.write_bytes(content)
    reading = read_copy(path, content)
    if reading is not None:
        check(reading, len(content))
    return reading


def session_of(folder: Path, name: str, content: bytes | None = None) -> Session:
    reading = reading_of(folder, name, FILES[name] if content is None else content)
    assert reading is not None
    (session,) = reading.sessions
    return session


@pytest.mark.parametrize("name", ["checkpoint-a.json", "checkpoint-b.json", "request.json"])
def test_a_history_is_read_with_its_calls_and_what_is_unknown(tmp_path: Path, name: str) -> None:
    session = session_of(tmp_path, name)
    setup, thanks, prompt, calls, answers, reply = session.messages
    assert [m.origin for m in (setup, thanks, prompt, answers)] == ["injected", "synthetic", "human", "tool"]
    assert [(c.call_id, c.arguments["file_path"], c.status) for c in calls.tool_calls] == [
        ("c-1", "a", ToolStatus.SUCCESS),
        ("c-2", "b", ToolStatus.ERROR),
    ]
    assert reply.parts[-1] == Unrecognised({"hologram": {"depth": 3}})
    assert session.started_at is None
    assert session.ended_at is not None
    assert {message.at for message in session.messages} == {None}
    content = FILES[name]
    assert json.loads(content[prompt.source.start : prompt.source.end]) == TURNS[2]
    assert content[: prompt.source.start].count(b"\n") + 1 == prompt.source.line


def test_a_name_tells_a_saved_chat_from_a_shared_one(tmp_path: Path) -> None:
    assert session_of(tmp_path, "checkpoint-b.json").kind is SessionKind.CHECKPOINT
    shared = session_of(tmp_path, "out.json", FILES["checkpoint-b.json"])
    assert (shared.kind, shared.native_id) == (SessionKind.COPY, "out")


def test_the_call_before_a_restore_point_waits_and_knows_its_commit(tmp_path: Path) -> None:
    session = session_of(tmp_path, "point.json")
    (call,) = session.messages[-1].tool_calls
    assert (call.status, call.other) == (ToolStatus.PENDING, {"commitHash": "c0ffee"})
    assert (session.kind, session.parent_id) == (SessionKind.CHECKPOINT, "gemini:s-3")
    lost = session_of(tmp_path, "point.json", as_bytes(POINT | {"clientHistory": TURNS[:3]}))
    assert lost.messages[-1].tool_calls[0].other == {"commitHash": "c0ffee"}
    shown = session_of(tmp_path, "point.json", as_bytes({k: POINT[k] for k in POINT if k != "clientHistory"}))
    assert shown.messages[0].text(Origin.HUMAN) == "x"


def test_markdown_is_divided_where_the_cli_divides_it(tmp_path: Path) -> None:
    session = session_of(tmp_path, "shared.md")
    assert [message.origin for message in session.messages] == ["injected", "human", "model", "tool", "model"]
    assert session.messages[1].text(Origin.HUMAN).split() == ["Count", "---", "for", "me"]
    assert session.messages[2].tool_calls[0].call_id == "t1"
    assert session.messages[-1].text(Origin.MODEL).endswith('{"a": 1}\n```')


def test_a_stream_of_events_is_a_talk(tmp_path: Path) -> None:
    session = session_of(tmp_path, "stream.txt")
    prompt, reply, warning = session.messages
    assert (session.native_id, prompt.text(Origin.HUMAN), reply.text(Origin.MODEL)) == ("s-1", "hi", "Here")
    (call,) = reply.tool_calls
    assert (call.call_id, call.name, call.status) == ("t1", "glob", ToolStatus.ERROR)
    assert call.result[0].text == "No files."  # type: ignore[union-attr]
    assert (warning.level, session.models) == (Level.WARNING, ("m-1",))
    usage = session.usage
    assert (usage.input, usage.cached, usage.output, usage.thoughts, usage.total) == (80, 30, 15, None, 100)
    assert STREAM[reply.source.start : reply.source.end].count(b"\n") == 2
    cut = session_of(tmp_path, "stream.txt", STREAM[: STREAM.index(b'{"type":"result"')])
    assert cut.status is Status.INTERRUPTED


def test_an_answer_has_the_tokens_of_each_model(tmp_path: Path) -> None:
    session = session_of(tmp_path, "answer.txt")
    assert session.messages[0].text(Origin.MODEL) == "Done."
    assert session.messages[0].model == "m-1"
    usage = session.usage
    assert (usage.requests, usage.input, usage.cached, usage.output, usage.thoughts, usage.total) == (
        (2, 9, 4, 3, 2, 14)
    )
    failed = session_of(
        tmp_path, "answer.txt", as_bytes({"session_id": "s", "error": {"message": "No", "code": 41}})
    )
    assert (failed.status, failed.messages[0].text(Origin.NOTICE)) == (Status.ERROR, "No (41)")


PRINTED = FIXTURES / "gemini/printed/beside"


def printed(folder: Path, name: str, *pieces: str | bytes) -> Reading:
    """What is read of a file that several runs were printed into."""
    contents = ((PRINTED / piece).read_bytes() if isinstance(piece, str) else piece for piece in pieces)
    reading = reading_of(folder, name, b"".join(contents))
    assert reading is not None
    return reading


def test_runs_printed_into_one_stream_are_added_up(tmp_path: Path) -> None:
    reading = printed(tmp_path, "both.jsonl", "talk.jsonl", "talk-resumed.jsonl")
    (session,) = reading.sessions
    assert (session.counts.prompts, session.counts.replies, session.counts.tool_calls) == (2, 4, 3)
    assert (session.usage.total, session.usage.requests) == (69_171 + 38_243, 4)
    assert len(session.models) == len(set(session.models)) == 2
    assert not reading.accounts[0].ignored


def test_streams_of_several_sessions_are_several_sessions(tmp_path: Path) -> None:
    glued = (PRINTED / "talk.jsonl").read_bytes().rstrip()
    reading = printed(tmp_path, "both.jsonl", glued, "toolerror.jsonl", "talk-resumed.jsonl")
    assert [(one.native_id[:8], one.counts.prompts, one.usage.total) for one in reading.sessions] == [
        ("23dcec42", 2, 107_414),
        ("61d9f727", 1, 84_236),
    ]
    assert not reading.problems


@pytest.mark.parametrize("between", [b"", b"\n", b"\na line of the terminal\n"])
def test_every_answer_in_a_file_is_told(tmp_path: Path, between: bytes) -> None:
    reading = printed(
        tmp_path, "both.json", "talk.json", between, "talk-resumed.json", between, "blocked.json"
    )
    talk, blocked = reading.sessions
    assert [m.text(Origin.MODEL) for m in talk.messages] == ["Two notes: milk, and Ana. 🥛", "Milk first."]
    assert (talk.usage.total, talk.usage.requests) == (22_583 + 14_837, 4 + 2)
    assert blocked.status is Status.ERROR
    ignored = [tally.bytes for tally in reading.accounts[0].ignored.values()]
    assert sum(ignored) == (2 * len(between) if between.strip() else 0)


def test_an_answer_that_is_cut_ends_where_the_next_begins(tmp_path: Path) -> None:
    cut = (PRINTED / "talk.json").read_bytes()[:200]
    reading = printed(tmp_path, "both.json", cut, b"\n", "toolerror.json")
    assert [one.counts.replies for one in reading.sessions] == [1, 1]
    assert [problem.detail for problem in reading.problems] == ["cut off"]


@pytest.mark.parametrize("name", ["apierror.jsonl", "blocked.jsonl"])
def test_tokens_were_used_by_a_request_at_the_least(tmp_path: Path, name: str) -> None:
    (session,) = printed(tmp_path, name, name).sessions
    assert session.usage.total
    assert session.usage.requests == 1


def test_a_file_name_of_any_bytes_can_be_printed(tmp_path: Path) -> None:
    nameless = STREAM.replace(b'"session_id":"s-1",', b"")
    reading = read_copy(tmp_path / os.fsdecode(b"out-\xff.jsonl"), nameless)
    assert reading is not None
    (session,) = reading.sessions
    assert (session.id, session.native_id) == ("gemini:out-%FF", "out-%FF")


def test_an_error_report_ends_with_the_error(tmp_path: Path) -> None:
    session = session_of(tmp_path, "error.json")
    assert [m.text(m.origin) for m in session.messages] == ["Count the notes", "No key"]
    assert session.status is Status.ERROR


def test_an_activity_log_is_the_talk_in_its_requests(tmp_path: Path) -> None:
    session = session_of(tmp_path, "activity.jsonl")
    assert [m.text(m.origin) for m in session.messages] == ["careful", "Count the notes", "Two."]
    assert (session.native_id, session.models, session.usage.total) == ("s-4", ("m-1",), 9)


@pytest.mark.parametrize(
    ("name", "count"),
    [("stream.txt", b'"input_tokens":80'), ("answer.txt", b'"prompt": 9'), ("activity.jsonl", b"TokenCount")],
)
def test_what_nobody_can_have_counted_is_unknown(tmp_path: Path, name: str, count: bytes) -> None:
    content, of_any_size = FILES[name], rb"\g<1>" + b"9" * 30
    assert count in content
    absurd = re.sub(
        rb"(" + re.escape(count.rstrip(b"0123456789")) + rb'(?:\\?":\s*)?)\d+', of_any_size, content
    )
    assert absurd != content
    assert session_of(tmp_path, name, absurd).usage.input is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{}",
        b"hello",
        b'{"history": "long"}',
        b'{"history": ["a", "b"]}',
        b'{"projects": {}}',
        b'{"uuid":"a","sessionId":"b","message":{"role":"user","parts":[]}}\n{}\n',
        b'{"error": "no"}',
        b"# A page\n\n---\n\n## MODEL cars\n",
    ],
)
def test_what_is_no_conversation_is_left_alone(tmp_path: Path, content: bytes) -> None:
    assert reading_of(tmp_path, "file", content) is None


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_a_file_cut_anywhere_keeps_what_is_before_the_cut(tmp_path: Path, name: str) -> None:
    content = FILES[name]
    whole = session_of(tmp_path, name)
    for end in range(0, len(content), 23):
        reading = reading_of(tmp_path, name, content[:end])
        ends = [m.source.end for m in whole.messages if m.source.end <= end and m.source.pointer != "/error"]
        if reading is None or name in ("answer.txt", "activity.jsonl", "stream.txt"):
            continue
        kept = sum(len(session.messages) for session in reading.sessions)
        assert kept >= len(ends), f"{name} cut at {end}"
        assert reading.problems or name == "shared.md"


@SETTINGS
@given(st.sampled_from(sorted(FILES)), st.data())
def test_damaged_bytes_never_raise(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    content = bytearray(FILES[name])
    for _ in range(data.draw(st.integers(1, 5))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 9))] = data.draw(st.binary(max_size=4))
        content = content or bytearray(b" ")
    reading_of(tmp_path_factory.getbasetemp(), name, bytes(content))


@SETTINGS
@given(st.sampled_from([{"history": TURNS}, POINT, REPORT, REQUEST, ANSWER]), JSON, st.data())
def test_values_of_any_type_never_raise(
    tmp_path_factory: pytest.TempPathFactory, document: dict[str, object], value: object, data: st.DataObject
) -> None:
    changed = json.loads(json.dumps(document))
    spot = changed
    for _ in range(data.draw(st.integers(0, 5))):
        inner = [
            v for v in (spot.values() if isinstance(spot, dict) else spot) if isinstance(v, dict | list) and v
        ]
        if not inner:
            break
        spot = data.draw(st.sampled_from(inner))
    key = data.draw(st.sampled_from(sorted(spot) if isinstance(spot, dict) else range(len(spot))))
    spot[key] = value
    reading_of(tmp_path_factory.getbasetemp(), "file.json", as_bytes(changed))


@SETTINGS
@given(st.lists(st.sampled_from(STREAM.splitlines()) | st.just(LOG.encode()) | st.binary(max_size=20)), JSON)
def test_lines_in_any_order_never_raise(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], value: object
) -> None:
    odd = [json.dumps({"type": "message", "timestamp": value, "role": value, "content": value}).encode()]
    reading_of(tmp_path_factory.getbasetemp(), "file.jsonl", b"\n".join([*lines, *odd]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "content",
    [
        b'{"history": [' + b'{"role": "user", "parts": [' * 50_000,
        b'[{"role": "user", "parts": ' + b"[" * 200_000,
        b'{"session_id": ' + b'{"response": ' * 100_000,
        b'{"type":"init","timestamp":"x"}\n' + b'{"a":' * 200_000,
        b'[{"role": "user", "parts": []},' * 50_000,
        "## USER 🧑‍💻\n\n".encode() + b'**Tool Response**:\n```json\n{\n  "' * 20_000,
        b'{"session_id":1,"stats":{}}\n' * 50_000,
        b'{"type":"console","payload":{"content":"<!--"}}\n' * 50_000,
    ],
    ids=range(8),
)
def test_hostile_files_end_soon(tmp_path: Path, content: bytes) -> None:
    began = time.monotonic()
    reading = read_copy(tmp_path / "file.json", content)
    assert time.monotonic() - began < 20
    assert reading is None or accounted(reading.accounts[0]) == len(content)


def test_damage_is_told(tmp_path: Path) -> None:
    reading = reading_of(
        tmp_path, "checkpoint-a.json", FILES["checkpoint-a.json"].replace(b"Count", b"Co\xff", 1)
    )
    assert reading is not None
    assert [problem.kind for problem in reading.problems] == [ProblemKind.BAD_TEXT]
