"""Turns of the API as messages: what every file holds that tells a conversation without being a session.

    {"role": "user" | "model", "parts": [{"text": …} | {"functionCall": …} | {"functionResponse": …} | …]}

Such turns have no ids and no times. Until 0.42 a call has no id either, only the answer to it has; and
since 0.54 turns of the same side that follow one another are fused into one, so that the CLI's opening
and the first prompt are two parts of one turn. They are told apart again here.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from geminids.model import (
    FileAccount,
    Message,
    Problem,
    ProblemKind,
    Project,
    Session,
    SessionFile,
    SessionKind,
    Source,
    Status,
    Tally,
    Usage,
)
from geminids.sources.base import FoundFile, Reading
from geminids.sources.gemini.content import parts_of, text_or_none
from geminids.sources.gemini.evidence import with_evidence
from geminids.sources.gemini.messages import MessageBuilder
from geminids.sources.gemini.records import FileLog
from geminids.sources.gemini.sessions import counts_of, status_of, title_of
from geminids.sources.gemini.spans import Lines, Span, complaint, elements, members, whole
from geminids.sources.gemini.turns import Turn
from geminids.sources.jsonl import UndecodableError, complete_truncated, salvage
from geminids.sources.timestamps import disk_time

NOWHERE = Project(None, None, None, None)
"""The project of a file that does not say where it was worked."""
TURN = "turn"
"""What a turn is called in accounts."""
UNKNOWN_MEMBER = "a field that is not known to geminids"
_TYPES = {"user": "user", "function": "user", "model": "gemini", None: "gemini"}
"""Roles of the API. The CLI itself takes a turn without one for the model's."""
_TURN_FIELDS = frozenset({"role", "parts"})
_TURN_BEGINNING = re.compile(rb'\{\s*"(?:role|parts)"\s*:')
_AFTER_TURNS = re.compile(rb"\s*\]\s*,")
_ALONE = re.compile(
    r"\s*<session_context>|This is the Gemini CLI\. We are setting up the context"
    r"|I ran the following shell command:\n```sh\n|- \*\*Workspace Directories:\*\*"
    r"|\s*Here is (?:the user's editor context as|a summary of changes in the user's editor context)"
)
"""How texts begin that the CLI sends as turns of their own, before it fuses them with the next."""
_REFERENCES = "\n--- Content from referenced files ---"
_REFERENCES_END = "\n--- End of content ---"
_CANCELLED = "[Operation Cancelled]"
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
"""What Python puts for a byte in a file name that is no UTF-8."""


class Written(NamedTuple):
    """A turn as it was written, and where."""

    value: dict[str, Any]
    place: Source
    at: str | int | float | None = None
    """When it was said, as far as the file knows."""


class CopyLog(FileLog):
    """What was read of a file that is no session file, and where each byte went."""

    @property
    def era(self) -> str:
        """All releases write these files alike, or say nothing of which of them it was."""
        return "any"

    def note_fields(self, name: str, known: frozenset[str], value: dict[str, Any]) -> None:
        """Count the fields of a value that we have no name for."""
        self._note_fields(name, known, value)

    def note_unknown(self, name: str) -> None:
        """Count one field that we have no name for."""
        self._note_fields(self.format.removeprefix("gemini-"), frozenset(), {name: None})

    def account(self) -> FileAccount:
        """Where every byte of the file went; what was not asked for stands between the pieces."""
        fates = (self._used, self._ignored, self._problem)
        counted = self._layout + sum(size for tallies in fates for _, size in tallies.values())
        self.count_layout(self.size - counted)
        return super().account()


class Shape(NamedTuple):
    """A kind of document that holds a history."""

    format: str
    turns: str | None
    """The member that holds the turns; None if the document is the list of them."""
    used: frozenset[str] = frozenset()
    """The members that are part of what is told."""
    ignored: Mapping[str, str] = {}
    """The members that are left out, and why."""


class History(NamedTuple):
    """What a document holds: its turns, and the other members that are used."""

    log: CopyLog
    turns: list[Written]
    members: dict[str, Any]


