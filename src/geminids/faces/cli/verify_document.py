"""`verify --json`: what was checked, what holds, and what that shows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec


class CheckedRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was checked."""

    name: str
    holds: bool | None
    """Null: there was nothing of the kind, or it was not asked for."""
    detail: str


class WithheldPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was taken out after it was signed."""

    at: str
    """Where it stood in the record as it is now, as a JSON pointer."""
    count: int
    """How many entries; 1 for anything else."""


class VerifiedFile(msgspec.Struct, frozen=True, kw_only=True):
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
    signature_sha256: str | None
    """Of the CBOR encoding of the signature: what a time stamp is asked for."""
    checks: Sequence[CheckedRecord]
    withheld: Sequence[WithheldPlace]


class VerifyDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/verify/1"):
    """Whether everything that was asked for holds."""

    holds: bool
    files: Sequence[VerifiedFile]
    shows: str
    """What it shows if it holds."""
    does_not_show: str
