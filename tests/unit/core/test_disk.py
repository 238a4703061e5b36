"""What is gone from the disk is read from kept copies, as if it still lay there.

The copies here are a plain mapping: where they come from is the archive's business.
"""

from __future__ import annotations

import ast
import os
import random
import shutil
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from geminids.core import agents
from geminids.core.agents.base import Bundle, CompanionFile, Companions, FoundFile, Home, Reading, Scan
from geminids.core.agents.homes import disk_of
from geminids.core.agents.traces import trace
from geminids.core.disk import KEPT_INODE, REAL, Disk
from geminids.core.errors import GeminidsError
from geminids.core.model import Companion, CompanionKind, Problem, Session
from geminids.query.search.record_files import RecordFiles
from geminids.query.search.snippets import Cutter
from geminids.query.sessions.homes_reader import HomesReader
from geminids.reading.bundles import read_beside, read_bundle, shelves
from geminids.reading.texts import text_beside
from geminids.storage.archive.disk import KeptDisk
from geminids.storage.text.words import Want
from tests.conftest import FIXTURES, ROOT, Rights
from tests.support.codex_homes import THREAD, meta, name_of, said, write_rollout
from tests.support.toys import installed, write_talk

AGENTS = ("claude", "codex", "gemini")
CASES = sorted(home.parent for agent in AGENTS for home in FIXTURES.glob(f"{agent}/*/home"))


class Copy(NamedTuple):
    """A copy as an archive might have it."""

    home: str
    path: str
    size: int
    mtime_ns: int
    mode: int
    content: bytes
    kept_at: int = 0


def copies_of(folder: Path) -> dict[str, Copy]:
    """A copy of every file below a folder."""
    found: dict[str, Copy] = {}
    for above, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(above, name)  # noqa: PTH118 - names may be no text
            facts = os.lstat(path)
            content = Path(path).read_bytes()
            found[path] = Copy(str(folder), path, len(content), facts.st_mtime_ns, facts.st_mode, content)
    return found


def _content(copy: Copy) -> bytes:
    return copy.content


def _never_moved(_: str) -> None:
    return None


def disk_with(
    copies: Mapping[str, Copy], moved_name: Callable[[str], str | None] = _never_moved
) -> KeptDisk[Copy]:
    """A disk that has these copies."""
    return KeptDisk(lambda: copies, _content, moved_name)


class Seen(NamedTuple):
    """All that a reader makes of a home."""

    scans: list[Any]
    readings: list[Reading]
    whole: list[Session]


def seen(homes: Iterable[Home], disk: Disk) -> Seen:
    """What is read of homes through a disk, apart from how the files were come by."""
    found = [home._replace(disk=disk) for home in homes]
    scans = [agents.load(home.agent).scan(home) for home in found]
    # What becomes of a file is asked only of those that are there.
    readings = [msgspec.structs.replace(reading, fates=()) for reading in _readings(scans)]
    sessions = [session for reading in readings for session in reading.sessions]
    whole = [agents.load(session.agent).companions().with_outputs(session, disk) for session in sessions]
    return Seen([_plain(scan) for scan in scans], readings, whole)


def _readings(scans: Sequence[Scan]) -> Iterator[Reading]:
    for shelf in shelves(scans):
        source = agents.load(shelf.companions.agent)
        read = [source.read(bundle) for bundle in shelf.bundles]
        yield from read
        traces = [trace(session) for reading in read for session in reading.sessions]
        yield source.companions().read_beside(shelf.companions, traces, None)


def _plain(value: Any) -> Any:
    """A value without inodes and disks."""
    match value:
        case FoundFile() | CompanionFile():
            return msgspec.structs.replace(value, inode=0)
        case Bundle() | Companions():
            return {
                name: _plain(one) for name, one in msgspec.structs.asdict(value).items() if name != "disk"
            }
        case Scan():
            return {name: _plain(one) for name, one in msgspec.structs.asdict(value).items()}
        case dict():
            return {key: _plain(one) for key, one in value.items()}
        case tuple():
            return tuple(map(_plain, value))
        case _:
            return value


