"""The durable file: what cannot be had again stays, whatever happens to the file."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

from geminids.core.model import KnownBy
from geminids.storage.durable import database, mark_changes, marks, recovery
from geminids.storage.durable.any_marks import any_marks
from geminids.storage.durable.changes import changing
from geminids.storage.durable.database import (
    FILE_NAME,
    MARKS,
    PAGE_SIZE,
    VERSION,
    BusyStoreError,
    DamagedStoreError,
    NewerStoreError,
    generation,
    reading,
)
from geminids.storage.durable.mark_changes import NoSuchNoteError
from geminids.storage.durable.mark_texts import BadMarkError
from geminids.storage.durable.recovery import RecoveredError
from geminids.storage.durable.tombstones import tombstones
from geminids.storage.durable.values import MarkChange, Marks, Note
from geminids.sync.projects import memory
from geminids.sync.projects.resolution import Found
from tests.conftest import Rights, Run
from tests.support.homes import FIRST_ID, write_session

AT = datetime(2026, 6, 15, 12, tzinfo=UTC)
SESSION = "gemini:1b9d6bcd-0000-4000-8000-000000000001"
OTHER_SESSION = "gemini:2e2e2e2e-0000-4000-8000-000000000002"

VERSION_1 = """
PRAGMA application_id = 1197829481;
PRAGMA journal_mode = WAL;
CREATE TABLE links (hash TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL);
CREATE TABLE learnt (hash TEXT NOT NULL PRIMARY KEY, path TEXT NOT NULL, known_by TEXT NOT NULL);
CREATE TABLE looked_for (hash TEXT NOT NULL PRIMARY KEY, at TEXT NOT NULL, depth INTEGER NOT NULL);
CREATE TABLE repositories (folder TEXT NOT NULL PRIMARY KEY, main TEXT NOT NULL);
CREATE TABLE taken_over (file TEXT NOT NULL PRIMARY KEY, stamp TEXT NOT NULL);
CREATE TABLE generations (subject TEXT NOT NULL PRIMARY KEY, value INTEGER NOT NULL);
INSERT INTO links VALUES ('aa', '/home/ana/shop');
INSERT INTO learnt VALUES ('bb', '/home/ana/blog', 'search');
INSERT INTO looked_for VALUES ('cc', '2026-06-15T12:00:00+00:00', 4);
INSERT INTO repositories VALUES ('/home/ana/shop-fix', '/home/ana/shop');
INSERT INTO generations VALUES ('projects', 1000);
PRAGMA user_version = 1;
"""
"""A file as version 1 made it. Not to be changed, like all that was ever on a disk."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def mark(folder: Path, session: str = SESSION, *, at: datetime = AT, **wanted: Any) -> Marks:
    """Change what is said of a session; what is said of it then."""
    return mark_changes.change(folder, session, MarkChange(**wanted), at)


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def write_version_1(folder: Path) -> Path:
    folder.mkdir()
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.executescript(VERSION_1)
    (folder / FILE_NAME).chmod(0o600)
    return folder / FILE_NAME


def links_in(folder: Path) -> dict[str, str]:
    return memory.recall(folder).links


# -- opening -----------------------------------------------------------------


