"""Literals of a schema as values: texts with their escapes, byte strings, numbers."""

from __future__ import annotations

import base64
import re
from typing import Final

from cddlparser.ast import Value

Literal = str | bytes | int | float

_ESCAPES: Final = {
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "/": "/",
    "\\": "\\",
    '"': '"',
    "'": "'",
}
_ESCAPE: Final = re.compile(
    r"\\(?:u\{(?P<point>[0-9a-fA-F]{1,6})\}|u(?P<unit>[0-9a-fA-F]{4})|(?P<plain>.))", re.DOTALL
)
_INTEGER: Final = re.compile(r"-?(?:0x[0-9A-Fa-f]+|0b[01]+|[0-9]+)")
_SPACE: Final = re.compile(r"\s+")
_LONGEST_NUMBER: Final = 1000
"""Python refuses to write much larger ones in ten digits, as messages do."""


def literal(node: Value) -> Literal:
    """The value that is written in the schema; ValueError, with the reason, if it is none."""
    match node.type:
        case "text":
            return _unescaped(node.value)
        case "bytes":
            return _unescaped(node.value).encode()
        case "hex":
            return _from_hex(node.value)
        case "base64":
            return _from_base64(node.value)
        case _:
            return _number(node.value)


def _unescaped(written: str) -> str:
    """A text without its escapes, which are those of JSON."""
    text = _ESCAPE.sub(_one_escape, written)
    try:
        # An emoji may be written as two halves; one half alone is no text.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ValueError("half a character in a text") from None


def _one_escape(found: re.Match[str]) -> str:
    if number := found["point"] or found["unit"]:
        if int(number, 16) > 0x10FFFF:
            raise ValueError(f"no character has the number {number}")
        return chr(int(number, 16))
    if found["plain"] not in _ESCAPES:
        raise ValueError(f"`\\{found['plain']}` is no escape; a backslash is written as two")
    return _ESCAPES[found["plain"]]


def _from_hex(written: str) -> bytes:
    try:
        return bytes.fromhex(_SPACE.sub("", written))
    except ValueError:
        raise ValueError("a byte string that is not made of pairs of hexadecimal digits") from None


def _from_base64(written: str) -> bytes:
    """Bytes in either alphabet of base64, with its padding or without."""
    digits = _SPACE.sub("", written).rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True)
    except ValueError:
        raise ValueError("a byte string that is not base64") from None


def _number(written: str) -> int | float:
    digits = written.lstrip("-")
    if len(digits) > _LONGEST_NUMBER:
        raise ValueError("a number that is too long")
    try:
        if _INTEGER.fullmatch(written):
            base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
            return int(written, base)
        return float.fromhex(written) if digits.startswith("0x") else float(written)
    except (ValueError, OverflowError):
        raise ValueError("a number that cannot be read") from None
