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
from pathlib import Path
from typing import Any

from geminids import config, sources
from geminids import sample as bundled
from geminids.errors import (
    HomeNotFoundError,
    LineGoneError,
    NoSuchLineError,
    NotASessionError,
    NothingToReadError,
    NotLoadedByAgentError,
    OtherListError,
    SessionNotFoundError,
    ShortIdError,
    UnknownAgentError,
)
from geminids.model import FileAccount, Problem, ProblemKind, Session, SessionKind, SessionSummary
from geminids.query import identity, last_list
from geminids.query.fidelity import Fidelity, HomeReport, Names, fidelity, without_names
from geminids.query.last_list import LastList, Listed
from geminids.query.listing import Filter, Listing, listing, newest_last, project_names
from geminids.query.moments import parse_moment
from geminids.query.overview import AgentOverview, Overview, overview
from geminids.sources.base import Bundle, Home, Reading, Scan, may_be_folder, may_exist
from geminids.sources.bundles import joined

__all__ = [
    "AgentOverview",
    "Fidelity",
    "Filter",
    "Library",
    "Listing",
    "Overview",
    "file_meant",
    "has_unreadable",
    "last_listed",
    "open_library",
    "parse_moment",
    "project_names",
]

LATEST = "latest"
_LINE_NUMBER = re.compile(r"[0-9]{1,6}")
_SESSION_FILE_SUFFIXES = (".json", ".jsonl")


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
        raise UnknownAgentError("any agent", names)

    def data_folder() -> Path | None:
        return config.data_folder(data, environment)

    given = [bundled.home()] if sample else config.home_folders(homes, environment)
    if given:
        return Library(_homes_below(given, names), data_folder, sample=sample)
    user_home = config.expanded("~")
    found = [home for name in names for home in sources.load(name).homes(environment, user_home)]
    library = Library(found, data_folder)
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
        self, homes: Sequence[Home], data_folder: Callable[[], Path | None], *, sample: bool = False
    ) -> None:
        self._homes = homes
        # Asked for only when something is kept: finding it takes longer than many a command.
        self._data_folder = data_folder
        self._scans: list[tuple[Home, Scan]] | None = None
        self._unreadable_files: dict[Problem, None] = {}
        self.sample = sample

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that are looked at, as far as they exist."""
        return tuple(str(home.path) for home, _ in self._scanned())

    def unreadable(self, *, only_files: bool = False) -> tuple[Problem, ...]:
        """What we were not allowed to look into: folders, and files among those read so far."""
        folders = () if only_files else _unreadable(self._scan_problems())
        return (*folders, *self._unreadable_files)

    def is_empty(self) -> bool:
        """Whether there is no file that could hold a session, and none that we were not allowed to see."""
        return not any(scan.bundles or scan.problems for _, scan in self._scanned())

    def summaries(self, wanted: Filter) -> Listing:
        """The sessions that are asked for, without their messages, newest first."""
        everything = [session.without_messages() for session in self._sessions()]
        return listing(everything, wanted, self.unreadable())

    def overview(self) -> Overview:
        """All there is, in little."""
        summaries: list[SessionSummary] = []
        damaged: set[str] = set()
        for reading in self._readings():
            summaries.extend(session.without_messages() for session in reading.sessions)
            damaged.update(problem.file for problem in reading.problems)
        titles = {summary.agent: self.agent_title(summary.agent) for summary in summaries}
        return overview(
            summaries,
            titles,
            self.unreadable(),
            self.places,
            damaged_files=len(damaged),
            sample=self.sample,
        )

    def sessions(self, wanted: str) -> list[Session]:
        """The sessions in a file if a file is meant, else the one session that is."""
        if path := file_meant(wanted):
            return self.file(path)
        try:
            return [self.session(wanted)]
        except SessionNotFoundError:
            if os.path.isfile(wanted):  # noqa: PTH113 - pathlib raises for what cannot be a name
                return self.file(Path(wanted))
            raise

    def session(self, wanted: str) -> Session:
        """The session meant by an id, the beginning of one, a number of the last list, or `latest`."""
        if wanted == LATEST:
            return self._latest()
        return self._numbered(wanted) if _LINE_NUMBER.fullmatch(wanted) else self._by_id(wanted)

    def file(self, path: Path) -> list[Session]:
        """The sessions in one file, the first first."""
        with _naming_trouble(path):
            if (reading := _read_alone(path)) and reading.sessions:
                return sorted(reading.sessions, key=_as_they_began)
            raise NotASessionError(str(path), _looks_like(path))

    def agent_view(self, wanted: str) -> dict[str, Any]:
        """The record as the agent itself would load it from a file, or from the last file of a session."""
        path = file_meant(wanted) or Path(self.session(wanted).files[-1].path)
        with _naming_trouble(path):
            for name in sources.available():
                if path.is_file() and (record := sources.load(name).agent_view(path)) is not None:
                    return record
            reading = _read_alone(path)
            can_be_shown = reading is not None and bool(reading.sessions)
            raise NotLoadedByAgentError(str(path), _looks_like(path), can_be_shown=can_be_shown)

    def doctor(self, files: Sequence[str] = (), *, with_names: bool = False) -> Fidelity:
        """What became of every byte and record of all files, or of those given; what stood in the way."""
        scans = [] if files else [scan for _, scan in self._scanned()]
        summaries: list[SessionSummary] = []
        accounts: list[FileAccount] = []
        problems = [problem for scan in scans for problem in scan.problems]
        for reading in map(_given, files) if files else self._readings():
            summaries.extend(session.without_messages() for session in reading.sessions)
            accounts.extend(reading.accounts)
            problems.extend(reading.problems)
        folder = self._data_folder()
        report = fidelity(
            homes=[] if files else self._home_reports(),
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

    def _latest(self) -> Session:
        main = [s.without_messages() for s in self._sessions() if s.kind is SessionKind.MAIN]
        newest = max(main, key=newest_last, default=None)
        session = self._listed(Listed.of(newest)) if newest else None
        if session is None:
            raise identity.not_found([], LATEST)
        return session

    def _numbered(self, wanted: str) -> Session:
        """The session in a line of the last list, else the one whose id begins with these digits."""
        shown, number = self._last_list(), int(wanted)
        if not 1 <= number <= len(shown.lines):
            try:
                return self._by_id(wanted)
            except (SessionNotFoundError, ShortIdError):
                raise NoSuchLineError(wanted, len(shown.lines)) from None
        if shown.places != self._places_of_a_list():
            raise OtherListError(number, shown.places)
        line = shown.lines[number - 1]
        if session := self._listed(line):
            return session
        try:
            # Agents move sessions to new files.
            return self._by_id(line.id)
        except SessionNotFoundError:
            raise LineGoneError(number, line.file) from None

    def _last_list(self) -> LastList:
        """The last list, or the one that a person would see now."""
        folder = self._data_folder()
        if folder and (shown := last_list.recall(folder)):
            return shown
        found = self.summaries(Filter(kind=SessionKind.MAIN)).sessions
        return LastList(self._places_of_a_list(), tuple(map(Listed.of, found)))

    def _places_of_a_list(self) -> tuple[str, ...]:
        return tuple(sorted(map(last_list.keepable, self.places)))

    def _by_id(self, wanted: str) -> Session:
        hint = identity.file_name_hint(wanted)
        # Nearly always the names of the files hold the first letters of the id.
        likely = list(self._sessions(lambda bundle: _is_named(bundle, hint)))
        if session := identity.pick(likely, wanted):
            return session
        known = [session.without_messages() for session in self._sessions()]
        named = identity.pick(known, wanted)
        session = self._listed(Listed.of(named)) if named else None
        if session is None:
            raise identity.not_found(known, wanted)
        return session

    def _listed(self, line: Listed) -> Session | None:
        """The session of an id that lies in a file."""
        for session in self._sessions(lambda bundle: _holds(bundle, line.file)):
            if Listed.of(session) == line:
                return session
        return None

    def _sessions(self, is_wanted: Callable[[Bundle], bool] = lambda _: True) -> Iterator[Session]:
        for reading in self._readings(is_wanted):
            yield from reading.sessions

    def _readings(self, is_wanted: Callable[[Bundle], bool] = lambda _: True) -> Iterator[Reading]:
        """Every bundle in its turn."""
        for bundle in self._bundles():
            if is_wanted(bundle):
                reading = sources.load(bundle.agent).read(bundle)
                self._unreadable_files.update(dict.fromkeys(_unreadable(reading.problems)))
                yield reading

    def _bundles(self) -> Sequence[Bundle]:
        found = [scan.bundles for _, scan in self._scanned()]
        return found[0] if len(found) == 1 else joined(bundle for bundles in found for bundle in bundles)

    def _scanned(self) -> list[tuple[Home, Scan]]:
        if self._scans is None:
            there = [home for home in self._homes if may_exist(home.path)]
            self._scans = [(home, sources.load(home.agent).scan(home)) for home in there]
        return self._scans

    def _scan_problems(self) -> list[Problem]:
        return [problem for _, scan in self._scanned() for problem in scan.problems]

    def _home_reports(self) -> list[HomeReport]:
        scans = {home.path: scan for home, scan in self._scanned()}
        return [_home_report(home, scans.get(home.path)) for home in self._homes]


class _naming_trouble:  # noqa: N801 - reads as a phrase where it is used
    """Turns what the operating system says about a file given by hand into an error that names the file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        if not may_exist(self._path):
            raise NothingToReadError(str(self._path), "there is no such file")

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, OSError):
            raise NothingToReadError(str(self._path), error.strerror or str(error)) from error


