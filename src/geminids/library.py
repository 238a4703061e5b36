"""Library: the one door through which every face reads sessions.

Everything is read straight from the agents' files, one bundle at a time; nothing but summaries
outlives its bundle, so memory does not grow with the number of messages. No file of an agent
is ever written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from geminids import config, sources
from geminids import sample as bundled
from geminids.errors import (
    HomeNotFoundError,
    NotASessionError,
    NothingToReadError,
    NotLoadedByAgentError,
    UnknownAgentError,
)
from geminids.model import FileAccount, Problem, ProblemKind, Session, SessionKind, SessionSummary
from geminids.query import identity, last_list
from geminids.query.fidelity import Fidelity, HomeReport, Names, fidelity, without_names
from geminids.query.last_list import Listed
from geminids.query.listing import Filter, Listing, listing, newest_last, project_name
from geminids.query.moments import parse_moment
from geminids.query.overview import AgentOverview, Overview, overview
from geminids.sources.base import Bundle, Home, Reading, Scan

__all__ = [
    "AgentOverview",
    "Fidelity",
    "Filter",
    "Library",
    "Listing",
    "Overview",
    "file_meant",
    "has_unreadable",
    "open_library",
    "parse_moment",
    "project_name",
]


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

    def data_folder() -> Path:
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


class Library:
    """The sessions in some homes."""

    def __init__(
        self, homes: Sequence[Home], data_folder: Callable[[], Path], *, sample: bool = False
    ) -> None:
        self._homes = homes
        # Asked for only when something is kept: finding it takes longer than many a command.
        self._data_folder = data_folder
        self._scans: list[tuple[Home, Scan]] | None = None
        self.sample = sample

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that are looked at, as far as they exist."""
        return tuple(str(home.path) for home, _ in self._scanned())

    def unreadable(self) -> tuple[Problem, ...]:
        """The places that we were not allowed to look into."""
        return tuple(self._scan_problems())

    def is_empty(self) -> bool:
        """Whether there is no file that could hold a session, and none that we were not allowed to see."""
        return not any(scan.bundles or scan.problems for _, scan in self._scanned())

    def summaries(self, wanted: Filter) -> Listing:
        """The sessions that are asked for, without their messages, newest first."""
        problems = self._scan_problems()
        everything = list(self._summaries(lambda reading: problems.extend(_unreadable(reading.problems))))
        return listing(everything, wanted, problems, sample=self.sample)

    def overview(self) -> Overview:
        """All there is, in little."""
        problems = self._scan_problems()
        damaged: set[str] = set()

        def note(reading: Reading) -> None:
            problems.extend(_unreadable(reading.problems))
            damaged.update(problem.file for problem in reading.problems)

        summaries = list(self._summaries(note))
        titles = {summary.agent: self.agent_title(summary.agent) for summary in summaries}
        return overview(
            summaries, titles, problems, self.places, damaged_files=len(damaged), sample=self.sample
        )

    def sessions(self, wanted: str) -> list[Session]:
        """The sessions in a file if there is a file of that name, else the one session that is meant."""
        path = file_meant(wanted)
        return self.file(path) if path else [self.session(wanted)]

    def session(self, wanted: str) -> Session:
        """The session meant by an id, the beginning of one, a number of the last list, or `latest`."""
        if wanted == "latest":
            return self._latest()
        if wanted.isdecimal() and (session := self._numbered(int(wanted))):
            return session
        return self._by_id(wanted)

    def file(self, path: Path) -> list[Session]:
        """The sessions in one file, the first first."""
        with _naming_trouble(path):
            for name in sources.available():
                source = sources.load(name)
                if (
                    path.is_file()
                    and (bundle := source.adopt(path))
                    and (found := source.read(bundle).sessions)
                ):
                    return sorted(found, key=_as_they_began)
            raise NotASessionError(str(path), _looks_like(path))

    def agent_view(self, wanted: str) -> dict[str, Any]:
        """The record as the agent itself would load it from a file, or from the last file of a session."""
        path = file_meant(wanted) or Path(self.session(wanted).files[-1].path)
        with _naming_trouble(path):
            for name in sources.available():
                if path.is_file() and (record := sources.load(name).agent_view(path)) is not None:
                    return record
            raise NotLoadedByAgentError(str(path), _looks_like(path))

    def doctor(self, *, with_names: bool = False) -> Fidelity:
        """What became of every byte and record, and what stood in the way."""
        summaries: list[SessionSummary] = []
        accounts: list[FileAccount] = []
        problems = [problem for _, scan in self._scanned() for problem in scan.problems]
        for _, reading in self._readings():
            summaries.extend(session.without_messages() for session in reading.sessions)
            accounts.extend(reading.accounts)
            problems.extend(reading.problems)
        skipped = ((file.reason, file.size) for _, scan in self._scanned() for file in scan.skipped)
        report = fidelity(
            homes=self._home_reports(),
            summaries=summaries,
            accounts=accounts,
            problems=problems,
            skipped=skipped,
            data_folder=str(self._data_folder()),
        )
        return report if with_names else without_names(report, Names(config.expanded("~"), self.places))

    def remember(self, listed: Sequence[SessionSummary]) -> None:
        """Keep what a list showed, so that its numbers mean something. Raises OSError if that fails."""
        lines = [Listed(summary.id, _first_file(summary)) for summary in listed]
        last_list.remember(self._data_folder(), lines)

    def agent_title(self, name: str) -> str:
        """The agent as people call it."""
        return sources.load(name).title

    def _latest(self) -> Session:
        main = [s for s in self._summaries() if s.kind is SessionKind.MAIN]
        if not main:
            raise identity.not_found([], "latest")
        newest = max(main, key=newest_last)
        return self._whole(newest.id, _first_file(newest))

    def _numbered(self, number: int) -> Session | None:
        lines = last_list.recall(self._data_folder())
        if not lines:
            shown = self.summaries(Filter(kind=SessionKind.MAIN)).sessions
            lines = [Listed(summary.id, _first_file(summary)) for summary in shown]
        if not 1 <= number <= len(lines):
            return None
        line = lines[number - 1]
        return self._whole(line.id, line.file)

    def _whole(self, session_id: str, file: str | None) -> Session:
        """The session of an id that lies in a file; the file tells it from a namesake in another home."""
        for _, reading in self._likely_readings(session_id):
            for session in reading.sessions:
                if session.id == session_id and _first_file(session) == file:
                    return session
        return self._by_id(session_id)

    def _by_id(self, wanted: str) -> Session:
        likely = [session for _, reading in self._likely_readings(wanted) for session in reading.sessions]
        meant = identity.pick(likely, wanted)
        if meant is not None:
            return _same(likely, meant)
        known = list(self._summaries())
        named = identity.pick(known, wanted)
        if named is None:
            raise identity.not_found(known, wanted)
        return self._anywhere(named)

    def _anywhere(self, named: SessionSummary) -> Session:
        """A session whose files do not bear its id."""
        for _, reading in self._readings():
            for session in reading.sessions:
                if session.id == named.id and _first_file(session) == _first_file(named):
                    return session
        raise identity.not_found([], named.id)

    def _likely_readings(self, wanted: str) -> Iterator[tuple[Bundle, Reading]]:
        """Only the bundles whose names hold the first letters of an id: nearly always enough."""
        hint = identity.file_name_hint(wanted)
        return self._readings(lambda bundle: _is_named(bundle, hint))

    def _summaries(self, note: Callable[[Reading], object] = lambda _: None) -> Iterator[SessionSummary]:
        for _, reading in self._readings():
            note(reading)
            yield from (session.without_messages() for session in reading.sessions)

    def _readings(
        self, is_wanted: Callable[[Bundle], bool] = lambda _: True
    ) -> Iterator[tuple[Bundle, Reading]]:
        """Every bundle in its turn; a file that two homes lead to is read once."""
        seen: set[str] | None = set() if len(self._scanned()) > 1 else None
        for home, scan in self._scanned():
            source = sources.load(home.agent)
            for bundle in scan.bundles:
                if is_wanted(bundle) and not _was_seen(bundle, seen):
                    yield bundle, source.read(bundle)

    def _scanned(self) -> list[tuple[Home, Scan]]:
        if self._scans is None:
            there = [home for home in self._homes if home.path.exists()]
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
        if not self._path.exists():
            raise NothingToReadError(str(self._path), "there is no such file")

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, OSError):
            raise NothingToReadError(str(self._path), error.strerror or str(error)) from error


