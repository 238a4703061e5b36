"""Library: the one door through which every face reads sessions.

Everything is read straight from the agents' files, one bundle at a time; nothing but summaries
outlives its bundle, so memory does not grow with the number of messages. No file of an agent
is ever written.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geminids import config, sources
from geminids import sample as bundled
from geminids.errors import (
    HomeNotFoundError,
    NoFolderError,
    NoHashError,
    NotInstalledError,
    NotLinkedError,
    SessionNotFoundError,
)
from geminids.model import (
    FileAccount,
    KnownBy,
    Project,
    Session,
    SessionSummary,
)
from geminids.projects.identity import Identity, best_known
from geminids.projects.knowing import Folders
from geminids.projects.spellings import verified
from geminids.query import given, last_list
from geminids.query.fidelity import Fidelity, Names, fidelity, without_names
from geminids.query.given import file_meant, is_id_of_a_name
from geminids.query.identity import short_ids
from geminids.query.last_list import LastList, Listed
from geminids.query.listing import LED_BY_HUMANS, Filter, Listing, left_unread, listing
from geminids.query.matching import project_names
from geminids.query.meant import Finder, Meant
from geminids.query.moments import parse_moment
from geminids.query.overview import MOST_PROJECTS, AgentOverview, NextStep, Overview, overview
from geminids.query.projects import (
    Contents,
    ProjectReport,
    Projects,
    Resolved,
    Shelved,
    certain_paths,
    hash_meant,
    hashes_without_folder,
    identify,
    known_as,
    the_one,
)
from geminids.query.stock import Stock
from geminids.query.story import Event, EventKind, ProjectStory, story
from geminids.sources.base import Home, may_be_folder
from geminids.sources.texts import text_beside

if TYPE_CHECKING:
    from threading import Event as Stop

    from geminids.watch import AnyEvent, Pace

__all__ = [
    "LED_BY_HUMANS",
    "MOST_PROJECTS",
    "AgentOverview",
    "Event",
    "EventKind",
    "Fidelity",
    "Filter",
    "Library",
    "Listing",
    "Meant",
    "NextStep",
    "Overview",
    "ProjectReport",
    "ProjectStory",
    "Projects",
    "Resolved",
    "file_meant",
    "last_listed",
    "open_library",
    "parse_moment",
    "project_names",
    "short_ids",
    "text_beside",
]

LEAST_OF_A_HASH = 4
WHOLE_HASH = re.compile(r"[0-9a-f]{64}")
PROVEN = frozenset({KnownBy.CONTEXT, KnownBy.DIRECTORIES, KnownBy.ARGUMENTS, KnownBy.CURRENT_FOLDER})
"""Ways of knowing a folder that only some sessions of a project offer, or only here."""
LIST_LIMIT = 8_000_000
"""So many bytes beside the sessions of a project are read for a list; the rest is left to other commands."""
SHOW_LIMIT = 1_000_000_000
"""The same where one session is looked for: it may stand at the beginning of a long log."""


def open_library(
    homes: Sequence[str] = (),
    data: str | None = None,
    *,
    sample: bool = False,
    sample_if_empty: bool = False,
    environment: Mapping[str, str] = os.environ,
) -> Library:
    """The sessions of the given homes, else of this machine, else (if wished) of the sample."""
    names = sources.available()
    if not names:
        raise NotInstalledError

    def data_folder() -> Path | None:
        return config.data_folder(data, environment)

    given = [bundled.home()] if sample else config.home_folders(homes, environment)
    if given:
        found = _homes_below(given, names)
        again = partial(_homes_in, given, names)
        return Library(found, data_folder, sample=sample, environment=environment, find_homes=again)
    user_home = config.expanded("~")
    found = [home for name in names for home in sources.load(name).homes(environment, user_home)]
    library = Library(found, data_folder, environment=environment)
    if sample_if_empty and library.is_empty():
        return Library(_homes_below([bundled.home()], names), data_folder, sample=True)
    return library


def last_listed(data: str | None = None, environment: Mapping[str, str] = os.environ) -> list[str]:
    """The agents' own ids of the sessions in the last list, whatever homes it was made of."""
    folder = config.data_folder(data, environment)
    shown = last_list.recall(folder) if folder else None
    return [line.id.partition(":")[2] for line in shown.lines] if shown else []


