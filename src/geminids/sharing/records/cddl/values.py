"""The kinds of values that there are: what JSON knows, bytes, and tags, as the reader of CBOR gives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from geminids.sharing.records.standalone import RefusedError, Tagged, decode_cbor

MOST = 2**64
"""Integers from here on have no number of their own in CBOR, and are tagged bytes."""

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
    return isinstance(value, bytes)


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
    """Whether it is a map."""
    return isinstance(value, dict)


def is_list(value: object) -> bool:
    """Whether it is a list."""
    return isinstance(value, list)


def is_null(value: object) -> bool:
    """Whether it is null."""
    return value is None


def is_boolean(value: object) -> bool:
    """Whether it is true or false."""
    return value is True or value is False


def is_simple(value: object) -> bool:
    """Whether it is of the kind of true, null and floats."""
    return value is None or isinstance(value, bool | float)


def same(value: object, literal: object) -> bool:
    """Whether two plain values are the same one: 1 is neither 1.0 nor True."""
    return type(value) is type(literal) and value == literal


def as_tag(value: object) -> Tagged | None:
    """What a value is as tagged data; None if it is not tagged.

    The reader makes numbers of integers that CBOR writes as tagged bytes, since they are too large for it.
    """
    if isinstance(value, Tagged):
        return value
    if type(value) is not int or is_integer(value):
        return None
    size = value if value > 0 else -1 - value
    return Tagged(2 if value > 0 else 3, size.to_bytes((size.bit_length() + 7) // 8, "big"))


def decoded(value: object) -> Any:
    """The one item of CBOR that bytes are; RefusedError if they are anything else."""
    if not isinstance(value, bytes):
        raise RefusedError("only bytes can be")
    return decode_cbor(value)


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
)


def kind_of(value: object) -> str:
    """What kind of value it is, in words; never what it says."""
    for check, name in _NAMES:
        if check(value):
            return name
    tag = as_tag(value)
    return f"tag {tag.number}" if tag else "a value of no known kind"
