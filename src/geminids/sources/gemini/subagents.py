"""Subagents: which turns are theirs, and which call started them.

Until 0.36 a subagent was recorded under its parent's id: in a file beside it, or right inside the
parent's file if it ran in the same minute, with nothing to mark its turns. They are known by their
first prompt, which holds an argument of the call that started them and follows faster than a human
types. Since 0.37 they have files of their own, since 0.39 the call names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import msgspec

from geminids.model import ToolKind
from geminids.sources.gemini.content import plain_text
from geminids.sources.gemini.records import calls_of
from geminids.sources.gemini.replay import Turn
from geminids.sources.gemini.tools import TOOL_KINDS, results
from geminids.sources.timestamps import parse_time

_AT_ONCE = timedelta(seconds=2)
_TELLING_LENGTH = 4


class InnerRun(msgspec.Struct):
    """The turns of a subagent that stand in its parent's file."""

    first: int
    last: int
    calls: list[str]
    """The ids of the calls that started it. Parallel ones cannot be told apart."""


class AgentCall(msgspec.Struct):
    """A call that starts a subagent, and the turn it is recorded in."""

    index: int
    turn: Turn
    call: dict[str, Any]

    @property
    def call_id(self) -> str:
        """Its id, or a stand-in."""
        call_id = self.call.get("id")
        return call_id if isinstance(call_id, str) else f"call-{self.index}"

    def asks_for(self, prompt: str) -> bool:
        """Whether a prompt holds one of the call's arguments."""
        return any(argument in prompt for argument in _texts(self.call.get("args")))

    def name_child(self, child_id: str) -> None:
        """Tie the subagent's session to the call, as releases since 0.39 do by themselves."""
        named = {**self.call, "agentId": child_id}
        calls = [named if call is self.call else call for call in self.turn.value["toolCalls"]]
        self.turn.value = {**self.turn.value, "toolCalls": calls}


def agent_calls(turns: Sequence[Turn]) -> Iterator[AgentCall]:
    """The calls that started subagents and do not name them."""
    for index, turn in enumerate(turns):
        for call in calls_of(turn.value):
            if not call.get("agentId") and _starts_agent(call):
                yield AgentCall(index, turn, call)


def _starts_agent(call: dict[str, Any]) -> bool:
    kind = TOOL_KINDS.get(str(call.get("name")))
    if kind is not None:
        return kind is ToolKind.AGENT
    return any(getattr(part, "text", "").startswith("Subagent '") for part in results(call))


def _texts(arguments: object) -> Iterator[str]:
    for value in arguments.values() if isinstance(arguments, dict) else ():
        if isinstance(value, str) and len(value) >= _TELLING_LENGTH:
            yield value


def inner_runs(turns: Sequence[Turn]) -> Iterator[InnerRun]:
    """The runs of turns that belong to subagents, in order."""
    run: InnerRun | None = None
    taken: set[int] = set()
    for started in agent_calls(turns):
        first = _prompt_of(started, turns, taken)
        if first is None:
            continue
        taken.add(first)
        if run is not None and run.last == started.index:
            run.first = min(run.first, first)
            run.calls.append(started.call_id)
            continue
        if run is not None:
            yield run
        run = InnerRun(first, started.index, [started.call_id])
    if run is not None:
        yield run


def _prompt_of(started: AgentCall, turns: Sequence[Turn], taken: set[int]) -> int | None:
    """The position of the prompt that a call gave its subagent, if it stands in the same file."""
    for index in range(started.index - 1, 0, -1):
        turn = turns[index]
        if turn.value.get("type") != "user" or index in taken:
            continue
        if started.asks_for(plain_text(turn.value.get("content"))) and _came_at_once(turns[index - 1], turn):
            return index
    return None


def _came_at_once(before: Turn, turn: Turn) -> bool:
    earlier, later = parse_time(before.value.get("timestamp")), parse_time(turn.value.get("timestamp"))
    return earlier is not None and later is not None and later - earlier < _AT_ONCE


def split_last(turn: Turn) -> tuple[Turn | None, Turn]:
    """The turn that holds the parent's call, as the subagent's part and the parent's.

    The CLI adds a call to the last message there is; if that one has tokens, it is the subagent's reply.
    """
    if not turn.value.get("tokens"):
        return None, turn
    reply = Turn(turn.id, {k: v for k, v in turn.value.items() if k != "toolCalls"}, turn.places[0])
    kept = ("id", "timestamp", "type", "toolCalls")
    turn.value = {name: turn.value[name] for name in kept if name in turn.value}
    return reply, turn
