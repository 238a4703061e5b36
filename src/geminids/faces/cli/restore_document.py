"""`restore --json`: what is written for each session, and what is not as it was."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


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


class RestoredSession(msgspec.Struct, frozen=True, kw_only=True):
    """How a session is put back, whether that was done, or why it cannot be."""

    id: str
    files: Sequence[RestoredFile]
    warnings: Sequence[str]
    refusal: str | None
    """Why nothing is written."""
    written: bool
    """Whether it was done. It is not with --dry-run."""


class RestoreDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/restore/1"
):
    """How sessions are put back, one or several."""

    folder: str | None
    """The folder that they were to go to; null: where their agents find them."""
    sessions: Sequence[RestoredSession]
