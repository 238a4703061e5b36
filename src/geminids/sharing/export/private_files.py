"""Files for this user alone: several at once, all of them or none, and never over another.

Every file goes to a new one beside its target, and only when all of them are on the disk do they take their
names. A killed process leaves no half file under the name of a whole one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from geminids.core.atomic_files import remove_left_over, sync_folder
from geminids.core.errors import LedAwayError
from geminids.sharing.export.files import NewFile, naming


class PrivateFile(NamedTuple):
    """A file to be written."""

    path: str
    read: Callable[[], bytes]
    """Gives what goes into it; asked for once, when it is written."""
    mtime_ns: int | None = None
    """When it counts as last written; None: now."""


def write_private(wanted: Iterable[PrivateFile], within: str | None = None) -> None:
    """Write all files. If anything fails, what was made is taken away again, folders too.

    None goes through a link out of the folder `within`, not even one that was put there meanwhile.

    Raises FileExistsAlreadyError where something is there, LedAwayError, OSError with the name of the file,
    and what reading a content raises.
    """
    with ExitStack() as undoing, ExitStack() as under_way:
        files = [_written(one, under_way, undoing) for one in wanted]
        for file in files:
            # What was written lies beside the target: in a folder exchanged later there is nothing to rename.
            if within is not None and not stays_in(str(file.target), within):
                raise LedAwayError(str(file.target), within)
            undoing.callback(file.take_back)
            with naming(file.target):
                file.settle(replace=False)
        for folder in {file.target.parent for file in files}:
            _sync(folder)
            remove_left_over(str(folder))
        undoing.pop_all()


def stays_in(target: str, folder: str) -> bool:
    """Whether no link on the way leads out of the folder; the folder itself may be reached by one."""
    root, real = os.path.realpath(folder), os.path.realpath(Path(target).parent)
    return Path(real).is_relative_to(root)


def _written(wanted: PrivateFile, under_way: ExitStack, undoing: ExitStack) -> NewFile:
    """A file that is whole and on the disk, and has no name yet."""
    target = Path(wanted.path)
    content = wanted.read()
    with naming(target):
        for folder in _made_folders(target.parent):
            undoing.callback(_remove_folder, folder)
        file = under_way.enter_context(NewFile(target, private=True))
        file.write([content])
        if wanted.mtime_ns is not None:
            file.date(wanted.mtime_ns)
    return file


def _made_folders(folder: Path) -> Iterator[Path]:
    """Make a folder and those above it that are missing; each that was made, the outermost first."""
    for missing in reversed(list(_missing(folder))):
        try:
            missing.mkdir(mode=0o700)
        except FileExistsError:
            # Somebody else made it meanwhile, or it is none.
            if not missing.is_dir():
                raise
        else:
            yield missing
            _sync(missing.parent)


def _missing(folder: Path) -> Iterator[Path]:
    while not folder.is_dir():
        yield folder
        folder = folder.parent


def _remove_folder(folder: Path) -> None:
    with suppress(OSError):
        # One in which somebody has put something meanwhile stays.
        folder.rmdir()


def _sync(folder: Path) -> None:
    """See to it that the names are on the disk too, where a folder can be told so."""
    # Some file systems refuse it; the files themselves are on the disk.
    with suppress(OSError):
        sync_folder(str(folder))
