"""Which agents are here, and geminids in them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime

from geminids.core import agents
from geminids.core.agents.homes import Home, may_be_folder
from geminids.core.agents.install import Launch
from geminids.core.agents.protocols import Installer
from geminids.core.config import absolute, is_below
from geminids.core.errors import GeminidsError
from geminids.library.context import LibraryContext
from geminids.library.installing import files
from geminids.library.installing.plans import InstallPlan, Planner
from geminids.library.installing.record import Installed, InstallRecord


class NoDataFolderError(GeminidsError):
    """There is no place to note what is installed."""

    def __init__(self) -> None:
        super().__init__(
            "This user has no home directory: use `--data DIR` to say where geminids keeps its data."
        )


class Installation:
    """geminids in the agents of some homes."""

    def __init__(self, context: LibraryContext) -> None:
        self._context = context

    def agents(self) -> list[str]:
        """The agents that geminids can be installed into, whether they are here or not."""
        return [name for name in self._context.agents if agents.load(name).installer() is not None]

    def homes(self, wanted: Sequence[str] = ()) -> list[Home]:
        """The homes of agents that are here, or of those that are wanted."""
        meant = [home for home in self._context.finder.found() if not wanted or home.agent in wanted]
        # What is noted is read from other folders, too.
        found = [home._replace(folder=absolute(home.folder)) for home in meant]
        return [home for home in found if self._is_here(home)]

    def planned(self, wanted: Sequence[str], launch: Launch, now: datetime) -> list[InstallPlan]:
        """What is to be written for each agent that is here."""
        plans: list[InstallPlan] = []
        circumstances = self._context.circumstances(now)
        with self._nobody_writing():
            for home, installer in self._installers(self.homes(wanted)):
                wished = installer.installing(home, launch, circumstances)
                if wished is not None:
                    planner = Planner(home, self._title(home), self._record)
                    plans.append(planner.install(wished, installer.places(home, launch), launch.version))
        return plans

    def planned_removal(self, wanted: Sequence[str], launch: Launch) -> list[InstallPlan]:
        """What is to be taken away from each agent, also from homes that are only on our list."""
        homes = {(home.agent, home.folder): home for home in self.homes(wanted)}
        for entry in self._record.entries():
            is_meant = not self._context.chosen or is_below(entry.home, self._context.chosen)
            if is_meant and (not wanted or entry.agent in wanted):
                homes.setdefault((entry.agent, entry.home), Home(entry.agent, entry.home, "installed"))
        with self._nobody_writing():
            return [
                Planner(home, self._title(home), self._record).uninstall(installer.places(home, launch))
                for home, installer in self._installers(homes.values())
            ]

    def carry_out(self, plan: InstallPlan) -> None:
        """Do what is planned, all of it or nothing; what another process has done meanwhile is done.

        Raises GeminidsError, OSError with the name of the file.
        """
        with self._record.alone():
            if not files.are_made(plan.changes):
                self._write(plan)

    def _write(self, plan: InstallPlan) -> None:
        record, known = self._record, self._record.entry(plan.agent, plan.home)
        if plan.entry is not None:
            for content in plan.backups:
                record.keep(content)
            # Noted first: who is stopped in between leaves nothing that the next one does not know.
            record.put(plan.agent, plan.home, _with_made(plan.entry, files.missing_folders(plan.changes)))
        try:
            files.apply(plan.changes)
        except files.NotTakenBackError:
            # It stays on the list, so that it can be removed.
            raise
        except BaseException:
            if plan.entry is not None:
                record.put(plan.agent, plan.home, known)
            raise
        files.remove_empty(plan.emptied)
        if plan.entry is None and known is not None:
            files.tidy_beside(edit.path for edit in known.edits)
            record.put(plan.agent, plan.home, None)

    def installed(self) -> tuple[Installed, ...]:
        """What is on our list."""
        return self._record.entries() if self._context.data_folder else ()

    @contextmanager
    def _nobody_writing(self) -> Iterator[None]:
        """A while in which agents are looked at as another process has left them."""
        with ExitStack() as stack:
            # Where nothing can be written in our own folder, nothing is installed either.
            with suppress(OSError):
                stack.enter_context(self._record.alone())
            yield

    @property
    def _record(self) -> InstallRecord:
        if self._context.data_folder is None:
            raise NoDataFolderError
        return InstallRecord(self._context.data_folder)

    def _installers(self, homes: Iterable[Home]) -> list[tuple[Home, Installer]]:
        offered = ((home, agents.load(home.agent).installer()) for home in homes)
        return [(home, installer) for home, installer in offered if installer is not None]

    def _is_here(self, home: Home) -> bool:
        """Whether an agent uses a home, or will when it is first started."""
        if may_be_folder(home.folder):
            return True
        program = agents.load(home.agent).program
        path = self._context.environment.get("PATH") or ""
        is_usual = not self._context.chosen and os.path.isdir(os.path.dirname(home.folder))  # noqa: PTH112, PTH120
        return is_usual and program is not None and shutil.which(program, path=path) is not None

    def _title(self, home: Home) -> str:
        return self._context.agent_title(home.agent)


def _with_made(entry: Installed, folders: Iterable[str]) -> Installed:
    """What is installed, with folders that are made for it."""
    made = dict.fromkeys((*entry.made, *folders))
    return Installed(entry.agent, entry.home, entry.version, entry.packages, entry.edits, tuple(made))
