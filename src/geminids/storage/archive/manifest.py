"""The manifest: which versions there are, and in which packs their segments lie.

It is written in short transactions, all at once, so that whoever reads waits for milliseconds at most and
needs no file beside it; and it holds nothing that the packs do not say too, but what a file looked like when
it was last seen unchanged.

Every row has a checksum, which is compared whenever the row is read: one that is wrong makes the whole list
one that is made anew (`rebuild.py`), and is never taken for another path or place.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from typing import Any, NamedTuple, TypeVar

from geminids.storage.archive.failures import (
    ArchiveFullError,
    BusyArchiveError,
    FailedToKeepError,
    NewerArchiveError,
)
from geminids.storage.archive.manifest_rows import (
    LARGEST,
    STRANGE,
    DamagedManifestError,
    EarlierManifestError,
    Pack,
    PlacedRecord,
    RecordRow,
    SegmentAddress,
    folder_of,
    keyed,
    pack_of,
    path_key,
    record_of,
    record_row,
    version_of,
    version_row,
    written_of,
)
from geminids.storage.archive.records import Segment, WrittenVersion
from geminids.storage.archive.values import MANIFEST_FILE, MANIFEST_VERSION, KeptHome, Totals, Version
from geminids.storage.checksums import is_whole, summed
from geminids.storage.index.database import closed_on_error
from geminids.storage.paths import size_of, stored, uri_of

Answer = TypeVar("Answer")

VERSION = MANIFEST_VERSION
_OURS = 0x47654B70
"""Stands in the header of our files: no other program's file is taken for ours."""
_BUSY = 10.0
"""Seconds that SQLite itself waits for others."""
_GOOD_FOR = 30.0
"""Seconds after which a manifest in memory is made anew."""
_FIRST_VERSION = 1
"""Of lists whose rows have no checksums."""
_SMALL = 8 << 20
"""Bytes of a list of which all is checked when it is opened, also that its indexes know every row."""

TABLES = (
    "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value NOT NULL, sum INTEGER NOT NULL)",
    """CREATE TABLE versions (
        number INTEGER NOT NULL PRIMARY KEY, agent TEXT NOT NULL, home NOT NULL, path NOT NULL,
        size INTEGER NOT NULL, mtime_ns NOT NULL, inode NOT NULL, mode INTEGER NOT NULL,
        digest BLOB NOT NULL, kept_at INTEGER NOT NULL,
        revision INTEGER NOT NULL, segments BLOB, is_imported INTEGER NOT NULL, path_key INTEGER NOT NULL,
        sum INTEGER NOT NULL
    )""",
    "CREATE INDEX versions_of_path ON versions (path_key)",
    """CREATE TABLE records (
        pack INTEGER NOT NULL, offset INTEGER NOT NULL, payload_offset INTEGER NOT NULL,
        payload_length INTEGER NOT NULL, number INTEGER NOT NULL, revision INTEGER,
        segment BLOB, size INTEGER, sum INTEGER NOT NULL, PRIMARY KEY (pack, offset)
    ) WITHOUT ROWID""",
    "CREATE INDEX records_of_segment ON records (segment) WHERE segment IS NOT NULL",
    "CREATE INDEX records_of_version ON records (number)",
    """CREATE TABLE homes (
        agent TEXT NOT NULL, home NOT NULL, is_imported INTEGER NOT NULL, sum INTEGER NOT NULL,
        PRIMARY KEY (agent, home)
    ) WITHOUT ROWID""",
    """CREATE TABLE packs (
        number INTEGER NOT NULL PRIMARY KEY, size INTEGER NOT NULL, replaces TEXT NOT NULL,
        sum INTEGER NOT NULL
    )""",
)

