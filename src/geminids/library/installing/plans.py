"""What is to be written for an agent, or taken away: worked out before anything is touched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec

from geminids.core.agents.homes import Home
from geminids.core.agents.install import PROGRAM, Edit, Installing, Package
from geminids.core.atomic_files import is_part
from geminids.core.edits.errors import UneditableError
from geminids.library.installing.files import Change, UnwritableError, check_writable, content_of
from geminids.library.installing.record import Edited, Installed, InstallRecord, Written, digest_of

T = TypeVar("T")
_BLANK = (b"", b"{}")
"""What is left of settings that hold nothing any more."""


class InstallPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be done for the agent of a home."""

    agent: str
    title: str
    home: str
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    refusal: str | None = None
    """Why nothing can be done; then there are no changes."""
    entry: Installed | None = None
    """What is installed afterwards."""
    backups: tuple[bytes, ...] = ()
    """Settings as they were, to be kept."""
    emptied: tuple[str, ...] = ()
    """Folders that go if nothing is left in them."""

    @property
    def is_done(self) -> bool:
        """Whether everything is as it should be."""
        return not self.changes and not self.refusal


class Planner:
    """Plans for one home."""

    def __init__(self, home: Home, title: str, record: InstallRecord) -> None:
        self._home, self._title, self._record = home, title, record
        self._entry = record.entry(home.agent, home.folder)
        self._changes: list[Change] = []
        self._notes: list[str] = []
        self._written: list[Written] = []
        self._edited: list[Edited] = []
        self._backups: list[bytes] = []
        self._emptied: list[str] = []

    def install(self, wished: Installing, places: Installing, version: str) -> InstallPlan:
        """What is to be written, or why nothing can be: a stranger's package, settings that are damaged."""
        self._notes += wished.notes
        try:
            for package in wished.packages:
                self._write(package)
            for edit in wished.edits:
                self._edit(edit)
            own = tuple(edit for edit in places.edits if not edit.is_by_agent)
            self._take_away(Installing(packages=places.packages, edits=own), wished)
        except (UneditableError, UnwritableError) as error:
            return self._refused(str(error))
        entry = Installed(
            self._home.agent,
            self._home.folder,
            version,
            tuple(self._written),
            tuple(self._edited),
            self._entry.made if self._entry else (),
        )
        return self._plan(entry)

    def uninstall(self, places: Installing) -> InstallPlan:
        """What is to be taken away, whether it is on our list or only known by its name."""
        try:
            self._take_away(places, Installing())
        except (UneditableError, UnwritableError) as error:
            return self._refused(str(error))
        self._emptied += self._entry.made if self._entry else ()
        return self._plan(None)

    def _plan(self, entry: Installed | None) -> InstallPlan:
        return InstallPlan(
            agent=self._home.agent,
            title=self._title,
            home=self._home.folder,
            changes=tuple(self._changes),
            notes=tuple(self._notes),
            entry=entry,
            backups=tuple(self._backups),
            emptied=tuple(self._emptied),
        )

    def _refused(self, reason: str) -> InstallPlan:
        return InstallPlan(agent=self._home.agent, title=self._title, home=self._home.folder, refusal=reason)

    # Packages

    def _write(self, package: Package) -> None:
        if Path(package.folder).is_symlink():
            raise UnwritableError(package.folder, "is a link")
        known = self._entry.written(package.folder) if self._entry else None
        strangers = [name for name in _files_in(package.folder) if name not in package.files]
        if known is None and (strangers or _foreign(package)):
            raise UnwritableError(
                package.folder, "exists already and was not written by `geminids install`; move it away first"
            )
        self._note_changed(package.folder, known, package.files, "replaced")
        for name, content in package.files.items():
            self._change_file(package.folder, name, content)
        for name in strangers:
            if known and name in known.files:
                self._change_file(package.folder, name, None)
        self._written.append(
            Written(package.folder, {name: digest_of(content) for name, content in package.files.items()})
        )

    def _change_file(self, package: str, name: str, content: bytes | None) -> None:
        path = _inside(package, name)
        self._change(Change(path=path, before=content_of(path), after=content, package=package))

    def _change(self, change: Change) -> None:
        if change.before != change.after:
            check_writable(change.path)
            self._changes.append(change)

    def _note_changed(
        self, folder: str, known: Written | None, wished: Mapping[str, bytes], fate: str
    ) -> None:
        """Tell of a file of ours that somebody else wrote to: it does not stay as it is."""
        for name, digest in known.files.items() if known else ():
            there = content_of(_inside(folder, name))
            if there is not None and there != wished.get(name) and digest_of(there) != digest:
                self._notes.append(
                    f"{_inside(folder, name)!r} was changed after the installation, and is {fate}."
                )

    # Settings

    def _edit(self, edit: Edit) -> None:
        there = content_of(edit.path)
        base = self._base(edit, there)
        wanted = _named(edit.path, lambda: edit.add(base or b""))
        known = self._entry.edited(edit.path) if self._entry else None
        if there is not None and base != there and known is None and wanted != there:
            names = edit.difference(base or b"", there)
            raise UnwritableError(
                edit.path, f"already has {names}, which `geminids install` did not write; remove it first"
            )
        names = edit.difference(base or b"", wanted)
        self._change(Change(path=edit.path, before=there, after=wanted, what=names))
        if base is not None:
            self._backups.append(base)
        self._edited.append(Edited(edit.path, digest_of(wanted), None if base is None else digest_of(base)))

    def _base(self, edit: Edit, there: bytes | None) -> bytes | None:
        """Settings without what is ours: as they were, if nobody has changed them since."""
        known = self._entry.edited(edit.path) if self._entry else None
        if there is None:
            return None
        before = self._record.kept(known.before) if known and known.before else None
        if known and digest_of(there) == known.after and (before is not None or known.before is None):
            return before
        without = _named(edit.path, lambda: edit.remove(there, before))
        is_ours = known is not None and known.before is None
        return None if is_ours and without.strip() in _BLANK else without

    # Taking away

    def _take_away(self, places: Installing, wished: Installing) -> None:
        """Remove all that is ours and not wished."""
        stays = {one.folder for one in wished.packages}
        for package in places.packages:
            if package.folder not in stays:
                self._remove_package(package)
        edited = {one.path for one in wished.edits}
        for edit in places.edits:
            if edit.path not in edited:
                self._undo(edit)

    def _remove_package(self, package: Package) -> None:
        known = self._entry.written(package.folder) if self._entry else None
        names = _files_in(package.folder)
        if not (names or known) or Path(package.folder).is_symlink():
            return
        ours = known.files if known else package.files
        strangers = [name for name in names if name not in ours]
        if known is None and (foreign := strangers or _foreign(package)):
            self._notes.append(
                f"{package.folder!r} stays: {foreign[0]!r} in it was not written by `geminids install`."
            )
            return
        self._note_changed(package.folder, known, {}, "removed")
        for name in names:
            if name in ours:
                self._change_file(package.folder, name, None)
        if strangers:
            self._notes.append(
                f"{_inside(package.folder, strangers[0])!r} is not part of geminids and stays."
            )
        self._emptied += _folders_of(package.folder, {*names, *ours})

    def _undo(self, edit: Edit) -> None:
        there = content_of(edit.path)
        known = self._entry.edited(edit.path) if self._entry else None
        # Settings that nothing was added to may be damaged as they like.
        if there is None or (known is None and PROGRAM.encode() not in there):
            return
        base = self._base(edit, there)
        names = _named(edit.path, lambda: edit.difference(there, base or b""))
        is_noted = known or (edit.is_by_agent and self._entry)
        if names and not is_noted and not _is_as_installed(edit, there, base or b""):
            self._notes.append(
                f"{edit.path!r} has {names}, which `geminids install` did not write: it stays."
            )
            return
        if known and digest_of(there) != known.after and base != there:
            self._notes.append(
                f"{edit.path!r} was changed after the installation: only {names} is removed from it."
            )
        self._change(Change(path=edit.path, before=there, after=base, what=names))


