"""`attest --json`, `redact-record --json`: what was signed or cut, and where it lies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec


class AttestDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/attest/1"):
    """A record that was signed."""

    issuer: str
    key_id: str
    """SHA-256 of the public key."""
    id: str
    """Of the record: the session's."""
    files: Sequence[str]
    """Where it lies; of a detached one, the record and then its signature."""
    entries: int
    withheld: Sequence[str]
    """Places in it that were taken out, as JSON pointers; they stay committed to."""
    hidden: int | None
    """How many different things were hidden; null if nothing was looked for."""


class StatementsDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/attest-folder/1"
):
    """What became of a folder of statements."""

    issuer: str
    key_id: str
    folder: str
    signed: Sequence[str]
    """The new statements."""
    unchanged: int
    failed: Mapping[str, str]
    """Sessions for which there is no new statement though there should be, and why."""


class RecordEntry(msgspec.Struct, frozen=True, kw_only=True):
    """An entry of a record, to choose from."""

    number: int
    type: str
    id: str | None
    timestamp: str | int | None
    begins: str
    """The beginning of what it says."""


class EntriesDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/record-entries/1"
):
    """The entries of a signed record."""

    file: str
    entries: Sequence[RecordEntry]


class ExcerptDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/excerpt/1"
):
    """A signed record from which pieces were taken out."""

    files: Sequence[str]
    withheld: Sequence[str]
    """Places of the record as it was given, as JSON pointers."""


class StampedDocument(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/stamped-record/1"
):
    """A signed record with a time stamp over its signature."""

    files: Sequence[str]
