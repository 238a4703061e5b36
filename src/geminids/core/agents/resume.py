"""Going on with a session in its agent: what is asked of a source, and what it answers.

A source says how; it starts nothing. Commands are words, not lines: whoever shows them quotes them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

import msgspec

Command = tuple[str, ...]

ANY_FOLDER = "<folder>"
"""Stands at the end of a command for a folder that the user chooses."""


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """Where and when somebody wants to go on."""

    environment: Mapping[str, str]
    user_home: str
    here: str
    """The folder that commands are typed in."""
    now: datetime
    given: str | None = None
    """The file, where the session was not named but given as one."""


class Offer(msgspec.Struct, frozen=True):
    """Something that can be done."""

    sentence: str
    commands: tuple[Command, ...] = ()
    """What to type for it, one after the other; none where it is not done by a command."""


class Resumable(msgspec.Struct, frozen=True, kw_only=True):
    """How the agent goes on with a session."""

    command: Command
    folder: str
    """The folder to be in: agents look for sessions by it."""
    environment: Mapping[str, str] = {}
    """The variables that must be set besides those there are."""
    program: str | None
    """Where the first word of the command was found; None if it is not there."""
    warnings: tuple[str, ...] = ()
    may_lose: bool = False
    """Whether something may get lost by it, so that a person should be asked."""
    offers: tuple[Offer, ...] = ()
    """What can be done before."""


class NotResumable(msgspec.Struct, frozen=True):
    """Why the agent cannot go on with a session as it is, and what can be done instead."""

    reason: str
    offers: tuple[Offer, ...] = ()


Resuming = Resumable | NotResumable


def resume_option(native_id: str) -> Command:
    """The option by which agents are told what to resume."""
    # An id that begins like an option would be taken for one.
    return (f"--resume={native_id}",) if native_id.startswith("-") else ("--resume", native_id)