_COLUMNS = (
    "number, agent, home, path, size, mtime_ns, inode, mode, digest, kept_at, "
    "revision, segments, is_imported, path_key"
)
_VERSIONS = f"SELECT {_COLUMNS}, sum FROM versions"
_BY_TIME = f"{_VERSIONS} ORDER BY kept_at, number"
_OF_HOME = f"{_VERSIONS} WHERE home = ? ORDER BY kept_at, number"
_OF_PATH = f"{_VERSIONS} WHERE path_key = ? AND path = ? ORDER BY kept_at, number"
_BY_NUMBER = f"{_VERSIONS} ORDER BY number"
_NUMBERED = f"{_VERSIONS} WHERE number = ?"
_RECORD_COLUMNS = "pack, offset, payload_offset, payload_length, number, revision, segment, size"
_RECORDS = f"SELECT {_RECORD_COLUMNS}, sum FROM records ORDER BY pack, offset"
_RECORDS_OF_PACK = f"SELECT {_RECORD_COLUMNS}, sum FROM records WHERE pack = ? ORDER BY offset"
_PLACE = f"""
    SELECT {_RECORD_COLUMNS}, sum FROM records
    WHERE segment = ? ORDER BY pack DESC, offset DESC LIMIT 1
"""
_META = "SELECT name, value, sum FROM meta"
_HOMES = "SELECT agent, home, is_imported, sum FROM homes"
_PACKS = "SELECT number, size, replaces, sum FROM packs ORDER BY number"
_PUT_VERSION = "INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_HOME = "INSERT OR REPLACE INTO homes VALUES (?, ?, ?, ?)"
_PUT_RECORD = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_PACK = "INSERT OR REPLACE INTO packs VALUES (?, ?, ?, ?)"
_PUT_META = "INSERT OR REPLACE INTO meta VALUES (?, ?, ?)"
_LAST_NUMBER = """
    SELECT max(
        coalesce((SELECT max(number) FROM versions), 0), coalesce((SELECT max(number) FROM records), 0)
    )
"""

_DAMAGE = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_FORMAT,
        sqlite3.SQLITE_CONSTRAINT,
        sqlite3.SQLITE_MISMATCH,
        sqlite3.SQLITE_IOERR_SHORT_READ,
    }
)
_SIGNS_OF_DAMAGE = ("no such table", "no such column", "Could not decode", "malformed", "table ")


