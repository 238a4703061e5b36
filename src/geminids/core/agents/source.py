"""The base of what is registered for an agent: a reader of its files, and what else is offered of it.

Loading this takes next to nothing, as most commands find that nothing has changed and read no session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geminids.core.agents.protocols import Writer
    from geminids.core.agents.records import Recorder


class Source:
    """What an agent offers besides reading, if nothing else is said: nothing."""

    def recorder(self) -> Recorder | None:
        """What is known of its records for verifiable records of its sessions."""
        return None

    def writer(self) -> Writer | None:
        """Sessions in the shapes in which the agent itself writes them."""
        return None
