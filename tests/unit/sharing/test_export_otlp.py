"""`otlp`, checked with the protocol's own definition in the `opentelemetry-proto` package."""

from __future__ import annotations

import base64
import json
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from google.protobuf import json_format  # type: ignore[import-untyped]
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status, TracesData

from geminids.core.model import Message, Origin, Role, Session, State, ToolStatus, Usage
from geminids.sharing.transcript.entries import LEVELS
from tests.support.exporting import exported, fixture_sessions, hostile_session, looked_at_sessions

IDS = {"traceId", "spanId", "parentSpanId"}
ROLES = {"system", "user", "assistant", "tool"}
PARTS = {
    "text": {"content"},
    "reasoning": {"content"},
    "tool_call": {"id", "name", "arguments"},
    "tool_call_response": {"id", "response"},
    "blob": {"modality", "content"},
    "uri": {"modality", "uri"},
    "unrecognised": {"raw"},
}
"""The kinds of parts in the conventions' schemas, and one of our own, with what each must have."""


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_the_protocol_takes_every_session(level: str) -> None:
    for session in _sessions():
        traces = _parsed(json.loads(exported("otlp", session, level=level)))
        (resource_spans,) = traces.resource_spans
        (scope_spans,) = resource_spans.scope_spans
        assert (
            scope_spans.schema_url == resource_spans.schema_url == "https://opentelemetry.io/schemas/1.41.0"
        )
        _check_tree(list(scope_spans.spans))


@pytest.mark.parametrize(
    "change",
    [
        lambda span: span.update(unheardOf=1),
        lambda span: span.update(startTimeUnixNano="yesterday"),
        lambda span: span["attributes"].append({"key": "x", "value": {"intValue": str(2**63)}}),
    ],
)
def test_the_protocol_refuses_what_is_wrong(change: Any) -> None:
    written = json.loads(exported("otlp", looked_at_sessions()["errors"]))
    change(written["resourceSpans"][0]["scopeSpans"][0]["spans"][0])
    with pytest.raises(json_format.ParseError):
        _parsed(written)


@pytest.mark.slow
def test_every_reply_and_every_call_is_a_span_in_its_order() -> None:
    for session in _sessions():
        replies = [message for message in session.messages if _is_reply(message)]
        spans = _spans(session)
        assert [s.attributes["gen_ai.response.id"] for s in spans if s.kind == "LLM"] == [
            m.id for m in replies
        ]
        calls = [call for message in session.messages for call in message.tool_calls]
        assert len(calls) == sum(span.kind == "TOOL" for span in spans)
        for span, call in zip((s for s in spans if s.kind == "TOOL"), calls, strict=True):
            assert span.attributes["gen_ai.tool.name"] == call.name
            assert json.loads(span.attributes["gen_ai.tool.call.arguments"]).keys() == call.arguments.keys()


@pytest.mark.slow
def test_everything_that_was_said_is_heard_once() -> None:
    for session in fixture_sessions().values():
        heard = [
            part["content"]
            for span in _spans(session)
            for message in span.heard
            for part in message["parts"]
            if message["role"] == "user" and part["type"] == "text"
        ]
        prompts = [m.text(Origin.HUMAN) for m in session.messages if m.origin is Origin.HUMAN]
        for prompt in prompts:
            for words in filter(None, prompt.split("\n\n")):
                assert any(words in text for text in heard)
        answers = [
            part["id"]
            for span in _spans(session)
            for message in span.heard
            for part in message["parts"]
            if part["type"] == "tool_call_response"
        ]
        assert (
            len(answers)
            == len(set(answers))
            == sum(bool(c.result) for m in session.messages for c in m.tool_calls)
        )


@pytest.mark.slow
def test_messages_have_the_shape_of_the_conventions() -> None:
    for session in _sessions():
        for span in _spans(session):
            for message in span.heard + span.said:
                assert message["role"] in ROLES
                for part in message["parts"]:
                    assert part.keys() >= PARTS[part["type"]]
            for message in span.said:
                assert message["finish_reason"] in {"stop", "tool_call", "error"}


