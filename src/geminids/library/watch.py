"""Watching sessions while they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from geminids.core.agents.homes import Home
from geminids.library.one_session import OneSessionMethods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event as Stop

    from geminids.sync.watch import AnyEvent, Pace


class WatchMethods(OneSessionMethods):
    """What a library notices."""

    def watch(
        self,
        wanted: str | None = None,
        *,
        project: str | None = None,
        agents: Collection[str] = (),
        last: int = 0,
        pace: Pace | None = None,
        stop: Stop | None = None,
    ) -> Iterator[AnyEvent]:
        """What is written from now on in all sessions, or in one (an id, `latest`, a file), as it happens.

        First so many of the `last` messages of what is running. The iterator waits where nothing happens;
        with a heartbeat in its pace it says so now and then. It ends when `stop` is set; closing it lets go
        of all that it watched. It starts no thread, and may run in any.
        """
        from geminids.query.sessions import watched
        from geminids.sync.watch import Pace

        homes = partial(self._homes_of, agents)
        how = watched.Watch(homes, self._context.folders.known, last, pace or Pace(), stop)
        if wanted is None:
            return watched.watch_all(how, project)
        if path := self._file_meant(wanted):
            self.file(path)
            return watched.watch_file(how, path)
        return watched.watch_session(how, self.session(wanted))

    def lacks_a_home(self) -> bool:
        """Whether an agent has got a home since this library was opened: its sessions are not in it."""
        known = {home.folder for home in self._context.homes}
        return any(home.folder not in known for home in self._context.finder.found())

    def _homes_of(self, agents: Collection[str]) -> Sequence[Home]:
        """The homes of some agents, or of all; looked for again, since one may have appeared."""
        return [home for home in self._context.finder.found() if not agents or home.agent in agents]
