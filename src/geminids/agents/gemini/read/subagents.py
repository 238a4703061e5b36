"""Subagents: which turns are theirs, and which call started them.

Until 0.36 a subagent was recorded under its parent's id: in a file beside it, or right inside the
parent's file if it ran in the same minute, with nothing to mark its turns. They are known by their
first prompt, which holds an argument of the call that started them and was written while that call
ran. Since 0.37 they have files of their own, since 0.39 the call names them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec

from geminids.agents.gemini.read.content import plain_text
from geminids.agents.gemini.read.records import ID_UP_TO_030, calls_of
from geminids.agents.gemini.read.tools import TOOL_KINDS, kind_of_tool, results
from geminids.agents.gemini.read.turns import Turn
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Status, Text, ToolKind
from geminids.core.timestamps import parse_time

_NO_AGENTS = frozenset(name for name, kind in TOOL_KINDS.items() if kind is not ToolKind.AGENT)
"""Tools that start none, so that most calls need no closer look."""
LAST_TOOL = "complete_task"
"""With what a subagent ends when it is done."""
_END = lazy_pattern(
    r"(?:Subagent .{1,200}?|Browser agent) "
    r"(?:failed\. Error: |finished\.\nTermination Reason: (?P<reason>\w+))"
)
"""How the answer begins that a call for a subagent gets."""
_ENDS = {"GOAL": Status.SUCCESS, "ABORTED": Status.CANCELLED}
"""What the reasons for an end mean; any other is a failure: out of time or turns, or no answer was given."""
_AT_ONCE = timedelta(seconds=2)
_SLACK = timedelta(milliseconds=50)
_TELLING_LENGTH = 4
_LONGEST_RUN = 1000
"""How many turns of a subagent are looked through for its prompt."""
_CALL_TIME = lazy_pattern(r"[-_](\d{13})(?:[-_]|$)")
"""The CLI makes the ids of calls from the milliseconds at which it got them."""


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

    def started(self, prompt: Turn, before: Turn | None = None) -> bool:
        """Whether this is the prompt that the call gave its subagent.

        It holds an argument of the call, and was written while the call ran; where the call's id does
        not say when that began, before it ended and, in the parent's own file, right after the turn
        before it: faster than a human types.
        """
        at = parse_time(prompt.value.get("timestamp"))
        text = plain_text(prompt.value.get("content"))
        if at is None or not any(argument in text for argument in _texts(self.call.get("args"))):
            return False
        ended = parse_time(self.call.get("timestamp"))
        if self.asked_at is not None:
            return self.asked_at - _SLACK <= at and (ended is None or at <= ended + _SLACK)
        if before is None:
            return ended is None or at <= ended + _SLACK
        earlier = parse_time(before.value.get("timestamp"))
        return earlier is not None and at - earlier < _AT_ONCE

    @property
    def asked_at(self) -> datetime | None:
        """When the model asked for it, where its id tells."""
        written = _CALL_TIME.search(self.call_id)
        return parse_time(int(written[1])) if written else None

    def name_child(self, child_id: str) -> None:
        """Tie the subagent's session to the call, as releases since 0.39 do by themselves."""
        named = {**self.call, "agentId": child_id}
        calls = [named if call is self.call else call for call in self.turn.value["toolCalls"]]
        self.turn.value = {**self.turn.value, "toolCalls": calls}
        self.call = named


class InnerRun(msgspec.Struct):
    """The turns of a subagent that stand in its parent's file."""

    first: int
    last: int
    calls: list[AgentCall]
    """The calls that started it. The turns of parallel ones cannot be told apart."""


def agent_calls(turns: Sequence[Turn]) -> Iterator[AgentCall]:
    """The calls that started subagents and do not name them."""
    for index, turn in enumerate(turns):
        for call in calls_of(turn.value):
            if not call.get("agentId") and _starts_agent(call):
                yield AgentCall(index, turn, call)


