"""Values as JSON, whatever letters they hold."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from geminids.transcript import safe


def encode(value: Any) -> bytes:
    """The value as JSON. Half characters, as in names of files that are no UTF-8, become `?`."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), ensure_ascii=False).encode("utf-8", "replace")


def encode_harmless(value: Any) -> bytes:
    """The value as JSON in which no character can steer a terminal; what it decodes to is the same."""
    return safe.json_bytes(encode(value))
