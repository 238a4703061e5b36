"""Reading JSON that may be damaged: decode fast, forgive slowly, then salvage what is left.

Agents cut their output anywhere (half an emoji), write NaN, die in the middle of a line and then
go on in the same line. So there is a ladder: the fast strict decoder; the standard one, which
forgives more; and for what neither reads, a search for the whole records that are still in there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

decode_strict = msgspec.json.Decoder().decode
"""The fast decoder; what it refuses, `decode` may still read."""
REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""How the fast decoder refuses."""
_BOM = b"\xef\xbb\xbf"
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],]', re.DOTALL)
_PARTIAL_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?$")
_OPENERS = {ord("{"): ord("}"), ord("["): ord("]")}
_COMMA = ord(",")
_SCANS_PER_BYTE = 4
_FREE_SCANS = 16_000_000
"""How often damaged bytes may be gone over before we give up: hostile input could ask for it without end."""


class UndecodableError(ValueError):
    """These bytes are no JSON, even with much good will."""


class Decoded(NamedTuple):
    """A JSON value, and what had to be forgiven to get it."""

    value: Any
    forgiven: str | None = None
    strict: bool = True
    """Whether a JavaScript engine reads the same bytes."""


def decode(raw: bytes) -> Decoded:
    """The value these bytes hold; raises UndecodableError if they hold none."""
    try:
        return Decoded(decode_strict(raw))
    except RecursionError:
        raise UndecodableError("nested too deeply") from None
    except UnicodeDecodeError:
        return _forgive(raw, "bytes that are no UTF-8")
    except msgspec.DecodeError as error:
        return _forgive(raw, str(error))


def _forgive(raw: bytes, complaint: str) -> Decoded:
    # Few files need it, and every command would pay for loading it.
    import json

    has_mark = raw.startswith(_BOM)
    text = raw.decode("utf-8-sig", errors="replace")
    has_bad_bytes = text.encode(errors="replace") != raw.removeprefix(_BOM)
    constants: list[str] = []
    decoder = json.JSONDecoder(strict=False, parse_constant=constants.append)
    try:
        value, halved = _whole_characters(decoder.decode(text))
    except RecursionError:
        raise UndecodableError("nested too deeply") from None
    except ValueError:
        raise UndecodableError(complaint) from None
    trouble = {
        "a byte order mark": has_mark,
        "bytes that are no UTF-8": has_bad_bytes,
        "half a character": halved,
        "a number that is none, read as null": bool(constants),
    }
    notes = [name for name, found in trouble.items() if found]
    strict = not (has_mark or constants) and _has_no_controls(text)
    return Decoded(value, ", ".join(notes) or "characters or numbers out of range", strict)


def _has_no_controls(text: str) -> bool:
    """Whether no text in this JSON holds a control character as such."""
    import json

    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _whole_characters(value: Any) -> tuple[Any, bool]:
    """The same value with a replacement character for each half of a pair: it can be read but not stored."""
    halved = False

    def mend(value: Any) -> Any:
        nonlocal halved
        if isinstance(value, str):
            mended = _LONE_SURROGATE.sub("\ufffd", value)
            halved = halved or mended != value
            return mended
        if isinstance(value, list):
            return [mend(item) for item in value]
        if isinstance(value, dict):
            return {mend(key): mend(item) for key, item in value.items()}
        return value

    return mend(value), halved


class Salvaged(NamedTuple):
    """A record found in damaged bytes. One that was cut off at the end is not complete."""

    value: dict[str, Any]
    start: int
    end: int
    complete: bool


def salvage(
    raw: bytes, beginning: re.Pattern[bytes], accept: Callable[[dict[str, Any]], bool]
) -> Iterator[Salvaged]:
    """The records in damaged bytes, in order: objects that begin as `beginning` says and that `accept` knows.

    What is torn inside a string turns the meaning of every later quote around, so each candidate
    is read afresh from its own first brace.
    """
    budget = len(raw) * _SCANS_PER_BYTE + _FREE_SCANS
    position, torn = 0, None
    while (found := beginning.search(raw, position)) and budget > 0:
        start, end = found.start(), object_end(raw, found.start())
        budget -= (end or len(raw)) - start
        position = found.end()
        if end is None:
            torn = start if torn is None else torn
        elif (value := _decoded_object(raw[start:end])) is not None:
            position = end
            if accept(value):
                yield from _fragment(raw, torn, start, accept)
                yield Salvaged(value, start, end, complete=True)
                torn = None
    yield from _fragment(raw, torn, len(raw), accept)


def _fragment(
    raw: bytes, start: int | None, end: int, accept: Callable[[dict[str, Any]], bool]
) -> Iterator[Salvaged]:
    """A record that was torn off at `end`, if there is one."""
    value = complete_truncated(raw[start:end]) if start is not None else None
    if start is not None and value is not None and accept(value):
        yield Salvaged(value, start, end, complete=False)


def _decoded_object(raw: bytes) -> dict[str, Any] | None:
    try:
        value = decode(raw).value
    except UndecodableError:
        return None
    return value if isinstance(value, dict) else None


def object_end(raw: bytes, start: int) -> int | None:
    """Where the object that opens at `start` closes; None if it does not."""
    depth = 0
    for token in _TOKEN.finditer(raw, start):
        byte = raw[token.start()]
        if byte in _OPENERS:
            depth += 1
        elif byte in b"}]":
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def complete_truncated(raw: bytes) -> dict[str, Any] | None:
    """The beginning of an object as an object: what is open gets closed, an unfinished member is left out."""
    missing, last_sound, missing_there = _what_is_open(raw)
    attempts = (
        raw + missing,
        _PARTIAL_ESCAPE.sub(b"", raw) + b'"' + missing,
        raw[:last_sound] + missing_there,
    )
    return next((value for attempt in attempts if (value := _decoded_object(attempt)) is not None), None)


def _what_is_open(raw: bytes) -> tuple[bytes, int, bytes]:
    """What would close these bytes; and the last place where a member ended, with what would close them."""
    opened, closed_since = bytearray(), bytearray()
    last_sound = 0
    for token in _TOKEN.finditer(raw):
        byte = raw[token.start()]
        if byte in _OPENERS:
            opened.append(_OPENERS[byte])
            last_sound = token.end()
            closed_since.clear()
        elif byte in b"}]":
            closed_since += opened[-1:]
            del opened[-1:]
        elif byte == _COMMA:
            last_sound = token.start()
            closed_since.clear()
    return bytes(reversed(opened)), last_sound, bytes(closed_since + opened[::-1])
