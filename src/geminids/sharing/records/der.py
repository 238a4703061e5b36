"""As much of DER as keys and time stamps need: elements as they stand in bytes, read strictly and written.

What is not the one way in which DER writes a length is refused, so that nobody can say the same in two ways.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

INTEGER = 0x02
OCTETS = 0x04
OBJECT = 0x06
SEQUENCE = 0x30
SET = 0x31
FIRST = 0xA0
"""The tag `[0]` around other elements."""

_SHORT = 0x80
_MOST_LENGTH_BYTES = 4


class DerError(ValueError):
    """Bytes that are no DER, or not the elements that were expected."""


class Element(NamedTuple):
    """One element."""

    tag: int
    body: bytes
    whole: bytes
    """As it stands there, with its tag and its length."""

    def inner(self, tag: int | None = None) -> list[Element]:
        """The elements in it. Raises DerError if it has not the tag that it should have."""
        if tag is not None and self.tag != tag:
            raise DerError(f"tag {self.tag:#04x} where {tag:#04x} was expected")
        return list(elements(self.body))


def elements(content: bytes) -> Iterator[Element]:
    """The elements that stand one after the other. Raises DerError where there is no whole one."""
    at = 0
    while at < len(content):
        start, length = _head(content, at)
        end = start + length
        if end > len(content):
            raise DerError("it ends too early")
        yield Element(content[at], content[start:end], content[at:end])
        at = end


def single(content: bytes) -> Element:
    """The one element that there is. Raises DerError if there is none, or something after it."""
    match list(elements(content)):
        case [one]:
            return one
        case found:
            raise DerError("something stands behind it" if found else "it is empty")


def object_name(element: Element) -> str:
    """The numbers of an object identifier with dots between them. Raises DerError if it is none."""
    if element.tag != OBJECT or not element.body or element.body[-1] & 0x80:
        raise DerError("no object identifier where one was expected")
    numbers, number = [], 0
    for byte in element.body:
        number = number << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(number)
            number = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, (first, numbers[0] - 40 * first, *numbers[1:])))


def whole_number(element: Element) -> int:
    """An integer. Raises DerError if it is none."""
    if element.tag != INTEGER or not element.body:
        raise DerError("no number where one was expected")
    return int.from_bytes(element.body, "big", signed=True)


def written(tag: int, *bodies: bytes) -> bytes:
    """An element with these bytes in it."""
    body = b"".join(bodies)
    if len(body) < _SHORT:
        return bytes((tag, len(body))) + body
    length = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes((tag, _SHORT | len(length))) + length + body


def written_number(number: int) -> bytes:
    """An integer that is not negative."""
    return written(INTEGER, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def written_object(name: str) -> bytes:
    """An object identifier, given by its numbers with dots between them."""
    first, second, *others = map(int, name.split("."))
    return written(OBJECT, *map(_in_sevens, (40 * first + second, *others)))


def _in_sevens(number: int) -> bytes:
    """A number in groups of seven bits; all but the last say that another one follows."""
    groups = [number & 0x7F]
    while number := number >> 7:
        groups.append(number & 0x7F | 0x80)
    return bytes(reversed(groups))


def _head(content: bytes, at: int) -> tuple[int, int]:
    """Where the body of an element begins, and how long it is."""
    if content[at] & 0x1F == 0x1F:
        raise DerError("a tag of several bytes, which nothing here has")
    if at + 1 >= len(content):
        raise DerError("it ends too early")
    first = content[at + 1]
    if first < _SHORT:
        return at + 2, first
    start = at + 2 + (first & 0x7F)
    length_bytes = content[at + 2 : start]
    length = int.from_bytes(length_bytes, "big")
    if not 0 < len(length_bytes) <= _MOST_LENGTH_BYTES or len(length_bytes) < first & 0x7F:
        raise DerError("a length that DER does not know")
    if length < _SHORT or length_bytes[0] == 0:
        raise DerError("a length that is longer than it need be")
    return start, length
