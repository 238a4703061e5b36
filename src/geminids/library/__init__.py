"""Library: the one door through which every face reads sessions.

    from geminids import Library

    with Library() as library:
        for session in library.sessions():
            print(session.title)

What there is comes from the index, which is brought up to date first; the words of a session are read from
the agents' files when it is shown. No file of an agent is ever written. Much of this is loaded only when it
is asked for: a list of sessions has less time than it takes to load the model.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from geminids import sample as bundled
from geminids.core import config
from geminids.core.agents import available as available_agents
from geminids.core.agents import load as load_agent
from geminids.core.agents.homes import IMPORTED, Home, may_be_folder, may_exist
from geminids.core.disk import REAL, Disk, heed
from geminids.core.errors import (
    AgentFolderError,
    GeminidsError,
    HomeNotFoundError,
    NoFolderError,
    NoHashError,
    NoIndexError,
    NoSuchLineError,
    NotInstalledError,
    NotLinkedError,
    SessionNotFoundError,
    ShortIdError,
)
from geminids.core.names import keepable
from geminids.core.settings import BadSettingsError
from geminids.storage.archive import FOLDER as KEPT_FOLDER
from geminids.storage.archive import Archive
from geminids.storage.archive.disk import KeptDisk
from geminids.storage.index.database import (
    DamagedIndexError,
    Index,
    Place,
    closed_on_error,
    naming_damage,
    naming_strange_rows,
)

if TYPE_CHECKING:
    from datetime import datetime
    from threading import Event as Stop
    from types import ModuleType

    from geminids.core.agents.resume import Circumstances
    from geminids.core.errors import Unreadable
    from geminids.core.model import Companion, FileAccount, Problem, Project, Session, SessionSummary, Source
    from geminids.core.settings import Settings
    from geminids.library.attest.recording import Records
    from geminids.library.custody.keeping import KeptCopies
    from geminids.library.exporting import Exporting, Item
    from geminids.query.health.facts import IndexFacts
    from geminids.query.health.fidelity import Fidelity
    from geminids.query.health.overview import Overview
    from geminids.query.projects.report import Contents, Projects, Resolved
    from geminids.query.projects.timeline import ProjectStory
    from geminids.query.search.found import Found
    from geminids.query.search.found_sessions import FoundInOrder
    from geminids.query.search.language import Query
    from geminids.query.search.question import Question
    from geminids.query.sessions.beginning import Beginning
    from geminids.query.sessions.facets import FacetCounts
    from geminids.query.sessions.homes_reader import Stock
    from geminids.query.sessions.last_list import LastList
    from geminids.query.sessions.listing import Filter, Listing
    from geminids.query.sessions.lookup import Meant
    from geminids.query.sessions.marked import Marked, MarkedSessions
    from geminids.query.sessions.rereading import RereadingMany
    from geminids.query.sessions.resume import ToResume
    from geminids.query.usage.costs import Costing
    from geminids.query.usage.explanation import (
        ExplainedSession,
        ExplainedTotal,
    )
    from geminids.query.usage.over_time import OverTime
    from geminids.query.usage.prices import Prices
    from geminids.query.usage.stats import (
        LargestSessions,
        Statistics,
        StatsQuestion,
    )
    from geminids.sharing.records.natives import Natives
    from geminids.sharing.redact import Redactor
    from geminids.sharing.transcript.entries import Detail, StoryEntry
    from geminids.storage.durable.mark_changes import MarkChange
    from geminids.storage.durable.marks import Marks
    from geminids.storage.durable.tombstones import Tombstone
    from geminids.storage.index.reader import SessionRow
    from geminids.storage.index.totals import BusyHour
    from geminids.sync import Keep, Outcome, Sync
    from geminids.sync.projects.knowledge import Folders
    from geminids.sync.watch import AnyEvent, Pace

OF_SIGNING = {"cryptography", "rfc3161_client"}
"""Packages that the extra `sign` brings."""

LEAST_OF_A_HASH = 4
WHOLE_HASH = re.compile(r"[0-9a-f]{64}")
BUDGET = 5.0
"""Seconds that a command may spend on what is new before it answers with what it has."""

LARGE = 2_000_000
"""Bytes of a session; one that is smaller is read before anybody notices."""

PRICES_FILE = "prices.json"
"""In our folder: the prices of the models that were asked for."""

PAGE = 500
"""Sessions that are looked for at a time where all are wanted."""
MOST_VERIFIED = 50
"""Sessions that are counted where their texts must be read."""

Answer = TypeVar("Answer")
Tell = Callable[[str], None]
Progress = Callable[[int, int], None]
"""Told how many bytes of how many are read."""


def _loaded(module: str) -> ModuleType:
    """A room of ours. Raises SigningNotInstalledError if it needs what only an extra brings."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package not in OF_SIGNING:
            raise
        from geminids.sharing.records.errors import SigningNotInstalledError

        raise SigningNotInstalledError(package) from error


def _nobody(_: str) -> None:
    """Says nothing to anybody."""


def open_library(
    homes: Sequence[str] = (),
    data: str | None = None,
    *,
    sample: bool = False,
    sample_if_empty: bool = False,
    sync: bool = True,
    tell: Tell = _nobody,
    progress: Progress | None = None,
    environment: Mapping[str, str] = os.environ,
) -> Library:
    """The sessions of the given homes, else of this machine, else (if wished) of the sample."""
    opened = partial(Library, data=data, sync=sync, tell=tell, progress=progress, environment=environment)
    library = opened(homes, sample=sample)
    if not sample_if_empty or sample or are_chosen(homes, environment):
        return library
    with closed_on_error(library):
        if not library.is_empty():
            return library
    library.close()
    return opened(sample=True)


def are_chosen(homes: Sequence[str] = (), environment: Mapping[str, str] = os.environ) -> bool:
    """Whether somebody said which homes are meant: then no sample is shown in their place."""
    return bool(homes or config.home_folders((), environment))