def _homes_below(folders: Sequence[Path], names: Sequence[str]) -> list[Home]:
    for folder in folders:
        if not may_be_folder(folder):
            raise HomeNotFoundError(str(folder))
    unique = list({folder.resolve(): folder for folder in folders}.values())
    return [home for folder in unique for name in names for home in sources.load(name).homes_below(folder)]


def _looks_like(path: Path) -> str:
    from geminids.sources.describe import describe

    return describe(path)


def file_meant(wanted: str) -> Path | None:
    """The file that is meant, there or not: what looks like a path, or is named as sessions are."""
    looks_like_path = "/" in wanted or os.sep in wanted or wanted in {".", ".."}
    if looks_like_path or wanted.lower().endswith(_SESSION_FILE_SUFFIXES):
        return config.expanded(wanted)
    return None


def _read_alone(path: Path) -> Reading | None:
    """What one file holds that was given by hand; None if it is no session."""
    for name in sources.available():
        source = sources.load(name)
        if path.is_file() and (bundle := source.adopt(path)):
            return source.read(bundle)
    return None


def _given(file: str) -> Reading:
    path = config.expanded(file)
    with _naming_trouble(path):
        if reading := _read_alone(path):
            return reading
        raise NotASessionError(str(path), _looks_like(path))


def _home_report(home: Home, scan: Scan | None) -> HomeReport:
    if scan is None:
        return HomeReport(home.agent, str(home.path), home.known_by, exists=False)
    files = sum(len(bundle.files) for bundle in scan.bundles)
    return HomeReport(home.agent, str(home.path), home.known_by, True, files, scan.complete)


def _is_named(bundle: Bundle, hint: str) -> bool:
    return hint in bundle.key.lower() or any(hint in str(file.path).lower() for file in bundle.files)


def _holds(bundle: Bundle, file: str | None) -> bool:
    return any(last_list.keepable(str(found.path)) == file for found in bundle.files)


def has_unreadable(problems: Sequence[Problem]) -> bool:
    """Whether the operating system refused anything."""
    return bool(_unreadable(problems))


def _unreadable(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.kind is ProblemKind.UNREADABLE]


def _as_they_began(session: Session) -> tuple[bool, bool, datetime | None, str]:
    # A file belongs to the session that the human led; subagents in it come after.
    began = session.started_at
    return (session.kind is not SessionKind.MAIN, began is None, began, session.id)
