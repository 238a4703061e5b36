"""Copies are what the files were, byte for byte, and what only grows costs only what it grew by."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest

from geminids.storage.archive import keeper, packs, rewrite, steady
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.rewrite import remove
from geminids.storage.archive.values import Version
from tests.conftest import CORPUS, FIXTURES
from tests.support.archives import AGENT, HOME, contents, files_below, keep_all, size_of_packs, unpacked_bytes
from tests.support.connections import to_be_closed


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return to_be_closed(Archive(str(tmp_path / "data" / "kept")))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "session.jsonl"
    path.parent.mkdir()
    return path


def keep(archive: Archive, file: Path) -> Version:
    (version,) = keep_all(archive, [file])
    return version


@pytest.mark.slow
@pytest.mark.parametrize("homes", [FIXTURES, CORPUS / "real"], ids=["fixtures", "corpus"])
def test_every_file_comes_back_byte_for_byte(archive: Archive, homes: Path) -> None:
    if not homes.is_dir():
        pytest.skip(f"there is no {homes}")
    files = [path for home in sorted(homes.glob("*/*/home")) for path in files_below(home)]
    assert len(files) > 500
    for version, file in zip(keep_all(archive, files), files, strict=True):
        content = file.read_bytes()
        assert archive.content(version) == content
        assert (version.path, version.size, version.mtime_ns) == (
            *(str(file), len(content), file.stat().st_mtime_ns),
        )
        assert version.digest == sha256(content).hexdigest()
    assert archive.totals().files == len(files)


def test_nothing_is_there_before_something_was_kept(archive: Archive) -> None:
    assert not archive.exists()
    assert archive.identity() == ("", 0)
    assert archive.newest() == {}
    assert archive.versions("/a") == []
    assert archive.homes() == []
    assert archive.totals().versions == 0
    assert not Path(archive.folder).exists()


def test_a_file_that_is_the_same_makes_no_new_version(archive: Archive, file: Path) -> None:
    file.write_bytes(b"one\n")
    first = keep(archive, file)
    before = size_of_packs(Path(archive.folder))
    os.utime(file, ns=(1, 2_000_000_000))
    again = keep(archive, file)
    assert again == first._replace(mtime_ns=2_000_000_000)
    assert archive.versions(str(file)) == [again]
    assert size_of_packs(Path(archive.folder)) == before


def test_a_file_that_grows_costs_what_it_grew_by(archive: Archive, file: Path) -> None:
    random = Random(1)
    file.write_bytes(random.randbytes(1_000_000))
    first = keep(archive, file)
    before = size_of_packs(Path(archive.folder))
    with file.open("ab") as out:
        out.write(random.randbytes(1_000))
    second = keep(archive, file)
    assert size_of_packs(Path(archive.folder)) - before < 3_000
    assert second.number == first.number
    assert archive.versions(str(file)) == [second]
    assert archive.content(second) == file.read_bytes()
    # Who has asked before it grew still gets what he asked for.
    assert archive.content(first) == file.read_bytes()[:1_000_000]


def test_a_file_that_grows_often_has_few_segments_and_costs_little(
    archive: Archive, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody else writes it, so it need not be read twice.
    monkeypatch.setattr(steady, "TICK_NS", 0)
    random = Random(2)
    growth = 300
    with archive.writing() as writer:
        for _ in range(growth):
            with file.open("ab") as out:
                out.write(random.randbytes(1_000))
            assert writer.keep(AGENT, HOME, str(file))
        writer.commit()
        (written,) = writer.manifest.written_versions(str(file))
        assert len(written.segments) <= growth.bit_length()
    assert archive.content(written.version) == file.read_bytes()
    # Every byte is written again when its segment has doubled: 300 lines, 9 digits, and a header each time.
    assert size_of_packs(Path(archive.folder)) < growth * 1_000 * growth.bit_length() + growth * 2_000


def test_what_was_swallowed_is_dropped(archive: Archive, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rewrite, "_LEAST_DEAD", 100_000)
    monkeypatch.setattr(steady, "TICK_NS", 0)
    random = Random(3)
    for _ in range(100):
        with file.open("ab") as out:
            out.write(random.randbytes(10_000))
        keep(archive, file)
    size = file.stat().st_size
    assert size_of_packs(Path(archive.folder)) < size * 1.6
    assert contents(archive) == {str(file): [file.read_bytes()]}


def test_a_file_that_is_rewritten_has_versions(archive: Archive, file: Path) -> None:
    states = [b"one\ntwo\n", b"one\nthree\n", b"", b"one\ntwo\n"]
    for state in states:
        file.write_bytes(state)
        keep(archive, file)
    assert contents(archive) == {str(file): [b"one\ntwo\n", b"one\nthree\n", b"one\ntwo\n"]}
    times = [version.kept_at for version in archive.versions(str(file))]
    assert times == sorted(times)
    assert archive.totals().versions == 3


def test_the_same_content_is_there_once(archive: Archive, tmp_path: Path) -> None:
    content = Random(4).randbytes(100_000)
    files = [tmp_path / f"{number}.jsonl" for number in range(10)]
    for path in files:
        path.write_bytes(content)
    keep_all(archive, files)
    assert size_of_packs(Path(archive.folder)) < 110_000
    assert contents(archive) == {str(path): [content] for path in files}


def test_names_that_are_no_text_are_kept(archive: Archive, tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/\xff\xfe \xe2\x82 odd\n.jsonl"
    name = os.fsdecode(path)
    Path(name).write_bytes(b"odd")
    with archive.writing() as writer:
        assert writer.keep(AGENT, os.fsdecode(b"/home/\xff"), name)
    (version,) = archive.versions(name)
    assert archive.newest([os.fsdecode(b"/home/\xff")]) == {name: version}
    assert archive.content(version) == b"odd"
    (Path(archive.folder) / "manifest.db").unlink()
    assert to_be_closed(Archive(archive.folder)).newest() == {name: version}


def test_homes_are_told_apart(archive: Archive, tmp_path: Path) -> None:
    with archive.writing() as writer:
        for home, name, content in (("/a", "x", b"1"), ("/a", "y", b"22"), ("/b", "z", b"333")):
            path = tmp_path / name
            path.write_bytes(content)
            assert writer.keep(AGENT, home, str(path))
        (tmp_path / "y").write_bytes(b"4444")
        assert writer.keep(AGENT, "/a", str(tmp_path / "y"))
    assert set(archive.newest(["/b"])) == {str(tmp_path / "z")}
    told = [(home.agent, home.folder, home.is_imported, home.files, home.size) for home in archive.homes()]
    assert told == [(AGENT, "/a", False, 2, 5), (AGENT, "/b", False, 1, 3)]


@pytest.mark.parametrize("kind", ["missing", "folder", "link", "pipe"])
def test_only_plain_files_are_kept(archive: Archive, file: Path, kind: str) -> None:
    match kind:
        case "folder":
            file.mkdir()
        case "link":
            (file.parent / "target").write_bytes(b"secret")
            file.symlink_to("target")
        case "pipe":
            os.mkfifo(file)
        case _:
            pass
    with archive.writing() as writer, pytest.raises(OSError, match=r".") as raised:
        writer.keep(AGENT, HOME, str(file))
    assert isinstance(raised.value, FileNotFoundError) is (kind == "missing")
    assert archive.newest() == {}


def test_all_is_private_whatever_is_masked(archive: Archive, file: Path) -> None:
    file.write_bytes(b"one")
    for mask in (0o777, 0o000):
        before = os.umask(mask)
        try:
            keep(archive, file)
            archive.newest()
        finally:
            os.umask(before)
        file.write_bytes(b"other")
    folder = Path(archive.folder)
    for path in (folder, *folder.rglob("*")):
        mode = stat.S_IMODE(path.stat().st_mode)
        assert mode == (0o700 if path.is_dir() else 0o600), path
    assert stat.S_IMODE(folder.parent.stat().st_mode) == 0o700


def test_many_packs_hold_what_one_cannot(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packs, "LIMIT", 100_000)
    monkeypatch.setattr(keeper, "LONGEST_SEGMENT", 30_000)
    random = Random(5)
    files = [tmp_path / f"{number}.jsonl" for number in range(12)]
    for path in files:
        path.write_bytes(random.randbytes(random.randrange(200_000)))
    keep_all(archive, files)
    assert archive.totals().packs > 5
    for path in files[:6]:
        with path.open("ab") as out:
            out.write(random.randbytes(70_000))
    keep_all(archive, files)
    assert contents(archive) == {str(path): [path.read_bytes()] for path in files}
    known = archive.newest()
    (Path(archive.folder) / "manifest.db").unlink()
    assert to_be_closed(Archive(archive.folder)).newest() == known


HUGE = """
import sys
from geminids.storage.archive.archive import Archive
archive = Archive(sys.argv[1])
with archive.writing() as writer:
    version = writer.keep("gemini", "/home", sys.argv[2])