def _homes_below(folders: Sequence[Path], names: Sequence[str]) -> list[Home]:
    for folder in folders:
        if not folder.is_dir():
            raise HomeNotFoundError(str(folder))
    unique = list({folder.resolve(): folder for folder in folders}.values())
    return [home for folder in unique for name in names for home in sources.load(name).homes_below(folder)]


def _looks_like(path: Path) -> str:
    from geminids.sources.describe import describe

    return describe(path)


def file_meant(wanted: str) -> Path | None:
    """The path that is meant: what exists as a file is one, and so is what looks like a path."""
    if "/" in wanted or os.sep in wanted or wanted in {".", ".."}:
        return config.expanded(wanted)
    try:
        return Path(wanted) if Path(wanted).is_file() else None
    except OSError:
        # Too long for a file name, and so for an id.
        return None


def _home_report(home: Home, scan: Scan | None) -> HomeReport:
    if scan is None:
        return HomeReport(home.agent, str(home.path), home.known_by, exists=False)
    files = sum(len(bundle.files) for bundle in scan.bundles)
    return HomeReport(home.agent, str(home.path), home.known_by, True, files, scan.complete)


def _is_named(bundle: Bundle, hint: str) -> bool:
    return hint in bundle.key.lower() or any(hint in str(file.path).lower() for file in bundle.files)


def _was_seen(bundle: Bundle, seen: set[str] | None) -> bool:
    """Whether all its files were read before, under this name or another."""
    if seen is None:
        return False
    files = {os.path.realpath(file.path) for file in bundle.files}
    if files <= seen:
        return True
    seen |= files
    return False


def has_unreadable(problems: Sequence[Problem]) -> bool:
    """Whether the operating system refused anything."""
    return bool(_unreadable(problems))


def _unreadable(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if problem.kind is ProblemKind.UNREADABLE]


def _same(sessions: Sequence[Session], summary: SessionSummary) -> Session:
    return next(session for session in sessions if session is summary)


def _first_file(summary: SessionSummary) -> str | None:
    """The file that tells a session from a namesake, in letters that can be kept: not every path is UTF-8."""
    return summary.files[0].path.encode("utf-8", "backslashreplace").decode() if summary.files else None


def _as_they_began(session: Session) -> tuple[bool, bool, datetime | None, str]:
    # A file belongs to the session that the human led; subagents in it come after.
    began = session.started_at
    return (session.kind is not SessionKind.MAIN, began is None, began, session.id)
