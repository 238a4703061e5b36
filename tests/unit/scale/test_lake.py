"""Tables of several machines in one place: whose files they are, which are read, and what is forgotten."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from geminids.library import Library
from geminids.library import tables as machines
from geminids.scale.engine import Question, batches
from geminids.scale.places.errors import NameTakenError, PlaceError
from geminids.scale.places.stores import open_store
from geminids.scale.schema import TABLES, VERSION
from geminids.scale.sql.forgetting import forget_machine, forget_sessions, sessions_called
from geminids.scale.tables.stored import stored_pieces
from tests.conftest import FIXTURES, Rights, Run
from tests.support.engines import database_of
from tests.support.homes import FIRST_ID, write_session
from tests.support.kept_homes import user_home
from tests.support.tables import file_of, files, strings, table, write_tables

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"
OLD = FIXTURES / "tables-of-names" / "out"
"""What the release before ids wrote of two machines, laptop and desktop."""
TOTALS = "select count(*), sum(total) from requests"

pytestmark = pytest.mark.usefixtures("without_copies")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    write_session(home)
    write_session(home, SECOND_ID, slug="blog", day=2, prompt="Write about carts")
    return home


@pytest.fixture
def out(home: Path, tmp_path: Path) -> Path:
    """The tables of one machine."""
    write_tables(home, tmp_path / "data", tmp_path / "out")
    return tmp_path / "out"


def machines_in(out: Path) -> list[str]:
    return sorted({row["machine"] for name in ("sessions", "messages") for row in table(out, name)})


def totals(out: Path) -> list[tuple[int, int]]:
    with database_of(out) as ask:
        return [(int(count), int(total or 0)) for count, total in ask(TOTALS)]


# Whose files they are


def test_a_renamed_machine_replaces_its_tables(home: Path, out: Path, tmp_path: Path) -> None:
    before = files(out).keys()
    write_tables(home, tmp_path / "data", out, "desktop")
    assert files(out).keys() == before
    assert machines_in(out) == ["desktop"]
    assert write_tables(home, tmp_path / "data", out, "desktop").written == 0


def test_rows_that_stay_have_the_new_name(home: Path, out: Path, tmp_path: Path) -> None:
    with Library([home], tmp_path / "data") as library:
        library.sync()
    shutil.rmtree(home / ".gemini" / "tmp" / "blog")
    from geminids.scale.tables.part import Manner
    from geminids.scale.tables.run import TablesWriter

    with Library([home], tmp_path / "data", sync=False) as library:
        written = TablesWriter(library, Manner(str(out), "desktop")).bring_up_to_date(jobs=1)
    assert len(written.unreadable) == 1
    assert machines_in(out) == ["desktop"]
    assert written.rows["sessions"] == 2


def test_a_name_belongs_to_one_machine(home: Path, out: Path, tmp_path: Path) -> None:
    before = files(out)
    with pytest.raises(NameTakenError, match="geminids tables forget --machine laptop --out"):
        write_tables(home, tmp_path / "other", out)
    assert files(out) == before


def test_manifests_that_are_closed_or_newer_keep_no_machine_from_writing(
    home: Path, tmp_path: Path, without_privileges: Rights
) -> None:
    out, data = tmp_path / "out", tmp_path / "data"
    for folder in (out, out / "_geminids", data):
        folder.mkdir()
        folder.chmod(0o777)
    (out / "_geminids" / "closed.json").write_text("{}")
    (out / "_geminids" / "closed.json").chmod(0)
    newer = out / "_geminids" / "newer.json"
    newer.write_text(json.dumps({"schema": VERSION + 1, "machine": "newer"}))
    with without_privileges():
        assert write_tables(home, data, out).written == 1


def test_homes_that_were_chosen_have_tables_of_their_own(home: Path, out: Path, tmp_path: Path) -> None:
    write_session(tmp_path / "second", SECOND_ID, prompt="Elsewhere")
    write_tables(tmp_path / "second", tmp_path / "data", out, "second")
    assert machines_in(out) == ["laptop", "second"]
    assert write_tables(home, tmp_path / "data", out).written == 0


def test_tables_that_were_named_after_machines_are_taken_over(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shutil.copytree(OLD, tmp_path / "out")
    user_home(tmp_path, monkeypatch)
    before = files(out).keys()
    assert len(before) == 6
    assert geminids("tables", "--out", out, "--machine", "laptop").code == 0
    assert files(out).keys() == before, "its files have the names that they had"
    assert json.loads((out / "_geminids" / "laptop.json").read_bytes())["id"]
    assert machines_in(out) == ["desktop", "laptop"]

    assert geminids("tables", "--out", out, "--machine", "newname").code == 0
    assert files(out).keys() == before
    assert machines_in(out) == ["desktop", "newname"]


def test_older_tables_beside_newer_ones_count_once(home: Path, tmp_path: Path) -> None:
    out = shutil.copytree(OLD, tmp_path / "out")
    assert totals(out) == [(2, 24)]
    write_session(home, "3e3e3e3e-0000-4000-8000-000000000003", slug="shop", day=5)
    write_tables(home, tmp_path / "data", out, "tower")
    assert totals(out) == [(3, 36)]
    store = open_store(str(out))
    found = [
        rows.num_rows
        for piece in stored_pieces(store, "sessions", most=10**9)
        for rows in batches(Question(piece, "sessions"))
    ]
    assert sum(found) == 2 + 2 + 3


def test_files_of_ours_whose_old_manifest_is_lost_are_removed(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shutil.copytree(OLD, tmp_path / "out")
    (out / "_geminids" / "laptop.json").unlink()
    user_home(tmp_path, monkeypatch)
    assert geminids("tables", "--out", out, "--machine", "laptop").code == 0
    assert not list(out.rglob("laptop.parquet"))
    assert machines_in(out) == ["desktop", "laptop"]


def test_a_copied_data_directory_is_another_machine(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def id_on(host: str, data: Path) -> str | None:
        (tmp_path / "host").write_text(host)
        monkeypatch.setattr(machines, "HOST_FILES", (str(tmp_path / "host"),))
        with Library([home], data) as library:
            return library.machine()

    first = id_on("one", tmp_path / "data")
    cloned = shutil.copytree(tmp_path / "data", tmp_path / "cloned")
    second = id_on("two", cloned)
    assert first != second
    assert id_on("one", tmp_path / "data") == first
    assert id_on("two", cloned) == second, "and stays so"
    assert id_on("one", cloned) == first, "a directory that several machines use has an id for each"
    noted = "".join(path.read_text() for path in cloned.glob("machine*"))
    assert "one" not in noted
    assert "two" not in noted


def test_an_id_of_an_earlier_release_stays(home: Path, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "machine").write_text("0a1b2c3d4e5f\n")
    with Library([home], tmp_path / "data") as library:
        assert library.machine() == "0a1b2c3d4e5f"
        assert library.machine() == "0a1b2c3d4e5f"


# What is read


@pytest.mark.parametrize(
    "name",
    [
        "{} (conflicted copy).parquet",
        "{} 2.parquet",
        "{}.sync-conflict-20261119-101500-ABCDEFG.parquet",
        "part-0.parquet",
        "desktop.parquet",
        "{}~0a1b2c3d4e5f.parquet",
    ],
)
def test_copied_files_are_named_and_do_not_count(
    geminids: Run, home: Path, out: Path, tmp_path: Path, name: str
) -> None:
    before = totals(out)
    for table_name in ("requests", "sessions"):
        file = file_of(out, table_name, "laptop")
        shutil.copyfile(file, file.with_name(name.format(file.stem)))
    manifest = out / "_geminids" / f"{file.stem}.json"
    shutil.copyfile(manifest, manifest.with_name(f"{manifest.stem} (conflicted copy).json"))
    assert totals(out) == before
    stored = stored_pieces(open_store(str(out)), "requests", most=10**9)
    assert sum(len(piece.files) for piece in stored) == 1

    asked = geminids("sql", "--tables", out, "select 1")
    assert name.format(file.stem) in asked.err
    written = write_tables(home, tmp_path / "data", out)
    assert sorted(Path(stray).parts[0] for stray in written.strays) == ["requests", "sessions"]
    doctor = geminids("--home", home, "--data", tmp_path / "data", "doctor", "--paths")
    assert name.format(file.stem) in doctor.out


def test_files_without_any_manifest_are_refused(out: Path) -> None:
    shutil.rmtree(out / "_geminids")
    with pytest.raises(PlaceError, match="no manifest in _geminids names its 3 files of tables"):
        totals(out)
    with pytest.raises(PlaceError, match="no manifest in _geminids names its 1 files of tables"):
        list(stored_pieces(open_store(str(out)), "sessions", most=10**9))


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_file_is_noticed_and_written_again(
    geminids: Run, home: Path, out: Path, tmp_path: Path, damage: str
) -> None:
    before = totals(out)
    file = file_of(out, "requests", "laptop")
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-20])
    else:
        file.unlink()
    doctor = geminids("--home", home, "--data", tmp_path / "data", "doctor")
    assert doctor.code == 3
    assert "1 file damaged or gone" in doctor.out
    assert write_tables(home, tmp_path / "data", out).written == 1
    assert totals(out) == before
    doctor = geminids("--home", home, "--data", tmp_path / "data", "doctor")
    assert (doctor.code, "damaged or gone" in doctor.out) == (0, False)


def test_links_and_pipes_among_tables_are_not_read(geminids: Run, out: Path, tmp_path: Path) -> None:
    before = totals(out)
    file = file_of(out, "requests", "laptop")
    elsewhere = shutil.copyfile(file, tmp_path / "elsewhere.parquet")
    file.with_name("linked.parquet").symlink_to(elsewhere)
    os.mkfifo(file.with_name("pipe.parquet"))
    (out / "requests" / "agent=codex").symlink_to(out / "requests" / "agent=gemini")
    asked = geminids("sql", "--tables", out, "--json", "select sum(total) as total from requests")
    assert json.loads(asked.out) == [{"total": before[0][1]}]
    for name in ("linked.parquet", "pipe.parquet", "agent=codex"):
        assert name in asked.err
    file.unlink()
    file.symlink_to(elsewhere)
    assert totals(out) == [(0, 0)], "a link in the place of a file is none of the tables"


def test_nothing_is_written_through_a_link(home: Path, out: Path, tmp_path: Path) -> None:
    month = file_of(out, "requests", "laptop").parent
    elsewhere = shutil.move(month, tmp_path / "elsewhere")
    month.symlink_to(elsewhere)
    before = {path: path.stat().st_mtime_ns for path in Path(elsewhere).iterdir()}
    with pytest.raises(PlaceError, match="it is a link, and would lead out of the tables; remove it"):
        write_tables(home, tmp_path / "data", out, anew=True)
    assert {path: path.stat().st_mtime_ns for path in Path(elsewhere).iterdir()} == before


def test_links_pipes_and_the_data_directory_are_no_place_for_tables(home: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    os.mkfifo(tmp_path / "pipe")
    for place, said in (
        (tmp_path / "link", "it is a link; give the folder itself"),
        (tmp_path / "pipe", "it is not a folder"),
        (data, "it is in the data directory of geminids"),
        (data / "kept", "it is in the data directory of geminids"),
    ):
        with pytest.raises(PlaceError, match=said):
            write_tables(home, data, place)
    assert not list((tmp_path / "real").iterdir())


# Who may read them


@pytest.mark.parametrize(
    ("mode", "of_file"), [(0o700, 0o600), (0o755, 0o644), (0o2775, 0o644), (0o750, 0o640), (0o711, 0o600)]
)
def test_files_are_as_open_as_the_place(home: Path, tmp_path: Path, mode: int, of_file: int) -> None:
    out = tmp_path / "out"
    out.mkdir()
    out.chmod(mode)
    write_tables(home, tmp_path / "data", out)
    written = list(out.rglob("*"))
    assert {stat.S_IMODE(path.stat().st_mode) for path in written if path.is_file()} == {of_file}
    assert {stat.S_IMODE(path.stat().st_mode) for path in written if path.is_dir()} == {mode}


def test_a_place_that_is_made_is_private(out: Path) -> None:
    assert stat.S_IMODE(out.stat().st_mode) == 0o700


def test_another_user_reads_what_lies_in_a_shared_place(
    home: Path, tmp_path: Path, without_privileges: Rights
) -> None:
    for name, mode in (("shared", 0o755), ("private", 0o700)):
        (tmp_path / name).mkdir()
        (tmp_path / name).chmod(mode)
        write_tables(home, tmp_path / "data", tmp_path / name, name)
    with without_privileges():
        assert len(table(tmp_path / "shared", "sessions")) == 2
        assert totals(tmp_path / "shared") == [(2, 24)]
        with pytest.raises(PermissionError):
            list((tmp_path / "private").iterdir())


# What is forgotten


def stored_ids(out: Path, name: str) -> set[object]:
    """The sessions of a table, as the data source reads them."""
    column = "id" if name == "sessions" else "session_id"
    return {
        session
        for piece in stored_pieces(open_store(str(out)), name, most=10**9)
        for rows in batches(Question(piece, name, (column,)))
        for session in rows[column].to_pylist()
    }


def test_a_forgotten_session_counts_nowhere_whoever_wrote_it(
    geminids: Run, home: Path, out: Path, tmp_path: Path
) -> None:
    write_tables(home, tmp_path / "other", out, "desktop")
    where = ("--home", home, "--data", tmp_path / "data")
    forgotten = geminids(*where, "forget", FIRST_ID, "--yes")
    assert forgotten.code == 0
    assert f"may have them until the next `geminids tables --out {out}" in " ".join(forgotten.err.split())
    write_tables(home, tmp_path / "data", out)
    assert FIRST_ID in "".join(strings(out)), "the other machine has it still"
    with database_of(out) as ask:
        for name in TABLES:
            column = {"sessions": "id", "problems": "file"}.get(name, "session_id")
            for every in (name, f"all_{name}"):
                found = {one for (one,) in ask(f"select {column} from {every}")}
                assert found <= {f"gemini:{SECOND_ID}"}
    assert stored_ids(out, "sessions") == stored_ids(out, "messages") == {f"gemini:{SECOND_ID}"}

    write_tables(home, tmp_path / "other", out, "desktop")
    assert FIRST_ID not in "".join(strings(out)), "its rows are gone with the next run there"
    (hashes,) = (pq.read_table(path) for path in (out / "forgotten").glob("[!n]*.parquet"))
    assert [len(text) for text in hashes["session"].to_pylist()] == [64]

    assert geminids(*where, "forget", "--undo", FIRST_ID).code == 0
    write_tables(home, tmp_path / "data", out)
    assert totals(out) == [(2, 24)]


def test_a_session_is_forgotten_in_a_place_alone(
    geminids: Run, home: Path, out: Path, tmp_path: Path
) -> None:
    alone = geminids("tables", "forget", FIRST_ID[:8], "--out", out)
    assert alone.code == 2
    assert "Nothing was forgotten: there is no terminal to ask. --yes" in alone.err
    assert f"gemini:{FIRST_ID}" in alone.out
    assert totals(out) == [(2, 24)]
    done = geminids("tables", "forget", FIRST_ID[:8], "--out", out, "--yes", "--json")
    assert (done.code, json.loads(done.out)["sessions"]) == (0, [f"gemini:{FIRST_ID}"])
    assert totals(out) == [(1, 12)]
    write_tables(home, tmp_path / "data", out)
    assert FIRST_ID not in "".join(strings(out))
    nothing = geminids("tables", "forget", FIRST_ID[:8], "--out", out, "--yes")
    assert nothing.code == 1


def test_a_machine_is_removed(geminids: Run, home: Path, out: Path, tmp_path: Path) -> None:
    write_tables(home, tmp_path / "other", out, "desktop")
    kept = {name for name in files(out) if file_of(out, "sessions", "laptop").stem in name}
    asked = geminids("tables", "forget", "--machine", "desktop", "--out", out)
    assert (asked.code, len(files(out))) == (2, 6)
    done = geminids("tables", "forget", "--machine", "desktop", "--out", out, "--yes")
    assert done.code == 0
    assert "Machine desktop: 4 files removed" in done.err
    assert files(out).keys() == kept
    assert machines_in(out) == ["laptop"]
    assert geminids("tables", "forget", "--machine", "desktop", "--out", out, "--yes").code == 1


def test_subagents_are_forgotten_with_their_session(tmp_path: Path) -> None:
    home = FIXTURES / "claude" / "subagent" / "home"
    write_tables(home, tmp_path / "data", tmp_path / "out")
    store = open_store(str(tmp_path / "out"))
    rows = table(tmp_path / "out", "sessions")
    (leader,) = (row["id"] for row in rows if row["kind"] == "main")
    found = sessions_called(store, [leader])
    assert {session.id for session in found} == {row["id"] for row in rows}
    assert len(found) > 1
    forget_sessions(store, [session.id for session in found])
    assert totals(tmp_path / "out") == [(0, 0)]


def test_what_is_left_of_a_machine_is_found_again(home: Path, out: Path) -> None:
    from geminids.scale.sql.forgetting import files_of_machine

    store = open_store(str(out))
    found = files_of_machine(store, "laptop")
    forget_machine(store, found[:2])
    assert files_of_machine(store, "laptop") == found[2:]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["forget", "--out", "out"], "Give ids of sessions, or --machine."),
        (["forget", "x", "--machine", "y", "--out", "out"], "Give ids of sessions, or --machine."),
        (["forget", "x"], "Missing option '-o' / '--out'"),
        (["--out", "out", "forget", "x"], "Give --out after `tables forget`."),
    ],
)
def test_what_cannot_be_meant_is_refused(geminids: Run, line: list[str], said: str) -> None:
    refused = geminids("tables", *line)
    assert refused.code == 2
    assert said in " ".join(refused.err.split())
