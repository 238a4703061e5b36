"""Files of others that are changed: read whole, replaced at once, and only if they are what they were."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

import msgspec

from geminids.core.atomic_files import PartFile, opened_plain, remove_left_over, sync_folder
from geminids.core.errors import GeminidsError

LARGEST = 16_000_000
_PRIVATE = 0o600


class NotTakenBackError(GeminidsError):
    """Something failed, and what was done before could not be undone."""

    def __init__(self, paths: Sequence[str]) -> None:
        super().__init__(
            f"Not everything could be written, and what was written to {', '.join(map(repr, paths))} could "
            "not be undone. Make room, or open the folder, and run `geminids uninstall`."
        )


class ChangedMeanwhileError(GeminidsError):
    """Somebody else wrote a file between the plan and its execution."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} was changed in the meantime. Nothing was written; run the command again.")


class UnwritableError(GeminidsError):
    """A file that is not to be changed."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path!r} {reason}. Nothing was changed.")


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is written, changed or removed."""

    path: str
    before: bytes | None
    """None: there is none."""
    after: bytes | None
    """None: it is removed."""
    what: str | None = None
    """What is added to a file of settings, or taken from it; None for a file of ours."""
    package: str | None = None
    """The folder of ours that the file is in."""

    @property
    def action(self) -> str:
        """What is done: create, edit, replace or remove."""
        if self.before is None:
            return "create"
        if self.after is None:
            return "remove"
        return "edit" if self.what else "replace"


def content_of(path: str) -> bytes | None:
    """What a file holds, through links; None if it is not there. Raises UnwritableError, OSError."""
    try:
        handle = opened_plain(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnwritableError(path, f"cannot be read: {error.strerror or error}") from error
    with open(handle, "rb") as file:  # noqa: PTH123
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise UnwritableError(path, "is too large for settings")
    return content


def check_writable(path: str) -> None:
    """Raises UnwritableError for a file that its owner protects from being changed."""
    real = os.path.realpath(path)
    try:
        mode = os.stat(real).st_mode  # noqa: PTH116
    except FileNotFoundError:
        return
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise UnwritableError(path, "is read-only")


def apply(changes: Iterable[Change]) -> None:
    """Make all changes or none. Raises ChangedMeanwhileError, NotTakenBackError, OSError."""
    done: list[Change] = []
    made: list[str] = []
    try:
        for change in changes:
            _check_unchanged(change)
            for folder in _missing(os.path.dirname(os.path.realpath(change.path))):  # noqa: PTH120
                os.mkdir(folder, 0o700)  # noqa: PTH102
                made.append(folder)
            done.append(change)
            _put(change.path, change.after)
    except BaseException as error:
        left = _take_back(done)
        remove_empty(made)
        if left:
            raise NotTakenBackError(left) from error
        raise


def are_made(changes: Sequence[Change]) -> bool:
    """Whether all changes were made already, by somebody else: then there are some, and nothing is to do."""
    return bool(changes) and all(content_of(change.path) == change.after for change in changes)


def _take_back(done: Sequence[Change]) -> list[str]:
    """Undo changes, the last one first; where that fails too, all others are undone: the files that stay."""
    left: list[str] = []
    for change in reversed(done):
        try:
            if content_of(change.path) != change.before:
                _put(change.path, change.before)
        except (OSError, UnwritableError):
            left.append(change.path)
    return left


def missing_folders(changes: Iterable[Change]) -> list[str]:
    """The folders that are made for changes, the outer ones first."""
    missing: list[str] = []
    for change in changes:
        if change.after is not None:
            folders = _missing(os.path.dirname(os.path.realpath(change.path)))  # noqa: PTH120
            missing += [folder for folder in folders if folder not in missing]
    return missing


def _check_unchanged(change: Change) -> None:
    if content_of(change.path) != change.before:
        raise ChangedMeanwhileError(change.path)


def remove_empty(folders: Iterable[str]) -> None:
    """Remove folders that hold nothing, or what a killed process has left, the inner ones first."""
    for folder in sorted(folders, key=len, reverse=True):
        remove_left_over(folder)
        try:
            os.rmdir(folder)  # noqa: PTH106
        except OSError:
            # Something else is in it now, or it is gone.
            continue


def tidy_beside(paths: Iterable[str]) -> None:
    """Remove what a killed process has left beside files."""
    for path in paths:
        remove_left_over(os.path.dirname(os.path.realpath(path)))  # noqa: PTH120


def _missing(folder: str) -> list[str]:
    missing: list[str] = []
    while not os.path.isdir(folder):  # noqa: PTH112
        missing.append(folder)
        folder = os.path.dirname(folder)  # noqa: PTH120
    return missing[::-1]


def _put(path: str, content: bytes | None) -> None:
    # A link stays one: what it leads to is replaced.
    real = os.path.realpath(path)
    folder = os.path.dirname(real)  # noqa: PTH120
    remove_left_over(folder)
    if content is None:
        if os.path.lexists(real):
            os.remove(real)  # noqa: PTH107
        return
    try:
        mode = stat.S_IMODE(os.stat(real).st_mode)  # noqa: PTH116
    except FileNotFoundError:
        mode = _PRIVATE
    with PartFile(real) as part:
        part.file.write(content)
        os.chmod(part.path, mode)  # noqa: PTH101
        part.sync()
        part.settle(replace=True)
    sync_folder(folder)
