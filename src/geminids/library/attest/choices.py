"""What is chosen for signed records and for excerpts of them, as plain values that need no extra."""

from collections.abc import Sequence
from typing import Literal, NamedTuple


class SigningManner(NamedTuple):
    """How records are to be made and signed."""

    form: Literal["json", "cbor"] = "json"
    simple: bool = False
    """The plainer translation that other tools make. It cannot be redacted later."""
    detached: bool = False
    """The record as a file of its own, and the signature beside it."""
    wrap: Literal["vcon"] | None = None
    token: bytes | None = None
    """A time stamp over the bytes of the record."""


class Unwanted(NamedTuple):
    """What is to be taken out of a record."""

    entries: Sequence[str] = ()
    """By their numbers, from 1, or their ids; all that hangs on them goes too."""
    only: Sequence[str] = ()
    """Entries that stay; all others go."""
    fields: Sequence[str] = ()
    """Members, of the entries above or of all."""
    texts: Sequence[str] = ()
    """Words; whatever holds them goes."""
    places: Sequence[str] = ()
    """JSON pointers."""

    def __bool__(self) -> bool:
        return any((self.entries, self.only, self.fields, self.texts, self.places))
