"""Where the index lies: locks, full disks, folders that are closed or have odd names, who may read it."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geminids.core.errors import PARTLY_DONE
from geminids.library import Library
from geminids.query.sessions.listing import Filter
from geminids.storage.index.database import UNUSED, BusyIndexError, IndexFile, merge_pieces
from tests.conftest import Rights, Run
from tests.support.connections import to_be_closed
from tests.support.homes import write_session
from tests.support.indexes import Connected, assert_equals_a_fresh_build, dump, hits, index_file, sync
from tests.support.large_homes import write_large_home
from tests.support.processes import kept_running

Command = Callable[..., subprocess.CompletedProcess[bytes]]
SECOND_ID = "2e0c9a2b-0000-4000-8000-000000000002"
HOLDING = """
import sys, time
from geminids.library import Library
with Library([sys.argv[1]], sys.argv[2])._context.place().alone():
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with one session."""
    write_session(tmp_path / "home", prompt="alpha")
    return tmp_path / "home"


@pytest.fixture
def data(home: Path, tmp_path: Path) -> Path:
    """A data folder with an index that is behind: a second session came later."""
    sync([home], tmp_path / "data")
    write_session(home, SECOND_ID, slug="blog", day=2, prompt="beta")
    return tmp_path / "data"


def titles(home: Path, data: Path) -> list[str]:
    """What the index holds, without a sync."""
    with Library([home], data, sync=False) as library:
        return sorted(str(row.title) for row in library.listing(Filter()).sessions)


# Locks


@contextmanager
def held(home: Path, data: Path) -> Iterator[int]:
    """A while in which another process holds the lock: its number."""
    line = [sys.executable, "-c", HOLDING, str(home), str(data)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    with kept_running(process):
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        yield process.pid


def test_a_sync_says_who_else_writes(
    home: Path, data: Path, geminids: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.sync.PATIENCE", 0.2)
    with held(home, data) as process:
        found = geminids("sync", "--home", home, "--data", data)
        full = geminids("sync", "--full", "--home", home, "--data", data)
    assert found.code == full.code == PARTLY_DONE
    for said in (found.err, full.err):
        assert f"being written by another geminids (process {process})" in said
        assert "This command uses a temporary index" not in said
    assert titles(home, data) == ["alpha"]
    assert geminids("sync", "--home", home, "--data", data).code == 0
    assert titles(home, data) == ["alpha", "beta"]


def test_a_list_answers_from_what_is_there(
    home: Path, data: Path, geminids: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.library.current_index.BUDGET", 0.2)
    with held(home, data) as process:
        began = time.monotonic()
        found = geminids("list", "--home", home, "--data", data)
        assert time.monotonic() - began < 5
    assert found.code == 0
    assert "alpha" in found.out
    assert f"process {process}" in found.err
    assert "the state of the last sync" in found.err


def test_whoever_needs_the_first_index_waits_for_it(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.sync.FIRST_PATIENCE", 0.3)
    monkeypatch.setattr("geminids.storage.index.database._NOTICED", 0.1)
    new, said = tmp_path / "new", list[str]()
    with held(home, new) as process, Library([home], new, tell=said.append) as library:
        assert library.listing(Filter()).total == 1
    assert said[0] == f"Waiting for another geminids (process {process}), which is writing the index."
    assert not list((new / "index").glob("*.db*"))


def test_a_lock_of_a_dead_process_holds_nobody_up(home: Path, data: Path) -> None:
    with held(home, data) as process:
        os.kill(process, signal.SIGKILL)
        time.sleep(0.1)
        (lock,) = (data / "index").glob("*.lock")
        assert lock.read_text() == f"{process}\n"
        sync([home], data)
    assert titles(home, data) == ["alpha", "beta"]


def test_whoever_is_alone_is_alone_in_its_own_process_too(home: Path, data: Path) -> None:
    place = IndexFile(str(data), ["x"])
    busy = pytest.raises(BusyIndexError, match=f"process {os.getpid()}")
    with place.alone(), busy, place.alone(patience=0.05):
        pass
    with place.alone(patience=0):
        pass


def test_another_program_that_writes_is_waited_for_and_named(
    home: Path, data: Path, geminids: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.storage.index.database._BUSY", 0.2)
    database = sqlite3.connect(index_file([home], data), isolation_level=None)
    database.execute("BEGIN IMMEDIATE")
    found = geminids("sync", "--home", home, "--data", data)
    listed = geminids("list", "--home", home, "--data", data)
    assert (found.code, listed.code) == (PARTLY_DONE, 0)
    for said in (found.err, listed.err):
        assert "being written by another program" in said
    assert "alpha" in listed.out
    database.execute("ROLLBACK")
    database.close()
    assert geminids("sync", "--home", home, "--data", data).code == 0
    assert_equals_a_fresh_build([home], data, data.with_name("fresh"))


# What others left


@pytest.mark.parametrize("is_behind", [True, False])
def test_what_a_killed_build_left_is_removed_by_the_next_sync(
    home: Path, data: Path, *, is_behind: bool
) -> None:
    if not is_behind:
        sync([home], data)
    file = index_file([home], data)
    name = file.name.partition("-")[0]
    left = [file.with_name(f"{name}-{other}") for other in ("7.db.new", "7.db.new-journal", "0001.db-wal")]
    for other in left:
        other.touch()
    with held(home, data), Library([home], data, sync=False) as library:
        library.listing(Filter())
        assert all(other.exists() for other in left)
    sync([home], data)
    assert not any(other.exists() for other in left)
    assert file.exists()


class LateIndexFile(IndexFile):
    """A place at which somebody looks just before a new index takes the place of the old one."""

    old: str | None = None

    def current(self) -> str | None:
        """First the index that was."""
        old, self.old = self.old, None
        return old or super().current()


@pytest.mark.parametrize("was", ["removed", "damaged"])
def test_a_reader_that_comes_late_opens_the_new_index(home: Path, data: Path, was: str) -> None:
    library = to_be_closed(Library([home], data))
    place = LateIndexFile(str(data), [home.folder for home in library._context.homes])
    place.old = f"{data}/index/{place.name}-0.db"
    if was == "damaged":
        Path(place.old).write_bytes(b"half an index")
    index = place.open()
    assert index
    assert index.path == str(index_file([home], data))
    index.close()


# Full disks


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk with room for little more than a small index."""
    folder = tmp_path / "disk"
    folder.mkdir()
    line = ["mount", "-t", "tmpfs", "-o", "size=1m", "geminids-test", str(folder)]
    if os.geteuid() != 0 or subprocess.run(line, check=False, capture_output=True).returncode:
        pytest.skip("no disk can be mounted here: a full one was not tried")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.slow
