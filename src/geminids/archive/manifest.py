"""The manifest: which versions there are, and in which packs their segments lie.

It is written in short transactions, all at once, so that whoever reads waits for milliseconds at most and
needs no file beside it; and it holds nothing that the packs do not say too, but what a file looked like when
it was last seen unchanged.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple
from zlib import crc32

from geminids.archive import MANIFEST_FILE, MANIFEST_VERSION, KeptHome, Totals, Version
from geminids.archive.failures import ArchiveFullError, BusyArchiveError, FailedToKeepError, NewerArchiveError
from geminids.archive.records import DIGEST_SIZE, Record, Segment, WrittenVersion
from geminids.store.any_marks import uri_of
from geminids.store.index import closed_on_error
from geminids.store.paths import opened, stored

VERSION = MANIFEST_VERSION
_OURS = 0x47654B70
"""Stands in the header of our files: no other program's file is taken for ours."""
_BUSY = 10.0
"""Seconds that SQLite itself waits for others."""
_GOOD_FOR = 30.0
"""Seconds after which a manifest in memory is made anew."""
_STRANGE = "a row has values that nobody wrote"
_LARGEST = 1 << 48
"""No pack and no segment has as many bytes."""
_SIZE_LENGTH = 8
_PART = DIGEST_SIZE + _SIZE_LENGTH

TABLES = (
    "CREATE TABLE meta (name TEXT NOT NULL PRIMARY KEY, value NOT NULL)",
    """CREATE TABLE versions (
        number INTEGER NOT NULL PRIMARY KEY, agent TEXT NOT NULL, home NOT NULL, path NOT NULL,
        size INTEGER NOT NULL, mtime_ns NOT NULL, inode NOT NULL, mode INTEGER NOT NULL,
        digest BLOB NOT NULL, kept_at INTEGER NOT NULL,
        revision INTEGER NOT NULL, segments BLOB, is_imported INTEGER NOT NULL, path_key INTEGER NOT NULL
    )""",
    "CREATE INDEX versions_of_path ON versions (path_key)",
    """CREATE TABLE records (
        pack INTEGER NOT NULL, offset INTEGER NOT NULL, payload_offset INTEGER NOT NULL,
        payload_length INTEGER NOT NULL, number INTEGER NOT NULL, revision INTEGER,
        segment BLOB, size INTEGER, PRIMARY KEY (pack, offset)
    ) WITHOUT ROWID""",
    "CREATE INDEX records_of_segment ON records (segment) WHERE segment IS NOT NULL",
    "CREATE INDEX records_of_version ON records (number)",
    """CREATE TABLE homes (
        agent TEXT NOT NULL, home NOT NULL, is_imported INTEGER NOT NULL, PRIMARY KEY (agent, home)
    ) WITHOUT ROWID""",
    "CREATE TABLE packs (number INTEGER NOT NULL PRIMARY KEY, size INTEGER NOT NULL, replaces TEXT NOT NULL)",
)

