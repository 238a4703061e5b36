"""Folders and buckets: how they are named, how files in them are read and written, and what is said."""

from __future__ import annotations

import os
import pickle
import shutil
from pathlib import Path

import pytest

from geminids.core.piecewise import opened_piecewise
from geminids.scale.homes import Wanted, homes_below, pieces, pieces_of, readings
from geminids.scale.places.disks import ExportedDisk, open_disk, open_place
from geminids.scale.places.errors import PlaceError, StoreFailedError
from geminids.scale.places.objects import ObjectStore, address, reason_of
from geminids.scale.places.stores import LocalStore, open_store
from geminids.storage.archive.failures import NotAnArchiveError
from tests.conftest import FIXTURES, Rights, Run
from tests.support.homes import write_session


@pytest.mark.parametrize(
    ("uri", "bucket", "folder"),
    [
        ("s3://team", "team", ""),
        ("s3://team/", "team", ""),
        ("gs://team/a/b/", "team", "a/b"),
        ("az://box/with space/#1", "box", "with space/#1"),
    ],
)
def test_an_address_has_a_bucket_and_a_folder(uri: str, bucket: str, folder: str) -> None:
    assert address(uri) == (bucket, folder)


@pytest.mark.parametrize(
    "uri", ["s3://", "s3:///x", "ftp://host/x", "S3://team", "https://host/x", "s3//team"]
)
def test_what_is_no_address_is_refused(uri: str) -> None:
    with pytest.raises(PlaceError, match="give a folder, or s3://BUCKET/FOLDER"):
        address(uri)


@pytest.mark.parametrize(
    ("answer", "uri", "said", "is_fault"),
    [
        ("404 Not Found: <Code>NoSuchBucket</Code>", "s3://b", "there is no such bucket", False),
        ("The specified container does not exist", "az://b", "there is no such bucket", False),
        ("GET http://169.254.169.254/latest/api/token", "s3://b", "set AWS_ACCESS_KEY_ID and", False),
        ("TokenRequest { source", "gs://b", "set GOOGLE_APPLICATION_CREDENTIALS", False),
        ("403 Forbidden: <Code>SignatureDoesNotMatch</Code>", "s3://b", "refuses the credentials", False),
        ("403 Forbidden: <Code>AccessDenied</Code>", "s3://b", "may not do that there", False),
        ("403 Forbidden: <Code>QuotaExceeded</Code>", "s3://b", "is full", True),
        ("507 Insufficient Storage", "az://b", "is full", True),
        ("status code: 503 Service Unavailable", "gs://b", "answered 503, also when asked again", True),
        ("GET http://127.0.0.1:50712/b in 1.507s: status code: 503", "s3://b", "answered 503", True),
        ("Server returned non-2xx status code: 507", "s3://b", "is full", True),
        ("status code: 412 Precondition Failed", "s3://b", "written anew while it was read", True),
        ("HTTP error: error sending request", "s3://b", "cannot be reached", True),
        ("HTTP error: builder error", "s3://b", "AWS_ALLOW_HTTP=true", False),
        (
            "400 Bad Request: <Code>InvalidBucketName</Code><Message>It is not valid.</Message>",
            "s3://b",
            "the storage refuses it: It is not valid (InvalidBucketName)",
            False,
        ),
        ("Something new.\n\nDebug source:\nmany lines", "s3://b", "Something new", True),
    ],
)
def test_what_a_storage_answers_is_said_in_words(answer: str, uri: str, said: str, is_fault: bool) -> None:
    reason, may_be_well = reason_of(answer, uri)
    assert said in reason
    assert "\n" not in reason
    assert may_be_well is is_fault


def test_a_store_is_told_to_another_process_by_its_address() -> None:
    store = ObjectStore("s3://team/x")
    assert pickle.loads(pickle.dumps(store)).uri == "s3://team/x"


# Folders


def test_a_file_is_written_whole_and_its_empty_folders_go_with_it(tmp_path: Path) -> None:
    store = open_store(f"file://{tmp_path / 'out'}")
    assert list(store.listed()) == []
    assert not (tmp_path / "out").exists(), "looking makes nothing"
    (tmp_path / "content").write_bytes(b"one")
    store.put("a/b/c.bin", tmp_path / "content")
    store.put("a/b/d.bin", b"two")
    assert [(one.name, one.size) for one in store.listed()] == [("a/b/c.bin", 3), ("a/b/d.bin", 3)]
    assert [one.name for one in store.listed("a/b")] == ["a/b/c.bin", "a/b/d.bin"]
    assert store.read("a/b/c.bin") == b"one"
    assert store.read("a/x") is None
    for name in ("a/b/c.bin", "a/b/d.bin", "a/x"):
        store.delete(name)
    assert list((tmp_path / "out").iterdir()) == []


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    (tmp_path / ".geminids-999999999-0a1b2c3d.part").write_bytes(b"half")
    LocalStore(str(tmp_path)).put("whole", b"1")
    assert [path.name for path in tmp_path.iterdir()] == ["whole"]


def test_files_are_for_their_user_alone(tmp_path: Path) -> None:
    LocalStore(str(tmp_path / "out")).put("a.bin", b"1")
    assert (tmp_path / "out" / "a.bin").stat().st_mode & 0o077 == 0


def test_a_folder_that_is_closed_says_so(tmp_path: Path, without_privileges: Rights) -> None:
    (tmp_path / "out").mkdir(mode=0o555)
    store = LocalStore(str(tmp_path / "out"))
    with without_privileges(), pytest.raises(StoreFailedError, match=r"Permission denied\. What was written"):
        store.put("a/b", b"1")


# Pieces of files


