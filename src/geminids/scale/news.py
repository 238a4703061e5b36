"""What is new in a place since somebody looked: noted in a folder in numbered steps, so that all is told.

    0000000012.json    the units that were new, or had grown, when somebody looked for the twelfth time

A step that was noted never changes: whoever was stopped asks for it again, and is told of the same units as
they are by then. What has grown once more meanwhile is in a later step, too. So each state of a unit is told
at least once, and one that did not change not again. One process writes into the folder.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import msgspec

from geminids.core.errors import STORE_DAMAGED, GeminidsError
from geminids.scale.homes import Unit
from geminids.scale.places.stored import Store

_MOST_STEPS = 100
"""When there are more, those that nobody will ask for again become one."""
_SUFFIX = ".json"


class LostStepsError(GeminidsError):
    """Steps that somebody asks for are not there."""

    exit_code = STORE_DAMAGED

    def __init__(self, uri: str, wanted: int, there: int) -> None:
        super().__init__(
            f"{uri!r} tells of {there} steps, and step {wanted} is asked for: it was removed, or belongs to "
            "another stream. To tell everything anew, begin with an empty folder and a new checkpoint."
        )


class News:
    """The steps that are noted in a folder."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._steps: dict[int, dict[str, str]] = {}
        for stored in store.listed():
            number = stored.name.removesuffix(_SUFFIX)
            if number.isdigit() and stored.name.endswith(_SUFFIX):
                self._steps[int(number)] = self._noted(stored.name)

    @property
    def newest(self) -> int:
        """The number of the last step; 0 before the first."""
        return max(self._steps, default=0)

    def look(self, units: Iterable[Unit]) -> int:
        """Note what is new in all that there is; the number of the step that tells of it, or of the last."""
        known: dict[str, str] = {}
        for _, step in sorted(self._steps.items()):
            known |= step
        new = {unit.name: unit.stamp for unit in units if known.get(unit.name) != unit.stamp}
        if new:
            self._note(self.newest + 1, new)
        return self.newest

    def between(self, start: int, end: int) -> Collection[str]:
        """The names of units that were new after one step, up to another. Raises LostStepsError."""
        if max(start, end) > self.newest:
            raise LostStepsError(self._store.uri, max(start, end), self.newest)
        return frozenset(
            name for number, step in self._steps.items() if start < number <= end for name in step
        )

    def forget_until(self, end: int) -> None:
        """Nobody asks for a step up to this one again: many of them become one."""
        past = sorted(number for number in self._steps if number <= end)
        if len(past) <= _MOST_STEPS:
            return
        together: dict[str, str] = {}
        for number in past:
            together |= self._steps[number]
        # Whoever is stopped in the middle of this finds the same twice, and nothing less.
        self._note(past[-1], together)
        for number in past[:-1]:
            self._store.delete(_file(number))
            del self._steps[number]

    def _note(self, number: int, step: dict[str, str]) -> None:
        self._store.put(_file(number), msgspec.json.encode(step))
        self._steps[number] = step

    def _noted(self, name: str) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._store.read(name) or b"{}", type=dict[str, str])
        except msgspec.DecodeError as error:
            raise DamagedStepError(f"{self._store.uri}/{name}") from error


class DamagedStepError(GeminidsError):
    """A step that cannot be read: what it told of would be told again, or never."""

    exit_code = STORE_DAMAGED

    def __init__(self, name: str) -> None:
        super().__init__(
            f"{name!r} is damaged. To tell everything anew, begin with an empty folder and a new checkpoint."
        )


def _file(number: int) -> str:
    return f"{number:010}{_SUFFIX}"
