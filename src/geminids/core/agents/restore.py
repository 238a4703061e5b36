"""Putting kept sessions back: what is asked of a source, and what it answers. It writes nothing itself."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

import msgspec

_PIECE = 1 << 20


class Copy(msgspec.Struct, frozen=True, kw_only=True):
    """A kept copy of a file of a session."""

    path: str
    """Where the file lay."""
    size: int
    mtime_ns: int
    read: Callable[[], bytes]
    """Gives what was in it. Raises GeminidsError if the copy is damaged."""


class Placement(msgspec.Struct, frozen=True, kw_only=True):
    """A file to be written."""

    path: str
    """Where it goes; nothing is there."""
    read: Callable[[], bytes]
    """Gives what goes into it."""
    size: int
    origin: str
    """Where the file lay that it stands for."""
    changes: tuple[str, ...] = ()
    """What is not as it was, in sentences that say why: another name, another date."""
    mtime_ns: int | None = None
    """When it counts as last written; None: now, since agents delete what was not touched for long."""


class Restoring(msgspec.Struct, frozen=True):
    """How a session is put back so that its agent finds it, or why it cannot be."""

    placements: tuple[Placement, ...] = ()
    warnings: tuple[str, ...] = ()
    refusal: str | None = None
    """Why nothing can be put back; then there are no placements."""


ELSEWHERE = "Use --to DIR to write the copy elsewhere."
"""What can be done where a copy is not put back."""
ALL_THERE = "Nothing to restore: its agent has it. Use --to DIR to write a copy elsewhere."


def to_origin(copies: Iterable[Copy], home: str) -> Restoring:
    """Every file where it lay, byte for byte, for agents that look nowhere else."""
    return to_places(((copy, copy.path, None) for copy in copies), home)


def to_places(places: Iterable[tuple[Copy, str, str | None]], home: str) -> Restoring:
    """Every file byte for byte where it shall go, with a sentence that says why if it did not lie there."""
    placements: list[Placement] = []
    warnings: list[str] = []
    for copy, path, why in places:
        if not is_below(path, home):
            warnings.append(f"{path!r} is not in {home!r}, and is not restored.")
        elif not os.path.lexists(path):
            placements.append(unchanged(copy, path, *([why] if why else ())))
        elif not is_held(path, copy):
            warnings.append(taken(path))
    return answer(placements, warnings)


def answer(placements: Iterable[Placement], warnings: Iterable[str]) -> Restoring:
    """The answer of a source; a refusal if there is nothing to be done."""
    placed, notes = tuple(placements), tuple(warnings)
    if placed:
        return Restoring(placed, notes)
    return Restoring(refusal=" ".join(notes) or ALL_THERE)


def taken(path: str) -> str:
    """What is said of a file that cannot be put back."""
    return f"{path!r} exists with other content, and is not changed. {ELSEWHERE}"


def unchanged(copy: Copy, path: str, *changes: str) -> Placement:
    """A file with the bytes that it had."""
    return Placement(path=path, read=copy.read, size=copy.size, origin=copy.path, changes=changes)


def is_below(path: str, folder: str) -> bool:
    """Whether a path leads into a folder and not out of it again."""
    pieces = path.replace(os.sep, "/").split("/")
    return ".." not in pieces and "\0" not in path and path.startswith(folder.rstrip(os.sep) + os.sep)


def is_held(path: str, copy: Copy) -> bool:
    """Whether a plain file holds a kept copy already, be it with more behind it."""
    try:
        is_long_enough = os.path.isfile(path) and os.path.getsize(path) >= copy.size  # noqa: PTH113, PTH202
        return is_long_enough and _begins_with(path, copy.read())
    except OSError:
        return False


def _begins_with(path: str, content: bytes) -> bool:
    with open(path, "rb") as opened:  # noqa: PTH123 - as the disk names it
        return all(opened.read(len(piece)) == piece for piece in _pieces(content))


def _pieces(content: bytes) -> Iterator[bytes]:
    yield from (content[start : start + _PIECE] for start in range(0, len(content), _PIECE))
