"""The readers of agents' files, loaded on demand.

A source is registered under the entry-point group `geminids.sources`, by this package or any
other that is installed beside it. Neither this module nor the homes and the footprint of a source load
the model or a reader: most commands find that nothing has changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from geminids.errors import UnknownAgentError

if TYPE_CHECKING:
    from geminids.sources.base import Source

GROUP = "geminids.sources"


def available() -> list[str]:
    """The agents whose files can be read, by name."""
    return sorted(_registered())


@cache
def load(name: str) -> Source:
    """The reader of one agent's files."""
    registered = _registered()
    if name not in registered:
        raise UnknownAgentError(name, available())
    module, _, attribute = registered[name].partition(":")
    source: Source = getattr(import_module(module), attribute)()
    return source


@cache
def _registered() -> dict[str, str]:
    return dict(_written_entry_points()) or _entry_points()


def _written_entry_points() -> Iterator[tuple[str, str]]:
    """The entry points of our group as installers write them beside packages.

    Reading them here costs less than a millisecond, without paths as objects half of that;
    importlib.metadata takes as long to import as two starts of Python, on every command.
    """
    for folder in reversed(sys.path):
        for name in sorted(_installed_in(folder)):
            listing = _content(os.path.join(folder, name, "entry_points.txt"))  # noqa: PTH118 - see above
            if GROUP.encode() in listing:
                yield from _in_group(listing.decode(errors="replace"))


def _installed_in(folder: str) -> Iterator[str]:
    """The folders of a path of modules that tell of an installed package."""
    try:
        with os.scandir(folder or ".") as entries:
            yield from (entry.name for entry in entries if entry.name.endswith(".dist-info"))
    except OSError:
        # An archive, or a place that is not there: both may stand on the path.
        return


def _content(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:  # noqa: PTH123 - see above
            return opened.read()
    except OSError:
        # Few packages have entry points.
        return b""


def _in_group(listing: str) -> Iterator[tuple[str, str]]:
    section = None
    for line in map(str.strip, listing.splitlines()):
        if line.startswith("["):
            section = line
        elif section == f"[{GROUP}]" and "=" in line:
            name, _, target = line.partition("=")
            yield name.strip(), target.strip()


def _entry_points() -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=GROUP)}
