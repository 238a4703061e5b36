"""The names that every schema may use without telling what they mean (RFC 8610, appendix D)."""

from __future__ import annotations

import math
import struct
from typing import Final

from geminids.sharing.records.cddl import values
from geminids.sharing.records.cddl.values import Check


def _fits_in(code: str) -> Check:
    """Whether a float is the same with fewer bits. How many it was written with is not known any more."""

    def check(value: object) -> bool:
        if not isinstance(value, float):
            return False
        try:
            return math.isnan(value) or struct.unpack(code, struct.pack(code, value))[0] == value
        except OverflowError:
            return False

    return check


KINDS: Final[dict[str, tuple[str, Check]]] = {
    "any": ("anything", values.is_anything),
    "uint": ("an unsigned integer", values.is_unsigned),
    "nint": ("a negative integer", values.is_negative),
    "int": ("an integer", values.is_integer),
    "tstr": ("text", values.is_text),
    "text": ("text", values.is_text),
    "bstr": ("bytes", values.is_bytes),
    "bytes": ("bytes", values.is_bytes),
    "float": ("a float", values.is_float),
    "float64": ("a float", values.is_float),
    "float32-64": ("a float", values.is_float),
    "float32": ("a float of 32 bits", _fits_in("<f")),
    "float16-32": ("a float of 32 bits", _fits_in("<f")),
    "float16": ("a float of 16 bits", _fits_in("<e")),
    "bool": ("a boolean", values.is_boolean),
    "true": ("true", lambda value: value is True),
    "false": ("false", lambda value: value is False),
    "null": ("null", values.is_null),
    "nil": ("null", values.is_null),
    "undefined": ("undefined", values.is_nothing),
}
"""Names of kinds of values, in words and as checks. What is undefined is no value that is ever read."""

MAJOR_TYPES: Final[dict[str, str | tuple[str, Check]]] = {
    "0": "uint",
    "1": "nint",
    "2": "bstr",
    "3": "tstr",
    "4": ("a list", values.is_list),
    "5": ("a map", values.is_map),
    "7": ("a simple value or a float", values.is_simple),
    "7.20": "false",
    "7.21": "true",
    "7.22": "null",
    "7.23": "undefined",
    "7.25": "float16",
    "7.26": "float32",
    "7.27": "float64",
}
"""What `#` and a number stand for; tags, `#6`, aside."""

MADE_OF_OTHERS: Final = """
    number = int / float
    integer = int / bigint          unsigned = uint / biguint       bigint = biguint / bignint
    biguint = #6.2(bstr)            bignint = #6.3(bstr)
    tdate = #6.0(tstr)              time = #6.1(number)
    decfrac = #6.4([int, integer])  bigfloat = #6.5([int, integer])
    eb64url = #6.21(any)            eb64legacy = #6.22(any)         eb16 = #6.23(any)
    b64url = #6.33(tstr)            b64legacy = #6.34(tstr)         uri = #6.32(tstr)
    regexp = #6.35(tstr)            mime-message = #6.36(tstr)
    encoded-cbor = #6.24(bstr)      cbor-any = #6.55799(any)
"""
"""Names that are made of other ones, in CDDL."""
