"""Damage is found, named and healed where that can be, and takes nothing else with it."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from random import Random

import pytest

from geminids.core.errors import GeminidsError
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.failures import (
    BusyArchiveError,
    DamagedArchiveError,
    DamagedCopyError,
    FailedToKeepError,
    NewerArchiveError,
)
from geminids.storage.archive.lock import alone
from geminids.storage.archive.packs import FIRST_LINE
from geminids.storage.archive.records import scan
from geminids.storage.archive.rewrite import remove
from geminids.storage.archive.values import Verified, Version
from geminids.storage.archive.verification import verify
from tests.conftest import Run
from tests.support.archives import AGENT, HOME, contents, keep_all
from tests.support.connections import to_be_closed
from tests.support.homes import write_session

FILES = 30
FLIPS = 25


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    """An archive with files of many kinds, and what is in them."""
    folder = tmp_path_factory.mktemp("kept")
    random = Random(11)
    originals = {}
    archive = to_be_closed(Archive(str(folder / "data" / "kept")))
    for number in range(FILES):
        path = folder / f"session-{number}.jsonl"
        path.write_bytes(
            b'{"line": "words and words"}\n' * random.randrange(40) + random.randbytes(number * 50)
        )
    files = sorted(folder.glob("*.jsonl"))
    keep_all(archive, files)
    for path in files[::3]:
        with path.open("ab") as out:
            out.write(random.randbytes(200))
    keep_all(archive, files)
    for path in files:
        originals[str(path)] = path.read_bytes()
    return Path(archive.folder), originals


@pytest.fixture
def damaged(kept: tuple[Path, dict[str, bytes]], tmp_path: Path) -> Path:
    """A copy of the archive to be damaged."""
    return Path(shutil.copytree(kept[0], tmp_path / "kept"))


def nothing(_: Version) -> bytes | None:
    return None


def flip(path: Path, position: int, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[position] ^= 1 << bit
    path.write_bytes(content)


def readable(archive: Archive, versions: dict[str, Version]) -> tuple[dict[str, bytes], set[str]]:
    """What can be read, and what is said to be damaged; what is read is right or an error."""
    read, refused = {}, set()
    for path, version in versions.items():
        try:
            read[path] = archive.content(version)
        except DamagedCopyError as error:
            refused.add(error.path)
    return read, refused


def test_an_archive_that_is_whole_is_found_so(kept: tuple[Path, dict[str, bytes]], damaged: Path) -> None:
    told: list[tuple[int, int]] = []
    verified = verify(
        to_be_closed(Archive(str(damaged))), nothing, lambda done, total: told.append((done, total))
    )
    size = sum({content: len(content) for content in kept[1].values()}.values())
    assert (verified.versions, verified.damage, verified.mended, verified.cut) == (FILES, [], [], 0)
    assert verified.is_sound
    assert verified.size == size
    assert told[-1] == (size, size)
    assert verify(to_be_closed(Archive(str(damaged / "none"))), nothing) == Verified(0, 0, (), (), 0)


@pytest.mark.parametrize("seed", range(FLIPS))
def test_a_flipped_bit_of_a_pack_is_found_named_and_healed(
    kept: tuple[Path, dict[str, bytes]], damaged: Path, seed: int
) -> None:
    random = Random(seed)
    pack = damaged / "packs" / "000001.pack"
    position = random.randrange(len(b"geminids kept copies 1\n"), pack.stat().st_size)
    flip(pack, position, random.randrange(8))
    archive, originals = to_be_closed(Archive(str(damaged))), kept[1]
    versions = archive.newest()

    read, refused = readable(archive, versions)
    assert read == {path: originals[path] for path in read}
    assert len(refused) <= 1

    unhealed = verify(archive, nothing)
    assert {damage.version.path for damage in unhealed.damage} == refused
    assert unhealed.is_sound is not bool(refused)
    for damage in unhealed.damage:
        assert damage.pack == 1
        assert damage.offset <= position
        assert damage.what

    healed = verify(archive, lambda version: originals[version.path])
    assert {damage.version.path for damage in healed.damage} == refused
    assert healed.is_sound
    again = verify(archive, nothing)
    assert again.is_sound
    assert not again.damage
    assert {path: archive.content(version) for path, version in archive.newest().items()} == originals
    # Also what is made again from the packs alone is whole.
    (damaged / "manifest.db").unlink()
    rebuilt = to_be_closed(Archive(str(damaged)))
    assert {path: rebuilt.content(version) for path, version in rebuilt.newest().items()} == originals


@pytest.mark.parametrize("seed", range(FLIPS))
def test_a_flipped_bit_of_the_list_loses_nothing(
    kept: tuple[Path, dict[str, bytes]], damaged: Path, seed: int
) -> None:
    random = Random(seed)
    manifest = damaged / "manifest.db"
    flip(manifest, random.randrange(manifest.stat().st_size), random.randrange(8))
    archive, originals = to_be_closed(Archive(str(damaged))), kept[1]
    with suppress(GeminidsError):
        # Whatever is asked, the answer is one, or an error that says what to do.
        readable(archive, archive.newest())
        archive.identity()
        archive.homes()
        archive.totals()
    try:
        verified = verify(archive, nothing)
    except NewerArchiveError:
        # The bit was in the number of the version; whoever wrote it, it is not ours to throw away.
        return
    assert verified.is_sound
    assert {path: archive.content(version) for path, version in archive.newest().items()} == originals
    assert all(len(archive.versions(path)) == 1 for path in originals)


@pytest.mark.parametrize("trouble", ["missing", "empty", "garbage", "cut", "foreign"])
def test_a_list_that_cannot_be_read_is_made_anew(
    kept: tuple[Path, dict[str, bytes]], damaged: Path, trouble: str
) -> None:
    manifest = damaged / "manifest.db"
    before = to_be_closed(Archive(str(damaged)))
    known, totals, homes, identity = before.newest(), before.totals(), before.homes(), before.identity()
    before.close()
    match trouble:
        case "missing":
            manifest.unlink()
        case "empty":
            manifest.write_bytes(b"")
        case "garbage":
            manifest.write_bytes(Random(1).randbytes(20_000))
        case "cut":
            os.truncate(manifest, 5_000)
        case _:
            manifest.unlink()
            with closing(sqlite3.connect(manifest)) as connection:
                connection.execute("CREATE TABLE versions (number)")
    archive = to_be_closed(Archive(str(damaged)))
    assert archive.newest() == known
    assert archive.homes() == homes
    assert archive.totals()._replace(size_on_disk=0) == totals._replace(size_on_disk=0)
    assert archive.identity()[0] == identity[0]
    assert archive.identity()[1] > identity[1]
    (said,) = archive.said
    assert "made again" in said
    assert contents(archive) == {path: [content] for path, content in kept[1].items()}
    aside = list(damaged.glob("manifest.db.damaged-*"))
    assert len(aside) == (0 if trouble == "missing" else 1)
    # Somebody who comes later hears nothing of it.
    later = to_be_closed(Archive(str(damaged)))
    assert later.newest() == known
    assert later.said == []
    keep_all(later, [])
    assert later.said == []


def test_a_list_is_made_anew_for_the_one_who_writes(
    kept: tuple[Path, dict[str, bytes]], damaged: Path, tmp_path: Path
) -> None:
    (damaged / "manifest.db").write_bytes(b"no database at all, but some words" * 100)
    archive = to_be_closed(Archive(str(damaged)))
    (tmp_path / "new.jsonl").write_bytes(b"new")
    keep_all(archive, [tmp_path / "new.jsonl"])
    assert len(archive.said) == 1
    assert set(archive.newest()) == {*kept[1], str(tmp_path / "new.jsonl")}


def test_a_list_from_the_future_is_left_alone(damaged: Path) -> None:
    with closing(sqlite3.connect(damaged / "manifest.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 99")
        connection.execute("UPDATE meta SET value = 99 WHERE name = 'version'")
    before = (damaged / "manifest.db").read_bytes()
    archive = to_be_closed(Archive(str(damaged)))
    for question in (archive.newest, archive.identity, archive.totals):
        with pytest.raises(NewerArchiveError, match="newer geminids"):
            question()
    with pytest.raises(NewerArchiveError), archive.writing():
        pass
    assert (damaged / "manifest.db").read_bytes() == before


def test_a_pack_that_is_gone_is_named_and_healed(kept: tuple[Path, dict[str, bytes]], damaged: Path) -> None:
    (damaged / "packs" / "000001.pack").unlink()
    archive, originals = to_be_closed(Archive(str(damaged))), kept[1]
    _, refused = readable(archive, archive.newest())
    assert refused == {path for path, content in originals.items() if content}
    assert {damage.version.path for damage in verify(archive, nothing).damage} == refused
    assert verify(archive, lambda version: originals[version.path]).is_sound
    assert not verify(archive, nothing).damage
    assert contents(archive) == {path: [content] for path, content in originals.items()}
    (damaged / "manifest.db").unlink()
    assert contents(to_be_closed(Archive(str(damaged)))) == {
        path: [content] for path, content in originals.items()
    }


def test_a_pack_that_is_cut_loses_only_what_was_cut(
    kept: tuple[Path, dict[str, bytes]], damaged: Path
) -> None:
    pack = damaged / "packs" / "000001.pack"
    os.truncate(pack, pack.stat().st_size // 2)
    archive, originals = to_be_closed(Archive(str(damaged))), kept[1]
    read, refused = readable(archive, archive.newest())
    assert read
    assert refused
    assert read == {path: originals[path] for path in read}
    assert {damage.version.path for damage in verify(archive, nothing).damage} == refused
    keep_all(archive, map(Path, originals))
    assert verify(archive, lambda version: originals[version.path]).is_sound
    assert contents(archive) == {path: [content] for path, content in originals.items()}


@pytest.mark.parametrize("length", [0, 8, 23, 100, 5_000], ids=lambda length: f"{length} bytes")
def test_a_pack_that_was_emptied_or_cut_is_named_and_the_list_stays(
    kept: tuple[Path, dict[str, bytes]], damaged: Path, tmp_path: Path, length: int
) -> None:
    pack = damaged / "packs" / "000001.pack"
    whole = pack.read_bytes()
    os.truncate(pack, length)
    archive, originals = to_be_closed(Archive(str(damaged))), kept[1]
    known = archive.newest()
    for _ in range(3):
        verified = verify(archive, nothing)
        assert not verified.is_sound
        refused = {damage.version.path for damage in verified.damage}
        assert refused >= {path for path, content in originals.items() if len(content) > length}
        assert archive.newest() == known
        keep_all(archive, [])
    # Without the list what is lost can still be named: who was there is written anew.
    (damaged / "manifest.db").unlink()
    assert to_be_closed(Archive(str(damaged))).newest().keys() == known.keys()
    lost = {damage.version.path for damage in verify(to_be_closed(Archive(str(damaged))), nothing).damage}
    # Of what has grown the beginning may be left, which is better than nothing.
    read, _ = readable(to_be_closed(Archive(str(damaged))), to_be_closed(Archive(str(damaged))).newest())
    assert all(originals[path].startswith(read[path]) for path in refused - lost)
    # Somebody has a whole one.
    pack.write_bytes(whole)
    again = to_be_closed(Archive(str(damaged)))
    assert verify(again, nothing).is_sound
    assert contents(again) == {path: [content] for path, content in originals.items()}


@pytest.mark.parametrize("where", ["cut at a record", "zeroed", "a folder", "all packs gone"])
def test_nothing_leaves_the_list_because_a_pack_does_not_say_it(
    kept: tuple[Path, dict[str, bytes]], damaged: Path, where: str
) -> None:
    archive, originals = to_be_closed(Archive(str(damaged))), kept[1]
    known = archive.all_versions()
    pack = damaged / "packs" / "000001.pack"
    match where:
        case "cut at a record":
            handle = os.open(pack, os.O_RDONLY)
            last = list(scan(handle, len(FIRST_LINE)))[-3]
            os.close(handle)
            os.truncate(pack, last.offset)
        case "zeroed":
            pack.write_bytes(bytes(pack.stat().st_size))
        case "a folder":
            pack.unlink()
            pack.mkdir()
        case _:
            shutil.rmtree(damaged / "packs")
    assert archive.all_versions() == known
    _, refused = readable(archive, archive.newest())
    assert refused
    for _ in range(2):
        assert {damage.version.path for damage in verify(archive, nothing).damage} == refused
        assert archive.all_versions() == known
    assert verify(archive, lambda version: originals[version.path]).is_sound
    assert archive.all_versions() == known


def test_packs_of_another_archive_are_not_removed(damaged: Path, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_bytes(b"words")
    other = to_be_closed(Archive(str(tmp_path / "other" / "kept")))
    keep_all(other, [tmp_path / "other.jsonl"])
    theirs = (tmp_path / "other" / "kept" / "packs" / "000001.pack").read_bytes()
    (damaged / "packs" / "000009.pack").write_bytes(theirs)
    keep_all(to_be_closed(Archive(str(damaged))), [])
    assert (damaged / "packs" / "000009.pack").read_bytes() == theirs


def test_what_only_a_damaged_list_knows_stays_on_the_list(
    kept: tuple[Path, dict[str, bytes]], damaged: Path
) -> None:
    """The pack is empty, and a row of the list is not what was written."""
    os.truncate(damaged / "packs" / "000001.pack", 0)
    with closing(sqlite3.connect(damaged / "manifest.db", isolation_level=None)) as connection:
        connection.execute("UPDATE versions SET path = path || 'x' WHERE number = 7")
    archive, originals = to_be_closed(Archive(str(damaged))), kept[1]
    newest = archive.newest()
    assert len(newest) == FILES - 1
    assert newest.keys() <= originals.keys()
    (said,) = archive.said
    assert f"{FILES - 1} copies were only on the former list. 1 rows of that could not be read." in said
    verified = verify(archive, nothing)
    assert {damage.version.path for damage in verified.damage} == {p for p in newest if originals[p]}


TABLES = ("versions", "records", "packs", "homes", "meta")


@pytest.mark.slow
@pytest.mark.parametrize("table", TABLES)
def test_a_value_that_nobody_wrote_is_no_answer(
    kept: tuple[Path, dict[str, bytes]], damaged: Path, tmp_path: Path, table: str
) -> None:
    with closing(sqlite3.connect(damaged / "manifest.db")) as connection:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        homes = to_be_closed(Archive(str(damaged))).folders()
    for number, column in enumerate(columns):
        copy = Path(shutil.copytree(damaged, tmp_path / f"{number}"))
        with closing(sqlite3.connect(copy / "manifest.db", isolation_level=None)) as connection:
            (value,) = connection.execute(f"SELECT {column} FROM {table} LIMIT 1").fetchone()
            other = {int: lambda v: v ^ 2, str: lambda v: "x" + v[1:], bytes: lambda v: b"x" + v[1:]}
            changed = other[type(value)](value) if value is not None else 1
            connection.execute(
                f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {column} IS ?", (changed, value)
            )
        archive = to_be_closed(Archive(str(copy)))
        assert {path: archive.content(one) for path, one in archive.newest().items()} == kept[1], column
        assert archive.folders() == homes
        assert verify(archive, nothing).is_sound
        assert {path: archive.content(one) for path, one in archive.newest().items()} == kept[1], column


def test_a_list_of_the_first_release_is_brought_up_to_date(
    kept: tuple[Path, dict[str, bytes]], damaged: Path
) -> None:
    archive = to_be_closed(Archive(str(damaged)))
    known, identity, homes = archive.all_versions(), archive.identity(), archive.homes()
    archive.close()
    make_first_release(damaged / "manifest.db")
    again = to_be_closed(Archive(str(damaged)))
    assert again.identity() == identity
    assert (again.all_versions(), again.homes(), again.said) == (known, homes, [])
    assert contents(again) == {path: [content] for path, content in kept[1].items()}
    assert verify(again, nothing) == Verified(FILES, verify(again, nothing).size, [], [], 0)
    assert len(list(damaged.glob("manifest.db.before-*"))) == 1


def test_a_path_that_was_damaged_before_there_were_checksums_is_mended(
    kept: tuple[Path, dict[str, bytes]], damaged: Path
) -> None:
    make_first_release(damaged / "manifest.db")
    with closing(sqlite3.connect(damaged / "manifest.db", isolation_level=None)) as connection:
        connection.execute("UPDATE versions SET path = replace(path, 'jsonl', 'nsonl') WHERE number = 7")
    archive = to_be_closed(Archive(str(damaged)))
    assert archive.newest().keys() == kept[1].keys()
    assert "made again" in archive.said[0]


def make_first_release(manifest: Path) -> None:
    """Make a list what 0.1.0 wrote: without checksums."""
    with closing(sqlite3.connect(manifest, isolation_level=None)) as connection:
        connection.execute("DELETE FROM meta WHERE name = 'version'")
        for table in TABLES:
            connection.execute(f"ALTER TABLE {table} DROP COLUMN sum")
        connection.execute("PRAGMA user_version = 1")


def test_former_lists_are_few_and_go_with_what_is_forgotten(
    kept: tuple[Path, dict[str, bytes]], damaged: Path
) -> None:
    archive = to_be_closed(Archive(str(damaged)))
    for number in range(6):
        with closing(sqlite3.connect(damaged / "manifest.db", isolation_level=None)) as connection:
            connection.execute("UPDATE versions SET path = 'x' WHERE number = 7")
        assert archive.newest().keys() == kept[1].keys()
        with closing(sqlite3.connect(damaged / "manifest.db", isolation_level=None)) as connection:
            # A row that is missing altogether: what the packs say is not what the list says.
            connection.execute("DELETE FROM versions WHERE number = 9")
        assert verify(archive, nothing).mended, number
    assert len(list(damaged.glob("manifest.db.damaged-*"))) == 3
    assert len(list(damaged.glob("manifest.db.before-*"))) == 3
    with archive.writing() as writer:
        remove(writer, [7])
    assert not list(damaged.glob("manifest.db.*"))


def test_only_what_was_kept_heals(kept: tuple[Path, dict[str, bytes]], damaged: Path) -> None:
    flip(damaged / "packs" / "000001.pack", (damaged / "packs" / "000001.pack").stat().st_size - 10, 3)
    archive = to_be_closed(Archive(str(damaged)))
    verified = verify(archive, lambda version: kept[1][version.path] + b"more")
    assert not verified.is_sound
    assert not verify(archive, nothing).is_sound


def test_words_behind_the_end_are_harmless(kept: tuple[Path, dict[str, bytes]], damaged: Path) -> None:
    with (damaged / "packs" / "000001.pack").open("ab") as out:
        out.write(b"\x91gKept\xd7\n torn")
    archive = to_be_closed(Archive(str(damaged)))
    assert contents(archive) == {path: [content] for path, content in kept[1].items()}
    verified = verify(archive, nothing)
    assert verified.cut == 13
    assert verified.is_sound
    assert verify(archive, nothing).cut == 0


@pytest.mark.slow
def test_who_reads_need_not_wait_for_who_writes(kept: tuple[Path, dict[str, bytes]], damaged: Path) -> None:
    manifest = damaged / "manifest.db"
    holder, other = to_be_closed(Archive(str(damaged))), to_be_closed(Archive(str(damaged)))
    with alone(str(damaged), 0):
        with pytest.raises(BusyArchiveError, match=f"process {os.getpid()}"), other.writing(patience=0):
            pass
        manifest.write_bytes(b"garbage")
        # Somebody holds the lock, so nothing is mended: what is asked is answered from the packs.
        assert contents(other) == {path: [content] for path, content in kept[1].items()}
        assert manifest.read_bytes() == b"garbage"
    assert contents(holder) == {path: [content] for path, content in kept[1].items()}
    assert manifest.read_bytes() != b"garbage"


def test_damage_that_is_met_while_writing_is_gone_the_next_time(
    kept: tuple[Path, dict[str, bytes]], damaged: Path
) -> None:
    manifest = damaged / "manifest.db"
    archive = to_be_closed(Archive(str(damaged)))
    with closing(sqlite3.connect(manifest)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'versions'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(manifest.read_bytes())
    content[(page - 1) * size : page * size] = bytes(size)
    # The count of changes: who has the file open looks at its pages again.
    content[27] += 1
    with pytest.raises(FailedToKeepError, match="made again"), archive.writing() as writer:  # noqa: PT012
        manifest.write_bytes(content)
        for path in kept[1]:
            writer.keep(AGENT, HOME, path)
    keep_all(archive, map(Path, kept[1]))
    assert contents(archive) == {path: [content] for path, content in kept[1].items()}


def test_an_error_takes_back_what_was_not_durable(damaged: Path, tmp_path: Path) -> None:
    archive = to_be_closed(Archive(str(damaged)))
    before = archive.newest()
    size = (damaged / "packs" / "000001.pack").stat().st_size
    (tmp_path / "new").write_bytes(os.urandom(3_000_000))
    with pytest.raises(FileNotFoundError), archive.writing() as writer:
        [writer.keep(AGENT, HOME, str(tmp_path / name)) for name in ("new", "missing")]
    assert archive.newest() == before
    assert (damaged / "packs" / "000001.pack").stat().st_size == size


def test_a_folder_that_is_none_is_said(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"")
    archive = to_be_closed(Archive(str(tmp_path / "kept")))
    assert not archive.exists()
    with pytest.raises(Exception, match="Cannot keep copies") as raised, archive.writing():
        pass
    assert not isinstance(raised.value, DamagedArchiveError)


@pytest.mark.parametrize("command", [("list",), ("keep", "verify")], ids=" ".join)
def test_a_pipe_in_the_place_of_the_list_blocks_nobody_and_is_told(
    geminids: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    write_session(tmp_path)
    options = ("--home", tmp_path, "--data", tmp_path / "data")
    assert geminids("sync", *options).code == 0
    manifest = tmp_path / "data" / "kept" / "manifest.db"
    manifest.unlink()
    os.mkfifo(manifest)
    answer = geminids(*command, *options)
    assert answer.code == 0
    assert (
        "The list of the kept copies could not be read (it is not a regular file)" in answer.out + answer.err
    )
    assert manifest.is_file()


@pytest.mark.parametrize("command", [("list",), ("sync", "--full"), ("keep", "verify"), ("keep", "export")])
def test_a_pipe_in_the_place_of_a_pack_blocks_nobody_and_is_damage(
    geminids: Run, tmp_path: Path, command: tuple[str, ...]
) -> None:
    session = write_session(tmp_path)
    options = ("--home", tmp_path, "--data", tmp_path / "data")
    assert geminids("sync", *options).code == 0
    session.unlink()
    (pack,) = (tmp_path / "data" / "kept" / "packs").iterdir()
    pack.unlink()
    os.mkfifo(pack)
    geminids(*command, *([tmp_path / "out.tar"] if command[-1] == "export" else []), *options)
    checked = geminids("keep", "verify", *options)
    assert (checked.code, session.name in checked.out + checked.err) == (4, True)


@pytest.mark.slow
def test_a_pipe_in_the_place_of_any_file_of_ours_blocks_nobody(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path)
    data = tmp_path / "data"
    assert geminids("list", "--home", tmp_path, "--data", data).code == 0
    assert geminids("mark", "latest", "--tag", "x", "--home", tmp_path, "--data", data).code == 0
    (data / "settings.toml").touch()
    files = [path.relative_to(data) for path in data.rglob("*") if path.is_file()]
    assert {file.name for file in files} > {"last-list.json", "geminids.db", "manifest.db", "settings.toml"}
    for file in files:
        copy = tmp_path / "copies" / str(file).replace("/", "-")
        shutil.copytree(data, copy)
        (copy / file).unlink()
        os.mkfifo(copy / file)
        for command in ("list",), ("show", "1"), ("keep", "verify"):
            geminids(*command, "--home", tmp_path, "--data", copy)