_FACTS = "number, agent, home, path, size, mtime_ns, inode, mode, digest, kept_at"
_NEWEST = f"SELECT {_FACTS} FROM versions ORDER BY kept_at, number"
_NEWEST_OF_HOME = f"SELECT {_FACTS} FROM versions WHERE home = ? ORDER BY kept_at, number"
_VERSIONS = f"SELECT {_FACTS} FROM versions WHERE path_key = ? AND path = ? ORDER BY kept_at, number"
_WRITTEN = f"SELECT {_FACTS}, revision, segments, is_imported FROM versions"
_WRITTEN_OF_PATH = f"{_WRITTEN} WHERE path_key = ? AND path = ? ORDER BY kept_at, number"
_WRITTEN_BY_NUMBER = f"{_WRITTEN} WHERE number = ?"
_ALL_WRITTEN = f"{_WRITTEN} ORDER BY number"
_PLACE = """
    SELECT pack, payload_offset, payload_length, size FROM records
    WHERE segment = ? ORDER BY pack DESC, offset DESC LIMIT 1
"""
_PUT_VERSION = "INSERT OR REPLACE INTO versions VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_HOME = (
    "INSERT INTO homes VALUES (?, ?, ?) "
    "ON CONFLICT DO UPDATE SET is_imported = min(is_imported, excluded.is_imported)"
)
_PUT_RECORD = "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_PACK = "INSERT INTO packs VALUES (?, ?, ?) ON CONFLICT (number) DO UPDATE SET size = excluded.size"
_PUT_META = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
_LAST_NUMBER = """
    SELECT max(
        coalesce((SELECT max(number) FROM versions), 0),
        coalesce((SELECT max(number) FROM records), 0),
        coalesce((SELECT value FROM meta WHERE name = 'last number'), 0)
    )
"""
_HOMES = """
    SELECT agent, home, min(is_imported), count(DISTINCT path), sum(size) FILTER (WHERE age = 1),
        min(kept_at), max(kept_at)
    FROM (
        SELECT agent, home, path, is_imported, size, kept_at,
            row_number() OVER (PARTITION BY agent, home, path ORDER BY kept_at DESC, number DESC) AS age
        FROM versions
    ) GROUP BY agent, home ORDER BY agent, home
"""
_TOTALS = """
    SELECT count(*), coalesce(sum(copies), 0), coalesce(sum(newest), 0), coalesce(sum(every), 0) FROM (
        SELECT count(*) AS copies, size AS newest, sum(size) AS every, max(kept_at)
        FROM versions GROUP BY path
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


class DamagedManifestError(Exception):
    """A manifest that cannot be used as it is, and is made anew from the packs."""


class Place(NamedTuple):
    """Where a segment lies."""

    pack: int
    offset: int
    length: int
    segment: Segment


class Pack(NamedTuple):
    """A pack as far as the manifest knows it."""

    number: int
    size: int
    replaces: Sequence[int]


class PlacedRecord(NamedTuple):
    """A record, and the pack it is in."""

    pack: int
    record: Record


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
        known = dict(self.connection.execute("SELECT name, value FROM meta"))
        match known:
            case {"id": str(archive), "changes": int(changes)}:
                return archive, changes
            case _:
                raise DamagedManifestError("it has no id")

    def newest(self, homes: Collection[str] | None) -> dict[str, Version]:
        """The newest version of every path, of some homes or of all."""
        if homes is None:
            rows: Iterable[Any] = self.connection.execute(_NEWEST).fetchall()
        else:
            rows = (
                row
                for home in homes
                for row in self.connection.execute(_NEWEST_OF_HOME, (stored(home),)).fetchall()
            )
        return {version.path: version for version in map(_version, rows)}

    def all_versions(self) -> list[Version]:
        """All versions of all paths, the oldest first."""
        return [_version(row) for row in self.connection.execute(_NEWEST).fetchall()]

    def versions(self, path: str) -> list[Version]:
        """The versions of a path, the oldest first."""
        return [_version(row) for row in self.connection.execute(_VERSIONS, _keyed(path)).fetchall()]

    def written_versions(self, path: str) -> list[WrittenVersion]:
        """The same with their segments."""
        return [_written(row) for row in self.connection.execute(_WRITTEN_OF_PATH, _keyed(path)).fetchall()]

    def written(self, number: int) -> WrittenVersion | None:
        """One version with its segments."""
        row = self.connection.execute(_WRITTEN_BY_NUMBER, (number,)).fetchone()
        return _written(row) if row else None

    def all_written(self) -> list[WrittenVersion]:
        """All versions with their segments."""
        return [_written(row) for row in self.connection.execute(_ALL_WRITTEN).fetchall()]

    def places(self, version: Version) -> list[Place] | None:
        """Where the segments of a version lie; None if the version is gone, or a segment is."""
        written = self.written(version.number)
        if written is None:
            return None
        places = [self.place(segment) for segment in written.segments]
        return None if None in places else [place for place in places if place is not None]

    def place(self, segment: Segment) -> Place | None:
        """Where a segment lies."""
        row = self.connection.execute(_PLACE, (segment.digest,)).fetchone()
        match row:
            case None:
                return None
            case (int(), int(), int(), int()) if min(row) >= 0 and max(row) < _LARGEST:
                return Place(row[0], row[1], row[2], Segment(segment.digest, row[3]))
            case _:
                raise DamagedManifestError(_STRANGE)

    def homes(self) -> list[KeptHome]:
        """The folders of agents of which there are copies."""
        return [
            KeptHome(str(agent), _folder(home), bool(is_imported), files, size, first, last)
            for agent, home, is_imported, files, size, first, last in self.connection.execute(
                _HOMES
            ).fetchall()
        ]

    def folders(self) -> list[tuple[str, str, bool]]:
        """The same in little, and at once: agent, folder, whether all of its copies came from elsewhere."""
        rows = self.connection.execute("SELECT agent, home, is_imported FROM homes").fetchall()
        return [(str(agent), _folder(home), bool(is_imported)) for agent, home, is_imported in rows]

    def totals(self) -> Totals:
        """How much there is."""
        files, versions, size, size_of_all = self.connection.execute(_TOTALS).fetchone()
        packs = self.packs()
        on_disk = sum(pack.size for pack in packs) + _size(self.file)
        return Totals(files, versions, size, size_of_all, on_disk, len(packs))

    def packs(self) -> list[Pack]:
        """All packs, the oldest first."""
        rows = self.connection.execute("SELECT number, size, replaces FROM packs ORDER BY number").fetchall()
        return [_pack(row) for row in rows]

    def known_end(self, pack: int) -> int:
        """Where the last record ends that is known of a pack."""
        (end,) = self.connection.execute(
            "SELECT coalesce(max(payload_offset + payload_length), 0) FROM records WHERE pack = ?", (pack,)
        ).fetchone()
        return int(end)

    def next_number(self) -> int:
        """A number that no version has or had."""
        (last,) = self.connection.execute(_LAST_NUMBER).fetchone()
        return int(last) + 1

    def note_numbers(self) -> None:
        """Remember which numbers were used, before versions are removed, within a transaction."""
        self.connection.execute(_PUT_META, ("last number", self.next_number() - 1))

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
            with suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")
            raise

    def read_all(self) -> None:
        """Read every row. Raises DamagedManifestError if one has values that nobody wrote."""
        self.identity()
        self.packs()
        for written in self.all_written():
            for segment in written.segments:
                self.place(segment)

    def put(self, written: Iterable[WrittenVersion], placed: Iterable[PlacedRecord]) -> None:
        """Take in versions and records, within a transaction."""
        every = list(written)
        self.connection.executemany(_PUT_VERSION, map(_version_row, every))
        # Every command asks for them, and there may be a hundred thousand copies.
        homes = {(one.version.agent, stored(one.version.home), one.is_imported) for one in every}
        self.connection.executemany(_PUT_HOME, homes)
        self.connection.executemany(_PUT_RECORD, map(_record_row, placed))

    def put_pack(self, pack: Pack) -> None:
        """Note how long a pack is, within a transaction."""
        self.connection.execute(_PUT_PACK, (pack.number, pack.size, " ".join(map(str, pack.replaces))))

    def drop_pack(self, number: int) -> None:
        """Forget a pack and its records, within a transaction."""
        self.connection.execute("DELETE FROM records WHERE pack = ?", (number,))
        self.connection.execute("DELETE FROM packs WHERE number = ?", (number,))

    def set_identity(self, archive: str, changes: int) -> None:
        """Give the archive its id, within a transaction."""
        self.connection.executemany(_PUT_META, [("id", archive), ("changes", changes)])

    def dead_bytes(self) -> int:
        """About how many bytes of the packs are of no use."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = 'dead'").fetchone()
        return int(row[0]) if row else 0

    def set_dead_bytes(self, dead: int) -> None:
        """Note the same."""
        self.connection.execute(_PUT_META, ("dead", dead))

    def note_change(self) -> None:
        """Count a change other than by keeping, within a transaction."""
        self.connection.execute("UPDATE meta SET value = value + 1 WHERE name = 'changes'")


