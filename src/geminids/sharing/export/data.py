"""Values as JSON, whatever letters they hold."""

from __future__ import annotations

from typing import Any

import msgspec

from geminids.sharing.transcript import safe


def encode(value: Any) -> bytes:
    """The value as JSON. Half characters, as in names of files that are no UTF-8, become `?`."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        # What is written already has whole characters.
        plain = msgspec.to_builtins(value, enc_hook=msgspec.json.decode)
        return msgspec.json.encode(_in_whole_characters(plain))


def encode_with_halves(value: dict[str, Any]) -> bytes:
    """The value as JSON. Half characters stay what they are, written as an escape like JavaScript does."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _with_halves(value, separators=(",", ":"))


def indented(encoded: bytes) -> bytes:
    """The same JSON as a person reads it."""
    try:
        return msgspec.json.format(encoded, indent=2)
    except msgspec.DecodeError:
        # Half a character in it is refused.
        import json

        return _with_halves(json.loads(encoded), indent=2)


def _with_halves(value: Any, **layout: Any) -> bytes:
    # Few files need it, and every command would pay for loading it.
    import json

    # What cannot be encoded is half a character, and Python then writes it as JSON does.
    return json.dumps(value, ensure_ascii=False, **layout).encode("utf-8", "backslashreplace")


def encode_harmless(value: Any) -> bytes:
    """The value as JSON in which no character can steer a terminal; what it decodes to is the same."""
    return safe.json_bytes(encode(value))


def _in_whole_characters(value: Any) -> Any:
    match value:
        case str():
            return value.encode("utf-8", "replace").decode()
        case dict():
            return {_in_whole_characters(key): _in_whole_characters(held) for key, held in value.items()}
        case list() | tuple():
            return [_in_whole_characters(held) for held in value]
        case _:
            return value
