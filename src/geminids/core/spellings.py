r"""How one folder may be spelled, told from the letters alone; the disk is not looked at.

An agent hashes the path that its own system gave it, so one folder has another hash for each way in
which it can be reached:

    C:\Users\Ana\shop         Windows; agents' own notes there may be in lower case, their hashes are not
    /c/Users/Ana/shop         the same in the container of a sandbox, and in Git Bash
    /mnt/c/Users/Ana/shop     the same in WSL; /cygdrive/c in Cygwin, /host_mnt/c in Docker Desktop
    /private/tmp/shop         /tmp/shop on macOS; Fedora has /var/home for /home

Nothing here decides that a path is right: only a hash does.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import NamedTuple

from geminids.core import agents
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import folder_hash
from geminids.core.usual_folders import TRUE_CASE

_VERBATIM = lazy_pattern(r"\\\\\?\\(UNC\\)?", re.IGNORECASE)
_DRIVE = lazy_pattern(r"([A-Za-z]):[\\/]")
_WSL_SHARE = lazy_pattern(r"\\\\wsl(?:\$|\.localhost)\\[^\\/]+(?=[\\/]|$)", re.IGNORECASE)
_SHARE = lazy_pattern(r"\\\\([^\\/]+)[\\/]+([^\\/]+)(?=[\\/]|$)")
_MOUNTED_DRIVE = lazy_pattern(r"/(?:mnt/|cygdrive/|host_mnt/|run/desktop/mnt/host/)?([A-Za-z])(?=/|$)")

_DRIVE_FORMS = (
    ("{upper}:", "\\"),
    ("/{lower}", "/"),
    ("/mnt/{lower}", "/"),
    ("{lower}:", "\\"),
    ("{upper}:", "/"),
    ("{lower}:", "/"),
    ("/cygdrive/{lower}", "/"),
    ("/host_mnt/{lower}", "/"),
    ("/run/desktop/mnt/host/{lower}", "/"),
)
"""How a folder of a Windows drive is spelled, the likeliest first."""
_GUESSED_FORMS = _DRIVE_FORMS[:4]

_ALIASES = (
    ("/private/tmp", "/tmp"),
    ("/private/var", "/var"),
    ("/private/etc", "/etc"),
    ("/var/home", "/home"),
    ("/usr/home", "/home"),
    ("/var/roothome", "/root"),
    ("/System/Volumes/Data", ""),
    ("/host_mnt", ""),  # Docker Desktop puts it before any of the others
)
"""Folders that systems know by two names, the longer first: macOS, Fedora, FreeBSD, Docker Desktop."""

_MOST_GUESSES = 64

_TREES = "/worktrees/"


class _PathParts(NamedTuple):
    """A path taken apart: `root` is a drive, a share, empty for POSIX, or None for a relative path."""

    root: str | None
    names: tuple[str, ...]


def spellings(path: str) -> Iterator[str]:
    """Every way in which the folder of a path may have been spelled when it was hashed, each once."""
    seen = {""}
    for written in _written_forms(path):
        for spelled in _normal_forms(written):
            if spelled not in seen:
                seen.add(spelled)
                yield spelled


def walked_spellings(path: str) -> Iterable[str]:
    """The spellings worth hashing of a folder that was met on the disk: mostly as it is.

    A walk meets many thousands of folders, and the disk knows their true case.
    """
    if path.isascii() and path[1:2] != ":" and not path.startswith("/mnt/"):
        return (path,)
    return spellings(path)


def verified(wanted: str, paths: Iterable[str]) -> str | None:
    """The first spelling of the paths whose hash is the wanted one: the only proof there is."""
    for path in paths:
        for spelled in spellings(path):
            if folder_hash(spelled) == wanted:
                return spelled
    return None


def same_place(path: str) -> str:
    """A key that is the same for all spellings of a folder; it is no path to show."""
    place = _taken_apart(path)
    if place.root is None:
        return unicodedata.normalize("NFC", "/".join(place.names))
    if place.root == "":
        return unicodedata.normalize("NFC", "/" + "/".join(place.names))
    separator = "\\" if place.root.startswith("\\") else "/"
    return _folded(place.root + separator + separator.join(place.names))


def main_place(path: str) -> str:
    """The key of the folder that this one is a copy of, for work trees that agents make; else its own."""
    key = same_place(path)
    if _TREES not in key:
        return key
    trees = _work_trees()
    while (shorter := trees.sub("", key, count=1)) != key:
        key = shorter or "/"
    return key


def _work_trees() -> re.Pattern[str]:
    """Where agents make work trees, below the repository."""
    names = {name for source in agents.every() for name in source.projects().tree_folders}
    return re.compile(rf"/(?:{'|'.join(map(re.escape, sorted(names)))}){_TREES}[^/]+(?=/|$)")


def ancestors(path: str) -> Iterator[str]:
    """The folder of a path and those above it, spelled alike, on whatever system we run."""
    root, separator, names = _pieces(path)
    for count in range(len(names), 0, -1):
        yield root + separator.join(names[:count])
    if root:
        yield root


def as_agents_read(path: str) -> str:
    """The path as a program in JavaScript reads it: what is no UTF-8 becomes a replacement character."""
    if path.isascii():
        return path
    try:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogatepass").decode("utf-8", "replace")


def _written_forms(path: str) -> Iterator[str]:
    yield path
    root, separator, names = _pieces(path)
    yield root + separator.join(names)
    yield as_agents_read(path)
    place = _taken_apart(path)
    if place.root == "":
        yield from _posix_forms(place)
    elif place.root is not None and place.root.startswith("\\"):
        yield from _share_forms(place)
    elif place.root is not None:
        yield from _drive_forms(place)
        if path == path.lower() and _DRIVE.match(path):
            yield from _guessed_cases(place)


def _posix_forms(place: _PathParts) -> Iterator[str]:
    plain = "/" + "/".join(place.names)
    yield plain
    for long, short in _ALIASES if place.names else ():
        if plain.startswith(short + "/"):
            yield long + plain[len(short) :]
            yield "/host_mnt" + long + plain[len(short) :]


def _share_forms(place: _PathParts) -> Iterator[str]:
    whole = "\\".join(((place.root or ""), *place.names)) + ("" if place.names else "\\")
    yield whole
    yield whole.lower()


def _drive_forms(place: _PathParts) -> Iterator[str]:
    for form in _DRIVE_FORMS:
        yield _on_drive(form, place.root or "", place.names)
    for form in _DRIVE_FORMS:
        yield _on_drive(form, place.root or "", tuple(name.lower() for name in place.names))


def _guessed_cases(place: _PathParts) -> Iterator[str]:
    """What a path in lower case may have been: `Users` for sure, else each name with a capital or not."""
    cases = islice(product(*map(_likely_cases, place.names)), _MOST_GUESSES)
    for names in cases:
        for form in _GUESSED_FORMS:
            yield _on_drive(form, place.root or "", names)


def _likely_cases(name: str) -> tuple[str, ...]:
    known = TRUE_CASE.get(name)
    if known:
        return (known,)
    capital = name[:1].upper() + name[1:]
    return (name, capital) if capital != name and _folded(capital) == _folded(name) else (name,)


def _on_drive(form: tuple[str, str], root: str, names: tuple[str, ...]) -> str:
    prefix, separator = form
    start = prefix.format(lower=root[0], upper=root[0].upper())
    # A drive alone needs its separator, a folder that stands for it does not have one.
    return separator.join((start, *names)) if names or separator == "/" == start[0] else start + separator


def _normal_forms(path: str) -> Iterable[str]:
    if path.isascii():
        return (path,)
    return (path, unicodedata.normalize("NFC", path), unicodedata.normalize("NFD", path))


def _folded(text: str) -> str:
    """Letters without their case, as Unicode defines it for comparing."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold())


