"""Copies in one file: anybody can open it, it comes back whole or not at all."""

from __future__ import annotations

import io
import json
import os
import tarfile
import time
from hashlib import sha256
from pathlib import Path
from random import Random

import pytest
from backports import zstd

from geminids.core.errors import FileExistsAlreadyError
from geminids.storage.archive import keeper
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.failures import NotAnArchiveError
from geminids.storage.archive.transfer import export_to, import_from
from tests.support.archives import AGENT, HOME, contents, keep_all
from tests.support.connections import to_be_closed


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    """An archive with files that grew, were rewritten, are empty, have odd names or the same content."""
    random = Random(21)
    archive = to_be_closed(Archive(str(tmp_path / "first" / "kept")))
    names = [*(f"{number}.jsonl" for number in range(8)), os.fsdecode(b"\xff odd \n"), "名前.json", "up"]
    home = tmp_path / "home" / "folder"
    home.mkdir(parents=True)
    for step in range(4):
        for number, name in enumerate(names):
            path = home / name
            before = path.read_bytes() if path.exists() else b""
            more = b'{"said": "words"}\n' * random.randrange(90) + random.randbytes(random.randrange(900))
            path.write_bytes(before + more if (number + step) % 3 else (b"" if number == 4 else more))
        (home / "same").write_bytes((home / "1.jsonl").read_bytes())
        keep_all(archive, [home / name for name in (*names, "same")])
    return archive


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "copies.tar"


@pytest.fixture
def other(tmp_path: Path) -> Archive:
    return to_be_closed(Archive(str(tmp_path / "second" / "kept")))


def facts(archive: Archive) -> list[tuple[object, ...]]:
    """All versions but for what only one archive knows of them."""
    return [version._replace(number=0, inode=0) for version in archive.all_versions()]


def test_what_is_exported_comes_back_whole(archive: Archive, other: Archive, target: Path) -> None:
    told: list[tuple[int, int]] = []
    exported = export_to(archive, str(target), None, lambda *step: told.append(step))
    assert exported.versions == archive.totals().versions > 15
    assert exported.damaged == []
    assert told[-1] == (exported.size, exported.size)
    assert target.stat().st_mode & 0o777 == 0o600

    imported = import_from(other, str(target), lambda *step: told.append(step))
    assert (imported.versions, imported.known) == (exported.versions, 0)
    assert imported.homes == [(AGENT, HOME)]
    assert told[-1][0] == told[-1][1]
    assert facts(other) == facts(archive)
    assert contents(other) == contents(archive)
    assert [home.is_imported for home in other.homes()] == [True]
    assert [home.is_imported for home in archive.homes()] == [False]
    (Path(other.folder) / "manifest.db").unlink()
    rebuilt = to_be_closed(Archive(other.folder))
    assert facts(rebuilt) == facts(archive)
    assert [home.is_imported for home in rebuilt.homes()] == [True]


def test_anybody_can_open_it(archive: Archive, target: Path) -> None:
    export_to(archive, str(target))
    with tarfile.open(target) as tar:
        members = {member.name: tar.extractfile(member) for member in tar}
        files = {name: opened.read() for name, opened in members.items() if opened is not None}
    head, *lines = map(json.loads, files["manifest.jsonl"].splitlines())
    assert head == {"format": "geminids kept copies", "version": 1, "copies": len(lines)}
    for line, version in zip(lines, archive.all_versions(), strict=True):
        content = zstd.decompress(files[line["content"]])
        assert sha256(content).hexdigest() == line["digest"]
        assert content == archive.content(version)
        assert line["path"] == version.path
    assert b"zstd -d" in files["README.txt"]


def test_importing_twice_changes_nothing(archive: Archive, other: Archive, target: Path) -> None:
    export_to(archive, str(target))
    import_from(other, str(target))
    before, identity = facts(other), other.identity()
    again = import_from(other, str(target))
    assert (again.versions, again.known) == (0, len(before))
    assert facts(other) == before
    assert other.identity() == identity
    into_itself = import_from(archive, str(target))
    assert into_itself.versions == 0
    assert facts(archive) == before


def test_some_can_be_exported(archive: Archive, other: Archive, target: Path) -> None:
    path = next(path for path in archive.newest() if path.endswith("1.jsonl"))
    export_to(archive, str(target), {path})
    import_from(other, str(target))
    assert contents(other) == {path: contents(archive)[path]}
    assert export_to(archive, str(target), homes=["/none"], replace=True).versions == 0
    assert import_from(other, str(target)).versions == 0


