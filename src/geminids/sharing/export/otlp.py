"""`otlp`: a session as a trace of OpenTelemetry, in the JSON of OTLP files, one session a line.

    invoke_agent <agent>                        the session
    ├─ generate_content <model>                 a reply of the model
    ├─ execute_tool read_file                   a call of a tool
    └─ …

Attributes are those of the conventions for generative AI, version 1.41.0, and the few of OpenInference that
say what a span is and what it used; its flattened texts would say everything once more. What neither has a
name for is `geminids.…`.

- Ids are made of the ids of the session, its messages and calls, so a session exported again is the same
  trace.
- An agent records moments, not durations. A reply takes from what was last heard until it was recorded, a
  call from its reply until its own moment; such spans say `geminids.time: inferred`, or `unknown` without a
  moment.
- `gen_ai.input.messages` holds what the model heard since its last reply, not all before it: the whole
  conversation in every span would be the square of it. What was heard after the last reply, and what the
  human alone was told, are events of the root.
- Why the model stopped is not recorded; `finish_reason`, which messages must have, says what a reply ended
  with.
- Turns that the agent dropped have a `geminids.state`. Turns taken over from another session are marked,
  and their tokens are counted there.
- A subagent's session is a trace of its own. Links lead there from the call, and back from its root.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from geminids.core.model import (
    AnyPart,
    Attachment,
    Message,
    Origin,
    Role,
    Session,
    State,
    Thought,
    ToolCall,
    ToolStatus,
    Unrecognised,
    Usage,
)
from geminids.core.model_names import TELEMETRY_NAMES, maker_by_beginning
from geminids.sharing.export.base import Manner, PlainFormat
from geminids.sharing.export.data import encode, encode_harmless
from geminids.sharing.export.dialogue import (
    completion_tokens,
    derived_id,
    each_call_once,
    known,
    part_words,
    prompt_tokens,
    result_of,
    words_of,
)
from geminids.sharing.transcript.call_summary import error_line
from geminids.sharing.transcript.labels import call_trouble
from geminids.sharing.transcript.visible import visible_session

CONVENTIONS = "https://opentelemetry.io/schemas/1.41.0"
INTERNAL, CLIENT = 1, 3
ERROR = 2
EPOCH = datetime.fromtimestamp(0, UTC)
LARGEST = 2**63 - 1

Value = str | int | bool | None


class Otlp(PlainFormat):
    """One trace a session, one session a line."""

    name = "otlp"
    title = "OpenTelemetry GenAI spans (OTLP JSON)"
    summary = "Traces for OpenTelemetry backends: replies and tool calls as spans, one session a line."
    suffix = ".jsonl"
    holds_many = True
    level = "everything"

    def write(self, sessions: Iterable[Session], manner: Manner) -> Iterator[bytes]:
        """A line for each session."""
        for session in sessions:
            visible = visible_session(each_call_once(session), manner.detail)
            title = manner.names.get(session.id) or session.title
            yield encode_harmless(_traces(visible, _Trace(visible).spans(title))) + b"\n"


def _traces(session: Session, spans: list[dict[str, Any]]) -> dict[str, Any]:
    resource = {"attributes": _attributes({"service.name": session.agent})}
    scope_spans = {"scope": {"name": "geminids"}, "spans": spans, "schemaUrl": CONVENTIONS}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [scope_spans], "schemaUrl": CONVENTIONS}]}


class _Trace:
    """The spans of a session, made message by message: each begins where something before it ended."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._now = _first_moment(session)
        self._heard: list[tuple[datetime, dict[str, Any]]] = []
        self._spans: list[dict[str, Any]] = []
        self._events: list[dict[str, Any]] = []
        self._replies: Counter[str] = Counter()

    def spans(self, title: str | None) -> list[dict[str, Any]]:
        """The root, and below it replies and calls in their order."""
        begun = self._now
        for message in self._session.messages:
            self._tell(message)
        self._events += (_event("geminids.message", at, _heard_alone(heard)) for at, heard in self._heard)
        return [self._root(begun, title), *self._spans]

    def _tell(self, message: Message) -> None:
        is_reply = message.role is Role.ASSISTANT and message.origin is not Origin.SYNTHETIC
        if message.usage and not is_reply:
            # A request that the agent made for itself, such as for the summary of what is too long.
            self._reply(message)
        if message.origin is Origin.NOTICE:
            self._now = message.at or self._now
            self._events.append(_event("geminids.notice", self._now, _notice(message)))
        elif is_reply:
            self._reply(message)
            for call in message.tool_calls:
                self._call(call, message)
        else:
            self._now = message.at or self._now
            self._hear(message)

    def _hear(self, message: Message) -> None:
        if parts := [_part(part) for part in message.parts]:
            self._heard.append((self._now, {"role": message.role, "parts": parts} | _state(message)))

    def _reply(self, message: Message) -> None:
        ended = message.at or self._now
        heard = [heard for _, heard in self._heard]
        model = message.model
        provider = _provider(model, self._session)
        operation = "generate_content" if provider.startswith("gcp.") else "chat"
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": operation,
            "gen_ai.provider.name": provider,
            "gen_ai.request.model": model,
            "gen_ai.response.id": message.id,
            "geminids.request.id": message.request_id,
            "gen_ai.input.messages": _json(heard) if heard else None,
            "gen_ai.output.messages": _json([_output(message)]),
            "openinference.span.kind": "LLM",
            "llm.model_name": model,
            "geminids.imported": message.imported or None,
            "geminids.time": "inferred" if message.at else "unknown",
        }
        used = {} if message.imported else _used(message.usage)
        name = f"{operation} {model}" if model else operation
        self._spans.append(
            self._span(self._reply_id(message), name, CLIENT, min(self._now, ended), ended)
            | _outcome(message.state if message.state in {State.FAILED, State.CANCELLED} else "")
            | {"attributes": self._attributes(attributes | used | _state(message))}
        )
        self._heard, self._now = [], ended

    def _call(self, call: ToolCall, message: Message) -> None:
        begun = message.at or self._now
        ended = max(begun, call.at or begun)
        result, trouble = result_of(call), _trouble(call)
        span_id = _span_id(self._session.id, "call", call.call_id or "")
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": _provider(message.model, self._session),
            "gen_ai.tool.name": call.name,
            "gen_ai.tool.type": "function",
            "gen_ai.tool.call.id": call.call_id,
            "gen_ai.tool.call.arguments": _json(call.arguments),
            "gen_ai.tool.call.result": result,
            "error.type": trouble or None,
            "process.exit.code": call.exit_code,
            "openinference.span.kind": "TOOL",
            "tool.name": call.name,
            "geminids.tool.kind": call.kind,
            "geminids.tool.status": call.native_status or call.status,
            "geminids.child_id": call.child_id,
            "geminids.imported": message.imported or None,
            "geminids.time": "inferred" if message.at and call.at else "unknown",
        }
        self._spans.append(
            self._span(span_id, f"execute_tool {call.name}", INTERNAL, begun, ended)
            | _outcome(trouble, error_line(call))
            | {"attributes": self._attributes(attributes | _state(message))}
            | known(links=_links(call.child_id))
        )
        self._now = max(self._now, ended)
        if result is not None:
            self._answer(call, result, message)

    def _answer(self, call: ToolCall, result: str, message: Message) -> None:
        """What came back is what the model hears next."""
        response = {"type": "tool_call_response", "id": call.call_id, "response": result}
        files = [_part(part) for part in call.result if isinstance(part, Attachment)]
        heard = {"role": "tool", "parts": [response, *files]} | _state(message)
        self._heard.append((self._now, heard))

    def _root(self, begun: datetime, title: str | None) -> dict[str, Any]:
        session = self._session
        model = next(iter(session.models), None)
        attributes: dict[str, Value] = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.provider.name": _provider(model, session),
            "gen_ai.agent.name": session.agent,
            "gen_ai.request.model": model,
            "openinference.span.kind": "AGENT",
            "geminids.session.id": session.id,
            "geminids.session.kind": session.kind,
            "geminids.session.status": session.status,
            "geminids.session.title": title,
            "geminids.session.summary": session.summary,
            "geminids.parent_id": session.parent_id,
            "geminids.project.path": session.project.path,
            "geminids.project.hash": session.project.hash,
            "vcs.ref.head.name": session.branch,
        }
        # Where replies say what they used, a sum beside them would be counted twice.
        used = {} if any(message.usage for message in session.messages) else _used(session.usage)
        ended = max(begun, self._now, session.ended_at or begun)
        return (
            self._span(_root_id(session.id), f"invoke_agent {session.agent}", INTERNAL, begun, ended)
            | {"attributes": self._attributes(attributes | used)}
            | known(events=self._events, links=_links(session.parent_id))
        )

    def _span(self, span_id: str, name: str, kind: int, begun: datetime, ended: datetime) -> dict[str, Any]:
        root_id = _root_id(self._session.id)
        return known(
            traceId=_trace_id(self._session.id),
            spanId=span_id,
            parentSpanId=root_id if span_id != root_id else None,
            name=name,
            kind=kind,
            startTimeUnixNano=_nanoseconds(begun),
            endTimeUnixNano=_nanoseconds(ended),
        )

    def _attributes(self, attributes: dict[str, Value]) -> list[dict[str, Any]]:
        """The attributes of a span, with those by which backends group spans."""
        session_id = self._session.native_id
        return _attributes({"gen_ai.conversation.id": session_id, "session.id": session_id} | attributes)

    def _reply_id(self, message: Message) -> str:
        """An id of its own, also where the agent gave one id to two messages."""
        self._replies[message.id] += 1
        return _span_id(self._session.id, "reply", message.id, str(self._replies[message.id]))