class Manifest:
    """An open manifest."""

    def __init__(self, connection: sqlite3.Connection, file: str, *, is_in_memory: bool = False) -> None:
        self.connection = connection
        self.file = file
        """The file that it is, or stands for."""
        self._inode = _inode(file)
        self._good_until = time.monotonic() + _GOOD_FOR if is_in_memory else None

    def is_current(self) -> bool:
        """Whether nobody has put another one in its place; one in memory is only good for a while."""
        if self._good_until is not None and time.monotonic() > self._good_until:
            return False
        return self._inode == _inode(self.file)

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()

    def identity(self) -> tuple[str, int]:
        """The archive's own id, and how often copies were changed other than by keeping."""
        match self._meta():
            case {"id": str(archive), "changes": int(changes)}:
                return archive, changes
            case _:
                raise DamagedManifestError("it has no id")

    def is_of_this_version(self) -> bool:
        """Whether a row says so, whatever the header of the file says."""
        try:
            return self._meta().get("version") == VERSION
        except (sqlite3.Error, DamagedManifestError):
            return False

    def newest(self, homes: Collection[str] | None) -> dict[str, Version]:
        """The newest version of every path, of some homes or of all."""
        if homes is None:
            rows: Iterable[Any] = self._rows(_BY_TIME)
        else:
            rows = (row for home in homes for row in self._rows(_OF_HOME, stored(home)))
        return {version.path: version for version in map(version_of, rows)}

    def all_versions(self) -> list[Version]:
        """All versions of all paths, the oldest first."""
        return list(map(version_of, self._rows(_BY_TIME)))

    def versions(self, path: str) -> list[Version]:
        """The versions of a path, the oldest first."""
        return list(map(version_of, self._rows(_OF_PATH, *keyed(path))))

    def written_versions(self, path: str) -> list[WrittenVersion]:
        """The same with their segments."""
        return list(map(written_of, self._rows(_OF_PATH, *keyed(path))))

    def written(self, number: int) -> WrittenVersion | None:
        """One version with its segments."""
        return next(map(written_of, self._rows(_NUMBERED, number)), None)

    def all_written(self) -> list[WrittenVersion]:
        """All versions with their segments."""
        return list(map(written_of, self._rows(_BY_NUMBER)))

    def places(self, version: Version) -> list[SegmentAddress] | None:
        """Where the segments of a version lie; None if the version is gone, or a segment is."""
        written = self.written(version.number)
        if written is None:
            return None
        places = [self.place(segment) for segment in written.segments]
        return None if None in places else [place for place in places if place is not None]

    def place(self, segment: Segment) -> SegmentAddress | None:
        """Where a segment lies."""
        for row in map(record_of, self._rows(_PLACE, segment.digest)):
            return SegmentAddress(
                row.pack, row.payload_offset, row.payload_length, Segment(segment.digest, row.size or 0)
            )
        return None

    def records(self, pack: int | None = None) -> list[RecordRow]:
        """All records, or those of a pack, in the order in which they lie."""
        return list(
            map(record_of, self._rows(_RECORDS) if pack is None else self._rows(_RECORDS_OF_PACK, pack))
        )

    def homes(self) -> list[KeptHome]:
        """The folders of agents of which there are copies."""
        by_home: dict[tuple[str, str], list[WrittenVersion]] = {}
        for written in map(written_of, self._rows(_BY_TIME)):
            by_home.setdefault((written.version.agent, written.version.home), []).append(written)
        return [_kept_home(agent, home, by_home[agent, home]) for agent, home in sorted(by_home)]

    def folders(self) -> list[tuple[str, str, bool]]:
        """The same in little, and at once: agent, folder, whether all of its copies came from elsewhere."""
        return [
            (str(agent), folder_of(home), bool(is_imported))
            for agent, home, is_imported in self._rows(_HOMES)
        ]

    def totals(self) -> Totals:
        """How much there is."""
        every = self.all_versions()
        newest = {version.path: version.size for version in every}
        packs = self.packs()
        on_disk = sum(pack.size for pack in packs) + size_of(self.file)
        size_of_all = sum(version.size for version in every)
        return Totals(len(newest), len(every), sum(newest.values()), size_of_all, on_disk, len(packs))

    def packs(self) -> list[Pack]:
        """All packs, the oldest first."""
        return list(map(pack_of, self._rows(_PACKS)))

    def known_end(self, pack: int) -> int:
        """Where the last record ends that is known of a pack."""
        return max((row.end for row in self.records(pack)), default=0)

    def next_number(self) -> int:
        """A number that no version has or had."""
        (last,) = self.connection.execute(_LAST_NUMBER).fetchone()
        noted = self._meta().get("last number", 0)
        if type(last) is not int or type(noted) is not int or max(last, noted) >= LARGEST:
            raise DamagedManifestError(STRANGE)
        return max(last, noted) + 1

    def _rows(self, question: str, *values: Any) -> list[tuple[Any, ...]]:
        """The rows that answer a question, all of them as they were written, without their checksums."""
        rows = self.connection.execute(question, values).fetchall()
        if not all(map(is_whole, rows)):
            raise DamagedManifestError("a row does not have the checksum it was written with")
        return [row[:-1] for row in rows]

    def _meta(self) -> dict[str, Any]:
        return {str(name): value for name, value in self._rows(_META)}

    def note_last_number(self, number: int = 0) -> None:
        """Remember which numbers were used, before versions are removed, within a transaction."""
        self._note("last number", max(number, self.next_number() - 1))

    def begin_reading(self) -> None:
        """Ask many questions at a time: each one alone would lock the file and look whether it changed."""
        if not self.connection.in_transaction:
            self.connection.execute("BEGIN")

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing."""
        if self.connection.in_transaction:
            # Of reading: whoever writes has nothing open.
            self.connection.execute("COMMIT")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            # SQLite may have rolled back itself; what went wrong first is what counts.
            with suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise

    def read_all(self) -> None:
        """Read every row. Raises DamagedManifestError if one has values that nobody wrote."""
        self.identity()
        self.next_number()
        self.folders()
        self.packs()
        self.records()
        self.all_written()

    def put(self, written: Iterable[WrittenVersion], placed: Iterable[PlacedRecord]) -> None:
        """Take in versions and records, within a transaction."""
        every = list(written)
        self.connection.executemany(_PUT_VERSION, map(version_row, every))
        # Every command asks for them, and there may be a hundred thousand copies.
        homes = {(agent, stored(folder)): is_imported for agent, folder, is_imported in self.folders()}
        for one in every:
            home = one.version.agent, stored(one.version.home)
            homes[home] = one.is_imported and homes.get(home, True)
        self.connection.executemany(
            _PUT_HOME, (summed((*home, int(is_imported))) for home, is_imported in homes.items())
        )
        self.put_records(record_row(entry) for entry in placed)

    def put_records(self, rows: Iterable[RecordRow]) -> None:
        """Take in where records lie, within a transaction."""
        self.connection.executemany(_PUT_RECORD, map(summed, rows))

    def put_pack(self, pack: Pack) -> None:
        """Note how long a pack is, within a transaction."""
        known = next((known for known in self.packs() if known.number == pack.number), pack)
        self.connection.execute(
            _PUT_PACK, summed((pack.number, pack.size, " ".join(map(str, known.replaces))))
        )

    def drop_version(self, number: int) -> None:
        """Forget a version, within a transaction."""
        self.connection.execute("DELETE FROM versions WHERE number = ?", (number,))

    def drop_record(self, row: RecordRow) -> None:
        """Forget where a record lies, within a transaction."""
        self.connection.execute("DELETE FROM records WHERE pack = ? AND offset = ?", row[:2])

    def drop_pack(self, number: int) -> None:
        """Forget a pack and its records, within a transaction."""
        self.connection.execute("DELETE FROM records WHERE pack = ?", (number,))
        self.connection.execute("DELETE FROM packs WHERE number = ?", (number,))

    def set_identity(self, archive: str, changes: int) -> None:
        """Give the archive its id, within a transaction."""
        self._note("id", archive)
        self._note("changes", changes)

    def dead_bytes(self) -> int:
        """About how many bytes of the packs are of no use."""
        dead = self._meta().get("dead", 0)
        return dead if type(dead) is int else 0

    def set_dead_bytes(self, dead: int) -> None:
        """Note the same."""
        self._note("dead", dead)

    def note_change(self) -> None:
        """Count a change other than by keeping, within a transaction."""
        self._note("changes", self.identity()[1] + 1)

    def _note(self, name: str, value: str | int) -> None:
        self.connection.execute(_PUT_META, summed((name, value)))


def open_manifest(folder: str, *, to_write: bool = False) -> Manifest:
    """The manifest of a folder. Raises DamagedManifestError, also if there is none."""
    file = f"{folder}/{MANIFEST_FILE}"
    if not os.path.isfile(file):  # noqa: PTH113
        raise DamagedManifestError("it is not a regular file" if os.path.lexists(file) else "it is missing")
    # Who only reads must be able to roll back what a killed process has left.
    how = "rw" if to_write or os.access(folder, os.W_OK) else "ro"
    with naming_damage(folder):
        manifest = Manifest(_connected(uri_of(file, f"mode={how}")), file)
        with closed_on_error(manifest):
            _check(manifest, folder)
            return manifest


def new_manifest(file: str) -> Manifest:
    """An empty manifest in a new file."""
    handle = os.open(file, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    # Whatever the process masks; SQLite gives the same rights to the journal.
    os.fchmod(handle, 0o600)
    os.close(handle)
    return Manifest(_laid_out(_connected(uri_of(file, "mode=rw"))), file)


def manifest_in_memory(folder: str) -> Manifest:
    """An empty manifest that is kept nowhere."""
    connection = _laid_out(_connected(":memory:"))
    return Manifest(connection, f"{folder}/{MANIFEST_FILE}", is_in_memory=True)


def _laid_out(connection: sqlite3.Connection) -> sqlite3.Connection:
    with closed_on_error(connection):
        connection.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            connection.execute(table)
        connection.execute(f"PRAGMA application_id = {_OURS}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        # Once more where there is a checksum: a flipped bit makes no list of a newer release.
        connection.execute(_PUT_META, summed(("version", VERSION)))
        connection.execute("COMMIT")
        return connection


def _connected(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    with closed_on_error(connection):
        connection.execute("PRAGMA synchronous = FULL")
        # What is removed is to be gone.
        connection.execute("PRAGMA secure_delete = ON")
        return connection


def _check(manifest: Manifest, folder: str) -> None:
    (ours,) = manifest.connection.execute("PRAGMA application_id").fetchone()
    (version,) = manifest.connection.execute("PRAGMA user_version").fetchone()
    if ours != _OURS:
        raise DamagedManifestError("it is not a list of geminids")
    if version > VERSION and not manifest.is_of_this_version():
        raise NewerArchiveError(folder, version, VERSION)
    if version == _FIRST_VERSION:
        raise EarlierManifestError(f"it is of version {version}")
    if version != VERSION:
        raise DamagedManifestError(f"it says that it is of version {version}")
    how = "integrity_check" if size_of(manifest.file) <= _SMALL else "quick_check"
    (answer,) = manifest.connection.execute(f"PRAGMA {how}(1)").fetchone()
    if answer != "ok":
        raise DamagedManifestError(answer)


@contextmanager
def naming_damage(folder: str) -> Iterator[None]:
    """Turns what SQLite says of a manifest into errors of ours."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _named(error, folder) from error