def stated_end(call: dict[str, Any]) -> Status | None:
    """How a subagent ended, as the call that started it was told; None if it was told nothing."""
    if call.get("status") == "cancelled":
        return Status.CANCELLED
    shown = call.get("resultDisplay")
    shown = shown if isinstance(shown, dict) else {}
    answer = "".join(part.text for part in results(call) if isinstance(part, Text))
    stated = _END.match(answer)
    reason = shown.get("terminateReason") or (stated and stated["reason"])
    if isinstance(reason, str):
        return _ENDS.get(reason, Status.FAILURE)
    is_failure = shown.get("state") == "error" or stated is not None or call.get("status") == "error"
    return Status.FAILURE if is_failure else None


def _starts_agent(call: dict[str, Any]) -> bool:
    name = str(call.get("name"))
    return name not in _NO_AGENTS and kind_of_tool(name, results(call)) is ToolKind.AGENT


def _texts(arguments: object) -> Iterator[str]:
    for value in arguments.values() if isinstance(arguments, dict) else ():
        if isinstance(value, str) and len(value) >= _TELLING_LENGTH:
            yield value


def inner_runs(turns: Sequence[Turn]) -> Iterator[InnerRun]:
    """The runs of turns that belong to subagents, in order; they do not overlap."""
    run: InnerRun | None = None
    taken: set[int] = set()
    done = 0
    for call in agent_calls(turns):
        if run is not None and run.last != call.index:
            yield from _if_undisturbed(run, turns, taken)
            done, run = run.last, None
        first = _prompt_of(call, turns, taken, done)
        if first is None:
            continue
        taken.add(first)
        if run is None:
            run = InnerRun(first, call.index, [call])
        else:
            run.first = min(run.first, first)
            run.calls.append(call)
    if run is not None:
        yield from _if_undisturbed(run, turns, taken)


def _if_undisturbed(run: InnerRun, turns: Sequence[Turn], taken: set[int]) -> Iterator[InnerRun]:
    """The run, unless somebody else speaks in it: then its prompt was not a subagent's."""
    inside = range(run.first, run.last)
    if all(index in taken for index in inside if turns[index].value.get("type") == "user"):
        yield run


def _prompt_of(call: AgentCall, turns: Sequence[Turn], taken: set[int], done: int) -> int | None:
    """The position of the prompt that a call gave its subagent, if it stands in the same file."""
    for index in range(call.index - 1, max(done, call.index - _LONGEST_RUN), -1):
        turn = turns[index]
        if turn.value.get("type") == "user":
            if index not in taken and call.started(turn, turns[index - 1]):
                return index
            at = parse_time(turn.value.get("timestamp"))
            if at is not None and call.asked_at is not None and at < call.asked_at - _SLACK:
                return None
    return None


def split_last(turn: Turn, before: Turn | None) -> Turn | None:
    """The subagent's reply in the turn that holds its parent's call, taken out of it; None if there is none.

    The CLI adds a call to the last message there is; if that one has tokens, it is the subagent's reply,
    unless it was made for the call. `before` is the turn before the subagent's.
    """
    if not turn.value.get("tokens") or _was_made_for_calls(turn, before):
        return None
    reply = Turn(turn.id, {k: v for k, v in turn.value.items() if k != "toolCalls"}, turn.places[0])
    fields = ("id", "timestamp", "type", "toolCalls")
    turn.value = {name: turn.value[name] for name in fields if name in turn.value}
    return reply


def _was_made_for_calls(turn: Turn, before: Turn | None) -> bool:
    """Whether a turn is the parent's own: it has no words, which a subagent's reply has up to 0.30.

    Later the parent's reply may stand before the subagent, without its calls; then this is the subagent's.
    """
    if turn.value.get("content"):
        return False
    if any(ID_UP_TO_030.search(str(call.get("id"))) for call in calls_of(turn.value)):
        return True
    return not (before and before.value.get("type") == "gemini" and not before.value.get("toolCalls"))
