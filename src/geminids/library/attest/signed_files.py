"""Files that are to be checked or cut, taken apart: the signature, the record, what both stood in."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from geminids.core.errors import NothingToReadError
from geminids.library.attest.attestation import SIGNATURE_SUFFIX
from geminids.sharing.records import encoding
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.vcon import record_in

COSE_TAG = b"\xd2"
"""The first byte of every COSE_Sign1 that has its tag."""


class Given(NamedTuple):
    """A file to be checked, taken apart."""

    signed: bytes | None
    """The signature; None if there is none."""
    content: bytes | None
    """The bytes of the record, where they are not in the signature's own file."""
    vcon: bytes | None = None
    """What both stood in."""

    @property
    def is_vcon(self) -> bool:
        """Whether both stood in a vCon."""
        return self.vcon is not None


def taken_apart(path: Path, signature: Path | None) -> Given:
    """A signed file, or a record and the signature beside it."""
    content = read_given(path)
    if signature is not None:
        return Given(read_given(signature), content)
    if is_cose(content):
        return Given(content, None)
    if (vcon := _vcon(content)) is not None:
        record, signed = record_in(vcon)
        return Given(signed, encoding.encode_json(record), content)
    beside = path.with_name(path.name + SIGNATURE_SUFFIX)
    return Given(read_given(beside) if beside.exists() else None, content)


def is_cose(content: bytes) -> bool:
    """Whether bytes begin as a COSE_Sign1 does; no JSON and no record in CBOR does."""
    return content[:1] == COSE_TAG


def _vcon(content: bytes) -> dict[str, Any] | None:
    """The object, if it is a vCon: it names its version so, and no record does."""
    if not content.lstrip().startswith(b"{"):
        return None
    try:
        value, _ = encoding.decode(content)
    except RecordError:
        # What it is will be said by whoever takes it for a record.
        return None
    return value if "vcon" in value else None


def read_given(path: Path) -> bytes:
    """What is in a file that was named by hand. Raises NothingToReadError."""
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise NothingToReadError(str(path), reason or "it cannot be read") from error