def _first_moment(session: Session) -> datetime:
    """When a session began, as far as is known; a record that is older comes from elsewhere."""
    moments = (message.at for message in session.messages if message.at)
    return session.started_at or next(moments, EPOCH)


def _provider(model: str | None, session: Session) -> str:
    """Who offers a model; where its name does not tell, the agent's name stands for whom it asked."""
    name = model or next(iter(session.models), "")
    return TELEMETRY_NAMES.get(maker_by_beginning(name) or "", session.agent)


def _output(message: Message) -> dict[str, Any]:
    if message.state in {State.FAILED, State.CANCELLED}:
        reason = "error"
    else:
        reason = "tool_call" if message.tool_calls else "stop"
    return {"role": "assistant", "parts": [_part(part) for part in message.parts], "finish_reason": reason}


def _part(part: AnyPart) -> dict[str, Any]:
    match part:
        case Thought(subject=subject, text=text):
            return {"type": "reasoning", "content": text} | known(subject=subject)
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            return {"type": "tool_call", "id": call_id, "name": name, "arguments": arguments}
        case Attachment(mime_type=kind, data=str(data)):
            return {"type": "blob", "mime_type": kind, "modality": _modality(kind), "content": data}
        case Attachment(mime_type=kind, uri=str(uri)):
            return {"type": "uri", "mime_type": kind, "modality": _modality(kind), "uri": uri}
        case Unrecognised(raw=raw):
            return {"type": "unrecognised", "raw": raw}
        case _:
            return {"type": "text", "content": part_words(part)}


