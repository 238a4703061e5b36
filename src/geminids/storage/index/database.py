"""The file of an index: where it is, opening it, one writer at a time, and what becomes of a damaged one.

    <data folder>/index/<homes>-<build>.db          can be asked; of several the one with the largest number
    <data folder>/index/<homes>-<build>.db.new      being made; worth nothing until it is renamed
    <data folder>/index/<homes>-<build>.db.sum      what its bytes come to, while nobody writes
    <data folder>/index/<homes>.lock                held by whoever writes; says who that is
    <data folder>/index/<homes>-<build>.db.damaged  could not be read and was moved aside

Each set of homes has an index of its own, so that looking at a backup does not mix it with this machine's
sessions. A new build never takes the name of an old one: SQLite would join the new file with the journal of
the old; and whoever finds an index damaged may move it aside without asking. Readers keep what they have
opened.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

from geminids.core.errors import PARTLY_DONE, STORE_DAMAGED, GeminidsError
from geminids.core.locks import locked
from geminids.storage.index import seal
from geminids.storage.index.schema import TABLES, VERSION
from geminids.storage.paths import size_of, uri_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol
else:
    Protocol = object

FOLDER = "index"
PATIENCE = 10.0
"""Seconds to wait for another process that writes."""
UNUSED = 90 * 86_400.0
"""Seconds after which the index of other homes is removed if nobody read it."""
_NOTICED = 1.0
"""Seconds after which people wonder what is going on."""
_BUSY = 5.0
"""Seconds that SQLite itself waits for others."""
_CACHE = -16_384
"""Kibibytes of pages in memory while writing."""
_PAGE = 8_192
"""Bytes of a page: of a usual one, a session takes a little more than half, and the rest is lost."""
_HASH_SIZE = 32 << 20
"""Bytes that FTS5 gathers before it writes them: with its usual 1 MiB, a build takes twice as long."""


_NEVER = 1_000
_USUAL_AUTOMERGE = 4
_USUAL_CRISIS = 16
"""How many pieces of the full text FTS5 lets lie before it merges them, at leisure or at once."""
_MERGED_AT_ONCE = 500
"""Pages of the full text that are merged in one go: the room of those before is used again for the next."""


_ASIDE = ".damaged"
TERMS = ".terms"
"""The words of an index, in a file beside it."""
_BESIDE = ("-wal", "-shm", seal.SUFFIX, TERMS)
"""How the names of files go on that belong to an index."""
_USUAL_CHECKPOINT = 1_000
"""Pages in the journal from which on SQLite moves them into the index by itself."""
_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_CONSTRAINT,  # rows that we never wrote
        sqlite3.SQLITE_MISMATCH,
    }
)
_SIGNS_OF_DAMAGE = (
    "no such table",
    "no such column",
    "vtable constructor failed",
    "invalid fts5 file format",
    "Could not decode to UTF-8",
)
"""How messages begin that have no code of their own; what we ask for is always there."""
_SYSTEM_ERRORS = {
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
}


class DamagedIndexError(GeminidsError):
    """An index that SQLite cannot read."""

    exit_code = STORE_DAMAGED

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        super().__init__(f"The index {path!r} is damaged ({reason}).")


class StrangeRowsError(DamagedIndexError):
    """An index that led to an error nobody expects: it may be damaged, or it is a bug of ours."""


class DamagedValueError(sqlite3.DatabaseError):
    """A value in an index that nobody of us has written: SQLite cannot know."""


class BusyIndexError(GeminidsError):
    """Another process has been writing for too long."""

    exit_code = PARTLY_DONE

    def __init__(self, who: str) -> None:
        super().__init__(
            f"The index is being written by {who}. Try again when it is done, or use --no-sync to read it "
            "as it is."
        )


class FullDiskError(GeminidsError):
    """There is no room for the index."""

    exit_code = PARTLY_DONE

    def __init__(self, path: str) -> None:
        super().__init__(
            f"Cannot write the index {path!r}: the disk is full. Nothing was changed. Free some space, or "
            "choose another folder with --data."
        )


class Closable(Protocol):
    """An index, or another thing that is open until it is closed."""

    def close(self) -> None: ...  # noqa: D102


class Index:
    """An open index."""

    def __init__(self, connection: sqlite3.Connection, path: str | None) -> None:
        self.connection = connection
        self.path = path
        """None for one in memory."""
        self.sealed: seal.Seal | None = None
        """What it came to before it was written to, while the journal holds all that was written since."""

    def meta(self, name: str) -> Any:
        """One fact about the index itself; None if it is not known."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def note(self, name: str, value: object) -> None:
        """Remember a fact about the index itself."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def move_journal_as_it_grows(self) -> None:
        """Let SQLite move the journal into the index when it is large: much more is about to be written."""
        if self.sealed is not None:
            self.sealed = None
            self.connection.execute(f"PRAGMA wal_autocheckpoint = {_USUAL_CHECKPOINT}")

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()


class IndexFile:
    """Where the index of a set of homes lies, whether it is there or not."""

    def __init__(self, data_folder: str, homes: Sequence[str]) -> None:
        self.folder = os.path.join(data_folder, FOLDER)  # noqa: PTH118
        self.name = _name(homes)

    @property
    def vectors(self) -> str:
        """Where the vectors of its sessions lie; see `vectors.py`."""
        return f"{self.folder}/{self.name}.meaning.db"

    def current(self) -> str | None:
        """The newest index that can be asked; None if there is none."""
        newest = _last(self._names(), ".db")
        return f"{self.folder}/{newest}" if newest else None

    def open(self) -> Index | None:
        """The index for reading; None if there is none of this release. Raises DamagedIndexError."""
        path = self.current()
        while path is not None:
            try:
                return _opened_to_read(path)
            except (OSError, DamagedIndexError):
                newer = self.current()
                if newer == path:
                    raise
                # Another process has just put a new one in its place.
                path = newer
        return None

    def peek(self) -> Index | None:
        """The same for a glance: where nobody writes, SQLite leaves no files beside it."""
        path = self.current()
        if path is None:
            return None
        _compare_with_seal(path)
        return _of_this_release(path, "mode=ro" if size_of(f"{path}-wal") else "mode=ro&immutable=1")

    def open_to_write(self) -> Index | None:
        """The same for changing it; the caller holds the lock."""
        path = self.current()
        if path is None:
            return None
        _compare_with_seal(path)
        sealed = None if size_of(f"{path}-wal") else seal.seal_of(path)
        seal.remove_seal(path)
        with naming_damage(path):
            index = Index(_connected(path), path)
            with closed_on_error(index):
                index.connection.execute("PRAGMA journal_mode = WAL")
                index.connection.execute("PRAGMA synchronous = NORMAL")
                if sealed is not None:
                    index.connection.execute("PRAGMA wal_autocheckpoint = 0")
                    index.sealed = sealed
                return index

    def start(self) -> Index:
        """An empty index that takes the place of the current one when it is finished; the same holds."""
        self.tidy()
        self._remove_unused()
        build = 1 + max(map(_number, self._names()), default=0)
        path = f"{self.folder}/{self.name}-{build}.db.new"
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600))
            with naming_damage(path):
                return _begun(path)
        except BaseException:
            _remove(path)
            raise

    def finish(self, index: Index, *, is_whole: bool = True) -> Index:
        """The index in the place of the current one, to be sealed when no more follows."""
        new = index.path
        assert new is not None
        if is_whole:
            merge_from_now_on(index)
            merge_pieces(index)
        # Later there may be readers, and while they read the kind of journal cannot be changed.
        index.connection.execute("PRAGMA journal_mode = WAL")
        index.close()
        _written_to_disk(new)
        done = new.removesuffix(".new")
        os.rename(new, done)  # noqa: PTH104
        self.tidy()
        opened = self.open_to_write()
        assert opened is not None
        return opened

    def seal(self, index: Index) -> None:
        """Note what the bytes of an index come to that was written; where that fails it is not compared."""
        assert index.path is not None
        with suppress(OSError, sqlite3.Error):
            # Whoever reads for long is not waited for.
            index.connection.execute("PRAGMA busy_timeout = 0")
            before, index.sealed = index.sealed, None
            written = seal.written_pieces(index.path) if before else ()
            (is_read,) = index.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[:1]
            index.connection.execute(f"PRAGMA busy_timeout = {int(_BUSY * 1000)}")
            if not is_read:
                seal.note_seal(index.path, before, written)

    def discard(self, index: Index) -> None:
        """Give up an index that was started."""
        index.close()
        self.tidy()

    def move_aside(self, path: str) -> str:
        """Put a damaged index where nobody takes it for a good one; where that is."""
        aside = f"{path}{_ASIDE}"
        # It may be another process that was quicker: no name is used twice, so it was this file.
        with suppress(FileNotFoundError):
            os.replace(path, aside)  # noqa: PTH105
        for beside in (f"{path}{suffix}" for suffix in _BESIDE):
            # No index of this name comes again, so nobody takes them for his.
            with suppress(OSError):
                os.remove(beside)  # noqa: PTH107
        return aside

    def is_tidy(self) -> bool:
        """Whether nothing lies there that is of no use."""
        return not self._left_overs()

    def tidy(self) -> None:
        """Remove what processes left that were killed, and what was replaced; the caller holds the lock."""
        for left in self._left_overs():
            # Some systems do not remove what others have open; the next one tries again.
            with suppress(OSError):
                os.remove(f"{self.folder}/{left}")  # noqa: PTH107

    @contextmanager
    def alone(
        self,
        patience: float = PATIENCE,
        tell_who: Callable[[str], None] | None = None,
        is_enough: Callable[[], object] | None = None,
    ) -> Iterator[None]:
        """A while in which no other process writes. The system ends it if this process dies.

        Whom we wait for is told once, if it takes longer than people expect. Who has enough of what others
        have written in the meantime waits no longer.
        """
        _make_private(self.folder)
        handle = os.open(f"{self.folder}/{self.name}.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            began = time.monotonic()
            while not locked(handle):
                waited = time.monotonic() - began
                if waited >= patience or (is_enough and is_enough()):
                    raise BusyIndexError(_writer(handle))
                if tell_who and waited >= _NOTICED:
                    tell_who(_writer(handle))
                    tell_who = None
                time.sleep(0.01)
            os.truncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
            yield
        finally:
            # Closing gives the lock back.
            os.close(handle)

    def _left_overs(self) -> list[str]:
        """What is neither the newest index, nor its journal, nor the last one that was damaged."""
        names = self._names()
        index, damaged = _last(names, ".db"), _last(names, f".db{_ASIDE}")
        used = (index, *(f"{index}{suffix}" for suffix in _BESIDE), damaged)
        return [name for name in names if name not in used]

    def _remove_unused(self) -> None:
        """Take out the indexes of other homes that nobody has looked at for long: a backup, a stick."""
        since = time.time() - UNUSED
        for name in os.listdir(self.folder):  # noqa: PTH208
            if name.endswith(".db") and not name.startswith(f"{self.name}-"):
                path = f"{self.folder}/{name}"
                # Somebody else may be tidying up as well.
                with suppress(OSError):
                    facts = os.stat(path)  # noqa: PTH116
                    if max(facts.st_atime, facts.st_mtime) < since:
                        _remove(path)

    def _names(self) -> list[str]:
        try:
            found = os.listdir(self.folder)  # noqa: PTH208
        except OSError:
            # Not there, or closed; whoever wants to write will hear about it.
            return []
        return [name for name in found if name.startswith(f"{self.name}-") and _number(name)]


def _remove(path: str) -> None:
    """Remove an index with what lies beside it."""
    for suffix in ("", *_BESIDE):
        # SQLite takes its own files away where it can.
        with suppress(FileNotFoundError):
            os.remove(path + suffix)  # noqa: PTH107


def _begun(path: str) -> Index:
    """An empty index in a new file that counts for nothing yet."""
    index = Index(_connected(path), path)
    with closed_on_error(index):
        index.connection.execute(f"PRAGMA page_size = {_PAGE}")
        # What is not finished is worth nothing, so nothing is written twice for its sake.
        index.connection.execute("PRAGMA journal_mode = OFF")
        index.connection.execute("PRAGMA synchronous = OFF")
        _laid_out(index)
        # What is merged while more is coming is merged again, which takes a fifth of the time.
        _configure(index, automerge=0, crisismerge=_NEVER)
        return index


def merge_from_now_on(index: Index) -> None:
    """Have pieces of the full text merged as they come: the index is whole, and what follows is little."""
    _configure(index, automerge=_USUAL_AUTOMERGE, crisismerge=_USUAL_CRISIS)


def merge_pieces(index: Index) -> None:
    """Make one of the pieces that a build leaves, if they are many: who searches looks into each of them.

    Else FTS5 would do so some day, in the middle of a small sync, and all at once.
    """
    changed = 2
    # The order itself counts as one change; it is done when there is no other.
    while changed > 1:
        before = index.connection.total_changes
        index.connection.execute("INSERT INTO texts (texts, rank) VALUES ('merge', ?)", (_MERGED_AT_ONCE,))
        changed = index.connection.total_changes - before


def in_memory() -> Index:
    """An index that is kept nowhere."""
    index = Index(_connected(":memory:"), None)
    with closed_on_error(index):
        return _laid_out(index)


@contextmanager
def naming_damage(path: str | None) -> Iterator[None]:
    """Turns what SQLite says about a file into an error that names it."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _named(error, path or "in memory") from error


