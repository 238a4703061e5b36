"""Looking for folders where people keep their projects, for a limited time.

Nearest first, level by level. Every folder that is met counts, but not all are entered: links never,
nor file systems of the kernel and of the network, nor what programs fill by themselves (`places.py`).
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from geminids.core import agents
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import KnownBy
from geminids.core.usual_folders import (
    HOME_FOLDERS,
    MACHINE_FOLDERS,
    NOT_ENTERED_IN_HOME,
    SKIPPED,
    SKIPPED_WHEN_QUICK,
    VARIABLES,
)
from geminids.reading.peeks import beginning
from geminids.sync.projects.resolution import Known

QUICK_DEPTH = 4
DEEP_DEPTH = 8

_KERNEL = frozenset(
    {"/proc", "/sys", "/dev", "/run", "/boot", "/snap", "/private/var", "/System", "/Network"}
)
_REMOTE = lazy_pattern(
    r"nfs|cifs|smb|afp|webdav|davfs|afs|ceph|gluster|lustre|autofs|9p$|fuse\.|ncpfs|ocfs|beegfs|"
    r"proc|sysfs|dev|cgroup|bpf|tracefs|debugfs|securityfs|configfs|pstore|mqueue|hugetlbfs|squashfs|ramfs"
)
"""File systems of the network and of the kernel, by how their types begin."""
_LOCAL_FUSE = frozenset(
    {"fuse.ntfs-3g", "fuse.ntfs", "fuse.exfat", "fuse.ext2", "fuse.encfs", "fuse.gocryptfs"}
)

_CLOCK_EVERY = 512
_LARGEST_TABLE = 1024 * 1024


class Mounts:
    """What the system says is mounted where, as in /proc/mounts; elsewhere nothing is known."""

    def __init__(self, table: bytes) -> None:
        rows = [line.split(b" ") for line in table.splitlines()]
        kinds = {_mount_path(row[1]): row for row in rows if len(row) > 3}
        self.entered = frozenset(path for path, row in kinds.items() if not _is_foreign(row))
        self.not_entered = frozenset(kinds) - self.entered
        self.known = bool(kinds)

    @classmethod
    def of_this_machine(cls) -> Mounts:
        """The mounts that this process sees."""
        return cls(beginning(Path("/proc/self/mounts"), _LARGEST_TABLE))


def search_roots(
    home: Path, environment: Mapping[str, str], *, deep: bool = False, mounts: Mounts | None = None
) -> list[str]:
    """Where to look, the likeliest first; what is not there or not local is left out."""
    mounts = mounts or Mounts.of_this_machine()
    named = [Path(environment[name]) for name in VARIABLES if environment.get(name)]
    named += [Path(path) / "src" for path in environment.get("GOPATH", "").split(os.pathsep) if path]
    places = [*named, *(home / name for name in HOME_FOLDERS), home, *map(Path, MACHINE_FOLDERS)]
    if deep:
        places += [Path(path) for path in sorted(mounts.entered) if _may_hold_work(path)]
        places += _drives()
    found = [os.path.normpath(place) for place in places if place.is_absolute()]
    return [path for path in dict.fromkeys(found) if not below(path, mounts.not_entered) and _is_folder(path)]


def searched(
    roots: Iterable[str],
    depth: int,
    deadline: float,
    *,
    homes: Iterable[Path] = (),
    mounts: Mounts | None = None,
) -> Iterator[Known]:
    """The folders at and below the roots, until `time.monotonic()` is the deadline.

    On each level those below a folder come first that holds `.git` or what an agent leaves in a project.
    """
    mounts = mounts or Mounts.of_this_machine()
    begun = list(dict.fromkeys(roots))
    entering = _Entering(begun, deep=depth >= DEEP_DEPTH, homes=homes, mounts=mounts)
    yield from ((root, KnownBy.SEARCH) for root in begun)
    level = begun
    for _ in range(depth):
        first: list[str] = []
        later: list[str] = []
        for folder in level:
            if time.monotonic() >= deadline:
                return
            met, entered, telling = _listed(folder, entering, deadline)
            yield from met
            (first if telling else later).extend(entered)
        level = first + later


class _Entering:
    """Which folders a walk enters."""

    def __init__(self, roots: list[str], *, deep: bool, homes: Iterable[Path], mounts: Mounts) -> None:
        self.roots = frozenset(roots)
        self.deep = deep
        self.skipped = SKIPPED if deep else SKIPPED | SKIPPED_WHEN_QUICK
        used = [source.projects() for source in agents.every()]
        self.telling = frozenset({".git", *(mark for of_agent in used for mark in of_agent.marks)})
        self.tree_folders = frozenset(name for of_agent in used for name in of_agent.tree_folders)
        private = [*NOT_ENTERED_IN_HOME, *(name for of_agent in used for name in of_agent.data_folders)]
        closed = {str(home / name) for home in homes for name in private}
        self.closed = _KERNEL | mounts.not_entered | closed
        # Where nobody tells what is mounted, a walk stays on the disks it was sent to.
        self.disks = None if mounts.known else frozenset(map(_disk, roots))

    def inside(self, path: str, name: str) -> str | None:
        """Where to go on from a folder: mostly into it."""
        if path in self.closed or name.lower() in self.skipped:
            return None
        if name in self.tree_folders:
            return os.path.join(path, "worktrees")  # noqa: PTH118 - many thousand times
        return path if self.deep or name[0] != "." else None

    def stays(self, folder: str) -> bool:
        """Whether a folder lies on a disk that the walk was sent to."""
        return self.disks is None or _disk(folder) in self.disks


def _disk(folder: str) -> int | None:
    try:
        return os.lstat(folder).st_dev
    except OSError:
        return None


def _listed(folder: str, entering: _Entering, deadline: float) -> tuple[list[Known], list[str], bool]:
    """The folders in a folder, where to go on, and whether it looks like a project."""
    met: list[Known] = []
    entered: list[str] = []
    telling = False
    if not entering.stays(folder):
        return met, entered, telling
    try:
        with os.scandir(folder) as entries:
            for number, entry in enumerate(entries, 1):
                telling = telling or entry.name in entering.telling
                if number % _CLOCK_EVERY == 0 and time.monotonic() >= deadline:
                    break
                if not entry.is_dir(follow_symlinks=False) or _is_junction(entry):
                    continue
                if entry.path not in entering.roots:
                    met.append((entry.path, KnownBy.SEARCH))
                    if inside := entering.inside(entry.path, entry.name):
                        entered.append(inside)
    except OSError:
        # One folder that cannot be read is no reason to stop.
        pass
    return met, entered, telling


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a link of Windows that looks like a folder."""
    return sys.platform == "win32" and bool(
        entry.stat(follow_symlinks=False).st_file_attributes & 0x400  # FILE_ATTRIBUTE_REPARSE_POINT
    )


