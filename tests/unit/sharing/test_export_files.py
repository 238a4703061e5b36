"""Files that are written whole or not at all, and folders that are brought up to date."""

from __future__ import annotations

import errno
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from geminids.core.atomic_files import hold
from geminids.core.errors import DamagedManifestError, FileExistsAlreadyError
from geminids.library.custody.rescue import write_new
from geminids.sharing.export.base import Entry
from geminids.sharing.export.files import NewFile, write_file
from geminids.sharing.export.folder import MANIFEST, Done, Folder, Page, Refused
from geminids.sharing.export.private_files import PrivateFile, write_private
from geminids.sharing.export.stems import slug, stem
from tests.support.exporting import fixture_sessions, hostile_session


def listed(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_file_has_the_rights_that_all_files_of_the_user_have(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "a", [b"one", b"two"], force=False)
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"onetwo"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert listed(tmp_path) == ["a"]


def test_a_file_that_is_there_is_kept_unless_forced(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"mine")
    with pytest.raises(FileExistsAlreadyError, match="--force"):
        write_file(target, [b"new"], force=False)
    assert target.read_bytes() == b"mine"
    write_file(target, [b"new"], force=True)
    assert target.read_bytes() == b"new"


def test_a_name_that_is_taken_while_we_write_is_not_replaced(tmp_path: Path) -> None:
    target = tmp_path / "a"

    def pieces() -> Iterator[bytes]:
        yield b"ours"
        target.write_bytes(b"somebody else's")

    with pytest.raises(FileExistsAlreadyError):
        write_file(target, pieces(), force=False)
    assert target.read_bytes() == b"somebody else's"
    assert listed(tmp_path) == ["a"]


@pytest.mark.parametrize("force", [False, True])
def test_what_fails_in_the_middle_leaves_nothing(tmp_path: Path, force: bool) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise ValueError("broken")

    if force:
        (tmp_path / "a").write_bytes(b"before")
    with pytest.raises(ValueError, match="broken"):
        write_file(tmp_path / "a", pieces(), force=force)
    assert listed(tmp_path) == (["a"] if force else [])
    assert not force or (tmp_path / "a").read_bytes() == b"before"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"precious")
    (tmp_path / "a").symlink_to("elsewhere")
    with pytest.raises(FileExistsAlreadyError):
        write_file(tmp_path / "a", [b"new"], force=False)
    write_file(tmp_path / "a", [b"new"], force=True)
    assert (tmp_path / "elsewhere").read_bytes() == b"precious"
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_file(tmp_path / "pipe", [b"through"], force=False)
    reader.join(10)
    assert read == [b"through"]
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_the_longest_name_can_be_written(tmp_path: Path) -> None:
    target = tmp_path / ("語" * 84 + ".md")
    write_file(target, [b"x"], force=False)
    assert target.read_bytes() == b"x"


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from geminids.sharing.export.files import write_file
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    write_file(Path(sys.argv[1]), [b"x" * 600, b"y" * 600], force=True)
except OSError as error:
    print(error.filename, error.errno)
"""


def test_a_disk_that_fills_up_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"before")
    done = subprocess.run(
        [sys.executable, "-c", FULL_DISK, str(target)], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.split()[0] == str(target)
    assert target.read_bytes() == b"before"
    assert listed(tmp_path) == ["a"]


KILLED = """
import sys, time
from pathlib import Path
from geminids.sharing.export.files import NewFile
with NewFile(Path(sys.argv[1])) as new:
    new.write([b"half"])
    print("written", flush=True)
    time.sleep(60)
