"""What can be done with a session, from the list and from its transcript.

In the list letters are typed into the box, so there an action is a control key; in a transcript it is a letter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from geminids.faces.tui.browser.view import Stage


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


class Action(NamedTuple):
    """Something that can be done."""

    control: str
    """The key in the list, such as `ctrl+r`; empty if there is none."""
    letter: str
    """The key in a transcript."""
    name: str
    run: Callable[[], None]


def actions_of(stage: Stage, subject: Subject) -> Sequence[Action]:
    """All that can be done with it now."""
    return ()
