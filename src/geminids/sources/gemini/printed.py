"""What headless runs print, kept in a file.

    gemini -p … --output-format json          {"session_id", "response", "stats", "error", "warnings"}
    gemini -p … --output-format stream-json   a line for each event: init, message, tool_use, tool_result,
                                              error, result

A terminal may have put other lines before and after, and `>>` the output of several runs into one file:
runs of one session are told as one, with what all of them used. An answer comes in pieces, which are put
together up to the next result of a tool: that is where the next request begins. `json` says nothing of
the prompt and of tools, and neither says anything of thoughts; a call that was cancelled shows as an
error, and for a call's result stands what was shown of it. Tokens are those of the whole run, with
requests beside the talk.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from geminids.model import ProblemKind, Session, SessionKind, Source, Status, Usage
from geminids.sources.base import Reading
from geminids.sources.gemini.content import text_or_none
from geminids.sources.gemini.histories import CopyLog, built, modified, reading_of, session_of
from geminids.sources.gemini.spans import Lines
from geminids.sources.gemini.turns import Turn
from geminids.sources.jsonl import UndecodableError, complete_truncated, decode, object_end

STREAM = "gemini-stream-json"
ANSWER = "gemini-json-output"
OTHER_LINES = "other lines of a terminal"
_EVENT = re.compile(
    rb'^\{"type":"(?:init|message|tool_use|tool_result|error|result)","timestamp":"[^\r\n]*', re.MULTILINE
)
_EVENT_TYPES = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})
# No new line ends an answer, so what the next run prints may follow the brace.
_ANSWER = re.compile(rb'(?:^|(?<=\}))\{\s*"(?:session_id|response|stats|error)"\s*:', re.MULTILINE)
_LINE = re.compile(rb"[^\r\n]+")
_NEXT_RUN = b'}{"type":"init",'
_ANSWER_FIELDS = frozenset({"session_id", "response", "stats", "error", "warnings"})
_TOKEN_NAMES = ("prompt", "cached", "candidates", "thoughts", "tool", "total")
_AUTO = "auto"
"""How the names of models begin that are none: the CLI chooses."""


def is_stream(content: bytes) -> bool:
    """Whether a file holds the events of a headless run."""
    return _EVENT.search(content) is not None


def is_answer(content: bytes) -> bool:
    """Whether a file holds the answer of a headless run."""
    return any("stats" in found.value or "session_id" in found.value for found in _answers(content))


class _Event(NamedTuple):
    value: dict[str, Any]
    place: Source


def read_stream(path: Path, content: bytes) -> Reading:
    """The sessions that the events of headless runs tell."""
    log = CopyLog(str(path), STREAM, len(content))
    runs: dict[str, _Run] = {}
    run: _Run | None = None
    for event in _events(log, content):
        session_id = text_or_none(event.value.get("session_id"))
        if run is None or event.value.get("type") == "init":
            name = session_id or _name_of(path)
            run = runs.setdefault(name, _Run(name))
        run.take(event)
    return reading_of(log, [run.session(log, path) for run in runs.values()])


def _name_of(path: Path) -> str:
    """What a session is called that does not say its id."""
    return path.name.rpartition(".")[0] or path.name


def _events(log: CopyLog, content: bytes) -> Iterator[_Event]:
    """The events in the lines of a file; what is none was printed by somebody else."""
    lines = Lines(content)
    for start, end in _lines(content):
        raw = content[start:end]
        place = Source(log.path, lines.at(start), start, end)
        if not content.startswith(b"{", start):
            log.ignore(OTHER_LINES, end - start)
            continue
        try:
            value, _ = log.decode(raw, place)
        except UndecodableError as error:
            value = complete_truncated(raw)
            if value is None or not isinstance(value.get("type"), str):
                log.report(ProblemKind.BAD_JSON, str(error), place.line, start, end)
                continue
            log.remark(ProblemKind.BAD_JSON, f"cut off: {error}", place.line, start, end)
        if isinstance(value, dict) and isinstance(value.get("type"), str):
            log.count_use(value["type"] if value["type"] in _EVENT_TYPES else "unknown event", end - start)
            yield _Event(value, place)
        else:
            log.ignore(OTHER_LINES, end - start)


def _lines(content: bytes) -> Iterator[tuple[int, int]]:
    """Where lines begin and end; the first event of a run begins one, whatever stands before it."""
    for found in _LINE.finditer(content):
        start, end = found.span()
        while (brace := content.find(_NEXT_RUN, start, end)) >= 0:
            yield start, brace + 1
            start = brace + 1
        yield start, end


class _Run:
    """A session in the making, event by event."""

    def __init__(self, native_id: str) -> None:
        self._native_id = native_id
        self._turns: list[Turn] = []
        self._reply: Turn | None = None
        """The answer that goes on, until a tool's result comes."""
        self._calls: dict[str, dict[str, Any]] = {}
        self._model: str | None = None
        self._models: dict[str, None] = {}
        self._usages: list[Usage] = []
        """What each run used."""
        self._replies = 0
        """How many answers there are in this run."""
        self._is_open = True

    def take(self, event: _Event) -> None:
        """Take an event in."""
        match event.value:
            case {"type": "init", **about}:
                model = text_or_none(about.get("model"))
                self._model = model if model and not model.startswith(_AUTO) else None
                self._reply, self._replies, self._is_open = None, 0, True
            case {"type": "message", "role": "assistant", "content": str(text), **about}:
                self._say(event, text, is_piece=about.get("delta") is True)
            case {"type": "message", "role": "user", "content": content}:
                self._add(event, {"type": "user", "content": content})
            case {"type": "tool_use", "tool_id": tool_id, "tool_name": name, **about}:
                self._call(
                    event, str(tool_id), {"id": tool_id, "name": name, "args": about.get("parameters")}
                )
            case {"type": "tool_result", "tool_id": tool_id, **about}:
                self._end_call(event, str(tool_id), about)
            case {"type": "error", "message": message, **about}:
                level = "warning" if about.get("severity") == "warning" else "error"
                self._add(event, {"type": level, "content": message})
            case {"type": "result", **about}:
                self._end(event, about)
            case value:
                self._add(event, {"type": None, "content": [value]})

    def _add(self, event: _Event, value: dict[str, Any]) -> Turn:
        """A message of its own."""
        self._reply = None
        turn = Turn(f"event-{event.place.line}", value, event.place)
        if (at := event.value.get("timestamp")) is not None:
            turn.value["timestamp"] = at
        self._turns.append(turn)
        return turn

    def _open_reply(self, event: _Event) -> Turn:
        """The answer that an event goes on with."""
        if self._reply is None:
            value: dict[str, Any] = {"type": "gemini", "content": "", "toolCalls": []}
            if self._model:
                value["model"] = self._model
            reply = self._add(event, value)
            self._reply = reply
            self._replies += 1
        else:
            reply = self._reply
        first = reply.places[0]
        reply.places[0] = Source(first.file, first.line, first.start, event.place.end)
        return reply

    def _say(self, event: _Event, text: str, *, is_piece: bool) -> None:
        reply = self._open_reply(event)
        reply.value.setdefault("pieces", []).append(text)
        if not is_piece:
            self._reply = None

    def _call(self, event: _Event, tool_id: str, call: dict[str, Any]) -> None:
        self._open_reply(event).value["toolCalls"].append(call | {"status": "pending"})
        self._calls[tool_id] = self._turns[-1].value["toolCalls"][-1]

    def _end_call(self, event: _Event, tool_id: str, about: dict[str, Any]) -> None:
        call = self._calls.get(tool_id)
        if call is None:
            self._call(event, tool_id, {"id": tool_id, "name": None, "args": None})
            call = self._calls[tool_id]
        output, error = about.get("output"), about.get("error")
        message = error.get("message") if isinstance(error, dict) else None
        call["status"] = about.get("status")
        call["timestamp"] = about.get("timestamp")
        call["result"] = message or output or None
        if message and output != message:
            call["resultDisplay"] = output
        if error is not None:
            call["error"] = error
        self._reply = None

    def _end(self, event: _Event, about: dict[str, Any]) -> None:
        self._is_open = False
        match about.get("error"):
            case None:
                self._reply = None
            case {"message": str(message)}:
                self._add(event, {"type": "error", "content": message})
            case error:
                self._add(event, {"type": "error", "content": [error]})
        self._count(about.get("stats"))
        self._replies = 0

    def _count(self, stats: object) -> None:
        """Take in what a run used."""
        if not isinstance(stats, dict):
            return
        if usage := _stream_usage(stats, self._replies):
            self._usages.append(usage)
        if isinstance(models := stats.get("models"), dict):
            self._models |= dict.fromkeys(models)

    def session(self, log: CopyLog, path: Path) -> Session:
        """The session that the events told."""
        for turn in self._turns:
            turn.value["content"] = "".join(turn.value.pop("pieces", ())) or turn.value["content"]
        messages = built(log, self._turns)
        return session_of(
            log,
            self._native_id,
            SessionKind.COPY,
            messages,
            modified(path),
            models=tuple(self._models),
            usage=Usage.sum(self._usages) if self._usages else None,
            status=Status.INTERRUPTED if self._is_open else None,
        )