"""


def test_a_killed_process_leaves_the_target_alone(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"before")
    with subprocess.Popen([sys.executable, "-c", KILLED, str(target)], stdout=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stdout.readline() == b"written\n"
        process.send_signal(signal.SIGKILL)
    assert target.read_bytes() == b"before"
    # What is left of it is in nobody's way.
    write_file(target, [b"after"], force=True)
    assert target.read_bytes() == b"after"


def test_an_unfinished_file_goes_when_nobody_settles_it(tmp_path: Path) -> None:
    with NewFile(tmp_path / "a") as new:
        new.write([b"x"])
    assert listed(tmp_path) == []


def refuse(*_: object) -> None:
    raise OSError(errno.EOPNOTSUPP, "not here")


def test_where_files_can_have_no_second_name_nothing_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", refuse)
    target = tmp_path / "a"
    write_file(target, [b"first"], force=False)
    with NewFile(target) as new:
        new.write([b"second"])
        with pytest.raises(FileExistsAlreadyError):
            new.settle(replace=False)
    assert target.read_bytes() == b"first"
    assert listed(tmp_path) == ["a"]


def test_a_name_that_cannot_be_given_is_not_left_to_an_empty_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", refuse)
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError, match="not here"):
        write_file(tmp_path / "a", [b"x"], force=False)
    with pytest.raises(OSError, match="not here"):
        write_private([private(tmp_path / "new" / "a"), private(tmp_path / "new" / "b")])
    assert listed(tmp_path) == []


def private(path: Path, content: bytes = b"content") -> PrivateFile:
    return PrivateFile(str(path), lambda: content)


def test_private_files_are_for_nobody_else_to_read(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        write_private([private(tmp_path / "new" / "deep" / "a"), private(tmp_path / "b")])
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")}
    assert modes == {"new": 0o700, "deep": 0o700, "a": 0o600, "b": 0o600}


def test_a_rescued_file_is_as_private_as_a_restored_one(tmp_path: Path) -> None:
    write_new(str(tmp_path / "new" / "a"), b"rescued")
    assert (tmp_path / "new" / "a").read_bytes() == b"rescued"
    assert stat.S_IMODE((tmp_path / "new" / "a").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


def test_private_files_are_on_the_disk_before_they_have_their_names_and_the_names_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, list[str]]] = []
    sync = os.fsync

    def noting(handle: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file"
        told.append((kind, [name for name in listed(tmp_path) if not name.startswith(".")]))
        sync(handle)

    monkeypatch.setattr(os, "fsync", noting)
    write_private([private(tmp_path / "a"), private(tmp_path / "b")])
    assert told == [("file", []), ("file", []), ("folder", ["a", "b"])]


def test_private_files_are_all_written_or_none(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"theirs")
    wanted = [private(tmp_path / "new" / "a"), private(tmp_path / "b"), private(tmp_path / "c")]
    with pytest.raises(FileExistsAlreadyError):
        write_private(wanted)
    assert listed(tmp_path) == ["c"]
    assert (tmp_path / "c").read_bytes() == b"theirs"


def test_a_folder_into_which_somebody_put_something_stays(tmp_path: Path) -> None:
    def content() -> bytes:
        (tmp_path / "new" / "theirs").write_bytes(b"theirs")
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        write_private([private(tmp_path / "new" / "a"), PrivateFile(str(tmp_path / "b"), content)])
    assert listed(tmp_path / "new") == ["theirs"]


def test_more_private_files_than_can_be_open_at_once_are_written(tmp_path: Path) -> None:
    code = """
import resource, sys
from geminids.sharing.export.private_files import PrivateFile, write_private
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
write_private(PrivateFile(f"{sys.argv[1]}/{number}", lambda: b"x") for number in range(100))
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=60)
    assert len(listed(tmp_path)) == 100


def test_what_a_killed_process_left_is_removed_unless_it_may_be_in_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    gone, held, folder = (tmp_path / f".geminids-{process.pid}-0123abc{number}.part" for number in range(3))
    same_number, like_it = tmp_path / f".geminids-{os.getpid()}-0123abcd.part", tmp_path / ".geminids-x.part"
    folder.mkdir()
    for file in (gone, held, same_number, like_it):
        file.write_bytes(b"half")
        # Somebody who is writing now may have given it the date of an old file.
        os.utime(file, (1, 1))
    with held.open("rb") as opened:
        # As a process of another machine does, whose number says nothing here.
        assert hold(opened.fileno())
        write_private([private(tmp_path / "a")])
        assert set(listed(tmp_path)) == {one.name for one in (held, folder, same_number, like_it)} | {"a"}
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 2 * 24 * 3600)
    write_private([private(tmp_path / "b")])
    assert set(listed(tmp_path)) == {folder.name, like_it.name, "a", "b"}


ENTRY = Entry(
    file="a.md",
    id="gemini:1",
    agent="gemini",
    kind="main",
    redacted=False,
    title="A title",
    project="shop",
    started_at=None,
    ended_at=None,
    status="success",
    prompts=1,
    tool_calls=0,
)


def page(content: bytes, key: str = "one", stamp: str = "stamp 1", **more: Any) -> Page:
    fields: dict[str, Any] = {"hiding": None, "entry": ENTRY, "beside": {}}
    return Page(key, stamp, pieces=[content], **fields | more)