def read_history(shape: Shape, path: str, content: bytes) -> History:
    """The turns of a document, each with its place, and where every byte went."""
    log = CopyLog(path, shape.format, len(content))
    span = whole(content)
    spans = {} if shape.turns is None else members(content, span)
    listed = span if shape.turns is None else spans.get(shape.turns) if spans else None
    found = elements(content, listed) if listed else None
    if spans is None or (found is None and not _is_whole(content, span)):
        return _damaged(log, shape, content)
    if shape.turns is not None and shape.turns not in spans:
        log.remark(ProblemKind.NOT_A_SESSION, f"no {shape.turns} in it", 1, 0, len(content))
    others = _read_members(log, shape, content, spans, turns_read=found is not None)
    turns = [] if found is None else list(read_turns(log, content, found, shape.turns))
    return History(log, turns, others)


def _is_whole(content: bytes, span: Span) -> bool:
    """Whether a document reads, whatever is in it."""
    return members(content, span) is not None or elements(content, span) is not None


def _read_members(
    log: CopyLog, shape: Shape, content: bytes, spans: dict[str, Span], *, turns_read: bool
) -> dict[str, Any]:
    """The members of a document beside its turns, each used, ignored by name or a problem."""
    read: dict[str, Any] = {}
    lines = Lines(content)
    for name, span in spans.items():
        line = lines.at(span.start)
        if name in shape.used:
            place = Source(log.path, line, span.start, span.end, f"/{name}")
            try:
                read[name] = log.decode(content[span.start : span.end], place)[0]
            except UndecodableError as error:
                log.report(ProblemKind.BAD_JSON, str(error), line, span.start, span.end)
            else:
                log.count_use(name, span.size)
        elif name != shape.turns:
            log.ignore(shape.ignored.get(name, UNKNOWN_MEMBER), span.size)
            if name not in shape.ignored:
                log.note_unknown(name)
        elif not turns_read:
            detail = f"{name} is no list"
            log.report(ProblemKind.WRONG_TYPE, detail, line, span.start, span.end)
    return read


def read_turns(
    log: CopyLog, content: bytes, spans: Iterable[Span], name: str | None, prefix: str = ""
) -> Iterator[Written]:
    """The elements of a list as turns."""
    lines = Lines(content)
    pointer = prefix if name is None else f"{prefix}/{name}"
    for index, (start, end) in enumerate(spans):
        place = Source(log.path, lines.at(start), start, end, f"{pointer}/{index}")
        try:
            value, _ = log.decode(content[start:end], place)
        except UndecodableError as error:
            log.report(ProblemKind.BAD_JSON, str(error), place.line, start, end)
            continue
        if turn := as_turn(value):
            use_turn(log, turn, place)
            yield Written(turn, place)
        else:
            detail = f"a turn that is no object but {type(value).__name__}"
            log.report(ProblemKind.WRONG_TYPE, detail, place.line, start, end)


def as_turn(value: Any) -> dict[str, Any] | None:
    """A turn; words and parts that stand for themselves are the user's."""
    match value:
        case dict():
            return value if "role" in value or "parts" in value else {"role": "user", "parts": [value]}
        case str() if value:
            return {"role": "user", "parts": [{"text": value}]}
        case [_, *_]:
            return {"role": "user", "parts": value}
        case _:
            return None


def use_turn(log: CopyLog, turn: dict[str, Any], place: Source) -> None:
    """Take a turn in."""
    log.count_use(TURN, place.end - place.start)
    log.note_fields(TURN, _TURN_FIELDS, turn)