size = sum(len(piece) for piece in archive.pieces(version))
# What the system counts for a process also counts what started it.
lines = open("/proc/self/status").read().splitlines()
print(size, next(int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")))
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not tell")
def test_a_huge_file_takes_little_memory(archive: Archive, file: Path) -> None:
    with file.open("wb") as out:
        out.truncate(200_000_000)
        out.seek(90_000_000)
        out.write(Random(6).randbytes(30_000_000))
    line = [sys.executable, "-c", HUGE, archive.folder, str(file)]
    told = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60).stdout
    size, megabytes = map(int, told.split())
    assert size == 200_000_000
    assert megabytes < 80


def test_what_is_removed_is_nowhere(archive: Archive, tmp_path: Path) -> None:
    shared = b"shared words " * 50
    secret, other, copy = (tmp_path / name for name in ("secret-name.jsonl", "other.jsonl", "copy.jsonl"))
    secret.write_bytes(b"the xylophone plan\n" + shared)
    other.write_bytes(b"harmless\n")
    keep_all(archive, [secret, other])
    with secret.open("ab") as out:
        out.write(b"more of the zeppelin plan\n" * 3)
    keep_all(archive, [secret])
    copy.write_bytes(secret.read_bytes())
    keep_all(archive, [copy])
    secret.write_bytes(b"the rewritten quokka plan\n")
    keep_all(archive, [secret])
    assert b"xylophone" in unpacked_bytes(Path(archive.folder))
    before = archive.identity()

    with archive.writing() as writer:
        freed = remove(writer, [version.number for version in archive.versions(str(secret))])
    assert freed > 0
    left = unpacked_bytes(Path(archive.folder))
    assert b"secret-name" not in left
    assert b"quokka" not in left
    assert archive.content(archive.newest()[str(copy)]) == copy.read_bytes()

    with archive.writing() as writer:
        remove(writer, [version.number for version in archive.versions(str(copy))])
    left = unpacked_bytes(Path(archive.folder))
    for word in (b"xylophone", b"zeppelin", b"shared words", b"copy.jsonl"):
        assert word not in left, word
    assert contents(archive) == {str(other): [b"harmless\n"]}
    assert archive.identity() == (before[0], before[1] + 2)
    (Path(archive.folder) / "manifest.db").unlink()
    assert contents(to_be_closed(Archive(archive.folder))) == {str(other): [b"harmless\n"]}


def test_the_last_copy_can_be_removed_and_others_kept_after_it(archive: Archive, file: Path) -> None:
    file.write_bytes(b"one")
    version = keep(archive, file)
    with archive.writing() as writer:
        assert remove(writer, [version.number, 77]) > 0
        assert remove(writer, [version.number]) == 0
    assert archive.totals().packs == 0
    assert archive.exists()
    keep(archive, file)
    assert contents(archive) == {str(file): [b"one"]}


def test_keeping_does_not_count_as_a_change(archive: Archive, file: Path) -> None:
    file.write_bytes(b"one")
    keep(archive, file)
    identity = archive.identity()
    assert len(identity[0]) == 32
    file.write_bytes(b"two")
    keep(archive, file)
    assert archive.identity() == identity
    archive.close()
    assert archive.identity() == identity


ASKED = """
import sys
from geminids.storage.archive.archive import Archive
archive = Archive(sys.argv[1])
archive.identity()
loaded = {name for name in sys.modules if name.startswith("geminids.storage.archive.")}
archive.newest()
archive.totals()
heavy = {"backports.zstd", "hashlib", "tarfile", "concurrent.futures", "threading", "pathlib", "msgspec"}
light = {f"geminids.storage.archive.{name}" for name in ("archive", "failures", "values")}
print(*loaded - light, *heavy & set(sys.modules))
"""


def test_who_only_asks_loads_little(archive: Archive, file: Path) -> None:
    file.write_bytes(b"one")
    keep(archive, file)
    process = [sys.executable, "-S", "-c", ASKED, archive.folder]
    environment = {"PYTHONPATH": os.pathsep.join(map(str, sys.path))}
    told = subprocess.run(process, capture_output=True, text=True, check=True, timeout=30, env=environment)
    assert told.stdout.split() == []
