"""The durable file: what the user told us and what cannot be rebuilt. Small, and never thrown away.

    <data folder>/geminids.db             private to the user; one writes, many read, nobody who reads waits
    <data folder>/geminids.db.lock        held by whoever writes, with his name in it
    <data folder>/geminids.db.bak         a copy, made after every change that the user asked for
    <data folder>/geminids.db.v1.bak      a copy of a file of version 1, made before it was brought up to date
    <data folder>/geminids.db.damaged-1   a file that could not be read, moved aside (`recovery`)

A file appears whole or not at all, so an empty one is a damaged one, and so is one that is gone while its
copy is there. Every row has a checksum: a flipped bit is damage, not another mark. One that a newer geminids
has written is read as far as we know its tables, and never written.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from geminids.core.config import DURABLE_FILE
from geminids.core.errors import GeminidsError
from geminids.core.locks import locked
from geminids.core.values import NamedTuple
from geminids.storage.checksums import is_whole, row_sum
from geminids.storage.paths import size_of, uri_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    # Who only reads gives names as text: a list has no time to load pathlib.
    from pathlib import Path
    from typing import Any

FILE_NAME = DURABLE_FILE
EARLIER_NAME = "projects.json"
"""Where earlier releases kept what they knew of projects; `sync/projects/memory.py` takes it over."""
PROJECTS, MARKS, FORGOTTEN = "projects", "marks", "forgotten"
"""What a generation counts the changes of."""
DAMAGED = -1
"""The generation of what cannot be read."""
PATIENCE = 5.0
"""Seconds to wait for another process that writes."""
LITTLE_PATIENCE = 0.2
"""The same for what can be learnt again."""
PAGE_SIZE = 4096
_OURS = 0x47656D69
"""Stands in the header of our files: no other program's file is taken for ours."""
_SMALL = 4 << 20
"""Bytes of a file of which all is checked whenever it is opened, also that its indexes know every row."""
_FIRST_WITH_SUMS = 4

_PROJECT_TABLES = (
    "CREATE TABLE links (hash TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL)",
    "CREATE TABLE learnt (hash TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL, known_by TEXT NOT NULL)",
    "CREATE TABLE looked_for (hash TEXT NOT NULL PRIMARY KEY, at TEXT NOT NULL, depth INTEGER NOT NULL)",
    "CREATE TABLE repositories (folder TEXT NOT NULL PRIMARY KEY, main TEXT NOT NULL)",
    "CREATE TABLE taken_over (file TEXT NOT NULL PRIMARY KEY, stamp TEXT NOT NULL)",
    "CREATE TABLE generations (subject TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL)",
)
_MARK_TABLES = (
    "CREATE TABLE names (session TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL)",
    "CREATE TABLE tags (session TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (session, tag))",
    """CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, session TEXT NOT NULL, at TEXT NOT NULL, text TEXT NOT NULL
    )""",
    "CREATE INDEX notes_of_session ON notes (session)",
)
_TOMBSTONES = (
    """CREATE TABLE forgotten (
        session TEXT NOT NULL PRIMARY KEY, at TEXT NOT NULL, until_changed INTEGER NOT NULL,
        files TEXT NOT NULL, leader TEXT NOT NULL
    )""",
)
SUMMED = {
    "links": "hash, path",
    "learnt": "hash, path, known_by",
    "looked_for": "hash, at, depth",
    "repositories": "folder, main",
    "names": "session, name",
    "tags": "session, tag",
    "notes": "session, id, at, text",
    "forgotten": "session, at, until_changed, files, leader, copies",
}
"""Tables whose rows have a checksum, which is of these columns."""
_CHECKSUMS = (
    "ALTER TABLE forgotten ADD COLUMN copies TEXT NOT NULL DEFAULT '[]'",
    *(f"ALTER TABLE {table} ADD COLUMN sum INTEGER" for table in SUMMED),
)
STEPS = (_PROJECT_TABLES, _MARK_TABLES, _TOMBSTONES, _CHECKSUMS)
"""What makes a file of each version out of one of the version before. Steps are added, never changed."""
VERSION = len(STEPS)

_OF_THE_FILE = "version"
"""The subject of the number that says of which version a file is, beside its header."""
_BEGIN_GENERATION = "INSERT OR REPLACE INTO generations (subject, value) VALUES (?, ?)"
_NEXT_GENERATION = (
    "INSERT INTO generations (subject, value) VALUES (?, ?) "
    "ON CONFLICT (subject) DO UPDATE SET value = value + 1"
)
_GENERATION = "SELECT value FROM generations WHERE subject = ?"
_TAKEN_OVER = "SELECT stamp FROM taken_over WHERE file = ?"