def _damaged(log: CopyLog, shape: Shape, content: bytes) -> History:
    """What is left of a document that no longer reads: whole turns, and the beginning of a cut one."""
    trouble = complaint(content)
    if not content.strip():
        log.remark(ProblemKind.EMPTY, "nothing in it", None, 0, len(content))
    begin = whole(content).start
    if shape.turns is not None:
        array = re.search(rb'"' + shape.turns.encode() + rb'"\s*:\s*\[', content)
        begin = array.end() if array else len(content)
        if content[:begin].strip(b" \t\r\n{[") and not array:
            log.report(ProblemKind.BAD_JSON, trouble, 1, 0, begin)
    turns: list[Written] = []
    lines, done = Lines(content), begin
    for index, found in enumerate(salvage(content[begin:], _TURN_BEGINNING, _is_turn)):
        start, end = begin + found.start, begin + found.end
        if content[done:start].strip(b" \t\r\n,["):
            log.report(ProblemKind.BAD_JSON, trouble, lines.at(done), done, start)
        place = Source(
            log.path, lines.at(start), start, end, f"/{shape.turns or ''}/{index}".replace("//", "/")
        )
        use_turn(log, found.value, place)
        if not found.complete:
            log.remark(ProblemKind.BAD_JSON, f"cut off: {trouble}", place.line, start, end)
        turns.append(Written(found.value, place))
        done = end
    others = _members_after(content[done:])
    if others is None and content[done:].strip(b" \t\r\n,]}"):
        log.report(ProblemKind.BAD_JSON, trouble, lines.at(done), done, len(content))
    elif others is not None:
        log.count_use("members", len(content) - done)
    if not log.problems:
        log.remark(ProblemKind.BAD_JSON, trouble, 1, 0, len(content))
    return History(log, turns, {n: v for n, v in (others or {}).items() if n in shape.used})


def _is_turn(value: dict[str, Any]) -> bool:
    role = value.get("role", "model")
    return "parts" in value and isinstance(role, str) and role in _TYPES


def _members_after(tail: bytes) -> dict[str, Any] | None:
    """The members that stand behind the turns of a damaged document."""
    closing = _AFTER_TURNS.match(tail)
    return complete_truncated(b"{" + tail[closing.end() :]) if closing else None


def messages_of(log: CopyLog, written: Sequence[Written]) -> tuple[Message, ...]:
    """Turns as messages, calls with their answers; what is wrong with them goes to the log."""
    turns = [turn for number, one in enumerate(written) for turn in _turns(number, one)]
    _pair(turns)
    return built(log, turns)


def built(log: CopyLog, turns: Sequence[Turn]) -> tuple[Message, ...]:
    """Turns in the form of session files as messages."""
    builder = MessageBuilder(turns, of_subagent=False)
    messages = builder.build()
    log.problems.extend(builder.problems)
    return messages


def _turns(number: int, written: Written) -> Iterator[Turn]:
    """One turn of the API in the form of session files; several if it was fused."""
    role = written.value.get("role")
    native_type = _TYPES.get(role, "unknown") if role is None or isinstance(role, str) else "unknown"
    pieces = parts_of(written.value.get("parts"))
    groups = list(_separate(pieces)) if native_type == "user" else [pieces]
    others = {name: written.value[name] for name in written.value.keys() - _TURN_FIELDS}
    for index, group in enumerate(groups or [[]]):
        value: dict[str, Any] = {"type": native_type, "content": group}
        if written.at is not None:
            value["timestamp"] = written.at
        if others:
            value["turn"], others = others, {}
        yield Turn(f"turn-{number}" + (f"-{index}" if index else ""), value, written.place)


def _separate(pieces: list[Any]) -> Iterator[list[Any]]:
    """The parts of a turn by message, as far as the CLI's own texts tell."""
    group: list[Any] = []
    in_references, was_cancelled = False, False
    for piece in pieces:
        text = piece.get("text") if isinstance(piece, dict) else None
        is_alone = isinstance(text, str) and not in_references and _ALONE.match(text) is not None
        if group and (is_alone or (was_cancelled and isinstance(text, str))):
            yield group
            group = []
        group.append(piece)
        if is_alone:
            yield group
            group = []
        in_references = text == _REFERENCES or (in_references and text != _REFERENCES_END)
        was_cancelled = _is_cancelled(piece)
    if group:
        yield group


def _is_cancelled(piece: object) -> bool:
    """Whether a call was cancelled: what follows in the same turn is what the human typed next."""
    match piece:
        case {"functionResponse": {"response": {"error": str(error)}}}:
            return error.startswith(_CANCELLED)
        case _:
            return False


def _pair(turns: Sequence[Turn]) -> None:
    """Tie answers to calls: by id, and where one of them has none, by name and order."""
    asked = _OpenCalls()
    for turn in turns:
        calls, responses = _named(turn, "functionCall"), _named(turn, "functionResponse")
        turn.asked = {f"{turn.id} {index}": call for index, call in enumerate(calls)}
        turn.answered = {}
        for key, call in turn.asked.items():
            asked.open(key, call)
        for response in responses:
            if (answered := asked.answered_by(response)) is not None:
                turn.answered[answered] = response


