"""What some homes hold, read project by project: memory never holds more than one bundle."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from itertools import islice

from geminids import sources
from geminids.model import CompanionKind, Problem, Project, Session
from geminids.query.fidelity import HomeReport
from geminids.query.meant import LISTED, Wanted
from geminids.query.projects import Shelved
from geminids.sources.base import Home, Reading, Scan, may_exist
from geminids.sources.bundles import Shelf, shelves
from geminids.sources.traces import Trace, trace


def _everything(_: object) -> bool:
    return True


class Stock:
    """The files in some homes."""

    def __init__(self, homes: Sequence[Home]) -> None:
        self._homes = homes
        self._scans: list[tuple[Home, Scan]] | None = None

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that are looked at, as far as they exist."""
        return tuple(str(home.path) for home, _ in self._scanned())

    @property
    def scans(self) -> list[Scan]:
        """What each home holds."""
        return [scan for _, scan in self._scanned()]

    @property
    def closed_folders(self) -> list[Problem]:
        """What could not be looked into."""
        return [problem for scan in self.scans for problem in scan.problems if problem.is_unreadable]

    def is_empty(self) -> bool:
        """Whether there is no file that could hold a session, and none that we were not allowed to see."""
        return not any(scan.bundles or scan.problems or _has_words(scan) for scan in self.scans)

    def reports(self) -> list[HomeReport]:
        """The homes that were looked for, and how much was found in them."""
        scans = {home.path: scan for home, scan in self._scanned()}
        return [_home_report(home, scans.get(home.path)) for home in self._homes]

    def shelved(self, limit: int | None) -> list[Shelved]:
        """All there is, project by project, without messages."""
        shelved: list[Shelved] = []
        for shelf in self._shelves():
            beside = shelf.companions
            source = sources.load(beside.agent)
            found = Shelved(beside.project, [], beside.files, (), [], beside.agent)
            for reading in self._readings_of(shelf, _everything, limit):
                if limit is None:
                    names = (name for session in reading.sessions for name in source.named_ids(session))
                    found.named.update(f"{beside.agent}:{name}" for name in names)
                found.summaries.extend(session.without_messages() for session in reading.sessions)
                found.problems.extend(reading.problems)
                found.typed += reading.typed
            shelved.append(found)
        return shelved

    def readings(self, is_wanted: Wanted = _everything, limit: int | None = None) -> Iterator[Reading]:
        """Every bundle in its turn, and what lies beside those of a project after them."""
        for shelf in self._shelves():
            yield from self._readings_of(shelf, is_wanted, limit)

    def _readings_of(self, shelf: Shelf, is_wanted: Wanted, limit: int | None) -> Iterator[Reading]:
        source = sources.load(shelf.companions.agent)
        reads_beside = is_wanted(shelf.companions) and bool(shelf.companions.files)
        # Only what is listed among the sessions is compared with them, and only saved chats hold replies.
        beside = {file.kind for file in shelf.companions.files} if reads_beside else set()
        needs_traces = not LISTED.isdisjoint(beside)
        traced = partial(trace, replies=CompanionKind.SAVED_CHAT in beside)
        traces: list[Trace] = []
        for bundle in shelf.bundles:
            wanted = is_wanted(bundle)
            if not (wanted or needs_traces):
                continue
            reading = source.read(bundle)
            if needs_traces:
                traces.extend(map(traced, reading.sessions))
            if wanted:
                yield reading
        if reads_beside:
            yield source.read_beside(shelf.companions, traces, limit)

    def proof_of(self, session: Session) -> Iterator[Project]:
        """What another session of the same project knows about its folder, if one proves it."""
        files = {file.path for file in session.files}
        for shelf in self._shelves():
            if files.isdisjoint(str(file.path) for bundle in shelf.bundles for file in bundle.files):
                continue
            projects = (s.project for b in shelf.bundles for s in sources.load(b.agent).read(b).sessions)
            same = (project for project in projects if project.hash == session.project.hash)
            yield from islice((project for project in same if project.certain), 1)

    def named_folders(self, unknown: Collection[str]) -> Iterator[str]:
        """The folders that the sessions of unknown projects name."""
        bundles = (bundle for shelf in self._shelves() for bundle in shelf.bundles)
        for bundle in (bundle for bundle in bundles if bundle.project.hash in {None, *unknown}):
            source = sources.load(bundle.agent)
            for session in source.read(bundle).sessions:
                if session.project.hash in unknown:
                    yield from source.named_folders(session)

    def _shelves(self) -> list[Shelf]:
        return shelves(self.scans)

    def _scanned(self) -> list[tuple[Home, Scan]]:
        if self._scans is None:
            there = [home for home in self._homes if may_exist(home.path)]
            self._scans = [(home, sources.load(home.agent).scan(home)) for home in there]
        return self._scans


def _home_report(home: Home, scan: Scan | None) -> HomeReport:
    if scan is None:
        return HomeReport(home.agent, str(home.path), home.known_by, exists=False)
    files = sum(len(bundle.files) for bundle in scan.bundles)
    return HomeReport(home.agent, str(home.path), home.known_by, True, files, scan.complete)


def _has_words(scan: Scan) -> bool:
    """Whether words were left beside sessions that are gone."""
    return any(file.kind in LISTED for beside in scan.companions for file in beside.files)
