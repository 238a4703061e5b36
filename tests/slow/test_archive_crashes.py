"""Processes that are killed, write at once, or have no room: what was durable stays, nothing is torn."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from geminids.storage.archive.archive import Archive
from geminids.storage.archive.failures import (
    ArchiveFullError,
    BusyArchiveError,
    DamagedCopyError,
    FailedToKeepError,
)
from geminids.storage.archive.lock import alone
from geminids.storage.archive.rewrite import remove
from geminids.storage.archive.verification import verify
from tests.conftest import ROOT
from tests.support import kept_states
from tests.support.archives import AGENT, contents, keep_all
from tests.support.connections import to_be_closed

KILLS = 50
KEEPS = 100


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A process that is ready, and that is gone at the end."""
    line = [sys.executable, "-m", "tests.support.kept_states", *arguments]
    running = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout
        assert running.stdout.readline() == "ready\n"
        yield running
    finally:
        running.kill()
        running.wait()
        if running.stdout:
            running.stdout.close()


def test_whoever_is_killed_loses_nothing_that_was_durable(tmp_path: Path) -> None:
    random = Random(42)
    home = tmp_path / "home"
    home.mkdir()
    killed_within = 0
    for number in range(KILLS):
        # A new one now and then: all of it is read each time.
        kept = tmp_path / f"kept-{number // 10}"
        with process("keep", str(kept), str(home), str(number)) as running:
            told = []
            if random.random() < 0.7:
                # Not only while the first ones are kept.
                assert running.stdout
                told.append(running.stdout.readline())
            time.sleep(random.random() * 0.1)
            running.kill()
            told += running.communicate()[0].splitlines()
        killed_within += bool(told)
        _check(kept, told)
        if number % 10 == 9:
            _check_rebuilt(kept, tmp_path / "copy")
    assert killed_within > KILLS // 5
    archive = to_be_closed(Archive(str(kept)))
    files = sorted(home.iterdir())
    keep_all(archive, files)
    for path in files:
        assert archive.content(archive.newest()[str(path)]) == path.read_bytes()


def _check(kept: Path, durable: list[str]) -> None:
    archive = to_be_closed(Archive(str(kept)))
    verified = verify(archive, lambda _: None)
    assert not verified.damage
    assert not verified.mended
    assert archive.said == []
    states = contents(archive)
    for path, versions in states.items():
        assert all(kept_states.is_state(Path(path).name, content) for content in versions)
    # Of the last round that was told, one version may have been removed in the round that was not.
    last = {words[0]: words for line in durable if len(words := line.split()) == 3}
    lost = [path for path, words in last.items() if not _is_there(states.get(path, []), *words[1:])]
    assert len(lost) <= 1
    assert not list((kept / "packs").glob("*.new"))


def _is_there(versions: list[bytes], digest: str, size: str) -> bool:
    return any(sha256(content[: int(size)]).hexdigest() == digest for content in versions)


def _check_rebuilt(kept: Path, copy: Path) -> None:
    before = contents(to_be_closed(Archive(str(kept))))
    shutil.copytree(kept, copy)
    (copy / "manifest.db").unlink()
    assert contents(to_be_closed(Archive(str(copy)))) == before
    shutil.rmtree(copy)


@pytest.mark.parametrize("how", ["append", "overwrite"])
def test_a_file_that_is_being_written_is_never_kept_torn(tmp_path: Path, how: str) -> None:
    archive, path = to_be_closed(Archive(str(tmp_path / "kept"))), tmp_path / "file.jsonl"
    is_whole = kept_states.is_document
    if how == "append":

        def is_whole(content: bytes) -> bool:
            return kept_states.is_state(path.name, content)

    kept = 0
    with process(how, str(path)), archive.writing() as writer:
        for _ in range(KEEPS):
            version = writer.keep(AGENT, str(tmp_path), str(path))
            if version is None:
                continue
            kept += 1
            writer.commit()
            assert is_whole(archive.content(version))
    assert kept > KEEPS // 10
    for version in archive.versions(str(path)):
        assert is_whole(archive.content(version))


def test_who_reads_while_packs_are_written_anew_gets_what_is_there(tmp_path: Path) -> None:
    kept, home = tmp_path / "kept", tmp_path / "home"
    home.mkdir()
    reader = to_be_closed(Archive(str(kept)))
    read = 0
    with process("keep", str(kept), str(home), "1"):
        until = time.monotonic() + 3
        while time.monotonic() < until:
            for path, version in reader.newest().items():
                try:
                    content = reader.content(version)
                except DamagedCopyError:
                    # The process removes some of them.
                    assert version.number not in {kept.number for kept in reader.versions(path)}
                    continue
                assert kept_states.is_state(Path(path).name, content)
                read += 1
    assert read > 20
    assert reader.said == []


class Rewritten(NamedTuple):
    """An archive before and after a copy was removed, and what is left of it."""

    before: Path
    after: Path
    left: dict[str, list[bytes]]


@pytest.fixture
def rewritten(tmp_path: Path) -> Rewritten:
    archive = to_be_closed(Archive(str(tmp_path / "kept")))
    files = [tmp_path / f"{number}.jsonl" for number in range(3)]
    for path in files:
        path.write_bytes(path.name.encode() * 100)
    gone, *_ = keep_all(archive, files)
    before = Path(shutil.copytree(archive.folder, tmp_path / "before"))
    with archive.writing() as writer:
        remove(writer, [gone.number])
    archive.close()
    return Rewritten(before, Path(archive.folder), {str(path): [path.read_bytes()] for path in files[1:]})


