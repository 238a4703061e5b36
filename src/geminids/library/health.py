"""How things stand: what there is in little, what could not be read, what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from geminids.core import config
from geminids.library.one_session import OneSessionMethods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.errors import Unreadable
    from geminids.core.model import FileAccount, Problem, SessionSummary
    from geminids.library.custody.kept_copies import KeptCopies
    from geminids.library.installing.installation import Installation
    from geminids.query.health.facts import IndexFacts
    from geminids.query.health.fidelity import Fidelity, HiddenSessions
    from geminids.query.health.overview import Overview


class HealthMethods(OneSessionMethods):
    """What a library tells of its own state."""

    def overview(self, now: datetime | None = None) -> Overview:
        """All there is, in little, and what agents are about to delete of it."""
        from geminids.query.health.overview import overview
        from geminids.query.sessions.contents import closed_folders

        context = self._context
        found = context.contents()
        summaries = found.summaries
        return overview(
            summaries,
            found.reports(),
            {summary.agent: context.agent_title(summary.agent) for summary in summaries},
            context.ask(closed_folders) + found.problems,
            context.places,
            damaged_files=len({problem.file for problem in found.problems if problem.is_damage}),
            sample=context.sample,
            # What is kept is known when all is read.
            forecast=None if context.sample or context.index.to_come() else self.kept.forecast(now),
            now=now,
        )

    def index_facts(self) -> IndexFacts:
        """How much the index holds, and where it is."""
        from geminids.query.health.facts import index_facts

        return self._context.ask(index_facts)

    def is_empty(self) -> bool:
        """Whether there is no file that could hold a session, and none that we were not allowed to see."""
        from geminids.storage.index.reader import is_empty

        return self._context.ask(is_empty)

    def unreadable(self) -> Sequence[Unreadable]:
        """The files and folders that the system did not let us read."""
        from geminids.storage.index.reader import UNREADABLE, problems

        return self._context.ask(lambda index: problems(index, UNREADABLE))

    def problems(self) -> list[Problem]:
        """All that could not be read, and where."""
        from geminids.query.sessions.contents import all_problems

        return self._context.ask(all_problems)

    def doctor(self, files: Sequence[str] = (), *, with_names: bool = False) -> Fidelity:
        """What became of every byte and record of all files, or of those given; what stood in the way."""
        from pathlib import Path

        from geminids.query.health.fidelity import Names, fidelity, without_names
        from geminids.query.sessions import input_files

        reader = self._context.homes_reader
        scans = [] if files else reader.scans
        summaries: list[SessionSummary] = []
        accounts: list[FileAccount] = []
        problems = [problem for scan in scans for problem in scan.problems]
        by_hand = (input_files.reading_of(Path(config.expanded(file))) for file in files)
        for one in by_hand if files else reader.readings():
            summaries.extend(session.without_messages() for session in one.sessions)
            accounts.extend(one.accounts)
            problems.extend(one.problems)
        report = fidelity(
            homes=[] if files else reader.reports(),
            summaries=summaries,
            accounts=accounts,
            problems=problems,
            skipped=((file.reason, file.size) for scan in scans for file in scan.skipped),
            data_folder=self._context.data_folder,
            hidden=None if files else self._hidden(),
        )
        if with_names:
            return report
        return without_names(report, Names(Path(config.expanded("~")), self._context.places))

    def _hidden(self) -> HiddenSessions:
        from geminids.library.custody.kept_copies import KeptCopies
        from geminids.query.health.fidelity import HiddenSessions

        # Files are looked at as they are: the index need not be brought up to date for it.
        found = [one for one in KeptCopies(self._context, self.session).stranded() if not one.is_slight]
        partly = sum(one.severity == "partly" for one in found)
        return HiddenSessions(len(found), partly, tuple(sorted({one.session.agent for one in found})))

    @property
    def memory_is_damaged(self) -> bool:
        """Whether links and what was learnt of projects cannot be read."""
        # Loading all that is remembered takes long; the index knows whether there was any trouble.
        generation = self._context.ask(lambda index: index.meta("generation"))
        return generation is not None and generation < 0 and self._context.folders.is_damaged

    @cached_property
    def installation(self) -> Installation:
        """Geminids in the agents that are here."""
        from geminids.library.installing.installation import Installation

        return Installation(self._context)

    @cached_property
    def kept(self) -> KeptCopies:
        """The kept copies, and what can be done with them; what is new is kept before."""
        self._context.index.catch_up()
        from geminids.library.custody.kept_copies import KeptCopies

        return KeptCopies(self._context, self.session)
