"""Runs with `--output-format stream-json`, event by event.

An answer comes in pieces, which are put together up to the next result of a tool: that is where the
next request begins. Thoughts are not printed; a call that was cancelled shows as an error, and for a
call's result stands what was shown of it. Tokens are those of the whole run, with requests beside the
talk.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.printed_runs import PrintedRuns
from geminids.agents.gemini.read.content import text_or_none
from geminids.agents.gemini.read.turns import Turn
from geminids.core.model import Location, Session, Usage
from geminids.reading.counts import count_or_none

EVENT_TYPES = ("init", "message", "tool_use", "tool_result", "error", "result")
_AUTO = "auto"
"""How the names of models begin that are none: the CLI chooses."""


class Event(NamedTuple):
    """An event as it was printed, and where it stands."""

    value: dict[str, Any]
    place: Location


class StreamedRuns(PrintedRuns):
    """A session in the making, event by event."""

    def __init__(self, native_id: str) -> None:
        super().__init__(native_id)
        self._reply: Turn | None = None
        """The answer that goes on, until a tool's result comes."""
        self._replies = 0
        """How many answers there are in this run."""
        self._calls: dict[str, dict[str, Any]] = {}
        self._model: str | None = None

    def take(self, event: Event) -> None:
        """Take an event in."""
        match event.value:
            case {"type": "init", **about}:
                self._begin_run(text_or_none(about.get("model")))
            case {"type": "message", "role": "assistant", "content": str(text), **about}:
                self._say(event, text, is_piece=about.get("delta") is True)
            case {"type": "message", "role": "user", "content": content}:
                self._add(event, {"type": "user", "content": content})
            case {"type": "tool_use", "tool_id": tool_id, "tool_name": name, **about}:
                self._call(event, tool_id, name, about.get("parameters"))
            case {"type": "tool_result", "tool_id": tool_id, **about}:
                self._end_call(event, str(tool_id), about)
            case {"type": "error", "message": message, **about}:
                level = "warning" if about.get("severity") == "warning" else "error"
                self._add(event, {"type": level, "content": message})
            case {"type": "result", **about}:
                self._end_run(event, about)
            case value:
                self._add(event, {"type": None, "content": [value]})

    def session(self, log: CopyLog, path: Path) -> Session:
        """The session that the events told."""
        for turn in self._turns:
            turn.value["content"] = "".join(turn.value.pop("pieces", ())) or turn.value["content"]
        return super().session(log, path)

    def _begin_run(self, model: str | None) -> None:
        self._model = model if model and not model.startswith(_AUTO) else None
        self._reply, self._replies, self._is_open = None, 0, True

    def _add(self, event: Event, value: dict[str, Any]) -> Turn:
        """A message of its own."""
        self._reply = None
        turn = Turn(f"event-{event.place.line}", value, event.place)
        if (at := event.value.get("timestamp")) is not None:
            turn.value["timestamp"] = at
        self._turns.append(turn)
        return turn

    def _open_reply(self, event: Event) -> Turn:
        """The answer that an event goes on with."""
        reply = self._reply or self._begin_reply(event)
        first = reply.places[0]
        reply.places[0] = Location(first.file, first.line, first.start, event.place.end)
        return reply

    def _begin_reply(self, event: Event) -> Turn:
        value: dict[str, Any] = {"type": "gemini", "content": "", "toolCalls": []}
        if self._model:
            value["model"] = self._model
        self._reply = reply = self._add(event, value)
        self._replies += 1
        return reply

    def _say(self, event: Event, text: str, *, is_piece: bool) -> None:
        self._open_reply(event).value.setdefault("pieces", []).append(text)
        if not is_piece:
            self._reply = None

    def _call(self, event: Event, tool_id: object, name: object, arguments: object) -> dict[str, Any]:
        call = {"id": tool_id, "name": name, "args": arguments, "status": "pending"}
        self._open_reply(event).value["toolCalls"].append(call)
        self._calls[str(tool_id)] = call
        return call

    def _end_call(self, event: Event, tool_id: str, about: dict[str, Any]) -> None:
        call = self._calls.get(tool_id) or self._call(event, tool_id, None, None)
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

    def _end_run(self, event: Event, about: dict[str, Any]) -> None:
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
        if isinstance(stats, dict):
            usage = _usage(stats, self._replies)
            self._usages += [usage] if usage else []
            self._note_models(stats.get("models"))


def _usage(stats: dict[str, Any], replies: int) -> Usage | None:
    """The tokens of a run; `input_tokens` is the whole prompt, thoughts are only in the total.

    How many requests that took is not said; there was one for each answer, at the least, and one where
    there are tokens.
    """
    names = ("input_tokens", "cached", "output_tokens", "total_tokens")
    sent, cached, output, total = (count_or_none(stats.get(name)) for name in names)
    if sent is cached is output is total is None:
        return None
    at_least = 1 if any((sent, cached, output, total)) else 0
    return Usage(max(replies, at_least), input=sent, cached=cached, output=output, total=total)
