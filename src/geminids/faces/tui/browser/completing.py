"""What may follow the letters that were typed: names of filters, and what each of them takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from geminids.query.search.filters import FILTERS

if TYPE_CHECKING:
    from geminids.faces.tui.box import TextBox
    from geminids.faces.tui.browser.view import Stage
    from geminids.library.completions import Completions

_LEAST = 3
"""Letters of a word that may become the name of a filter: most words are just words."""


class Completing:
    """What the last word may become; values are asked for once, when somebody begins one."""

    def __init__(self, stage: Stage, completions: Completions) -> None:
        self._stage = stage
        self._completions = completions
        self._known: dict[str, Sequence[str]] = {}

    def offered(self, box: TextBox) -> Sequence[str]:
        """The words that the last one may become, as they would stand in the box."""
        word = box.text.rpartition(" ")[2]
        if box.cursor != len(box.text) or not word or word.startswith('"'):
            return ()
        minus = "-" if word.startswith("-") else ""
        name, is_filter, value = word.removeprefix("-").partition(":")
        if not is_filter:
            found = [f"{one}:" for one in FILTERS if one.startswith(name)] if len(name) >= _LEAST else []
            return [minus + one for one in found]
        if name not in self._known:
            self._ask(name)
        fitting = (one for one in self._known[name] if one.casefold().startswith(value.casefold()))
        return [f"{minus}{name}:{one}" for one in fitting if one != value]

    def ghost(self, box: TextBox) -> str:
        """What follows the letters of the first of them."""
        offered = self.offered(box)
        return offered[0][len(box.text.rpartition(" ")[2]) :] if offered else ""

    def accept(self, box: TextBox) -> bool:
        """Make the last word the first of them; whether there is one."""
        offered = self.offered(box)
        if not offered:
            return False
        before, blank, _ = box.text.rpartition(" ")
        box.set(f"{before}{blank}{offered[0]}")
        return True

    def forget(self) -> None:
        """Ask again when the next one is typed: there may be new ones."""
        self._known.clear()

    def _ask(self, name: str) -> None:
        self._known[name] = ()
        self._stage.ask(
            f"values of {name}",
            lambda _: [_quoted(one) for one in self._completions.values(name)],
            lambda found: self._take(name, found),
        )

    def _take(self, name: str, found: Iterable[str]) -> None:
        self._known[name] = list(found)


def _quoted(word: str) -> str:
    return f'"{word}"' if " " in word else word
