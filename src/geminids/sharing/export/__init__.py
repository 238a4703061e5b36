"""The formats that sessions can be written in, loaded on demand.

A format is registered under the entry-point group `geminids.formats`, by this package or any other that is
installed beside it. A format sees the model and the transcript only; it writes no file itself.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from geminids.core.errors import UnknownFormatError
from geminids.core.plugins import load_plugin, registered

if TYPE_CHECKING:
    from geminids.sharing.export.base import Format

GROUP = "geminids.formats"


def available() -> list[str]:
    """The formats there are, by name."""
    return sorted(registered(GROUP))


@cache
def load(name: str) -> Format:
    """One format."""
    if name not in registered(GROUP):
        raise UnknownFormatError(name, available())
    loaded: Format = load_plugin(GROUP, name)
    return loaded
