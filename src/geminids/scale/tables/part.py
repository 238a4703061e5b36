"""One part of the tables: read from the agents' files, made safe to share, written. Any process can do it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.core.agents.base import Reading
from geminids.core.atomic_files import temporary_folder
from geminids.core.errors import RedactionError
from geminids.core.model import Problem, Project, Session
from geminids.core.names import storable
from geminids.query.projects.known_projects import in_letters
from geminids.query.sessions.by_month import Found, FoundBeside, FoundBundle, Missing
from geminids.reading.bundles import read_beside, read_bundle
from geminids.scale.homes import BESIDE_LIMIT
from geminids.scale.places.errors import StoreFailedError
from geminids.scale.places.stored import Store
from geminids.scale.places.stores import open_store
from geminids.scale.rows import Row, Rows, Whose, add_session, hidden_names, key_of, no_rows, problem_rows
from geminids.scale.schema import PARTITIONS, TABLES
from geminids.scale.tables.manifest import file_name
from geminids.storage.codec.rows import traces

if TYPE_CHECKING:
    from geminids.query.usage.request_costs import RequestCosts
    from geminids.sharing.redact import Redactor

BYTES = 4_000_000
"""Of session files whose rows are gathered before they are written; without words these are much smaller."""
_NOTHING: Mapping[str, str] = {}
_LAST = "sessions"
"""The table that is written last: what it tells of is there."""


class Manner(NamedTuple):
    """How all parts are written."""

    uri: str
    machine: str
    words: bool = True
    redactor: Redactor | None = None
    """What hides secrets; None for tables that never leave the machine, or where that is wished."""
    files: str = ""
    """The prefix of the names of its files; default: the name of the machine."""
    costs: RequestCosts | None = None
    """The prices of requests; None for no costs."""

    @property
    def prefix(self) -> str:
        """The prefix of the names of its files."""
        return self.files or self.machine


class RowsBefore:
    """The rows of some sessions as they were written before, where they cannot be read now."""

    def __init__(self, store: Store, part: str, manner: Manner, *, may_stay: bool) -> None:
        self._may_stay = may_stay
        self._store = store
        self._part = part
        self._manner = manner
        self.wanted: frozenset[str] = frozenset()
        """The sessions of which there are any."""

    def want(self, ids: Collection[str]) -> None:
        """Have the rows of sessions stay, as far as there are any."""
        sessions = self._table(_LAST) if self._may_stay else None
        there = set(sessions["id"].to_pylist()) if sessions is not None else set()
        self.wanted |= there.intersection(ids)

    def staying(self) -> Iterator[tuple[str, Any]]:
        """The rows that stay, table by table."""
        if not self.wanted:
            return
        import pyarrow as pa
        import pyarrow.compute as pc

        for name in TABLES:
            table = self._table(name)
            column = "id" if name == _LAST else "session_id"
            if table is not None and column in table.column_names:
                staying = pc.is_in(table[column], pa.array(sorted(self.wanted)))
                yield name, self._renamed(table.filter(staying))

    def _renamed(self, rows: Any) -> Any:
        """Return rows with the name that the machine has now."""
        import pyarrow as pa

        place = rows.column_names.index("machine")
        names = pa.repeat(self._manner.machine, rows.num_rows)
        return rows.set_column(place, "machine", names)

    def _table(self, name: str) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        content = self._store.read(file_name(name, self._part, self._manner.prefix))
        try:
            return None if content is None else pq.ParquetFile(pa.BufferReader(content)).read()
        except (pa.ArrowInvalid, OSError):
            # Nothing of it can stay.
            return None


class PartToWrite(NamedTuple):
    """A part, with all that it is made of."""

    name: str
    manner: Manner
    found: Sequence[Found]
    problems: Sequence[Problem]
    projects: Mapping[Project, str]
    rows_may_stay: bool = False
    """Whether rows that were written before may stay, where they cannot be read now."""


class WroteWhat(NamedTuple):
    """What became of a part."""

    rows: Mapping[str, int]
    sizes: Mapping[str, int]
    hidden: int
    """How many different things were hidden, session by session."""
    failed: Mapping[str, str]
    """Sessions that were left out, and why."""
    unreadable: Sequence[str]
    """What could not be read now: of that, what was written before stays."""


def write_part(part: PartToWrite) -> WroteWhat:
    """Write all files of a part in the place of those that were there."""
    store = _store(part.manner.uri)
    making = _Making(part)
    with temporary_folder() as folder:
        made = _made_in(Path(folder), making, words=part.manner.words)
        sizes = {name: path.stat().st_size for name, (path, _) in made.items()}
        for table in sorted(made, key=lambda name: (name == _LAST, name)):
            store.put(file_name(table, part.name, part.manner.prefix), made[table][0])
    rows = {name: number for name, (_, number) in made.items()}
    return WroteWhat(rows, sizes, making.hidden, making.failed, making.unreadable)


def _made_in(folder: Path, making: _Making, *, words: bool) -> Mapping[str, tuple[Path, int]]:
    """The files of a part, on their way."""
    # Where nothing changed, nobody waits for it.
    from geminids.scale.tables.parquet import PartFiles

    try:
        with PartFiles(folder, words=words) as files:
            for some in making.rows():
                files.add(some)
            for table, before in making.before.staying():
                files.take_over(table, before)
            return files.finish()
    except OSError as error:
        # What agents' disks refuse is a problem of a reading, and none of this.
        raise StoreFailedError(str(folder), error.strerror or str(error)) from error


@cache
def _store(uri: str) -> Store:
    return open_store(uri)


class _Making:
    """The rows of a part in the making."""

    def __init__(self, part: PartToWrite) -> None:
        self._part = part
        self._manner = part.manner
        agent, month = part.name.split("/")[: len(PARTITIONS)]
        self._whose = Whose(agent, month, part.manner.machine)
        self.hidden = 0
        self.failed: dict[str, str] = {}
        self.unreadable: list[str] = []
        self.before = RowsBefore(_store(part.manner.uri), part.name, part.manner, may_stay=part.rows_may_stay)

    def rows(self) -> Iterator[Rows]:
        """All rows, some at a time."""
        enough = BYTES if self._manner.words else 2 * BYTES
        rows, read = no_rows(), 0
        rows["problems"] += self._problems(self._part.problems)
        for found in self._part.found:
            reading = self._read(found)
            hidden: dict[str, str] = {}
            for session in reading.sessions:
                if storable(session.id) in found.ids - self.before.wanted:
                    hidden |= self._add(rows, session)
            rows["problems"] += self._problems(_told(reading, found.ids), hidden)
            read += sum(account.size for account in reading.accounts)
            if read >= enough:
                yield rows
                rows, read = no_rows(), 0
        yield rows

    def _read(self, found: Found) -> Reading:
        """What is there; of what cannot be read now, rows that were written before are better than a part."""
        reading = _read(found)
        refused = [problem.file for problem in reading.problems if problem.is_unreadable]
        if isinstance(found, Missing):
            refused = [found.key]
        if refused:
            self.unreadable += refused
            self.before.want(found.ids)
        return reading

    def _problems(self, problems: Sequence[Problem], hidden: Mapping[str, str] = _NOTHING) -> Iterator[Row]:
        """Problems as they may be shared."""
        return problem_rows(problems, self._whose, self._manner.redactor, hidden)

    def _add(self, rows: Rows, session: Session) -> Mapping[str, str]:
        """Add a session as it may be shared; the names beside it that are hidden."""
        # What names it is told by what its files say, whatever of that is hidden.
        key = key_of(session, self._manner.machine)
        project = self._part.projects.get(in_letters(session.project))
        hidden = _NOTHING
        if self._manner.redactor is not None:
            try:
                redacted = self._manner.redactor.redact(session)
            except RedactionError as error:
                self.failed[session.id] = str(error)
                return _NOTHING
            self.hidden += len(redacted.findings)
            hidden = hidden_names(session, redacted.session)
            session = redacted.session
            project = project and _hidden_in(hidden.get(project, project), self._manner.redactor)
        manner = self._manner
        add_session(
            rows, session, self._whose, words=manner.words, key=key, project=project, costs=manner.costs
        )
        return hidden


def _told(reading: Reading, ids: Collection[str]) -> list[Problem]:
    """What is wrong, but not with sessions that are forgotten: the name of a file tells of them, too."""
    told, forgotten = set[str](), set[str]()
    for session in reading.sessions:
        files = told if storable(session.id) in ids else forgotten
        files.update(file.path for file in session.files)
        files.update(problem.file for problem in session.problems)
    return [problem for problem in reading.problems if problem.file not in forgotten - told]


@lru_cache(maxsize=1_024)
def _hidden_in(project: str, redactor: Redactor) -> str:
    """The name of a project as it may be shared; many sessions have the same."""
    return redactor.redact_text(project)


def _read(found: Found) -> Reading:
    match found:
        case FoundBundle(bundle=bundle):
            return read_bundle(bundle)
        case FoundBeside(companions=companions, traces=tied):
            return read_beside(companions, traces(tied), BESIDE_LIMIT)
        case Missing():
            return Reading((), (), ())