def _may_hold_work(mounted: str) -> bool:
    return mounted != "/" and (mounted.startswith("/run/media/") or not below(mounted, _KERNEL))


def _is_folder(path: str) -> bool:
    # A link is entered when it is a root: people keep their work on another disk.
    return os.path.isdir(path)  # noqa: PTH112 - unlike pathlib, this never raises


def below(path: str, folders: Collection[str]) -> bool:
    """Whether a path is one of the folders, or lies in one."""
    return any(above in folders for above in (path, *map(str, Path(path).parents)))


def _mount_path(written: bytes) -> str:
    octal = re.sub(rb"\\([0-7]{3})", lambda found: bytes((int(found[1], 8) & 0xFF,)), written)
    return os.fsdecode(octal)


def _is_foreign(row: list[bytes]) -> bool:
    kind = row[2].decode("ascii", "replace")
    if kind == "9p" and b"drvfs" in row[3]:
        return False  # a Windows drive in WSL
    return bool(_REMOTE.match(kind)) and kind not in _LOCAL_FUSE


def _drives() -> list[Path]:
    """The drives of Windows that are disks of this machine."""
    names: list[str] = []
    if sys.platform == "win32":
        import ctypes

        kind = ctypes.windll.kernel32.GetDriveTypeW
        roots = [f"{letter}:\\" for letter in "CDEFGHIJKLMNOPQRSTUVWXYZ"]
        names = [root for root in roots if kind(root) in (2, 3)]  # removable, fixed
    return [Path(name) for name in names]
