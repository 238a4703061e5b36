"""With what something is done, and what can be done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from geminids.core.values import NamedTuple


class SessionList(Protocol):
    """The list of sessions, to which actions lead back."""

    def read(self, key: str, message: int | None) -> None:
        """Open a session to read it, at a message if one is named."""

    def show_project(self, subject: Subject) -> None:
        """List the sessions of the project of a session."""


class Subject(NamedTuple):
    """The session with which something is to be done."""

    key: str
    """What means it alone."""
    name: str
    agent: str
    folder: str | None
    """Of its project, where that is known."""
    kept: bool
    """Whether files of it are gone, and it is read from copies."""
    message: int | None = None
    """The number of the message that is looked at, from 1."""
    project: str | None = None
    """What means its project, as in `list --project`; None if nothing is known of it."""
    sessions: SessionList | None = None
    """The list out of which it was chosen."""
    is_open: bool = False
    """Whether it is being read."""


class Action(NamedTuple):
    """Something that can be done."""

    control: str
    """The key in the list, such as `ctrl+r`; empty if there is none."""
    letter: str
    """The key in a transcript."""
    name: str
    run: Callable[[], None]
