"""What all documents share, and the answer to a request that cannot be answered.

Texts are words, never HTML, but for the fields `html` and `handed_back`: those hold markup of ours in which
every letter of a session is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, TypeVar

import msgspec

from geminids.sharing.transcript import safe

Handle = Annotated[str, msgspec.Meta(extra={"is handle": True})]
"""What means a thing wherever it is sent back; a mark stands for it where it cannot be told."""
Filled = TypeVar("Filled", bound=msgspec.Struct)


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A JSON object that a face gives away, or a piece of one."""


class Printed(Document, frozen=True, kw_only=True, tag_field="schema", tag=True):
    """What a command prints; its first field is the name of its schema."""


class FaultyRequest(Document, frozen=True, kw_only=True):
    """Why there is no answer, as RFC 9457 has it."""

    type: str
    title: str
    status: int
    detail: str
    """What, where and what to do, in sentences."""
    candidates: Sequence[Candidate] = ()
    """Sessions that may have been meant."""


class Candidate(Document, frozen=True, kw_only=True):
    """A session that may have been meant."""

    id: Handle
    """What means it alone."""
    title: str | None
    place: str
    at: datetime | None


def filled(kind: type[Filled], value: object, /, **others: Any) -> Filled:
    """A document with those fields of a value that it has by the same name, and with others.

    What neither has must have a default.
    """
    same = {name: getattr(value, name) for name in kind.__struct_fields__ if hasattr(value, name)}
    return kind(**same | others)


def harmless(words: str | None) -> str | None:
    """Words on one line that can neither hide nor reorder anything."""
    return None if words is None else safe.line(words)


def harmless_all(words: Iterable[str]) -> list[str]:
    """The same of several."""
    return [safe.line(one) for one in words]
