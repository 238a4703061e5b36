"""Kept copies in one file that anybody can open, and back.

It is a plain tar:

    README.txt             what this is
    content/<sha256>.zst   each content once, as `zstd -d` reads it
    manifest.jsonl         a line for each version: where it was, when it was kept, which content

A file that is cut off lacks the last member, so half of one is never taken for the whole. On the way in all
contents are compared with their digests before the first one is taken. Paths are only what the copies are
called: nothing is ever written there. What no sync would keep is refused before any of it is unpacked: files
that are too large, and contents so small for their size that no conversation is in them.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from hashlib import sha256
from typing import Any, BinaryIO, NamedTuple

from geminids.core.atomic_files import PartFile, remove_left_over, sync_folder
from geminids.core.errors import FileExistsAlreadyError
from geminids.core.lazy_patterns import lazy_pattern
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.compression import Packer, UnpackError, unpacker
from geminids.storage.archive.failures import DamagedCopyError, NotAnArchiveError
from geminids.storage.archive.keeper import LARGEST, LONGEST_SEGMENT, Writer
from geminids.storage.archive.steady import Content, GivenContent
from geminids.storage.archive.values import Exported, Imported, Version

Progress = Callable[[int, int], None]
"""Is told how many bytes of content were moved, of how many."""
FORMAT = "geminids kept copies"
FORMAT_VERSION = 1
_MANIFEST = "manifest.jsonl"
_README = "README.txt"
_MEMBER = lazy_pattern(r"content/([0-9a-f]{64})\.zst")
_PIECE = 1 << 20
_LARGE_PIECE = 4 << 20
_LONGEST_LINE = 1 << 20
_LONGEST_LIST = 1 << 30
"""Bytes of a list of copies: enough for some million of them."""
_HARMLESS = 64 << 20
"""Bytes of a content that may be packed as small as can be."""
_SMALLEST_SHARE = 1_000
"""A larger one has at least one packed byte for so many. Conversations have one for ten, or for a hundred."""
_EXPLANATION = """\
Copies of files that coding agents wrote, kept by geminids.

manifest.jsonl has a line for each copy: where it was (home, path), its size, time and mode, its sha256, when
it was kept (microseconds since 1970), and in which member its content is. Each content is packed with zstd:

    tar -xf FILE && zstd -d content/DIGEST.zst -o copy