def test_a_disk_that_fills_up_during_the_first_build_keeps_nothing(
    tmp_path: Path, small_disk: Path, geminids: Run
) -> None:
    home = tmp_path / "large"
    write_large_home(home, range(400))
    found = geminids("sync", "--home", home, "--data", small_disk)
    assert found.code == PARTLY_DONE
    assert "the disk is full" in found.err
    assert "Traceback" not in found.err
    assert [file.suffix for file in (small_disk / "index").iterdir()] == [".lock"]
    listed = geminids("list", "--home", home, "--data", small_disk)
    assert listed.code == 0
    assert listed.out.count("\n") == 400


@pytest.mark.slow
def test_a_disk_that_fills_up_during_a_sync_keeps_what_there_was(
    home: Path, small_disk: Path, geminids: Run
) -> None:
    sync([home], small_disk)
    before = dump([home], small_disk)
    write_large_home(home, range(400))
    found = geminids("sync", "--home", home, "--data", small_disk)
    assert found.code == PARTLY_DONE
    assert "the disk is full" in found.err
    listed = geminids("list", "--home", home, "--data", small_disk)
    assert listed.code == 0
    assert "alpha" in listed.out
    after = dump([home], small_disk)
    assert after["sessions"] == before["sessions"]
    for large in (home / ".gemini" / "tmp").glob("project-*"):
        shutil.rmtree(large)
    assert geminids("sync", "--home", home, "--data", small_disk).code == 0
    assert_equals_a_fresh_build([home], small_disk, small_disk.with_name("fresh"))


