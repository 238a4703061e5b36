"""The checksum of an index: after a small change it is what summing up all of it would give."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from geminids.library import Library
from geminids.query.sessions.listing import Filter
from geminids.storage.index import seal
from tests.support.homes import write_session
from tests.support.indexes import index_file, sync


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """An index of two mebibytes and a bit, most of which no change touches."""
    for number in range(3):
        write_session(tmp_path / "home", f"{number:08x}-0000-4000-8000-000000000000", day=1 + number)
    sync([tmp_path / "home"], tmp_path / "data")
    file = index_file([tmp_path / "home"], tmp_path / "data")
    with sqlite3.connect(file) as database:
        database.execute("CREATE TABLE padding (bytes BLOB)")
        database.execute("INSERT INTO padding VALUES (randomblob(2500000))")
    database.close()
    seal.note_seal(str(file))
    return file


def change(index: Path, number: int) -> None:
    """Have a session taken in."""
    data = index.parent.parent
    write_session(data.with_name("home"), f"{number:08x}-1111-4000-8000-000000000000", prompt=f"new {number}")
    sync([data.with_name("home")], data)


def test_after_a_change_the_checksum_is_that_of_all_bytes(index: Path) -> None:
    for number in range(4):
        before = seal.seal_of(str(index))
        change(index, number)
        after = seal.seal_of(str(index))
        assert before
        assert after
        assert after.checks != before.checks
        assert after.checks == seal._checks(str(index), index.stat().st_size)


def test_only_what_was_written_is_read_again(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pieces: list[int] = []
    real = seal.note_seal

    def noting(path: str, before: seal.Seal | None = None, written: Iterable[int] = ()) -> None:
        assert before is not None
        pieces.append(len(set(written)))
        real(path, before, written)

    monkeypatch.setattr(seal, "note_seal", noting)
    change(index, 1)
    (number,) = pieces
    assert 0 < number < -(-index.stat().st_size // (1 << 20))


def test_a_change_beside_what_was_written_is_still_noticed(index: Path) -> None:
    change(index, 1)
    content = bytearray(index.read_bytes())
    place = next(at for at in range(1_500_000, len(content)) if content[at])
    content[place] ^= 1
    index.write_bytes(content)
    assert seal.is_broken(str(index))


def test_a_checksum_of_an_earlier_release_is_no_sign_of_damage(index: Path) -> None:
    facts = index.stat()
    Path(f"{index}.sum").write_text(f"123456 {facts.st_size} {facts.st_mtime_ns}\n")
    assert seal.seal_of(str(index)) is None
    said: list[str] = []
    data = index.parent.parent
    with Library([data.with_name("home")], data, tell=said.append) as library:
        assert library.listing(Filter()).total == 3
    assert said == []


@settings(max_examples=25, deadline=None)
@given(
    sizes=some.lists(some.integers(1, 3_500_000), min_size=2, max_size=4),
    places=some.lists(some.integers(0, 3_499_999), max_size=6),
)
def test_pieces_come_to_the_same_as_the_whole(
    sizes: list[int], places: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("sum") / "any"
    content = bytearray(os.urandom(sizes[0]))
    file.write_bytes(content)
    known = seal.Seal(sizes[0], 0, seal._checks(str(file), sizes[0]))
    for size in sizes[1:]:
        written = set()
        for place in places:
            if place < len(content):
                content[place] ^= 255
                written.add(place >> 20)
        content = content[:size] + os.urandom(max(0, size - len(content)))
        file.write_bytes(content)
        checks = seal._checks(str(file), size, known, {piece for piece in written if piece << 20 < size})
        assert checks == seal._checks(str(file), size)
        known = seal.Seal(size, 0, checks)