def test_reading_makes_no_file(data: Path) -> None:
    with reading(data) as reader:
        assert reader is None
    assert generation(data) == 0
    assert marks.marks(data) == {}
    assert marks.tag_counts(data) == {}
    assert mark(data, without_name=True, without_tags=["x"]) == Marks()
    with pytest.raises(NoSuchNoteError, match="no note 1"):
        mark(data, without_notes=[1])
    assert not data.exists()


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o777])
def test_all_files_are_private_whatever_is_masked(data: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with changing(data, asked=True) as connection:
            connection.execute("INSERT INTO links (hash, path) VALUES ('a', 'b')")
            open_files = {path.name: path.stat().st_mode & 0o777 for path in data.iterdir()}
    finally:
        os.umask(before)
    names = {FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", f"{FILE_NAME}.lock"}
    assert open_files == dict.fromkeys(names, 0o600)
    assert data.stat().st_mode & 0o777 == 0o700
    assert names_in(data) == {FILE_NAME, f"{FILE_NAME}.lock", f"{FILE_NAME}.bak"}
    assert {path.stat().st_mode & 0o777 for path in data.iterdir()} == {0o600}


def test_a_change_that_fails_changes_nothing(data: Path) -> None:
    memory.link(data, "a", "/a")

    def fail_while_writing() -> None:
        with changing(data, asked=True) as connection:
            connection.execute("DELETE FROM links")
            raise KeyError

    with pytest.raises(KeyError):
        fail_while_writing()
    assert links_in(data) == {"a": "/a"}


def test_readers_do_not_wait_for_a_writer(data: Path) -> None:
    memory.link(data, "a", "/a")
    with changing(data, asked=True) as connection:
        connection.execute("DELETE FROM links")
        began = time.monotonic()
        assert links_in(data) == {"a": "/a"}
        assert time.monotonic() - began < 1
    assert links_in(data) == {}


def test_a_folder_that_may_not_be_written_is_read(data: Path, without_privileges: Rights) -> None:
    memory.link(data, "a", "/a")
    mark(data, tags=["x"])
    number = generation(data)
    for path in (*data.iterdir(), data):
        path.chmod(0o555)
    with without_privileges():
        assert links_in(data) == {"a": "/a"}
        assert generation(data) == number
        assert marks.marks(data)[SESSION].tags == ("x",)
        with pytest.raises(PermissionError):
            memory.link(data, "a", "/b")
    assert links_in(data) == {"a": "/a"}


def test_a_path_with_letters_that_mean_something_in_an_address(tmp_path: Path) -> None:
    odd = tmp_path / "a?b#c%20d é \udce9"
    memory.link(odd, "a", "/a")
    assert links_in(odd) == {"a": "/a"}
    assert names_in(tmp_path) == {odd.name}


# -- versions ----------------------------------------------------------------


def test_the_steps_make_what_version_1_was(tmp_path: Path) -> None:
    older = write_version_1(tmp_path / "older")
    made = database.new_file(tmp_path / "made", 1)
    question = "SELECT name, sql FROM sqlite_schema ORDER BY name"
    with closing(sqlite3.connect(older)) as theirs, closing(sqlite3.connect(made)) as ours:
        assert ours.execute(question).fetchall() == theirs.execute(question).fetchall()


def test_an_older_file_is_read_as_it_is(data: Path) -> None:
    file = write_version_1(data)
    before = file.read_bytes()
    assert links_in(data) == {"aa": "/home/ana/shop"}
    assert generation(data) == 1000
    assert marks.marks(data) == {}
    assert file.read_bytes() == before
    assert names_in(data) == {FILE_NAME}


def test_an_older_file_is_copied_and_brought_up_to_date_by_a_change(data: Path) -> None:
    file = write_version_1(data)
    before = file.read_bytes()
    known = memory.recall(data)
    mark(data, name="The shop")
    assert memory.recall(data) == known
    assert marks.marks(data) == {SESSION: Marks("The shop")}
    copy = data / f"{FILE_NAME}.v1.bak"
    assert copy.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(copy)) as copied, closing(sqlite3.connect(":memory:")) as older:
        older.deserialize(before.replace(b"\2\2", b"\1\1", 1))
        assert list(copied.iterdump()) == list(older.iterdump())
        assert copied.execute("PRAGMA user_version").fetchone() == (1,)
    with closing(sqlite3.connect(file)) as now:
        assert now.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_steps_that_fail_leave_the_older_file(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_version_1(data)
    steps = (*database.STEPS[:1], ("CREATE TABLE names (session)", "CREATE TABLE links (again)"))
    with monkeypatch.context() as patched:
        patched.setattr(database, "STEPS", steps)
        with pytest.raises(sqlite3.OperationalError, match="already exists"):
            mark(data, name="x")
    assert links_in(data) == {"aa": "/home/ana/shop"}
    mark(data, name="x")
    assert marks.marks(data) == {SESSION: Marks("x")}


def make_newer(folder: Path) -> bytes:
    memory.link(folder, "a", "/a")
    mark(folder, name="x")
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.execute("ALTER TABLE tags RENAME TO labels")
        connection.execute(f"PRAGMA user_version = {VERSION + 1}")
        connection.execute("UPDATE generations SET value = ? WHERE subject = 'version'", (VERSION + 1,))
        connection.commit()
    return (folder / FILE_NAME).read_bytes()


def test_a_newer_file_is_read_as_far_as_it_is_known_and_never_written(data: Path) -> None:
    content = make_newer(data)
    assert links_in(data) == {"a": "/a"}
    assert not memory.recall(data).damaged
    assert marks.marks(data) == {SESSION: Marks("x")}
    assert marks.tag_counts(data) == {}
    changes: list[Callable[[], object]] = [
        lambda: memory.link(data, "b", "/b"),
        lambda: memory.unlink(data, "a"),
        lambda: mark(data, tags=["x"]),
    ]
    for change in changes:
        with pytest.raises(NewerStoreError, match="It is read as far as possible") as told:
            change()
        assert f"version {VERSION + 1}" in str(told.value)
    assert not memory.learn(data, {"c": Found("/c", KnownBy.SEARCH)}, {})
    assert (data / FILE_NAME).read_bytes() == content


# -- copies ------------------------------------------------------------------


def test_a_copy_is_made_after_everything_that_was_asked(data: Path) -> None:
    copy = data / f"{FILE_NAME}.bak"
    memory.learn(data, {"c": Found("/c", KnownBy.SEARCH)}, {})
    assert not copy.exists()
    for number in range(3):
        memory.link(data, str(number), "/a")
        with closing(sqlite3.connect(copy)) as copied:
            assert len(copied.execute("SELECT * FROM links").fetchall()) == number + 1


# -- damage ------------------------------------------------------------------

MANY = 400


def fill(folder: Path) -> None:
    """A file of many pages, with a copy of yesterday that lacks the last links and has one too many."""
    memory.link(folder, "deleted", "/deleted")
    known = {f"{number:064}": f"/home/ana/dev/project-{number}" for number in range(MANY)}
    with changing(folder, asked=False) as connection:
        connection.execute("DELETE FROM links")
        connection.executemany("INSERT INTO links (hash, path) VALUES (?, ?)", known.items())
        for number in range(MANY):
            session = f"gemini:{number}"
            connection.execute(
                "INSERT INTO names (session, name) VALUES (?, ?)", (session, f"Name {number} " + "x" * 100)
            )
            connection.execute(
                "INSERT INTO tags (session, tag) VALUES (?, ?)", (session, f"tag-{number % 7}")
            )
            note = (session, AT.isoformat(), f"Note {number} " + "y" * 200)
            connection.execute("INSERT INTO notes (session, at, text) VALUES (?, ?, ?)", note)
            stone = (f"codex:{number}", AT.isoformat(), number % 2, "{}", f"codex:{number}")
            connection.execute(
                "INSERT INTO forgotten (session, at, until_changed, files, leader) VALUES (?, ?, ?, ?, ?)",
                stone,
            )


def pages_of(folder: Path, table: str) -> list[int]:
    """The pages on which rows of a table stand: told by what only they hold."""
    mark = {"links": b"/home/ana/dev/project-", "names": b"Name ", "notes": b"Note "}[table]
    content = (folder / FILE_NAME).read_bytes()
    pages = range(len(content) // PAGE_SIZE)
    return [page for page in pages if mark in content[page * PAGE_SIZE : (page + 1) * PAGE_SIZE]]


def overwrite(folder: Path, page: int, count: int = 1, byte: bytes = b"\xa5") -> None:
    with (folder / FILE_NAME).open("r+b") as opened:
        opened.seek(page * PAGE_SIZE)
        opened.write(byte * (PAGE_SIZE * count))


def recovered_by(folder: Path) -> RecoveredError:
    """What the next change that the user asks for says."""
    damaged = (folder / FILE_NAME).read_bytes()
    # Nobody asked: left alone.
    assert not memory.learn(folder, {"new": Found("/c", KnownBy.SEARCH)}, {})
    assert (folder / FILE_NAME).read_bytes() == damaged
    with pytest.raises(RecoveredError, match=r"geminids\.db\.damaged-1'") as told:
        memory.link(folder, "new", "/new")
    assert (folder / f"{FILE_NAME}.damaged-1").read_bytes() == damaged
    assert (folder / f"{FILE_NAME}.damaged-1").stat().st_mode & 0o777 == 0o600
    assert not [name for name in names_in(folder) if name.endswith((".new", "-wal", "-shm"))]
    assert "\n" not in str(told.value)
    with reading(folder) as reader:
        assert reader is not None
        database.check(reader.connection)
    assert "new" not in links_in(folder)
    memory.link(folder, "new", "/new")
    assert memory.unlink(folder, "new")
    return told.value


def kept(error: RecoveredError) -> dict[str, tuple[int, int | None]]:
    return {table.word: (table.kept, table.lost) for table in error.tables}


def test_a_page_in_the_middle_costs_the_rows_on_it_and_they_are_counted(data: Path) -> None:
    fill(data)
    (data / f"{FILE_NAME}.bak").unlink()
    number = generation(data)
    overwrite(data, pages_of(data, "links")[3])
    told = recovered_by(data)
    links, lost = kept(told)["link"]
    assert MANY - 60 < links < MANY
    assert lost == MANY - links
    assert {word: counts for word, counts in kept(told).items() if word != "link"} == dict.fromkeys(
        ("name", "tag", "note", "forgotten session"), (MANY, 0)
    )
    assert f"Lost: {lost} links." in str(told)
    assert links_in(data).items() <= {f"{n:064}": f"/home/ana/dev/project-{n}" for n in range(MANY)}.items()
    assert len(links_in(data)) == links
    assert len(marks.marks(data)) == MANY
    assert generation(data) > number


def test_what_a_page_cost_comes_from_the_newest_copy_and_nothing_else_does(data: Path) -> None:
    fill(data)
    database.back_up(data / FILE_NAME, data / f"{FILE_NAME}.bak")
    mark(data, "gemini:0", without_notes=[1])
    memory.unlink(data, f"{399:064}")
    pages = pages_of(data, "links")
    overwrite(data, pages[1])
    overwrite(data, pages_of(data, "notes")[-1])
    told = recovered_by(data)
    assert kept(told)["link"] == (MANY - 1, 0)
    assert kept(told)["note"] == (MANY - 1, 0)
    assert "Lost: nothing." in str(told)
    assert f"{399:064}" not in links_in(data), "what was deleted since stays deleted"
    assert marks.marks(data)["gemini:0"].notes == ()


@pytest.mark.slow
def test_the_last_page_of_a_table_may_be_the_damaged_one(data: Path) -> None:
    fill(data)
    (data / f"{FILE_NAME}.bak").unlink()
    overwrite(data, pages_of(data, "names")[-1], byte=b"\0")
    told = recovered_by(data)
    names, lost = kept(told)["name"]
    assert 0 < names < MANY
    assert lost == MANY - names


@pytest.mark.parametrize("with_copy", [True, False])
@pytest.mark.parametrize("length", [100, PAGE_SIZE])
def test_a_garbage_header_costs_nothing(data: Path, length: int, with_copy: bool) -> None:
    fill(data)
    if not with_copy:
        (data / f"{FILE_NAME}.bak").unlink()
    with (data / FILE_NAME).open("r+b") as opened:
        opened.write(os.urandom(length))
    with pytest.raises(DamagedStoreError):
        marks.marks(data)
    assert memory.recall(data).damaged
    assert generation(data) == -1
    told = recovered_by(data)
    assert kept(told) == dict.fromkeys(("link", "name", "tag", "note", "forgotten session"), (MANY, 0))
    assert "deleted" not in links_in(data)


def test_a_garbage_header_of_a_file_that_grew_from_version_1(data: Path) -> None:
    with closing(sqlite3.connect(write_version_1(data))) as older:
        older.executemany(
            "INSERT INTO learnt VALUES (?, ?, 'search')", [(f"{n:064}", "/x") for n in range(MANY)]
        )
        older.commit()
    fill(data)
    (data / f"{FILE_NAME}.bak").unlink()
    with (data / FILE_NAME).open("r+b") as opened:
        opened.write(b"\xff" * PAGE_SIZE)
    told = recovered_by(data)
    assert kept(told)["link"] == (MANY, 0), "the copy made for the step has the same first page"
    assert kept(told)["name"] == (0, None)
    assert "some names, an unknown number" in str(told)


@pytest.mark.slow
def test_a_truncated_file_gives_what_it_still_has_and_its_copy_the_rest(data: Path) -> None:
    fill(data)
    database.back_up(data / FILE_NAME, data / f"{FILE_NAME}.bak")
    os.truncate(data / FILE_NAME, (data / FILE_NAME).stat().st_size // 2 + 77)
    told = recovered_by(data)
    assert all(count == MANY for count, _ in kept(told).values())


@pytest.mark.slow
def test_a_truncated_file_without_a_copy_gives_what_it_still_has(data: Path) -> None:
    fill(data)
    (data / f"{FILE_NAME}.bak").unlink()
    os.truncate(data / FILE_NAME, (data / FILE_NAME).stat().st_size // 2)
    told = recovered_by(data)
    assert sum(count for count, _ in kept(told).values()) > MANY // 4
    assert all(lost != 0 for count, lost in kept(told).values() if count < MANY)


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"x", b"SQLite format 3\0", b"\0" * 10_000, b"{}"])
def test_a_file_of_which_nothing_is_left_is_made_again_from_its_copy(data: Path, content: bytes) -> None:
    fill(data)
    database.back_up(data / FILE_NAME, data / f"{FILE_NAME}.bak")
    (data / FILE_NAME).write_bytes(content)
    told = recovered_by(data)
    assert all(count == MANY for count, _ in kept(told).values())


def test_a_file_of_another_program_is_moved_and_not_changed(data: Path) -> None:
    data.mkdir()
    with closing(sqlite3.connect(data / FILE_NAME)) as other:
        other.execute("CREATE TABLE links (something)")
    (data / FILE_NAME).chmod(0o600)
    assert kept(recovered_by(data))["link"] == (0, None)


@pytest.mark.slow
def test_damage_is_told_apart_by_number(data: Path) -> None:
    for number in (1, 2):
        memory.link(data, "a", "/a")
        (data / FILE_NAME).write_bytes(b"")
        with pytest.raises(RecoveredError, match=rf"damaged-{number}'.*Recovered: 1 link, 0 names"):
            mark(data, name="x")


@pytest.mark.slow
def test_a_command_says_in_one_line_what_became_of_a_damaged_file(geminids: Run, data: Path) -> None:
    memory.link(data, "a" * 64, "/home/ana/shop")
    (data / FILE_NAME).write_bytes(b"garbage")
    said = "Recovered: 1 link, 0 names, 0 tags, 0 notes, 0 forgotten sessions."
    assert geminids("list", "--sample", "--data", data).err.count(said) == 1
    assert "damaged" not in geminids("list", "--sample", "--data", data).err
    assert links_in(data) == {"a" * 64: "/home/ana/shop"}
    (data / FILE_NAME).write_bytes(b"garbage")
    words = ("projects", "link", "b" * 64, data, "--sample", "--data", data)
    outcome = geminids(*words)
    assert (outcome.code, said in outcome.err) == (0, True)
    assert len(links_in(data)) == 2


def spoil(file: Path, how: str) -> None:
    if how == "cut":
        os.truncate(file, 5000)
        return
    file.unlink()
    match how:
        case "empty":
            file.touch()
        case "a folder":
            file.mkdir()
        case "a pipe":
            os.mkfifo(file)
        case "a link to nothing":
            file.symlink_to("nothing")


@pytest.mark.slow
@pytest.mark.parametrize("how", ["gone", "empty", "cut", "a folder", "a pipe", "a link to nothing"])
def test_what_was_said_and_forgotten_comes_back_from_the_copy(
    geminids: Run, data: Path, tmp_path: Path, how: str
) -> None:
    home = tmp_path / "home"
    write_session(home)
    write_session(home, OTHER_SESSION.partition(":")[2], slug="blog", day=20)
    words = ("--home", home, "--data", data)
    geminids("mark", OTHER_SESSION, "--tag", "dear", *words)
    geminids("forget", FIRST_ID, "--yes", *words)
    spoil(data / FILE_NAME, how)
    first = geminids("list", *words)
    assert [line.split("\t")[0] for line in first.out.splitlines()] == [OTHER_SESSION]
    assert "Recovered: 0 links, 0 names, 1 tag, 0 notes, 1 forgotten session." in first.err
    assert FIRST_ID in geminids("forget", "--list", *words).out
    later = geminids("list", "--tag", "dear", *words)
    assert (later.code, later.err) == (0, "")
    # Without its copy it is a new one, as on the first day.
    for file in data.glob(f"{FILE_NAME}*"):
        file.unlink() if not file.is_dir() else file.rmdir()
    assert geminids("mark", *words).code == 1


@pytest.mark.slow
@pytest.mark.parametrize("table", database.SUMMED)
def test_a_value_that_nobody_wrote_is_damage_and_comes_from_the_copy(data: Path, table: str) -> None:
    fill(data)
    database.back_up(data / FILE_NAME, data / f"{FILE_NAME}.bak")
    question = f"SELECT {database.SUMMED[table]} FROM {table} ORDER BY rowid"
    with closing(sqlite3.connect(data / FILE_NAME, isolation_level=None)) as connection:
        connection.execute("INSERT INTO learnt (hash, path, known_by) VALUES ('a', '/a', 'search')")
        connection.execute("INSERT INTO looked_for (hash, at, depth) VALUES ('a', 'b', 1)")
        connection.execute("INSERT INTO repositories (folder, main) VALUES ('a', 'b')")
        database.sum_up(connection)
    database.back_up(data / FILE_NAME, data / f"{FILE_NAME}.bak")
    for column in [name for name in database.SUMMED[table].split(", ") if name != "id"]:
        with closing(sqlite3.connect(data / FILE_NAME, isolation_level=None)) as connection:
            before = connection.execute(question).fetchall()
            connection.execute(f"UPDATE {table} SET {column} = 'x' || {column} WHERE rowid = 1")
        told = recovery.mend(data)
        assert told is not None, column
        assert "Lost: nothing" in told, column
        with closing(sqlite3.connect(data / FILE_NAME)) as connection:
            assert connection.execute(question).fetchall() == before, column
    assert recovery.mend(data) is None


def test_a_flipped_number_of_the_version_makes_no_newer_file(data: Path) -> None:
    mark(data, name="x")
    with closing(sqlite3.connect(data / FILE_NAME)) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION + 256}")
    with pytest.raises(DamagedStoreError):
        marks.marks(data)
    assert recovery.mend(data)
    assert marks.marks(data) == {SESSION: Marks("x")}


def test_a_file_of_the_first_release_gets_its_checksums(data: Path) -> None:
    data.mkdir()
    database.new_file(data / FILE_NAME, 3).replace(data / FILE_NAME)
    with closing(sqlite3.connect(data / FILE_NAME, isolation_level=None)) as connection:
        connection.execute("INSERT INTO tags VALUES (?, 'old')", (SESSION,))
        connection.execute(
            "INSERT INTO forgotten VALUES ('gemini:x', ?, 0, '{}', 'gemini:x')", (AT.isoformat(),)
        )
    assert marks.marks(data) == {SESSION: Marks(tags=("old",))}
    assert list(tombstones(data)) == ["gemini:x"]
    mark(data, name="x")
    assert marks.marks(data) == {SESSION: Marks("x", tags=("old",))}
    assert list(tombstones(data)) == ["gemini:x"]
    with closing(sqlite3.connect(data / FILE_NAME)) as connection:
        for table in database.SUMMED:
            assert connection.execute(f"SELECT count(*) FROM {table} WHERE sum IS NULL").fetchone() == (0,)


KILLED_WHILE_OPEN = """
import os, sys
from pathlib import Path
from geminids.storage.durable.database import opened
connection = opened(Path(sys.argv[1]))
connection.execute("PRAGMA wal_autocheckpoint = 0")
connection.execute("INSERT INTO links (hash, path) VALUES ('late', '/late')")
connection.execute("UPDATE links SET path = '/changed', sum = NULL WHERE hash = 'a'")
os.kill(os.getpid(), 9)
"""


def leave_a_log(folder: Path) -> None:
    memory.link(folder, "a", "/a")
    subprocess.run([sys.executable, "-c", KILLED_WHILE_OPEN, str(folder / FILE_NAME)], check=False)
    assert (folder / f"{FILE_NAME}-wal").stat().st_size


def test_a_log_that_was_left_is_read_and_a_missing_one_leaves_a_whole_file(data: Path) -> None:
    leave_a_log(data)
    shutil.copytree(data, data.with_name("copy"))
    assert links_in(data) == {"a": "/changed", "late": "/late"}
    copy = data.with_name("copy")
    (copy / f"{FILE_NAME}-wal").unlink()
    assert links_in(copy) == {"a": "/a"}
    memory.link(copy, "b", "/b")
    assert links_in(copy) == {"a": "/a", "b": "/b"}


def test_a_log_beside_a_garbage_header_is_recovered_with_it(data: Path) -> None:
    leave_a_log(data)
    with (data / FILE_NAME).open("r+b") as opened:
        opened.write(b"\xff" * 100)
    with pytest.raises(RecoveredError, match="Recovered: 2 links"):
        mark(data, name="x")
    assert links_in(data) == {"a": "/changed", "late": "/late"}
    assert not (data / f"{FILE_NAME}-wal").exists()


@pytest.mark.slow
def test_a_log_beside_an_empty_file_is_moved_with_it_and_read(data: Path) -> None:
    leave_a_log(data)
    log = (data / f"{FILE_NAME}-wal").read_bytes()
    os.truncate(data / FILE_NAME, 0)
    assert memory.recall(data).damaged
    with pytest.raises(RecoveredError, match="Recovered: 2 links"):
        mark(data, name="x")
    assert (data / f"{FILE_NAME}.damaged-1-wal").read_bytes() == log
    assert links_in(data) == {"a": "/changed", "late": "/late"}
    assert not (data / f"{FILE_NAME}-wal").exists()


# -- others who write, and disks that end --------------------------------------


def test_who_writes_is_named_while_he_lives(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    script = (
        "import sys, time; from pathlib import Path; from geminids.storage.durable.changes import changing\n"
        "with changing(Path(sys.argv[-1]), asked=True): print('holds', flush=True); time.sleep(60)"
    )
    line = [sys.executable, "-c", script, "projects", "resolve", str(data)]
    with subprocess.Popen(line, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        with pytest.raises(BusyStoreError, match=rf"process {writer.pid}: -c projects resolve\)") as told:
            memory.link(data, "a", "/a")
        assert str(data / FILE_NAME) in str(told.value)
        assert str(data) not in str(told.value).partition(")")[0], "what else was typed is private"
        began = time.monotonic()
        assert not memory.learn(data, {"c": Found("/c", KnownBy.SEARCH)}, {})
        assert time.monotonic() - began < 2
        writer.kill()
    assert f"{writer.pid}" in (data / f"{FILE_NAME}.lock").read_text()
    memory.link(data, "a", "/a")
    assert (data / f"{FILE_NAME}.lock").read_text() == ""


def test_a_file_that_others_may_read_is_made_private_again(data: Path) -> None:
    memory.link(data, "a", "/a")
    (data / FILE_NAME).chmod(0o644)
    memory.link(data, "b", "/b")
    assert (data / FILE_NAME).stat().st_mode & 0o777 == 0o600


def test_who_signed_and_is_gone_is_not_named(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.05)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    with changing(data, asked=False):
        (data / f"{FILE_NAME}.lock").write_text(f"{gone.pid} list")
        with pytest.raises(BusyStoreError, match=r"^Another process is writing"):
            memory.link(data, "a", "/a")


def test_another_program_that_holds_the_file_is_waited_for(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    memory.link(data, "a", "/a")
    with closing(sqlite3.connect(data / FILE_NAME, isolation_level=None)) as shell:
        shell.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyStoreError, match="Another process"):
            memory.link(data, "b", "/b")
        assert links_in(data) == {"a": "/a"}
    memory.link(data, "b", "/b")


WRITING = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from geminids.sync.projects.memory import link
from geminids.storage.durable import mark_changes as marking
folder, start = Path(sys.argv[1]), sys.argv[2]
for number in range(100000):
    link(folder, f"{start}-{number}", "x" * 5000)
    marking.change(folder, f"gemini:{start}", marking.MarkChange(notes=[str(number)]), datetime.now(UTC))
    print(number, flush=True)
"""


@pytest.mark.slow
def test_whatever_was_done_is_there_after_a_kill(data: Path) -> None:
    for turn in range(10):
        with subprocess.Popen(
            [sys.executable, "-c", WRITING, str(data), str(turn)], stdout=subprocess.PIPE, text=True
        ) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(0.007 * turn)
            writer.send_signal(signal.SIGKILL)
            done = [0, *map(int, writer.stdout.read().split())][-1]
        links = {name for name in links_in(data) if name.startswith(f"{turn}-")}
        assert {f"{turn}-{number}" for number in range(done + 1)} <= links
        assert len(links) <= done + 2
        notes = [int(note.text) for note in marks.marks(data)[f"gemini:{turn}"].notes]
        assert notes[: done + 1] == list(range(done + 1))
    memory.link(data, "last", "/last")
    with reading(data) as reader:
        assert reader is not None
        database.check(reader.connection)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("no right to mount a small disk: a full one was NOT tested")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def fill_with_notes(folder: Path) -> None:
    while True:
        mark(folder, notes=["z" * 20_000])


def test_a_full_disk_is_said_and_nothing_is_half_written(small_disk: Path) -> None:
    data = small_disk / "data"
    memory.link(data, "a", "/a")
    (small_disk / "ballast").write_bytes(bytes(100_000))
    with pytest.raises(OSError, match="No space left") as told:
        fill_with_notes(data)
    assert str(told.value.filename) == str(data / FILE_NAME)
    assert links_in(data) == {"a": "/a"}
    notes = len(marks.marks(data)[SESSION].notes)
    assert 0 < notes < 20
    (data / f"{FILE_NAME}.bak").unlink()
    (small_disk / "ballast").unlink()
    memory.unlink(data, "a")
    assert len(marks.marks(data)[SESSION].notes) == notes


def test_a_disk_that_is_full_from_the_start_leaves_no_file(small_disk: Path) -> None:
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "ballast").write_bytes(bytes(2**20))
    with pytest.raises(OSError, match="No space left"):
        memory.link(small_disk / "data", "a", "/a")
    assert memory.recall(small_disk / "data") == memory.Memory()
    (small_disk / "ballast").unlink()
    memory.link(small_disk / "data", "a", "/a")
    assert links_in(small_disk / "data") == {"a": "/a"}


def test_a_limit_on_the_size_of_files_is_an_error_of_the_system(data: Path) -> None:
    memory.link(data, "a", "/a")
    script = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from geminids.sync.projects.memory import link\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        "try: link(Path(sys.argv[1]), 'b', 'x' * 100000)\n"
        "except OSError as error: print(error)"
    )
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
    told = subprocess.run([sys.executable, "-c", script, str(data)], check=True, capture_output=True)
    assert FILE_NAME in told.stdout.decode()
    assert links_in(data) == {"a": "/a"}


# -- marks -------------------------------------------------------------------


def test_a_session_has_one_name_many_tags_and_many_notes(data: Path) -> None:
    mark(data, name=" First ")
    mark(data, name="Second")
    assert mark(data, tags=["WIP", "#shop", "wip"]).tags == ("shop", "wip")
    mark(data, OTHER_SESSION, tags=["shop"])
    mark(data, notes=["Two\nlines\t."], at=AT + timedelta(hours=1))
    said = mark(data, notes=["One"], at=AT.astimezone(timezone(timedelta(hours=2))))
    first, later = (note.id for note in said.notes)
    assert said == Marks(
        "Second",
        ("shop", "wip"),
        (Note(first, AT, "One"), Note(later, AT + timedelta(hours=1), "Two\nlines\t.")),
    )
    assert marks.marks(data)[SESSION] == said
    assert marks.marks(data).keys() == {SESSION, OTHER_SESSION}
    assert marks.tag_counts(data) == {"shop": 2, "wip": 1}
    assert marks.tagged(data, ["#Shop"]) == {SESSION, OTHER_SESSION}
    assert marks.tagged(data, ["shop", "wip"]) == {SESSION}
    assert mark(data, without_tags=["Shop", "none"]).tags == ("wip",)
    assert mark(data, without_notes=[later]).notes == (Note(first, AT, "One"),)
    newest = mark(data, notes=["Three"], at=AT + timedelta(hours=2)).notes[-1]
    assert newest.id > max(first, later), "ids are not given again"
    assert mark(data, without_name=True).name is None


def test_all_of_a_change_is_made_or_nothing(data: Path) -> None:
    (note,) = mark(data, notes=["One"]).notes
    for session, missing in ((SESSION, note.id + 1), (OTHER_SESSION, note.id)):
        with pytest.raises(NoSuchNoteError, match=f"{session} has no note {missing}"):
            mark(data, session, name="x", tags=["y"], without_notes=[missing])
    with pytest.raises(BadMarkError):
        mark(data, name="x", tags=["y", "two words"])
    assert marks.marks(data) == {SESSION: Marks(notes=(note,))}


def test_an_id_is_kept_letter_by_letter(data: Path) -> None:
    decomposed = "gemini:shop@cafe\u0301"
    mark(data, decomposed, tags=["x"])
    assert marks.marks(data) == {decomposed: Marks(tags=("x",))}


def test_whether_there_are_marks_is_known_before_they_are_read(data: Path) -> None:
    assert not any_marks(str(data))
    memory.link(data, "a", "/a")
    assert not any_marks(str(data))
    for change in ({"name": "x"}, {"tags": ["x"]}, {"notes": ["x"]}):
        mark(data, **change)
        assert any_marks(str(data))
        said = mark(data, without_name=True, without_tags=["x"])
        mark(data, without_notes=[note.id for note in said.notes])
        assert not any_marks(str(data))
    (data / FILE_NAME).write_bytes(b"garbage")
    assert any_marks(str(data)), "whoever reads them tells what is wrong"


def test_marks_and_projects_are_counted_apart(data: Path) -> None:
    memory.link(data, "a", "/a")
    projects = generation(data)
    mark(data, tags=["x"])
    first = generation(data, MARKS)
    mark(data, tags=["x"])
    assert generation(data, MARKS) == first
    mark(data, notes=["x"])
    assert generation(data, MARKS) != first
    assert generation(data) == projects


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "at least one letter"),
        (" \n", "at least one letter"),
        ("a\x1b[31m", r"U\+001B"),
        ("a\x00b", r"U\+0000"),
        ("a\u202eb", r"U\+202E"),
        ("a\ud83d", r"U\+D83D"),
        ("x" * 20_001, "20,001"),
    ],
)
def test_what_cannot_be_shown_is_refused(data: Path, text: str, reason: str) -> None:
    with pytest.raises(BadMarkError, match=f"A name .*{reason}"):
        mark(data, name=text)
    with pytest.raises(BadMarkError, match=f"A tag .*{reason}"):
        mark(data, tags=["good", text])
    with pytest.raises(BadMarkError, match=f"A note .*{reason}"):
        mark(data, notes=[text])
    with pytest.raises(BadMarkError, match=f"A session id .*{reason}"):
        mark(data, text, tags=["good"])
    assert not data.exists()


@pytest.mark.parametrize("text", ["two words", "a,b", "#"])
def test_a_tag_is_one_word(data: Path, text: str) -> None:
    with pytest.raises(BadMarkError, match="A tag"):
        mark(data, tags=[text])
    with pytest.raises(BadMarkError, match="control characters"):
        mark(data, name="two\nlines")


def test_reading_links_takes_less_than_a_few_milliseconds(data: Path) -> None:
    for number in range(20):
        memory.link(data, f"{number:064}", f"/home/ana/{number}")
    times = []
    for _ in range(20):
        began = time.process_time()
        memory.recall(data)
        generation(data)
        times.append(time.process_time() - began)
    assert min(times) < 0.01, "a fifth of that where nobody else is at work"
