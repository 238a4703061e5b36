"""What a shell offers to complete: what is known at this moment. Nothing is read anew, mended or written.

Whoever presses Tab waits, and wants no message: what cannot be read is not offered.
"""

from __future__ import annotations

import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

from geminids.core import config
from geminids.core.errors import GeminidsError
from geminids.library.context import LibraryContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from geminids.storage.index.database import Index, IndexFile

    Offer = TypeVar("Offer")

MOST = 30
"""So many sessions are offered: shells ask before they show more than a screen of them."""


class Completions:
    """What can be typed for the sessions of some homes."""

    def __init__(
        self,
        homes: Sequence[str] = (),
        data: str | None = None,
        *,
        sample: bool = False,
        terminal: str | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self._terminal = terminal
        self._homes, self._data, self._sample = homes, data, sample
        self._environment = environment
        self._folder = config.data_folder(data, environment)

    def sessions(self, beginning: str) -> dict[str, str]:
        """What can be typed for sessions, with their titles.

        With nothing typed those of the last list, which are still on the screen; else the newest first.
        """
        listed = [sid for sid in self._last_listed() if _typed(sid, beginning)]
        names = self._names()
        known = self._ask(lambda index: _titles(index, beginning, listed)) or {}
        ids = listed if listed and not beginning else dict.fromkeys([*known, *listed])
        short = self._ask(lambda index: _short(index, ids)) or {}
        found = {_typed(sid, beginning, short.get(sid)): names.get(sid) or known.get(sid, "") for sid in ids}
        if beginning:
            found |= {name: known.get(sid, "") for sid, name in names.items() if name.startswith(beginning)}
        return found

    def names(self) -> dict[str, str]:
        """What the user calls sessions, with their titles."""
        by_id = self._names()
        titles = self._ask(lambda index: _titles(index, "", list(by_id))) or {}
        return {name: titles.get(sid, "") for sid, name in by_id.items()}

    def tags(self) -> list[str]:
        """The tags that were given to sessions, the most used first."""
        from geminids.storage.durable.marks import tag_counts

        return list(self._said(tag_counts))

    def projects(self) -> dict[str, str]:
        """The names of projects, each with its folder, as far as that is known."""
        return self._ask(_projects) or {}

    def models(self) -> list[str]:
        """The models that answered."""
        from geminids.storage.index.totals import model_names

        return self._ask(model_names) or []

    def tools(self) -> list[str]:
        """The tools that were called."""
        from geminids.storage.index.search import tools

        return self._ask(lambda index: list(tools(index))) or []

    def values(self, name: str) -> Iterable[str]:
        """What a filter of a search takes, as far as that can be listed; some with what each stands for."""
        from geminids.core.agents import available
        from geminids.query.search.filters import CHOICES, MOMENTS, WEEKDAYS

        if name in CHOICES:
            return CHOICES[name]
        listed: dict[str, Callable[[], Iterable[str]]] = {
            "agent": available,
            "project": self.projects,
            "model": self.models,
            "tool": self.tools,
            "tag": self.tags,
            "name": self.names,
            "id": lambda: self.sessions(""),
            "hour": lambda: WEEKDAYS,
            **dict.fromkeys(MOMENTS, lambda: ("today", "yesterday", "7d", "1mo")),
        }
        return listed[name]() if name in listed else ()

    def _last_listed(self) -> list[str]:
        from geminids.query.sessions import last_list

        shown = last_list.recall(self._folder, terminal=self._terminal) if self._folder else None
        return [line.id for line in shown.lines] if shown else []

    def _names(self) -> dict[str, str]:
        from geminids.storage.durable.marks import marks

        return {sid: said.name for sid, said in self._said(marks).items() if said.name}

    def _said(self, question: Callable[[str], dict[str, Offer]]) -> dict[str, Offer]:
        try:
            return question(self._folder) if self._folder else {}
        except (GeminidsError, OSError):
            return {}

    def _ask(self, question: Callable[[Index], Offer]) -> Offer | None:
        """The answer of the index as it lies there; None where there is none, or it cannot be read."""
        try:
            context = self._context()
            # Not by `context.ask`, which moves a damaged index aside.
            with closing(context.index), _opened(context.place()) as index:
                return question(index) if index else None
        except (GeminidsError, OSError, sqlite3.Error):
            return None

    def _context(self) -> LibraryContext:
        return LibraryContext(
            self._homes,
            self._data,
            sample=self._sample,
            terminal=self._terminal,
            changes=False,
            sync=False,
            tell=lambda _: None,
            progress=None,
            behind=None,
            environment=self._environment,
        )


@contextmanager
def _opened(place: IndexFile | None) -> Iterator[Index | None]:
    index = place.peek() if place else None
    try:
        yield index
    finally:
        if index:
            index.close()


def _typed(sid: str, beginning: str, short: str | None = None) -> str:
    """What can be typed for a session; empty if nothing begins so.

    As much of the agent's own id as means it, where that is known and not exceeded yet, else all of it.
    """
    agent, _, native = sid.partition(":")
    spellings = (native, sid) if short is None else (short, native, f"{agent}:{short}", sid)
    return next((spelled for spelled in spellings if spelled.startswith(beginning)), "")


def _short(index: Index, wanted: Iterable[str]) -> dict[str, str]:
    """As much of the agent's own id as tells each session from all others; none if another has the same."""
    from geminids.query.sessions.ids import short_ids
    from geminids.storage.index.reader import native_ids

    held = Counter(native_ids(index))
    shortest = short_ids(held)
    natives = ((sid, sid.partition(":")[2]) for sid in wanted)
    return {sid: shortest[native] for sid, native in natives if held[native] == 1}


def _titles(index: Index, beginning: str, listed: Sequence[str]) -> dict[str, str]:
    """Titles by ids: of what begins so, else of what was listed, else of the newest."""
    from geminids.storage.index import reader

    if beginning:
        rows = [row for row in reader.sessions_called(index, beginning) if _typed(row.id, beginning)]
    else:
        rows = reader.sessions(index, [reader.among(listed)] if listed else (), MOST)
    return {row.id: row.title or "" for row in rows[:MOST]}


def _projects(index: Index) -> dict[str, str]:
    from geminids.core.names import project_names
    from geminids.storage.index.reader import projects

    named = project_names(projects(index).values())
    return {name: project.path or "" for project, name in sorted(named.items(), key=lambda pair: pair[1])}
