"""What agents delete by themselves: what is noted of files when they are read, and what a source makes of it.

A source starts nothing and opens no session for a forecast: what it needs to know of a file it notes as a
`Fate` when the file is read, and the index keeps that.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec


class Fate(msgspec.Struct, frozen=True, gc=False):
    """A session file as the part of its agent sees it that deletes."""

    file: str
    last_used: datetime | None
    """When it was last used, as the agent dates it; None where the agent cannot tell: it never gets old."""
    traits: tuple[str, ...] = ()
    """What else counts, in words without blanks that only the source reads again."""


class Deletion(msgspec.Struct, frozen=True, kw_only=True):
    """A file that its agent is going to delete."""

    file: str
    at: datetime | None
    """From when on; None: from now on. What deletes is a start of the agent, as the reason says."""
    cause: str
    """In one word, for programs."""
    reason: str
    """In a sentence, for people."""
    setting: str | None = None
    """The file of settings that says so; None: what the agent does if nothing is said."""


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """How long an agent keeps the sessions of a home or of one project, and how to change that."""

    agent: str
    home: str
    project: str | None = None
    """The folder for which something else is settled than for the rest."""
    program: str | None = None
    """The program that would delete, with its version; None where none is installed."""
    rest: timedelta | None = None
    """How long a session may lie unused; None: for ever."""
    most: int | None = None
    """How many sessions of a project are kept; None: all."""
    told_by: str | None = None
    """The file of settings that says so; None: what the agent does if nothing is said."""
    remedy: str | None = None
    """What to do so that nothing is deleted, in a sentence or two; None where nothing is."""


class Forecast(msgspec.Struct, frozen=True):
    """What an agent is going to delete in a home, the soonest first, and by which rules."""

    deletions: tuple[Deletion, ...] = ()
    retentions: tuple[Retention, ...] = ()


def soonest_first(deletions: Iterable[Deletion]) -> tuple[Deletion, ...]:
    """Deletions in the order in which they are due."""
    return tuple(sorted(deletions, key=lambda one: (one.at or _NOW, one.file)))


_NOW = datetime.min.replace(tzinfo=UTC)
"""What is due at once comes before all that has a date."""
