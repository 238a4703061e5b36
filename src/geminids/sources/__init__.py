"""The readers of agents' files, loaded on demand.

A source is registered under the entry-point group `geminids.sources`, by this package or any
other that is installed beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

from geminids.errors import UnknownAgentError
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

    Reading them here costs a millisecond; importlib.metadata takes as long to import as two
    starts of Python, on every command.
    """
    for folder in reversed(sys.path):
        for listing in sorted(Path(folder or ".").glob("*.dist-info/entry_points.txt")):
            yield from _in_group(listing.read_text(encoding="utf-8", errors="replace"))


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
