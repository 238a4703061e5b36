"""What could not be read, as values: where it is and what kind of trouble, never its content."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class ProblemKind(StrEnum):
    """What went wrong with a file, a record or a field."""

    UNREADABLE = "unreadable"
    """The operating system refused the file or folder."""
    EMPTY = "empty"
    """A file without a byte, or with nothing but white space."""
    BAD_JSON = "bad-json"
    """Bytes that are no JSON, or not all of it."""
    BAD_TEXT = "bad-text"
    """Bytes that are no UTF-8, or half a character: it was read with replacement characters."""
    NO_HEADER = "no-header"
    """A session file that does not say whose it is; its name was used."""
    WRONG_TYPE = "wrong-type"
    """A field that holds another type of value than it should."""
    NOT_A_SESSION = "not-a-session"
    """Valid JSON, but no session."""
    LEFT_UNREAD = "left-unread"
    """Larger than what this command reads; another one reads it whole."""


class Problem(msgspec.Struct, frozen=True, gc=False):
    """Something that could not be read, and where."""

    file: str
    kind: ProblemKind
    detail: str
    line: int | None = None
    start: int | None = None
    end: int | None = None

    @property
    def is_unreadable(self) -> bool:
        """Whether the operating system refused it."""
        return self.kind is ProblemKind.UNREADABLE

    @property
    def loses_records(self) -> bool:
        """Return whether records may be missing from what was read of the file."""
        return self.kind in (ProblemKind.LEFT_UNREAD, ProblemKind.BAD_JSON, ProblemKind.UNREADABLE)

    @property
    def is_damage(self) -> bool:
        """Whether something is wrong with the file, and not only larger than what we read."""
        return self.kind is not ProblemKind.LEFT_UNREAD