def packs_of(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "packs").iterdir())


@pytest.mark.parametrize("has_list", [True, False])
def test_a_pack_that_was_replaced_never_comes_back(rewritten: Rewritten, *, has_list: bool) -> None:
    """Killed before the old pack was removed."""
    assert packs_of(rewritten.after) == ["000002.pack"]
    shutil.copy(rewritten.before / "packs" / "000001.pack", rewritten.after / "packs")
    if not has_list:
        (rewritten.after / "manifest.db").unlink()
    archive = to_be_closed(Archive(str(rewritten.after)))
    assert contents(archive) == rewritten.left
    keep_all(archive, [])
    assert contents(archive) == rewritten.left
    assert packs_of(rewritten.after) == ["000002.pack"]


@pytest.mark.parametrize("name", ["000002.pack", "000002.pack.new"])
def test_a_pack_that_was_to_replace_others_goes(rewritten: Rewritten, name: str) -> None:
    """Killed before the list was switched, or before the new pack was whole."""
    shutil.copy(rewritten.after / "packs" / "000002.pack", rewritten.before / "packs" / name)
    archive = to_be_closed(Archive(str(rewritten.before)))
    assert len(contents(archive)) == 3
    keep_all(archive, [])
    assert len(contents(archive)) == 3
    assert packs_of(rewritten.before) == ["000001.pack"]
    assert not verify(archive, lambda _: None).damage


def test_two_who_write_wait_for_each_other(tmp_path: Path) -> None:
    random = Random(7)
    homes = [tmp_path / "one", tmp_path / "other"]
    for home in homes:
        home.mkdir()
        for number in range(20):
            (home / f"{number}.jsonl").write_bytes(random.randbytes(random.randrange(30_000)))
            os.utime(home / f"{number}.jsonl", (1, 1))
    kept = str(tmp_path / "kept")
    with process("folder", kept, str(homes[0])) as one, process("folder", kept, str(homes[1])) as other:
        reader = to_be_closed(Archive(kept))
        while one.poll() is None or other.poll() is None:
            # Who reads meanwhile gets what is there, and never an error.
            assert all(reader.content(version) for version in reader.newest().values() if version.size)
        assert (one.returncode, other.returncode) == (0, 0)
    archive = to_be_closed(Archive(kept))
    files = [path for home in homes for path in home.iterdir()]
    assert contents(archive) == {str(path): [path.read_bytes()] for path in files}
    assert not verify(archive, lambda _: None).damage


def test_who_waits_too_long_is_told_for_whom(tmp_path: Path) -> None:
    archive = to_be_closed(Archive(str(tmp_path / "kept")))
    told: list[str] = []
    with alone(archive.folder, 0):
        began = time.monotonic()
        with pytest.raises(BusyArchiveError, match=f"process {os.getpid()}"):
            archive.writing(1.2, told.append).__enter__()
        assert time.monotonic() - began < 5
    assert told == [f"process {os.getpid()}"]


FULL = """
import os, resource, signal, sys
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.failures import ArchiveFullError
kept, home, limit = sys.argv[1:]
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
archive = Archive(kept)
try:
    with archive.writing() as writer:
        for name in sorted(os.listdir(home)):
            writer.keep("gemini", home, f"{home}/{name}")
except ArchiveFullError as error:
    print(error)
"""


@pytest.mark.parametrize("limit", [1_000, 9_000, 30_000, 50_000, 100_000, 150_000])
def test_a_full_disk_costs_nothing_that_was_kept(tmp_path: Path, limit: int) -> None:
    random = Random(limit)
    home = tmp_path / "home"
    home.mkdir()
    files = [home / f"{number:03}.jsonl" for number in range(80)]
    for path in files:
        path.write_bytes(random.randbytes(3_000))
    archive = to_be_closed(Archive(str(tmp_path / "kept")))
    keep_all(archive, files[:5])
    line = [sys.executable, "-c", FULL, archive.folder, str(home), str(limit)]
    told = subprocess.run(line, capture_output=True, text=True, check=True, timeout=60, cwd=ROOT).stdout
    assert "the disk is full" in told
    _check_what_is_left(archive, files[:5])
    keep_all(archive, files)
    assert contents(archive) == {str(path): [path.read_bytes()] for path in files}


def _check_what_is_left(archive: Archive, files: list[Path]) -> None:
    assert contents(archive) == {str(path): [path.read_bytes()] for path in files}
    verified = verify(archive, lambda _: None)
    assert (verified.damage, verified.mended) == ([], [])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk that is soon full."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no disk can be mounted here: only limits on the size of files are tested")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_disk_that_is_really_full_costs_nothing_that_was_kept(small_disk: Path, tmp_path: Path) -> None:
    random = Random(3)
    files = [tmp_path / f"{number:03}.jsonl" for number in range(80)]
    for path in files:
        path.write_bytes(random.randbytes(30_000))
    archive = to_be_closed(Archive(str(small_disk / "kept")))
    keep_all(archive, files[:5])
    for _ in range(3):
        with pytest.raises(ArchiveFullError):
            keep_all(archive, files)
        _check_what_is_left(archive, files[:5])
    # Nothing of it is left to fill the disk: smaller files can be kept.
    keep_all(archive, files[5:10])
    _check_what_is_left(archive, files[:10])
    archive.close()


def test_a_folder_that_is_closed_is_said(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("nothing is closed to this user")
    (tmp_path / "data").mkdir(mode=0o500)
    with pytest.raises(FailedToKeepError, match="Permission denied"):
        keep_all(to_be_closed(Archive(str(tmp_path / "data" / "kept"))), [])
