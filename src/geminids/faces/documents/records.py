"""Signed records: what was signed, stamped, cut or checked; and the keys, of which no private one is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from geminids.faces.documents.base import Document, Printed, filled
from geminids.sharing.records.public_keys import SigningKey, StrangeKeyFile

if TYPE_CHECKING:
    from geminids.library.attest.verified import VerifiedRecord


class AttestDocument(Printed, frozen=True, kw_only=True, tag="geminids/attest/1"):
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
    missing: int
    """At how many places something is missing, as `verify` counts: some would tell what stood in others."""
    hidden: int | None
    """How many different things were hidden; null if nothing was looked for."""


class StatementsDocument(Printed, frozen=True, kw_only=True, tag="geminids/attest-folder/1"):
    """What became of a folder of statements."""

    issuer: str
    key_id: str
    folder: str
    signed: Sequence[str]
    """The new statements."""
    unchanged: int
    failed: Mapping[str, str]
    """Sessions for which there is no new statement though there should be, and why."""


class StampedDocument(Printed, frozen=True, kw_only=True, tag="geminids/stamped-record/1"):
    """A signed record with a time stamp over its signature."""

    files: Sequence[str]


class RecordEntry(Document, frozen=True, kw_only=True):
    """An entry of a record, to choose from."""

    number: int
    type: str
    id: str | None
    timestamp: str | int | None
    begins: str
    """The beginning of what it says."""


class EntriesDocument(Printed, frozen=True, kw_only=True, tag="geminids/record-entries/1"):
    """The entries of a signed record."""

    file: str
    entries: Sequence[RecordEntry]


class ExcerptDocument(Printed, frozen=True, kw_only=True, tag="geminids/excerpt/1"):
    """A signed record from which pieces were taken out."""

    files: Sequence[str]
    withheld: Sequence[str]
    """Places of the record as it was given, as JSON pointers."""
    missing: int
    """At how many places something is missing now, as `verify` counts: some would tell what stood in others,
    or were taken out before."""


class CheckedRecord(Document, frozen=True, kw_only=True):
    """One thing that was checked."""

    name: str
    holds: bool | None
    """Null: there was nothing of the kind, or it was not asked for."""
    detail: str


class WithheldPlace(Document, frozen=True, kw_only=True):
    """Something that was taken out after it was signed."""

    at: str
    """Where it stood in the record as it is now, as a JSON pointer."""
    count: int
    """How many entries; 1 for anything else."""


class TrustedKey(Document, frozen=True, kw_only=True):
    """A key that is believed."""

    name: str
    """Of one of your keys, else the file that was given."""
    is_own: bool


class VerifiedFile(Document, frozen=True, kw_only=True):
    """What became of the checks of one file."""

    file: str
    holds: bool
    form: str
    """statement, excerpt (pieces were taken out without the key) or record (nobody signed it)."""
    record_id: str | None
    session_id: str | None
    issuer: str | None
    issued_at: datetime | None
    """As the signer says."""
    algorithm: str | None
    key_id: str | None
    key: TrustedKey | None
    """The key with that id, if it is one of yours or was given."""
    unchecked: str | None
    """Why the signature was not checked, if that is all: nobody gave the key. `holds` is false then."""
    is_record: bool
    """False: it is neither a record nor signed."""
    signature_sha256: str | None
    """Of the CBOR encoding of the signature: what a time stamp is asked for."""
    checks: Sequence[CheckedRecord]
    withheld: Sequence[WithheldPlace]


class VerifyDocument(Printed, frozen=True, kw_only=True, tag="geminids/verify/1"):
    """Whether everything that was asked for holds."""

    holds: bool
    files: Sequence[VerifiedFile]
    shows: str
    """What it shows if it holds."""
    does_not_show: str


class KeysDocument(Printed, frozen=True, kw_only=True, tag="geminids/keys/1"):
    """The keys that this user can sign with, the oldest first."""

    folder: str
    keys: Sequence[SigningKey]
    strange: Sequence[StrangeKeyFile]


class KeyDocument(SigningKey, Printed, frozen=True, kw_only=True, tag="geminids/key/1"):
    """One key."""

    private_file: str
    """Where the private half is, for this user alone."""


def verified_file(verified: VerifiedRecord) -> VerifiedFile:
    """What became of the checks of one file."""
    return filled(
        VerifiedFile,
        verified,
        file=str(verified.path),
        key=filled(TrustedKey, verified.key) if verified.key else None,
        checks=[filled(CheckedRecord, check) for check in verified.checks],
        withheld=[filled(WithheldPlace, place) for place in verified.redactions],
    )
