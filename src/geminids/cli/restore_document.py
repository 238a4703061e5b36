"""`restore --json`: what is written for a session, and what is not as it was."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import msgspec

from geminids.library import RestorePlan


class RestoredFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is put back."""

    path: str
    """Where it goes."""
    origin: str
    """Where the file lay of which a copy was kept."""
    size: int
    changes: Sequence[str]
    """What is not as it was, in sentences that say why; none: it is the same byte for byte."""
    written: bool


class RestoreDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/restore/1"
):
    """How a session is put back, whether that was done, or why it cannot be."""

    id: str
    folder: str | None
    """The folder that it was to go to; null: where its agent finds it."""
    files: Sequence[RestoredFile]
    warnings: Sequence[str]
    refusal: str | None
    """Why nothing can be written."""
    written: bool
    """Whether it was done. It is not with --dry-run."""


def restore_document(plan: RestorePlan, folder: str | None, written: Collection[str]) -> RestoreDocument:
    """A plan and what became of it as a document."""
    return RestoreDocument(
        id=plan.session_id,
        folder=folder,
        files=[
            RestoredFile(
                path=placement.path,
                origin=placement.origin,
                size=placement.size,
                changes=placement.changes,
                written=placement.path in written,
            )
            for placement in plan.placements
        ],
        warnings=plan.warnings,
        refusal=plan.refusal,
        written=bool(written),
    )
