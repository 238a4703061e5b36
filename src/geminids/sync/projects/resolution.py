"""Which folder a hash stands for: folders that are known are hashed until the hashes agree.

A path that is found here is certain, because its hash is the one that was wanted; there are no guesses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable

import msgspec

from geminids.core.model import KnownBy, folder_hash
from geminids.core.spellings import spellings, walked_spellings

Known = tuple[str, KnownBy]
"""A folder that may be a project, and where it is known from."""
Progress = Callable[[int, int], None]
"""Told now and then how many folders were looked at, and how many hashes are found."""

_PROGRESS_EVERY = 1024


class Found(msgspec.Struct, frozen=True, gc=False):
    """The folder that a hash stands for, spelled as it was hashed."""

    path: str
    known_by: KnownBy


class Resolution(msgspec.Struct, frozen=True):
    """What a search has found."""

    found: dict[str, Found]
    looked_at: int
    """How many folders were looked at."""
    complete: bool
    """Whether nothing is left to look at; False if the deadline came first."""
    remembered: bool = True
    """Whether what was found could be remembered."""


def resolve(
    wanted: Collection[str],
    sources: Iterable[Iterable[Known]],
    deadline: float,
    progress: Progress | None = None,
) -> Resolution:
    """Find the folders of the wanted hashes until all are found or `time.monotonic()` is the deadline.

    The best sources come first: the first folder that fits is taken, and no source is begun in vain.
    """
    missing = set(wanted)
    found: dict[str, Found] = {}
    named: set[str] = set()
    looked_at = 0
    in_time = True
    for source in sources if missing else ():
        for path, known_by in source:
            if known_by is KnownBy.SEARCH:
                spelled: Iterable[str] = walked_spellings(path)
            elif path in named:
                continue
            else:
                named.add(path)
                spelled = spellings(path)
            looked_at += 1
            for spelling in spelled:
                if (name := folder_hash(spelling)) in missing:
                    missing.remove(name)
                    found[name] = Found(spelling, known_by)
            if progress and looked_at % _PROGRESS_EVERY == 0:
                progress(looked_at, len(found))
            in_time = time.monotonic() < deadline
            if not missing or not in_time:
                break
        # A walk ends by itself at the deadline.
        in_time = in_time and time.monotonic() < deadline
        if not missing or not in_time:
            break
    if progress:
        progress(looked_at, len(found))
    return Resolution(found, looked_at, complete=in_time or not missing)