@contextmanager
def closed_on_error(opened: Closable) -> Iterator[None]:
    """Lets go of something that nobody will get: what it has begun would keep others waiting."""
    try:
        yield
    except BaseException:
        opened.close()
        raise


def _named(error: sqlite3.DatabaseError, path: str) -> Exception:
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in _DAMAGE or isinstance(error, DamagedValueError) or str(error).startswith(_SIGNS_OF_DAMAGE):
        return DamagedIndexError(path, str(error))
    if code == sqlite3.SQLITE_FULL or (code in _SYSTEM_ERRORS and _is_on_a_full_disk(path)):
        return FullDiskError(path)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return BusyIndexError("another program")
    if code in _SYSTEM_ERRORS:
        return OSError(_SYSTEM_ERRORS[code], str(error), path)
    return error


def _is_on_a_full_disk(path: str) -> bool:
    """Whether there is no room for a page: then SQLite may call it any kind of trouble."""
    try:
        facts = os.statvfs(os.path.dirname(path) or ".")  # noqa: PTH120
    except (OSError, AttributeError):
        return False
    return facts.f_bavail * facts.f_frsize < _PAGE


@contextmanager
def naming_strange_rows(path: str | None) -> Iterator[None]:
    """Turns an error that nobody expects into one of the index: rows that nobody wrote lead to any.

    Whoever makes the index anew asks again without this, and then it is a bug of ours.
    """
    try:
        yield
    except (GeminidsError, OSError, sqlite3.Error, UnicodeEncodeError, OverflowError):
        # The last two say that what was asked cannot be put to SQLite; no row leads to them.
        raise
    except Exception as error:
        if path is None:
            raise
        raise StrangeRowsError(path, f"{type(error).__name__}: {error}") from error