def test_a_file_in_pieces_reads_as_any_other() -> None:
    content = bytes(range(256)) * 100
    asked: list[tuple[int, int]] = []

    def part(start: int, end: int) -> bytes:
        asked.append((start, end))
        return content[start:end]

    with opened_piecewise(len(content), part, 1000) as opened:
        assert opened.read(10) == content[:10]
        assert opened.seek(-20, os.SEEK_END) == len(content) - 20
        assert opened.read() == content[-20:]
        assert opened.read() == b""
        opened.seek(0)
        assert b"".join(iter(lambda: opened.read(777), b"")) == content
    assert all(0 <= start < end <= len(content) for start, end in asked)


# Homes


def test_homes_below_a_folder_are_of_the_machines_it_names(tmp_path: Path) -> None:
    write_session(tmp_path / "laptop")
    write_session(tmp_path / "team" / "ada")
    write_session(tmp_path)
    found = {(machine, home.agent) for machine, home in homes_below(*open_disk(str(tmp_path)))}
    assert found == {("laptop", "gemini"), ("team/ada", "gemini"), (tmp_path.name, "gemini")}
    (alone,) = homes_below(*open_disk(str(tmp_path / "laptop" / ".gemini")))
    assert alone[0] == "laptop"


def test_a_place_without_homes_is_empty_and_one_that_is_not_there_is_refused(tmp_path: Path) -> None:
    assert list(pieces(*open_disk(str(tmp_path)))) == []
    with pytest.raises(PlaceError, match="no such file or directory"):
        open_disk(str(tmp_path / "nothing"))
    (tmp_path / "file").write_text("")
    with pytest.raises(PlaceError, match="not a directory"):
        open_disk(str(tmp_path / "file"))


def test_a_closed_folder_is_a_problem(tmp_path: Path, without_privileges: Rights) -> None:
    write_session(tmp_path / "open")
    (tmp_path / "closed").mkdir(mode=0)
    with without_privileges():
        found = list(pieces(*open_disk(str(tmp_path)), machine="m"))
    assert [problem.file for piece in found for problem in piece.problems] == [str(tmp_path / "closed")]
    assert sum(len(piece.parts) for piece in found) == 1


@pytest.fixture
def exported(tmp_path: Path, geminids: Run) -> Path:
    """All copies of a machine on which files were written anew, and are gone."""
    home, target = tmp_path / "home", tmp_path / "laptop.tar"
    where = ["--home", home, "--data", tmp_path / "data"]
    shutil.copytree(FIXTURES / "claude" / "subagent" / "home", home)
    write_session(home, prompt="An older prompt")
    geminids("sync", *where)
    write_session(home)
    assert geminids("keep", "export", target, *where).code == 0
    shutil.rmtree(home)
    return target


def test_exported_copies_are_homes(exported: Path) -> None:
    place = open_place(str(exported))
    assert place.machine == "laptop"
    assert sorted(agent for agent, _ in place.homes or ()) == ["claude", "gemini"]
    found = list(pieces_of(place))
    assert {piece.machine for piece in found} == {"laptop"}
    told = [one for piece in found for _, reading in readings(piece) for one in reading.sessions]
    assert {one.title for one in told} > {"Fix the login redirect"}
    assert all(one.kept for one in told)
    only = pieces_of(place, Wanted(agents={"gemini"}), machine="m")
    assert {(piece.machine, part.bundles[0].agent) for piece in only for part in piece.parts} == {
        ("m", "gemini")
    }


def test_a_path_begins_at_the_home_of_the_user(exported: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(exported.parent))
    wanted = open_place(str(exported)).homes
    assert open_store("~/state").uri == str(exported.parent / "state")
    assert open_place(f"~/{exported.name}").homes == open_place(f"file://{exported}").homes == wanted
    monkeypatch.chdir(exported.parent)
    told = pickle.dumps(open_place(exported.name).disk)
    monkeypatch.chdir("/")
    disk = pickle.loads(told)
    assert disk.read(disk.copies.versions[0].path)


def test_exported_copies_are_told_to_another_process_with_their_list(exported: Path) -> None:
    disk = ExportedDisk(str(exported))
    again = pickle.loads(pickle.dumps(disk))
    assert again.copies == disk.copies
    path = max(disk.copies.versions, key=lambda version: version.kept_at).path
    assert again.read(path) == disk.read(path)
    assert not again.is_there(path + "x")


def test_nothing_of_this_machine_is_read_in_place_of_a_copy(exported: Path, tmp_path: Path) -> None:
    disk = ExportedDisk(str(exported))
    path = next(version.path for version in disk.copies.versions if "chats" in version.path)
    before = disk.read(path)
    Path(path).parent.mkdir(parents=True)
    Path(path).write_text("something of here")
    assert disk.read(path) == before


def test_a_damaged_copy_is_refused_when_it_is_read(exported: Path) -> None:
    disk = ExportedDisk(str(exported))
    version = max(disk.copies.versions, key=lambda one: one.kept_at)
    first, size = disk.copies.contents[version.digest]
    content = bytearray(exported.read_bytes())
    content[first + size // 2] ^= 1
    exported.write_bytes(content)
    with pytest.raises(OSError, match="damaged"):
        disk.read(version.path)


@pytest.mark.parametrize("content", [b"", b"no tar", b"\0" * 10_240])
def test_what_is_no_export_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.tar").write_bytes(content)
    with pytest.raises(NotAnArchiveError):
        open_place(str(tmp_path / "x.tar"))
    with pytest.raises(PlaceError, match="No such file"):
        open_place(str(tmp_path / "y.tar"))


def test_an_error_of_a_piece_is_that_of_a_file() -> None:
    def part(start: int, end: int) -> bytes:
        raise OSError(5, "gone")

    with pytest.raises(OSError, match="gone"):
        opened_piecewise(10, part).read()
