"""Values of the model as bytes in the database, and back."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

from geminids.store.index import DamagedValueError

Value = TypeVar("Value")


def packed(value: Any) -> bytes:
    """A value as MessagePack; as JSON where there are half characters in names and words."""
    try:
        return msgspec.msgpack.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def unpacked(kept: bytes, kind: type[Value]) -> Value:
    """The value that was packed. Raises DamagedValueError if it was not."""
    try:
        # No object or list of MessagePack begins like one of JSON.
        if kept[:1] in (b"{", b"["):
            return msgspec.convert(json.loads(kept), kind)
        return msgspec.msgpack.decode(kept, type=kind)
    except ValueError as error:
        raise DamagedValueError(f"a value cannot be read: {error}") from error
