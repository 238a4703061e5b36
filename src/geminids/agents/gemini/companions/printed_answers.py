"""Runs with `--output-format json`, answer by answer.

An answer says nothing of the prompt, of tools and of thoughts. Tokens are those of the whole run, with
requests beside the talk.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from geminids.agents.gemini.companions.printed_runs import PrintedRuns
from geminids.agents.gemini.read.turns import Turn
from geminids.agents.gemini.read.unrecorded import COMPRESSION, NEXT_SPEAKER
from geminids.core.model import Location, Usage
from geminids.reading.counts import count_or_none

_TOKEN_NAMES = ("prompt", "cached", "candidates", "thoughts", "tool", "total")
_TALK = frozenset({"main", "subagent"})
"""The roles of requests that session files hold."""
_PURPOSES = {
    "utility_tool": "requests of tools",
    "utility_compressor": COMPRESSION,
    "utility_summarizer": "a summary of an output or a session",
    "utility_router": "choosing the model",
    "utility_loop_detector": "looking for a loop",
    "utility_next_speaker": NEXT_SPEAKER,
    "utility_edit_corrector": "correcting an edit",
}
"""What requests were for, by the role that the run counts them under (since 0.33)."""


class AnsweredRuns(PrintedRuns):
    """A session in the making, answer by answer."""

    def __init__(self, native_id: str) -> None:
        super().__init__(native_id)
        self._runs = 0

    def take(self, value: dict[str, Any], place: Location) -> None:
        """Take in what a run printed."""
        self._runs += 1
        suffix = f"-run-{self._runs}" if self._runs > 1 else ""
        stats = value.get("stats")
        models = stats.get("models") if isinstance(stats, dict) else None
        turns = _turns(value, _main_model(models))
        self._turns += [Turn(name + suffix, turn, place) for name, turn in turns]
        self._note_models(models)
        self._usages += _usages(models)
        for what, usage in _beside_talk(models):
            self._beside_talk.setdefault(what, []).append(usage)
        self._is_open = not (value.get("response") or value.get("error"))


def _turns(value: dict[str, Any], model: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """What an answer says, in the form of session files."""
    warnings = value.get("warnings")
    for index, warning in enumerate(warnings if isinstance(warnings, list) else ()):
        yield f"warning-{index}", {"type": "warning", "content": [warning]}
    response = value.get("response")
    if response or "error" not in value:
        turns = {"type": "gemini", "content": response}
        yield "response", turns | ({"model": model} if model else {})
    if (error := value.get("error")) is not None:
        yield "error", {"type": "error", "content": _error_text(error)}


def _error_text(error: object) -> str | list[object]:
    match error:
        case {"message": str(message), **others}:
            about = ", ".join(str(others[name]) for name in ("type", "code") if others.get(name) is not None)
            return f"{message} ({about})" if about else message
        case _:
            return [error]


def _main_model(models: object) -> str | None:
    """The model that answered: the only one, or the only one that did the main work (since 0.33)."""
    if not isinstance(models, dict):
        return None
    main = [name for name, about in models.items() if _has_main_role(about)]
    candidates = main if len(main) == 1 else list(models)
    return candidates[0] if len(candidates) == 1 else None


def _has_main_role(about: object) -> bool:
    match about:
        case {"roles": {"main": _}}:
            return True
        case _:
            return False


def _usages(models: object) -> list[Usage]:
    """What each model used, as far as that was printed."""
    abouts = models.values() if isinstance(models, dict) else ()
    return [usage for about in abouts if (usage := _usage(about))]


def _beside_talk(models: object) -> Iterator[tuple[str, Usage]]:
    """What the requests used that were no part of the talk, and what they were for."""
    for about in models.values() if isinstance(models, dict) else ():
        roles = about.get("roles") if isinstance(about, dict) else None
        for role, used in roles.items() if isinstance(roles, dict) else ():
            if role not in _TALK and isinstance(used, dict):
                usage = _usage({"tokens": used.get("tokens"), "api": used})
                if usage is not None and usage.requests:
                    yield _PURPOSES.get(role, str(role)), usage


def _usage(about: object) -> Usage | None:
    """The tokens of all requests to a model; `prompt` is the whole prompt, `input` what no cache held."""
    match about:
        case {"tokens": dict(tokens), **others}:
            counts = (count_or_none(tokens.get(name)) for name in _TOKEN_NAMES)
            sent, cached, output, thoughts, tool, total = counts
        case _:
            return None
    api = others.get("api")
    requests = count_or_none(api.get("totalRequests")) if isinstance(api, dict) else None
    parts = [count for count in (sent, output, thoughts, tool) if count is not None]
    counted = sum(parts) if parts else total
    differs = total if total != counted else None
    at_least = 1 if counted else 0
    return Usage(max(requests or 0, at_least), sent, cached, None, output, thoughts, tool, counted, differs)
