"""What became of the checks of one signed file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from geminids.sharing.records.standalone import ALGORITHMS, Check, Redaction, Verdict
from geminids.sharing.records.timestamps import signature_field


class TrustedKey(NamedTuple):
    """A key that is believed, as its user knows it."""

    name: str
    """Of a key that is kept here, else the file that it was given in."""
    is_own: bool


class VerifiedRecord(NamedTuple):
    """What became of every check of one file."""

    path: Path
    checks: Sequence[Check]
    verdict: Verdict | None
    """What the verifier found out; None for a record without a signature."""
    record: Mapping[str, Any] | None
    key: TrustedKey | None = None
    """Whose key it was signed with, where it is one that is believed."""
    unknown_key: str | None = None
    """What is said of the key if nobody gave it, so that the signature could not be checked."""

    @property
    def unchecked(self) -> str | None:
        """Why the signature was not checked, if nothing else is wrong."""
        failures = {check.detail for check in self.checks if check.holds is False}
        return self.unknown_key if failures == {self.unknown_key} else None

    @property
    def is_record(self) -> bool:
        """Whether it is a record at all, signed or not."""
        return self.verdict is not None or self.record is not None

    @property
    def holds(self) -> bool:
        """Whether everything that was asked for holds."""
        return all(check.holds is not False for check in self.checks)

    @property
    def form(self) -> str:
        """Whether it is a statement, an excerpt of one, or a record that nobody signed."""
        return self.verdict.form if self.verdict else "record"

    @property
    def record_id(self) -> str | None:
        """The id of the record."""
        return _text((self.record or {}).get("id"))

    @property
    def session_id(self) -> str | None:
        """The id of the session that it holds."""
        session = (self.record or {}).get("session")
        return _text(session.get("session-id")) if isinstance(session, dict) else None

    @property
    def issuer(self) -> str | None:
        """Who signed it, by their own word."""
        return self.verdict.claims.issuer if self.verdict and self.verdict.claims else None

    @property
    def key_id(self) -> str | None:
        """The SHA-256 of the key that it was signed with."""
        return self.verdict.key_id.hex() if self.verdict and self.verdict.key_id else None

    @property
    def algorithm(self) -> str | None:
        """What it was signed with."""
        return ALGORITHMS.get(self.verdict.algorithm or 0) if self.verdict else None

    @property
    def issued_at(self) -> datetime | None:
        """When it was signed, as the signer says."""
        claims = self.verdict.claims if self.verdict else None
        if claims is None or claims.issued_at is None:
            return None
        try:
            return datetime.fromtimestamp(claims.issued_at, UTC)
        except (OverflowError, OSError, ValueError):
            return None

    @property
    def signature_sha256(self) -> str | None:
        """What a time stamp over the signature is asked for."""
        if self.verdict is None or self.verdict.signature is None:
            return None
        return hashlib.sha256(signature_field(self.verdict.signature)).hexdigest()

    @property
    def redactions(self) -> Sequence[Redaction]:
        """What was taken out after the record was committed to."""
        return self.verdict.redactions if self.verdict else ()


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
