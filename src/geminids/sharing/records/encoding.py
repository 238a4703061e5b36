"""Records as bytes: JSON or CBOR of the same value.

    JSON    UTF-8 without blanks, members in the order in which they were put, only escapes that must be
    CBOR    deterministic (RFC 8949, section 4.2): shortest lengths and numbers, keys in the order of bytes

What is read may be written in another way, as long as it cannot be read in two: members that stand twice,
keys that are no text, numbers that are none, halves of characters and bytes behind the end are refused.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import Any, Literal

from geminids.sharing.records import standalone
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.presentable import DEEPEST, fits, presentable

__all__ = ["decode", "encode_cbor", "encode_json", "presentable"]

_BLANKS = b" \t\r\n"


def encode_json(record: dict[str, Any]) -> bytes:
    """A record as JSON. Raises RecordError for what JSON cannot hold."""
    try:
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    except (ValueError, TypeError, RecursionError) as error:
        raise RecordError(
            "The record cannot be written as JSON: it holds what JSON has no form for."
        ) from error


def encode_cbor(record: dict[str, Any]) -> bytes:
    """A record as CBOR. Raises RecordError for what no record holds."""
    if not fits(record):
        raise RecordError("The record cannot be written as CBOR: it holds what no record can.")
    return standalone.encode_cbor(record)


def decode(content: bytes) -> tuple[dict[str, Any], Literal["json", "cbor"]]:
    """The record in a file, and how it is written there. Raises RecordError for bytes that are none."""
    is_json = content.lstrip(_BLANKS).startswith(b"{")
    record = _from_json(content) if is_json else _from_cbor(content)
    if not isinstance(record, dict):
        raise RecordError("This is not a record: it is neither a JSON object nor a CBOR map.")
    return record, "json" if is_json else "cbor"


class _TwiceError(ValueError):
    """A member that stands twice."""


def _from_json(content: bytes) -> Any:
    try:
        record = json.loads(content.decode(), object_pairs_hook=_each_once, parse_constant=_refuse_constant)
        is_whole = fits(record)
    except _TwiceError as error:
        raise RecordError(f"This is not a record: {error}.") from error
    except json.JSONDecodeError as error:
        raise RecordError(
            f"This is not a record: it is not JSON from byte {error.pos:,} on ({error.msg})."
        ) from error
    except UnicodeDecodeError as error:
        raise RecordError(f"This is not a record: it is not UTF-8 from byte {error.start:,} on.") from error
    except (ValueError, RecursionError) as error:
        raise RecordError(
            "This is not a record: a number in it is invalid, or it is nested too deep."
        ) from error
    if not is_whole:
        raise RecordError(
            f"This is not a record: it is nested deeper than {DEEPEST} levels, or has half a character or a "
            "number that is too large."
        )
    return record


def _each_once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(members)
    if len(held) != len(members):
        times = Counter(name for name, _ in members)
        twice = next(name for name in times if times[name] > 1)
        raise _TwiceError(f"the member {twice!r} stands twice in one object")
    return held


def _refuse_constant(name: str) -> Any:
    raise ValueError(name)


def _from_cbor(content: bytes) -> Any:
    try:
        record = standalone.decode_cbor(content)
    except standalone.RefusedError as error:
        raise RecordError(f"This is not a record: it is neither JSON nor CBOR ({error}).") from error
    if not fits(record):
        raise RecordError("This is not a record: it holds what JSON cannot, or is nested too deep.")
    return record