_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_IOERR_SHORT_READ,
    }
)
_SYSTEM_ERRORS = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_IOERR: errno.EIO,
}
_NO_ACCESS = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
_NO_SUCH_TABLE = sqlite3.SQLITE_ERROR


class DamagedStoreError(GeminidsError):
    """The durable file cannot be read; nothing was changed."""

    def __init__(self, file: Path | str) -> None:
        super().__init__(
            f"{str(file)!r} is damaged and cannot be read. Your next change to it recovers as much as "
            "possible."
        )


class NewerStoreError(GeminidsError):
    """A file was written by a newer release, which knows more than this one."""

    def __init__(self, file: Path, version: int, known: int = VERSION) -> None:
        super().__init__(
            f"{str(file)!r} was written by a newer geminids (version {version} of the file; this one "
            f"supports {known}). It is read as far as possible, and nothing was changed. Upgrade geminids, "
            "or use another --data."
        )


class BusyStoreError(GeminidsError):
    """Another process writes the durable file for too long."""

    def __init__(self, file: Path | str, writer: str | None) -> None:
        who = f"Another geminids ({writer})" if writer else "Another process"
        super().__init__(f"{who} is writing {str(file)!r}. Nothing was changed; try again in a moment.")


class DamageError(sqlite3.DatabaseError):
    """A file that SQLite can open and that is no whole file of ours."""