def test_what_was_imported_and_is_kept_here_is_no_longer_foreign(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(b"one\n")
    archive, other = (
        to_be_closed(Archive(str(tmp_path / "a" / "kept"))),
        to_be_closed(Archive(str(tmp_path / "b" / "kept"))),
    )
    keep_all(archive, [path])
    export_to(archive, str(target))
    import_from(other, str(target))
    assert other.homes()[0].is_imported
    (version,) = keep_all(other, [path])
    assert not other.homes()[0].is_imported
    assert contents(other) == {str(path): [b"one\n"]}
    (Path(other.folder) / "manifest.db").unlink()
    assert not to_be_closed(Archive(other.folder)).homes()[0].is_imported
    assert other.versions(str(path)) == [version]


def test_what_has_grown_since_it_was_exported_stays(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "one.jsonl"
    archive = to_be_closed(Archive(str(tmp_path / "a" / "kept")))
    path.write_bytes(b"one\n")
    keep_all(archive, [path])
    export_to(archive, str(target))
    path.write_bytes(b"one\ntwo\n")
    keep_all(archive, [path])
    imported = import_from(archive, str(target))
    assert (imported.versions, imported.known) == (0, 1)
    assert contents(archive) == {str(path): [b"one\ntwo\n"]}


def test_another_version_of_a_file_that_is_there_is_counted_as_taken(tmp_path: Path, target: Path) -> None:
    path = tmp_path / "one.jsonl"
    archive, other = (
        to_be_closed(Archive(str(tmp_path / "a" / "kept"))),
        to_be_closed(Archive(str(tmp_path / "b" / "kept"))),
    )
    path.write_bytes(b"here\n")
    keep_all(other, [path])
    path.write_bytes(b"elsewhere\n")
    keep_all(archive, [path])
    export_to(archive, str(target))
    imported = import_from(other, str(target))
    assert (imported.versions, imported.known) == (1, 0)
    assert contents(other) == {str(path): [b"elsewhere\n", b"here\n"]}
    again = import_from(other, str(target))
    assert (again.versions, again.known) == (0, 1)


def test_versions_stand_in_the_order_in_which_they_were_kept(tmp_path: Path) -> None:
    archive = to_be_closed(Archive(str(tmp_path / "kept")))
    with archive.writing() as writer:
        for kept_at, content in ((30, b"third"), (10, b"first"), (20, b"second"), (40, b"third more")):
            writer.put(AGENT, HOME, "/gone", content, mtime_ns=kept_at, mode=0o600, kept_at=kept_at)
    assert [archive.content(version) for version in archive.versions("/gone")] == [
        *(b"first", b"second", b"third more")
    ]
    assert archive.content(archive.newest()["/gone"]) == b"third more"


def test_large_contents_are_moved_piece_by_piece(
    tmp_path: Path, other: Archive, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "LONGEST_SEGMENT", 10_000)
    monkeypatch.setattr("geminids.storage.archive.transfer.LONGEST_SEGMENT", 10_000)
    monkeypatch.setattr("geminids.storage.archive.transfer._PIECE", 3_000)
    path = tmp_path / "large"
    path.write_bytes(Random(5).randbytes(100_000) + bytes(50_000))
    archive = to_be_closed(Archive(str(tmp_path / "kept")))
    keep_all(archive, [path])
    export_to(archive, str(target))
    import_from(other, str(target))
    assert contents(other) == {str(path): [path.read_bytes()]}


def test_a_file_that_is_there_is_not_replaced(archive: Archive, target: Path) -> None:
    target.write_bytes(b"mine")
    with pytest.raises(FileExistsAlreadyError):
        export_to(archive, str(target))
    assert target.read_bytes() == b"mine"
    export_to(archive, str(target), replace=True)
    assert [path.name for path in target.parent.iterdir() if path.is_file()] == [target.name]


def test_damaged_copies_are_left_out_and_told(archive: Archive, other: Archive, target: Path) -> None:
    pack = Path(archive.folder) / "packs" / "000001.pack"
    content = bytearray(pack.read_bytes())
    with archive.writing() as writer:
        written = next(
            version for version in writer.manifest.all_written() if version.version.path.endswith("2.jsonl")
        )
        place = writer.place(written.segments[0])
    assert place
    content[place.offset + place.length - 3] ^= 8
    pack.write_bytes(content)
    exported = export_to(archive, str(target))
    ((damaged, reason),) = exported.damaged
    assert damaged == written.version
    assert "byte" in reason
    import_from(other, str(target))
    left = [version for version in archive.all_versions() if version != damaged]
    assert facts(other) == [version._replace(number=0, inode=0) for version in left]


@pytest.fixture
def kept_before(other: Archive, tmp_path: Path) -> dict[str, list[bytes]]:
    """What is in the other archive already."""
    (tmp_path / "mine").write_bytes(b"mine")
    keep_all(other, [tmp_path / "mine"])
    return contents(other)


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.9999])
def test_a_file_that_is_cut_off_is_refused(
    archive: Archive, other: Archive, target: Path, kept_before: dict[str, list[bytes]], share: float
) -> None:
    export_to(archive, str(target))
    with tarfile.open(target) as tar:
        last = tar.getmember("manifest.jsonl")
    os.truncate(target, int((last.offset_data + last.size) * share))
    with pytest.raises(NotAnArchiveError, match="Nothing was imported"):
        import_from(other, str(target))
    assert contents(other) == kept_before


