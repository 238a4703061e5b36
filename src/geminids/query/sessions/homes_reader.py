"""What some homes hold, read project by project: memory never holds more than one bundle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial

import msgspec

from geminids.core import agents
from geminids.core.agents.base import Bundle, Companions, Home, Reading, Scan, may_exist
from geminids.core.agents.traces import Trace, trace
from geminids.core.model import CompanionKind, Problem
from geminids.query.projects.report import Shelved
from geminids.reading.bundles import LISTED, Shelf, read_beside, read_bundle, shelves

Wanted = Callable[[Bundle | Companions], bool]
"""Whether these files are to be read."""


def _everything(_: object) -> bool:
    return True


class HomeReport(msgspec.Struct, frozen=True):
    """A place where an agent keeps its data, and what was found there."""

    agent: str
    path: str
    known_by: str
    exists: bool
    files: int = 0
    complete: bool = True


class HomesReader:
    """The files in some homes."""

    def __init__(self, homes: Sequence[Home], only: Collection[str] | None = None) -> None:
        self._homes = homes
        self._only = only
        self._scans: list[tuple[Home, Scan]] | None = None

    @property
    def scans(self) -> list[Scan]:
        """What each home holds."""
        return [scan for _, scan in self._scanned()]

    @property
    def closed_folders(self) -> list[Problem]:
        """What could not be looked into."""
        return [problem for scan in self.scans for problem in scan.problems if problem.is_unreadable]

    def reports(self) -> list[HomeReport]:
        """The homes that were looked for, and how much was found in them."""
        scans = {home.folder: scan for home, scan in self._scanned()}
        return [_home_report(home, scans.get(home.folder)) for home in self._homes]

    def shelved(self) -> list[Shelved]:
        """All there is, project by project, without messages."""
        shelved: list[Shelved] = []
        for shelf in self._shelves():
            beside = shelf.companions
            source = agents.load(beside.agent)
            found = Shelved(beside.project, [], beside.files, (), [], beside.agent)
            for reading in self._readings_of(shelf, _everything, limit=None):
                names = (
                    name for session in reading.sessions for name in source.companions().named_ids(session)
                )
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
            reading = read_bundle(bundle)
            if needs_traces:
                traces.extend(map(traced, reading.sessions))
            if wanted:
                yield reading
        if reads_beside:
            yield read_beside(shelf.companions, traces, limit)

    def bundles(self) -> Iterator[Bundle]:
        """Every bundle, unread."""
        return (bundle for shelf in self._shelves() for bundle in shelf.bundles)

    def named_folders(self, unknown: Collection[str]) -> Iterator[str]:
        """The folders that the sessions of unknown projects name."""
        for bundle in (bundle for bundle in self.bundles() if bundle.project.hash in {None, *unknown}):
            source = agents.load(bundle.agent)
            for session in source.read(bundle).sessions:
                if session.project.hash in unknown:
                    yield from source.projects().named_folders(session)

    def _shelves(self) -> list[Shelf]:
        return shelves(self.scans)

    def _scanned(self) -> list[tuple[Home, Scan]]:
        if self._scans is None:
            there = [home for home in self._homes if _holds_anything(home)]
            self._scans = [(home, agents.load(home.agent).scan(home, self._only)) for home in there]
        return self._scans


def _holds_anything(home: Home) -> bool:
    return may_exist(home.folder) or home.disk.has_copies_below(home.folder)


def _home_report(home: Home, scan: Scan | None) -> HomeReport:
    if scan is None:
        return HomeReport(home.agent, home.folder, home.known_by, exists=False)
    files = sum(len(bundle.files) for bundle in scan.bundles)
    exists = may_exist(home.folder)
    return HomeReport(home.agent, home.folder, home.known_by, exists, files, scan.complete)
