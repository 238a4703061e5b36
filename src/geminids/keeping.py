"""Kept copies, for whoever looks after them: what there is, what is about to go, and what can be put back.

`Library.kept` gives it. Nothing here writes into the folder of an agent but `restore` and `rescue`, and these
never write over a file.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, Protocol, TypeVar

import msgspec

from geminids import archive as archives
from geminids import sources
from geminids.archive import Archive, Version
from geminids.config import DURABLE_FILE, is_below
from geminids.disk import REAL, AnyPath, Disk, Entry, Facts
from geminids.errors import AgentFolderError, NoHomeHereError, NothingKeptError, NoVersionError
from geminids.model import CompanionKind, Session, SessionSummary
from geminids.names import keepable
from geminids.query.contents import summaries
from geminids.query.forecasting import ForecastReport, Held, forecast_report
from geminids.query.keeping import (
    FileVersion,
    Forgettable,
    Forgotten,
    KeepStatus,
    KeptHome,
    SessionVersions,
)
from geminids.query.last_list import Listed
from geminids.query.rereading import Rereading
from geminids.sources.base import CompanionFile, Home
from geminids.sources.fates import Fate
from geminids.sources.places import IMPORTED, may_exist
from geminids.sources.rescuing import Stranded
from geminids.sources.restoring import Copy
from geminids.sources.resuming import Circumstances
from geminids.store import reading as rows
from geminids.store.contents import shelves
from geminids.store.fates import fates
from geminids.store.folders import folders_of_session
from geminids.store.forgotten import Tombstone, bury, lift
from geminids.store.index import Index
from geminids.store.reading import Condition, SessionRow
from geminids.store.times import moment
from geminids.sync.packing import unpacked

if TYPE_CHECKING:
    from geminids.archive.moving import Exported, Imported
    from geminids.archive.verifying import Verified
    from geminids.rescuing import Repaired
    from geminids.restoring import RestorePlan
    from geminids.settings import Settings

Answer = TypeVar("Answer")
Progress = Callable[[int, int], None]


class Asking(Protocol):
    """How the index is asked."""

    def __call__(self, question: Callable[[Index], Answer]) -> Answer: ...  # noqa: D102


class Surroundings(NamedTuple):
    """What a library lends to whoever looks after its copies."""

    archive: Archive | None
    data: str | None
    """Our own folder."""
    homes: Sequence[Home]
    settings: Settings
    ask: Asking
    find: Callable[[str], Session]
    """The one session that is meant."""
    forgotten: Callable[[], Mapping[str, Tombstone]]
    build_anew: Callable[[], object]
    """Makes the index from nothing."""
    circumstances: Callable[[datetime], Circumstances]


class KeptCopies:
    """The kept copies of a library."""

    def __init__(self, surroundings: Surroundings) -> None:
        self._near = surroundings

    # What there is

    def status(self, now: datetime | None = None) -> KeepStatus:
        """How things stand with the copies, and what agents are about to delete."""
        archive, settings = self._near.archive, self._near.settings
        totals = archive.totals() if archive else archives.Totals(0, 0, 0, 0, 0, 0)
        homes = archive.homes() if archive else []
        rules = settings.keep
        every, gone = self._near.ask(_session_counts)
        said = {"*": rules.others, **rules.agents, **rules.folders}
        return KeepStatus(
            folder=archive.folder if archive else None,
            is_on=archive is not None and not rules.is_off,
            left_out=tuple(name for name, is_kept in said.items() if not is_kept),
            settings=settings.file if self._near.data else None,
            files=totals.files,
            versions=totals.versions,
            bytes=totals.size,
            bytes_on_disk=totals.size_on_disk,
            last_kept_at=moment(max((home.last for home in homes), default=None)),
            homes=tuple(map(_kept_home, homes)),
            sessions=every,
            sessions_gone=gone,
            forgotten=len(self._near.forgotten()),
            troubles=tuple(archive.said) if archive else (),
            forecast=self.forecast(now),
        )

    def forecast(self, now: datetime | None = None) -> ForecastReport:
        """What agents are going to delete by themselves, the soonest first."""
        noted = self._near.ask(fates)
        numbers = {row.session for row in noted if row.session is not None}
        known = self._near.ask(lambda index: rows.sessions_numbered(index, numbers))
        held = {row.file: _held(known[row.session]) for row in noted if row.session in known}
        by_agent: dict[str, list[Fate]] = {}
        for row in noted:
            by_agent.setdefault(row.agent, []).append(Fate(row.file, row.last_used, row.traits))
        there = [home for home in self._near.homes if may_exist(home.folder)]
        return forecast_report(there, by_agent, held, self._kept_paths, self._circumstances(now))

    def _kept_paths(self, paths: Collection[str]) -> set[str]:
        archive = self._near.archive
        known = archive.newest() if archive and archive.exists() else {}
        return {path for path in paths if path in known}

    def versions(self, wanted: str) -> SessionVersions:
        """All states of the files of a session that are kept, the oldest first."""
        session = self._near.find(wanted)
        return SessionVersions(session=session.without_messages(), versions=tuple(self._versions(session)))

    def _versions(self, session: SessionSummary) -> Iterator[FileVersion]:
        archive = self._archive()
        newest = {file.path: archive.versions(file.path) for file in session.files}
        every = sorted((version for kept in newest.values() for version in kept), key=lambda one: one.number)
        for number, version in enumerate(every, 1):
            yield FileVersion(
                number=number,
                file=version.path,
                size=version.size,
                modified_at=moment(version.mtime_ns // 1_000),
                kept_at=moment(version.kept_at) or datetime.fromtimestamp(0, UTC),
                digest=version.digest,
                is_newest=version == newest[version.path][-1],
            )

    def session_as_it_was(self, wanted: str, number: int) -> Session:
        """A session with one of its files in an earlier state, by the number that `versions` gives it."""
        session = self._near.find(wanted)
        archive = self._archive()
        numbered = [one for one in self._versions(session) if one.number == number]
        if not numbered:
            raise NoVersionError(session.id, number, len(list(self._versions(session))))
        kept = archive.versions(numbered[0].file)
        version = next(one for one in kept if one.digest == numbered[0].digest)
        disk = _EarlierDisk(archive, {version.path: version}, self._near.homes[0].disk)
        homes = [home._replace(disk=disk) for home in self._near.homes]
        line = Listed.of(session)
        earlier = self._near.ask(lambda index: Rereading(index, homes).listed(line)).session
        if earlier is None:
            raise NoVersionError(session.id, number, len(kept))
        return earlier

    # Care

    def verify(self, progress: Progress | None = None) -> Verified:
        """Check every copy; what is damaged is healed from the file itself, if that is still there."""
        from geminids.archive.verifying import verify

        return verify(self._archive(), _original, progress)

    def export(
        self,
        target: str,
        wanted: Sequence[str] = (),
        progress: Progress | None = None,
        *,
        replace: bool = False,
    ) -> Exported:
        """Write the copies of all, or of some sessions, into one file that another machine can take over."""
        from geminids.archive.moving import export_to

        archive = self._archive()
        if wanted:
            sessions = [self._near.find(name) for name in wanted]
            paths: Iterable[str] = {path for session in sessions for path in self._paths_of(session)}
        else:
            paths = archive.newest()
        versions = [version for path in paths for version in archive.versions(path)]
        return export_to(archive, target, versions, progress, replace=replace)

    def take_over(self, file: str, progress: Progress | None = None) -> Imported:
        """Take over the copies in a file that `export` wrote. What is there stays."""
        if self._near.archive is None:
            raise NothingKeptError
        from geminids.archive.moving import import_from

        return import_from(self._near.archive, file, progress)

    # Putting back

    def restoring(self, wanted: str, folder: str | None = None, now: datetime | None = None) -> RestorePlan:
        """How a session would be put back where its agent finds it, or into a folder. Nothing is written."""
        from geminids.restoring import plan_in_home, plan_to_folder

        session = self._near.find(wanted)
        home = self._home_of(session)
        copies = self._copies(session)
        if folder is None:
            return plan_in_home(session.id, *self._on_this_machine(home, copies), self._circumstances(now))
        if is_below(folder, [one.folder for one in self._near.homes]):
            raise AgentFolderError(folder)
        return plan_to_folder(session.id, home.folder, copies, folder)

    def restore(self, plan: RestorePlan) -> list[str]:
        """Write what was planned; never over a file. The paths that were written."""
        from geminids.restoring import write

        return write(plan)

    def _copies(self, session: Session) -> list[Copy]:
        """The kept copies of all that belongs to a session. What is there, whoever puts them back sees."""
        archive = self._archive()
        newest = archive.newest()
        kept = [newest[path] for path in self._paths_of(session) if path in newest]
        if not kept:
            raise NothingKeptError(session.id)
        return [
            Copy(
                path=version.path,
                size=version.size,
                mtime_ns=version.mtime_ns,
                read=partial(archive.content, version),
            )
            for version in kept
        ]

    def _on_this_machine(self, home: Home, copies: list[Copy]) -> tuple[Home, list[Copy]]:
        """The home of the agent here, and what came from another machine as if it had lain in it."""
        from geminids.restoring import pieces_below

        if home.known_by != IMPORTED:
            return home, copies
        own = next((o for o in self._near.homes if o.agent == home.agent and o.known_by != IMPORTED), None)
        if own is None:
            raise NoHomeHereError(home.agent, home.folder)
        moved: list[Copy] = []
        for copy in copies:
            pieces = pieces_below(copy.path, home.folder)
            if pieces is not None:
                moved.append(msgspec.structs.replace(copy, path=str(Path(own.folder, *pieces))))
        return own, moved

    def _paths_of(self, session: Session | SessionSummary) -> list[str]:
        """The files of a session, of those that it led, and what lies beside them."""
        led = self._near.ask(lambda index: _led_by(index, session.id))
        every = [session, *led]
        files = [file.path for one in every for file in one.files]
        beside = [companion.path for one in every for companion in one.companions]
        return list(dict.fromkeys([*files, *beside]))

    def _home_of(self, session: Session) -> Home:
        path = session.file or ""
        holding = [home for home in self._near.homes if path.startswith(home.folder + os.sep)]
        if not holding:
            raise NothingKeptError(session.id)
        return max(holding, key=lambda home: len(home.folder))

    # Rescue

    def stranded(self, now: datetime | None = None, agents: Collection[str] = ()) -> list[Stranded]:
        """Sessions that their agents can no longer show or go on with, though they are on the disk."""
        circumstances = self._circumstances(now)
        return [
            found
            for home in self._near.homes
            if may_exist(home.folder) and (not agents or home.agent in agents)
            for found in sources.load(home.agent).stranded(_real(home), circumstances)
        ]

    def rescue(self, found: Stranded, now: datetime | None = None) -> Repaired:
        """Write a new file of a session, with which its agent can show it again. No other file is touched."""
        from geminids.rescuing import repaired, write_new

        made = repaired(found, now or datetime.now(UTC))
        write_new(made.path, made.content)
        return made

    # Forgetting

    def forgetting(self, sessions: Sequence[SessionRow]) -> list[Forgettable]:
        """What would be forgotten of some sessions, and what would remain."""
        return [self._forgettable(summary) for summary in self._near.ask(lambda i: summaries(i, sessions))]

    def forget(
        self, wanted: Sequence[Forgettable], *, until_changed: bool = False, now: datetime | None = None
    ) -> Forgotten:
        """Take sessions out of the index and of the kept copies for good, and do not let them come back."""
        data = self._data()
        at = (now or datetime.now(UTC)).isoformat()
        stones = [
            Tombstone(keepable(summary.id), at, until_changed, _facts_of(summary))
            for one in wanted
            for summary in (one.session, *one.subagents)
        ]
        bury(data, stones)
        freed = self._remove_copies(wanted)
        # Words of what was deleted stay in an index until it is made anew.
        self._near.build_anew()
        return Forgotten(sessions=tuple(wanted), until_changed=until_changed, freed=freed)

    def tombstones(self) -> list[Tombstone]:
        """The sessions that are not to come back."""
        return list(self._near.forgotten().values())

    def recall(self, session_ids: Collection[str]) -> None:
        """Let forgotten sessions come back, as far as their files are there."""
        lift(self._data(), session_ids)
        # Their files are the same as when they were left out.
        self._near.build_anew()

    def _forgettable(self, summary: SessionSummary) -> Forgettable:
        led = self._near.ask(lambda index: _led_by(index, summary.id))
        own = {summary.id, *(one.id for one in led)}
        paths = self._paths_of(summary)
        shared = self._near.ask(lambda index: _held_by_others(index, paths, own))
        archive = self._near.archive
        newest = archive.newest() if archive and archive.exists() else {}
        going = [newest[path] for path in paths if path in newest and path not in shared]
        logs = [path for path in self._prompt_logs(summary) if path in newest]
        return Forgettable(
            session=summary,
            subagents=tuple(led),
            copies=len(going),
            bytes=sum(version.size for version in going),
            shared=(*(path for path in paths if path in shared and path in newest), *logs),
            remaining=tuple(path for path in paths if os.path.lexists(path)),
        )

    def _prompt_logs(self, summary: SessionSummary) -> Iterator[str]:
        """The logs of all that is typed in a project which also tell of this session."""
        for path in self._near.ask(lambda index: _logs_beside(index, summary)):
            with suppress(OSError):
                if summary.native_id.encode("utf-8", "surrogatepass") in self._near.homes[0].disk.read(path):
                    yield path

    def _remove_copies(self, wanted: Sequence[Forgettable]) -> int:
        archive = self._near.archive
        if archive is None or not archive.exists():
            return 0
        paths = {path for one in wanted for path in self._paths_of(one.session)}
        shared = {path for one in wanted for path in one.shared}
        numbers = [version.number for path in paths - shared for version in archive.versions(path)]
        with archive.writing() as writer:
            return writer.remove(numbers)

    def _archive(self) -> Archive:
        archive = self._near.archive
        if archive is None or not archive.exists():
            raise NothingKeptError
        return archive

    def _data(self) -> Path:
        if self._near.data is None:
            raise FileNotFoundError(errno.ENOENT, "this user has no home to note it in", DURABLE_FILE)
        return Path(self._near.data)

    def _circumstances(self, now: datetime | None) -> Circumstances:
        return self._near.circumstances(now or datetime.now(UTC))


class _EarlierDisk(Disk):
    """A disk on which some files are as they once were."""

    def __init__(self, archive: Archive, earlier: Mapping[str, Version], disk: Disk) -> None:
        self._archive = archive
        self._earlier = earlier
        self._disk = disk

    def entries(self, folder: AnyPath) -> Sequence[Entry]:
        """What a folder holds now."""
        return self._disk.entries(folder)

    def facts(self, path: AnyPath) -> Facts:
        """What a file looks like now."""
        return self._disk.facts(path)

    def read(self, path: AnyPath) -> bytes:
        """What was in a file then."""
        version = self._earlier.get(os.fspath(path))
        return self._archive.content(version) if version else self._disk.read(path)

    def opened(self, path: AnyPath) -> BinaryIO:
        """The same, to be read piece by piece."""
        version = self._earlier.get(os.fspath(path))
        return BytesIO(self._archive.content(version)) if version else self._disk.opened(path)

    def is_there(self, path: AnyPath) -> bool:
        """Whether something is there now."""
        return self._disk.is_there(path)

    def has_copies_below(self, folder: AnyPath) -> bool:
        """Whether there are kept copies of what lay in a folder."""
        return self._disk.has_copies_below(folder)


def _held(row: SessionRow) -> Held:
    return Held(row.id, row.title, row.project.path)


def _real(home: Home) -> Home:
    """The home as it is, without what is gone from it."""
    return home._replace(disk=REAL)


def _kept_home(home: archives.KeptHome) -> KeptHome:
    return KeptHome(
        agent=home.agent,
        folder=home.folder,
        files=home.files,
        bytes=home.size,
        is_there=may_exist(home.folder),
        imported=home.is_imported,
    )


def _original(version: Version) -> bytes | None:
    """What is in the file that a copy was made of; None if it is not there, or no plain file."""
    try:
        return REAL.read(version.path) if REAL.is_file(version.path) else None
    except OSError:
        return None


def _facts_of(summary: SessionSummary) -> dict[str, tuple[int, int]]:
    """Size and time of change of the files of a session, as far as they are there."""
    facts: dict[str, tuple[int, int]] = {}
    for file in summary.files:
        with suppress(OSError):
            now = REAL.facts(file.path)
            facts[keepable(file.path)] = (now.st_size, now.st_mtime_ns)
    return facts


def _session_counts(index: Index) -> tuple[int, int]:
    """How many sessions there are, and how many are known by their copies alone."""
    return rows.session_count(index), rows.session_count(index, [Condition("kept")])


def _led_by(index: Index, session_id: str) -> list[SessionSummary]:
    """The sessions that a session led, and those that they led."""
    led: list[SessionSummary] = []
    above = [session_id]
    known = {session_id}
    while above:
        found = rows.sessions(index, [rows.one_of("parent_id", above), rows.one_of("kind", ["subagent"])])
        new = [row for row in found if row.id not in known]
        led += summaries(index, new)
        above = [row.id for row in new]
        known.update(above)
    return led


def _logs_beside(index: Index, summary: SessionSummary) -> list[str]:
    """The logs of typed lines in the folders of a session's project."""
    folders = tuple(folder + os.sep for folder in folders_of_session(index, summary.id))
    packed = (shelf.companions for shelf in shelves(index))
    beside = (file for companions in packed for file in unpacked(companions, tuple[CompanionFile, ...]))
    logs = (file.path for file in beside if file.kind is CompanionKind.PROMPT_LOG)
    return [path for path in logs if path.startswith(folders)]


def _held_by_others(index: Index, paths: Iterable[str], own: Collection[str]) -> set[str]:
    """Which of some files also hold sessions that are not among these."""
    wanted = set(paths)
    neighbours = [row for row in rows.sharing_bundles(index, own) if row.id not in own]
    return {file.path for one in summaries(index, neighbours) for file in one.files if file.path in wanted}
