"""`forget --json`: what was forgotten, now and before."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from geminids.query.health.kept_copies import Forgotten
from geminids.storage.durable.values import Tombstone


class ForgetDocument(Forgotten, frozen=True, kw_only=True, tag_field="schema", tag="geminids/forget/1"):
    """The sessions that were forgotten, and what remains of them."""


class ForgottenSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is not to come back."""

    id: str
    at: datetime
    """When it was forgotten."""
    until_changed: bool
    """Whether it comes back when its files change."""


class ForgottenDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/forgotten/1"
):
    """All sessions that are forgotten, the first first."""

    sessions: Sequence[ForgottenSession]


def forgotten_document(stones: Sequence[Tombstone]) -> ForgottenDocument:
    """All that is forgotten as a document."""
    return ForgottenDocument(
        sessions=[
            ForgottenSession(
                id=stone.session, at=datetime.fromisoformat(stone.at), until_changed=stone.until_changed
            )
            for stone in stones
        ]
    )