class _OpenCalls:
    """Calls that wait for their answers."""

    def __init__(self) -> None:
        self._with_id: dict[str, str] = {}
        self._by_name: dict[str, deque[tuple[str, dict[str, Any]]]] = {}

    def open(self, key: str, call: dict[str, Any]) -> None:
        """Wait for the answer to a call."""
        call_id = text_or_none(call.get("id"))
        if call_id:
            self._with_id[call_id] = key
        else:
            self._by_name.setdefault(str(call.get("name")), deque()).append((key, call))

    def answered_by(self, response: dict[str, Any]) -> str | None:
        """The call that an answer is for; one that has no id yet takes that of its answer."""
        call_id = text_or_none(response.get("id"))
        if call_id and call_id in self._with_id:
            return self._with_id.pop(call_id)
        waiting = self._by_name.get(str(response.get("name")))
        if not waiting:
            return None
        key, call = waiting.popleft()
        if call_id:
            call["id"] = call_id
        return key


def _named(turn: Turn, name: str) -> list[dict[str, Any]]:
    """The calls or answers in a turn, as copies."""
    pieces = parts_of(turn.value.get("content"))
    found = (piece.get(name) for piece in pieces if isinstance(piece, dict))
    return [dict(one) for one in found if isinstance(one, dict)]


def unread(file: FoundFile, file_format: str, error: OSError) -> Reading:
    """What is known of a file that the operating system refused."""
    problem = Problem(str(file.path), ProblemKind.UNREADABLE, error.strerror or "cannot be read")
    refused = {str(ProblemKind.UNREADABLE): Tally(1, file.size)}
    account = FileAccount(str(file.path), file_format, "any", file.size, {}, {}, refused, {})
    return Reading((), (account,), (problem,))


def found_at(file: FoundFile) -> datetime | None:
    """When a file was last written to, as the scan saw it."""
    return disk_time(file.mtime_ns / 1e9)


def modified(path: Path) -> datetime | None:
    """When a file was last written to."""
    try:
        return disk_time(path.stat().st_mtime)
    except OSError:
        return None


def readable(name: str) -> str:
    """The name of a file in words that can be printed: what nobody can type is told in percent form."""
    return _UNPRINTABLE.sub(lambda found: f"%{ord(found[0]) & 0xFF:02X}", name)


def session_of(
    log: CopyLog,
    native_id: str,
    kind: SessionKind,
    messages: tuple[Message, ...],
    ended_at: datetime | None,
    *,
    project: Project = NOWHERE,
    parent_id: str | None = None,
    title: str | None = None,
    models: tuple[str, ...] = (),
    usage: Usage | None = None,
    status: Status | None = None,
) -> Session:
    """The session that a file tells; what its messages know of times counts more than the file's own.

    `native_id` and `title` may be made of the file's name, whatever bytes that has.
    """
    native_id = readable(native_id)
    times = [message.at for message in messages if message.at]
    used = Usage.sum(message.usage for message in messages if message.usage)
    return Session(
        id=f"gemini:{native_id}",
        agent="gemini",
        native_id=native_id,
        kind=kind,
        parent_id=parent_id,
        project=with_evidence(project, messages, ()),
        title=readable(title) if title else title_of(None, messages),
        summary=None,
        started_at=min(times, default=None),
        ended_at=max(times, default=ended_at),
        status=status or status_of(messages, kind),
        models=models or tuple(dict.fromkeys(message.model for message in messages if message.model)),
        counts=counts_of(messages),
        usage=usage or used,
        files=(SessionFile(log.path, log.format, log.size),),
        problems=tuple(log.problems),
        messages=messages,
    )


def reading_of(log: CopyLog, sessions: Iterable[Session]) -> Reading:
    """What a file holds; a conversation without a message is none."""
    told = tuple(session for session in sessions if session.messages)
    problems: tuple[Problem, ...] = tuple(dict.fromkeys(log.problems))
    return Reading(told, (log.account(),), problems)