@pytest.mark.parametrize("seed", range(25))
def test_a_flipped_bit_is_refused_or_changes_nothing(
    archive: Archive, other: Archive, target: Path, kept_before: dict[str, list[bytes]], seed: int
) -> None:
    export_to(archive, str(target))
    content = bytearray(target.read_bytes())
    random = Random(seed)
    content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    target.write_bytes(content)
    try:
        import_from(other, str(target))
    except NotAnArchiveError:
        assert contents(other) == kept_before
        return
    # The bit was where nothing is said, or in the name of a file: every content is one that was kept.
    known = {version.digest for version in archive.all_versions()}
    taken = [version for version in other.all_versions() if version.path not in kept_before]
    assert {version.digest for version in taken} == known
    assert all(other.content(version) is not None for version in taken)


def tar_of(members: dict[str, bytes], kind: bytes = tarfile.REGTYPE) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content) if kind == tarfile.REGTYPE else 0
            member.type = kind
            member.linkname = "/etc/passwd"
            tar.addfile(member, io.BytesIO(content))
    return out.getvalue()


def told(**changes: object) -> bytes:
    """A list of one copy, of which something is otherwise than it should be."""
    line = {
        "agent": AGENT,
        "home": HOME,
        "path": "/a",
        "size": 3,
        "mtime_ns": 1,
        "mode": 1,
        "digest": sha256(b"one").hexdigest(),
        "kept_at": 1,
    }
    head = {"format": "geminids kept copies", "version": 1, "copies": 1}
    return b"".join(json.dumps(told).encode() + b"\n" for told in (head, line | changes))


