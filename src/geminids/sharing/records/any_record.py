"""The session that a record tells, whoever made it and whatever was taken out of it.

Our own records come back whole (`reading.py`). Of all others only the members that the format names are sure,
and no kind of value is, for most may be anything; so what cannot be told in words is kept as it was, and
nothing but a record without entries is refused.

    user, assistant                      messages
    reasoning, tool-call, tool-result    parts of the message that they hang on, or messages of their own
    system-event                         notices; what was taken out is one too
    native:…                             left out: records of the agent that are no conversation

What we know of a session beyond the format (`x-geminids`) is taken where it is left: without it, turns that
were taken back would look like the others.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    KnownBy,
    Level,
    Location,
    Message,
    Origin,
    Project,
    ResultPart,
    Role,
    Session,
    SessionFile,
    SessionKind,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    ToolStatus,
    Unrecognised,
    Usage,
)
from geminids.core.model.summary import counts_of, models_of, status_of, title_of, usage_of
from geminids.core.timestamps import parse_time
from geminids.reading.shapes import text_or_none
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.leftovers import Leftovers
from geminids.sharing.records.plain import agent_called
from geminids.sharing.records.presentable import ORIGINALS
from geminids.sharing.records.profile import COMMITMENT, OURS, PROFILE, UNKNOWN
from geminids.sharing.records.reader import session_of
from geminids.sharing.records.reader_parts import in_order
from geminids.sharing.records.shapes import USAGE_KEYS
from geminids.sharing.records.translation_events import NATIVE_EVENT
from geminids.sharing.records.translation_messages import MESSAGE, USUAL_ORIGINS
from geminids.sharing.records.translation_parts import ANSWER, CALL, RESULT, ChildPart, ContentPart

FORMAT = "agent-conversation-record"
"""What files of this kind are called in lists of files."""

_NAME = re.compile(r"[\w.-]+")
_ENTRIES = "/session/entries"
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT}
_LEVELS = {level.value: level for level in Level}
_SPOKEN_EVENTS = {*_LEVELS, *(origin.value for origin in Origin)}
"""Types of events whose words need no heading."""
_CALL, _RESULT, _EVENT = "tool-call", "tool-result", "system-event"
_PARTS = {"reasoning", _CALL, _RESULT}
"""Kinds of entries that are parts of the message that they hang on."""
_REDACTED_EVENT = "redacted"
_REPEATED = {"tool_use": "tool-call", "tool_result": "tool-result", "thinking": "reasoning"}
"""Blocks that some leave in the content though a child tells the same, and what that child is."""
_STATUSES = {
    **dict.fromkeys(("success", "ok", "completed", "complete", "done"), ToolStatus.SUCCESS),
    **dict.fromkeys(("error", "failed", "failure"), ToolStatus.ERROR),
    **dict.fromkeys(("cancelled", "canceled", "rejected", "denied"), ToolStatus.CANCELLED),
}
_INPUT_WITHOUT_CACHED = frozenset({"anthropic"})
"""Providers whose count of the input leaves out what came from a cache, unless a record says otherwise."""
_LARGEST_COUNT = 2**53
_COUNTS = {name: (key,) for name, key in USAGE_KEYS.items()} | {
    "thoughts": (USAGE_KEYS["thoughts"], "thoughts"),
    "cache_write": (USAGE_KEYS["cache_write"], "cache_creation_input_tokens"),
}
"""Under which keys the counts of the model are found: our own, and those that agents use and others keep."""
_ADDED_UP = {"input", "output", "thoughts", "tool"}

Entry = Mapping[Any, Any]


def session_in(record: Mapping[str, Any], file: SessionFile) -> Session:
    """The session itself where a record of ours is whole, else what is told of it. Raises RecordError."""
    match record:
        case {"x-geminids": {"profile": profile}} if profile == PROFILE and not _is_redacted(record):
            return session_of(record)[0]
        case _:
            return session_from_any(record, file)


def session_from_any(record: Mapping[str, Any], file: SessionFile) -> Session:
    """The session as far as a record tells it. Raises RecordError for what tells none."""
    match record:
        case {"session": {"entries": list(entries), **about}}:
            meta = _map_in(about, "agent-meta")
        case _:
            raise RecordError(f"This is not a record: there is no list of entries at {_ENTRIES}.")
    messages = tuple(_Messages(record, entries, file).messages())
    times = [message.at for message in messages if message.at]
    started_at = parse_time(about.get("session-start")) or parse_time(record.get("created"))
    native_id = text_or_none(about.get("session-id")) or text_or_none(record.get("id")) or UNKNOWN
    agent = _agent(meta)
    ours = _map_in(about, OURS)
    return Session(
        # A name of its own: who writes a record could else have it taken for any session that is here.
        id=f"{agent}:record-{native_id}",
        agent=agent,
        native_id=native_id,
        kind=SessionKind.COPY,
        parent_id=None,
        project=_project(about),
        title=title_of(ours.get("title"), messages),
        summary=text_or_none(ours.get("summary")),
        started_at=started_at or min(times, default=None),
        ended_at=parse_time(about.get("session-end")) or max(times, default=None),
        status=status_of(messages, SessionKind.COPY),
        models=models_of(messages) or (*_models(meta),),
        counts=counts_of(messages),
        usage=usage_of(messages),
        files=(file,),
        branch=_branch(record, about),
        messages=messages,
    )


def _is_redacted(record: Mapping[str, Any]) -> bool:
    return bool(_map_in(record, COMMITMENT).get("redacted"))


def _agent(meta: Entry) -> str:
    """The agent, by our name for its program if we have one."""
    name = text_or_none(meta.get("cli-name")) or UNKNOWN
    return agent_called(name) or "-".join(_NAME.findall(name)) or UNKNOWN


def _models(meta: Entry) -> Iterator[str]:
    listed = meta.get("models")
    names = listed if isinstance(listed, list) and listed else [meta.get("model-id")]
    yield from dict.fromkeys(name for name in names if isinstance(name, str) and name not in {"", UNKNOWN})


def _project(about: Entry) -> Project:
    path = text_or_none(_map_in(about, "environment").get("working-dir"))
    return Project(path, None, None, KnownBy.RECORDS if path else None)


def _branch(record: Entry, about: Entry) -> str | None:
    inner = _map_in(_map_in(about, "environment"), "vcs")
    return text_or_none(inner.get("branch")) or text_or_none(_map_in(record, "vcs").get("branch"))


# ── Entries ───────────────────────────────────────────────────────────────────────────────────────────────


class _Placed(NamedTuple):
    """An entry, and the JSON pointer to it."""

    entry: Entry
    pointer: str

    @property
    def kind(self) -> str:
        return str(self.entry.get("type"))

    @property
    def call_id(self) -> str | None:
        return text_or_none(self.entry.get("call-id"))

    @property
    def is_child(self) -> bool:
        return "/children/" in self.pointer


class _Messages:
    """Makes messages of the entries of one record."""

    def __init__(self, record: Entry, entries: list[Any], file: SessionFile) -> None:
        self._file = file
        self._entries = _placed(entries, _ENTRIES)
        self._answers = _paired(self._entries)
        self._paired = {answer.pointer for answer in self._answers.values()}
        self._taken_out = _taken_out(record)
        provider = _map_in(_map_in(record, "session"), "agent-meta").get("model-provider")
        self._leaves_out_cached = isinstance(provider, str) and provider in _INPUT_WITHOUT_CACHED

    def messages(self) -> Iterator[Message]:
        """All messages. Those that hang on others, and what was done inside of calls, stand behind them."""
        waiting = self._entries[::-1]
        while waiting:
            placed = waiting.pop()
            children = _children(placed)
            waiting += [child for child in children if child.kind not in _PARTS or _children(child)][::-1]
            parts = [child for child in children if child.kind in _PARTS]
            if placed.kind in _ROLES:
                yield from self._turn(placed, parts)
                continue
            if placed.kind not in _PARTS or not placed.is_child:
                yield from self._alone(placed)
            inside = _Placed({}, f"{placed.pointer}/children")
            yield from self._made(inside, Role.ASSISTANT, [], [*self._child_parts(parts)])

    def _turn(self, placed: _Placed, children: list[_Placed]) -> Iterator[Message]:
        role, kinds = _ROLES[placed.kind], {child.kind for child in children}
        content = _content(placed.entry.get("content"), self._usual_origin(placed, role), kinds)
        yield from self._made(placed, role, [*content], [*self._child_parts(children)])

    def _alone(self, placed: _Placed) -> Iterator[Message]:
        """The message of an entry that hangs on none."""
        if placed.kind in _PARTS:
            yield from self._made(placed, Role.ASSISTANT, [], [*self._child_parts([placed])])
        else:
            level = _level(_event_type(placed))
            yield from self._made(placed, Role.SYSTEM, [*self._event(placed)], [], level)

    def _usual_origin(self, placed: _Placed, role: Role) -> Origin:
        """Whose the words of an entry are, if they do not say so themselves."""
        left = _left(MESSAGE, placed.entry)
        origin: Origin = left["content_origin"] or left["origin"] or USUAL_ORIGINS[role]
        return origin

    def _made(
        self,
        placed: _Placed,
        role: Role,
        content: list[ContentPart],
        children: list[ChildPart],
        level: Level | None = None,
    ) -> Iterator[Message]:
        """The message of an entry, if there is anything in it."""
        entry, left = placed.entry, _left(MESSAGE, placed.entry)
        usage = _usage(entry.get("token-usage"), leaves_out_cached=self._leaves_out_cached)
        if content or children or usage:
            yield Message(
                id=text_or_none(entry.get("id")) or placed.pointer,
                role=left["role"] or role,
                origin=left["origin"] or USUAL_ORIGINS[role],
                state=left["state"],
                at=parse_time(entry.get("timestamp")),
                model=text_or_none(entry.get("model-id")),
                parts=_in_order(content, children, left["content_after"]),
                usage=usage,
                source=Location(self._file.path, 1, 0, self._file.size, placed.pointer),
                level=left["level"] or level,
                imported=left["imported"],
                request_id=left["request_id"],
            )

    def _child_parts(self, children: Iterable[_Placed]) -> Iterator[ChildPart]:
        for child in children:
            match child.kind:
                case "reasoning":
                    yield from _thought(child.entry)
                case "tool-call":
                    yield _call(child.entry, self._answers.get(child.pointer))
                case "tool-result" if child.pointer in self._paired:
                    continue
                case "tool-result":
                    yield _result(child.entry)

    def _event(self, placed: _Placed) -> Iterator[ContentPart]:
        """What an event says; of an entry of no kind that we know, all of it."""
        name = _event_type(placed)
        is_derived = _map_in(placed.entry, OURS).get("derived") is True
        if placed.kind != _EVENT:
            yield Unrecognised(dict(placed.entry))
        elif name == _REDACTED_EVENT:
            yield Text(self._taken_out_at(placed.pointer), Origin.NOTICE)
        elif not name.startswith(NATIVE_EVENT) and not is_derived:
            usual = self._usual_origin(placed, Role.SYSTEM)
            yield from _event_words(name, placed.entry.get("data"), usual)

    def _taken_out_at(self, pointer: str) -> str:
        count = self._taken_out.get(pointer)
        said = "An entry was" if count == 1 else f"{count:,} entries were" if count else "Entries were"
        return f"{said} taken out here."


def _placed(entries: object, pointer: str) -> list[_Placed]:
    listed = entries if isinstance(entries, list) else []
    return [
        _Placed(entry if isinstance(entry, dict) else {"value": entry}, f"{pointer}/{number}")
        for number, entry in enumerate(listed)
    ]


def _children(placed: _Placed) -> list[_Placed]:
    return _placed(placed.entry.get("children"), f"{placed.pointer}/children")


def _event_type(placed: _Placed) -> str:
    return text_or_none(placed.entry.get("event-type")) or UNKNOWN


def _level(event_type: str) -> Level | None:
    """How grave an event is. Where something was taken out a reader should see it, as warnings are seen."""
    if event_type == _REDACTED_EVENT:
        return Level.WARNING
    return _LEVELS.get(event_type, None if event_type in _SPOKEN_EVENTS else Level.INFO)


def _paired(entries: list[_Placed]) -> dict[str, _Placed]:
    """The result of each call, by the pointer to the call: the first call of an id has the first result."""
    calls: defaultdict[str, list[_Placed]] = defaultdict(list)
    results: defaultdict[str, list[_Placed]] = defaultdict(list)
    known = {_CALL: calls, _RESULT: results}
    pairs: dict[str, _Placed] = {}
    lists = [entries]
    while lists:
        before: _Placed | None = None
        for placed in lists.pop():
            lists.append(_children(placed))
            if placed.kind in known and placed.call_id is not None:
                known[placed.kind][placed.call_id].append(placed)
            elif placed.kind == _RESULT and before and before.kind == _CALL and before.call_id is None:
                # Without an id, a result can only belong to the call that it stands behind.
                pairs[before.pointer] = placed
            before = placed
    for call_id, asked in calls.items():
        answered = sorted(results[call_id], key=_position)
        for call, result in zip(sorted(asked, key=_position), answered, strict=False):
            pairs[call.pointer] = result
    return pairs


def _position(placed: _Placed) -> list[int]:
    return [int(step) for step in placed.pointer.split("/") if step.isdecimal()]


def _taken_out(record: Entry) -> dict[str, int]:
    """How many entries were taken out, by the pointers to what stands in their place."""
    taken_out: dict[str, int] = {}
    redacted = _map_in(record, COMMITMENT).get("redacted")
    for one in redacted if isinstance(redacted, list) else ():
        match one:
            case {"at": str(pointer), "count": int(count)} if count > 0:
                taken_out[pointer] = count
            case {"at": str(pointer)}:
                taken_out[pointer] = 1
    return taken_out


def _left(leftovers: Leftovers, entry: Entry) -> dict[str, Any]:
    """What we noted beside an entry; as always where nothing is noted, or something odd."""
    ours = {name: value for name, value in _map_in(entry, OURS).items() if name != ORIGINALS}
    try:
        return leftovers.read(ours, OURS)
    except RecordError:
        return leftovers.read({}, OURS)


# ── Parts ─────────────────────────────────────────────────────────────────────────────────────────────────


def _in_order(
    content: list[ContentPart], children: list[ChildPart], after: Sequence[int] | None
) -> tuple[AnyPart, ...]:
    """All parts: in the order that was noted if it fits, else thoughts, what was said, and what was done."""
    try:
        return in_order(content, children, after, "")
    except RecordError:
        return in_order(content, children, None, "")


def _content(content: object, usual: Origin, children: Iterable[str] = ()) -> Iterator[ContentPart]:
    """The pieces of content, without those that children of these kinds tell again."""
    repeated = {block for block, child in _REPEATED.items() if child in {*children}}
    for block in content if isinstance(content, list) else [content]:
        if not (isinstance(block, dict) and text_or_none(block.get("type")) in repeated):
            yield from _pieces(block, usual)


def _pieces(block: object, usual: Origin) -> Iterator[ContentPart]:
    """One block, whatever it is; no piece for nothing."""
    match block:
        case None | "":
            return
        case str():
            yield Text(block, usual)
        case {"type": "attachment", **about}:
            yield Attachment(
                text_or_none(about.get("mime-type")),
                text_or_none(about.get("data")),
                text_or_none(about.get("uri")),
                _noted_origin(about, Origin.HUMAN),
            )
        case {"type": "file-reference", "path": str(path), **about}:
            yield FileReference(path, text_or_none(about.get("text")))
        case {"type": "unrecognised", "value": value}:
            yield Unrecognised(value)
        case {"text": str(text), **about}:
            yield Text(text, _noted_origin(about, usual))
        case _:
            yield Unrecognised(block)


def _noted_origin(block: Entry, usual: Origin) -> Origin:
    try:
        return Origin(_map_in(block, OURS)["origin"])
    except (KeyError, ValueError):
        return usual


def _thought(entry: Entry) -> Iterator[Thought]:
    """A thought, if there is anything of it to read: some are kept for the provider's eyes only."""
    words = "\n\n".join(_words(entry.get("content")))
    subject = text_or_none(entry.get("subject")) or ""
    if words or subject:
        yield Thought(words, subject, parse_time(entry.get("timestamp")))


