"""Whether a value has the shape of a record, or of its signed envelope: by our own schema, or by another.

Ours is `record.cddl` beside this file. Nothing is read before it is needed.
"""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

from geminids.sharing.records.errors import SchemaFileError, SigningNotInstalledError

if TYPE_CHECKING:
    from geminids.sharing.records.cddl import Mismatch, Schema

_OURS: Final = "record.cddl"
_RECORD: Final = "record"
_ENVELOPE: Final = "signed-record"

LARGEST_SCHEMA: Final = 1 << 20
"""More bytes than this are no schema that anyone wrote."""


@functools.cache
def record_schema() -> Schema:
    """The schema of records and of their envelopes."""
    text = resources.files("geminids.sharing.records").joinpath(_OURS).read_text(encoding="utf-8")
    return _parsed(text, _OURS)


def check_record(record: object) -> Mismatch | None:
    """Where a value does not have the shape of a record; None if it has."""
    return record_schema().mismatch(record, _RECORD)


def check_envelope(content: bytes) -> Mismatch | None:
    """Where bytes do not have the shape of a signed record in CBOR; None if they have.

    The payload is not looked into: it is bytes, and may be JSON or CBOR.
    """
    return record_schema().mismatch_in_cbor(content, _ENVELOPE)


def load_schema(path: Path) -> Schema:
    """Read a schema from a file; its first rule says what a value has to be."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_SCHEMA + 1)
    except OSError as error:
        raise SchemaFileError(str(path), error.strerror or str(error)) from None
    except ValueError:
        raise SchemaFileError(str(path), "no file can have that name") from None
    if len(content) > LARGEST_SCHEMA:
        raise SchemaFileError(str(path), f"it has more than {LARGEST_SCHEMA >> 20} MB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SchemaFileError(str(path), f"byte {error.start} is not UTF-8") from None
    return _parsed(text, path.name)


@functools.lru_cache(maxsize=8)
def _parsed(text: str, name: str) -> Schema:
    try:
        from geminids.sharing.records.cddl import Schema
    except ModuleNotFoundError as error:
        raise SigningNotInstalledError(str(error.name)) from None
    return Schema.parse(text, name)