`geminids keep import FILE` takes all of it in.
"""

_AGENT = lazy_pattern(r"[a-z0-9][a-z0-9_-]{0,63}")
_PRINTABLE = lazy_pattern(r"[^\x00-\x1f\x7f]+")


def export_to(
    archive: Archive,
    target: str,
    paths: Collection[str] | None = None,
    progress: Progress | None = None,
    *,
    homes: Collection[str] | None = None,
    replace: bool = False,
) -> Exported:
    """Write all copies, or those of some paths or homes, to one file that others can open.

    It is there whole or not at all. What is damaged is left out and told. Raises OSError,
    FileExistsAlreadyError.
    """
    versions = [
        version
        for version in archive.all_versions()
        if (paths is None or version.path in paths) and (homes is None or version.home in homes)
    ]
    if not replace and os.path.lexists(target):
        raise FileExistsAlreadyError(target)
    folder = os.path.dirname(target) or "."  # noqa: PTH120
    remove_left_over(folder)
    with PartFile(target) as part:
        exported = _written(archive, part.file, folder, versions, progress)
        part.sync()
        try:
            part.settle(replace=replace)
        except FileExistsError:
            raise FileExistsAlreadyError(target) from None
    sync_folder(folder)
    return exported


def _written(
    archive: Archive, out: BinaryIO, folder: str, versions: Sequence[Version], progress: Progress | None
) -> Exported:
    total = sum({version.digest: version.size for version in versions}.values())
    damaged: list[tuple[Version, str]] = []
    members: set[str] = set()
    done = 0
    lines: list[bytes] = []
    with closing(tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT)) as tar:
        _add(tar, _README, len(_EXPLANATION.encode()), io.BytesIO(_EXPLANATION.encode()))
        for version in versions:
            if version.digest not in members:
                try:
                    with _packed(archive, version, folder) as packed:
                        size = packed.seek(0, os.SEEK_END)
                        packed.seek(0)
                        _add(tar, _member(version.digest), size, packed)
                except DamagedCopyError as error:
                    damaged.append((version, error.reason))
                    continue
                members.add(version.digest)
                done += version.size
                if progress:
                    progress(done, total)
            lines.append(_line(version))
        about = {"format": FORMAT, "version": FORMAT_VERSION, "copies": len(lines)}
        manifest = b"".join([json.dumps(about).encode() + b"\n", *lines])
        _add(tar, _MANIFEST, len(manifest), io.BytesIO(manifest))
    return Exported(len(lines), done, damaged)


def _add(tar: tarfile.TarFile, name: str, size: int, content: Any) -> None:
    member = tarfile.TarInfo(name)
    member.size = size
    member.mode = 0o600
    tar.addfile(member, content)


def _packed(archive: Archive, version: Version, folder: str) -> Any:
    """The content of a version as one packed file, compared with its digest. Raises DamagedCopyError."""
    packed = tempfile.SpooledTemporaryFile(max_size=LONGEST_SEGMENT, dir=folder)  # noqa: SIM115
    try:
        for frame in archive.packed(version):
            packed.write(frame)
        if not version.size:
            packed.write(Packer().packed(b""))
    except BaseException:
        packed.close()
        raise
    return packed


def _member(digest: str) -> str:
    return f"content/{digest}.zst"


def _line(version: Version) -> bytes:
    fields = version._asdict()
    del fields["number"], fields["inode"]
    return json.dumps(fields | {"content": _member(version.digest)}).encode() + b"\n"


class ListedVersion(NamedTuple):
    """A version as a file has it."""

    agent: str
    home: str
    path: str
    size: int
    mtime_ns: int
    mode: int
    digest: str
    kept_at: int


class ExportedCopies(NamedTuple):
    """All copies that a file has, and where their contents stand in it."""

    file: str
    versions: Sequence[ListedVersion]
    """The oldest first."""
    contents: Mapping[str, tuple[int, int]]
    """The first byte of the packed content of each digest, and how many there are."""

    def unpacked(self, version: ListedVersion, packed: BinaryIO) -> Iterator[bytes]:
        """The content of a version piece by piece; they count for nothing until the last one came.

        Raises NotAnArchiveError if it is damaged.
        """
        check, left = sha256(), version.size
        try:
            for piece in _unpacked_pieces(packed, version.size):
                check.update(piece)
                left -= len(piece)
                yield piece
        except UnpackError as error:
            raise NotAnArchiveError(self.file, f"{_member(version.digest)} is damaged ({error})") from error
        if left or check.hexdigest() != version.digest:
            raise NotAnArchiveError(self.file, f"{_member(version.digest)} is damaged, or was changed")


def exported_copies(opened: BinaryIO, file: str) -> ExportedCopies:
    """What another archive has exported, to be read where it is. Raises OSError, NotAnArchiveError."""
    with _naming_no_tar(file), closing(tarfile.open(fileobj=opened, mode="r:")) as tar:
        members = _members(tar, file)
        listed = _listed_versions(tar, members, file)
        _refuse_bombs(members, listed, file)
    places = {
        found[1]: (member.offset_data, member.size)
        for name, member in members.items()
        if (found := _MEMBER.fullmatch(name))
    }
    return ExportedCopies(file, listed, places)


@contextmanager
def _naming_no_tar(file: str) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, EOFError) as error:
        raise NotAnArchiveError(file, f"it is no tar file, or is cut off ({error})") from error


def import_from(archive: Archive, file: str, progress: Progress | None = None) -> Imported:
    """Take in what another archive has exported. Raises OSError, NotAnArchiveError: nothing was taken."""
    with _naming_no_tar(file), closing(tarfile.open(file, "r:")) as tar:
        members = _members(tar, file)
        listed = _listed_versions(tar, members, file)
        _refuse_bombs(members, listed, file)
        _check_contents(tar, members, listed, file, progress)
        return _taken_in(archive, tar, members, listed, progress)


def _members(tar: tarfile.TarFile, file: str) -> dict[str, tarfile.TarInfo]:
    members: dict[str, tarfile.TarInfo] = {}
    for member in tar:
        is_ours = member.name in (_README, _MANIFEST) or _MEMBER.fullmatch(member.name)
        if not is_ours or not member.isreg() or member.name in members or member.issparse():
            raise NotAnArchiveError(file, f"its member {member.name[:80]!r} is not of an export")
        members[member.name] = member
    if _MANIFEST not in members:
        raise NotAnArchiveError(file, "it has no list of copies at its end: it is cut off, or something else")
    return members


def _listed_versions(
    tar: tarfile.TarFile, members: dict[str, tarfile.TarInfo], file: str
) -> list[ListedVersion]:
    """What the list says, the oldest copy first."""
    if members[_MANIFEST].size > _LONGEST_LIST:
        raise NotAnArchiveError(file, "its list of copies is longer than any that was ever written")
    lines = _lines(tar, members[_MANIFEST], file)
    match next(lines, None):
        case {"format": format_name, "version": int(version), "copies": int(copies)} if format_name == FORMAT:
            if version > FORMAT_VERSION:
                raise NotAnArchiveError(file, "a newer geminids has written it; update geminids")
        case _:
            raise NotAnArchiveError(file, "its list does not say that it is one of kept copies")
    listed = [_listed_version(line, file) for line in lines]
    if len(listed) != copies:
        raise NotAnArchiveError(file, f"its list has {len(listed):,} of {copies:,} copies")
    missing = next((version for version in listed if _member(version.digest) not in members), None)
    if missing is not None:
        raise NotAnArchiveError(file, f"the content of {missing.path!r} is not in it")
    return sorted(listed, key=lambda version: version.kept_at)


def _lines(tar: tarfile.TarFile, member: tarfile.TarInfo, file: str) -> Iterator[Any]:
    opened = tar.extractfile(member)
    assert opened is not None
    with opened:
        while line := opened.readline(_LONGEST_LINE):
            try:
                yield json.loads(line)
            except (ValueError, RecursionError) as error:
                raise NotAnArchiveError(file, f"its list cannot be read ({error})") from error


def _listed_version(line: Any, file: str) -> ListedVersion:
    match line:
        case {
            "agent": str(agent),
            "home": str(home),
            "path": str(path),
            "size": int(size),
            "mtime_ns": int(mtime_ns),
            "mode": int(mode),
            "digest": str(digest),
            "kept_at": int(kept_at),
        } if _is_plausible(agent, home, path, size, mode) and _MEMBER.fullmatch(_member(digest)):
            # Whoever says that it was kept in the future does not go before what is kept here.
            at = min(max(kept_at, 0), time.time_ns() // 1_000)
            return ListedVersion(agent, home, path, size, mtime_ns, mode, digest, at)
        case _:
            raise NotAnArchiveError(file, "a line of its list is not of a kept copy")


def _is_plausible(agent: str, home: str, path: str, size: int, mode: int) -> bool:
    """Whether a line may be of a file that lay in the home of an agent."""
    try:
        os.fsencode(home + path)
    except UnicodeEncodeError:
        return False
    numbers_fit = all(0 <= number < 1 << 62 for number in (size, mode))
    are_paths = "\0" not in path and all(os.path.normpath(one) == one for one in (home, path))
    is_inside = os.path.isabs(home) and path.startswith(home.rstrip(os.sep) + os.sep)  # noqa: PTH117
    are_names = _AGENT.fullmatch(agent) and _PRINTABLE.fullmatch(home)
    return numbers_fit and are_paths and is_inside and are_names is not None


def _refuse_bombs(members: dict[str, tarfile.TarInfo], listed: Sequence[ListedVersion], file: str) -> None:
    """Refuse what no sync would keep, by what the list and the tar say of it."""
    for version in listed:
        if version.size > LARGEST:
            raise NotAnArchiveError(
                file,
                f"{version.path!r} has {version.size:,} bytes, and no file of more than {LARGEST:,} is kept",
            )
        packed = members[_member(version.digest)].size
        if version.size > max(_HARMLESS, packed * _SMALLEST_SHARE):
            raise NotAnArchiveError(
                file,
                f"{version.path!r} has {version.size:,} bytes in {packed:,} packed, as no conversation has",
            )


def _check_contents(
    tar: tarfile.TarFile,
    members: dict[str, tarfile.TarInfo],
    listed: Sequence[ListedVersion],
    file: str,
    progress: Progress | None,
) -> None:
    """Compare all contents with their digests: the first half of the work."""
    contents = {(version.digest, version.size) for version in listed}
    done, total = 0, 2 * sum(size for _, size in contents)
    for digest, size in contents:
        check = sha256()
        for piece in _unpacked(tar, members[_member(digest)], size, file):
            check.update(piece)
        if check.hexdigest() != digest:
            raise NotAnArchiveError(file, f"{_member(digest)} is damaged, or was changed")
        done += size
        if progress:
            progress(done, total)


def _unpacked(tar: tarfile.TarFile, member: tarfile.TarInfo, size: int, file: str) -> Iterator[bytes]:
    """What a member holds, piece by piece, and never more than it should."""
    opened = tar.extractfile(member)
    assert opened is not None
    left = size
    try:
        with opened:
            for piece in _unpacked_pieces(opened, size):
                left -= len(piece)
                yield piece
    except UnpackError as error:
        raise NotAnArchiveError(file, f"{member.name} cannot be unpacked ({error})") from error
    if left:
        raise NotAnArchiveError(file, f"{member.name} does not have the size that the list says")


def _unpacked_pieces(packed: Any, size: int) -> Iterator[bytes]:
    """The content of frames that follow one another; one byte more than expected if there is more."""
    left = size
    frame = unpacker()
    given = packed.read(_PIECE)
    while given or not frame.needs_input:
        piece = frame.decompress(given, min(_LARGE_PIECE, left + 1))
        given = b""
        left -= len(piece)
        yield piece
        if left < 0:
            return
        if frame.eof:
            given = frame.unused_data or packed.read(_PIECE)
            frame = unpacker()
            if not given:
                return
        elif frame.needs_input:
            given = packed.read(_PIECE)
    raise EOFError("it is cut off")


def _taken_in(
    archive: Archive,
    tar: tarfile.TarFile,
    members: dict[str, tarfile.TarInfo],
    listed: Sequence[ListedVersion],
    progress: Progress | None,
) -> Imported:
    # The first half was to check what is in the file.
    half = sum(version.size for version in listed)
    taken, done, total = 0, half, 2 * half
    with archive.writing() as writer:
        for version in listed:
            if not writer.has(version.path, version.digest, version.kept_at):
                pieces = _unpacked(tar, members[_member(version.digest)], version.size, version.path)
                with _gathered(pieces, version.size, archive.folder) as content:
                    taken += _is_taken(writer, version, content)
            done += version.size
            if progress:
                progress(done, total)
    homes = sorted({(version.agent, version.home) for version in listed})
    return Imported(taken, len(listed) - taken, homes)


def _is_taken(writer: Writer, listed: ListedVersion, content: Content) -> bool:
    """Whether a copy was not there yet. Beside one of ours it may count as kept at another time."""
    facts = {"mtime_ns": listed.mtime_ns, "mode": listed.mode, "kept_at": listed.kept_at}
    return writer.put_content(listed.agent, listed.home, listed.path, content, **facts).is_new


class _OnDisk:
    """Content that is too large for the memory, in a file without a name."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self.size = size

    def read_at(self, offset: int, length: int) -> bytes:
        """So many bytes from there."""
        self._file.seek(offset)
        return self._file.read(length)


@contextmanager
def _gathered(pieces: Iterable[bytes], size: int, folder: str) -> Iterator[Content]:
    if size <= LONGEST_SEGMENT:
        yield GivenContent(b"".join(pieces))
        return
    with tempfile.TemporaryFile(dir=folder) as file:
        for piece in pieces:
            file.write(piece)
        yield _OnDisk(file, size)
