"""Activity logs: what went over the network and to the console, where that was switched on.

    …/tmp/<project>/logs/session-<id>.jsonl, or GEMINI_CLI_ACTIVITY_LOG_TARGET
    {"type": "console" | "network", "payload": …, "sessionId": …, "timestamp": <ms>}

A request to the API carries the whole talk so far, so the longest one with its answer is the talk; the
times of its turns are those of the requests that first carried them. Requests for other purposes
(routing, counting, summaries) are left out by name. Nothing is logged of a server on this machine.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.api_turns import Written, as_turn, built, messages_of
from geminids.agents.gemini.companions.copy_sessions import modified, reading_of, session_of
from geminids.agents.gemini.read.content import text_or_none
from geminids.agents.gemini.read.turns import Turn
from geminids.core.agents.base import Reading
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, Message, ProblemKind, Session, SessionKind, Status, Usage
from geminids.reading.counts import count_or_none
from geminids.reading.jsonl import UndecodableError, complete_truncated, decode
from geminids.reading.lines import LineNumbers

FORMAT = "gemini-activity-log"
OTHER_REQUESTS = "a request beside the talk: routing, counting, summaries, telemetry"
EARLIER_REQUESTS = "a request or an answer that a later request holds"
PIECES = "a piece of an answer that stands whole in another record"
_RECORD = lazy_pattern(rb'^\{"type":"(?:console|network)","payload":', re.MULTILINE)
_LINE = lazy_pattern(rb"[^\r\n]+")
_LEVELS = {"warn": "warning", "warning": "warning", "error": "error"}
_TOKENS = (
    "promptTokenCount",
    "cachedContentTokenCount",
    "candidatesTokenCount",
    "thoughtsTokenCount",
    "toolUsePromptTokenCount",
    "totalTokenCount",
)
_MAIN = ":streamGenerateContent"


def is_log(content: bytes) -> bool:
    """Whether a file holds records of an activity log."""
    return _RECORD.search(content) is not None


class _Exchange(msgspec.Struct):
    """A request, and what came back for it."""

    url: str
    contents: list[Any] = []
    at: object = None
    places: list[Location] = []
    """Where the request and its whole answer stand."""
    pieces: dict[int, str] = {}
    piece_places: list[Location] = []
    body: str | None = None
    status: object = None
    error: str | None = None
    answered_at: object = None

    @property
    def is_talk(self) -> bool:
        """Whether the request went on with the talk."""
        return _MAIN in self.url and bool(self.contents)

    def send(self, contents: list[Any], at: object, place: Location) -> None:
        """Take in what was sent."""
        self.contents, self.at = contents, at
        self.places.append(place)

    def take(self, payload: dict[Any, Any], at: object, place: Location) -> bool:
        """Take in what came back, if it is of a kind that we know."""
        match payload:
            case {"chunk": {"index": int(index), "data": str(data)}}:
                self.pieces[index] = data
                self.piece_places.append(place)
            case {"response": {"body": str(body), **about}}:
                self.body, self.status = body, about.get("status")
                self.places.append(place)
            case {"error": error}:
                self.error = str(error)
                self.places.append(place)
            case _:
                return False
        self.answered_at = at
        return True

    @property
    def answer(self) -> str:
        """What came back, from its pieces if it is nowhere whole."""
        if self.body is not None:
            return self.body
        return "".join(data for _, data in sorted(self.pieces.items()))

    @property
    def answer_place(self) -> Location:
        """Where the answer stands, or what is known of it."""
        came = self.places[1:] or self.piece_places or self.places
        return came[-1]


class _Log(msgspec.Struct):
    """What the records of one session hold."""

    exchanges: dict[str, _Exchange] = {}
    notices: list[Turn] = []


def read_log(path: Path, content: bytes) -> Reading:
    """The sessions that an activity log tells."""
    log = CopyLog(str(path), FORMAT, len(content))
    sessions: dict[str, _Log] = {}
    for value, place in _records(log, content):
        name = text_or_none(value.get("sessionId")) or path.name.removesuffix(".jsonl")
        _take(log, sessions.setdefault(name, _Log()), value, place)
    return reading_of(log, [_session(log, path, name, talk) for name, talk in sessions.items()])


def _records(log: CopyLog, content: bytes) -> Iterator[tuple[dict[str, Any], Location]]:
    lines = LineNumbers(content)
    for found in _LINE.finditer(content):
        start, end = found.span()
        place = Location(log.path, lines.at(start), start, end)
        try:
            value, _ = log.decode(found[0], place)
        except UndecodableError as error:
            value = complete_truncated(found[0]) if found[0].startswith(b"{") else None
            if value is None:
                log.report(ProblemKind.BAD_JSON, str(error), place.line, start, end)
                continue
            log.remark(ProblemKind.BAD_JSON, f"cut off: {error}", place.line, start, end)
        if isinstance(value, dict):
            yield value, place
        else:
            log.report(ProblemKind.WRONG_TYPE, "a record that is no object", place.line, start, end)


def _take(log: CopyLog, talk: _Log, value: dict[str, Any], place: Location) -> None:
    """Take a record in; what requests and answers are counted as is only known at the end."""
    at = value.get("timestamp")
    match value:
        case {"type": "console", "payload": {"content": content, **about}}:
            level = _LEVELS.get(str(about.get("type")), "info")
            notice = {"type": level, "content": content, "timestamp": about.get("timestamp", at)}
            talk.notices.append(Turn(f"line-{place.line}", notice, place))
            log.count_use("console", place.end - place.start)
        case {"type": "network", "payload": {"id": str(request_id), "url": str(url), **request}}:
            contents, sent_at = _contents(request.get("body")), request.get("timestamp", at)
            talk.exchanges.setdefault(request_id, _Exchange(url)).send(contents, sent_at, place)
        case {"type": "network", "payload": {"id": str(request_id), **payload}} if (
            exchange := talk.exchanges.get(request_id)
        ) and exchange.take(payload, at, place):
            pass
        case _:
            detail = "a record of unknown kind, or an answer without a request"
            log.report(ProblemKind.WRONG_TYPE, detail, place.line, place.start, place.end)


def _contents(body: object) -> list[Any]:
    """The turns that a request carries; those of the API for single users stand one step deeper."""
    match _json(body):
        case {"contents": list(contents)} | {"request": {"contents": list(contents)}}:
            return contents
        case _:
            return []


def _json(text: object) -> object:
    if not isinstance(text, str):
        return None
    try:
        return decode(text.encode(errors="replace")).value
    except UndecodableError:
        return None


def _session(log: CopyLog, path: Path, name: str, talk: _Log) -> Session:
    talks = [exchange for exchange in talk.exchanges.values() if exchange.is_talk]
    # Of equally long ones the last: a request that failed is made again.
    longest = max(enumerate(talks), key=lambda one: (len(one[1].contents), one[0]), default=(0, None))[1]
    for exchange in talk.exchanges.values():
        _count(log, exchange, is_shown=exchange is longest)
    messages: list[Message] = []
    if longest is not None:
        messages.extend(messages_of(log, list(_turns(longest, talks))))
        messages.extend(_failure(log, longest))
    notices = built(log, talk.notices)
    used = dict(_used(talks))
    is_answered = longest is None or bool(longest.answer) or longest.error is not None
    return session_of(
        log,
        name,
        SessionKind.COPY,
        tuple(_in_order(messages, notices)),
        modified(path),
        models=tuple(dict.fromkeys(model for model, _ in used.values() if model)),
        usage=Usage.sum(usage for _, usage in used.values()),
        status=None if is_answered else Status.INTERRUPTED,
    )


def _used(talks: Sequence[_Exchange]) -> Iterator[tuple[int, tuple[str | None, Usage]]]:
    """The model that answered each request of the talk, and what it counted."""
    for number, exchange in enumerate(talks):
        for chunk in _chunks(exchange.answer):
            match chunk:
                case {"usageMetadata": dict(counts), **about}:
                    yield number, (text_or_none(about.get("modelVersion")), _usage(counts))


def _usage(counts: dict[Any, Any]) -> Usage:
    sent, cached, output, thoughts, tool, total = (count_or_none(counts.get(name)) for name in _TOKENS)
    return Usage(1, sent, cached, None, output, thoughts, tool, total)


def _count(log: CopyLog, exchange: _Exchange, *, is_shown: bool) -> None:
    why = EARLIER_REQUESTS if exchange.is_talk else OTHER_REQUESTS
    for place in exchange.places:
        if is_shown:
            log.count_use("network", place.end - place.start)
        else:
            log.ignore(why, place.end - place.start)
    for place in exchange.piece_places:
        if is_shown and exchange.body is None:
            log.count_use("network", place.end - place.start)
        else:
            log.ignore(PIECES, place.end - place.start)


def _turns(longest: _Exchange, talks: Sequence[_Exchange]) -> Iterator[Written]:
    """The turns of the talk, with the times at which they were sent or came back."""
    times: dict[int, object] = {}
    for exchange in talks:
        length = len(exchange.contents)
        if longest.contents[:1] == exchange.contents[:1] and length <= len(longest.contents):
            times.setdefault(length - 1, exchange.at)
            times.setdefault(length, exchange.answered_at)
    for index, content in enumerate(longest.contents):
        turn = as_turn(content)
        if turn is not None:
            yield Written(turn, longest.places[0], _moment(times.get(index)))
    answer = _answer(longest)
    if answer is not None:
        yield Written(answer, longest.answer_place, _moment(longest.answered_at))


def _moment(at: object) -> str | int | float | None:
    return at if isinstance(at, str | int | float) and not isinstance(at, bool) else None


def _answer(exchange: _Exchange) -> dict[str, Any] | None:
    """What the model answered, its pieces put together as the CLI does."""
    parts: list[Any] = []
    for chunk in _chunks(exchange.answer):
        match chunk:
            case {"candidates": [{"content": {"parts": list(pieces)}}, *_]}:
                for piece in pieces:
                    _append(parts, piece)
    return {"role": "model", "parts": parts} if parts else None


def _append(parts: list[Any], piece: Any) -> None:
    """Put a piece behind the others; words go on with words, thoughts with nothing."""
    match parts[-1:], piece:
        case [{"text": str(before)} as last], {"text": str(text)} if not (
            last.get("thought") or piece.get("thought")
        ):
            parts[-1] = last | piece | {"text": before + text}
        case _:
            parts.append(piece)


def _chunks(body: str) -> Iterator[object]:
    """The answers in a stream of events, or the one that stands alone."""
    lines = [line.removeprefix("data:") for line in body.splitlines() if line.startswith("data:")]
    for text in lines or [body]:
        value = _json(text)
        match value:
            case {"response": dict(inner)}:
                yield inner
            case list():
                yield from value
            case _:
                yield value


def _failure(log: CopyLog, exchange: _Exchange) -> tuple[Message, ...]:
    """The notice that the last request failed."""
    match exchange.error, exchange.status:
        case None, int(status) if status >= 400:
            words = exchange.body or f"HTTP {status}"
        case str(error), _:
            words = error
        case _:
            return ()
    place = exchange.answer_place
    notice = {"type": "error", "content": words, "timestamp": exchange.answered_at}
    return built(log, [Turn(f"line-{place.line}", notice, place)])


def _in_order(messages: Sequence[Message], notices: Sequence[Message]) -> Iterator[Message]:
    """Messages with the notices between them, by time; what has none stays with what comes after it."""
    waiting = deque(notices)
    for message, at in zip(messages, _times(messages), strict=True):
        while waiting and at is not None and _is_before(waiting[0].at, at):
            yield waiting.popleft()
        yield message
    yield from waiting


def _times(messages: Sequence[Message]) -> list[datetime | None]:
    """When each message was said at the latest."""
    times: list[datetime | None] = []
    later: datetime | None = None
    for message in reversed(messages):
        later = message.at or later
        times.append(later)
    return times[::-1]


def _is_before(one: datetime | None, other: datetime) -> bool:
    return one is not None and one < other