@pytest.mark.slow
def test_tokens_of_the_replies_add_up_to_the_session() -> None:
    for session in _sessions():
        spans, usage = _spans(session), session.usage
        assert _total(spans, "gen_ai.usage.input_tokens") == (usage.input or 0) + (usage.tool or 0)
        assert _total(spans, "gen_ai.usage.output_tokens") == (usage.output or 0) + (usage.thoughts or 0)
        assert _total(spans, "gen_ai.usage.cache_read.input_tokens") == (usage.cached or 0)
        assert _total(spans, "gen_ai.usage.reasoning.output_tokens") == (usage.thoughts or 0)
        assert _total(spans, "llm.token_count.total") == (usage.total or 0)


def test_tokens_that_only_the_session_knows_are_told_once() -> None:
    session = looked_at_sessions()["ask-user"]
    messages = tuple(msgspec.structs.replace(message, usage=None) for message in session.messages)
    (root, *others) = _spans(
        msgspec.structs.replace(session, messages=messages, usage=Usage(3, 70, output=5))
    )
    assert root.attributes["gen_ai.usage.input_tokens"] == 70
    assert not any("gen_ai.usage.input_tokens" in span.attributes for span in others)


def test_a_count_that_the_protocol_cannot_hold_is_text() -> None:
    huge = Usage(1, 2**70, output=1)
    prompt, reply, *_ = hostile_session().messages
    messages = (prompt, msgspec.structs.replace(reply, usage=huge))
    written = json.loads(exported("otlp", msgspec.structs.replace(hostile_session(), messages=messages)))
    assert _parsed(written)


@pytest.mark.slow
def test_calls_that_failed_are_errors() -> None:
    for session in fixture_sessions().values():
        calls = [call for message in session.messages for call in message.tool_calls]
        spans = [span for span in _spans(session) if span.kind == "TOOL"]
        for span, call in zip(spans, calls, strict=True):
            failed = call.status in {ToolStatus.ERROR, ToolStatus.CANCELLED} or bool(call.exit_code)
            assert (span.span.status.code == Status.STATUS_CODE_ERROR) == failed
            assert ("error.type" in span.attributes) == failed


def test_times_that_nobody_recorded_are_marked() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    assert {span.attributes.get("geminids.time") for span in _spans(session)[1:]} == {"inferred"}
    timeless = tuple(
        msgspec.structs.replace(message, at=None) for message in session.messages if not message.tool_calls
    )
    unknown = _spans(msgspec.structs.replace(session, messages=timeless, started_at=None, ended_at=None))
    assert {span.attributes.get("geminids.time") for span in unknown[1:]} == {"unknown"}
    assert {span.span.start_time_unix_nano for span in unknown} == {0}


def test_a_reply_takes_from_what_was_heard_until_it_was_recorded() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    prompt, reply = session.messages[1], session.messages[2]
    assert prompt.at
    assert reply.at
    span = next(span.span for span in _spans(session) if span.kind == "LLM")
    taken = timedelta(microseconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1000)
    assert taken == reply.at - prompt.at


def test_no_span_ends_before_it_begins_whatever_the_clock_did() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    moments = [message.at for message in session.messages]
    messages = tuple(
        msgspec.structs.replace(message, at=at)
        for message, at in zip(session.messages, reversed(moments), strict=True)
    )
    backwards = msgspec.structs.replace(session, messages=messages, ended_at=min(filter(None, moments)))
    _check_tree([span.span for span in _spans(backwards)])


