"""What `geminids export --json` prints."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from geminids.export.losses import LossReport


class ExportDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/export/1"):
    """What an export wrote."""

    format: str
    output: str
    """The file or folder, as it was given."""
    written: int
    """Files of sessions that were written."""
    unchanged: int = 0
    """Files that hold what they would hold if they were written now."""
    refused: Sequence[str] = ()
    """Files that were left alone because somebody else made or changed them."""
    gone: Sequence[str] = ()
    """Sessions whose files went away before they could be written."""
    redacted: str | None
    """What was hidden, in words; null if nothing was looked for."""
    losses: LossReport | None
    """What the format cannot carry, where that was asked for."""
