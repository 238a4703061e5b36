"""Change files that other programs write too: all of them or none, and only if none was written since."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence

import msgspec

from geminids.core.agents.install import LARGEST_SETTINGS
from geminids.core.atomic_files import PartFile, opened_plain, remove_left_over, sync_folder
from geminids.core.errors import GeminidsError
from geminids.library.installing.exchange import remove, replace


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
        content = file.read(LARGEST_SETTINGS + 1)
    if len(content) > LARGEST_SETTINGS:
        raise UnwritableError(path, "is too large for settings")
    return content


def check_writable(path: str) -> None:
    """Raise UnwritableError for a file that its owner protects, or that would become another file."""
    real = os.path.realpath(path)
    try:
        facts = os.stat(real)  # noqa: PTH116
    except FileNotFoundError:
        return
    if not facts.st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise UnwritableError(path, "is read-only")
    if facts.st_nlink > 1:
        # A process that was killed may have left the second name.
        remove_left_over(os.path.dirname(real))  # noqa: PTH120
    if os.stat(real).st_nlink > 1:  # noqa: PTH116
        raise UnwritableError(path, "has another name (a hard link), under which it would not change")
    if os.name == "posix" and os.geteuid() not in (0, facts.st_uid):
        raise UnwritableError(path, "belongs to another user")


def apply(changes: Iterable[Change]) -> None:
    """Make all changes or none. Raises ChangedMeanwhileError, NotTakenBackError, UnwritableError, OSError."""
    done: list[Change] = []
    made: list[str] = []
    try:
        for change in changes:
            _check_unchanged(change)
            for folder in _missing(os.path.dirname(os.path.realpath(change.path))):  # noqa: PTH120
                os.mkdir(folder, 0o700)  # noqa: PTH102
                made.append(folder)
                _give_owner(folder, os.stat(os.path.dirname(folder)))  # noqa: PTH116, PTH120
            done.append(change)
            try:
                _make(change)
            except ChangedMeanwhileError:
                done.pop()
                raise
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
    """Undo changes, the last one first, and return the paths of those that could not be undone."""
    left: list[str] = []
    for change in reversed(done):
        undo = Change(path=change.path, before=change.after, after=change.before)
        try:
            if content_of(change.path) != change.before:
                _make(undo)
        except (OSError, ChangedMeanwhileError, UnwritableError):
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


def _make(change: Change) -> None:
    """Make one change, or leave the file as another program wrote it. Raises ChangedMeanwhileError."""
    # A link stays a link: the file that it leads to is replaced.
    real = os.path.realpath(change.path)
    folder = os.path.dirname(real)  # noqa: PTH120
    remove_left_over(folder)
    with PartFile(real) as part:
        if change.after is None:
            is_made = remove(part, real, change.before)
        else:
            part.file.write(change.after)
            _copy_attributes(change.path, real, part)
            part.sync()
            part.file.close()
            is_made = _create(part) if change.before is None else replace(part, real, change.before)
    if not is_made:
        raise ChangedMeanwhileError(change.path)
    sync_folder(folder)


def _create(part: PartFile) -> bool:
    try:
        part.settle(replace=False)
    except FileExistsError:
        return False
    return True


def _copy_attributes(path: str, real: str, part: PartFile) -> None:
    """Give a new file the owner, the mode and the extended attributes of the file that it replaces.

    Root gives a file that replaces none the owner of its folder. Raises UnwritableError.
    """
    try:
        facts = os.stat(real)  # noqa: PTH116
    except FileNotFoundError:
        _give_owner(part.path, os.stat(os.path.dirname(real)))  # noqa: PTH116, PTH120
        return
    try:
        if os.name == "posix" and (facts.st_uid, facts.st_gid) != _owner(part.path):
            os.chown(part.path, facts.st_uid, facts.st_gid)
        os.chmod(part.path, stat.S_IMODE(facts.st_mode))  # noqa: PTH101
        for name in getattr(os, "listxattr", lambda _: ())(real):
            os.setxattr(part.path, name, os.getxattr(real, name))
    except OSError as error:
        reason = f"has an owner or attributes that cannot be kept: {error.strerror or error}"
        raise UnwritableError(path, reason) from error


def _give_owner(path: str, like: os.stat_result) -> None:
    """Give a file or a folder that root made to the owner of the agent's folder."""
    if os.name == "posix" and os.geteuid() == 0:
        os.chown(path, like.st_uid, like.st_gid)


def _owner(path: str) -> tuple[int, int]:
    facts = os.stat(path)  # noqa: PTH116
    return facts.st_uid, facts.st_gid