def _stream_usage(stats: dict[str, Any], requests: int) -> Usage | None:
    """The tokens of a run; `input_tokens` is the whole prompt, thoughts are only in the total.

    How many requests that took is not said; there was one for each answer, at the least, and one where
    there are tokens.
    """
    names = ("input_tokens", "cached", "output_tokens", "total_tokens")
    sent, cached, output, total = (_count(stats.get(name)) for name in names)
    if sent is cached is output is total is None:
        return None
    at_least = 1 if any((sent, cached, output, total)) else 0
    return Usage(max(requests, at_least), input=sent, cached=cached, output=output, total=total)


def _count(number: object) -> int | None:
    return number if type(number) is int and number >= 0 else None


class _Answer(NamedTuple):
    value: dict[str, Any]
    start: int
    end: int
    complete: bool


def _answers(content: bytes) -> Iterator[_Answer]:
    """The answers among the lines of a file; one that is cut ends where the next begins.

    No name in an answer stands where one could begin, so none is looked through twice.
    """
    starts = [found.start() for found in _ANSWER.finditer(content)]
    for start, limit in pairwise([*starts, len(content)]):
        raw = content[start:limit]
        end = object_end(raw, 0)
        value = complete_truncated(raw) if end is None else _object(raw[:end])
        if value is not None and not _ANSWER_FIELDS.isdisjoint(value):
            yield _Answer(value, start, limit if end is None else start + end, end is not None)


