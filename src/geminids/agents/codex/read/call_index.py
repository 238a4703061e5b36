"""The calls of a thread by their ids, so that what comes back and what the program says finds its call."""

from __future__ import annotations

from typing import Any, NamedTuple

from geminids.agents.codex.read.calls import SCRIPT, SPAWN, Call, decoded, note_event
from geminids.agents.codex.read.content import texts_of
from geminids.agents.codex.read.drafts import Draft
from geminids.core.model import Location
from geminids.core.model.summary import one_line

_NAMING = ("target", "id", "targets", "ids")
"""What arguments are called that name agents by their ids."""
_WITHOUT_WORDS = frozenset({"wait", "wait_agent", "close_agent", "resume_agent"})
"""Calls that say nothing to the agents that they name."""


class _Made(NamedTuple):
    """A call, and the message in which the model made it."""

    call: Call
    step: Draft


class Calls:
    """What was called so far."""

    def __init__(self) -> None:
        self._made: dict[str, _Made] = {}
        self._scripts: dict[str, Call] = {}
        """Scripts that run, the newest last."""
        self._agents: dict[str, str] = {}
        """What the agents were told to do that were started here."""

    def add(self, call: Call, step: Draft) -> None:
        """Note a call of the model."""
        call.about = ", ".join(self._agents_meant(call)) or None
        if call.call_id is None:
            return
        self._made[call.call_id] = _Made(call, step)
        step.keys += (call.call_id,)
        if call.name == SCRIPT:
            self._scripts[call.call_id] = call

    def output_of(self, call_id: object) -> object:
        """What came back for a call so far; None if nothing did."""
        made = self._made.get(call_id) if type(call_id) is str else None
        return made.call.output if made else None

    def answer(self, call_id: object, output: object) -> Draft | None:
        """Put what came back with its call; the message of that, or None if nobody called."""
        made = self._made.get(call_id) if type(call_id) is str else None
        if made is None:
            return None
        made.call.answer(output)
        made.step.is_answered = True
        self._scripts.pop(str(call_id), None)
        if made.call.name == SPAWN:
            self._note_agent(made.call, output)
        return made.step

    def note(self, said: dict[str, Any], call_id: object, place: Location) -> None:
        """Put what the program says beside with its call."""
        made = self._made.get(call_id) if type(call_id) is str else None
        if made is not None:
            note_event(made.call, said)
            if made.call.is_answered:
                # A command in the background ends behind the other records of its message.
                made.step.also_at.append(place)
        elif "changes" in said and self._scripts:
            # What a script runs has an id of its own; the changes are the script's.
            running = next(reversed(self._scripts.values()))
            note_event(running, {"changes": said["changes"]})

    def _note_agent(self, call: Call, output: object) -> None:
        match decoded("".join(texts_of(output))):
            case {"agent_id": str(agent), **said}:
                names = (call.arguments.get("message"), said.get("nickname"))
                name = next((name for name in names if isinstance(name, str) and name.strip()), None)
                if name is not None:
                    self._agents[agent] = one_line(name)

    def _agents_meant(self, call: Call) -> list[str]:
        """What those agents do that a call names, as far as that is known."""
        if call.name not in _WITHOUT_WORDS:
            return []
        named = next((call.arguments[field] for field in _NAMING if field in call.arguments), None)
        agents = named if type(named) is list else [named]
        return [self._agents[agent] for agent in agents if type(agent) is str and agent in self._agents]
