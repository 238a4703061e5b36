"""Reading JSON that may be damaged: decode fast, forgive slowly, then salvage what is left.

Agents cut their output anywhere (half an emoji), write NaN, die in the middle of a line and then
go on in the same line. So there is a ladder: the fast strict decoder; the standard one, which
forgives more; and for what neither reads, a search for the whole records that are still in there.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec

decode_strict = msgspec.json.Decoder().decode
"""The fast decoder; what it refuses, `decode` may still read."""
REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""How the fast decoder refuses."""
HALVED = "half a character"
"""What is said of text that was cut between the halves of a pair."""
_BOM = b"\xef\xbb\xbf"
_FIRST_BYTES = frozenset(bytes([byte]) for byte in b'{["-0123456789tfnNI' + _BOM[:1])
_FIRST_HALF, _SECOND_HALF = rb"\\u[dD][89abAB][0-9a-fA-F]{2}", rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_HALVES = re.compile(
    rb"(?<!\\)(?P<before>(?:\\\\)*+)(?:(?P<pair>%b%b)|%b|%b)"
    % (_FIRST_HALF, _SECOND_HALF, _FIRST_HALF, _SECOND_HALF)
)
"""Escapes of halves of characters, and of whole pairs; a backslash before one may be escaped itself."""
_REPLACEMENT = rb"\ufffd"
# Possessive: else each escape in a long text would be kept in mind, in case it has to be given back.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\],]', re.DOTALL)
_PARTIAL_ESCAPE = re.compile(rb"\\(?:u[0-9a-fA-F]{0,3})?$")
_OPENERS = {ord("{"): ord("}"), ord("["): ord("]")}
_COMMA = ord(",")
_MOST_TOKENS, _FREE_TOKENS = 1_000_000, 2_000
"""How many tokens of damaged bytes are looked at before we give up: hostile ones could ask without end."""
_TOKENS_OF_DEEP = 10_000
"""The same of what is nested too deeply: no agent wrote that."""
TOO_DEEP = "nested too deeply"
_BYTES_A_TOKEN = 16
"""How many bytes are decoded in vain in the time that looking at a token takes."""
_MOST_OPEN = 5_000
_DEEPEST = 500
"""How deep no record is nested: what is deeper and was refused is not tried again level by level."""


class UndecodableError(ValueError):
    """These bytes are no JSON, even with much good will."""


class Decoded(NamedTuple):
    """A JSON value, and what had to be forgiven to get it."""

    value: Any
    forgiven: str | None = None
    strict: bool = True
    """Whether a JavaScript engine reads the same bytes."""


def decode(raw: bytes, *, keep_halves: bool = False) -> Decoded:
    """The value these bytes hold; raises UndecodableError if they hold none.

    Half a character can be read but not stored: a replacement character stands for it, unless the value is
    wanted with its halves.
    """
    try:
        return Decoded(decode_strict(raw))
    except RecursionError:
        raise UndecodableError(TOO_DEEP) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _forgive(raw, keep_halves=keep_halves)


def in_whole_characters(raw: bytes) -> bytes:
    """The same JSON, as long as it was, with a replacement character for each half of a pair."""
    if b"\\ud" not in raw and b"\\uD" not in raw:
        # Nearly always, and seconds quicker where there are hundreds of megabytes.
        return raw
    return _HALVES.sub(_mended, raw)


def _mended(halves: re.Match[bytes]) -> bytes:
    return halves[0] if halves["pair"] else halves["before"] + _REPLACEMENT


def _forgive(raw: bytes, *, keep_halves: bool) -> Decoded:
    if raw.lstrip()[:1] not in _FIRST_BYTES:
        # Such as the NULs that crashes leave: nobody forgives what no value begins with.
        raise UndecodableError(_complaint(raw))
    # Few files need it, and every command would pay for loading it.
    import json

    mended = in_whole_characters(raw)
    halved = mended != raw
    read = raw if keep_halves else mended
    has_mark = read.startswith(_BOM)
    text = read.decode("utf-8-sig", errors="replace")
    has_bad_bytes = text.encode(errors="replace") != read.removeprefix(_BOM)
    constants: list[str] = []
    decoder = json.JSONDecoder(strict=False, parse_constant=constants.append)
    try:
        value = decoder.decode(text)
    except RecursionError:
        raise UndecodableError(TOO_DEEP) from None
    except ValueError:
        raise UndecodableError(_complaint(mended)) from None
    trouble = {
        "a byte order mark": has_mark,
        "bytes that are no UTF-8": has_bad_bytes,
        HALVED: halved,
        "a number that is none, read as null": bool(constants),
    }
    notes = [name for name, found in trouble.items() if found]
    strict = not (has_mark or constants) and _has_no_controls(text)
    return Decoded(value, ", ".join(notes) or "characters or numbers out of range", strict)


def _complaint(raw: bytes) -> str:
    """What the fast decoder minds."""
    try:
        decode_strict(raw)
    except msgspec.DecodeError as error:
        return str(error)
    except UnicodeDecodeError:
        return "bytes that are no UTF-8"
    return "no JSON"


def _has_no_controls(text: str) -> bool:
    """Whether no text in this JSON holds a control character as such."""
    import json

    try:
        json.loads(text)
    except ValueError:
        return False
    return True


