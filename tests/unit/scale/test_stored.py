"""Tables that were written, read again in pieces."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from geminids.library import Library
from geminids.scale.engine import Question, batches
from geminids.scale.homes import EVERYTHING
from geminids.scale.only import ANYTHING, Only
from geminids.scale.places.errors import PlaceError
from geminids.scale.places.stores import open_store
from geminids.scale.schema import TABLES
from geminids.scale.tables.part import Manner
from geminids.scale.tables.run import TablesWriter
from geminids.scale.tables.stored import StoredPiece, holds_tables, stored_pieces
from tests.conftest import FIXTURES
from tests.support.homes import write_session
from tests.support.tables import file_of

HOME = FIXTURES / "gemini" / "tools" / "home"


def _write(home: Path, out: Path, machine: str, data: Path, *, words: bool = True) -> None:
    with Library([home], data=data) as library:
        TablesWriter(library, Manner(str(out), machine, words)).bring_up_to_date(jobs=1)


def _rows(pieces: list[StoredPiece], table: str, only: Only = ANYTHING) -> list[dict[str, object]]:
    return [
        row
        for piece in pieces
        for rows in batches(Question(piece, table, None, only))
        for row in rows.to_pylist()
    ]


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """Tables of two machines."""
    write_session(tmp_path / "m", day=1, prompt="First")
    write_session(tmp_path / "n", "2f0c9a2b-0000-4000-8000-000000000002", day=3, prompt="Second")
    for machine in "mn":
        _write(tmp_path / machine, tmp_path / "out", machine, tmp_path / f"data-{machine}")
    return tmp_path / "out"


def test_a_folder_of_tables_is_told_from_one_of_homes(tables: Path) -> None:
    assert holds_tables(open_store(str(tables)))
    assert not holds_tables(open_store(str(tables.parent / "m")))
    write_session(tables.parent / "homes" / "messages")
    assert not holds_tables(open_store(str(tables.parent / "homes")))
    shutil.rmtree(tables / "_geminids")
    assert holds_tables(open_store(str(tables)))


@pytest.mark.parametrize("table", TABLES)
def test_all_rows_are_read_with_all_columns(tables: Path, table: str) -> None:
    store = open_store(str(tables))
    rows = _rows(list(stored_pieces(store, table, most=10**9)), table)
    assert rows == _rows(list(stored_pieces(store, table, most=1)), table)
    assert all(tuple(row) == TABLES[table].names for row in rows)
    assert len(rows) == {"sessions": 2, "messages": 4, "requests": 2}.get(table, 0)
    assert {row["machine"] for row in rows} <= {"m", "n"}
    assert {row["month"] for row in rows} <= {"2026-05"}


def test_files_of_others_are_not_planned(tables: Path) -> None:
    only = Only(machines=frozenset({"n"}))
    file = file_of(tables, "sessions", "n")
    file.with_name(f"._{file.name}").write_bytes(b"what a system notes of the file beside it")
    (piece,) = stored_pieces(open_store(str(tables)), "sessions", only.files(), most=10**9)
    assert [stored.name.rpartition("/")[2] for stored in piece.files] == [file.name]
    assert [row["title"] for row in _rows([piece], "sessions", only)] == ["Second"]
    nobody = EVERYTHING._replace(agents={"codex"})
    assert list(stored_pieces(open_store(str(tables)), "sessions", nobody, most=10**9)) == []


def test_columns_that_were_not_written_are_null(tmp_path: Path) -> None:
    write_session(tmp_path / "m")
    _write(tmp_path / "m", tmp_path / "out", "m", tmp_path / "data", words=False)
    rows = _rows(list(stored_pieces(open_store(str(tmp_path / "out")), "messages", most=10**9)), "messages")
    assert [row["text"] for row in rows] == [None, None]
    assert [row["length"] for row in rows] == [22, 5]


def test_tables_of_a_newer_release_are_refused(tables: Path) -> None:
    file = file_of(tables, "sessions", "m")
    table = pq.read_table(file)
    pq.write_table(table.replace_schema_metadata({"geminids.schema": "2"}), file)
    with pytest.raises(PlaceError, match=r"newer release of geminids \(version 2; this one reads 1\)"):
        _rows(list(stored_pieces(open_store(str(tables)), "sessions", most=10**9)), "sessions")
    manifest = tables / "_geminids" / f"{file.stem}.json"
    manifest.write_text(manifest.read_text().replace('"schema": 1', '"schema": 2'))
    with pytest.raises(PlaceError, match=r"newer release of geminids \(version 2"):
        next(stored_pieces(open_store(str(tables)), "sessions", most=10**9))


def test_a_damaged_file_of_a_table_is_named(tables: Path) -> None:
    file_of(tables, "sessions", "m").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(PlaceError, match=r"\.parquet': it cannot be read as Parquet"):
        _rows(list(stored_pieces(open_store(str(tables)), "sessions", most=10**9)), "sessions")


def test_a_large_file_is_read_in_groups_of_rows(tables: Path) -> None:
    file = file_of(tables, "messages", "m")
    whole = pq.read_table(file)
    pq.write_table(pa.concat_tables([whole] * 40), file, row_group_size=10)
    found = list(stored_pieces(open_store(str(tables)), "messages", most=6_000))
    assert len(found) > 2
    assert len(_rows(found, "messages")) == 82