def _modality(kind: str | None) -> str:
    general = (kind or "").split("/")[0]
    return general if general in {"image", "video", "audio"} else "document"


def _notice(message: Message) -> dict[str, Value]:
    return {"geminids.level": message.level, "geminids.text": words_of(message.parts)} | _state(message)


def _heard_alone(heard: dict[str, Any]) -> dict[str, Value]:
    return {"gen_ai.input.messages": _json([heard])}


def _state(message: Message) -> dict[str, Value]:
    return {} if message.state is State.CURRENT else {"geminids.state": message.state}


def _trouble(call: ToolCall) -> str:
    """Why a call failed; nothing for one that did not, or whose end is not known."""
    failed = call.status in {ToolStatus.ERROR, ToolStatus.CANCELLED} or call.exit_code
    return call_trouble(call) if failed else ""


def _outcome(trouble: str, words: str = "") -> dict[str, Any]:
    return {"status": {"code": ERROR, "message": words or trouble}} if trouble else {}


def _used(usage: Usage | None) -> dict[str, Value]:
    """Tokens: thoughts are output, prompts for tools are input, as for the API that counted them."""
    if usage is None:
        return {}
    return {
        "gen_ai.usage.input_tokens": prompt_tokens(usage),
        "gen_ai.usage.output_tokens": completion_tokens(usage),
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
        "gen_ai.usage.reasoning.output_tokens": usage.thoughts,
        "geminids.usage.cache_creation_hour.input_tokens": usage.cache_write_hour,
        "geminids.usage.tool_prompt_tokens": usage.tool,
        "llm.token_count.prompt": prompt_tokens(usage),
        "llm.token_count.completion": completion_tokens(usage),
        "llm.token_count.total": usage.total,
        "llm.token_count.prompt_details.cache_read": usage.cached,
        "llm.token_count.completion_details.reasoning": usage.thoughts,
    }


def _event(name: str, at: datetime, attributes: Mapping[str, Value]) -> dict[str, Any]:
    return {"timeUnixNano": _nanoseconds(at), "name": name, "attributes": _attributes(attributes)}


def _links(session_id: str | None) -> list[dict[str, Any]]:
    """A link to the root of another session."""
    return [{"traceId": _trace_id(session_id), "spanId": _root_id(session_id)}] if session_id else []


def _trace_id(session_id: str) -> str:
    return derived_id(session_id)[:32]


def _root_id(session_id: str) -> str:
    return _span_id(session_id, "session")


def _span_id(*names: str) -> str:
    return derived_id(*names)[:16]


def _nanoseconds(at: datetime) -> str:
    return str(max(0, (at - EPOCH) // timedelta(microseconds=1)) * 1000)


def _json(value: Any) -> str:
    return encode(value).decode()


def _attributes(values: Mapping[str, Value]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in values.items() if value is not None]


def _value(value: str | int | bool) -> dict[str, Any]:
    match value:
        case bool():
            return {"boolValue": value}
        case int() if -LARGEST <= value <= LARGEST:
            return {"intValue": str(value)}
        case _:
            return {"stringValue": str(value)}
