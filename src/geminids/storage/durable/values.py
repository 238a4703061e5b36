"""What the user said of sessions, as values: names, tags and notes, and which are to be gone."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple


class Note(NamedTuple):
    """A note on a session. Its id is what it is deleted by, and is never given again."""

    id: int
    at: datetime
    text: str


class Marks(NamedTuple):
    """All that the user said of a session."""

    name: str | None = None
    tags: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


class MarkChange(NamedTuple):
    """What the user now says of a session, and what no more. What is not given stays as it is."""

    name: str | None = None
    without_name: bool = False
    tags: Sequence[str] = ()
    without_tags: Sequence[str] = ()
    """Those that the session does not have are none the worse for it."""
    notes: Sequence[str] = ()
    without_notes: Sequence[int] = ()
    """By their ids."""


class Tombstone(NamedTuple):
    """A session that was forgotten."""

    session: str
    at: str
    until_changed: bool
    """Whether it may come back when its files have changed."""
    files: Mapping[str, tuple[int, int]]
    """Size and time of change of its files, as they were then."""
    leader: str = ""
    """The session that it was forgotten with; itself where a human led it."""
    copies: Sequence[str] = ()
    """Files whose copies go with it: whoever is killed before they are gone leaves that to the next sync."""