def open_manifest(folder: str, *, to_write: bool = False) -> Manifest:
    """The manifest of a folder. Raises DamagedManifestError, also if there is none."""
    file = f"{folder}/{MANIFEST_FILE}"
    if not os.path.exists(file):  # noqa: PTH110
        raise DamagedManifestError("it is missing")
    # Who only reads must be able to roll back what a killed process has left.
    how = "rw" if to_write or os.access(folder, os.W_OK) else "ro"
    with naming_damage(folder):
        manifest = Manifest(_connected(uri_of(file, f"mode={how}")), file)
        with closed_on_error(manifest):
            _check(manifest.connection, folder)
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
        connection.execute("COMMIT")
        return connection


def _connected(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    with closed_on_error(connection):
        connection.execute("PRAGMA synchronous = FULL")
        # What is removed is to be gone.
        connection.execute("PRAGMA secure_delete = ON")
        return connection


def _check(connection: sqlite3.Connection, folder: str) -> None:
    (ours,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if ours != _OURS:
        raise DamagedManifestError("it is no manifest of ours")
    if version > VERSION:
        raise NewerArchiveError(folder, version, VERSION)
    if version < VERSION:
        raise DamagedManifestError(f"it is of version {version}")


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


def _inode(file: str) -> tuple[int, int] | None:
    try:
        facts = os.stat(file)  # noqa: PTH116
    except OSError:
        return None
    return facts.st_dev, facts.st_ino


def _size(file: str) -> int:
    try:
        return os.stat(file).st_size  # noqa: PTH116
    except OSError:
        return 0


def _version(row: Sequence[Any]) -> Version:
    # A flipped bit can make another kind of value of any of them, which SQLite does not mind.
    match row:
        case (
            int(number),
            str(agent),
            str() | bytes() as home,
            str() | bytes() as path,
            int(size),
            int() | str() as mtime_ns,
            int() | str() as inode,
            int(mode),
            bytes(digest),
            int(kept_at),
        ):
            facts = (size, _whole(mtime_ns), _whole(inode), mode)
            return Version(number, agent, opened(home), opened(path), *facts, digest.hex(), kept_at)
        case _:
            raise DamagedManifestError(_STRANGE)


def _folder(home: object) -> str:
    if not isinstance(home, str | bytes):
        raise DamagedManifestError(_STRANGE)
    return opened(home)


def _pack(row: Sequence[Any]) -> Pack:
    match row:
        case (int(number), int(size), str(replaces)) if 0 <= size < _LARGEST:
            return Pack(number, size, tuple(map(_whole, replaces.split())))
        case _:
            raise DamagedManifestError(_STRANGE)


def _whole(number: int | str) -> int:
    try:
        return int(number)
    except ValueError as error:
        raise DamagedManifestError(_STRANGE) from error


def _written(row: Sequence[Any]) -> WrittenVersion:
    *facts, revision, parts, is_imported = row
    version = _version(facts)
    if type(revision) is not int or not isinstance(parts, bytes | None) or len(parts or b"") % _PART:
        raise DamagedManifestError(_STRANGE)
    if parts is None:
        whole = Segment(bytes.fromhex(version.digest), version.size)
        return WrittenVersion(version, revision, [whole], bool(is_imported))
    segments = [
        Segment(parts[at : at + DIGEST_SIZE], int.from_bytes(parts[at + DIGEST_SIZE : at + _PART], "big"))
        for at in range(0, len(parts), _PART)
    ]
    return WrittenVersion(version, revision, segments, bool(is_imported))


def _version_row(written: WrittenVersion) -> tuple[Any, ...]:
    number, agent, home, path, size, mtime_ns, inode, mode, digest, kept_at = written.version
    return (
        *(number, agent, stored(home), stored(path), size, _fitting(mtime_ns), _fitting(inode), mode),
        *(bytes.fromhex(digest), kept_at, written.revision, _parts(written), int(written.is_imported)),
        _key(stored(path)),
    )


def _parts(written: WrittenVersion) -> bytes | None:
    """The segments of a version; None for most, which have one that is all of it."""
    if len(written.segments) == 1:
        return None
    return b"".join(
        segment.digest + segment.size.to_bytes(_SIZE_LENGTH, "big") for segment in written.segments
    )


def _key(path: str | bytes) -> int:
    # To have all paths twice, here and in an index, would make a third of the manifest.
    return crc32(path.encode() if isinstance(path, str) else path)


def _keyed(path: str) -> tuple[int, str | bytes]:
    return _key(stored(path)), stored(path)


def _record_row(placed: PlacedRecord) -> tuple[Any, ...]:
    record = placed.record
    segment, size = record.segment or (None, None)
    revision = record.written.revision if record.written else None
    place = (placed.pack, record.offset, record.payload_offset, record.payload_length)
    return (*place, record.number, revision, segment, size)


def _fitting(number: int) -> int | str:
    # Some systems have inodes, and files times, that SQLite has no room for.
    return number if -(1 << 63) <= number < 1 << 63 else str(number)
