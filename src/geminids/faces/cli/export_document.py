"""What `geminids export --json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from geminids.sharing.export.losses import LossReport


class LeftAlone(msgspec.Struct, frozen=True):
    """A file that was not written, and why."""

    file: str
    reason: str


class ExportDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/export/1"):
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