def _compare_with_seal(path: str) -> None:
    """Compare an index with its checksum, unless it is being written. Raises DamagedIndexError, OSError."""
    if os.path.lexists(path) and not os.path.isfile(path):  # noqa: PTH113
        raise DamagedIndexError(path, "it is not a regular file")
    if seal.is_broken(path):
        raise DamagedIndexError(path, "it is not what was written")


def _opened_to_read(path: str) -> Index | None:
    _compare_with_seal(path)
    try:
        return _of_this_release(path, "mode=ro")
    except OSError:
        if not os.path.exists(path) or os.path.exists(f"{path}-wal"):  # noqa: PTH110
            raise
        # SQLite cannot keep a journal in a folder that is not ours; without one, it need not.
        return _of_this_release(path, "immutable=1")


def _of_this_release(path: str, how: str) -> Index | None:
    """An index for reading, opened as SQLite's addresses say; None if it is of another release."""
    with naming_damage(path):
        index = Index(_connection(uri_of(path, how), uri=True), path)
        with closed_on_error(index):
            if _version(index) == VERSION:
                return index
        index.close()
        return None


def _version(index: Index) -> object:
    try:
        return index.meta("version")
    except UnicodeDecodeError as error:
        # SQLite names a table that it cannot read, and Python cannot read the name.
        raise DamagedValueError(str(error)) from error


