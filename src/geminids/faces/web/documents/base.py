"""What the server answers: one class a shape. The OpenAPI document and the types of the page come from them.

Texts are words, never HTML, but for the fields `html` and `handed_back`: those hold markup of ours in which
every letter of a session is escaped. A number that nobody recorded is null. Costs are dollars at list price.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

import msgspec

Handle = Annotated[str, msgspec.Meta(extra={"is handle": True})]
"""What means a thing wherever it is sent back; a mark stands for it where it cannot be told."""


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """Anything that is answered."""


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
