"""Values of the model as bytes in the database, and back."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from geminids.store.index import DamagedValueError

Value = TypeVar("Value")


def packed(value: Any) -> bytes:
    """A value as JSON, half characters in names and words included."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def unpacked(kept: bytes, kind: type[Value]) -> Value:
    """The value that was packed. Raises DamagedValueError if it was not."""
    try:
        return msgspec.json.decode(kept, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _unpacked_slowly(kept, kind)


def _unpacked_slowly(kept: bytes, kind: type[Value]) -> Value:
    """The same with half characters, which msgspec does not take and the standard decoder does."""
    try:
        return msgspec.convert(json.loads(kept), kind)
    except (ValueError, msgspec.ValidationError) as error:
        raise DamagedValueError(f"a value cannot be read: {error}") from error