def test_a_build_that_finds_no_room_leaves_the_old_one(home: Path, small_disk: Path, geminids: Run) -> None:
    sync([home], small_disk)
    (small_disk / "filler").write_bytes(b"x" * (800_000 - index_file([home], small_disk).stat().st_size))
    write_large_home(home, range(40))
    found = geminids("sync", "--full", "--home", home, "--data", small_disk)
    assert found.code == PARTLY_DONE
    assert "the disk is full" in found.err
    assert titles(home, small_disk) == ["alpha"]
    assert not list((small_disk / "index").glob("*.new*"))


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
from geminids.__main__ import main
sys.exit(main())
"""


@pytest.mark.slow
def test_a_file_that_may_not_grow_is_answered_like_a_full_disk(home: Path, tmp_path: Path) -> None:
    write_large_home(home, range(60))
    line = [sys.executable, "-c", LIMITED, "list", "--home", str(home), "--data", str(tmp_path / "data")]
    found = subprocess.run(line, check=False, capture_output=True, text=True)
    assert found.returncode == 0
    assert found.stdout.count("\n") == 61
    assert "The index cannot be written" in found.stderr
    assert "Traceback" not in found.stderr
    assert not list((tmp_path / "data" / "index").glob("*.db*"))


# Folders that cannot be written


@pytest.mark.parametrize("journal", ["no journal", "a journal"])
def test_a_folder_that_may_only_be_read_is_enough_for_a_list(
    home: Path, data: Path, geminids: Run, without_privileges: Rights, journal: str
) -> None:
    geminids("list", "--home", home, "--data", data.with_name("loads what is needed"))
    reader = sqlite3.connect(index_file([home], data))
    if journal == "a journal":
        reader.execute("SELECT * FROM sessions").fetchall()
    for path in (data, *data.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    with without_privileges():
        found = geminids("list", "--home", home, "--data", data)
        as_it_is = geminids("list", "--home", home, "--data", data, "--no-sync")
    reader.close()
    assert found.code == as_it_is.code == 0
    assert "alpha" in found.out
    assert "alpha" in as_it_is.out
    assert "The index cannot be written" in found.err
    assert "The index" not in as_it_is.err


@pytest.mark.parametrize("arguments", [("list",), ("sync",)])
def test_a_closed_data_folder_and_one_that_is_none_are_said(
    home: Path, tmp_path: Path, geminids: Run, without_privileges: Rights, arguments: tuple[str]
) -> None:
    geminids("list", "--home", home, "--data", tmp_path / "loads what is needed")
    file = tmp_path / "file"
    file.write_text("no folder")
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with without_privileges():
        for data in (file, closed, closed / "below", file / "below"):
            found = geminids(*arguments, "--home", home, "--data", data)
            assert found.code == (PARTLY_DONE if arguments == ("sync",) else 0), found.err
            assert "Traceback" not in found.err
            assert "This command uses a temporary index" in found.err
            if arguments == ("list",):
                assert "alpha" in found.out


def test_a_user_without_a_home_gets_an_answer(home: Path) -> None:
    said: list[str] = []
    with Library([home], environment={}, tell=said.append) as library:
        library._context.data_folder = None
        assert library.listing(Filter()).total == 1
    assert said == ["The index cannot be stored: there is no folder for it."]


# Odd names

ODD_NAMES = [
    "with blanks",
    "a?b",
    "a#b",
    "100%",
    "%3f",
    "?mode=rwc",
    "ümläut 中文",
    os.fsdecode(b"\xff\xfe raw"),
]


@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_data_and_homes_may_have_any_name(tmp_path: Path, name: str) -> None:
    home, data = tmp_path / f"home {name}", tmp_path / name
    write_session(home, slug="shop", prompt="alpha")
    write_session(home, SECOND_ID, slug=name, prompt="beta", project="/home/ada/x")
    for _ in range(2):
        with Library([home], data) as library:
            assert not library.sync().failed
    with Library([home], data) as library:
        assert library.sync().bundles == 0
        assert library.listing(Filter()).total == 2
        assert len(library.sessions()) == 2
        assert library.session(SECOND_ID).title == "beta"
    write_session(home, SECOND_ID, slug=name, prompt="gamma", project="/home/ada/x")
    sync([home], data)
    assert titles(home, data) == ["alpha", "gamma"]
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")
    (home / ".gemini" / "tmp" / name / ".project_root").unlink()
    sync([home], data)
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")


def test_two_slashes_at_the_beginning_mean_this_machine(home: Path, tmp_path: Path) -> None:
    data = Path(f"/{tmp_path}/data")
    sync([home], data)
    assert titles(home, data) == ["alpha"]


def test_a_relative_data_folder_is_found_again(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sync([home], Path("data"))
    assert titles(home, Path("data")) == ["alpha"]


def test_files_of_sessions_may_have_names_that_are_no_text(home: Path, tmp_path: Path) -> None:
    chats = home / ".gemini" / "tmp" / "shop" / "chats"
    for number, raw in enumerate((b"session-\xff.jsonl", b"\xfe\xff.json")):
        (chats / os.fsdecode(raw)).write_text(f"{number}")
    logs = chats.parent / os.fsdecode(b"checkpoint-\xff.json")
    logs.write_text('[{"role": "user", "parts": [{"text": "saved words"}]}]')
    sync([home], tmp_path / "data")
    sync([home], tmp_path / "data")
    assert hits(home, tmp_path / "data", "saved") == 1
    assert_equals_a_fresh_build([home], tmp_path / "data", tmp_path / "fresh")


def test_half_characters_are_kept_in_words_and_titles(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    for number in range(4):
        # Every other one is whole, so that rows before and after a half one are written as well.
        half = "\ud83d" if number % 2 else ""
        write_session(
            home, f"{number}aaa", prompt=f"tree{number} {half}", answer=f"leaf{number} {half} branch{number}"
        )
    for _ in range(2):
        sync([home], data)
        for number in range(4):
            assert hits(home, data, f"tree{number}") == hits(home, data, f"branch{number}") == 1
    assert len(titles(home, data)) == 4
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")


# Who may read it


def test_nobody_else_may_read_the_index(home: Path, tmp_path: Path, command: Command) -> None:
    data = tmp_path / "above" / "data"
    old = os.umask(0)
    try:
        assert command("sync", "--home", home, "--data", data).returncode == 0
        with Library([home], data) as library:
            library.sync()
            modes = {path: path.stat().st_mode & 0o777 for path in data.parent.rglob("*")}
    finally:
        os.umask(old)
    assert data.parent.stat().st_mode & 0o777 == 0o700
    for path, mode in modes.items():
        assert mode == (0o700 if path.is_dir() else 0o600), path
    assert {path.suffix for path in modes} >= {".lock", ".db"}


def test_foreign_files_in_the_folder_are_left_alone(home: Path, data: Path) -> None:
    file = index_file([home], data)
    name = file.name.partition("-")[0]
    foreign = [
        file.with_name(other) for other in (f"{name}-copy.db", "notes.txt", f"{name}.db", "other-7.db")
    ]
    for other in foreign:
        other.write_text("mine")
    sync([home], data)
    sync([home], data, full=True)
    assert titles(home, data) == ["alpha", "beta"]
    assert all(other.read_text() == "mine" for other in foreign)


def made(place: IndexFile) -> str:
    with place.alone():
        index = place.finish(place.start())
    index.close()
    return str(index.path)


def test_indexes_of_homes_that_nobody_looks_at_any_more_are_removed(tmp_path: Path) -> None:
    other, mine = IndexFile(str(tmp_path), ["/media/stick"]), IndexFile(str(tmp_path), ["/home/ada/.gemini"])
    kept = [made(place) for place in (other, mine)]
    long_ago = time.time() - UNUSED - 60
    os.utime(kept[0], (long_ago, long_ago))
    made(IndexFile(str(tmp_path), ["/srv/backup"]))
    assert [Path(path).exists() for path in kept] == [False, True]


# The pieces of the full text


def pieces_of(connection: sqlite3.Connection) -> int:
    """In how many pieces it is: they are in the numbers of the rows of FTS5's own table."""
    sql = "SELECT count(DISTINCT id >> 37) FROM texts_data WHERE id >> 37 > 0"
    return int(connection.execute(sql).fetchone()[0])


