"""Comparing what was read with what really happened, as the recording rig wrote it down.

The truth comes from the typing and from the server's own log, never from a session file. What the
agent itself never wrote down cannot be read; such losses are listed by name with their reasons.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from geminids.core.model import Message, Origin, Session, SessionKind, State, ToolCall, ToolStatus, Usage

COMPATIBLE = {
    "ok": {ToolStatus.SUCCESS},
    # A call that the human declined is reported to the model as an error.
    "error": {ToolStatus.ERROR, ToolStatus.CANCELLED},
    # Not reported to the model: the file may know more, or the agent died before it wrote anything.
    "not reported": set(ToolStatus),
}


def differences(sessions: Iterable[Session], truth: dict[str, Any]) -> dict[str, str]:
    """What differs from the truth: prompts, calls, tokens; empty if nothing does.

    Only what the agent recorded as sessions counts: what else remains of one is compared elsewhere.
    """
    recorded = (SessionKind.MAIN, SessionKind.SUBAGENT)
    messages = list(once(session for session in sessions if session.kind in recorded))
    found = {
        "prompts": _prompts(messages, truth),
        "calls": _calls(messages, truth),
        "tokens": _tokens(messages, truth),
    }
    return {what: difference for what, difference in found.items() if difference}


def once(sessions: Iterable[Session]) -> Iterator[Message]:
    """Every message of the sessions, each once, however many copies of a home were read.

    A fork holds the history of another session once more, and may give it other ids and times: what came from
    the same request, and what was typed before it, counts in the session that is read first. What one copy of
    a session lacks, and is known from the prompt log, another may hold.
    """
    found: dict[tuple[str, str], Message] = {}
    counted_in: dict[Hashable, str] = {}
    for session in sessions:
        for message, request in _with_requests(session.messages):
            key = session.id, message.id
            if not message.imported and counted_in.setdefault(request or key, session.id) == session.id:
                found[key] = message
    recorded = {_typed(*item) for item in found.items() if item[1].state is not State.UNRECORDED}
    for key, message in found.items():
        if message.state is not State.UNRECORDED or recorded.isdisjoint(_typed_a_moment_before(key, message)):
            yield message


def _typed(key: tuple[str, str], message: Message) -> tuple[str, str, int]:
    """A prompt, its session and the second it was recorded in."""
    return key[0], _words(message.text(Origin.HUMAN)), int(message.at.timestamp()) if message.at else 0


def _typed_a_moment_before(key: tuple[str, str], line: Message) -> set[tuple[str, str, int]]:
    session, words, second = _typed(key, line)
    return {(session, words, second + later) for later in range(3)}


def _with_requests(messages: Sequence[Message]) -> list[tuple[Message, Hashable]]:
    """The messages, each with what is the same in all its copies; None where nothing says so.

    That is the request that gave it, or the one that answered what was typed.
    """
    paired: list[tuple[Message, Hashable]] = []
    answered: str | None = None
    for message in reversed(messages):
        answered = message.request_id or (None if message.origin is Origin.MODEL else answered)
        same: Hashable = message.request_id
        if same is None and message.origin in (Origin.HUMAN, Origin.COMMAND):
            same = ("answered by", answered) if answered else (message.id, message.at)
        paired.append((message, same))
    return paired[::-1]


def _words(text: str) -> str:
    return " ".join(text.split())


def _prompts(messages: list[Message], truth: dict[str, Any]) -> str:
    typed = Counter(_words(prompt) for run in truth["per_run"] for prompt in run["human_prompts"])
    typed.update(map(_words, truth["slash_sent_to_model"]))
    read = Counter(_words(m.text(Origin.HUMAN)) for m in messages if m.origin is Origin.HUMAN)
    commands = Counter(_words(m.text(Origin.HUMAN)) for m in messages if m.origin is Origin.COMMAND)
    # Whether a command of the human's own making is a prompt is for each agent to say.
    return _difference(typed, read + (commands & (typed - read)))


def _difference(wanted: Counter[str], found: Counter[str]) -> str:
    missing, extra = wanted - found, found - wanted
    return f"missing {dict(missing)}, extra {dict(extra)}" if missing or extra else ""


def _calls(messages: list[Message], truth: dict[str, Any]) -> str:
    # The model did not ask for what a slash command runs.
    asked = (message for message in messages if message.origin is not Origin.COMMAND)
    unmatched = [call for message in asked for call in message.tool_calls]
    made = [call for run in truth["per_run"] for call in run["tool_calls"] if call["delivered"]]
    missing: Counter[str] = Counter()
    for call in sorted(made, key=lambda call: call["outcome"] == "not reported"):
        match = next((c for c in unmatched if _is_same(c, call)), None)
        if match is not None:
            unmatched.remove(match)
        elif call["outcome"] != "not reported":
            missing[f"{call['name']} {call['outcome']}"] += 1
    extra = Counter(f"{call.name} {call.status}" for call in unmatched)
    return f"missing {dict(missing)}, extra {dict(extra)}" if missing or extra else ""


def _is_same(read: ToolCall, made: dict[str, Any]) -> bool:
    return read.name == made["name"] and read.status in COMPATIBLE[made["outcome"]]


def _tokens(messages: list[Message], truth: dict[str, Any]) -> str:
    billed = Counter[str]()
    for kind in ("main", "subagent", "compaction"):
        billed.update(truth["tokens"].get(kind, {}))
    read = Usage.sum(message.usage for message in messages if message.usage)
    if read.thoughts is None and read.output == billed["candidates"] + billed["thoughts"]:
        # Some agents do not tell thoughts from the rest of an answer.
        billed["candidates"] += billed.pop("thoughts", 0)
    pairs = {
        "prompt": read.input,
        "candidates": read.output,
        "cached": read.cached,
        "cache_write": read.cache_write,
        "thoughts": read.thoughts,
        "tool": read.tool,
        "total": read.total,
    }
    if "cache_write" not in billed:
        del pairs["cache_write"]
    wrong = {name: (number, billed[name]) for name, number in pairs.items() if (number or 0) != billed[name]}
    return f"read and billed: {wrong}" if wrong else ""


class Losses:
    """What the agent itself lost, by scenario and release."""

    def __init__(self, path: Path) -> None:
        self._entries = tomllib.loads(path.read_text("utf-8"))["loss"]

    def excused(self, scenario: str, version: str, agent: str = "gemini") -> dict[str, str]:
        """What may differ in a scenario, and why."""
        entries = self._of(scenario, version, agent)
        return {what: entry["reason"] for entry in entries for what in entry["what"]}

    def expected(self, scenario: str, version: str, agent: str = "gemini") -> set[str]:
        """What must differ: where the list says so of each scenario, not of some among many."""
        certain = (entry for entry in self._of(scenario, version, agent) if not entry.get("partly"))
        return {what for entry in certain for what in entry["what"]}

    def _of(self, scenario: str, version: str, agent: str) -> Iterator[dict[str, Any]]:
        for entry in self._entries:
            is_of_agent = entry.get("agent", "gemini") == agent and version in entry["versions"]
            if is_of_agent and ("*" in entry["scenarios"] or scenario in entry["scenarios"]):
                yield entry