class Library:
    """The sessions in some homes."""

    def __init__(
        self,
        homes: Sequence[Home],
        data_folder: Callable[[], Path | None],
        *,
        sample: bool = False,
        environment: Mapping[str, str] = os.environ,
        find_homes: Callable[[], Sequence[Home]] | None = None,
    ) -> None:
        self._stock = Stock(homes)
        # A home may appear while one watches.
        self._find_homes = find_homes or (lambda: homes)
        self._folders = Folders(
            data_folder, config.expanded("~"), environment, config.current_folder(environment)
        )
        # Asked for only when something is kept: finding it takes longer than many a command.
        self._data_folder = data_folder
        self.sample = sample

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that are looked at, as far as they exist."""
        return self._stock.places

    def is_empty(self) -> bool:
        """Whether there is no file that could hold a session, and none that we were not allowed to see."""
        return self._stock.is_empty()

    def summaries(self, wanted: Filter) -> Listing:
        """The sessions that are asked for, without their messages, newest first."""
        found = self._contents()
        return listing(found.summaries, wanted, self._stock.closed_folders + found.problems)

    def overview(self) -> Overview:
        """All there is, in little."""
        found = self._contents()
        summaries = found.summaries
        return overview(
            summaries,
            found.reports(),
            {summary.agent: self.agent_title(summary.agent) for summary in summaries},
            self._stock.closed_folders + found.problems,
            self.places,
            damaged_files=len({problem.file for problem in found.problems if problem.is_damage}),
            sample=self.sample,
        )

    def projects(self, now: datetime) -> Projects:
        """The projects there are. For folders that are not known one looks, but only for a moment."""
        found = self._contents()
        if unknown := hashes_without_folder(found.identity):
            self._folders.search_shortly(unknown, now)
            found = found._replace(identity=self._identified(found.shelves))
        problems = [*self._stock.closed_folders, *(p for p in found.problems if p.is_unreadable)]
        return Projects(
            projects=tuple(found.reports()),
            problems=tuple(problems),
            left_unread=left_unread(found.problems),
        )

    def project_story(self, wanted: str) -> ProjectStory:
        """Everything a project holds, the oldest first."""
        found = self._contents(limit=None)
        return story(found, the_one(found.reports(), wanted), self._stock.closed_folders)

    def resolve_projects(
        self, now: datetime, *, deep: bool, seconds: float, progress: Callable[[int, int], None] | None = None
    ) -> Resolved:
        """Look for the folders of projects that are known by a hash alone, and remember them."""
        identity = self._contents().identity
        unknown = hashes_without_folder(identity)
        found = self._folders.search(
            unknown,
            certain_paths(identity),
            now,
            named=self._stock.named_folders(frozenset(unknown)),
            seconds=seconds,
            deep=deep,
            progress=progress,
        )
        self._folders.note_work_trees([*certain_paths(identity), *(f.path for f in found.found.values())])
        resolved = [
            Project(folder.path, name, None, folder.known_by, certain=True)
            for name, folder in found.found.items()
        ]
        missing = [name for name in unknown if name not in found.found]
        return Resolved(
            resolved=tuple(resolved),
            missing=tuple(missing),
            looked_at=found.looked_at,
            complete=found.complete,
            kept=found.kept,
        )

    def link_project(self, wanted: str, path: str) -> Project:
        """Remember which folder a project is, because the user says so."""
        name = self._hash_meant(wanted)
        folder = os.path.normpath(config.expanded(path).absolute())
        # A proof needs no folder: it may have been on another machine.
        spelled = verified(name, [path, folder])
        if spelled is None and not Path(folder).is_dir():
            raise NoFolderError(path)
        return self._folders.link(name, spelled or folder)

    def unlink_project(self, wanted: str) -> Project:
        """Forget what the user said about the folder of a project."""
        linked = [name for name in self._folders.linked if name.startswith(wanted.lower())]
        is_hash = len(wanted) >= LEAST_OF_A_HASH and len(linked) == 1
        name = linked[0] if is_hash else self._hash_meant(wanted)
        path = self._folders.unlink(name)
        if path is None:
            raise NotLinkedError(wanted)
        return Project(path, name, None, KnownBy.LINK)

    def _hash_meant(self, wanted: str) -> str:
        """The hash of the project that is meant; a whole hash may also be one that we know nothing of."""
        if WHOLE_HASH.fullmatch(wanted):
            return wanted
        meant = hash_meant(self._contents().reports(), wanted)
        if meant is None:
            raise NoHashError(wanted)
        return meant

    def sessions(self, wanted: str) -> Meant:
        """The sessions in a file if a file is meant, else the one session that is."""
        if (path := file_meant(wanted)) and not is_id_of_a_name(wanted, path):
            return Meant(self.file(path), ())
        try:
            meant = self._finder().find(wanted)
            return meant._replace(sessions=[self._completed(session) for session in meant.sessions])
        except SessionNotFoundError:
            if os.path.isfile(wanted):  # noqa: PTH113 - pathlib raises for what cannot be a name
                return Meant(self.file(Path(wanted)), ())
            raise

    def session(self, wanted: str) -> Session:
        """The session meant by an id, the beginning of one, a number of the last list, or `latest`."""
        return self._completed(self._finder().find(wanted).sessions[0])

    def file(self, path: Path) -> list[Session]:
        """The sessions in one file, the first first."""
        return [self._completed(session) for session in given.sessions_in(path)]

    def watch(
        self,
        wanted: str | None = None,
        *,
        project: str | None = None,
        last: int = 0,
        pace: Pace | None = None,
        stop: Stop | None = None,
    ) -> Iterator[AnyEvent]:
        """What is written from now on in all sessions, or in one (an id, `latest`, a file), as it happens.

        First so many of the `last` messages of what is running. The iterator waits where nothing happens;
        with a heartbeat in its pace it says so now and then. It ends when `stop` is set; closing it lets go
        of all that it watched. It starts no thread, and may run in any.
        """
        from geminids.query import watching
        from geminids.watch import Pace

        how = watching.Watch(self._find_homes, self._known_project, last, pace or Pace(), stop)
        if wanted is None:
            return watching.watch_all(how, project)
        if (path := file_meant(wanted)) and not is_id_of_a_name(wanted, path):
            self.file(path)
            return watching.watch_file(how, path)
        return watching.watch_session(how, self.session(wanted))

    def _known_project(self, project: Project) -> Project:
        return best_known([project], self._folders.remembered)[project]

    def agent_view(self, wanted: str) -> dict[str, Any]:
        """The record as the agent itself would load it from a file, or from the last file of a session."""
        path = file_meant(wanted) or Path(self.session(wanted).files[-1].path)
        return given.agent_view(path)

    def doctor(self, files: Sequence[str] = (), *, with_names: bool = False) -> Fidelity:
        """What became of every byte and record of all files, or of those given; what stood in the way."""
        scans = [] if files else self._stock.scans
        summaries: list[SessionSummary] = []
        accounts: list[FileAccount] = []
        problems = [problem for scan in scans for problem in scan.problems]
        by_hand = (given.reading_of(config.expanded(file)) for file in files)
        for reading in by_hand if files else self._stock.readings():
            summaries.extend(session.without_messages() for session in reading.sessions)
            accounts.extend(reading.accounts)
            problems.extend(reading.problems)
        folder = self._data_folder()
        report = fidelity(
            homes=[] if files else self._stock.reports(),
            summaries=summaries,
            accounts=accounts,
            problems=problems,
            skipped=((file.reason, file.size) for scan in scans for file in scan.skipped),
            data_folder=str(folder) if folder else None,
        )
        return report if with_names else without_names(report, Names(config.expanded("~"), self.places))

    def remember(self, listed: Sequence[SessionSummary]) -> None:
        """Keep what a list showed, so that its numbers mean something. Raises OSError if that fails."""
        folder = self._data_folder()
        if folder is None:
            raise FileNotFoundError(errno.ENOENT, "this user has no home")
        lines = tuple(Listed.of(summary) for summary in listed)
        last_list.remember(folder, LastList(self._places_of_a_list(), lines))

    def agent_title(self, name: str) -> str:
        """The agent as people call it."""
        return sources.load(name).title

    def _completed(self, session: Session) -> Session:
        """The session with what is known of its project, and with the whole outputs of its tools."""
        identity = best_known([session.project], self._folders.remembered)
        if session.project.hash and not identity[session.project].certain:
            identity = best_known([session.project, *self._stock.proof_of(session)], self._folders.remembered)
        return sources.load(session.agent).with_outputs(known_as(session, identity))

    @property
    def memory_is_damaged(self) -> bool:
        """Whether links and what was learnt of projects cannot be read."""
        return self._folders.is_damaged

    def _finder(self) -> Finder:
        readings = partial(self._stock.readings, limit=SHOW_LIMIT)
        return Finder(readings, self._places_of_a_list(), self._stock.closed_folders, self._last_list)

    def _last_list(self) -> LastList | None:
        folder = self._data_folder()
        return last_list.recall(folder) if folder else None

    def _places_of_a_list(self) -> tuple[str, ...]:
        return tuple(sorted(map(last_list.keepable, self.places)))

    def _contents(self, limit: int | None = LIST_LIMIT) -> Contents:
        """All there is, without messages, and whose it is."""
        shelves = self._stock.shelved(limit)
        return Contents(shelves, self._identified(shelves))

    def _identified(self, shelves: Sequence[Shelved]) -> Identity:
        """What is known of each project; what sessions proved is kept for those that prove nothing."""
        identity = identify(shelves, self._folders.remembered, self._folders.repositories)
        proven = [project for project in identity.values() if project.certain and project.known_by in PROVEN]
        if not self.sample:
            self._folders.learn(proven)
        return identity


def _homes_below(folders: Sequence[Path], names: Sequence[str]) -> list[Home]:
    for folder in folders:
        if not may_be_folder(folder):
            raise HomeNotFoundError(str(folder))
    return _homes_in(folders, names)


def _homes_in(folders: Sequence[Path], names: Sequence[str]) -> list[Home]:
    unique = list({folder.resolve(): folder for folder in folders}.values())
    return [home for folder in unique for name in names for home in sources.load(name).homes_below(folder)]
