"""What became of the tables of a machine, and how the places stand that it writes to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec


class TablesWritten(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the tables of a machine."""

    uri: str
    """The folder or the address that they are written to."""
    machine: str
    """The name of this machine in them."""
    schema_version: int
    """Of the columns."""
    parts: int
    """Parts of the tables, each of an agent's sessions in a month, or of some of many."""
    written: int
    """Parts that were written now."""
    removed: int
    """Parts that are gone, with their sessions."""
    rows: Mapping[str, int]
    """Rows of this machine, by table."""
    hidden: int
    """How many different things were hidden in what was written, session by session."""
    redacted: str | None
    """What was hidden, in words; None if nothing was looked for."""
    failed: Mapping[str, str]
    """Sessions that were left out, and why."""
    unreadable: Sequence[str]
    """What could not be read now: of that, rows that were written before stay."""
    strays: Sequence[str] = ()
    """Files among the tables that no machine wrote: copies, links. They are not read."""


class PlaceHealth(msgspec.Struct, frozen=True, kw_only=True):
    """The files of tables in a folder."""

    uri: str
    machines: int = 0
    strays: Sequence[str] = ()
    """Files that no machine wrote there: they are not read."""
    damaged: Sequence[str] = ()
    """Files that are gone, or have another size than was written."""
    error: str | None = None
    """Why nothing could be told."""