def _taken_apart(path: str) -> _PathParts:
    """The one place that all spellings of a path lead to."""
    path = as_agents_read(path)
    if verbatim := _VERBATIM.match(path):
        path = _without_mark(path, verbatim)
    if drive := _DRIVE.match(path):
        return _PathParts(drive[1].lower() + ":", _windows_names(path[drive.end() :]))
    if wsl := _WSL_SHARE.match(path):
        return _posix_place(_windows_names(path[wsl.end() :]))
    if share := _SHARE.match(path):
        return _PathParts(f"\\\\{share[1]}\\{share[2]}", _windows_names(path[share.end() :]))
    if path.startswith("/"):
        return _posix_place(_resolved(path.split("/")))
    return _PathParts(None, _resolved(path.split("/"), keep_above=True))


def _posix_place(names: tuple[str, ...]) -> _PathParts:
    """The place of a path from the root, which may be that of a drive, or have a shorter name."""
    path = "/" + "/".join(names)
    if drive := _MOUNTED_DRIVE.match(path):
        return _PathParts(drive[1].lower() + ":", _windows_names(path[drive.end() :]))
    for long, short in _ALIASES:
        if path.startswith(long + "/"):
            return _posix_place(tuple((short + path[len(long) :]).split("/")[1:]))
    return _PathParts("", names)


def _windows_names(path: str) -> tuple[str, ...]:
    return _resolved(re.split(r"[\\/]", path))


def _resolved(names: Iterable[str], *, keep_above: bool = False) -> tuple[str, ...]:
    """The names without empty ones, `.` and `..`."""
    resolved: list[str] = []
    for name in names:
        if name == ".." and (resolved and resolved[-1] != ".."):
            resolved.pop()
        elif name == "..":
            resolved += [name] if keep_above else []
        elif name not in ("", "."):
            resolved.append(name)
    return tuple(resolved)


def _pieces(path: str) -> tuple[str, str, tuple[str, ...]]:
    """The root with its separator, the separator, and the names: all as the path is spelled."""
    if found := _DRIVE.match(path):
        separator = path[found.end() - 1]
        return path[: found.end()], separator, _windows_names(path[found.end() :])
    if found := _VERBATIM.match(path):
        root, separator, names = _pieces(_without_mark(path, found))
        return found[0] + root.removeprefix("\\\\"), separator, names
    if found := _SHARE.match(path):
        return found[0] + "\\", "\\", _windows_names(path[found.end() :])
    names = _resolved(path.split("/"), keep_above=not path.startswith("/"))
    return "/" if path.startswith("/") else "", "/", names


def _without_mark(path: str, verbatim: re.Match[str]) -> str:
    return ("\\\\" if verbatim[1] else "") + path[verbatim.end() :]
