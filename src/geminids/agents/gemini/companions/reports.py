"""Histories that were written out for somebody else to look at.

    /chat share FILE.json, bug-report-history-<ms>.json           the bare list of turns
    gcli-request-<ms>.json                                        /chat debug: the last request to the API
    <temp>/gemini-client-error-<where>-<time>.json                {"error": …, "context": [turns]}

An error report's context is the history with the request that failed, or for requests beside the talk
an object that holds their contents.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.api_turns import built, messages_of
from geminids.agents.gemini.companions.copy_sessions import modified, reading_of, session_of
from geminids.agents.gemini.companions.histories import History, Shape, read_history, read_turns
from geminids.agents.gemini.companions.spans import Span, elements, members, whole
from geminids.agents.gemini.read.turns import Turn
from geminids.core.agents.base import Reading
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, Message, SessionKind

_INSTRUCTIONS = "what the CLI tells every model: its instructions, tools and settings"
SHARED = Shape("gemini-shared-chat", None)
BUG_REPORT = Shape("gemini-report", None)
REQUEST = Shape(
    "gemini-request",
    "contents",
    ignored=dict.fromkeys(
        (
            "systemInstruction",
            "tools",
            "toolConfig",
            "generationConfig",
            "safetySettings",
            "cachedContent",
            "config",
            "model",
        ),
        _INSTRUCTIONS,
    ),
)
ERROR_REPORT = Shape("gemini-error-report", "context", frozenset({"error"}))
_BUG_REPORT_NAME = lazy_pattern(r"bug-report-history-.+\.json")
_CONTENTS = ("requestContents", "originalRequestContents", "contents", "history")


def read_list(path: Path, content: bytes) -> Reading:
    """A bare list of turns."""
    shape = BUG_REPORT if _BUG_REPORT_NAME.fullmatch(path.name) else SHARED
    return _reading(path, read_history(shape, str(path), content))


def read_request(path: Path, content: bytes) -> Reading:
    """One request as it was sent."""
    return _reading(path, read_history(REQUEST, str(path), content))


def read_error_report(path: Path, content: bytes) -> Reading:
    """What was sent when an error happened, and the error."""
    log, turns, others = read_history(ERROR_REPORT, str(path), content)
    if not turns and (found := _nested_contents(content)):
        name, spans, rest = found
        log = CopyLog(str(path), ERROR_REPORT.format, len(content))
        log.count_use("error", rest)
        turns = list(read_turns(log, content, spans, name, "/context"))
    if len(turns) > 1 and turns[-1].value == turns[-2].value:
        # The request that failed stands behind a history that may already hold it.
        turns.pop()
    error = _notice(log, others.get("error"))
    return _reading(path, History(log, turns, others), error)


def _nested_contents(content: bytes) -> tuple[str, list[Span], int] | None:
    """The contents of a request that failed beside the talk, and the bytes of what was said of the error."""
    spans = members(content, whole(content)) or {}
    context = members(content, spans["context"]) if "context" in spans else None
    for name in _CONTENTS:
        if context and name in context and (found := elements(content, context[name])):
            return name, found, spans["error"].size if "error" in spans else 0
    return None


def _notice(log: CopyLog, error: object) -> tuple[Message, ...]:
    """The error as the human would have been told it."""
    match error:
        case {"message": str(message), **others}:
            # Where in the CLI's own code it happened says nothing of the talk.
            unknown = {name: value for name, value in others.items() if name != "stack"}
            value: dict[str, Any] = {"type": "error", "content": message}
            if unknown:
                value["error"] = unknown
        case None:
            return ()
        case _:
            value = {"type": "error", "content": [error]}
    return built(log, [Turn("error", value, Location(log.path, 1, 0, log.size, "/error"))])


def _reading(path: Path, history: History, after: tuple[Message, ...] = ()) -> Reading:
    messages = (*messages_of(history.log, history.turns), *after)
    name = path.name.removesuffix(".json")
    session = session_of(history.log, name, SessionKind.COPY, messages, modified(path))
    return reading_of(history.log, [session])
