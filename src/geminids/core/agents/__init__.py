"""The readers of agents' files, loaded on demand.

A source is registered under the entry-point group `geminids.sources`, by this package or any
other that is installed beside it. Neither this module nor the homes and the footprint of a source load
the model or a reader: most commands find that nothing has changed.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from geminids.core.errors import UnknownAgentError
from geminids.core.plugins import load_plugin, registered

if TYPE_CHECKING:
    from geminids.core.agents.base import Source

GROUP = "geminids.sources"


def available() -> list[str]:
    """The agents whose files can be read, by name."""
    return sorted(registered(GROUP))


@cache
def load(name: str) -> Source:
    """The reader of one agent's files."""
    if name not in registered(GROUP):
        raise UnknownAgentError(name, available())
    source: Source = load_plugin(GROUP, name)
    return source