class Reader(NamedTuple):
    """A durable file that is open for reading, at one moment."""

    connection: sqlite3.Connection
    version: int

    def rows(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows that answer a question; none if a file of this version has no such table."""
        try:
            return self.connection.execute(question, values).fetchall()
        except sqlite3.OperationalError as error:
            if _code(error) != _NO_SUCH_TABLE:
                raise
            if self.version == VERSION:
                raise DamageError(str(error)) from error
            return []

    def whole_rows(self, question: str, *values: object) -> list[tuple[Any, ...]]:
        """The same of a question that asks for the checksum last, which is compared and left out."""
        if self.version < _FIRST_WITH_SUMS:
            return self.rows(question.replace(", sum FROM", " FROM"), *values)
        rows = self.rows(question, *values)
        # One without a checksum was written just now, in the same transaction.
        if not all(row[-1] is None or is_whole(row) for row in rows):
            raise DamageError("a row does not have the checksum it was written with")
        return [row[:-1] for row in rows]


@contextmanager
def reading(folder: Path | str) -> Iterator[Reader | None]:
    """What is in the durable file; None if there is none, and none is made.

    Raises DamagedStoreError, BusyStoreError or OSError.
    """
    file = f"{folder}/{FILE_NAME}"
    if not is_expected(file):
        yield None
        return
    try:
        refuse_strange(file)
        with closing(opened(file, PATIENCE)) as connection:
            connection.execute("BEGIN")
            yield Reader(connection, check(connection, most=_SMALL))
    except sqlite3.Error as error:
        raise explained(error, file) from error


def generation(folder: Path | str, subject: str = PROJECTS) -> int:
    """A number that is another one after each change of what is known of projects, or of marks.

    It is no measure of time: a `projects.json` that is not taken over yet makes it negative. Searches in
    vain do not count, they change no answer.
    """
    stored, taken_over = 0, None
    try:
        with reading(folder) as reader:
            if reader:
                stored = next((value for (value,) in reader.rows(_GENERATION, subject)), 0)
                taken_over = stamp_taken_over(reader)
    except (GeminidsError, OSError):
        return DAMAGED
    earlier = earlier_stamp(folder) if subject == PROJECTS else None
    if earlier in (None, taken_over):
        return int(stored)
    from zlib import crc32

    return -2 - ((int(stored) & 0x3FFF_FFFF) << 32 | crc32(str(earlier).encode()))


def next_generation(connection: sqlite3.Connection, subject: str) -> None:
    """Note a change, so that whoever has built on what was there before can tell."""
    connection.execute(_NEXT_GENERATION, (subject, _first_generation()))


def earlier_stamp(folder: Path | str) -> str | None:
    """What tells one file of earlier releases from another; None if there is none."""
    try:
        about = os.stat(f"{folder}/{EARLIER_NAME}")  # noqa: PTH116
    except OSError:
        return None
    return f"{about.st_ino}-{about.st_size}-{about.st_mtime_ns}"


def stamp_taken_over(reader: Reader) -> str | None:
    """Which file of earlier releases was taken over last."""
    return next((str(stamp) for (stamp,) in reader.rows(_TAKEN_OVER, EARLIER_NAME)), None)


def note_taken_over(connection: sqlite3.Connection, stamp: str) -> None:
    """Note that a file of earlier releases was taken over, in case it cannot be renamed."""
    connection.execute(
        "INSERT INTO taken_over (file, stamp) VALUES (?, ?) "
        "ON CONFLICT (file) DO UPDATE SET stamp = excluded.stamp",
        (EARLIER_NAME, stamp),
    )


def opened(file: Path | str, patience: float = PATIENCE, *, unchanging: bool = False) -> sqlite3.Connection:
    """A connection to a file that is there. Raises OSError if it may not be opened."""
    try:
        return _connected(file, patience, "immutable=1" if unchanging else "mode=rw")
    except sqlite3.OperationalError as error:
        if unchanging or _code(error) & 0xFF not in _NO_ACCESS:
            raise
        # Says why, if the file itself is the reason. (SQLite does not.)
        open(file, "rb").close()  # noqa: PTH123
        if size_of(f"{file}-wal"):
            raise
        # In a folder that may not be written, SQLite cannot make the files with which readers agree.
        return _connected(file, patience, "immutable=1")


def new_file(file: Path, version: int = VERSION) -> Path:
    """A whole file of ours without any rows, beside the place where it will be."""
    made = _empty_file(beside(file, ".new"))
    with closing(opened(made)) as connection:
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute(f"PRAGMA application_id = {_OURS}")
        step_forward(connection, 0, version)
        # Last: what stands in a journal of this kind would stay behind when the file gets its name.
        connection.execute("PRAGMA journal_mode = WAL")
    return made


def back_up(file: Path, copy: Path) -> None:
    """Make a copy that is whole, replacing an older one only when it is."""
    made = _empty_file(beside(copy, ".new"))
    try:
        with closing(opened(file)) as connection, closing(sqlite3.connect(made)) as target:
            connection.backup(target)
        with closing(opened(made, unchanging=True)) as copied:
            check(copied)
        made.replace(copy)
    except (OSError, sqlite3.Error):
        made.unlink(missing_ok=True)
        raise


def check(connection: sqlite3.Connection, most: int | None = None) -> int:
    """The version of a file, all pages of which are as they should be. Raises DamageError.

    One with more than `most` bytes is not looked through.
    """
    version = _version(connection)
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    if most is not None and pages * PAGE_SIZE > most:
        return version
    how = "integrity_check" if pages * PAGE_SIZE <= _SMALL else "quick_check"
    (answer,) = connection.execute(f"PRAGMA {how}(1)").fetchone()
    if answer != "ok":
        raise DamageError(answer)
    return version


def sum_up(connection: sqlite3.Connection) -> None:
    """Give a checksum to each row that has none, within a transaction: whoever writes a row takes it away."""
    connection.create_function("row_sum", -1, lambda *values: row_sum(values), deterministic=True)
    for table, columns in SUMMED.items():
        connection.execute(f"UPDATE {table} SET sum = row_sum({columns}) WHERE sum IS NULL")


def beside(file: Path, suffix: str) -> Path:
    """The file that SQLite keeps beside another."""
    return file.with_name(file.name + suffix)


def make_private(folder: Path) -> None:
    """Make sure that our folder is there; one that we make is nobody else's."""
    if not folder.is_dir():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What the process masks must not lock us out.
        folder.chmod(0o700)


def is_expected(file: Path | str) -> bool:
    """Whether there is a durable file, or one is missing: then its copy is there."""
    return os.path.lexists(file) or os.path.lexists(f"{file}.bak")


def refuse_strange(file: Path | str) -> None:
    """Say that an empty file, or what is none, is damaged, before SQLite waits for it or clears its log."""
    try:
        facts = os.stat(file)  # noqa: PTH116
    except FileNotFoundError as error:
        raise DamageError("gone") from error
    if not stat.S_ISREG(facts.st_mode):
        raise DamageError("not a regular file")
    if facts.st_size == 0:
        raise DamageError("empty")


def step_forward(connection: sqlite3.Connection, version: int, wanted: int) -> None:
    """Give a file the tables of a newer version, all of them or none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        for statement in (statement for step in STEPS[version:wanted] for statement in step):
            connection.execute(statement)
        if version == 0:
            connection.execute(_BEGIN_GENERATION, (PROJECTS, _first_generation()))
        if wanted >= _FIRST_WITH_SUMS:
            # Once more: a flipped bit makes no file of a newer release.
            connection.execute(_BEGIN_GENERATION, (_OF_THE_FILE, wanted))
        connection.execute(f"PRAGMA user_version = {wanted}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _first_generation() -> int:
    """Not 1: a file that was thrown away and made again must not repeat numbers that were given before."""
    return time.time_ns() // 1_000_000


def _connected(file: Path | str, patience: float, how: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri_of(str(file), how), timeout=patience, isolation_level=None, uri=True)
    try:
        # The first look into the file: only now SQLite tells whether it can be read.
        connection.execute("PRAGMA schema_version")
    except BaseException:
        connection.close()
        raise
    return connection


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    if version < 1 or owner != _OURS:
        raise DamageError("no file of geminids")
    if version > VERSION and _is_of_this_version(connection):
        raise DamageError("it says that it is of a newer version, and is of this one")
    return int(version)


def _is_of_this_version(connection: sqlite3.Connection) -> bool:
    try:
        return (VERSION,) in connection.execute(_GENERATION, (_OF_THE_FILE,)).fetchall()
    except sqlite3.Error:
        return False


def _empty_file(file: Path) -> Path:
    """A file to be filled, and nothing beside it that SQLite could take for a part of it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        # Of a process that was killed: whoever writes is alone.
        beside(file, suffix).unlink(missing_ok=True)
    _make_private_file(file)
    return file


def _make_private_file(file: Path) -> None:
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.close(handle)
    # Whatever the process masks; SQLite gives the same rights to the files that it makes beside this one.
    file.chmod(0o600)


def explained(error: Exception, file: Path | str) -> Exception:
    """What an error of SQLite means to the user; a bug of ours stays what it is."""
    if is_damage(error):
        return DamagedStoreError(file)
    code = _code(error) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyStoreError(file, None)
    if number := _SYSTEM_ERRORS.get(code):
        return OSError(number, os.strerror(number), str(file))
    return error


def is_damage(error: Exception) -> bool:
    """Whether an error of SQLite means that the file is no whole one of ours."""
    code = _code(error)
    # Python itself says so, without a code, where letters are no letters.
    is_no_text = code == sqlite3.SQLITE_OK and "decode" in str(error)
    return isinstance(error, DamageError) or is_no_text or bool(_DAMAGE & {code, code & 0xFF})


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_OK


@contextmanager
def alone(file: Path, until: float) -> Iterator[None]:
    """A while in which no other process changes the file. The system ends it if this process dies."""
    handle = _lock_file(beside(file, ".lock"))
    try:
        while not locked(handle):
            if time.monotonic() >= until:
                raise BusyStoreError(file, _writer(handle))
            time.sleep(0.005)
        _sign(handle, f"{os.getpid()} {_command()}")
        try:
            yield
        finally:
            _sign(handle, "")
    finally:
        # Closing gives the lock back.
        os.close(handle)


def _lock_file(lock: Path) -> int:
    # It is there from the time before: whoever made it left it for the others.
    with suppress(FileExistsError):
        _make_private_file(lock)
    return os.open(lock, os.O_RDWR)


def _sign(handle: int, text: str) -> None:
    """Say who holds the lock. A disk without room for that is no reason to fail."""
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, text.encode("utf-8", "replace"), 0)
    except (OSError, AttributeError):
        # AttributeError: Windows, where nobody could read it anyway while the lock is held.
        return


def _writer(handle: int) -> str | None:
    """Who holds the lock; None if that is not known, or if whoever signed is no longer there."""
    try:
        process, _, command = os.pread(handle, 200, 0).decode("utf-8", "replace").partition(" ")
        os.kill(int(process), 0)
    except PermissionError:
        # It runs, for another user.
        return f"process {process}: {command}"
    except (OSError, ValueError, OverflowError, AttributeError):
        return None
    return f"process {process}: {command}"


def _command() -> str:
    """The command that this process was started with, without what may be private."""
    words = [os.path.basename(sys.argv[0]), *sys.argv[1:3]] if sys.argv else []  # noqa: PTH119
    return " ".join(word for word in words if word.replace("-", "").replace(".", "").isalnum()) or "python"
