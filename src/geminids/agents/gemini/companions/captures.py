"""Conversations that were saved, shared, printed, reported or logged: told by content, read as sessions.

What a file is called is only asked where two kinds have the same content: a saved chat of before 0.16,
a chat shared as JSON and the history of a bug report are all the bare list of turns.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from geminids.agents.gemini.companions import activity, printed
from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.copy_sessions import reading_of, unread
from geminids.agents.gemini.companions.lost import read_lines
from geminids.agents.gemini.companions.reports import read_error_report, read_list, read_request
from geminids.agents.gemini.companions.restore_points import read_point
from geminids.agents.gemini.companions.saved_chats import is_saved_name, read_saved
from geminids.agents.gemini.companions.shared_chats import is_shared, read_shared
from geminids.agents.gemini.companions.spans import members, whole
from geminids.core.agents.base import FoundFile, Reading
from geminids.core.disk import Disk
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import ProblemKind, Project
from geminids.reading.bounded import read_whole

Reader = Callable[[Path, bytes], Reading]

_TURN_FIRST = lazy_pattern(rb'\[\s*\{\s*"(?:role"\s*:\s*"(?:user|model)"|parts"\s*:\s*\[)')
_LINE_FIRST = lazy_pattern(rb'\[\s*\{\s*"sessionId"\s*:\s*"[^"]*"\s*,\s*"messageId"\s*:')
_HISTORY = lazy_pattern(rb'"history"\s*:\s*\[\s*(?:\]|\{\s*"(?:role|parts)"|\Z)')
_FIRST_NAME = lazy_pattern(rb'\{\s*"(\w+)"\s*:\s*[\[{]')
_BEGINS_WITH = {
    b"history": frozenset({"history"}),
    b"clientHistory": frozenset({"clientHistory"}),
    b"contents": frozenset({"contents", "generationConfig"}),
    b"error": frozenset({"error"}),
}
"""The first name in a document that is cut, and what it would have held."""
_LATER_NAMES = lazy_pattern(rb'"(clientHistory|toolCall|context|contents|stats|response)"\s*:')


def read_copy(path: Path, content: bytes) -> Reading | None:
    """The conversation in a file that is no session file; None if there is none that we know."""
    reader = _reader(path, content)
    return reader(path, content) if reader else None


def found_copy(file: FoundFile, project: Project, file_format: str, disk: Disk) -> Reading:
    """A report or a log in a project's folder; `file_format` names the account of what is neither."""
    try:
        content = read_whole(file.path, disk)
    except OSError as error:
        return unread(file, file_format, error)
    reading = read_copy(file.path, content)
    if reading is None:
        log = CopyLog(str(file.path), file_format, len(content))
        log.report(ProblemKind.NOT_A_SESSION, "no conversation in it", 1, 0, len(content))
        return reading_of(log, [])
    sessions = (msgspec.structs.replace(session, project=project) for session in reading.sessions)
    return Reading(tuple(sessions), reading.accounts, reading.problems)


def _reader(path: Path, content: bytes) -> Reader | None:
    """What reads a file; None if it holds no conversation that we know."""
    if is_shared(content):
        return read_shared
    span = whole(content)
    if content.startswith(b"[", span.start):
        if _LINE_FIRST.match(content, span.start) or path.name.startswith("logs.json"):
            return read_lines
        is_history = _TURN_FIRST.match(content, span.start) is not None
        return (read_saved if is_saved_name(path.name) else read_list) if is_history else None
    if content.startswith(b"{", span.start):
        found = members(content, span)
        names = frozenset(found) if found is not None else _names_in_damaged(content, span.start)
        if reader := _reader_of_object(names, content):
            return reader
    if printed.is_stream(content):
        return printed.read_stream
    if activity.is_log(content):
        return activity.read_log
    return printed.read_answer if printed.is_answer(content) else None


def _names_in_damaged(content: bytes, start: int) -> frozenset[str]:
    """The members that a document would have if it were whole, as far as its remains tell."""
    first = _FIRST_NAME.match(content, start)
    begins = _BEGINS_WITH.get(first[1]) if first else None
    if begins is None:
        return frozenset()
    return begins | {name.decode() for name in _LATER_NAMES.findall(content)}


def _reader_of_object(names: frozenset[str], content: bytes) -> Reader | None:
    if names >= {"clientHistory"} or names >= {"history", "toolCall"}:
        return read_point
    if names >= {"error", "context"}:
        return read_error_report
    if "history" in names and _HISTORY.search(content):
        return read_saved
    if "contents" in names and not names.isdisjoint(
        {"generationConfig", "systemInstruction", "tools", "config", "model"}
    ):
        return read_request
    return None
