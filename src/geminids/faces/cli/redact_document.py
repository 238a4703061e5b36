"""What `geminids redact --json` prints."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from geminids.sharing.redact import Finding


class RedactedSession(msgspec.Struct, frozen=True):
    """A session, and what would be hidden in it."""

    id: str
    title: str | None
    """Without what would be hidden in it."""
    findings: Sequence[Finding]


class RedactDocument(msgspec.Struct, frozen=True, tag_field="schema", tag="geminids/redact/1"):
    """What would be hidden in sessions, where and why. No secret stands in it."""

    hidden_by: str
    """What looked for it, in a few words."""
    is_reduced: bool
    """Whether that was only the small set of rules which comes with geminids."""
    sessions: Sequence[RedactedSession]
