"""What an export wrote, and what would be hidden in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geminids.faces.documents.base import Document, Printed
from geminids.sharing.export.losses import LossReport
from geminids.sharing.redact import Finding


class LeftAlone(Document, frozen=True, kw_only=True):
    """A file that was not written, and why."""

    file: str
    reason: str


class ExportDocument(Printed, frozen=True, kw_only=True, tag="geminids/export/1"):
    """What an export wrote."""

    format: str
    output: str
    """The file or folder, as it was given."""
    written: int
    """Files of sessions that were written."""
    unchanged: int = 0
    """Files that hold what they would hold if they were written now."""
    refused: Sequence[LeftAlone] = ()
    """Files that somebody else made or changed."""
    failed: Mapping[str, str] = {}
    """Sessions that could not be written, and why."""
    contents_refused: LeftAlone | None = None
    """The table of contents, if somebody else made or changed it."""
    redacted: str | None
    """What was hidden, in words; null if nothing was looked for."""
    hidden: int
    """How many different things were hidden in the sessions that were written."""
    losses: LossReport | None
    """What the format cannot carry, where that was asked for."""


class RedactedSession(Document, frozen=True, kw_only=True):
    """A session, and what would be hidden in it."""

    id: str
    title: str | None
    """Without what would be hidden in it."""
    findings: Sequence[Finding]


class RedactDocument(Printed, frozen=True, kw_only=True, tag="geminids/redact/1"):
    """What would be hidden in sessions, where and why. No secret stands in it."""

    hidden_by: str
    """What looked for it, in a few words."""
    is_reduced: bool
    """Whether that was only the small set of rules which comes with geminids."""
    sessions: Sequence[RedactedSession]