def _is_as_installed(edit: Edit, there: bytes, without: bytes) -> bool:
    """Return whether settings hold exactly what this installation would add to them."""
    return not _named(edit.path, lambda: edit.difference(there, edit.add(without)))


def _named(path: str, edited: Callable[[], T]) -> T:
    """Return what an edit returns. Raises UnwritableError with the name of the file."""
    try:
        return edited()
    except UneditableError as error:
        raise UnwritableError(path, str(error)) from error


def _foreign(package: Package) -> list[str]:
    """The texts in the place of ours that are others; commands in manifests depend on who installed them."""
    there = {name: content_of(_inside(package.folder, name)) for name in package.files}
    return [
        name
        for name, content in package.files.items()
        if not name.endswith(".json") and there[name] not in (None, content)
    ]


def _inside(folder: str, name: str) -> str:
    return os.path.join(folder, *name.split("/"))  # noqa: PTH118


def _files_in(folder: str) -> list[str]:
    """All that is in a folder and is none, by its path in it; without files under way."""
    found: list[str] = []
    for root, folders, files in os.walk(folder):
        links = [name for name in folders if Path(root, name).is_symlink()]
        names = (name for name in (*files, *links) if not is_part(name))
        found += [Path(root, name).relative_to(folder).as_posix() for name in names]
    return sorted(found)


def _folders_of(folder: str, names: Iterable[str]) -> Iterator[str]:
    """A folder, and those in it that lead to its files."""
    yield folder
    yield from {
        str(Path(folder, *above.parts)) for name in names for above in Path(name).parents if above.parts
    }
