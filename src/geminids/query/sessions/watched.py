"""Which sessions a watch tells of: all there are, those of a project, one and its subagents, or a file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from threading import Event
from typing import NamedTuple

import msgspec

from geminids.core.agents.base import Bundle, Home
from geminids.core.disk import REAL
from geminids.core.model import KnownBy, Project, Session
from geminids.query.projects.lookup import match
from geminids.sync.watch import AnyEvent, FileFinder, Finder, HomesFinder, Pace, SessionNews, Wanted, watch

Homes = Callable[[], Sequence[Home]]
Known = Callable[[Project], Project]
"""What is known of a project beyond what its sessions say."""


class Watch(NamedTuple):
    """How is watched, whatever is."""

    homes: Homes
    known: Known
    last: int
    pace: Pace
    stop: Event | None

    def of(self, finder: Finder, is_wanted: Wanted = lambda _: True, *, whole: bool) -> Iterator[AnyEvent]:
        """Tell of the sessions that are wanted, with all that is known of their projects."""
        pace, stop = self.pace, self.stop
        events = watch(finder, is_wanted=is_wanted, last=self.last, whole=whole, pace=pace, stop=stop)
        with closing(events):
            for event in events:
                yield self._completed(event) if isinstance(event, SessionNews) else event

    def homes_as_they_are(self) -> list[Home]:
        """The homes without what is gone from them: nobody writes to a kept copy."""
        return [home._replace(disk=REAL) for home in self.homes()]

    def _completed(self, news: SessionNews) -> SessionNews:
        project = self.known(news.session.project)
        return SessionNews(msgspec.structs.replace(news.session, project=project), news.news)


def watch_all(how: Watch, project: str | None) -> Iterator[AnyEvent]:
    """Tell of all sessions, or of those in the project that is meant."""
    finder = HomesFinder(how.homes_as_they_are)

    def is_wanted(session: Session) -> bool:
        if project is None:
            return True
        # A name means the project that has it; only if there is none does it mean those it is a piece of.
        own = how.known(session.project)
        others = [Project(folder, None, None, KnownBy.DIRECTORIES) for folder in session.directories]
        meant = match([own, *map(how.known, finder.projects())], project, others)
        return own in meant or any(other in meant for other in others)

    return how.of(finder, is_wanted, whole=False)


def watch_session(how: Watch, session: Session) -> Iterator[AnyEvent]:
    """Tell of one session and its subagents."""
    files = {file.path for file in session.files}
    family = {session.id}

    def may_hold(bundle: Bundle) -> bool:
        return any(str(file.path) in files for file in bundle.files)

    def is_wanted(other: Session) -> bool:
        # Subagents may have subagents; who is their parent is read before them.
        if other.parent_id in family:
            family.add(other.id)
        return other.id in family

    return how.of(HomesFinder(how.homes_as_they_are, may_hold), is_wanted, whole=True)


def watch_file(how: Watch, path: Path) -> Iterator[AnyEvent]:
    """Tell of the sessions in one file."""
    return how.of(FileFinder(path), whole=True)
