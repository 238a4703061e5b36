"""Kept copies, for whoever looks after them: what there is, what is about to go, and what can be put back.

`Library.kept` gives it. Nothing here writes into the folder of an agent but `restore` and `rescue`, and these
never write over a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from geminids.core.agents import custodian as custodian_of
from geminids.core.agents import load as load_agent
from geminids.core.agents.base import Home
from geminids.core.agents.homes import IMPORTED
from geminids.core.agents.rescue import Progress, Stranded
from geminids.core.agents.restore import Copy
from geminids.core.agents.resume import Circumstances
from geminids.core.config import is_below
from geminids.core.disk import REAL
from geminids.core.errors import (
    AgentFolderError,
    NoCustodyError,
    NoHomeHereError,
    NothingKeptError,
    NoVersionError,
)
from geminids.core.model import Session
from geminids.library.context import LibraryContext
from geminids.library.custody.status import KeptStatus
from geminids.library.custody.versions import KeptVersions
from geminids.query.health.forecast import ForecastReport
from geminids.query.health.kept_copies import Forgettable, Forgotten, KeepStatus, SessionVersions
from geminids.storage.archive.values import Version
from geminids.storage.index.values import SessionRow
from geminids.storage.times import moment

if TYPE_CHECKING:
    from geminids.core.agents.protocols import Custodian
    from geminids.library.custody.forget import Forgetter
    from geminids.library.custody.rescue import Repaired
    from geminids.library.custody.restore import RestorePlan
    from geminids.storage.archive.values import Exported, Imported, Verified
    from geminids.storage.durable.values import Tombstone


class KeptCopies:
    """The kept copies of a library."""

    def __init__(self, context: LibraryContext, find: Callable[[str], Session]) -> None:
        """`find` gives the one session that is meant."""
        self._context = context
        self._find = find
        self._status = KeptStatus(context)
        self._versions = KeptVersions(context)

    # What there is

    def status(self, now: datetime | None = None) -> KeepStatus:
        """How things stand with the copies, and what agents are about to delete."""
        return self._status.status(now)

    def forecast(self, now: datetime | None = None) -> ForecastReport:
        """What agents are going to delete by themselves, the soonest first."""
        return self._status.forecast(now)

    def versions(self, wanted: str) -> SessionVersions:
        """All states of the files of a session that are kept, the oldest first."""
        session = self._find(wanted)
        return SessionVersions(session=session.without_messages(), versions=tuple(self._versions.of(session)))

    def session_as_it_was(self, wanted: str, number: int) -> Session:
        """A session with one of its files in an earlier state, by the number that `versions` gives it."""
        session = self._find(wanted)
        archive = self._versions.archive()
        numbered = [one for one in self._versions.of(session) if one.number == number]
        if not numbered:
            raise NoVersionError(session.id, number, len(list(self._versions.of(session))))
        kept = archive.versions(numbered[0].file)
        version = next(one for one in kept if one.digest == numbered[0].digest)
        earlier = self._versions.as_it_was(session, version)
        if earlier is None:
            raise NoVersionError(session.id, number, len(kept))
        return earlier

    # Care

    def verify(self, progress: Progress | None = None) -> Verified:
        """Check every copy; what is damaged is healed from the file itself, if that is still there."""
        from geminids.storage.archive.verification import verify

        return verify(self._versions.archive(), _original, progress)

    def export(
        self,
        target: str,
        wanted: Sequence[str] = (),
        progress: Progress | None = None,
        *,
        replace: bool = False,
    ) -> Exported:
        """Write the copies of all, or of some sessions, into one file that another machine can take over."""
        from geminids.storage.archive import transfer

        sessions = [self._find(name) for name in wanted]
        paths = (
            {path for session in sessions for path in self._versions.paths_of(session)} if wanted else None
        )
        return transfer.export_to(self._versions.archive(), target, paths, progress, replace=replace)

    def take_over(self, file: str, progress: Progress | None = None) -> Imported:
        """Take over the copies in a file that `export` wrote. What is there stays."""
        from geminids.storage.archive import transfer

        if self._context.archive is None:
            raise NothingKeptError
        taken = transfer.import_from(self._context.archive, file, progress)
        self._forgetting.take_out_again()
        return taken

    def left_out(self, taken: Imported) -> bool:
        """Return whether the chosen homes leave out some of those that copies were imported of."""
        looks_at = self._context.finder.looks_at
        return not all(looks_at(folder, is_imported=True) for _, folder in taken.homes)

    # Putting back

    def restoring(self, wanted: str, folder: str | None = None, now: datetime | None = None) -> RestorePlan:
        """How a session would be put back where its agent finds it, or into a folder. Nothing is written."""
        from geminids.library.custody.restore import plan_in_home, plan_to_folder

        if folder is not None and is_below(folder, [one.folder for one in self._context.homes]):
            raise AgentFolderError(folder)
        session = self._find(wanted)
        home = self._home_of(session)
        chosen = self._versions.speaking(session)
        copies = list(map(self._copy, chosen.values()))
        if folder is not None:
            plan = plan_to_folder(session.id, home.folder, copies, folder)
        else:
            plan = plan_in_home(session.id, *self._on_this_machine(home, copies), self._circumstances(now))
        return msgspec.structs.replace(plan, warnings=(*self._states_told(chosen), *plan.warnings))

    def restore(self, plan: RestorePlan) -> list[str]:
        """Write what was planned; never over a file. The paths that were written."""
        from geminids.library.custody.restore import write

        return write(plan)

    def _states_told(self, chosen: Mapping[str, Version]) -> Iterator[str]:
        for path, version in chosen.items():
            if version != self._versions.archive().versions(path)[-1]:
                at = f"{moment(version.kept_at):%Y-%m-%d %H:%M}"
                yield (
                    f"The newest version of {path!r} no longer holds it. The version of {at} UTC is restored."
                )

    def _copy(self, version: Version) -> Copy:
        return Copy(
            path=version.path,
            size=version.size,
            mtime_ns=version.mtime_ns,
            read=partial(self._versions.archive().content, version),
        )

    def _on_this_machine(self, home: Home, copies: list[Copy]) -> tuple[Home, list[Copy]]:
        """The home of the agent here, and what came from another machine as if it had lain in it."""
        from geminids.library.custody.restore import pieces_below

        if home.known_by != IMPORTED:
            return home, copies
        own = next((o for o in self._context.homes if o.agent == home.agent and o.known_by != IMPORTED), None)
        if own is None:
            raise NoHomeHereError(home.agent, home.folder)
        moved: list[Copy] = []
        for copy in copies:
            pieces = pieces_below(copy.path, home.folder)
            if pieces is not None:
                moved.append(msgspec.structs.replace(copy, path=str(Path(own.folder, *pieces))))
        return own, moved

    def _home_of(self, session: Session) -> Home:
        path = session.file or ""
        holding = [home for home in self._context.homes if path.startswith(home.folder + os.sep)]
        if not holding:
            raise NothingKeptError(session.id)
        return max(holding, key=lambda home: len(home.folder))

    # Rescue

    def stranded(
        self,
        now: datetime | None = None,
        agents: Collection[str] = (),
        progress: Progress | None = None,
    ) -> list[Stranded]:
        """Sessions that their agents can no longer show or go on with, though they are on the disk."""
        if agents and not any(map(custodian_of, agents)):
            raise NoCustodyError("which sessions it hides", [load_agent(name).title for name in agents])
        circumstances = self._circumstances(now)
        return [
            found
            for home in self._status.homes_here()
            if not agents or home.agent in agents
            if (custodian := custodian_of(home.agent))
            for found in custodian.stranded(_real(home), circumstances, progress)
        ]

    def custodians(self, agents: Collection[str] = ()) -> dict[str, Custodian | None]:
        """Return the custodians of some agents by their names, else of all that have a home here."""
        names = set(agents) or {home.agent for home in self._status.homes_here()}
        return {name: custodian_of(name) for name in sorted(names)}

    def rescue(self, found: Stranded, now: datetime | None = None) -> Repaired:
        """Write a new file of a session, with which its agent can show it again. No other file is touched."""
        from geminids.library.custody.rescue import repaired, write_new

        made = repaired(found, now or datetime.now(UTC))
        write_new(made.path, made.content, self._home_of(found.session).folder)
        return made

    # Forgetting

    def forgetting(self, sessions: Sequence[SessionRow]) -> list[Forgettable]:
        """What would be forgotten of some sessions, and what would remain."""
        return self._forgetting.would_take(sessions)

    def forget(
        self, wanted: Sequence[Forgettable], *, until_changed: bool = False, now: datetime | None = None
    ) -> Forgotten:
        """Take sessions out of the index and of the kept copies for good, and do not let them come back."""
        return self._forgetting.forget(wanted, until_changed=until_changed, now=now)

    def tombstones(self) -> list[Tombstone]:
        """The sessions that are not to come back."""
        return self._forgetting.tombstones()

    def recall(self, session_ids: Collection[str]) -> None:
        """Let forgotten sessions come back with all that they led, as far as their files are there."""
        self._forgetting.recall(session_ids)

    @cached_property
    def _forgetting(self) -> Forgetter:
        from geminids.library.custody.forget import Forgetter

        return Forgetter(self._context)

    def _circumstances(self, now: datetime | None) -> Circumstances:
        return self._context.circumstances(now or datetime.now(UTC))


def _real(home: Home) -> Home:
    """The home as it is, without what is gone from it."""
    return home._replace(disk=REAL)


def _original(version: Version) -> bytes | None:
    """What is in the file that a copy was made of; None if it is not there, or no plain file."""
    try:
        return REAL.read(version.path) if REAL.is_file(version.path) else None
    except OSError:
        return None