def _words(content: object) -> Iterator[str]:
    for piece in content if isinstance(content, list) else [content]:
        for part in _pieces(piece, Origin.MODEL):
            match part:
                case Text(text):
                    yield text
                case Unrecognised(raw):
                    yield _as_json(raw)


def _call(entry: Entry, answer: _Placed | None) -> ToolCall:
    call = _left(CALL, entry)
    known: dict[str, Any] = {
        "call_id": text_or_none(entry.get("call-id")),
        "name": text_or_none(entry.get("name")) or UNKNOWN,
        "arguments": _arguments(entry.get("input")),
        "at": parse_time(entry.get("timestamp")),
    }
    if answer is None:
        status = call.pop("status") or ToolStatus.PENDING
        return ToolCall(**known, **call, status=status)
    noted, result = _left(ANSWER, answer.entry), answer.entry
    status = noted.pop("status") or _status(result)
    origin = noted.pop("output_origin") or Origin.TOOL
    output = (*_output(result.get("output"), origin),)
    more = {**call, **noted, "status": status, "native_status": text_or_none(result.get("status"))}
    return ToolCall(**known, **more, result=output)


def _result(entry: Entry) -> ToolResult:
    """What a tool answered, of which no call is told."""
    left = _left(RESULT, entry)
    output = _output(entry.get("output"), left["output_origin"] or Origin.TOOL)
    return ToolResult(text_or_none(entry.get("call-id")), left["name"], (*output,))


