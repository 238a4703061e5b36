"""What the browser is left with: what is to be done once it is closed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from geminids.query.sessions.resume import Resumable


class Resume(NamedTuple):
    """A session that its agent is to go on with."""

    how: Resumable
    program: str
    """Where the agent's own command was found."""


class OpenInWeb(NamedTuple):
    """A page of the web app."""

    page: str
    """Its path, perhaps with a place in it after a `#`."""
