"""What packages register under a group of entry points: readers of agents' files, formats of exports.

Names are found without loading anything; what stands behind one is loaded when it is used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def load_plugin(group: str, name: str) -> Any:
    """A new instance of what is registered under a name."""
    module, _, attribute = registered(group)[name].partition(":")
    # What `importlib.import_module` does, which loads more than is needed.
    __import__(module)
    return getattr(sys.modules[module], attribute)()


@cache
def registered(group: str) -> dict[str, str]:
    """Where what is registered stands, by its name."""
    return dict(_written_entry_points(group)) or _entry_points(group)


def _written_entry_points(group: str) -> Iterator[tuple[str, str]]:
    """The entry points of a group as installers write them beside packages.

    Reading them here costs less than a millisecond, without paths as objects half of that;
    importlib.metadata takes as long to import as two starts of Python, on every command.
    """
    for folder in reversed(sys.path):
        for name in sorted(_installed_in(folder)):
            listing = _content(os.path.join(folder, name, "entry_points.txt"))  # noqa: PTH118 - see above
            if group.encode() in listing:
                yield from _in_group(group, listing.decode(errors="replace"))


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


def _in_group(group: str, listing: str) -> Iterator[tuple[str, str]]:
    section = None
    for line in map(str.strip, listing.splitlines()):
        if line.startswith("["):
            section = line
        elif section == f"[{group}]" and "=" in line:
            name, _, target = line.partition("=")
            yield name.strip(), target.strip()


def _entry_points(group: str) -> dict[str, str]:
    from importlib.metadata import entry_points

    return {point.name: point.value for point in entry_points(group=group)}
