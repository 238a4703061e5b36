"""How things stand with the kept copies, and what agents are about to delete."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime

from geminids.core.agents.base import Home
from geminids.core.agents.fates import Fate
from geminids.core.agents.homes import IMPORTED, may_exist
from geminids.core.disk import REAL
from geminids.library.context import LibraryContext
from geminids.query.health.forecast import ForecastReport, Held, forecast_report
from geminids.query.health.kept_copies import KeepStatus, KeptHome
from geminids.storage.archive import values
from geminids.storage.archive.values import Version
from geminids.storage.index import reader as rows
from geminids.storage.index.database import Index
from geminids.storage.index.fates import fates, sessions_in_short
from geminids.storage.index.reader import Condition
from geminids.storage.times import moment


class KeptStatus:
    """Tells what is kept, and what is about to go."""

    def __init__(self, context: LibraryContext) -> None:
        self._context = context

    def status(self, now: datetime | None = None) -> KeepStatus:
        """How things stand with the copies, and what agents are about to delete."""
        archive, settings = self._context.archive, self._context.settings
        totals = archive.totals() if archive else values.Totals(0, 0, 0, 0, 0, 0)
        homes = archive.homes() if archive else []
        rules = settings.keep
        every, gone = self._context.ask(_session_counts)
        said = {"*": rules.others, **rules.agents, **rules.folders}
        return KeepStatus(
            folder=archive.folder if archive else None,
            is_on=archive is not None and not rules.is_off,
            left_out=tuple(name for name, is_kept in said.items() if not is_kept),
            settings=settings.file if self._context.data_folder else None,
            files=totals.files,
            versions=totals.versions,
            bytes=totals.size,
            bytes_on_disk=totals.size_on_disk,
            last_kept_at=moment(max((home.last for home in homes), default=None)),
            homes=tuple(map(_kept_home, homes)),
            sessions=every,
            sessions_gone=gone,
            forgotten=len(self._context.notes.forgotten()),
            troubles=tuple(archive.said) if archive else (),
            forecast=self.forecast(now),
        )

    def forecast(self, now: datetime | None = None) -> ForecastReport:
        """What agents are going to delete by themselves, the soonest first."""
        noted = self._context.ask(fates)
        numbers = {row.session for row in noted if row.session is not None}
        known = self._context.ask(lambda index: sessions_in_short(index, numbers))
        held = {row.file: Held(*known[row.session]) for row in noted if row.session in known}
        by_agent: dict[str, list[Fate]] = {}
        for row in noted:
            by_agent.setdefault(row.agent, []).append(Fate(row.file, row.last_used, row.traits))
        return forecast_report(
            self.homes_here(),
            by_agent,
            held,
            self._kept_paths,
            self._context.circumstances(now or datetime.now(UTC)),
        )

    def homes_here(self) -> list[Home]:
        """The homes of this machine that are there."""
        own = (home for home in self._context.homes if home.known_by != IMPORTED)
        return [home for home in own if may_exist(home.folder)]

    def _kept_paths(self, paths: Collection[str]) -> set[str]:
        """Those of some files of which there is a copy as they are."""
        archive = self._context.archive
        known = archive.newest() if archive and archive.exists() else {}
        return {path for path in paths if path in known and _is_unchanged(known[path])}


def _is_unchanged(version: Version) -> bool:
    """Whether a file still is as it was when it was kept, as it seems."""
    try:
        now = REAL.facts(version.path)
    except OSError:
        return False
    return (now.st_size, now.st_mtime_ns) == (version.size, version.mtime_ns)


def _kept_home(home: values.KeptHome) -> KeptHome:
    return KeptHome(
        agent=home.agent,
        folder=home.folder,
        files=home.files,
        bytes=home.size,
        is_there=may_exist(home.folder),
        imported=home.is_imported,
    )


def _session_counts(index: Index) -> tuple[int, int]:
    """How many sessions there are, and how many are known by their copies alone."""
    return rows.session_count(index), rows.session_count(index, [Condition("kept")])
