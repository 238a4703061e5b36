"""What can still be read of a damaged durable file, put into a new one; the damaged file is moved aside.

Tables are read row by row; around a page that cannot be read the ids are halved until only those that are
on it are left out, and so are rows that do not have the checksum they were written with. What was left out
comes from the newest copy that has it; all of it where the file is gone. Where the first page is gone, which
says where all tables are, that of a copy or of a new file stands in for it.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from geminids.core.errors import PARTLY_DONE, GeminidsError
from geminids.storage.checksums import row_sum
from geminids.storage.durable.database import (
    FILE_NAME,
    FORGOTTEN,
    MARKS,
    PAGE_SIZE,
    PATIENCE,
    PROJECTS,
    SUMMED,
    VERSION,
    DamagedStoreError,
    alone,
    beside,
    new_file,
    next_generation,
    opened,
    reading,
    sum_up,
)

Row = tuple[int | str, ...]

_SMALLEST_ROW = 32
_LAST_ID = 2**62


class Table(NamedTuple):
    """A table that is worth recovering."""

    name: str
    columns: str
    known_to: str
    """An index of it. On other pages than the table, it knows how many rows there are."""
    word: str | None
    """What people call a row that they gave; None for what can be learnt again."""
    id: str = "rowid"

    def select(self, columns: str) -> str:
        """How its rows are read by id."""
        return (
            f"SELECT {self.id}, {columns} FROM {self.name} NOT INDEXED "
            f"WHERE {self.id} BETWEEN ? AND ? ORDER BY {self.id}"
        )

    @property
    def insert(self) -> str:
        """How they are put into a new file."""
        values = ", ".join("?" for _ in self.columns.split(","))
        return f"INSERT OR IGNORE INTO {self.name} ({self.id}, {self.columns}) VALUES (?, {values})"

    @property
    def number_of_rows(self) -> str:
        """How many there are."""
        return f"SELECT count(*) FROM {self.name} INDEXED BY {self.known_to}"


_NOTES = Table("notes", "session, at, text", "notes_of_session", "note", "id")
TABLES = (
    Table("links", SUMMED["links"], "sqlite_autoindex_links_1", "link"),
    Table("names", SUMMED["names"], "sqlite_autoindex_names_1", "name"),
    Table("tags", SUMMED["tags"], "sqlite_autoindex_tags_1", "tag"),
    _NOTES,
    Table("forgotten", SUMMED["forgotten"], "sqlite_autoindex_forgotten_1", "forgotten session"),
    Table("learnt", SUMMED["learnt"], "sqlite_autoindex_learnt_1", None),
    Table("looked_for", SUMMED["looked_for"], "sqlite_autoindex_looked_for_1", None),
    Table("repositories", SUMMED["repositories"], "sqlite_autoindex_repositories_1", None),
)


class Salvaged(NamedTuple):
    """What is left of a table."""

    rows: dict[int, Row]
    unread: Sequence[range]
    """Ids that could not be read; there need not be a row for each."""
    number_of_rows: int | None
    """How many rows there were; None if that cannot be known."""
    found: int = 0
    """How many were found, also those that are not what was written."""

    def misses(self, row_id: int) -> bool:
        """Whether a row may be one that could not be read."""
        return any(row_id in ids for ids in self.unread)


_NOTHING = Salvaged({}, (range(_LAST_ID),), None)


class Recovered(NamedTuple):
    """What became of the rows of a table that people have filled."""

    word: str
    kept: int
    lost: int | None
    """None if rows may be lost, and nobody can know how many."""


class RecoveredError(GeminidsError):
    """The durable file was damaged. What could be read is in a new one, and nothing else was changed."""

    exit_code = PARTLY_DONE

    def __init__(self, file: Path, moved_to: Path | None, tables: Sequence[Recovered]) -> None:
        self.tables = tables
        kept = ", ".join(_counted(table.kept, table.word) for table in tables)
        lost = ", ".join(_lost(table) for table in tables if table.lost != 0) or "nothing"
        what = f"was damaged and is now {str(moved_to)!r}" if moved_to else "was gone, but its copy exists"
        self.account = f"{str(file)!r} {what}. Recovered: {kept}. Lost: {lost}."
        """What happened, for whoever goes on."""
        super().__init__(f"{self.account} Nothing else was changed. Run the command again.")


def mend(folder: Path) -> str | None:
    """Recover a damaged file for somebody who only reads; what was said, None if others were quicker.

    Raises OSError, BusyStoreError, and DamagedStoreError where there is nothing to recover from.
    """
    file = folder / FILE_NAME
    with alone(file, time.monotonic() + PATIENCE):
        try:
            _read_all(folder)
        except DamagedStoreError:
            try:
                return recover(file).account
            except sqlite3.Error as error:
                raise DamagedStoreError(file) from error
    return None


def _read_all(folder: Path) -> None:
    with reading(folder) as reader:
        if reader and reader.version == VERSION:
            for table, columns in SUMMED.items():
                reader.whole_rows(f"SELECT {columns}, sum FROM {table}")


def recover(file: Path) -> RecoveredError:
    """Put what can be read into a new file and move the damaged one aside; what to tell the user.

    Whoever calls this holds the lock. If it fails, with OSError, the damaged file is where it was.
    """
    made = new_file(file)
    for left in file.parent.glob(f"{file.name}.*.new/"):
        # Of one that was killed: whoever recovers is alone.
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f"{file.name}.", suffix=".new") as workshop:
        salvaged = _best_reading(file, Path(workshop))
        tables = _fill(made, salvaged, [_all_tables(copy) for copy in _copies(file)])
    moved_to = _move_aside(file)
    made.replace(file)
    return RecoveredError(file, moved_to, tables)


def _best_reading(file: Path, workshop: Path) -> list[Salvaged]:
    """What is left of each table, of all ways to read the file the one that gives most."""
    readings = [_all_tables(_work_copy(file, workshop / "as-it-is", None))]
    for number, page in enumerate(_first_pages(file, workshop)):
        attempt = _work_copy(file, workshop / f"attempt-{number}", page)
        readings.append(list(map(_doubted, _all_tables(attempt))))
    return max(readings, key=lambda reading: sum(table.found for table in reading))


def _first_pages(file: Path, workshop: Path) -> Iterator[bytes]:
    """First pages that may have been those of a file: of its copies, then of new files of all versions."""
    models = [new_file(workshop / f"model-{version}", version) for version in range(VERSION, 0, -1)]
    for donor in (*_copies(file), *models):
        yield donor.read_bytes()[:PAGE_SIZE]


def _work_copy(file: Path, place: Path, first_page: bytes | None) -> Path:
    content = file.read_bytes() if file.is_file() else b""
    # Of a page that was cut, SQLite would read the rest as nothing, and rows on it as absent.
    content = content[: max(len(content) - len(content) % PAGE_SIZE, PAGE_SIZE)]
    if first_page is not None:
        content = _with_first_page(content, first_page)
    place.write_bytes(content)
    if beside(file, "-wal").is_file():
        shutil.copyfile(beside(file, "-wal"), beside(place, "-wal"))
    return place


def _with_first_page(content: bytes, page: bytes) -> bytes:
    """The file behind another first page, as long as that page expects it to be, and no page of it free."""
    expected = int.from_bytes(page[28:32], "big") * PAGE_SIZE
    # Two numbers in the header that disagree make SQLite count the pages itself, with those in a log.
    disagreeing = bytes(byte ^ 0xFF for byte in page[24:28])
    header = page[:28] + bytes(12) + page[40:92] + disagreeing
    return (header + page[96:] + content[PAGE_SIZE:]).ljust(expected, b"\0")


def _copies(file: Path) -> list[Path]:
    """The copies that were made of a file, the newest first."""
    copies = [path for path in file.parent.glob(f"{file.name}*.bak") if path.is_file()]
    return sorted(copies, key=lambda path: path.stat().st_mtime, reverse=True)


def _all_tables(file: Path) -> list[Salvaged]:
    try:
        connection = opened(file, unchanging=not beside(file, "-wal").exists())
    except (sqlite3.Error, OSError):
        return [_NOTHING for _ in TABLES]
    with closing(connection):
        # Letters that are none must not end the reading.
        connection.text_factory = bytes
        most = file.stat().st_size // _SMALLEST_ROW + 64
        return [_salvaged(connection, table, most) for table in TABLES]


def _doubted(table: Salvaged) -> Salvaged:
    """A table found through the first page of another file: its rows may be those of another table.

    Then its index, which is elsewhere, does not know as many of them.
    """
    is_all = table.number_of_rows == len(table.rows)
    is_rest = bool(table.unread) and (table.number_of_rows or _LAST_ID) > len(table.rows)
    return table if is_all or is_rest else _NOTHING


def _salvaged(connection: sqlite3.Connection, table: Table, most: int) -> Salvaged:
    """What is left of a table. Ids beyond `most` are read in one go or not at all."""
    rows: dict[int, Row] = {}
    unread: list[range] = []
    found = 0
    columns = _columns(connection, table)
    waiting = [(most + 1, _LAST_ID), (0, most)]
    while waiting:
        low, high = waiting.pop()
        try:
            for row in connection.execute(table.select(columns), (low, high)):
                low = max(low, row[0] + 1)
                found += 1
                if (read := _as_written(row, table, columns)) is not None:
                    rows[row[0]] = read
                else:
                    unread.append(range(row[0], row[0] + 1))
        except sqlite3.Error as error:
            if "no such" in str(error) or low > most or low >= high:
                _add(unread, low, high)
            else:
                middle = (low + high) // 2
                waiting += [(middle + 1, high), (low, middle)]
    return Salvaged(rows, unread, _number_of_rows(connection, table), found)


def _columns(connection: sqlite3.Connection, table: Table) -> str:
    """The columns that a table has in a file of any version: one of before may lack the last ones."""
    try:
        known = [os.fsdecode(name) for _, name, *_ in connection.execute(f"PRAGMA table_info({table.name})")]
    except sqlite3.Error:
        known = []
    wanted = [*table.columns.split(", "), "sum"]
    return ", ".join(name for name in wanted if name in known) or ", ".join(wanted)


def _as_written(row: Sequence[object], table: Table, columns: str) -> Row | None:
    """A row with its id and all that a new file has of it; None if it is not what was written."""
    *values, last = row
    has_sum = columns.endswith(", sum")
    read = _as_text(values if has_sum else row)
    if read is None:
        return None
    if has_sum and last is not None and last != row_sum(_summed(read, table)):
        return None
    missing = len(table.columns.split(", ")) + 1 - len(read)
    return (*read, *["[]"] * missing)


def _summed(row: Row, table: Table) -> Row:
    """The values of a row that its checksum is of; `row` begins with its id."""
    if table is _NOTES:
        number, session, *rest = row
        return (session, number, *rest)
    return row[1:]


def _add(unread: list[range], low: int, high: int) -> None:
    """Note ids that cannot be read, next to each other as one range."""
    if unread and unread[-1].stop == low:
        low = unread.pop().start
    unread.append(range(low, high + 1))


def _as_text(row: Iterable[object]) -> Row | None:
    """A row as it was written; None if a value is of no kind that we write."""
    values: list[int | str] = []
    for value in row:
        match value:
            case bytes():
                try:
                    values.append(value.decode())
                except UnicodeDecodeError:
                    return None
            case int():
                values.append(value)
            case _:
                return None
    return tuple(values)


def _number_of_rows(connection: sqlite3.Connection, table: Table) -> int | None:
    """How many rows the index of a table knows: it is on other pages than the table."""
    try:
        (count,) = connection.execute(table.number_of_rows).fetchone()
    except sqlite3.Error:
        return None
    return int(count)


def _fill(made: Path, salvaged: Sequence[Salvaged], copies: Sequence[Sequence[Salvaged]]) -> list[Recovered]:
    with closing(opened(made)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        outcome = [
            _fill_table(connection, table, salvaged[number], [copy[number] for copy in copies])
            for number, table in enumerate(TABLES)
        ]
        for subject in (PROJECTS, MARKS, FORGOTTEN):
            next_generation(connection, subject)
        sum_up(connection)
        connection.execute("COMMIT")
        # What still stood in the journal would stay behind when the file gets its name.
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return [table for table in outcome if table.word]


def _fill_table(
    connection: sqlite3.Connection, table: Table, left: Salvaged, copies: Sequence[Salvaged]
) -> Recovered:
    """Put in what was read, then, from copies, only what could not be: the user may have deleted the rest."""
    kept = _inserted(connection, table, left.rows.values())
    from_copies = 0
    for copy in copies:
        missing = [row for row_id, row in copy.rows.items() if left.misses(row_id)]
        from_copies += _inserted(connection, table, missing)
    if left.number_of_rows is not None:
        lost: int | None = max(0, left.number_of_rows - kept - from_copies)
    else:
        lost = None if left.unread else 0
    return Recovered(table.word or "", kept + from_copies, lost)


def _inserted(connection: sqlite3.Connection, table: Table, rows: Iterable[Row]) -> int:
    before = connection.total_changes
    connection.executemany(table.insert, list(rows))
    return connection.total_changes - before


def _move_aside(file: Path) -> Path | None:
    if not os.path.lexists(file):
        return None
    number = 1
    while os.path.lexists(moved_to := beside(file, f".damaged-{number}")):
        number += 1
    for suffix in ("-wal", "-shm"):
        # First: a log that stayed would be taken for one of the new file.
        with suppress(FileNotFoundError):
            beside(file, suffix).rename(beside(moved_to, suffix))
    try:
        # The name is never free, so nobody begins anew if this process ends here.
        os.link(file, moved_to, follow_symlinks=False)
    except OSError:
        file.rename(moved_to)
    return moved_to


def _counted(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _lost(table: Recovered) -> str:
    return (
        f"some {table.word}s, an unknown number" if table.lost is None else _counted(table.lost, table.word)
    )
