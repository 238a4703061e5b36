"""`rescue --json`: sessions that their agents cannot show, why, and what was written for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from geminids.core.agents.rescue import Obstacle, Severity, Stranded
from geminids.core.model import SessionSummary


class StrandedSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that its agent cannot show or resume, or not all of it."""

    session: SessionSummary
    severity: Severity
    hidden: int
    """How many of the human's prompts the agent would not show."""
    hidden_replies: int
    """How many answers of the model."""
    obstacles: Sequence[Obstacle]
    target: str | None
    """The file to be written so that the agent can; null where that is not possible."""
    changes: Sequence[str]
    """What is written otherwise than it was, in sentences that say why."""
    refusal: str | None
    """Why there is no target."""
    written: str | None
    """The file that was written, with --apply."""


class RescueDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/rescue/1"):
    """The sessions that agents can no longer show though they are on the disk, the worst first."""

    sessions: Sequence[StrandedSession]
    left_out: int
    """Of so many more only a title or a mistyped command is missing; --all shows them."""


def rescue_document(found: Sequence[Stranded], written: Mapping[str, str], left_out: int) -> RescueDocument:
    """What was found, and what was written, as a document."""
    return RescueDocument(
        sessions=[
            StrandedSession(
                session=one.session.without_messages(),
                severity=one.severity,
                hidden=one.hidden,
                hidden_replies=one.hidden_replies,
                obstacles=one.obstacles,
                target=one.target,
                changes=one.changes,
                refusal=one.refusal,
                written=written.get(one.session.id),
            )
            for one in found
        ],
        left_out=left_out,
    )