@pytest.fixture(params=CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def homes(request: pytest.FixtureRequest, tmp_path: Path) -> list[Home]:
    """The homes of a fixture, where files may be deleted."""
    case: Path = request.param
    shutil.copytree(case / "home", tmp_path / "home")
    return list(agents.load(case.parent.name).homes_below(str(tmp_path / "home")))


def source_name(homes: Sequence[Home]) -> Callable[[str], str | None]:
    """What stays the same of files of these homes."""
    return agents.load(homes[0].agent).files().moved_name


@pytest.mark.slow
def test_a_home_that_is_gone_is_read_as_before(homes: list[Home], tmp_path: Path) -> None:
    before = seen(homes, REAL)
    disk = disk_with(copies_of(tmp_path / "home"), source_name(homes))
    assert seen(homes, disk) == before
    shutil.rmtree(tmp_path / "home")
    assert seen(homes, disk) == before
    gone = HomesReader([home._replace(disk=disk) for home in homes]).bundles()
    assert not any(read_bundle(bundle, with_fates=True).fates for bundle in gone)
    sessions = [session for reading in marked(homes, disk) for session in reading.sessions]
    assert all(session.kept and all(file.kept for file in session.files) for session in sessions)


def marked(homes: Iterable[Home], disk: Disk) -> Iterator[Reading]:
    """Everything as the library reads it."""
    return HomesReader([home._replace(disk=disk) for home in homes]).readings()


@pytest.mark.parametrize("seed", [1, 2])
def test_a_home_with_gaps_is_read_as_before(homes: list[Home], tmp_path: Path, seed: int) -> None:
    before = seen(homes, REAL)
    copies = copies_of(tmp_path / "home")
    chance = random.Random(seed)
    gone = {path for path in sorted(copies) if chance.random() < 0.5}
    for path in gone:
        Path(path).unlink()
    disk = disk_with(copies, source_name(homes))
    assert seen(homes, disk) == before
    for reading in marked(homes, disk):
        for session in reading.sessions:
            assert {file.path for file in session.files if file.kept} == gone & {
                f.path for f in session.files
            }
            places = [{m.source.file, *(s.file for s in m.also_at)} for m in session.messages]
            own = {file.path for file in session.files}
            # Logs of what was typed are files of no session that has others.
            held = [where & own for where in places if where & own]
            assert session.kept == any(where <= gone for where in held or [own])


def test_a_folder_that_is_gone_is_read_as_before(homes: list[Home], tmp_path: Path) -> None:
    before = seen(homes, REAL)
    copies = copies_of(tmp_path / "home")
    folders = {str(Path(path).parent) for path in copies}
    for folder in random.Random(3).sample(sorted(folders), min(2, len(folders))):
        shutil.rmtree(folder, ignore_errors=True)
    assert seen(homes, disk_with(copies, source_name(homes))) == before


def test_some_folders_of_a_home_that_is_gone_are_scanned_as_before(homes: list[Home], tmp_path: Path) -> None:
    source = agents.load(homes[0].agent)
    disk = disk_with(copies_of(tmp_path / "home"), source.files().moved_name)
    folders = [sorted(source.footprint(home).keys() - {home.folder}) for home in homes]
    before = [
        [_plain(source.scan(home, only=[folder])) for folder in own]
        for home, own in zip(homes, folders, strict=True)
    ]
    shutil.rmtree(tmp_path / "home")
    after = [
        [_plain(source.scan(home._replace(disk=disk), only=[folder])) for folder in own]
        for home, own in zip(homes, folders, strict=True)
    ]
    assert after == before


# Notes


def test_what_gemini_notes_of_its_projects_is_named(tmp_path: Path) -> None:
    home = tmp_path / ".gemini"
    notes = ["projects.json", "trustedFolders.json", "history/shop/.project_root"]
    for name in (*notes, "tmp/shop/.project_root", "tmp/shop/chats/session-2026-05-01T10-00-1234abcd.jsonl"):
        write(home / name, b"{}")
    write(home / "history" / "shop" / "other", b"")
    (home / "history" / "linked").mkdir()
    (home / "history" / "linked" / ".project_root").symlink_to(home / "projects.json")
    found = Home("gemini", str(home), "test")
    source = agents.load("gemini")
    every = source.scan(found)
    assert [str(note.path.relative_to(home)) for note in every.notes] == notes
    assert source.scan(found, only=[]).notes == every.notes
    assert [file.kind for file in every.companions[0].files] == [CompanionKind.MARKER]


def test_claude_opens_nothing_that_tells_of_sessions(tmp_path: Path) -> None:
    home = shutil.copytree(FIXTURES / "claude" / "plain" / "home", tmp_path / "home")
    (found,) = agents.load("claude").homes_below(str(home))
    assert agents.load("claude").scan(found).notes == ()


def test_what_codex_notes_of_names_is_named(tmp_path: Path) -> None:
    home = Path(shutil.copytree(FIXTURES / "codex" / "named" / "home", tmp_path / "home")) / ".codex"
    source, found = agents.load("codex"), Home("codex", str(home), "test")
    # What the index of names says, the database says as well.
    assert [note.path.name for note in source.scan(found).notes] == ["session_index.jsonl"]
    titles = [bundle.title for bundle in source.scan(found).bundles]
    (home / "session_index.jsonl").unlink()
    (database,) = source.scan(found, only=[]).notes
    assert database.path.name == "state_5.sqlite"
    disk = disk_with(copies_of(home))
    shutil.rmtree(home)
    assert [bundle.title for bundle in source.scan(found._replace(disk=disk)).bundles] == titles
    assert "Orchard talk" in titles


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0", b"x" * 4096], ids=["empty", "cut", "other"])
def test_a_copy_of_a_database_that_is_none_is_at_most_a_problem(tmp_path: Path, content: bytes) -> None:
    write_rollout(tmp_path, [meta(), said("hello")])
    write(tmp_path / ".codex" / "state_5.sqlite", content)
    disk = disk_with(copies_of(tmp_path))
    shutil.rmtree(tmp_path / ".codex")
    scan = agents.load("codex").scan(Home("codex", str(tmp_path / ".codex"), "test", disk))
    assert [bundle.title for bundle in scan.bundles] == [None]


# Rollouts that are moved


def codex_sessions(home: Path, copies: Mapping[str, Copy]) -> list[Session]:
    """The sessions of a Codex home that some copies are kept of."""
    disk = disk_with(copies, agents.load("codex").files().moved_name)
    readings = marked([Home("codex", str(home / ".codex"), "test")], disk)
    return [session for reading in readings for session in reading.sessions]


def archived(path: Path) -> Path:
    return path.parents[4] / "archived_sessions" / path.name


def packed(path: Path) -> Path:
    return path.with_name(f"{path.name}.zst")


@pytest.mark.parametrize("is_known", [False, True], ids=["not kept yet", "kept"])
@pytest.mark.parametrize("moved", [archived, packed])
def test_a_rollout_that_was_moved_is_not_gone(
    tmp_path: Path, moved: Callable[[Path], Path], *, is_known: bool
) -> None:
    path = write_rollout(tmp_path, [meta(), said("hello")])
    copies = copies_of(tmp_path)
    write(moved(path), content_moved(path, moved(path)))
    path.unlink()
    if is_known:
        copies |= copies_of(tmp_path)
    (session,) = codex_sessions(tmp_path, copies)
    assert not session.kept
    assert [file.path for file in session.files] == [str(moved(path))]


def content_moved(path: Path, to: Path) -> bytes:
    content = path.read_bytes()
    if to.suffix != ".zst":
        return content
    zstd = import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    packed_content: bytes = zstd.compress(content)
    return packed_content


def test_of_a_rollout_that_was_kept_in_several_places_one_is_left(tmp_path: Path) -> None:
    path = write_rollout(tmp_path, [meta(), said("hello")])
    for to in (archived(path), packed(path)):
        write(to, content_moved(path, to))
    copies = copies_of(tmp_path)
    shutil.rmtree(tmp_path / ".codex")
    (session,) = codex_sessions(tmp_path, copies)
    assert session.kept
    assert len(session.files) == 1


def test_a_rollout_in_another_home_is_another_one(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_rollout(tmp_path / name, [meta(), said("hello")])
    copies = copies_of(tmp_path / "one") | copies_of(tmp_path / "two")
    shutil.rmtree(tmp_path / "one")
    (session,) = codex_sessions(tmp_path / "one", copies)
    assert session.kept


def test_only_codex_moves_its_files() -> None:
    moved = {name: agents.load(name).files().moved_name for name in AGENTS}
    path = f"/x/.codex/sessions/2026/11/15/{name_of(THREAD)}"
    assert moved["codex"](path) == moved["codex"](f"{path}.zst") == name_of(THREAD)
    assert moved["codex"](f"/x/.codex/archived_sessions/{name_of(THREAD)}") == name_of(THREAD)
    assert moved["codex"]("/x/.codex/session_index.jsonl") is None
    assert moved["gemini"](path) is None
    assert moved["claude"](path) is None


# The disk itself


def write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def names(disk: Disk, folder: Path) -> list[str]:
    """What a folder holds, folders with a slash."""
    entries = disk.entries(folder)
    assert [entry.path for entry in entries] == [os.path.join(folder, entry.name) for entry in entries]  # noqa: PTH118
    return [f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name for entry in entries]


def test_what_is_gone_stands_among_what_is_there(tmp_path: Path) -> None:
    for name in ("b", "d/e/f", "d/g", "h-i/j", "h/k", "z"):
        write(tmp_path / name, name.encode())
    disk = disk_with(copies_of(tmp_path))
    for name in ("b", "d/e/f", "h/k"):
        (tmp_path / name).unlink()
    (tmp_path / "h").rmdir()
    write(tmp_path / "c", b"new")
    assert names(disk, tmp_path) == ["b", "c", "d/", "h/", "h-i/", "z"]
    assert names(disk, tmp_path / "d") == ["e/", "g"]
    assert names(disk, tmp_path / "d" / "e") == ["f"]
    assert names(disk, tmp_path / "h") == ["k"]
    assert disk.read(tmp_path / "d" / "e" / "f") == b"d/e/f"
    with disk.opened(str(tmp_path / "b")) as opened:
        assert (opened.seek(0, os.SEEK_END), opened.seek(0), opened.read(1)) == (1, 0, b"b")
    facts = disk.facts(tmp_path / "b")
    assert (facts.st_size, facts.st_ino, oct(facts.st_mode)) == (1, KEPT_INODE, "0o100600")
    assert disk.is_file(tmp_path / "b")
    assert disk.is_folder(tmp_path / "h")
    assert not disk.is_folder(tmp_path / "b")


def test_what_is_there_counts(tmp_path: Path) -> None:
    write(tmp_path / "a", b"old")
    write(tmp_path / "folder" / "b", b"old")
    disk = disk_with(copies_of(tmp_path))
    write(tmp_path / "a", b"newer")
    assert disk.read(tmp_path / "a") == b"newer"
    assert disk.facts(tmp_path / "a").st_ino == os.lstat(tmp_path / "a").st_ino
    shutil.rmtree(tmp_path / "folder")
    write(tmp_path / "folder", b"no folder any more")
    assert names(disk, tmp_path) == ["a", "folder"]
    assert disk.read(tmp_path / "folder" / "b") == b"old"


def test_what_was_never_there_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "a", b"")
    disk = disk_with(copies_of(tmp_path))
    missing = tmp_path / "missing"
    asked: list[Callable[[Path], object]] = [disk.entries, disk.facts, disk.read, disk.opened]
    for ask in asked:
        with pytest.raises(FileNotFoundError):
            ask(missing)
    assert not disk.is_there(missing)
    assert not disk.is_file(missing)
    assert not disk.is_there(tmp_path / "a\0")
    with pytest.raises(NotADirectoryError):
        disk.entries(tmp_path / "a")


def test_no_link_is_followed_and_no_pipe_is_waited_for(tmp_path: Path) -> None:
    write(tmp_path / "secret", b"secret")
    for name in ("linked", "pipe", "lost"):
        write(tmp_path / name, b"kept")
    disk = disk_with(copies_of(tmp_path))
    for name in ("linked", "pipe", "lost"):
        (tmp_path / name).unlink()
    (tmp_path / "linked").symlink_to(tmp_path / "secret")
    (tmp_path / "lost").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("linked", "pipe", "lost"):
        with pytest.raises(OSError, match=r"symbolic links|not a regular file"):
            REAL.read(tmp_path / name)
        assert not REAL.is_file(tmp_path / name)
        # Of what was there before, there is a copy.
        assert disk.read(tmp_path / name) == b"kept"
        assert disk.is_file(tmp_path / name)
    assert not [entry.name for entry in disk.entries(tmp_path) if entry.is_symlink()]


def test_an_output_is_not_read_where_a_link_leads_out_of_the_project(tmp_path: Path) -> None:
    """A folder of outputs that is a link now is not gone, and what lies there is not the project's."""
    home = Path(shutil.copytree(FIXTURES / "gemini" / "long-output" / "home", tmp_path / "home"))
    (found,) = agents.load("gemini").homes_below(str(home))
    disk = disk_with(copies_of(home))
    sessions = [session for reading in marked([found], disk) for session in reading.sessions]
    source = agents.load("gemini")
    assert any(moved_in(source.companions().with_outputs(session, disk)) for session in sessions)
    for outputs in list(home.rglob("tool-outputs")):
        shutil.move(outputs, tmp_path / "elsewhere")
        outputs.symlink_to(tmp_path / "elsewhere")
    assert not any(moved_in(source.companions().with_outputs(session, disk)) for session in sessions)
    for outputs in list(home.rglob("tool-outputs")):
        outputs.unlink()
    assert any(moved_in(source.companions().with_outputs(session, disk)) for session in sessions)


def moved_in(session: Session) -> list[str]:
    calls = (call for message in session.messages for call in message.tool_calls)
    return [call.full_output.path for call in calls if call.full_output]


def test_nothing_is_concluded_from_a_closed_folder(tmp_path: Path, without_privileges: Rights) -> None:
    write(tmp_path / "closed" / "a", b"kept")
    write(tmp_path / "closed file", b"kept")
    disk = disk_with(copies_of(tmp_path))
    (tmp_path / "closed").chmod(0)
    (tmp_path / "closed file").chmod(0)
    asked: list[Callable[[Path], object]] = [disk.entries, disk.facts, disk.read, disk.opened]
    with without_privileges():
        for ask in asked:
            with pytest.raises(PermissionError):
                ask(tmp_path / "closed" / "a")
        with pytest.raises(PermissionError):
            disk.entries(tmp_path / "closed")
        with pytest.raises(PermissionError):
            disk.read(tmp_path / "closed file")
        assert not disk.is_there(tmp_path / "closed" / "a")
        assert not disk.has_copies_below(tmp_path / "closed")
    (tmp_path / "closed").chmod(0o700)


@pytest.mark.parametrize("case", ["claude/plain", "codex/plain", "gemini/loop"])
def test_sessions_in_a_closed_folder_are_not_taken_for_gone(
    case: str, tmp_path: Path, without_privileges: Rights
) -> None:
    home = Path(shutil.copytree(FIXTURES / case / "home", tmp_path / "home"))
    source = agents.load(case.partition("/")[0])
    disk = disk_with(copies_of(home), source.files().moved_name)
    (found,) = (one._replace(disk=disk) for one in source.homes_below(str(home)))
    closed = {file.path.parent for bundle in source.scan(found).bundles for file in bundle.files}
    for folder in closed:
        folder.chmod(0)
    with without_privileges():
        scan = source.scan(found)
    for folder in closed:
        folder.chmod(0o700)
    assert not scan.complete
    assert scan.bundles == ()


def test_names_that_are_no_text_are_names(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)  # noqa: PTH102 - no text
    Path(os.fsdecode(folder + b"/\xff.jsonl")).write_bytes(b"kept")
    disk = disk_with(copies_of(tmp_path))
    shutil.rmtree(folder)
    assert names(disk, tmp_path) == ["caf\udce9/"]
    (entry,) = disk.entries(tmp_path / "caf\udce9")
    assert (entry.name, disk.read(entry.path)) == ("\udcff.jsonl", b"kept")


def test_copies_are_looked_for_once_and_only_where_something_is_missing(tmp_path: Path) -> None:
    write(tmp_path / "a", b"kept")
    write(tmp_path / "b", b"there")
    copies, asked = copies_of(tmp_path), []

    def newest() -> Mapping[str, Copy]:
        asked.append(threading.current_thread().name)
        return copies

    (tmp_path / "a").unlink()
    disk = KeptDisk(newest, _content, _never_moved)
    disk.read(tmp_path / "b")
    assert disk.is_there(tmp_path / "b")
    assert asked == []
    contents: list[bytes] = []
    threads = [threading.Thread(target=lambda: contents.append(disk.read(tmp_path / "a"))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert contents == [b"kept"] * 8
    assert len(asked) == 1
    copies.clear()
    disk.look_again()
    assert not disk.is_there(tmp_path / "a")


def test_a_damaged_copy_is_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    write_rollout(tmp_path, [meta(), said("hello")])
    copies = copies_of(tmp_path)
    shutil.rmtree(tmp_path / ".codex")

    def refuse(_: Copy) -> bytes:
        raise GeminidsError("Its bytes are not those that were kept.")

    disk = KeptDisk(lambda: copies, refuse, _never_moved)
    (reading,) = marked([Home("codex", str(tmp_path / ".codex"), "test")], disk)
    assert reading.sessions == ()
    (problem,) = reading.problems
    assert problem.is_unreadable
    assert "not those that were kept" in problem.detail


def test_a_home_that_is_gone_is_known_to_have_copies(tmp_path: Path) -> None:
    write(tmp_path / "home" / "a" / "b", b"kept")
    disk = disk_with(copies_of(tmp_path))
    assert not disk.has_copies_below(tmp_path / "home")
    shutil.rmtree(tmp_path / "home")
    assert disk.has_copies_below(tmp_path / "home")
    assert not disk.has_copies_below(tmp_path / "hom")
    assert not REAL.has_copies_below(tmp_path / "home")


def test_the_disk_of_a_file_is_that_of_its_home(tmp_path: Path) -> None:
    disk = disk_with({})
    homes = [Home("gemini", "/x/.gemini", "test"), Home("gemini", "/x/.gemini/sub", "test", disk)]
    assert disk_of(homes, "/x/.gemini/sub/a") is disk
    assert disk_of(homes, "/x/.gemini/subs/a") is REAL
    assert disk_of([], "/x") is REAL


# Who asks


def test_a_snippet_is_cut_from_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "talk.jsonl"
    write(path, b'{"text": "green pears"}')
    disk = disk_with(copies_of(tmp_path))
    spans = "1:0:23"
    wanted = (Want("pears"),)

    def cut(disk: Disk | None) -> str | None:
        with RecordFiles({1: str(path)}, disk) as files:
            found = Cutter(files, wanted, 80).cut(spans, ("human",))
            return found.snippet.text if found else None

    assert cut(None) == cut(disk) == "green pears"
    path.unlink()
    assert cut(None) is None
    assert cut(disk) == "green pears"


def test_a_snippet_is_cut_from_a_copy_of_a_packed_rollout(tmp_path: Path) -> None:
    home = Path(shutil.copytree(FIXTURES / "codex" / "compressed" / "home", tmp_path / "home"))
    (found,) = agents.load("codex").homes_below(str(home))
    disk = disk_with(copies_of(home))
    sessions = [session for reading in marked([found], disk) for session in reading.sessions]
    place = next(
        message.source
        for session in sessions
        for message in session.messages
        if message.source.file.endswith(".zst")
    )
    shutil.rmtree(home)
    with RecordFiles({1: place.file}, disk) as files:
        assert Cutter(files, (), 80).cut(f"1:{place.start}:{place.end}", ()) is not None


def test_the_text_of_a_companion_that_is_gone_is_its_copy(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    write(path, b"# Plan")
    disk = disk_with(copies_of(tmp_path))
    companion = Companion(CompanionKind.PLAN, str(path), 6, None)
    path.unlink()
    assert isinstance(text_beside(companion), Problem)
    assert text_beside(companion, disk) == "# Plan"


def test_another_agent_is_read_from_copies_too(tmp_path: Path) -> None:
    with installed(tmp_path / "site"):
        write_talk(tmp_path)
        (home,) = agents.load("toy").homes_below(str(tmp_path))
        before = seen([home], REAL)
        disk = disk_with(copies_of(tmp_path / ".toy"), agents.load("toy").files().moved_name)
        shutil.rmtree(tmp_path / ".toy")
        assert seen([home], disk) == before
        assert len(before.whole) == 1


def test_only_what_was_read_from_copies_is_marked(tmp_path: Path) -> None:
    home = Path(shutil.copytree(FIXTURES / "gemini" / "saved-chats" / "home", tmp_path / "home"))
    (found,) = agents.load("gemini").homes_below(str(home))
    disk = disk_with(copies_of(home))
    gone = next(home.rglob("checkpoint-*.json"))
    gone.unlink()
    kept: set[str] = set()
    for shelf in shelves([agents.load("gemini").scan(found._replace(disk=disk))]):
        read = [read_bundle(bundle) for bundle in shelf.bundles]
        traces = [trace(session) for reading in read for session in reading.sessions]
        for reading in (*read, read_beside(shelf.companions, traces, None)):
            kept |= {
                file.path
                for session in reading.sessions
                if session.kept
                for file in session.files
                if file.kept
            }
            assert not any(
                file.kept for session in reading.sessions if not session.kept for file in session.files
            )
    assert kept == {str(gone)}


# That readers look at nothing but through a disk

LOOKS_BY_ITSELF = {
    "agents/claude/custody/installed.py": "tells which program is installed",
    "agents/claude/custody/resume.py": "tells what the CLI would find on the disk as it is",
    "agents/claude/footprint.py": "footprints are of the disk as it is, and have no time",
    "agents/claude/homes.py": "finds homes",
    "agents/codex/custody/resume.py": "tells what the CLI would find on the disk as it is",
    "agents/codex/homes.py": "finds homes",
    "agents/gemini/companions/copy_sessions.py": "dates files given by hand",
    "agents/gemini/custody/lookup.py": "tells what the CLI would find on the disk as it is",
    "agents/gemini/custody/offers.py": "tells what the CLI would find on the disk as it is",
    "agents/gemini/footprint.py": "footprints are of the disk as it is, and have no time",
    "agents/gemini/homes.py": "finds homes",
    "agents/gemini/reader.py": "reads files given by hand",
    "agents/claude/known_folders.py": "finds folders of projects",
    "core/agents/homes.py": "finds homes",
    "core/agents/install.py": "reads packages of geminids, and settings as they are",
    "core/agents/restore.py": "puts files back on the disk as it is",
    "reading/describe.py": "describes files given by hand",
    "reading/file_log.py": "dates files given by hand",
    "reading/peeks.py": "finds folders of projects",
    "reading/worked_in.py": "finds folders of projects",
    "reading/footprints.py": "footprints are of the disk as it is, and have no time",
}
"""Modules of the readers that look at the disk by themselves, and why they may."""
NOT_READING = ("project_folder", "fates", "forecast", "new_dates", "rescue", "restore", "settings")
"""Beginnings of the names of modules about what agents do with the disk as it is."""
_OF_OS = {"access", "listdir", "lstat", "open", "readlink", "scandir", "stat", "walk"}
_OF_OS_PATH = {"exists", "getmtime", "getsize", "isdir", "isfile", "islink", "lexists"}
_OF_PATHS = {
    "exists",
    "glob",
    "is_dir",
    "is_file",
    "iterdir",
    "lstat",
    "read_bytes",
    "read_text",
    "rglob",
    "stat",
}


def looks(call: ast.Call) -> bool:
    """Whether a call looks at the disk by itself; entries and disks are asked with arguments."""
    match call.func:
        case ast.Name("open"):
            return True
        case ast.Attribute(ast.Name("os"), name):
            return name in _OF_OS
        case ast.Attribute(ast.Attribute(ast.Name("os"), "path"), name):
            return name in _OF_OS_PATH
        case ast.Attribute(_, "open"):
            return bool(call.args) and isinstance(call.args[0], ast.Constant)
        case ast.Attribute(_, "glob" | "rglob"):
            return True
        case ast.Attribute(_, name):
            return name in _OF_PATHS and not call.args and not call.keywords
        case _:
            return False


def modules_that_look(*folders: str) -> Collection[str]:
    found, root = set(), ROOT / "src" / "geminids"
    for path in (path for folder in folders for path in (root / folder).rglob("*.py")):
        if path.parent.name == "custody" and path.name.startswith(NOT_READING):
            continue
        calls = (node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call))
        if any(map(looks, calls)):
            found.add(path.relative_to(root).as_posix())
    return found


def test_readers_look_at_agents_folders_through_a_disk_alone() -> None:
    assert modules_that_look("agents", "reading", "core/agents") == set(LOOKS_BY_ITSELF)