def opened(folder: Path, format_name: str = "markdown", *, force: bool = False) -> Folder:
    return Folder(folder, format_name, force=force)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one export in it."""
    made = opened(tmp_path / "out")
    assert made.write("a.md", page(b"first")) is Done.WRITTEN
    made.save()
    return tmp_path / "out"


def test_what_has_not_changed_is_current(folder: Path) -> None:
    again = opened(folder)
    assert again.is_current("one", "stamp 1")
    assert not again.is_current("one", "stamp 2")
    assert not again.is_current("two", "stamp 1")
    assert not opened(folder, "html").is_current("one", "stamp 1")
    os.utime(folder / "a.md", (1, 1))
    assert again.is_current("one", "stamp 1"), "a copy of the folder has other times"
    (folder / "a.md").write_bytes(b"FIRST")
    assert not again.is_current("one", "stamp 1")
    (folder / "a.md").unlink()
    assert not again.is_current("one", "stamp 1")


def test_what_grew_is_written_again_under_its_name(folder: Path) -> None:
    again = opened(folder)
    assert again.name_of("one", None) == "a.md"
    assert again.write("a.md", page(b"first and second", stamp="stamp 2")) is Done.WRITTEN
    again.save()
    assert (folder / "a.md").read_bytes() == b"first and second"
    assert opened(folder).is_current("one", "stamp 2")
    assert opened(folder).write("a.md", page(b"first and second", stamp="stamp 3")) is Done.SAME


def test_what_somebody_changed_is_left_alone(folder: Path) -> None:
    (folder / "a.md").write_bytes(b"with my notes")
    refused = opened(folder).write("a.md", page(b"first and second"))
    assert isinstance(refused, Refused)
    assert "changed" in refused.reason
    assert (folder / "a.md").read_bytes() == b"with my notes"
    assert opened(folder, force=True).write("a.md", page(b"first and second")) is Done.WRITTEN
    assert (folder / "a.md").read_bytes() == b"first and second"


def test_what_is_not_ours_is_left_alone_but_what_holds_the_same_is_taken_over(folder: Path) -> None:
    (folder / "b.md").write_bytes(b"somebody's")
    (folder / "c.md").write_bytes(b"the same")
    again = opened(folder)
    refused = again.write("b.md", page(b"ours", "two"))
    assert isinstance(refused, Refused)
    assert "not written by geminids" in refused.reason
    assert again.write("c.md", page(b"the same", "three")) is Done.SAME
    assert again.is_current("three", "stamp 1")


def test_what_was_not_redacted_gives_way_to_another_name(folder: Path) -> None:
    again = opened(folder)
    picture = f"a-files/{sha256(b'picture').hexdigest()[:16]}.png"
    other = f"a-files/{sha256(b'other').hexdigest()[:16]}.png"
    beside = {picture: b"picture", other: b"other"}
    assert again.write("a.md", page(b"first", beside=beside, stamp="s")) is Done.SAME
    (folder / other).write_bytes(b"drawn over")
    assert again.name_of("one", "hiding") is None
    assert again.write("b.md", page(b"[REDACTED]", hiding="hiding")) is Done.WRITTEN
    assert not (folder / "a.md").exists()
    assert not (folder / picture).exists()
    assert (folder / other).read_bytes() == b"drawn over"
    assert again.name_of("one", "hiding") == again.name_of("one", None) == "b.md"
    assert again.name_of("one", "other hiding") is None


def test_what_was_not_redacted_and_somebody_changed_is_named(folder: Path) -> None:
    (folder / "a.md").write_bytes(b"with my notes")
    refused = opened(folder).write("b.md", page(b"[REDACTED]", hiding="hiding"))
    assert isinstance(refused, Refused)
    assert refused.file.endswith("a.md")
    assert (folder / "a.md").read_bytes() == b"with my notes"
    assert (folder / "b.md").read_bytes() == b"[REDACTED]"


def test_a_table_of_contents_is_replaced_only_if_it_is_ours(folder: Path) -> None:
    again = opened(folder)
    assert again.write("b.md", page(b"x", "two")) is Done.WRITTEN
    assert again.write_contents("README.md", lambda: [b"one"]) is Done.WRITTEN
    assert again.write_contents("README.md", lambda: [b"two"]) is Done.WRITTEN
    again.save()
    assert opened(folder).write_contents("README.md", lambda: [b"three"]) is Done.SAME, "nothing changed"
    (folder / "README.md").unlink()
    assert opened(folder).write_contents("README.md", lambda: [b"two"]) is Done.WRITTEN, "it was gone"
    (folder / "README.md").write_bytes(b"mine")
    assert isinstance(opened(folder).write_contents("README.md", lambda: [b"three"]), Refused)
    assert (folder / "README.md").read_bytes() == b"mine"


def test_a_table_tells_of_the_files_that_are_there(folder: Path) -> None:
    again = opened(folder)
    assert [entry.title for entry in again.entries()] == ["A title"]
    (folder / "a.md").unlink()
    assert list(again.entries()) == []


@pytest.mark.parametrize("name", ["../out.md", "/etc/x", "..", "a/b.md", "a\\b.md", "", "a\0b"])
@pytest.mark.parametrize("where", ["files", "contents", "beside"])
def test_a_list_of_files_that_names_others_is_damaged(folder: Path, name: str, where: str) -> None:
    """A folder of exports may come from anybody: it must not make us write or delete elsewhere."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    kept = manifest["files"]["a.md"]
    match where:
        case "files":
            manifest["files"][name] = kept
        case "contents":
            manifest["contents"][name] = kept["left"]
        case _:
            kept["beside"] = [name if "/" not in name else f"x/{name}"]
    (folder / MANIFEST).write_text(json.dumps(manifest))
    with pytest.raises(DamagedManifestError):
        opened(folder)