@pytest.mark.parametrize(("before", "after"), [(3, 3), (12, 1)])
def test_many_pieces_of_the_full_text_become_one(before: int, after: int, tmp_path: Path) -> None:
    place = IndexFile(str(tmp_path), ["home"])
    with place.alone():
        index = to_be_closed(place.start())
        for number in range(before):
            # What is written by itself is a piece by itself.
            row = (number + 1, f"alpha w{number}")
            index.connection.execute("INSERT INTO texts (rowid, model) VALUES (?, ?)", row)
        assert pieces_of(index.connection) == before
        merge_pieces(index)
        assert pieces_of(index.connection) == after
        index.connection.execute("INSERT INTO texts (texts) VALUES ('integrity-check')")
        found = index.connection.execute("SELECT rowid FROM texts WHERE texts MATCH 'alpha'").fetchall()
        assert [number for (number,) in found] == list(range(1, before + 1))


@pytest.mark.parametrize("in_steps", [False, True])
def test_a_build_leaves_few_pieces(
    in_steps: bool, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each session is handed over by itself, or counts by itself, as hundreds together do in a large home.
    monkeypatch.setattr("geminids.storage.index.writer._ENOUGH", 0)
    monkeypatch.setattr("geminids.storage.index.database._HASH_SIZE", 64)
    if in_steps:
        monkeypatch.setattr("geminids.sync.FIRST_STEP", 1)
        monkeypatch.setattr("geminids.sync.intake.STEP", 1)
    for number in range(8):
        write_session(home, f"{number}e0c9a2b-0000-4000-8000-000000000100", day=2 + number, prompt="gamma")
    sync([home], tmp_path / "data")
    with Connected(index_file([home], tmp_path / "data")) as connection:
        assert pieces_of(connection) < 4
    assert hits(home, tmp_path / "data", "gamma") == 8