def _object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = decode(raw).value
    except UndecodableError:
        return None
    return value if isinstance(value, dict) else None


def read_answer(path: Path, content: bytes) -> Reading:
    """The answers of headless runs, with what they used, session by session."""
    log = CopyLog(str(path), ANSWER, len(content))
    runs: dict[str, _Answers] = {}
    lines, done = Lines(content), 0
    for answer in _answers(content):
        place = Source(log.path, lines.at(answer.start), answer.start, answer.end)
        _ignore_between(log, content[done : answer.start])
        _use(log, answer, place)
        name = text_or_none(answer.value.get("session_id")) or _name_of(path)
        runs.setdefault(name, _Answers(name)).take(answer.value, place)
        done = answer.end
    if runs:
        _ignore_between(log, content[done:])
    else:
        log.report(ProblemKind.BAD_JSON, "no answer in it", 1, 0, len(content))
    return reading_of(log, [run.session(log, path) for run in runs.values()])


def _ignore_between(log: CopyLog, lines: bytes) -> None:
    if lines.strip():
        log.ignore(OTHER_LINES, len(lines))


def _use(log: CopyLog, answer: _Answer, place: Source) -> None:
    log.count_use("answer", answer.end - answer.start)
    log.note_fields("answer", _ANSWER_FIELDS, answer.value)
    if not answer.complete:
        log.remark(ProblemKind.BAD_JSON, "cut off", place.line, answer.start, answer.end)


class _Answers:
    """A session in the making, answer by answer."""

    def __init__(self, native_id: str) -> None:
        self._native_id = native_id
        self._turns: list[Turn] = []
        self._models: dict[str, None] = {}
        self._usages: list[Usage] = []
        self._runs = 0
        self._is_open = True

    def take(self, value: dict[str, Any], place: Source) -> None:
        """Take in what a run printed."""
        self._runs += 1
        suffix = f"-run-{self._runs}" if self._runs > 1 else ""
        stats = value.get("stats")
        models = stats.get("models") if isinstance(stats, dict) else None
        told = _told(value, _main_model(models))
        self._turns += [Turn(name + suffix, turn, place) for name, turn in told]
        if isinstance(models, dict):
            self._models |= dict.fromkeys(models)
            self._usages += [usage for about in models.values() if (usage := _model_usage(about))]
        self._is_open = not (value.get("response") or value.get("error"))

    def session(self, log: CopyLog, path: Path) -> Session:
        """The session that the answers tell."""
        return session_of(
            log,
            self._native_id,
            SessionKind.COPY,
            built(log, self._turns),
            modified(path),
            models=tuple(self._models),
            usage=Usage.sum(self._usages),
            status=Status.INTERRUPTED if self._is_open else None,
        )


def _told(value: dict[str, Any], model: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """What an answer says, in the form of session files."""
    warnings = value.get("warnings")
    for index, warning in enumerate(warnings if isinstance(warnings, list) else ()):
        yield f"warning-{index}", {"type": "warning", "content": [warning]}
    response = value.get("response")
    if response or "error" not in value:
        told = {"type": "gemini", "content": response}
        yield "response", told | ({"model": model} if model else {})
    match value.get("error"):
        case None:
            return
        case {"message": str(message), **others}:
            about = ", ".join(str(others[name]) for name in ("type", "code") if others.get(name) is not None)
            yield "error", {"type": "error", "content": f"{message} ({about})" if about else message}
        case error:
            yield "error", {"type": "error", "content": [error]}


def _main_model(models: object) -> str | None:
    """The model that answered: the only one, or the only one that did the main work (since 0.33)."""
    if not isinstance(models, dict):
        return None
    main = [name for name, about in models.items() if _has_main_role(about)]
    return main[0] if len(main) == 1 else next(iter(models)) if len(models) == 1 else None


def _has_main_role(about: object) -> bool:
    match about:
        case {"roles": {"main": _}}:
            return True
        case _:
            return False


def _model_usage(about: object) -> Usage | None:
    """The tokens of all requests to a model; `prompt` is the whole prompt, `input` what no cache held."""
    match about:
        case {"tokens": dict(tokens), **others}:
            sent, cached, output, thoughts, tool, total = (_count(tokens.get(n)) for n in _TOKEN_NAMES)
        case _:
            return None
    api = others.get("api")
    requests = _count(api.get("totalRequests")) if isinstance(api, dict) else None
    parts = [count for count in (sent, output, thoughts, tool) if count is not None]
    counted = sum(parts) if parts else total
    differs = total if total != counted else None
    at_least = 1 if counted else 0
    return Usage(max(requests or 0, at_least), sent, cached, None, output, thoughts, tool, counted, differs)
