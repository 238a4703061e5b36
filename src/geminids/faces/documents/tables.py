"""Tables that were written."""

from __future__ import annotations

from geminids.faces.documents.base import Printed
from geminids.scale.tables.written import TablesWritten


class TablesDocument(TablesWritten, Printed, frozen=True, kw_only=True, tag="geminids/tables/1"):
    """What became of the tables of a machine."""
