"""Values of the model as bytes in the database, and back."""

from __future__ import annotations

import json
from typing import Any, TypeVar

import msgspec

Value = TypeVar("Value")


def packed(value: Any) -> bytes:
    """A value as JSON, half characters in names and words included."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode("ascii")


def unpacked(kept: bytes, kind: type[Value]) -> Value:
    """The value that was packed."""
    try:
        return msgspec.json.decode(kept, type=kind)
    except msgspec.DecodeError:
        # msgspec takes no half characters; the standard decoder does.
        return msgspec.convert(json.loads(kept), kind)
