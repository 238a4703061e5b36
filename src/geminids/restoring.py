"""Kept sessions on their way back to the disk: planned first, then written, and never over anything.

All of a plan is written or nothing: every file goes to a new one beside its target, and only when all of them
are on the disk do they take their names. A killed process leaves no half session under the name of one.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from geminids import sources
from geminids.errors import FileExistsAlreadyError
from geminids.export.files import naming
from geminids.sources.places import Home
from geminids.sources.restoring import Copy, Placement, is_held
from geminids.sources.resuming import Circumstances

_ON_WINDOWS = os.name == "nt"
_WINDOWS_DEVICE = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE
)
_NOT_ON_WINDOWS = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$')
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES, errno.EXDEV}
"""What file systems say that know no second name for a file."""


class RestorePlan(msgspec.Struct, frozen=True):
    """What is to be written for a session, and what there is to know about it before."""

    session_id: str
    placements: tuple[Placement, ...] = ()
    warnings: tuple[str, ...] = ()
    refusal: str | None = None
    """Why nothing can be written; then there are no placements."""

    @property
    def size(self) -> int:
        """How many bytes are to be written."""
        return sum(placement.size for placement in self.placements)


def plan_in_home(
    session_id: str, home: Home, copies: Sequence[Copy], circumstances: Circumstances
) -> RestorePlan:
    """How a session is put back where its agent finds it."""
    found = sources.load(home.agent).restoring(home, copies, circumstances)
    return RestorePlan(session_id, found.placements, found.warnings, found.refusal)


def plan_to_folder(session_id: str, home_folder: str, copies: Iterable[Copy], folder: str) -> RestorePlan:
    """Every file of a session, byte for byte, under the path that it had in the home, in another folder."""
    placements: list[Placement] = []
    for copy in copies:
        pieces = pieces_below(copy.path, home_folder)
        if pieces is None:
            reason = f"{copy.path!r} is no path in {home_folder!r}, and not written anywhere else."
            return RestorePlan(session_id, refusal=reason)
        target = os.path.join(folder, *pieces)  # noqa: PTH118
        if not _stays_in(target, folder):
            reason = f"{target!r} leads out of {folder!r} by a link. Choose another folder."
            return RestorePlan(session_id, refusal=reason)
        if not os.path.lexists(target):
            placements.append(_exactly(copy, target))
        elif not is_held(target, copy):
            reason = f"{target!r} is there, and nothing is written over it. Choose another folder."
            return RestorePlan(session_id, refusal=reason)
    refusal = None if placements else f"All of it is in {folder!r} already."
    return RestorePlan(session_id, tuple(placements), refusal=refusal)


def _exactly(copy: Copy, target: str) -> Placement:
    return Placement(path=target, read=copy.read, size=copy.size, origin=copy.path, mtime_ns=copy.mtime_ns)


def pieces_below(path: str, folder: str, *, on_windows: bool = _ON_WINDOWS) -> list[str] | None:
    """The names that lead from a folder to a path in it; None if one of them may lead elsewhere."""
    separator = r"[/\\]" if on_windows else "/"
    names, above = re.split(separator, path), re.split(separator, folder)
    while above and not above[-1]:
        above.pop()
    pieces = names[len(above) :]
    is_inside = names[: len(above)] == above and all(_is_name(name, on_windows) for name in pieces)
    return pieces if pieces and is_inside else None


def _is_name(name: str, on_windows: bool) -> bool:
    if name in ("", ".", "..") or "\0" in name:
        return False
    return not (on_windows and (_NOT_ON_WINDOWS.search(name) or _WINDOWS_DEVICE.fullmatch(name)))


def _stays_in(target: str, folder: str) -> bool:
    """Whether no link on the way leads out of the folder; the folder itself may be reached by one."""
    root, real = os.path.realpath(folder), os.path.realpath(os.path.dirname(target))  # noqa: PTH120
    return os.path.commonpath((root, real)) == root


def write(plan: RestorePlan) -> list[str]:
    """Write all files of a plan; their paths. If anything fails, what was made is taken away again.

    Raises FileExistsAlreadyError where something was put there meanwhile, OSError with the name of the file,
    and what reading a damaged copy raises.
    """
    making = _Making()
    try:
        for placement in plan.placements:
            making.prepare(placement)
        for placement in plan.placements:
            making.settle(placement)
    except BaseException:
        making.undo()
        raise
    finally:
        making.tidy()
    return [placement.path for placement in plan.placements]


class _Making:
    """Files and folders that are being made."""

    def __init__(self) -> None:
        self._folders: list[Path] = []
        self._parts: dict[str, Path] = {}
        self._settled: list[Path] = []

    def prepare(self, placement: Placement) -> None:
        """Write a file beside its target, whole and on the disk."""
        target = Path(placement.path)
        content = placement.read()
        with naming(target):
            self._make_folder(target.parent)
            part = target.with_name(f".geminids-{os.getpid()}-{secrets.token_hex(4)}.part")
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            self._parts[placement.path] = part
            with open(handle, "wb") as opened:  # noqa: PTH123
                opened.write(content)
                opened.flush()
                os.fsync(handle)
            if placement.mtime_ns is not None:
                os.utime(part, ns=(placement.mtime_ns, placement.mtime_ns))

    def settle(self, placement: Placement) -> None:
        """Give a file its name, unless something has it."""
        target = Path(placement.path)
        with naming(target):
            try:
                _give_name(self._parts[placement.path], target)
            except FileExistsError:
                raise FileExistsAlreadyError(str(target)) from None
            self._settled.append(target)
            _sync_folder(target.parent)

    def undo(self) -> None:
        """Take away what has a name already, and the folders that were made for it."""
        for target in self._settled:
            with contextlib.suppress(OSError):
                target.unlink()
        self.tidy()
        for folder in reversed(self._folders):
            with contextlib.suppress(OSError):
                # One in which somebody has put something meanwhile stays.
                folder.rmdir()

    def tidy(self) -> None:
        """Take away what has no name of its own."""
        for part in self._parts.values():
            with contextlib.suppress(OSError):
                part.unlink()

    def _make_folder(self, folder: Path) -> None:
        for above in reversed(list(_missing(folder))):
            try:
                above.mkdir(mode=0o700)
            except FileExistsError:
                # Somebody else made it meanwhile, or it is none.
                if not above.is_dir():
                    raise
            else:
                self._folders.append(above)


def _missing(folder: Path) -> Iterator[Path]:
    while not folder.is_dir():
        yield folder
        folder = folder.parent


def _give_name(part: Path, target: Path) -> None:
    """The second name of a file, which fails where the name is taken."""
    try:
        os.link(part, target)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # The name is taken by an empty file first, since a rename would take any.
        os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        part.replace(target)


def _sync_folder(folder: Path) -> None:
    """See to it that the names are on the disk too, where a folder can be told so."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
