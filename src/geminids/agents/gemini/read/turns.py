"""Turns: messages in the making, each the best of all its versions."""

from __future__ import annotations

from typing import Any

from geminids.agents.gemini.read.content import parts_of
from geminids.agents.gemini.read.injected import CONTEXT_ID
from geminids.agents.gemini.read.records import calls_of
from geminids.agents.gemini.read.traits import Trait, traits
from geminids.agents.gemini.read.versions import Places, merged, vanished
from geminids.core.model import Location, State

_NOTICES = frozenset({"info", "warning", "error"})
VERSION = "~v"
"""What stands between the id of a turn and the number of an earlier version of it."""
_OF_VERSIONS = ("type", "timestamp", "model", "displayContent")
"""What is kept of an earlier version besides its words."""
_CURRENT = State.CURRENT
"""Under a name that Python looks up faster: every turn begins with it."""


class Turn:
    """A message in the making: the best of all its versions, and all their places."""

    __slots__ = (
        "_call_places",
        "_last",
        "_traits",
        "answered",
        "asked",
        "dropped_by",
        "id",
        "imported",
        "number",
        "places",
        "state",
        "value",
        "versions",
    )

    def __init__(self, turn_id: str, value: dict[str, Any], place: Location, number: int = 0) -> None:
        self.id = turn_id
        self.number = number
        """Where it stands among the turns of its session, by first appearance."""
        self.value = value
        self.places = [place]
        self.state = _CURRENT
        self.dropped_by: Location | None = None
        self.imported = False
        """Whether the turn was taken over from another session."""
        self.asked: dict[str, dict[str, Any]] = {}
        """Calls that stand in the content, by id: the only trace of one that never ended."""
        self.answered: dict[str, dict[str, Any]] = {}
        """Answers to calls that stand in the content, by the id of the call."""
        self.versions: list[Turn] = []
        """What was said under its id before, in other words."""
        self._traits: list[Trait] | None = None
        self._last = value
        self._call_places: Places = {}
        if type(value.get("content")) is list:
            self._remember_calls(value)

    @property
    def traits(self) -> list[Trait]:
        """What the pieces of the turn are recognised by."""
        if self._traits is None:
            asked: list[Trait] = [("call", call_id) for call_id in self.asked]
            self._traits = [*(trait for trait, _ in traits(self.value)), *asked]
        return self._traits

    @property
    def was_born_restated(self) -> bool:
        """Whether the turn first stood in a checkpoint: its place in the file is not that in the talk."""
        return (self.places[0].pointer or "").startswith("/$set/")

    @property
    def is_notice(self) -> bool:
        """Whether the turn only told the human something."""
        return str(self.value.get("type")) in _NOTICES

    @property
    def call_ids(self) -> set[str]:
        """Return the ids of the calls that are recorded with their results."""
        return {call["id"] for call in calls_of(self.value) if isinstance(call.get("id"), str)}

    @property
    def holds_only_calls(self) -> bool:
        """Return whether the turn has calls and no content."""
        return not self.value.get("content") and bool(self.call_ids)

    @property
    def is_context(self) -> bool:
        """Whether the turn is the CLI's own opening."""
        return self.id == CONTEXT_ID

    def merge(self, value: dict[str, Any], place: Location, *, restated: bool) -> None:
        """Take in another version. Where it has other words, the one before it is superseded, and kept."""
        if value is self._last:
            return
        self._last = value
        known = self.value
        self.value = merged(known, value, restated=restated, places=self._call_places)
        if gone := vanished(known, value, self.value, self._call_places):
            about = {name: known[name] for name in _OF_VERSIONS if name in known}
            self._keep_version(about | gone, place)
        self._traits = None
        if type(value.get("content")) is list:
            self._remember_calls(value)

    def is_another(self, value: dict[str, Any]) -> bool:
        """Whether a record under the same id is no version of this turn: the CLI never changes a prompt."""
        if value.get("type") != self.value.get("type"):
            return True
        said, says = self.value.get("content"), value.get("content")
        return value.get("type") == "user" and bool(said and says) and said != says

    def rename(self, turn_id: str) -> None:
        """Give the turn another id, and its versions with it."""
        self.id = turn_id
        for number, version in enumerate(self.versions, 1):
            version.id = f"{turn_id}{VERSION}{number}"

    def _keep_version(self, value: dict[str, Any], place: Location) -> None:
        """Keep what was said before, beside what took its place: it is counted there."""
        version = Turn(f"{self.id}{VERSION}{len(self.versions) + 1}", value, self.places[0], self.number)
        version.imported = True
        version.drop(State.SUPERSEDED, place)
        self.versions.append(version)

    def _remember_calls(self, value: dict[str, Any]) -> None:
        for index, piece in enumerate(parts_of(value.get("content"))):
            match piece:
                case {"functionCall": dict(call)}:
                    self.asked.setdefault(_call_id(call, index), call)
                case {"functionResponse": dict(response)}:
                    self.answered.setdefault(_call_id(response, index), response)

    def drop(self, state: State, place: Location) -> None:
        """Take the turn out of the agent's view."""
        self.state = state
        self.dropped_by = place

    def restore(self) -> None:
        """Bring the turn back into the agent's view."""
        self.state = State.CURRENT
        self.dropped_by = None


def _call_id(call: dict[str, Any], index: int) -> str:
    """The id of a call or of the answer to it; without one, its name and position in the message."""
    call_id = call.get("id")
    return call_id if isinstance(call_id, str) and call_id else f"{call.get('name')} {index}"
