"""An index that is damaged, of another release or made by other settings is made again."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from geminids.core import agents
from geminids.core.errors import NOTHING_FOUND
from geminids.library import Library
from geminids.query.sessions.listing import Filter
from geminids.storage.durable.database import FILE_NAME as DURABLE
from geminids.storage.index import schema
from tests.conftest import FIXTURES, RecordProperty, Rights, Run
from tests.support.connections import to_be_closed
from tests.support.homes import tool_call, write_session
from tests.support.indexes import Connected, assert_equals_a_fresh_build, dump, hits, index_file, sync

HOMES = sorted((FIXTURES / "gemini").glob("*/home"))[::4]
PAGE = 4096


def _overwritten(file: Path, start: int, length: int) -> None:
    content = bytearray(file.read_bytes())
    content[start : start + length] = Random(start).randbytes(len(content[start : start + length]))
    file.write_bytes(content)


def _without_a_table(file: Path, table: str) -> None:
    with Connected(file) as database:
        database.execute(f"DROP TABLE {table}")


def _with_a_foreign_journal(file: Path) -> None:
    other = file.with_name("other")
    database = sqlite3.connect(other, isolation_level=None)
    database.execute("PRAGMA journal_mode = WAL")
    database.execute("CREATE TABLE notes (text)")
    database.executemany("INSERT INTO notes VALUES (?)", [(f"{number}" * 500,) for number in range(500)])
    shutil.copy(f"{other}-wal", f"{file}-wal")
    database.close()
    other.unlink()


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a header of garbage": lambda file: _overwritten(file, 0, 100),
    "a first page of garbage": lambda file: _overwritten(file, 0, PAGE),
    "pages of garbage": lambda file: _overwritten(file, 2 * PAGE, 60 * PAGE),
    "garbage from the first table on": lambda file: _overwritten(file, PAGE, file.stat().st_size),
    "half a file": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "an empty file": lambda file: file.write_bytes(b""),
    "a text": lambda file: file.write_text("This is no index.\n" * 1000),
    "no sessions": lambda file: _without_a_table(file, "sessions"),
    "no meta": lambda file: _without_a_table(file, "meta"),
    "no folders": lambda file: _without_a_table(file, "folders"),
    "a journal of another database": _with_a_foreign_journal,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with the index of all fixtures, and with a link."""
    data = tmp_path_factory.mktemp("whole")
    to_be_closed(Library(HOMES, data)).link_project("ab" * 32, str(data))
    sync(HOMES, data)
    return data


@pytest.mark.slow
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_index_is_moved_aside_and_made_anew(
    damage: str, whole: Path, tmp_path: Path, geminids: Run
) -> None:
    data = tmp_path / "data"
    shutil.copytree(whole, data)
    homes = [option for home in HOMES for option in ("--home", home)]
    expected = geminids("list", "--kind", "all", *homes, "--data", whole, "--no-sync")
    assert expected.code == 0, expected.err
    durable = (data / DURABLE).read_bytes()
    file = index_file(HOMES, data)
    DAMAGES[damage](file)
    found = geminids("list", "--kind", "all", *homes, "--data", data)
    assert (found.code, found.out) == (0, expected.out)
    assert found.err.count("\n") == 1
    assert f"{file}' is damaged" in found.err
    assert Path(f"{file}.damaged").exists()
    assert (data / DURABLE).read_bytes() == durable
    assert geminids("list", "--kind", "all", *homes, "--data", data) == expected
    assert index_file(HOMES, data) != file
    assert_equals_a_fresh_build(HOMES, data, tmp_path / "fresh")


def test_damage_that_is_met_late_is_answered_as_well(whole: Path, tmp_path: Path) -> None:
    data, said = tmp_path / "data", list[str]()
    shutil.copytree(whole, data)
    with Connected(index_file(HOMES, data)) as database:
        database.execute("UPDATE sessions SET summary = x'00'")
    with Library(HOMES, data, tell=said.append) as library:
        assert len(library.sessions()) == library.listing(Filter()).total > 30
    assert len(said) == 1
    assert "is made again" in said[0]


def test_a_damaged_index_is_moved_aside_but_not_made_where_nobody_wants_a_sync(
    tmp_path: Path, geminids: Run
) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    sync([home], data)
    index_file([home], data).write_bytes(b"no index")
    found = geminids("list", "--no-sync", "--home", home, "--data", data)
    assert found.code == NOTHING_FOUND
    assert "is damaged" in found.err
    assert "made anew" not in found.err
    assert "`geminids sync`" in found.err
    assert geminids("list", "--home", home, "--data", data)[::2] == (0, "")


