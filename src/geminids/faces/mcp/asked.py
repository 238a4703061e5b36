"""What tools take: arguments that several of them share. Models read the descriptions."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from geminids.faces.mcp.room import LEAST, USUAL

MOST_WORDS = 2_000
"""Characters of an argument."""


class Asked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What may be asked of any tool."""

    size: Annotated[int, Meta(description="Bytes of the answer, at most.", ge=LEAST)] = USUAL
    after: Annotated[str, Meta(description="The `next` of the answer before.", max_length=MOST_WORDS)] = ""


class AskedOfSession(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which session."""

    id: Annotated[
        str, Meta(description="Id of the session, or its beginning.", min_length=1, max_length=MOST_WORDS)
    ]