def _named(error: sqlite3.DatabaseError, folder: str) -> Exception:
    code = getattr(error, "sqlite_errorcode", None)
    # The lowest byte is the kind of error, the rest tells it more exactly.
    kind = None if code is None else code & 0xFF
    said = str(error)
    if kind in _DAMAGE or code in _DAMAGE or any(sign in said for sign in _SIGNS_OF_DAMAGE):
        return DamagedManifestError(said)
    if kind == sqlite3.SQLITE_FULL:
        return ArchiveFullError(folder)
    if kind in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyArchiveError("another process")
    return FailedToKeepError(folder, said)


class ReadableRows(NamedTuple):
    """What can still be read of a manifest, of this release or the one before."""

    identity: tuple[str, int] | None
    last_number: int
    dead: int
    versions: Sequence[WrittenVersion]
    records: Sequence[RecordRow]
    packs: Sequence[Pack]
    left_out: int
    """How many rows are not what was written, or stretches of rows could not be read."""


def rows_as_far_as_whole(file: str) -> ReadableRows | None:
    """All rows of a manifest that are what was written, whatever else is wrong with it; None if none are."""
    if not os.path.isfile(file):  # noqa: PTH113
        return None
    try:
        with closing(_connected(uri_of(file, "mode=ro"))) as connection:
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            return _rows_left(connection, has_sums=version != _FIRST_VERSION)
    except sqlite3.Error:
        return None