def test_a_sync_repairs_what_it_meets(tmp_path: Path) -> None:
    data, home = tmp_path / "data", tmp_path / "home"
    session = write_session(home)
    sync([home], data)
    _without_a_table(index_file([home], data), "messages")
    session.touch()
    with Library([home], data) as library:
        outcome = library.sync()
    assert outcome.built
    assert "damaged" in "".join(outcome.said)
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")


@pytest.mark.slow
def test_single_damaged_pages_lead_to_no_traceback(
    whole: Path, tmp_path: Path, record_property: RecordProperty
) -> None:
    found, said = 0, list[str]()
    size = index_file(HOMES, whole).stat().st_size
    for page in Random(1).sample(range(size // PAGE), 20):
        data = tmp_path / str(page)
        shutil.copytree(whole, data)
        _overwritten(index_file(HOMES, data), page * PAGE, PAGE)
        with Library(HOMES, data, tell=said.append) as library:
            assert len(library.sessions()) > 30
            library.problems()
            library.projects()
        found += len(said) > 0
        said.clear()
    assert found > 5
    record_property("counts", f"index: {found} of 20 damaged pages were noticed by a list")


def test_every_flipped_zeroed_or_repeated_page_is_noticed(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    sync([home], data)
    with Library([home], data) as library:
        before = [library.listing(Filter()), library.search("login").sessions]
    random = Random(5)
    for number in range(12):
        file = index_file([home], data)
        whole = file.read_bytes()
        content = bytearray(whole)
        at = random.randrange(PAGE, len(content), PAGE)
        match number % 3:
            case 0:
                content[random.randrange(len(content))] ^= 1 << random.randrange(8)
            case 1:
                content[at : at + PAGE] = bytes(PAGE)
            case _:
                content[at : at + PAGE] = content[:PAGE]
        facts = file.stat()
        file.write_bytes(content)
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        said: list[str] = []
        with Library([home], data, tell=said.append) as library:
            assert [library.listing(Filter()), library.search("login").sessions] == before
        assert ("damaged" in "".join(said)) is (content != whole)


def test_a_bit_that_leaves_no_time_behind_is_noticed_within_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    sync([home], data)
    file = index_file([home], data)
    facts, content = file.stat(), bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    def said(after: float) -> str:
        """What is told so many seconds after the index was last compared."""
        # As if it had been whole when it was last touched.
        compared = time.time() + 10
        os.utime(f"{file}.sum", (compared, compared))
        told: list[str] = []
        with monkeypatch.context() as clock, Library([home], data, tell=told.append) as library:
            clock.setattr(time, "time", lambda: compared + after)
            library.listing(Filter())
        return "".join(told)

    assert said(after=23 * 3600) == ""
    assert "damaged" in said(after=25 * 3600)


def test_an_index_that_was_found_whole_is_not_compared_by_the_next_command(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    sync([home], data)
    seal = Path(f"{index_file([home], data)}.sum")

    def compared_at(moment: float) -> float:
        """When it is compared that was so the last time at that moment."""
        os.utime(seal, (moment, moment))
        with Library([home], data, sync=False) as library:
            library.listing(Filter())
        return seal.stat().st_mtime

    now = time.time()
    assert compared_at(now - 2 * 86_400) >= now - 1
    # Whoever set the clock back has no word of when it was.
    assert compared_at(now + 86_400) < now + 3600
    # It was made later than that, so it may have been touched since.
    assert compared_at(now - 60) >= now - 1
    time.sleep(0.02)
    lately = time.time() - 0.005
    assert compared_at(lately) == pytest.approx(lately, abs=0.001)


@pytest.mark.parametrize(
    "question", ["list", "search", "show", "sync", "stats", "projects", "keep", "doctor"]
)
def test_rows_that_nobody_wrote_lead_to_no_traceback(tmp_path: Path, geminids: Run, question: str) -> None:
    """Where there is no checksum to tell: a process was killed before it could note it."""
    home, data = tmp_path / "home", tmp_path / "data"
    path = write_session(home)
    words = {"search": ("login",), "show": ("latest",)}.get(question, ())
    where = ("--home", home, "--data", data)
    for damage in (
        "UPDATE messages SET session = 9",
        "UPDATE sessions SET project = 77",
        "DELETE FROM files",
    ):
        geminids("sync", "--full", *where)
        expected = geminids(question, *words, *where)
        file = index_file([home], data)
        with Connected(file) as database:
            database.execute(damage)
        file.with_name(f"{file.name}.sum").unlink()
        if question == "sync":
            path.touch()
        found = geminids(question, *words, *where)
        assert found.code in (0, 1, 3), damage
        geminids("sync", "--full", *where)
        assert geminids(question, *words, *where).out == expected.out


def test_a_sync_that_meets_rows_that_nobody_wrote_makes_the_index_anew(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    path = write_session(home)
    sync([home], data)
    file = index_file([home], data)
    with Connected(file) as database:
        database.execute("UPDATE bundles SET stamp = 77")
    file.with_name(f"{file.name}.sum").unlink()
    path.write_bytes(path.read_bytes() + b"\n")
    with Library([home], data) as library:
        outcome = library.sync()
        assert library.listing(Filter()).total == 1
    assert (outcome.built, outcome.failed) == (True, False)
    assert "is damaged (TypeError" in "".join(outcome.said)
    assert not file.exists()
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")


def test_what_is_no_file_is_no_index(tmp_path: Path, geminids: Run) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    for make in (Path.mkdir, os.mkfifo, lambda file: file.symlink_to("nothing")):
        sync([home], data)
        file = index_file([home], data)
        file.unlink()
        make(file)
        found = geminids("list", "--home", home, "--data", data)
        assert found.code == 0
        assert "is damaged (it is not a regular file)" in found.err
        assert "damaged" not in geminids("list", "--home", home, "--data", data).err


def test_only_the_last_damaged_index_is_kept(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    for _ in range(3):
        sync([home], data)
        index_file([home], data).write_bytes(b"no index")
    sync([home], data)
    assert [file.name.partition("-")[2] for file in sorted((data / "index").glob("*-*"))] == [
        "3.db.damaged",
        "4.db",
        "4.db.sum",
    ]


def test_a_damaged_index_in_a_closed_folder_is_not_needed(
    tmp_path: Path, geminids: Run, without_privileges: Rights
) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    sync([home], data)
    index_file([home], data).write_bytes(b"no index")
    for path in (data, *data.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    geminids("list", "--home", home, "--data", tmp_path / "loads what is needed")
    with without_privileges():
        found = geminids("list", "--home", home, "--data", data)
    assert found.code == 0
    assert "Fix the login redirect" in found.out
    assert "The index cannot be written" in found.err
    assert "Traceback" not in found.err


def test_two_releases_used_in_turn_both_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    for version in (1, 2, 1, 2):
        for module in ("geminids.storage.index.database", "geminids.sync"):
            monkeypatch.setattr(f"{module}.VERSION", version)
        with Library([home], data) as library:
            outcome = library.sync()
            assert (outcome.built, outcome.failed, outcome.said) == (True, False, ())
            assert library.listing(Filter()).total == 1
    assert len(list((data / "index").glob("*.db"))) == 1


def test_a_source_that_reads_otherwise_reads_everything_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    write_session(home)
    sync([home], data)
    source = agents.load("gemini")
    monkeypatch.setattr(type(source), "revision", source.revision + 1)
    with Library([home], data) as library:
        assert library.sync().built
        assert not library.sync().built


def test_every_word_is_a_setting(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    output = f"beginning {'filler ' * 100} xylophone {'filler ' * 100} end"
    result = [{"functionResponse": {"id": "1", "name": "x", "response": {"output": output}}}]
    write_session(home, calls=[tool_call(result=result)])
    sync([home], data)
    assert hits(home, data, "xylophone") == 0
    (data / "settings.toml").write_text("[index]\nevery-word = true\n")
    with Library([home], data) as library:
        assert library.sync().built
        assert not library.sync().built
    assert hits(home, data, "xylophone") == 1
    (data / "settings.toml").unlink()
    sync([home], data)
    assert hits(home, data, "xylophone") == 0


def test_many_rows_of_messages_that_are_gone_lead_to_a_new_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.sync.FEW_DEAD", 4)
    home, data = tmp_path / "home", tmp_path / "data"
    built = []
    for number in range(6):
        write_session(home, prompt=f"prompt {number}", answer=f"answer {number}")
        with Library([home], data) as library:
            built.append(library.sync().built)
    assert built == [True, False, False, False, True, False]
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")
    assert hits(home, data, "prompt") == 1


def test_the_version_stands_in_the_index(whole: Path) -> None:
    assert repr(("version", schema.VERSION)) in dump(HOMES, whole)["meta"]