class Salvaged(NamedTuple):
    """A record found in damaged bytes. One that was cut off at the end is not complete."""

    value: dict[str, Any]
    start: int
    end: int
    complete: bool


def salvage(
    raw: bytes,
    beginning: re.Pattern[bytes],
    accept: Callable[[dict[str, Any]], bool],
    *,
    complaint: str = "",
) -> Iterator[Salvaged]:
    """The records in damaged bytes, in order: objects that begin as `beginning` says and that `accept` knows.

    What is torn inside a string turns the meaning of every later quote around, so each candidate
    is read afresh from its own first brace.
    """
    objects = _Objects(raw, _TOKENS_OF_DEEP if complaint == TOO_DEEP else _MOST_TOKENS)
    position, torn, refused_to = 0, None, 0
    while (found := beginning.search(raw, position)) and objects.budget > 0:
        start, (end, height) = found.start(), objects.at(found.start())
        position = found.end()
        if end is None:
            torn = start if torn is None else torn
        elif start < refused_to and height > _DEEPEST:
            continue
        elif (value := decoded_object(raw[start:end])) is not None:
            position = end
            if accept(value):
                yield from _fragment(raw, torn, start, accept)
                yield Salvaged(value, start, end, complete=True)
                torn = None
        else:
            objects.budget -= (end - start) // _BYTES_A_TOKEN
            refused_to = max(refused_to, end)
    yield from _fragment(raw, torn, len(raw), accept)


class _Objects:
    """Where objects close in damaged bytes. Each scan also tells of all objects within the one it was for.

    What is text and what is not depends on where a scan begins, but most scans soon agree: so there are few.
    """

    def __init__(self, raw: bytes, most: int) -> None:
        self._raw = raw
        self.budget = min(2 * len(raw) + _FREE_TOKENS, most)
        """How many more tokens are looked at."""
        self._scans: list[_Scan] = []

    def at(self, start: int) -> tuple[int | None, int]:
        """Where the object that opens here closes, None if it does not; and how deep it is nested."""
        self._scans = [scan for scan in self._scans if scan.end > start]
        for scan in self._scans:
            if (known := scan.at(start)) is not None:
                return known
        scan = _Scan(self._raw, start, self.budget)
        self.budget -= scan.tokens
        self._scans.append(scan)
        return scan.at(start) or (None, 0)


class _Scan:
    """The objects in the bytes from one that opens to where it closes, or to the end."""

    def __init__(self, raw: bytes, start: int, budget: int) -> None:
        self._starts, self._ends, self._heights = array("q"), array("q"), array("l")
        self.end = len(raw)
        self.tokens = 0
        opened, heights = array("q"), array("l")
        for token in _TOKEN.finditer(raw, start):
            self.tokens += 1
            byte = raw[token.start()]
            if byte in _OPENERS:
                opened.append(len(self._starts))
                heights.append(1)
                self._starts.append(token.start())
                self._ends.append(-1)
                self._heights.append(0)
            elif byte in b"}]":
                number, height = opened.pop(), heights.pop()
                self._ends[number], self._heights[number] = token.end(), height
                if not opened:
                    self.end = token.end()
                    break
                heights[-1] = max(heights[-1], height + 1)
            if self.tokens > budget:
                break

    def at(self, start: int) -> tuple[int | None, int] | None:
        """What is known of the object that opens here; None if nothing does."""
        number = bisect_left(self._starts, start)
        if number == len(self._starts) or self._starts[number] != start:
            return None
        end = self._ends[number]
        return (None, 0) if end < 0 else (end, self._heights[number])


def _fragment(
    raw: bytes, start: int | None, end: int, accept: Callable[[dict[str, Any]], bool]
) -> Iterator[Salvaged]:
    """A record that was torn off at `end`, if there is one."""
    value = complete_truncated(raw[start:end]) if start is not None else None
    if start is not None and value is not None and accept(value):
        yield Salvaged(value, start, end, complete=False)


def decoded_object(raw: bytes) -> dict[str, Any] | None:
    """The object that bytes hold; None if they hold none."""
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
    open_there = _what_is_open(raw)
    if open_there is None:
        return None
    missing, last_sound, missing_there = open_there
    attempts = (
        raw + missing,
        _PARTIAL_ESCAPE.sub(b"", raw) + b'"' + missing,
        raw[:last_sound] + missing_there,
    )
    return next((value for attempt in attempts if (value := decoded_object(attempt)) is not None), None)


def _what_is_open(raw: bytes) -> tuple[bytes, int, bytes] | None:
    """What would close these bytes; and the last place where a member ended, with what would close them.

    None if so much is open that no decoder would read it.
    """
    opened, closed_since = bytearray(), bytearray()
    last_sound = 0
    for token in _TOKEN.finditer(raw):
        byte = raw[token.start()]
        if byte in _OPENERS:
            opened.append(_OPENERS[byte])
            if len(opened) > _MOST_OPEN:
                return None
            last_sound = token.end()
            closed_since.clear()
        elif byte in b"}]":
            closed_since += opened[-1:]
            del opened[-1:]
        elif byte == _COMMA:
            last_sound = token.start()
            closed_since.clear()
    return bytes(reversed(opened)), last_sound, bytes(closed_since + opened[::-1])
