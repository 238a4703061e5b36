"""Which project is meant by a name (or a piece of one), a path, a slug or the beginning of a hash."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from geminids.core.config import current_folder, expanded

if TYPE_CHECKING:
    from geminids.core.names import NamedFolder, Project

_NO_LETTER = re.compile(r"[\W_]+")
_HASH_PREFIX = re.compile(r"[0-9a-f]{4,64}")
_LEAST_LETTERS = 3
"""Fewer letters stand in their order in too many names."""


def match(projects: Iterable[Project], wanted: str) -> tuple[Project, ...]:
    """The projects that are meant: by the whole name, else by a piece of it, else by letters in order.

    What agents know by different names is one project if the folder is the same.
    """
    known = list(dict.fromkeys(projects))
    for is_meant in _ways(wanted):
        if found := {project for project in known if is_meant(project)}:
            return tuple(_with_others_there(known, found))
    return ()


def _with_others_there(known: Iterable[Project], found: Collection[Project]) -> Iterator[Project]:
    """These, and all others of the same folders."""
    from geminids.core.spellings import same_place

    folders = {same_place(project.path) for project in found if project.path}
    for project in known:
        if project in found or (project.path and same_place(project.path) in folders):
            yield project


def exactly(projects: Iterable[Project], wanted: str) -> tuple[Project, ...]:
    """Of the projects, those whose very folder was typed."""
    from geminids.core.spellings import same_place

    folders = _folders(wanted) if _is_path(wanted) else []
    keys, hashes = {folder.key for folder in folders}, {folder.hash for folder in folders}
    return tuple(p for p in projects if p.hash in hashes or (p.path and same_place(p.path) in keys))


def nearest(names: Sequence[str], wanted: str) -> list[str]:
    """Names that look like the one that nothing has, or else a few of those there are."""
    return like(names, wanted) or list(names[:5])


def like(names: Sequence[str], wanted: str) -> list[str]:
    """Names that look like the one that nothing has."""
    from difflib import get_close_matches

    by_folded = {name.casefold(): name for name in names}
    return [by_folded[name] for name in get_close_matches(wanted.casefold(), by_folded, n=3, cutoff=0.5)]


def _ways(wanted: str) -> Iterator[Callable[[NamedFolder], bool]]:
    """The ways in which a project can be meant, the narrowest first."""
    if _is_path(wanted):
        folders = _folders(wanted)
        yield lambda project: _is_at_or_below(project, folders)
        yield lambda project: bool(project.path and project.path.endswith(f"/{wanted.strip('/')}"))
        return
    text, letters = wanted.casefold(), _letters(wanted)
    yield lambda project: any(text == name.casefold() for name in _names(project))
    yield lambda project: _begins_hash(project, text) or any(text in n.casefold() for n in _names(project))
    yield lambda project: bool(letters) and any(letters in _letters(name) for name in _names(project))
    yield lambda project: any(_stands_in(letters, _letters(name)) for name in _names(project))


def _names(project: NamedFolder) -> Iterator[str]:
    """What a project may be called; a work tree also what its repository is called."""
    # Only who asks for a project needs it, and every list would pay for loading it.
    from geminids.core.spellings import main_place, same_place

    yield project.name
    if project.slug:
        yield project.slug
    if project.path and (main := main_place(project.path)) != same_place(project.path):
        yield main.rpartition("/")[2]


def _begins_hash(project: NamedFolder, text: str) -> bool:
    return bool(project.hash and _HASH_PREFIX.fullmatch(text) and project.hash.startswith(text))


def _stands_in(letters: str, name: str) -> bool:
    """Whether the letters stand in a name in their order, from its first one on."""
    rest = iter(name)
    is_start = len(letters) >= _LEAST_LETTERS and name[:1] == letters[0]
    return is_start and all(letter in rest for letter in letters)


def _letters(name: str) -> str:
    return _NO_LETTER.sub("", name.casefold())


def _is_path(wanted: str) -> bool:
    return wanted in {".", "..", "~"} or "/" in wanted or os.sep in wanted or "\\" in wanted


class _Folder(NamedTuple):
    """A folder as it is spelled, with the hash and the key of it."""

    path: str
    hash: str
    key: str


def _folders(wanted: str) -> list[_Folder]:
    """The folder that was typed. Agents hash the path as a shell spells it, which may lead through links."""
    from geminids.core.model import folder_hash
    from geminids.core.spellings import same_place

    folder = expanded(wanted)
    spelled = {os.path.abspath(folder), os.path.realpath(folder)}  # noqa: PTH100
    if ":" in wanted:
        # A path of Windows, which may be meant on any system.
        spelled.add(wanted)
    if wanted == "." and (here := current_folder(os.environ)):
        spelled.add(here)
    return [_Folder(path, folder_hash(path), same_place(path)) for path in sorted(spelled)]


def _is_at_or_below(project: NamedFolder, folders: Sequence[_Folder]) -> bool:
    if any(project.hash == folder.hash for folder in folders):
        return True
    if not project.path:
        return False
    from geminids.core.spellings import same_place

    key = same_place(project.path)
    return any(key == folder.key or key.startswith(folder.key.rstrip("/") + "/") for folder in folders)