def _rows_left(connection: sqlite3.Connection, *, has_sums: bool) -> ReadableRows:
    troubles: list[object] = []

    def rows(question: str, made: Callable[[Sequence[Any]], Answer]) -> Iterator[Answer]:
        try:
            for row in connection.execute(question if has_sums else question.replace(", sum FROM", " FROM")):
                if has_sums and not is_whole(row):
                    troubles.append(row)
                    continue
                try:
                    yield made(row[:-1] if has_sums else row)
                except DamagedManifestError as error:
                    troubles.append(error)
        except sqlite3.Error as error:
            troubles.append(error)

    known = dict(rows(_META, tuple))
    archive, changes, last, dead = (known.get(name) for name in ("id", "changes", "last number", "dead"))
    return ReadableRows(
        (str(archive), changes) if _is_id(archive) and type(changes) is int else None,
        last if type(last) is int and 0 <= last < LARGEST else 0,
        dead if type(dead) is int else 0,
        list(rows(_BY_NUMBER, written_of if has_sums else _written_at_first)),
        list(rows(_RECORDS, record_of)),
        list(rows(_PACKS, pack_of)),
        len(troubles),
    )


def _is_id(archive: object) -> bool:
    return isinstance(archive, str) and re.fullmatch("[0-9a-f]{32}", archive) is not None


def _written_at_first(row: Sequence[Any]) -> WrittenVersion:
    """A version of a list without checksums, which has one of each path all the same."""
    written = written_of(row)
    if row[-1] != path_key(stored(written.version.path)):
        raise DamagedManifestError(STRANGE)
    return written


def _inode(file: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(file)  # noqa: PTH116
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _kept_home(agent: str, home: str, versions: Sequence[WrittenVersion]) -> KeptHome:
    """What there is of a home, of which these are the versions, the oldest first."""
    sizes = {written.version.path: written.version.size for written in versions}
    is_imported = all(written.is_imported for written in versions)
    first, last = versions[0].version.kept_at, versions[-1].version.kept_at
    return KeptHome(agent, home, is_imported, len(sizes), sum(sizes.values()), first, last)
