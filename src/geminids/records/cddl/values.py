"""The kinds of values that there are: what JSON knows, and what `cbor2` makes of CBOR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, Final

import cbor2

MOST = 2**64
"""Integers from here on have no number of their own in CBOR, and are tagged bytes."""

_BREAK: Final[object] = getattr(cbor2, "break_marker", object())
"""What `cbor2` makes of the end of a list that nothing began."""

Check = Callable[[object], bool]


def is_anything(_: object) -> bool:
    """Whether it is a value."""
    return True


def is_nothing(_: object) -> bool:
    """Whether it is none of all values."""
    return False


def is_text(value: object) -> bool:
    """Whether it is text."""
    return isinstance(value, str)


def is_bytes(value: object) -> bool:
    """Whether it is a string of bytes."""
    return isinstance(value, bytes | bytearray | memoryview)


def is_unsigned(value: object) -> bool:
    """Whether it is an integer of 64 bits without a sign. True is none, though Python thinks so."""
    return type(value) is int and 0 <= value < MOST


def is_negative(value: object) -> bool:
    """Whether it is an integer below zero that CBOR has a number for."""
    return type(value) is int and -MOST <= value < 0


def is_integer(value: object) -> bool:
    """Whether it is an integer that CBOR has a number for."""
    return type(value) is int and -MOST <= value < MOST


def is_float(value: object) -> bool:
    """Whether it is a number with a point."""
    return isinstance(value, float)


def is_map(value: object) -> bool:
    """Whether it is a map; those that are keys of others come as frozen ones."""
    return type(value) is dict or isinstance(value, Mapping)


def is_list(value: object) -> bool:
    """Whether it is a list; those that are keys of maps come as tuples."""
    return isinstance(value, list | tuple)


def is_null(value: object) -> bool:
    """Whether it is null."""
    return value is None


def is_boolean(value: object) -> bool:
    """Whether it is true or false."""
    return value is True or value is False


def is_undefined(value: object) -> bool:
    """Whether it is what CBOR calls undefined."""
    return value is cbor2.undefined


def is_simple(value: object) -> bool:
    """Whether it is of the kind of true, null and floats."""
    is_one = value is None or isinstance(value, bool | float | cbor2.CBORSimpleValue)
    return is_one or value is cbor2.undefined


def same(value: object, literal: object) -> bool:
    """Whether two plain values are the same one: 1 is neither 1.0 nor True."""
    if isinstance(literal, bytes):
        return is_bytes(value) and bytes(value) == literal  # type: ignore[call-overload]
    return type(value) is type(literal) and value == literal


_PLAIN: Final = (str, bytes, bytearray, memoryview, bool, float, list, tuple, Mapping, cbor2.CBORSimpleValue)


def as_tags(value: object) -> list[cbor2.CBORTag]:
    """What a value is as tagged data: itself, or the tags that `cbor2` has read dates and the like from.

    A moment may have been written in two ways; which one it was cannot be seen any more, so both are given.
    """
    if isinstance(value, cbor2.CBORTag):
        return [value]
    if value is None or value is cbor2.undefined or isinstance(value, _PLAIN) or is_integer(value):
        return []
    tags = [_encoded_tag(value, as_timestamp) for as_timestamp in (False, True)]
    return [tag for tag in tags if tag is not None]


def _encoded_tag(value: object, as_timestamp: bool) -> cbor2.CBORTag | None:
    """The tag that a value is written with, read without what `cbor2` knows of that tag."""
    try:
        written = cbor2.dumps(value, datetime_as_timestamp=as_timestamp)
        if written[0] >> 5 != 6:
            return None
        # The same head, but as a number: what follows it is the content of the tag.
        stream = BytesIO(bytes([written[0] & 0x1F]) + written[1:])
        decoder = cbor2.CBORDecoder(stream)
        return cbor2.CBORTag(decoder.decode(), decoder.decode())
    except (cbor2.CBORError, ValueError, TypeError, ArithmeticError, RecursionError):
        return None


class NotOneItemError(ValueError):
    """Bytes that are not exactly one item of CBOR."""


def decoded(value: object) -> Any:
    """The one item of CBOR that bytes are; NotOneItemError if they are anything else."""
    if not isinstance(value, bytes | bytearray | memoryview):
        raise NotOneItemError
    content = bytes(value)
    # Read as the first of two: what follows must then be our own end, which is longer than all that is given.
    end = bytes(len(content) + 1)
    try:
        items = cbor2.loads(b"\x82" + content + cbor2.dumps(end))
    except (cbor2.CBORError, ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise NotOneItemError from error
    match items:
        case [item, bytes(last)] if last == end and item is not _BREAK:
            return item
        case _:
            raise NotOneItemError


_NAMES: Final[tuple[tuple[Check, str], ...]] = (
    (is_text, "text"),
    (is_boolean, "a boolean"),
    (is_unsigned, "an unsigned integer"),
    (is_negative, "a negative integer"),
    (is_float, "a float"),
    (is_null, "null"),
    (is_map, "a map"),
    (is_list, "a list"),
    (is_bytes, "bytes"),
    (is_undefined, "undefined"),
)


def kind_of(value: object) -> str:
    """What kind of value it is, in words; never what it says."""
    for check, name in _NAMES:
        if check(value):
            return name
    tags = as_tags(value)
    return f"tag {tags[0].tag}" if tags else "a value of no known kind"
