"""Tables that were written."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.faces.documents.base import Printed
from geminids.scale.tables.written import TablesWritten


class TablesDocument(TablesWritten, Printed, frozen=True, kw_only=True, tag="geminids/tables/1"):
    """What became of the tables of a machine."""


class TablesForgetDocument(Printed, frozen=True, kw_only=True, tag="geminids/tables-forget/1"):
    """The sessions and files that were removed from tables."""

    uri: str
    """The folder or the address of the tables."""
    sessions: Sequence[str]
    """The ids of the sessions that count nowhere any more."""
    files: Sequence[str]
    """The files of a machine that were deleted."""
