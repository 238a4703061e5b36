"""Accounts of files: every byte and record is used, ignored by name, or a problem."""

from __future__ import annotations

import msgspec


class Tally(msgspec.Struct, frozen=True, gc=False):
    """A number of records and the bytes they take."""

    records: int = 0
    bytes: int = 0


class FileAccount(msgspec.Struct, frozen=True):
    """Where the bytes of one file went. The tallies add up to its size."""

    path: str
    format: str
    era: str
    size: int
    used: dict[str, Tally]
    """By kind of record."""
    ignored: dict[str, Tally]
    """By reason."""
    problem: dict[str, Tally]
    """By kind of problem."""
    unknown_fields: dict[str, int]
    """Fields we have no name for, as `record.field`; those of messages and calls are kept as they are."""