ONE = f"content/{sha256(b'one').hexdigest()}.zst"
BOMB = f"content/{sha256(bytes(1 << 26)).hexdigest()}.zst"
FOREIGN = {
    "text": b"some words\n" * 1000,
    "empty": b"",
    "zip": b"PK\x03\x04" + bytes(1000),
    "zeros": bytes(20_000),
    "other tar": tar_of({"etc/passwd": b"root"}),
    "path that leads out": tar_of({"../../escape": b"x", "manifest.jsonl": told()}),
    "link": tar_of({ONE: b"", "manifest.jsonl": b""}, tarfile.SYMTYPE),
    "no content": tar_of({"manifest.jsonl": told()}),
    "other content": tar_of({ONE: zstd.compress(b"two"), "manifest.jsonl": told()}),
    "longer content": tar_of({ONE: zstd.compress(b"one more"), "manifest.jsonl": told()}),
    "content that is not packed": tar_of({ONE: b"one", "manifest.jsonl": told()}),
    "content that is cut": tar_of({ONE: zstd.compress(b"one")[:-2], "manifest.jsonl": told()}),
    "bomb": tar_of({BOMB: zstd.compress(bytes(1 << 26)), "manifest.jsonl": told(digest=BOMB[8:72])}),
    "list that is no list": tar_of({"manifest.jsonl": b"\xff\xfe"}),
    "list of something else": tar_of({"manifest.jsonl": b'{"format": "x"}\n'}),
    "list of the future": tar_of(
        {"manifest.jsonl": b'{"format": "geminids kept copies", "version": 9, "copies": 0}\n'}
    ),
    "list that is short": tar_of({"manifest.jsonl": told().splitlines(keepends=True)[0]}),
    "negative size": tar_of({ONE: zstd.compress(b"one"), "manifest.jsonl": told(size=-1)}),
    "path that is none": tar_of({ONE: zstd.compress(b"one"), "manifest.jsonl": told(path=7)}),
    "path with a zero": tar_of({ONE: zstd.compress(b"one"), "manifest.jsonl": told(path="/a\0b")}),
    "half a character": tar_of({ONE: zstd.compress(b"one"), "manifest.jsonl": told(path="/\ud800")}),
    "digest that is a path": tar_of({"manifest.jsonl": told(digest="../../x")}),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_what_is_no_export_is_refused(
    other: Archive, target: Path, kept_before: dict[str, list[bytes]], case: str
) -> None:
    target.write_bytes(FOREIGN[case])
    before = other.identity()
    with pytest.raises(NotAnArchiveError, match="Cannot import"):
        import_from(other, str(target))
    assert contents(other) == kept_before
    assert other.identity() == before


def zeros(size: int) -> tuple[str, bytes, str]:
    """A member that is small and holds many zeros; its name, content and digest."""
    packer, digest = zstd.ZstdCompressor(), sha256()
    pieces = []
    for _ in range(size >> 20):
        pieces.append(packer.compress(bytes(1 << 20)))
        digest.update(bytes(1 << 20))
    packed = b"".join([*pieces, packer.flush()])
    return f"content/{digest.hexdigest()}.zst", packed, digest.hexdigest()


def test_what_no_sync_would_keep_is_refused_before_it_is_unpacked(
    other: Archive, target: Path, kept_before: dict[str, list[bytes]]
) -> None:
    name, packed, digest = zeros(80 << 20)
    too_small = tar_of({name: packed, "manifest.jsonl": told(size=80 << 20, digest=digest)})
    too_large = tar_of({name: packed, "manifest.jsonl": told(size=3 << 30, digest=digest)})
    began = time.process_time()
    for content, why in (
        (too_small, "as no conversation has"),
        (too_large, "no file of more than 1,000,000,000"),
    ):
        target.write_bytes(content)
        with pytest.raises(NotAnArchiveError, match=why):
            import_from(other, str(target))
    assert time.process_time() - began < 2, "to unpack 3 GB takes longer"
    assert contents(other) == kept_before
    name, packed, digest = zeros(60 << 20)
    target.write_bytes(tar_of({name: packed, "manifest.jsonl": told(size=60 << 20, digest=digest)}))
    assert import_from(other, str(target)).versions == 1


def test_paths_are_only_names(other: Archive, target: Path, tmp_path: Path) -> None:
    path = str(tmp_path / "never written")
    target.write_bytes(tar_of({ONE: zstd.compress(b"one"), "manifest.jsonl": told(path=path)}))
    import_from(other, str(target))
    assert contents(other) == {path: [b"one"]}
    assert not Path(path).exists()


@pytest.mark.parametrize(
    "changes",
    [
        {"home": ".claude", "path": ".claude/x"},
        {"home": "", "path": "/x"},
        {"home": "/h//.claude", "path": "/h//.claude/x"},
        {"home": "/h/.claude", "path": "/etc/passwd"},
        {"home": "/h/.claude", "path": "/h/.claude/../../etc/passwd"},
        {"home": "/h/.claude\n", "path": "/h/.claude\n/x"},
        {"home": "C:\\Users\\ana\\.claude", "path": "C:\\Users\\ana\\.claude\\x"},
        {"agent": "cl\ud800"},
        {"agent": "../claude"},
    ],
    ids=str,
)
def test_what_cannot_have_lain_in_a_home_is_refused(
    other: Archive, target: Path, changes: dict[str, str]
) -> None:
    target.write_bytes(tar_of({ONE: zstd.compress(b"one"), "manifest.jsonl": told(**changes)}))
    with pytest.raises(NotAnArchiveError, match="not of a kept copy"):
        import_from(other, str(target))
    assert contents(other) == {}


def test_nothing_was_kept_in_the_future(other: Archive, target: Path) -> None:
    target.write_bytes(tar_of({ONE: zstd.compress(b"one"), "manifest.jsonl": told(kept_at=(1 << 62) - 1)}))
    import_from(other, str(target))
    (version,) = other.all_versions()
    assert version.kept_at <= time.time_ns() // 1_000
