"""The agents, loaded on demand.

A source (`source.py`) is registered under the entry-point group `geminids.sources`, by this package or any
other that is installed beside it. What it may offer besides a reader is `protocols.py` and `records.py`; the
values that they speak in are `base.py` and the files named after a task. Neither this module nor the homes
and the footprint of a source load the model or a reader: most commands find that nothing has changed.
"""

from __future__ import annotations

from functools import cache

from geminids.core.errors import NoWriterError, UnknownAgentError
from geminids.core.plugins import load_plugin, registered

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.agents.protocols import Custodian, Writer
    from geminids.core.agents.records import Recorder
    from geminids.core.agents.source import Source

GROUP = "geminids.sources"


def available() -> list[str]:
    """The agents whose files can be read, by name."""
    return sorted(registered(GROUP))


@cache
def load(name: str) -> Source:
    """One agent: the reader of its files, and what else is offered of it."""
    if name not in registered(GROUP):
        raise UnknownAgentError(name, available())
    source: Source = load_plugin(GROUP, name)
    return source


def every() -> list[Source]:
    """All of them, by name."""
    return [load(name) for name in available()]


def custodian(name: str) -> Custodian | None:
    """What an agent offers of custody; None if nothing, or if it is not installed here."""
    return load(name).custodian() if name in registered(GROUP) else None


def recorder(name: str) -> Recorder | None:
    """What an agent offers for records of its sessions; None if nothing, or if it is not installed here."""
    return load(name).recorder() if name in registered(GROUP) else None


def writer() -> Writer:
    """What writes sessions as an agent itself would: the first agent that offers it, by name."""
    for source in every():
        if (offered := source.writer()) is not None:
            return offered
    raise NoWriterError