class Library:
    """The sessions in some homes."""

    def __init__(
        self,
        homes: Sequence[str | os.PathLike[str]] = (),
        data: str | os.PathLike[str] | None = None,
        *,
        sample: bool = False,
        sync: bool = True,
        tell: Tell = _nobody,
        progress: Progress | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Open the sessions of some homes; without any, those of this machine.

        `homes` are folders that stand for a user's home, `data` is our own folder. Without `sync` the index
        is used as it is. `tell` hears what a person should know: that the index was damaged or is behind.
        """
        self._names = available_agents()
        if not self._names:
            raise NotInstalledError
        self._environment = environment
        self._data = os.fspath(data) if data is not None else None
        self._chosen = [bundled.home()] if sample else _chosen(homes, environment)
        for folder in self._chosen:
            if not may_be_folder(folder):
                raise HomeNotFoundError(folder)
        self.sample = sample
        self._opened: Index | None = None
        found = self._find_homes()
        gone = self._gone_homes(found)
        if isinstance(self._disk, KeptDisk):
            self._disk.foreign = [home.folder for home in gone if home.known_by == IMPORTED]
            self._disk.homes = [home.folder for home in found]
        self._homes = [home._replace(disk=self._disk) for home in (*found, *gone)]
        named = self._data or environment.get(config.DATA_VARIABLE)
        if named and config.is_below(config.absolute(named), self._agents_folders()):
            self.close()
            raise AgentFolderError(named)
        self._syncs = sync
        self._tell = tell
        self._progress = progress
        self._of_documents: list[Session] = []
        """Sessions that were read from documents, which anybody may have written."""
        heed(partial(_largest_file, self._data_folder, environment))

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index and of the kept copies; what is asked later opens them again."""
        if self._opened is not None:
            self._opened.close()
            self._opened = None
        if self._archive is not None:
            self._archive.close()

    # What there is

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that are looked at, as far as they exist."""
        own = (home.folder for home in self._homes if home.known_by != IMPORTED)
        return tuple(folder for folder in own if may_exist(folder))

    def is_empty(self) -> bool:
        """Whether there is no file that could hold a session, and none that we were not allowed to see."""
        from geminids.storage.index.reader import is_empty

        return self._ask(is_empty)

    def sync(self, *, full: bool = False) -> Outcome:
        """Bring the index up to date, however long it takes; with `full`, make it from nothing."""
        self.close()
        self._disk.look_again()
        self._opened, outcome = self._sync.up_to_date(full=full, progress=self._progress)
        self._disk.look_again()
        return outcome

    def index_facts(self) -> IndexFacts:
        """How much the index holds, and where it is."""
        from geminids.query.health.facts import index_facts

        return self._ask(index_facts)

    def listing(self, wanted: Filter, limit: int | None = None) -> Listing:
        """The sessions that are asked for in little, newest first, and what the question leaves out."""
        from geminids.query.sessions.listing import listing

        tagged = self._tagged(wanted.tags) if wanted.tags else ()
        return self._ask(lambda index: listing(index, wanted, limit, tagged))

    def keys(self, sessions: Sequence[SessionRow | SessionSummary]) -> list[str]:
        """What means each of some sessions alone: its id, or more where others have the same."""
        from geminids.query.sessions.ids import key_among_others
        from geminids.storage.index.reader import shared_ids

        ids = {keepable(session.id) for session in sessions}
        shared = self._ask(lambda index: shared_ids(index, ids))
        return [key_among_others(one) if keepable(one.id) in shared else one.id for one in sessions]

    def sessions(self, wanted: Filter | None = None, limit: int | None = None) -> list[SessionSummary]:
        """The sessions that are asked for, or all, without their messages, newest first."""
        from geminids.query.sessions.listing import Filter

        return self.summaries(self.listing(wanted or Filter(), limit).sessions)

    def summaries(self, rows: Sequence[SessionRow]) -> list[SessionSummary]:
        """All that is known of some sessions of a list but their messages."""
        from geminids.query.sessions.contents import summaries

        return self._ask(lambda index: summaries(index, rows))

    def unreadable(self) -> Sequence[Unreadable]:
        """The files and folders that the system did not let us read."""
        from geminids.storage.index.reader import UNREADABLE, problems

        return self._ask(lambda index: problems(index, UNREADABLE))

    def problems(self) -> list[Problem]:
        """All that could not be read, and where."""
        from geminids.query.sessions.contents import all_problems

        return self._ask(all_problems)

    def overview(self, now: datetime | None = None) -> Overview:
        """All there is, in little, and what agents are about to delete of it."""
        from geminids.query.health.overview import overview
        from geminids.query.sessions.contents import closed_folders

        found = self._contents()
        summaries = found.summaries
        return overview(
            summaries,
            found.reports(),
            {summary.agent: self.agent_title(summary.agent) for summary in summaries},
            self._ask(closed_folders) + found.problems,
            self.places,
            damaged_files=len({problem.file for problem in found.problems if problem.is_damage}),
            sample=self.sample,
            forecast=None if self.sample else self.kept.forecast(now),
            now=now,
        )

    def search(
        self, question: Question | str, now: datetime | None = None, progress: Progress | None = None
    ) -> Found:
        """The sessions and messages that hold what is looked for, the best first."""
        from datetime import UTC, datetime

        from geminids.query.search.question import Question, ask

        asked = Question(question) if isinstance(question, str) else question
        moment = now or datetime.now(UTC)
        return self._ask(lambda index: ask(index, self._homes, asked, moment, progress))

    def found_sessions(self, words: str, now: datetime | None = None) -> list[SessionRow]:
        """All sessions that a search finds, the best first. Raises SlowPatternError rather than miss one."""
        from datetime import UTC, datetime

        from geminids.query.search.question import Question
        from geminids.storage.index.reader import sessions_numbered

        moment = now or datetime.now(UTC)
        rows: list[SessionRow] = []
        question = Question(words, limit=PAGE, per_session=1)
        while True:
            found = self.search(question, moment)
            found.check_whole()
            rows += [hits.session for hits in found.sessions]
            if found.next is None:
                break
            question = question._replace(after=found.next)
        if found.total.are_all_sessions or found.is_spread or found.stopped:
            return rows
        # Only so many messages are ranked; whoever wants all sessions wants the others too.
        ranked = {row.number for row in rows}
        every = self._every_number(words, moment) or ()
        others = self._ask(lambda index: sessions_numbered(index, [n for n in every if n not in ranked]))
        return rows + [others[number] for number in every if number in others]

    def facets(self, wanted: Filter) -> FacetCounts:
        """What the sessions of a list have in common, with counts."""
        from geminids.query.sessions.facets import listed_facets

        marks = self.marks()
        tagged = self._tagged(wanted.tags) if wanted.tags else ()
        return self._ask(lambda index: listed_facets(index, wanted, marks, tagged))

    def found_in_order(
        self,
        words: str,
        order: str,
        limit: int,
        now: datetime | None = None,
        *,
        reverse: bool = False,
        tags: Sequence[str] = (),
    ) -> FoundInOrder:
        """Sessions that a search finds in one of the orders of a list; of those with some tags, if any.

        Where texts must be read to tell what is found, only the best are among them.
        """
        from geminids.query.search.found_sessions import in_order

        found, is_exact = self._found_by_index(words, now)
        tagged = self._tagged(tags) if tags else None
        listed = self._ask(lambda index: in_order(index, found, tagged, (order, reverse), limit))
        return listed._replace(is_exact=is_exact)

    def found_facets(
        self, words: str, now: datetime | None = None, *, tags: Sequence[str] = ()
    ) -> FacetCounts:
        """What the sessions that a search finds have in common, with counts; as in `found_in_order`."""
        from geminids.query.sessions.facets import facets_of

        marks, tagged = self.marks(), self._tagged(tags) if tags else None
        found, is_exact = self._found_by_index(words, now)
        counted = self._ask(lambda index: facets_of(index, found, marks, tagged))
        return counted._replace(is_exact=is_exact)

    def _found_by_index(self, words: str, now: datetime | None) -> tuple[Sequence[int], bool]:
        """Sessions that a search finds without reading many texts, by number, and whether they are all."""
        from datetime import UTC, datetime

        from geminids.query.search.question import Question

        moment = now or datetime.now(UTC)
        # Where no message has all the words, a search also tells sessions that have each of them somewhere.
        if every := self._every_number(words, moment):
            return every, True
        found = self.search(Question(words, limit=MOST_VERIFIED, per_session=0), moment)
        found.check_whole()
        return [hits.session.number for hits in found.sessions], found.next is None

    def _every_number(self, words: str, now: datetime) -> Sequence[int] | None:
        """The sessions in which a message matches; None where texts must be read to tell."""
        from geminids.query.search.question import Question, every_session

        return self._ask(lambda index: every_session(index, Question(words), now))

    def stats(self, question: StatsQuestion, now: datetime | None = None) -> Statistics:
        """What sessions did, used and cost, in groups; no file of an agent is opened."""
        from geminids.query.usage.stats import statistics

        query, found = self._counted(question, now)
        return self._ask(lambda index: statistics(index, question, query, found, self._prices))

    def over_time(
        self,
        question: StatsQuestion,
        periods: str | None = None,
        most: int = 6,
        now: datetime | None = None,
    ) -> OverTime:
        """What was used in each day, week or month, split by what the question groups by."""
        from geminids.query.usage.over_time import over_time

        query, found = self._counted(question, now)
        telling = partial(over_time, periods=periods, most=most)
        return self._ask(lambda index: telling(index, question, query, found, self._prices))

    def largest_sessions(
        self, question: StatsQuestion, most: int, now: datetime | None = None
    ) -> LargestSessions:
        """The sessions that used most and those that took most time, each with its subagents."""
        from geminids.query.usage.stats import largest_sessions

        query, found = self._counted(question, now)
        return self._ask(lambda index: largest_sessions(index, query, found, most))

    def context_windows(self, models: Collection[str]) -> dict[str, int | None]:
        """How many tokens a prompt of some models may have; None where the price list does not tell."""
        prices = self._prices({(None, model) for model in models}, as_settled=False)
        return {model: prices.context_window(None, model) for model in models}

    def hours(self, question: StatsQuestion, now: datetime | None = None) -> list[BusyHour]:
        """In which hours of which weekdays people typed and models answered, in local time."""
        from geminids.query.usage.stats import busy_hours

        query, found = self._counted(question, now)
        return self._ask(lambda index: busy_hours(index, query, found))

    def _counted(
        self, question: StatsQuestion, now: datetime | None
    ) -> tuple[Query | None, Sequence[int] | None]:
        """What a question narrows, and the numbers of the sessions with its words; None if it has none."""
        from datetime import UTC, datetime

        from geminids.query.usage.stats import asked

        moment = now or datetime.now(UTC)
        query = asked(question, moment)
        if query is None or query.tree is None:
            return query, None
        every = self._every_number(query.text, moment)
        return query, every or [row.number for row in self.found_sessions(query.text, moment)]

    def explain(self, question: StatsQuestion, now: datetime | None = None) -> ExplainedTotal:
        """Where a total comes from: sessions that add up to it, what was not counted, what is missing."""
        from geminids.query.usage.explanation import explained_total

        found = self.stats(question._replace(by="session", fold=False, estimate=False), now)
        return self._ask(lambda index: explained_total(index, found))

    def explain_session(self, wanted: str) -> ExplainedSession:
        """Where the usage of a session comes from, request by request, or of the first in a file."""
        from geminids.query.sessions.listing import Filter
        from geminids.query.usage.explanation import descendants, explained_session
        from geminids.storage.index.copies import copied_messages

        session = self._recorded(self.read(wanted).sessions[0])
        copied = self._ask(lambda index: copied_messages(index, session.id, session.file))
        led = descendants(self.sessions(Filter(kinds=frozenset({"subagent"}))))
        return explained_session(session, copied, led.get(session.id, ()), self._prices, self._disk)

    def costing(self, models: Collection[str]) -> Costing:
        """Answers what messages of some models cost at list price."""
        from geminids.query.usage.costs import Costing

        return Costing(self._prices({(None, model) for model in models}))

    def _recorded(self, session: Session) -> Session:
        """The session that a print-out is of, with what the print-out counts; any other as it is."""
        import msgspec

        from geminids.core.model import SessionKind

        if session.kind is not SessionKind.COPY or session.reported is None:
            return session
        try:
            recorded = self.session(session.id)
        except GeminidsError:
            return session
        missing = session.unrecorded or recorded.unrecorded
        return msgspec.structs.replace(recorded, reported=session.reported, unrecorded=missing)

    def _prices(self, wanted: Collection[tuple[str | None, str]], *, as_settled: bool = True) -> Prices:
        """The prices of some models, as the user settled them or as the list has them.

        What was looked up is kept for the next time.
        """
        from contextlib import suppress

        from geminids.core.small_files import keep, kept
        from geminids.query.usage.prices import Prices, overrides_in

        folder, known = self._data_folder, None
        if folder is not None:
            with suppress(OSError, UnicodeDecodeError):
                known = kept(folder, PRICES_FILE).decode()
        prices = Prices.load(known, overrides_in(self._settings) if as_settled else None, wanted)
        if folder is not None and prices.to_keep is not None:
            # They are looked up once more if they cannot be kept.
            with suppress(OSError):
                keep(folder, PRICES_FILE, prices.to_keep.encode())
        return prices

    # Projects

    def projects(self, now: datetime | None = None, agents: Collection[str] = ()) -> Projects:
        """The projects there are, or what some agents did. For unknown folders one looks for a moment."""
        from geminids.query.projects.report import Projects, hashes_without_folder
        from geminids.query.sessions.contents import closed_folders
        from geminids.query.sessions.listing import each_file_once

        found = self._contents()
        if now and (unknown := hashes_without_folder(found.identity)):
            self._folders.search_shortly(unknown, now)
            found = self._contents_with_lessons()
        if agents:
            found = found.of_agents(agents)
        problems = [*self._ask(closed_folders), *(p for p in found.problems if p.is_unreadable)]
        return Projects(
            projects=tuple(found.reports()),
            problems=tuple(problems),
            left_unread=each_file_once(problem for problem in found.problems if not problem.is_damage),
        )

    def project_story(self, wanted: str) -> ProjectStory:
        """Everything a project holds, the oldest first."""
        from geminids.query.projects.report import Contents, identify, the_one
        from geminids.query.projects.timeline import story

        shelves = self._stock.shelved()
        identity = identify(shelves, self._folders.remembered, self._folders.repositories)
        found = Contents(shelves, identity)
        return story(found, the_one(found.reports(), wanted), self._stock.closed_folders)

    def resolve_projects(
        self, now: datetime, *, deep: bool, seconds: float, progress: Callable[[int, int], None] | None = None
    ) -> Resolved:
        """Look for the folders of projects that are known by a hash alone, and remember them."""
        from geminids.core.model import Project
        from geminids.query.projects.report import Resolved, certain_paths, hashes_without_folder

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
        from geminids.core.spellings import verified

        name = self._hash_meant(wanted)
        folder = os.path.normpath(config.absolute(path))
        # A proof needs no folder: it may have been on another machine.
        spelled = verified(name, [path, folder])
        if spelled is None and not os.path.isdir(folder):  # noqa: PTH112
            raise NoFolderError(path)
        return self._folders.link(name, spelled or folder)

    def unlink_project(self, wanted: str) -> Project:
        """Forget what the user said about the folder of a project."""
        from geminids.core.model import KnownBy, Project

        linked = [name for name in self._folders.linked if name.startswith(wanted.lower())]
        is_hash = len(wanted) >= LEAST_OF_A_HASH and len(linked) == 1
        name = linked[0] if is_hash else self._hash_meant(wanted)
        path = self._folders.unlink(name)
        if path is None:
            raise NotLinkedError(wanted)
        return Project(path, name, None, KnownBy.LINK)

    def _hash_meant(self, wanted: str) -> str:
        """The hash of the project that is meant; a whole hash may also be one that we know nothing of."""
        from geminids.query.projects.report import hash_meant

        if WHOLE_HASH.fullmatch(wanted):
            return wanted
        meant = hash_meant(self._contents().reports(), wanted)
        if meant is None:
            raise NoHashError(wanted)
        return meant

    # One session

    def read(self, wanted: str) -> Meant:
        """The sessions in a file if a file is meant, else the one session that is."""
        from geminids.query.sessions.input_files import file_meant, is_id_of_a_name
        from geminids.query.sessions.lookup import Meant

        if (path := file_meant(wanted)) and not is_id_of_a_name(wanted, path):
            return Meant(self.file(path), ())
        try:
            return self._find(wanted)
        except SessionNotFoundError:
            if os.path.isfile(wanted):  # noqa: PTH113 - pathlib raises for what cannot be a name
                return Meant(self.file(wanted), ())
            raise

    def session(self, wanted: str) -> Session:
        """The session meant by an id, the beginning of one, a number of the last list, or `latest`."""
        return self._find(wanted).sessions[0]

    def beginning(self, wanted: str, most: int, *, large: int = LARGE) -> Beginning | None:
        """The first messages of a session of more than `large` bytes, at most so many, read without the rest.

        None if that is not worth while, or if the index does not prove that all the rest changes nothing of
        them: then `session` is to be asked. Raises the error that says why there is no such session.
        """
        from geminids.query.sessions.beginning import Beginnings
        from geminids.query.sessions.contents import projects_known

        found = self._ask(lambda index: Beginnings(index, self._homes).of(wanted, most, large))
        if found is None:
            return None
        return found._replace(session=self._with_outputs(found.session, self._ask(projects_known)))

    def file(self, path: str | os.PathLike[str]) -> list[Session]:
        """The sessions in one file, the first first."""
        from pathlib import Path

        from geminids.query.sessions import input_files

        found = input_files.sessions_in(Path(path))
        if input_files.is_document(Path(path)):
            # It holds all that it tells of, and may come from anybody: no file is opened because it says so.
            self._of_documents += found
            return found
        return [self._with_outputs(session, self._folders.known) for session in found]

    def text_beside(self, companion: Companion) -> str | Problem:
        """The words of a file that lies beside a session, or lay there and is kept."""
        from geminids.reading.texts import text_beside

        return text_beside(companion, self._disk)

    def record(self, session: Session, place: Source) -> bytes:
        """The bytes of a record as the agent wrote them, also where its file is gone and kept."""
        return self._content(session, place.file)[place.start : place.end]

    def agent_view(self, wanted: str) -> dict[str, Any]:
        """The record as the agent itself would load it from a file, or from the last file of a session."""
        from pathlib import Path

        from geminids.query.sessions import input_files

        path = input_files.file_meant(wanted) or Path(self.session(wanted).files[-1].path)
        return input_files.agent_view(path)

    def resuming(self, wanted: str, now: datetime | None = None) -> ToResume:
        """How the agent of a session would go on with it, or why it cannot. Nothing is started."""
        from datetime import UTC, datetime

        from geminids.query.sessions.input_files import file_meant, is_id_of_a_name
        from geminids.query.sessions.resume import ShortNames, how_to_resume

        path = file_meant(wanted)
        is_file = path is not None and not is_id_of_a_name(wanted, path)
        session = self.file(path)[0] if path and is_file else self.session(wanted)
        circumstances = self._circumstances(
            now or datetime.now(UTC), config.absolute(wanted) if is_file else None
        )
        return how_to_resume(session, circumstances, ShortNames(self._short_id, self._short_project))

    def _circumstances(self, now: datetime, given: str | None = None) -> Circumstances:
        from geminids.core.agents.resume import Circumstances

        return Circumstances(
            environment=self._environment,
            user_home=config.expanded("~"),
            here=self._here() or config.expanded("~"),
            now=now,
            given=given,
        )

    def _short_id(self, session_id: str) -> str | None:
        from geminids.query.sessions.resume import short_id

        return self._ask(lambda index: short_id(index, session_id))

    def _short_project(self, project: Project) -> str | None:
        from geminids.query.sessions.resume import short_project

        return short_project(self._contents().reports(), project)

    # Sharing

    def export(self, wanted: str, format_name: str = "markdown", *, redact: bool = False) -> bytes:
        """One session in a format, at the level of detail that is usual for it."""
        redactor = self.redactor() if redact else None
        return b"".join(self.exporting(format_name, redactor=redactor).pieces(self.items([wanted])))

    def exporting(
        self,
        format_name: str,
        detail: Detail | None = None,
        *,
        redactor: Redactor | None = None,
        report: bool = False,
        **options: Any,
    ) -> Exporting:
        """A format with all that is chosen for it: `options` are those of `Manner` that it names."""
        from geminids.core.errors import FormatOptionError
        from geminids.library.exporting import Exporting
        from geminids.sharing import export
        from geminids.sharing.export.base import Manner
        from geminids.sharing.transcript.entries import LEVELS

        chosen = export.load(format_name)
        if unknown := sorted(options.keys() - chosen.options):
            raise FormatOptionError(format_name, unknown[0])
        if "natives" in chosen.options and redactor is None:
            # Nobody looks for secrets in what the agent wrote beside a session.
            options["natives"] = self._natives
        manner = Manner(
            detail=detail or LEVELS[chosen.level],
            agent_titles={name: self.agent_title(name) for name in self._names},
            names={session: said.name for session, said in self.marks().items() if said.name},
            **options,
        )
        return Exporting(chosen, manner, redactor, self._agents_folders(), report=report)

    def as_markdown(self, session: Session, entries: Iterable[StoryEntry], detail: Detail) -> str:
        """Some of the story of a session, as an export in Markdown would tell it."""
        from geminids.sharing.export.base import Manner
        from geminids.sharing.export.markdown import story_blocks

        manner = Manner(detail=detail, agent_titles={name: self.agent_title(name) for name in self._names})
        return "\n\n".join(story_blocks(entries, session, manner)) + "\n"

    def items(self, wanted: Sequence[str]) -> list[Item]:
        """Sessions to be exported, each meant as in `read`. A file may hold several."""
        from geminids.library.exporting import Item
        from geminids.query.sessions.last_list import Listed
        from geminids.storage.index.reader import stamps

        sessions = [session for name in wanted for session in self.read(name).sessions]
        states = self._ask(stamps)
        return [
            Item(session.id, session.file, partial(_itself, session), states.get(Listed.of(session)))
            for session in sessions
        ]

    def items_meant(self, words: Sequence[str], now: datetime | None = None) -> tuple[list[Item], bool]:
        """Sessions to be exported: those that the words name, else those that hold them, and which it is.

        Raises the error that says why there is none if only numbers are given: they are lines of a list.
        """
        from geminids.query.search.question import looks_like_query

        if not looks_like_query(words):
            try:
                return self.items(words), False
            except (SessionNotFoundError, NoSuchLineError, ShortIdError):
                if all(word.isdecimal() for word in words):
                    raise
        return self.items_of(self.found_sessions(" ".join(words), now)), True

    def items_of(self, rows: Sequence[SessionRow]) -> list[Item]:
        """Sessions of a list or a search to be exported; each is read when its turn comes."""
        from geminids.library.exporting import Item
        from geminids.storage.index.reader import stamps

        @cache
        def reader() -> Callable[[int], Session | None]:
            # A folder of exports that is up to date reads none of them.
            from geminids.query.sessions.contents import projects_known
            from geminids.query.sessions.rereading import RereadingMany

            many = self._ask(lambda index: RereadingMany(index, self._homes))
            return partial(self._reread, many, self._ask(projects_known))

        def read(number: int) -> Session | None:
            return reader()(number)

        states = self._ask(stamps)
        return [
            Item(row.id, row.file, partial(read, row.number), states.get((row.id, row.file))) for row in rows
        ]

    def redactor(self, hide: Collection[str] = (), *, keep_attachments: bool = False) -> Redactor:
        """What hides secrets in sessions, and on request home folders, names and e-mail addresses."""
        from pathlib import Path

        from geminids.sharing.redact import Redactor, load_key

        folder = Path(self._data_folder) if self._data_folder else None
        user_home = Path(config.expanded("~"))
        return Redactor(
            load_key(folder),
            hide=frozenset(hide),
            homes=(str(user_home), *self._chosen, *(str(Path(place).parent) for place in self.places)),
            users=(user_home.name,),
            keep_attachments=keep_attachments,
            cache_folder=folder / "redaction-rules" if folder else None,
        )

    def _agents_folders(self) -> list[str]:
        """The folders of agents here and in the homes that are looked at: nothing is written there."""
        return [home.folder for home in (*self._homes, *self._usual_homes())]

    def _reread(
        self, many: RereadingMany, known: Callable[[Project], Project], number: int
    ) -> Session | None:
        session = many.numbered(number)
        return self._with_outputs(session, known) if session else None

    def watch(
        self,
        wanted: str | None = None,
        *,
        project: str | None = None,
        agents: Collection[str] = (),
        last: int = 0,
        pace: Pace | None = None,
        stop: Stop | None = None,
    ) -> Iterator[AnyEvent]:
        """What is written from now on in all sessions, or in one (an id, `latest`, a file), as it happens.

        First so many of the `last` messages of what is running. The iterator waits where nothing happens;
        with a heartbeat in its pace it says so now and then. It ends when `stop` is set; closing it lets go
        of all that it watched. It starts no thread, and may run in any.
        """
        from geminids.query.sessions import watched
        from geminids.query.sessions.input_files import file_meant, is_id_of_a_name
        from geminids.sync.watch import Pace

        homes = partial(self._homes_of, agents)
        how = watched.Watch(homes, self._folders.known, last, pace or Pace(), stop)
        if wanted is None:
            return watched.watch_all(how, project)
        if (path := file_meant(wanted)) and not is_id_of_a_name(wanted, path):
            self.file(path)
            return watched.watch_file(how, path)
        return watched.watch_session(how, self.session(wanted))

    def lacks_a_home(self) -> bool:
        """Whether an agent has got a home since this library was opened: its sessions are not in it."""
        known = {home.folder for home in self._homes}
        return any(home.folder not in known for home in self._find_homes())

    def _homes_of(self, agents: Collection[str]) -> Sequence[Home]:
        """The homes of some agents, or of all; looked for again, since one may have appeared."""
        return [home for home in self._find_homes() if not agents or home.agent in agents]

    def _find(self, wanted: str) -> Meant:
        """The one session that is meant, whole, with the best that is known of its project."""
        from geminids.query.sessions.contents import projects_known

        meant = self._located(wanted)
        known = self._ask(projects_known)
        return meant._replace(sessions=[self._with_outputs(session, known) for session in meant.sessions])

    def _located(self, wanted: str) -> Meant:
        """The one session that is meant, as its own files tell it."""
        from geminids.query.sessions.lookup import Finder, Reader
        from geminids.query.sessions.rereading import Rereading

        def find(index: Index) -> Meant:
            rereading = Rereading(index, self._homes)
            reader = Reader(rereading.listed, rereading.unlisted)
            return Finder(index, reader, self._places_of_a_list(), self._last_list).find(wanted)

        return self._ask(find)

    def _with_outputs(self, session: Session, known: Callable[[Project], Project]) -> Session:
        """The session with what is known of its project, and with the whole outputs of its tools."""
        import msgspec

        project = known(session.project)
        completed = msgspec.structs.replace(session, project=project)
        return load_agent(session.agent).with_outputs(completed, self._disk)

    # What the user says of sessions

    def marks(self, session_ids: Collection[str] | None = None) -> dict[str, Marks]:
        """The name, the tags and the notes of some sessions, else of all that have any, by their ids.

        Raises GeminidsError or OSError if they cannot be read.
        """
        folder = self._data_folder
        if folder is None:
            return {}
        from geminids.storage.durable.any_marks import any_marks

        if not any_marks(folder):
            return {}
        from geminids.storage.durable.marks import marks

        if session_ids is None:
            return self._remembered(lambda: marks(folder))
        kept = {session: keepable(session) for session in session_ids}
        known = self._remembered(lambda: marks(folder, kept.values()))
        return {session: known[name] for session, name in kept.items() if name in known}

    def tags(self) -> dict[str, int]:
        """All tags and how many sessions have each, the most used first."""
        from geminids.storage.durable.marks import tag_counts

        folder = self._data_folder
        return self._remembered(lambda: tag_counts(folder)) if folder else {}

    def marked(self) -> MarkedSessions:
        """All sessions that have a name, a tag or a note, also those whose files are gone."""
        from geminids.query.sessions.marked import marked_sessions

        known, tags = self.marks(), self.tags()
        return self._ask(lambda index: marked_sessions(index, known, tags))

    def mark(self, wanted: str, change: MarkChange | None = None, at: datetime | None = None) -> Marked:
        """Change what is said of a session, all of it or nothing; what is said of it then.

        The session is meant as in `session`, or is one whose files are gone and that was marked before.
        """
        from datetime import UTC, datetime

        from geminids.storage.durable import mark_changes

        session = self._to_mark(wanted)
        if change is None:
            return session._replace(marks=self.marks([session.id]).get(session.id, session.marks))
        if self._data_folder is None:
            raise FileNotFoundError(errno.ENOENT, "this user has no home to keep it in", config.DURABLE_FILE)
        said = mark_changes.change(self._data_folder, session.id, change, at or datetime.now(UTC))
        return session._replace(marks=said)

    def _to_mark(self, wanted: str) -> Marked:
        """The session that is meant, without its marks: a damaged file of marks is mended by a change."""
        from geminids.query.sessions.marked import Marked, elsewhere

        try:
            session = self._located(wanted).sessions[0]
        except (SessionNotFoundError, NoSuchLineError):
            if gone := elsewhere(self.marks(), wanted):
                return gone
            raise
        return Marked(keepable(session.id), session.title, is_here=True)

    def _tagged(self, tags: Sequence[str]) -> Collection[str]:
        from geminids.storage.durable.marks import tagged

        folder = self._data_folder
        return self._remembered(lambda: tagged(folder, tags)) if folder else ()

    # What became of every byte, and what is kept between commands

    def doctor(self, files: Sequence[str] = (), *, with_names: bool = False) -> Fidelity:
        """What became of every byte and record of all files, or of those given; what stood in the way."""
        from pathlib import Path

        from geminids.query.health.fidelity import Names, fidelity, without_names
        from geminids.query.sessions import input_files

        scans = [] if files else self._stock.scans
        summaries: list[SessionSummary] = []
        accounts: list[FileAccount] = []
        problems = [problem for scan in scans for problem in scan.problems]
        by_hand = (input_files.reading_of(Path(config.expanded(file))) for file in files)
        for one in by_hand if files else self._stock.readings():
            summaries.extend(session.without_messages() for session in one.sessions)
            accounts.extend(one.accounts)
            problems.extend(one.problems)
        folder = self._data_folder
        report = fidelity(
            homes=[] if files else self._stock.reports(),
            summaries=summaries,
            accounts=accounts,
            problems=problems,
            skipped=((file.reason, file.size) for scan in scans for file in scan.skipped),
            data_folder=str(folder) if folder else None,
        )
        return report if with_names else without_names(report, Names(Path(config.expanded("~")), self.places))

    def remember(self, listed: Sequence[SessionRow | SessionSummary]) -> None:
        """Keep what a list showed, so that its numbers mean something. Raises OSError if that fails."""
        if self._data_folder is None:
            raise FileNotFoundError(errno.ENOENT, "this user has no home")
        from geminids.query.sessions import last_list
        from geminids.query.sessions.last_list import LastList, Listed

        lines = tuple(map(Listed.of, listed))
        last_list.remember(self._data_folder, LastList(self._places_of_a_list(), lines))

    def agent_title(self, name: str) -> str:
        """The agent as people call it; one that we cannot read, as it calls itself."""
        return load_agent(name).title if name in self._names else name

    @property
    def memory_is_damaged(self) -> bool:
        """Whether links and what was learnt of projects cannot be read."""
        # Loading all that is remembered takes long; the index knows whether there was any trouble.
        generation = self._ask(lambda index: index.meta("generation"))
        return generation is not None and generation < 0 and self._folders.is_damaged

    # The index, and what stands behind it

    def _ask(self, question: Callable[[Index], Answer]) -> Answer:
        """The answer of the index; one that turns out to be damaged is made anew first."""
        try:
            with naming_strange_rows(self._index().path):
                return self._answer(question)
        except DamagedIndexError as error:
            place = self._place()
            if place is None:
                raise
            self.close()
            self._tell(f"{error} It is now {place.move_aside(error.path)!r}{self._what_follows_damage()}.")
            return self._answer(question)

    def _what_follows_damage(self) -> str:
        return "; the index is made anew" if self._syncs else ""

    def _answer(self, question: Callable[[Index], Answer]) -> Answer:
        index = self._index()
        with naming_damage(index.path):
            return question(index)

    def _index(self) -> Index:
        if self._opened is None:
            self._opened = self._current() if self._syncs else self._as_it_is()
        return self._opened

    def _current(self) -> Index:
        index, outcome = self._sync.up_to_date(budget=BUDGET, progress=self._progress)
        self._disk.look_again()
        with closed_on_error(index):
            for message in (*outcome.said, *(self._archive.said if self._archive else ())):
                self._tell(message)
            if outcome.left:
                self._tell(
                    f"There was no time for all that is new: {outcome.left:,} more groups of files. "
                    "`geminids sync` takes them in."
                )
            return index

    def _as_it_is(self) -> Index:
        place = self._place()
        index = place.open() if place else None
        if index is None:
            raise NoIndexError
        return index

    @cached_property
    def _sync(self) -> Sync:
        from geminids.sync import Sync

        return Sync(
            self._homes,
            self._place,
            lambda: self._folders,
            self._generation,
            self._here,
            everything=lambda: self._settings.every_word,
            tell=self._tell,
            keep=self._keep,
            learns=not self.sample,
        )

    # Signed records

    @cached_property
    def records(self) -> Records:
        """Signed records: making, checking and cutting them."""
        recording = _loaded("geminids.library.attest.recording")
        lent = recording.Lent(self._data_folder, self._content, self.file, self._agents_folders())
        records: Records = recording.Records(lent)
        return records

    def _natives(self, session: Session) -> Natives | None:
        """The records of a session as its agent wrote them; None for one that a document tells of."""
        if any(session is told for told in self._of_documents):
            return None
        from geminids.sharing.records.record_maker import RecordMaker

        return RecordMaker(self._content).natives(session)

    def _content(self, session: Session, path: str) -> bytes:
        """The bytes of a file of a session as they were when it was read, unpacked where its agent packs."""
        from pathlib import Path

        from geminids.reading.bounded import read_whole

        known = session.agent in self._names
        unpacked = load_agent(session.agent).unpacked(Path(path), self._disk) if known else None
        if unpacked is not None:
            return unpacked
        sizes = {file.path: file.size for file in session.files}
        # It may have grown since.
        return read_whole(path, self._disk)[: sizes.get(path)]

    # Kept copies

    @cached_property
    def kept(self) -> KeptCopies:
        """The kept copies, and what can be done with them; what is new is kept before."""
        if self._syncs:
            self._index()
        from geminids.library.custody.context import Surroundings
        from geminids.library.custody.keeping import KeptCopies

        return KeptCopies(
            Surroundings(
                archive=self._archive,
                data=self._data_folder,
                homes=self._homes,
                settings=self._settings,
                ask=self._ask,
                find=self.session,
                forgotten=self._forgotten,
                build_anew=partial(self.sync, full=True),
                circumstances=self._circumstances,
            )
        )

    @cached_property
    def _archive(self) -> Archive | None:
        """The kept copies; none of the sample, and none for a user without a home."""
        folder = None if self.sample else self._data_folder
        return Archive(f"{folder}/{KEPT_FOLDER}") if folder else None

    @cached_property
    def _disk(self) -> Disk:
        """The disk with kept copies of what is gone from it."""
        archive = self._archive
        if archive is None:
            return REAL
        return KeptDisk(archive.newest, archive.content, _moved_name, archive.versions, archive.part)

    def _keep(self) -> Keep | None:
        if self._archive is None:
            return None
        from geminids.sync import Keep

        rules = self._settings.keep
        if unknown := sorted(rules.agents.keys() - set(self._names)):
            raise BadSettingsError(
                self._settings.file,
                f"[keep] names {unknown[0]!r}, which is no agent; there are {', '.join(self._names)}, and "
                "folders begin with / or ~",
            )
        return Keep(self._archive, rules, self._forgotten, self._lift, self._generation_of_forgotten)

    def _forgotten(self) -> dict[str, Tombstone]:
        folder = self._data_folder
        if folder is None:
            return {}
        from geminids.storage.durable.tombstones import tombstones

        return self._remembered(lambda: tombstones(folder))

    def _generation_of_forgotten(self) -> int:
        from geminids.storage.durable.database import FORGOTTEN, generation

        return generation(self._data_folder, FORGOTTEN) if self._data_folder else 0

    def _remembered(self, question: Callable[[], Answer]) -> Answer:
        """An answer of the file with what the user told us; one that is damaged is mended, which is said.

        Raises GeminidsError or OSError if it cannot be mended.
        """
        from geminids.storage.durable.database import DamagedStoreError

        try:
            return question()
        except DamagedStoreError:
            self._mend_what_was_told()
            return question()

    def _mend_what_was_told(self) -> None:
        """Recover the file with what the user told us, and say so. Raises GeminidsError or OSError."""
        from pathlib import Path

        from geminids.storage.durable.recovery import mend

        if self._data_folder is not None and (told := mend(Path(self._data_folder))):
            self._tell(told)

    def _lift(self, sessions: Collection[str]) -> None:
        from pathlib import Path

        from geminids.storage.durable.tombstones import lift

        if self._data_folder is not None:
            lift(Path(self._data_folder), sessions)

    def _gone_homes(self, found: Sequence[Home]) -> list[Home]:
        """Homes that are known by copies alone: deleted, or of another machine."""
        if self._archive is None:
            return []
        there = {home.folder for home in found}
        return [
            Home(agent, folder, IMPORTED if is_imported else "kept copies")
            for agent, folder, is_imported in self._archive.folders()
            if folder not in there and agent in self._names and self._is_looked_at(folder, is_imported)
        ]

    def _is_looked_at(self, home: str, is_imported: bool) -> bool:
        """Whether a home that is known by copies alone is one of those that are looked at."""
        if self._chosen:
            return any(_lies_right_in(home, folder) for folder in self._chosen)
        return is_imported or _lies_right_in(home, config.expanded("~"))

    @cached_property
    def _settings(self) -> Settings:
        from geminids.core.settings import read_settings

        return read_settings(self._data_folder, self._environment)

    @cached_property
    def _data_folder(self) -> str | None:
        return config.data_folder(self._data, self._environment)

    def _place(self) -> Place | None:
        folder = self._data_folder
        return Place(folder, [home.folder for home in self._homes]) if folder else None

    def _generation(self) -> int:
        from geminids.storage.durable.database import DAMAGED, generation

        folder = self._data_folder
        number = generation(folder) if folder else 0
        if folder and number == DAMAGED:
            # What cannot be mended is said where somebody asks for it.
            with suppress(GeminidsError, OSError):
                self._mend_what_was_told()
            number = generation(folder)
        return number

    def _here(self) -> str | None:
        return config.current_folder(self._environment)

    @cached_property
    def _folders(self) -> Folders:
        from pathlib import Path

        from geminids.sync.projects.knowledge import Folders

        data, here = self._data_folder, config.current_folder(self._environment)
        folders = Folders(
            lambda: Path(data) if data else None,
            Path(config.expanded("~")),
            self._environment,
            Path(here) if here else None,
        )
        if folders.is_damaged:
            # What cannot be mended is said by `memory_is_damaged`.
            with suppress(GeminidsError, OSError):
                self._mend_what_was_told()
            folders.recall()
        return folders

    @cached_property
    def _stock(self) -> Stock:
        from geminids.query.sessions.homes_reader import Stock

        return Stock(self._homes)

    def _contents(self) -> Contents:
        """All there is, without messages, and whose it is."""
        from geminids.query.sessions.contents import contents

        return self._ask(lambda index: contents(index, self._folders.repositories))

    def _contents_with_lessons(self) -> Contents:
        """The same with what a search has just found, whether that could be kept or not."""
        from geminids.query.projects.report import Contents, identify

        shelves = self._contents().shelves
        identity = identify(shelves, self._folders.remembered, self._folders.repositories)
        return Contents(shelves, identity)

    def _last_list(self) -> LastList | None:
        from geminids.query.sessions import last_list

        return last_list.recall(self._data_folder) if self._data_folder else None

    def _places_of_a_list(self) -> tuple[str, ...]:
        return tuple(sorted(map(keepable, self.places)))

    def _find_homes(self) -> list[Home]:
        """The homes that were chosen, else those of this machine; one may appear while somebody watches."""
        if self._chosen:
            unique = list({os.path.realpath(folder): folder for folder in self._chosen}.values())
            every = ((folder, load_agent(name)) for folder in unique for name in self._names)
            return [home for folder, source in every for home in source.homes_below(folder)]
        return self._usual_homes()

    def _usual_homes(self) -> list[Home]:
        """The homes that agents use on this machine."""
        user_home = config.expanded("~")
        return [home for name in self._names for home in load_agent(name).homes(self._environment, user_home)]


def _lies_right_in(home: str, folder: str) -> bool:
    """Whether the home of an agent lies where agents have it in the home of a user, or is that folder."""
    return home == folder or os.path.dirname(home) in (folder, f"{folder}{os.sep}.cache")  # noqa: PTH120


def _largest_file(folder: str | None, environment: Mapping[str, str]) -> int:
    """How much is read of one session file; asked only where one is large."""
    from geminids.core.settings import read_settings

    return read_settings(folder, environment).largest_file


def _moved_name(path: str) -> str | None:
    """What stays the same of a file when an agent moves or packs it."""
    names = (load_agent(name).moved_name(path) for name in available_agents())
    return next((name for name in names if name), None)


def _itself(session: Session) -> Session:
    return session


def _chosen(homes: Sequence[str | os.PathLike[str]], environment: Mapping[str, str]) -> list[str]:
    """The folders that stand for a user's home, by hand or by the environment; none means this machine."""
    return config.home_folders([os.fspath(home) for home in homes], environment)
