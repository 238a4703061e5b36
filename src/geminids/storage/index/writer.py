"""Writing rows: in bulk where everything is new, else only those that differ."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import length_hint
from typing import Any, NamedTuple, Protocol, cast

from geminids.core.names import storable
from geminids.storage.index.database import Index
from geminids.storage.index.schema import COLUMNS, USAGE
from geminids.storage.index.values import ProblemRow, ProjectRow
from geminids.storage.paths import opened, stored

_MOST_FILES = 5_000
"""Files whose numbers are remembered."""
_ENOUGH = 8_000_000
"""Characters of text that are handed to SQLite at once: FTS5 is quickest with much at a time."""


class SessionFacts(NamedTuple):
    """A row of `sessions` without its number and its bundle, and with its project in place of a number."""

    sid: str
    agent: str
    native_id: str
    kind: str
    parent_id: str | None
    project: ProjectRow
    title: str | None
    status: str
    started: int | None
    ended: int | None
    last: int | None
    prompts: int
    replies: int
    tool_calls: int
    tool_errors: int
    dropped: int
    file: str | None
    problems: int
    kept: bool
    folders: str | None
    is_incomplete: bool
    summary: bytes
    trace: bytes | None


class MessageFacts(NamedTuple):
    """A row of `messages` without its number, session and place; its words, and all that hangs on it.

    Tools, models and files stand here by their names: numbers are up to the index that it is written to.
    """

    mid: str
    role: str
    origin: str
    state: str
    imported: bool
    at: int | None
    model: str | None
    says: bool
    spans: Sequence[tuple[str, str]]
    """Files, and where in them as a row tells it: `:start:end`."""
    digest: bytes
    texts: tuple[str, ...]
    calls: Sequence[tuple[str, str, int]]
    """Tool, how it ended, how often."""
    changes: Sequence[tuple[str, str, int | None, int | None]] = ()
    """File, tool, lines added and removed."""
    request: Sequence[int | None] | None = None
    """Its key, how many requests it stands for, and their tokens in the order of `USAGE`."""
    estimate: tuple[int, int] | None = None
    """Tokens of prompt and answer, where the agent recorded none."""


class SessionRows(NamedTuple):
    """A session with its messages."""

    facts: SessionFacts
    messages: Sequence[MessageFacts]


class FateFacts(NamedTuple):
    """A row of `fates` without its bundle."""

    file: str
    used: int | None
    traits: str


class _OldMessage(NamedTuple):
    id: int
    place: int
    mid: str
    role: str
    origin: str
    state: str
    imported: int
    at: int | None
    model: int | None
    says: int
    spans: str
    digest: bytes


_OLD = "id, place, mid, role, origin, state, imported, at, model, says, spans, digest"


def _marks(number: int) -> str:
    return ", ".join("?" * number)


_PROJECT = SessionFacts._fields.index("project")
_FILE = 2 + SessionFacts._fields.index("file")
# A statement that replaces rows can be undone alone, for which FTS5 must write out all that it has gathered.
# So what is new is inserted, which cannot.
_INTO_SESSIONS = f"INTO sessions VALUES ({_marks(2 + len(SessionFacts._fields))})"
_INTO_MESSAGES = f"INTO messages VALUES ({_marks(1 + len(_OldMessage._fields))})"
_INTO_REQUESTS = f"INTO requests VALUES ({_marks(4 + len(USAGE))})"
_HANGING = {"id": ("messages",), "message": ("calls", "changes", "requests", "estimates")}
"""The tables that hold something of a message, by the column that has its number."""
_ELSEWHERE = (
    "SELECT DISTINCT other.session FROM requests AS gone JOIN requests AS other "
    "ON other.key = gone.key AND other.session != gone.session WHERE gone.message = ?"
)
_INSERT_TEXTS = f"INSERT INTO texts (rowid, {', '.join(COLUMNS)}) VALUES ({_marks(1 + len(COLUMNS))})"


class Numbers(Protocol):
    """The numbers that stand for names and files in an index."""

    def name(self, name: str | None) -> int | None:
        """The number of a tool or a model."""
        ...

    def file(self, path: str) -> int:
        """The number of a file."""
        ...


def message_row(message: MessageFacts, numbers: Numbers) -> tuple[object, ...]:
    """The columns of a message that depend on nothing but itself."""
    mid, role, origin, state, imported, at, model, says, spans, digest, *_ = message
    if len(spans) == 1:
        # Nearly every message stands in one place.
        (path, where), *_ = spans
        stands = f"{numbers.file(path)}{where}"
    else:
        stands = " ".join([f"{numbers.file(path)}{where}" for path, where in spans])
    return mid, role, origin, state, imported, at, numbers.name(model), says, stands, digest


@contextmanager
def transaction(index: Index) -> Iterator[None]:
    """A while after which all that was written counts; whoever fails closes the index, and nothing does."""
    index.connection.execute("BEGIN IMMEDIATE")
    yield
    index.connection.execute("COMMIT")


class Writer:
    """Writes into an index inside transactions that the caller begins and ends."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._sql = index.connection
        self._next_session = self._largest("sessions") + 1
        self._next_message = 1 + max(self._largest("messages"), self._largest("texts_docsize"))
        self._end_of_free = 0
        self._after_all = 0
        self._numbered = int(index.meta("numbered") or 0)
        self._dead = int(index.meta("dead") or 0)
        self._names: dict[str, int] = {}
        self._files: dict[str, int] = {}
        self._projects: dict[ProjectRow, int] = {}
        self._sessions: list[tuple[object, ...]] = []
        self._messages: list[tuple[object, ...]] = []
        self._changed_sessions: list[tuple[object, ...]] = []
        self._changed_messages: list[tuple[object, ...]] = []
        self._calls: list[tuple[object, ...]] = []
        self._changes: list[tuple[object, ...]] = []
        self._requests: list[tuple[object, ...]] = []
        self._changed_requests: list[tuple[object, ...]] = []
        self._estimates: list[tuple[object, ...]] = []
        self._texts: list[tuple[object, ...]] = []
        self._fates: list[tuple[object, ...]] = []
        self._size = 0
        self.touched: set[int] = set()
        """Sessions of which something was written, or that are gone, since somebody asked last."""
        self.lost_their_copy: set[int] = set()
        """Sessions that hold a copy of a request which another one held until now."""

    # Shelves and bundles

    def shelf(self, agent: str, key: str, project: int, companions: bytes) -> int:
        """The number of a shelf, which is written if it is new or differs."""
        row = self._sql.execute(
            "SELECT id, project, companions FROM shelves WHERE agent = ? AND key = ?", (agent, key)
        ).fetchone()
        if row is None:
            new = "INSERT INTO shelves (agent, key, project, companions) VALUES (?, ?, ?, ?)"
            return self._sql.execute(new, (agent, key, project, companions)).lastrowid or 0
        if row[1:] != (project, companions):
            self._sql.execute(
                "UPDATE shelves SET project = ?, companions = ? WHERE id = ?", (project, companions, row[0])
            )
        return int(row[0])

    def bundle(
        self,
        shelf: int,
        key: str,
        sessions: Sequence[SessionRows],
        problems: Sequence[ProblemRow],
        *,
        fates: Sequence[FateFacts] = (),
        staying: Collection[str] = (),
    ) -> int:
        """Write what a bundle holds now, its stamp when that is settled; what some files held may stay."""
        known = self._sql.execute(
            "SELECT id FROM bundles WHERE shelf = ? AND key = ?", (shelf, key)
        ).fetchone()
        if known is None:
            new = "INSERT INTO bundles (shelf, key, stamp) VALUES (?, ?, x'')"
            number = self._sql.execute(new, (shelf, key)).lastrowid or 0
            for session in sessions:
                self._add_session(number, session)
        else:
            number = int(known[0])
            self._replace_sessions(number, sessions, staying)
        if known or problems:
            self.problems(number, problems)
        self._note_fates(number, fates, is_new=known is None)
        if self._size >= _ENOUGH:
            self.flush()
        return number

    def _note_fates(self, bundle: int, fates: Sequence[FateFacts], *, is_new: bool) -> None:
        rows = [(bundle, self.file(fate.file), fate.used, fate.traits) for fate in fates]
        if not is_new:
            known = self._sql.execute("SELECT * FROM fates WHERE bundle = ?", (bundle,)).fetchall()
            if sorted(rows) == known:
                return
            self._sql.execute("DELETE FROM fates WHERE bundle = ?", (bundle,))
        self._fates += rows

    def stamp(self, bundle: int, stamp: bytes, size: int = 0, found: bytes = b"") -> None:
        """Note that a bundle was read as it lies there now."""
        row = (stamp, size, found, bundle)
        self._sql.execute("UPDATE bundles SET stamp = ?, bytes = ?, found = ? WHERE id = ?", row)

    def unsettle(self, shelf: int, key: str) -> None:
        """Note that a bundle must be read again, whatever its files say."""
        self._sql.execute("UPDATE bundles SET stamp = x'' WHERE shelf = ? AND key = ?", (shelf, key))

    def forget_bundle(self, bundle: int) -> None:
        """Take out a bundle and all that it held."""
        self._replace_sessions(bundle, ())
        self.problems(bundle, ())
        self._sql.execute("DELETE FROM fates WHERE bundle = ?", (bundle,))
        self._sql.execute("DELETE FROM bundles WHERE id = ?", (bundle,))

    def forget_other_shelves(self, there: Collection[int]) -> None:
        """Take out all shelves but these, with all that they held."""
        for (shelf,) in self._sql.execute("SELECT id FROM shelves").fetchall():
            if shelf not in there:
                self._forget_shelf(shelf)

    def _forget_shelf(self, shelf: int) -> None:
        for (bundle,) in self._sql.execute("SELECT id FROM bundles WHERE shelf = ?", (shelf,)).fetchall():
            self.forget_bundle(bundle)
        self._sql.execute("DELETE FROM shelves WHERE id = ?", (shelf,))

    def problems(self, bundle: int | None, problems: Iterable[ProblemRow]) -> None:
        """Replace what stood in the way of reading a bundle, or of finding any."""
        rows = [(bundle, *map(_storable, problem)) for problem in problems]
        known = self._sql.execute("SELECT * FROM problems WHERE bundle IS ?", (bundle,)).fetchall()
        if rows != known:
            self._sql.execute("DELETE FROM problems WHERE bundle IS ?", (bundle,))
            self._sql.executemany("INSERT INTO problems VALUES (?, ?, ?, ?, ?, ?, ?)", rows)

    def folder(self, path: str, agent: str, footprint: str, shelf: int | None) -> None:
        """Note what lies in a folder and has been taken in."""
        row = (stored(path), agent, footprint, shelf)
        self._sql.execute("INSERT OR REPLACE INTO folders VALUES (?, ?, ?, ?)", row)

    def forget_other_folders(self, there: Collection[str]) -> None:
        """Note that all folders but these are gone."""
        for (kept,) in self._sql.execute("SELECT path FROM folders").fetchall():
            if opened(kept) not in there:
                self._sql.execute("DELETE FROM folders WHERE path = ?", (kept,))

    # Numbers of what is told by a number

    def name(self, name: str | None) -> int | None:
        """The number of a tool or a model."""
        if name is None:
            return None
        return self._names.get(name) or self._number(self._names, "names", "name", name, storable(name))

    def file(self, path: str) -> int:
        """The number of a file."""
        if len(self._files) > _MOST_FILES:
            # Sessions name so many that remembering all would take more room than all else.
            self._files.clear()
        return self._files.get(path) or self._number(self._files, "files", "path", path, stored(path))

    def project(self, project: ProjectRow) -> int:
        """The number of a project as its files tell it."""
        number = self._projects.get(project)
        if number is None:
            number = self._projects[project] = self._number_of_project(ProjectRow(*map(_storable, project)))
        return number

    def _number_of_project(self, project: ProjectRow) -> int:
        same = "told_path IS ? AND told_hash IS ? AND told_slug IS ? AND told_by IS ? AND told_certain = ?"
        row = self._sql.execute(f"SELECT id FROM projects WHERE {same}", project).fetchone()
        if row:
            return int(row[0])
        best = (project.path, project.slug, project.known_by, project.certain)
        new = f"INSERT INTO projects VALUES (NULL, {_marks(9)})"
        return self._sql.execute(new, (*project, *best)).lastrowid or 0

    def _number(self, known: dict[str, int], table: str, column: str, value: str, kept: str | bytes) -> int:
        """The number of a row that holds a value, which is made if there is none."""
        row = self._sql.execute(f"SELECT id FROM {table} WHERE {column} = ?", (kept,)).fetchone()
        if row is None:
            new = f"INSERT INTO {table} ({column}) VALUES (?)"
            known[value] = self._sql.execute(new, (kept,)).lastrowid or 0
        else:
            known[value] = int(row[0])
        return known[value]

    # Sessions and messages

    def _replace_sessions(
        self, bundle: int, sessions: Sequence[SessionRows], staying: Collection[str] = ()
    ) -> None:
        """Write the sessions of a bundle over those that it had; what else some files held stays."""
        # What is still on its way must not be taken for absent.
        self.flush()
        rows = self._sql.execute("SELECT * FROM sessions WHERE bundle = ?", (bundle,)).fetchall()
        old: dict[str, list[tuple[object, ...]]] = {}
        for row in rows:
            old.setdefault(row[2], []).append(row)
        for session in sessions:
            same = old.get(session.facts.sid)
            if same:
                self._replace_session(same.pop(0), bundle, session)
            else:
                self._add_session(bundle, session)
        for left in (row for same in old.values() for row in same if row[_FILE] not in staying):
            self._forget_messages(message.id for message in self._messages_of(left[0]))
            self._sql.execute("DELETE FROM sessions WHERE id = ?", (left[0],))
            self.touched.add(cast("int", left[0]))

    def _add_session(self, bundle: int, session: SessionRows) -> None:
        number = self._next_session
        self._next_session += 1
        self._sessions.append((number, *self._session_row(bundle, session.facts)))
        self.touched.add(number)
        for place, message in enumerate(session.messages):
            self._add_message(number, place, message)

    def _session_row(self, bundle: int, facts: SessionFacts) -> tuple[object, ...]:
        return bundle, *facts[:_PROJECT], self.project(facts.project), *facts[_PROJECT + 1 :]

    def _replace_session(self, old: tuple[object, ...], bundle: int, session: SessionRows) -> None:
        number = cast("int", old[0])
        self.touched.add(number)
        row = self._session_row(bundle, session.facts)
        if old[1:] != row:
            self._changed_sessions.append((number, *row))
        known: dict[tuple[str, bytes], list[_OldMessage]] = {}
        for message in self._messages_of(number):
            known.setdefault((message.mid, message.digest), []).append(message)
        requests = self._hanging_on("requests", number)
        estimates = self._hanging_on("estimates", number)
        for place, new in enumerate(session.messages):
            same = known.get((new.mid, new.digest))
            if not same:
                self._add_message(number, place, new)
                continue
            before = same.pop(0)
            row = message_row(new, self)
            if before[1:] != (place, *row):
                # Its words are the same, so its number in the full text may stay.
                self._changed_messages.append((before.id, number, place, *row))
            if new.request is not None and requests.get(before.id) != (number, *new.request):
                self._changed_requests.append((before.id, number, *new.request))
            if new.estimate is not None and before.id not in estimates:
                self._estimates.append((before.id, number, *new.estimate))
            elif new.estimate is None and before.id in estimates:
                self._sql.execute("DELETE FROM estimates WHERE message = ?", (before.id,))
        self._forget_messages(message.id for left in known.values() for message in left)

    def _hanging_on(self, table: str, session: int) -> dict[int, tuple[object, ...]]:
        """The rows of a table that hang on the messages of a session."""
        rows = self._sql.execute(f"SELECT * FROM {table} WHERE session = ?", (session,))
        return {message: tuple(facts) for message, *facts in rows}

    def _messages_of(self, session: object) -> list[_OldMessage]:
        rows = self._sql.execute(f"SELECT {_OLD} FROM messages WHERE session = ?", (session,))
        return list(map(_OldMessage._make, rows))

    def leave_free(self, numbers: int) -> range:
        """Leave so many numbers free for messages that come later, in an order of their own."""
        start = self._next_message
        self._next_message += numbers
        return range(start, self._next_message)

    def number_from(self, free: range) -> None:
        """Give numbers that were left free; when these are used up, larger ones than all others."""
        self.number_after_all()
        if free:
            self._next_message, self._end_of_free, self._after_all = free.start, free.stop, self._next_message

    def number_after_all(self) -> None:
        """Give larger numbers than all others again."""
        if self._end_of_free:
            self._next_message, self._end_of_free = self._after_all, 0

    def _add_message(self, session: int, place: int, message: MessageFacts) -> None:
        if self._next_message == self._end_of_free:
            self.number_after_all()
        number = self._next_message
        self._next_message += 1
        self._numbered += 1
        self._messages.append((number, session, place, *message_row(message, self)))
        if message.calls:
            self._calls += [(number, self.name(tool), *ended) for tool, *ended in message.calls]
            self._changes += [
                (number, self.file(path), self.name(tool), *lines) for path, tool, *lines in message.changes
            ]
        if message.request is not None:
            self._requests.append((number, session, *message.request))
        if message.estimate is not None:
            self._estimates.append((number, session, *message.estimate))
        size = sum(map(len, message.texts))
        if size:
            self._texts.append((number, *message.texts))
            self._size += size

    def _forget_messages(self, numbers: Iterable[int]) -> None:
        gone = [(number,) for number in numbers]
        for message in gone:
            self.lost_their_copy.update(session for (session,) in self._sql.execute(_ELSEWHERE, message))
        for column, tables in _HANGING.items():
            for table in tables:
                self._sql.executemany(f"DELETE FROM {table} WHERE {column} = ?", gone)
        self._dead += len(gone)

    def flush(self) -> None:
        """Hand all that was gathered to SQLite."""
        gathered = {
            f"REPLACE {_INTO_SESSIONS}": self._changed_sessions,
            f"REPLACE {_INTO_MESSAGES}": self._changed_messages,
            f"REPLACE {_INTO_REQUESTS}": self._changed_requests,
            f"INSERT {_INTO_SESSIONS}": self._sessions,
            f"INSERT {_INTO_MESSAGES}": self._messages,
            f"INSERT {_INTO_REQUESTS}": self._requests,
            "INSERT INTO estimates VALUES (?, ?, ?, ?)": self._estimates,
            "INSERT INTO fates VALUES (?, ?, ?, ?)": self._fates,
            "INSERT INTO calls VALUES (?, ?, ?, ?)": self._calls,
            "INSERT INTO changes VALUES (?, ?, ?, ?, ?)": self._changes,
            _INSERT_TEXTS: self._texts,
        }
        for statement, rows in gathered.items():
            self._many(statement, rows)
            rows.clear()
        self._size = 0

    def begin(self) -> None:
        """Begin a transaction."""
        self._sql.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        """End the transaction: all that was written counts."""
        self.finish()
        self._sql.execute("COMMIT")

    def finish(self) -> None:
        """Hand over the rest; note how far the numbers went, how many were given, and how many are gone."""
        self.flush()
        self._index.note("last message", (self._after_all if self._end_of_free else self._next_message) - 1)
        self._index.note("numbered", self._numbered)
        self._index.note("dead", self._dead)

    def _many(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        left = iter(rows)
        while length_hint(left):
            try:
                self._sql.executemany(sql, left)
            except UnicodeEncodeError:
                # Half a character, as broken files and names hold it, is nothing that SQLite keeps. The rows
                # before this one are written; those after it come with the next round.
                self._sql.execute(sql, tuple(map(_storable, rows[-length_hint(left) - 1])))

    def _largest(self, table: str) -> int:
        return int(self._sql.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0])


def _storable(value: Any) -> Any:
    """A value of a row, in letters that can be kept if it has any."""
    return storable(value) if isinstance(value, str) else value