def _connected(path: str) -> sqlite3.Connection:
    connection = _connection(path)
    with closed_on_error(connection):
        connection.execute(f"PRAGMA cache_size = {_CACHE}")
        return connection


def _connection(path: str, *, uri: bool = False) -> sqlite3.Connection:
    # A library may be handed from one thread to another, as web servers do; two at once are up to the caller.
    return sqlite3.connect(path, timeout=_BUSY, isolation_level=None, uri=uri, check_same_thread=False)


def _make_private(folder: str) -> None:
    """Make a folder, and those above it that are missing, for this user alone."""
    above = os.path.dirname(folder)  # noqa: PTH120
    if above and not os.path.exists(above):  # noqa: PTH110
        _make_private(above)
    # Another process was quicker.
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)  # noqa: PTH102


def _last(names: Sequence[str], suffix: str) -> str | None:
    return max((name for name in names if name.endswith(suffix)), key=_number, default=None)


def _number(name: str) -> int:
    """The number of the build that a file belongs to; 0 if it is none of ours."""
    number = name.partition("-")[2].partition(".db")[0]
    return int(number) if number.isdecimal() else 0


def _laid_out(index: Index) -> Index:
    index.connection.executescript(TABLES)
    _configure(index, hashsize=_HASH_SIZE)
    index.note("version", VERSION)
    return index


def _configure(index: Index, **settings: int) -> None:
    for name, value in settings.items():
        # Not all of these are in the manual, so one may go; then it only takes longer.
        with suppress(sqlite3.Error):
            index.connection.execute("INSERT INTO texts (texts, rank) VALUES (?, ?)", (name, value))


def _written_to_disk(path: str) -> None:
    """Wait until a file is really there: its name must not outlive its content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _name(homes: Sequence[str]) -> str:
    from zlib import crc32

    named = "\n".join(homes).encode("utf-8", "surrogateescape")
    return f"{crc32(named):08x}{crc32(named[::-1]):08x}"


def _writer(handle: int) -> str:
    """Who holds the lock, in words."""
    written = os.pread(handle, 64, 0).decode("ascii", "replace").strip()
    return f"another geminids (process {written})" if written.isdecimal() else "another geminids"