def _arguments(given: object) -> dict[str, Any]:
    """What a tool was given, by name; some have it as JSON in a text."""
    value = given
    if isinstance(given, str):
        try:
            value = json.loads(given)
        except (ValueError, RecursionError):
            value = given
    match value:
        case dict():
            return value
        case None:
            return {}
        case _:
            return {"input": given}


def _status(result: Entry) -> ToolStatus:
    match result.get("is-error"), result.get("status"):
        case True, _:
            return ToolStatus.ERROR
        case _, str(status) if status.lower() in _STATUSES:
            return _STATUSES[status.lower()]
        case False, _:
            return ToolStatus.SUCCESS
        case _:
            return ToolStatus.UNKNOWN


def _output(output: object, origin: Origin) -> Iterator[ResultPart]:
    for block in output if isinstance(output, list) else [output]:
        match block:
            case {"functionResponse": {"response": {"output": str(text)} | {"error": str(text)}}}:
                yield Text(text, origin)
            case _:
                for part in _pieces(block, origin):
                    yield Unrecognised(block) if isinstance(part, FileReference) else part


def _event_words(name: str, data: object, usual: Origin) -> Iterator[ContentPart]:
    """What happened, in words: what an event says, else its type and what is known of it."""
    match data:
        case {"content": content} if name in _SPOKEN_EVENTS:
            yield from _content(content, usual)
        case None if name in _SPOKEN_EVENTS:
            return
        case {**members} if members:
            details = ", ".join(f"{member}: {_as_word(value)}" for member, value in members.items())
            yield Text(f"{name}: {details}", usual)
        case _:
            yield Text(name, usual)


def _as_word(value: object) -> str:
    return value if isinstance(value, str) else _as_json(value)


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _usage(counts_written: object, *, leaves_out_cached: bool) -> Usage | None:
    """What a message used; `input` is the whole prompt, also where the agent counts it in pieces."""
    if not isinstance(counts_written, dict):
        return None
    known = {name: _count(counts_written, *keys) for name, keys in _COUNTS.items()}
    counts = {name: count for name, count in known.items() if count is not None}
    if "input" in counts and leaves_out_cached and counts_written.get("input-includes-cached") is not True:
        counts["input"] += counts.get("cached", 0) + counts.get("cache_write", 0)
    if not counts:
        return None
    if counts.keys() & _ADDED_UP:
        counts.setdefault("total", sum(counts.get(name, 0) for name in _ADDED_UP))
    return Usage(**{"requests": 1} | counts)


def _count(counts_written: Entry, *names: str) -> int | None:
    """The first of some members that is a number of tokens."""
    for name in names:
        value = counts_written.get(name)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT:
            return value
    return None


def _map_in(holder: Entry, name: str) -> Entry:
    held = holder.get(name)
    return held if isinstance(held, dict) else {}