def test_ids_stay_when_a_session_goes_on() -> None:
    for session in looked_at_sessions().values():
        before = msgspec.structs.replace(session, messages=session.messages[: len(session.messages) // 2])
        ids = [span.span.span_id for span in _spans(before)]
        assert [span.span.span_id for span in _spans(session)][: len(ids)] == ids
        assert exported("otlp", session) == exported("otlp", session)


def test_two_replies_with_one_id_are_two_spans() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    messages = tuple(msgspec.structs.replace(message, id="same") for message in session.messages)
    ids = [span.span.span_id for span in _spans(msgspec.structs.replace(session, messages=messages))]
    assert len(ids) == len(set(ids))


@pytest.mark.slow
def test_a_subagent_and_the_call_that_started_it_are_linked() -> None:
    traces = [_spans(session) for session in fixture_sessions().values()]
    roots = {(spans[0].span.trace_id, spans[0].span.span_id) for spans in traces}
    calls = [span for spans in traces for span in spans if "geminids.child_id" in span.attributes]
    assert calls
    for call in calls:
        (link,) = call.span.links
        assert (link.trace_id, link.span_id) in roots


@pytest.mark.slow
def test_notices_and_unanswered_words_are_events_of_the_root() -> None:
    for session in fixture_sessions().values():
        root, *others = _spans(session)
        notices = [event for event in root.span.events if event.name == "geminids.notice"]
        assert len(notices) == sum(message.origin is Origin.NOTICE for message in session.messages)
        assert not any(span.span.events for span in others)
    prompt = hostile_session().messages[0]
    (alone,) = _spans(msgspec.structs.replace(hostile_session(), messages=(prompt,)))
    assert [event.name for event in alone.span.events] == ["geminids.message"]
    assert len(alone.heard[0]["parts"]) == len(prompt.parts)


@pytest.mark.slow
def test_dropped_replies_have_their_state_and_copies_no_tokens() -> None:
    for session in fixture_sessions().values():
        replies = [message for message in session.messages if _is_reply(message)]
        spans = [span for span in _spans(session) if span.kind == "LLM"]
        for span, message in zip(spans, replies, strict=True):
            state = None if message.state is State.CURRENT else message.state
            assert span.attributes.get("geminids.state") == state
            if message.imported:
                assert span.attributes["geminids.imported"] is True
                assert "gen_ai.usage.input_tokens" not in span.attributes


def test_levels_leave_out_what_they_do_not_tell() -> None:
    session = looked_at_sessions()["tool-calls-jsonl-2"]
    for level in LEVELS:
        spans = _spans(session, level)
        kinds = {span.kind for span in spans}
        thoughts = [part for s in spans for m in s.said for part in m["parts"] if part["type"] == "reasoning"]
        assert bool(thoughts) == (level in {"thoughts", "everything"})
        assert ("LLM" in kinds) == (level != "prompts")
        told = any("gen_ai.tool.call.result" in span.attributes for span in spans)
        assert told == (level != "prompts"), "errors are told where tools are told in a line"


def test_every_session_is_one_line() -> None:
    sessions = _sessions()
    assert exported("otlp", *sessions) == b"".join(exported("otlp", session) for session in sessions)
    assert len(exported("otlp", *sessions).splitlines()) == len(sessions)


class _Read:
    """A span as the protocol reads it, its attributes by name."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self.attributes = {item.key: _value(item.value) for item in span.attributes}
        self.kind = self.attributes["openinference.span.kind"]
        later = [
            _value(item.value)
            for event in span.events
            for item in event.attributes
            if item.key == "gen_ai.input.messages"
        ]
        self.said = json.loads(self.attributes.get("gen_ai.output.messages", "[]"))
        self.heard = json.loads(self.attributes.get("gen_ai.input.messages", "[]"))
        self.heard += [message for written in later for message in json.loads(written)]


def _sessions() -> list[Session]:
    return [*fixture_sessions().values(), hostile_session()]


def _spans(session: Session, level: str | None = None) -> list[_Read]:
    traces = _parsed(json.loads(exported("otlp", session, level=level)))
    return [_Read(span) for span in traces.resource_spans[0].scope_spans[0].spans]


def _parsed(written: Any) -> TracesData:
    """The traces as protobuf reads them; its own JSON has ids in base64, that of OTLP in hexadecimal."""
    traces = TracesData()
    json_format.ParseDict(_with_protobuf_ids(written), traces)
    return traces


def _with_protobuf_ids(value: Any) -> Any:
    match value:
        case dict():
            return {
                key: base64.b64encode(bytes.fromhex(inner)).decode()
                if key in IDS
                else _with_protobuf_ids(inner)
                for key, inner in value.items()
            }
        case list():
            return [_with_protobuf_ids(inner) for inner in value]
        case _:
            return value


def _check_tree(spans: list[Span]) -> None:
    root, *others = spans
    assert not root.parent_span_id
    assert len(root.trace_id) == 16
    assert len({span.span_id for span in spans}) == len(spans)
    for span in spans:
        assert len(span.span_id) == 8
        assert span.trace_id == root.trace_id
        assert span.start_time_unix_nano <= span.end_time_unix_nano
    for span in others:
        assert span.parent_span_id == root.span_id


def _value(value: Any) -> Any:
    return getattr(value, value.WhichOneof("value"))


def _total(spans: list[_Read], name: str) -> int:
    return sum(span.attributes.get(name, 0) for span in spans)


def _is_reply(message: Message) -> bool:
    """Whether a request gave it: the model's answers, and what the agent asked for itself."""
    is_answer = message.role is Role.ASSISTANT and message.origin is not Origin.SYNTHETIC
    return is_answer or message.usage is not None
