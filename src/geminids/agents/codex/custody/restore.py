"""Putting sessions back where Codex CLI finds them: each rollout where it lay, byte for byte.

Codex CLI itself packs a rollout and moves it into its archive and back. What lies there under another of its
names is not gone, and of several copies of one rollout only the newest is put back.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import msgspec

from geminids.agents.codex.homes import archive_folder
from geminids.agents.codex.read.rollouts import PACKED, name_for_good
from geminids.core.agents.homes import Home, below
from geminids.core.agents.restore import Copy, Restoring, to_origin


def restoring(home: Home, copies: Sequence[Copy]) -> Restoring:
    """Where every file of a session goes."""
    newest: dict[str, Copy] = {}
    for copy in sorted(copies, key=lambda one: one.mtime_ns):
        newest[name_for_good(copy.path) or copy.path] = copy
    moved = {copy.path: place for copy in newest.values() if (place := _other_place(home, copy.path))}
    found = to_origin([copy for copy in newest.values() if copy.path not in moved], home.folder)
    not_gone = [f"{path!r} is not gone: it is {place!r} now." for path, place in moved.items()]
    if not found.placements:
        return Restoring(refusal=" ".join(not_gone) or found.refusal)
    return msgspec.structs.replace(found, warnings=(*not_gone, *found.warnings))


def _other_place(home: Home, path: str) -> str | None:
    """Where a rollout lies that is not where it was; None if it is, or is gone."""
    if name_for_good(path) is None or os.path.lexists(path):
        return None
    return next((place for place in _places(home, path) if os.path.lexists(place)), None)


def _places(home: Home, path: str) -> Iterator[str]:
    plain = path.removesuffix(PACKED)
    archive = archive_folder(home)
    for one in (plain, below(archive, os.path.basename(plain)) if archive else plain):  # noqa: PTH119
        yield from (one, one + PACKED)
