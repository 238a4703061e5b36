"""What headless runs print, kept in a file.

    gemini -p … --output-format json          {"session_id", "response", "stats", "error", "warnings"}
    gemini -p … --output-format stream-json   a line for each event: init, message, tool_use, tool_result,
                                              error, result

A terminal may have put other lines before and after, and `>>` the output of several runs into one file:
runs of one session are told as one, with what all of them used. What is ours in a file is found here;
`printed_events.py` and `printed_answers.py` make sessions of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeGuard

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.copy_sessions import reading_of
from geminids.agents.gemini.companions.printed_answers import AnsweredRuns
from geminids.agents.gemini.companions.printed_events import EVENT_TYPES, Event, StreamedRuns
from geminids.agents.gemini.read.content import text_or_none
from geminids.core.agents.base import Reading
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, ProblemKind
from geminids.reading.jsonl import Salvaged, UndecodableError, complete_truncated, decoded_object, object_end
from geminids.reading.lines import LineNumbers

STREAM = "gemini-stream-json"
ANSWER = "gemini-json-output"
OTHER_LINES = "other lines of a terminal"
_EVENT = lazy_pattern(rf'^\{{"type":"(?:{"|".join(EVENT_TYPES)})","timestamp":"'.encode(), re.MULTILINE)
_LINE = lazy_pattern(rb"[^\r\n]+")
_NEXT_RUN = b'}{"type":"init",'
_ANSWER_FIELDS = frozenset({"session_id", "response", "stats", "error", "warnings"})
# No new line ends an answer, so what the next run prints may follow the brace.
_ANSWER = lazy_pattern(rb'(?:^|(?<=\}))\{\s*"(?:session_id|response|stats|error)"\s*:', re.MULTILINE)


def is_stream(content: bytes) -> bool:
    """Whether a file holds the events of a headless run."""
    return _EVENT.search(content) is not None


def read_stream(path: Path, content: bytes) -> Reading:
    """The sessions that the events of headless runs tell."""
    log = CopyLog(str(path), STREAM, len(content))
    by_session: dict[str, StreamedRuns] = {}
    runs: StreamedRuns | None = None
    for event in _events(log, content):
        if runs is None or event.value["type"] == "init":
            name = _session_name(event.value, path)
            runs = by_session.setdefault(name, StreamedRuns(name))
        runs.take(event)
    return reading_of(log, [runs.session(log, path) for runs in by_session.values()])


def _session_name(value: dict[str, Any], path: Path) -> str:
    """The id of the session; what does not say it is called as its file."""
    return text_or_none(value.get("session_id")) or path.name.rpartition(".")[0] or path.name


def _events(log: CopyLog, content: bytes) -> Iterator[Event]:
    """The events in the lines of a file; what is none was printed by somebody else."""
    lines = LineNumbers(content)
    for start, end in _lines(content):
        place = Location(log.path, lines.at(start), start, end)
        is_object = content.startswith(b"{", start)
        try:
            value = log.decode(content[start:end], place)[0] if is_object else None
        except UndecodableError as error:
            value = complete_truncated(content[start:end])
            if not _is_event(value):
                log.report(ProblemKind.BAD_JSON, str(error), place.line, start, end)
                continue
            log.remark(ProblemKind.BAD_JSON, f"cut off: {error}", place.line, start, end)
        if _is_event(value):
            log.count_use(value["type"] if value["type"] in EVENT_TYPES else "unknown event", end - start)
            yield Event(value, place)
        else:
            log.ignore(OTHER_LINES, end - start)


def _is_event(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict) and isinstance(value.get("type"), str)


def _lines(content: bytes) -> Iterator[tuple[int, int]]:
    """Where lines begin and end; the first event of a run begins one, whatever stands before it."""
    for found in _LINE.finditer(content):
        start, end = found.span()
        while (brace := content.find(_NEXT_RUN, start, end)) >= 0:
            yield start, brace + 1
            start = brace + 1
        yield start, end


def is_answer(content: bytes) -> bool:
    """Whether a file holds the answer of a headless run."""
    return any("stats" in found.value or "session_id" in found.value for found in _answers(content))


def read_answer(path: Path, content: bytes) -> Reading:
    """The answers of headless runs, with what they used, session by session."""
    log = CopyLog(str(path), ANSWER, len(content))
    by_session: dict[str, AnsweredRuns] = {}
    lines, done = LineNumbers(content), 0
    for answer in _answers(content):
        _ignore_between(log, content[done : answer.start])
        place = Location(log.path, lines.at(answer.start), answer.start, answer.end)
        _use(log, answer, place)
        name = _session_name(answer.value, path)
        by_session.setdefault(name, AnsweredRuns(name)).take(answer.value, place)
        done = answer.end
    if by_session:
        _ignore_between(log, content[done:])
    else:
        log.report(ProblemKind.BAD_JSON, "no answer in it", 1, 0, len(content))
    return reading_of(log, [runs.session(log, path) for runs in by_session.values()])


def _answers(content: bytes) -> Iterator[Salvaged]:
    """The answers among the lines of a file; one that is cut ends where the next begins.

    No name in an answer stands where one could begin, so none is looked through twice.
    """
    starts = [found.start() for found in _ANSWER.finditer(content)]
    for start, limit in pairwise([*starts, len(content)]):
        raw = content[start:limit]
        end = object_end(raw, 0)
        value = complete_truncated(raw) if end is None else decoded_object(raw[:end])
        if value is not None and not _ANSWER_FIELDS.isdisjoint(value):
            yield Salvaged(value, start, limit if end is None else start + end, end is not None)


def _use(log: CopyLog, answer: Salvaged, place: Location) -> None:
    log.count_use("answer", answer.end - answer.start)
    log.note_fields("answer", _ANSWER_FIELDS, answer.value)
    if not answer.complete:
        log.remark(ProblemKind.BAD_JSON, "cut off", place.line, answer.start, answer.end)


def _ignore_between(log: CopyLog, lines: bytes) -> None:
    if lines.strip():
        log.ignore(OTHER_LINES, len(lines))