def test_two_exports_at_once_remember_what_both_wrote(folder: Path) -> None:
    first, second = opened(folder), opened(folder, "html")
    assert first.write("b.md", page(b"b", "two")) is Done.WRITTEN
    assert second.write("a.html", page(b"a", "one")) is Done.WRITTEN
    second.save()
    first.save()
    assert opened(folder).is_current("one", "stamp 1")
    assert opened(folder).is_current("two", "stamp 1")
    assert opened(folder, "html").is_current("one", "stamp 1")


def test_the_table_of_contents_tells_what_two_exports_at_once_wrote(tmp_path: Path) -> None:
    first, second = opened(tmp_path), opened(tmp_path)
    assert first.write("a.md", page(b"a", "one")) is Done.WRITTEN
    first.save()
    assert second.write("b.md", page(b"b", "two")) is Done.WRITTEN
    for folder in (first, second):
        told = partial(_listed_entries, folder)
        assert not isinstance(folder.write_contents("README.md", told), Refused)
        folder.save()
    assert (tmp_path / "README.md").read_bytes() == b"2 files"


def _listed_entries(folder: Folder) -> Iterator[bytes]:
    yield b"%d files" % len(list(folder.entries()))


@pytest.mark.parametrize("what", ["link", "file", "pipe", "pipe inside"])
def test_a_picture_cannot_be_written_through_what_is_in_the_way(folder: Path, what: str) -> None:
    elsewhere = folder.parent / "elsewhere"
    elsewhere.mkdir()
    files = folder / "b-files"
    match what:
        case "link":
            files.symlink_to(elsewhere)
        case "file":
            files.write_bytes(b"mine")
        case "pipe":
            os.mkfifo(files)
        case _:
            files.mkdir()
            os.mkfifo(files / "1.png")
    refused = opened(folder, force=True).write("b.md", page(b"b", "two", beside={"b-files/1.png": b"x"}))
    assert isinstance(refused, Refused)
    assert not refused.can_be_forced
    assert list(elsewhere.iterdir()) == []
    assert not (folder / "b.md").exists()


def test_what_is_no_file_is_left_alone_also_by_force(folder: Path) -> None:
    (folder / "b.md").mkdir()
    os.mkfifo(folder / "c.md")
    (folder / "d.md").symlink_to("nowhere")
    for name in ("b.md", "c.md", "d.md"):
        for force in (False, True):
            done = opened(folder, force=force).write(name, page(b"x", name))
            assert isinstance(done, Refused)
    (folder / MANIFEST).unlink()
    os.mkfifo(folder / MANIFEST)
    with pytest.raises(DamagedManifestError, match="not a file"):
        opened(folder)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"schema":"other"}', b"\xff\xfe"])
def test_a_damaged_list_of_files_is_named_and_nothing_is_touched(folder: Path, content: bytes) -> None:
    (folder / MANIFEST).write_bytes(content)
    with pytest.raises(DamagedManifestError, match="remove it"):
        opened(folder)
    assert (folder / "a.md").read_bytes() == b"first"


def test_names_of_files_are_plain_whatever_the_title_is() -> None:
    session = hostile_session()
    assert (
        stem(session, session.title or "", lambda _: False)
        == "2026-05-01-title-script-alert-10-script-quoted-heading-evil"
    )
    assert slug("Mixed  CASE — über 日本語!") == "mixed-case-über-日本語"
    assert len(slug("wort " * 100).encode()) <= 60
    assert len(slug("語" * 100).encode()) <= 60
    assert slug("../../etc/passwd") == "etc-passwd"
    assert slug("\ud83d half") == "half"


def test_names_are_given_once_whatever_their_case_and_ending(folder: Path) -> None:
    session = next(iter(fixture_sessions().values()))
    first = stem(session, "Title", lambda _: False)
    assert stem(session, "Title", {first}.__contains__) == f"{first}-2"
    assert stem(session, "Title", {first, f"{first}-2"}.__contains__) == f"{first}-3"
    again = opened(folder, "html")
    assert again.is_taken("A", "two")
    assert not again.is_taken("A", "one"), "another format of the same session may be called so"
    assert not again.is_taken("b", "two")
    assert again.write("B.html", page(b"x", "two")) is Done.WRITTEN
    assert again.is_taken("b", "three")
