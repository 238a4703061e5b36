"""Counts as agents write them; what nobody can have counted is None."""

from __future__ import annotations

LARGEST_COUNT = 10**12
"""No request has more tokens, nor a session more of anything; a million such numbers have an exact sum."""


def count_or_none(number: object) -> int | None:
    """A number of things, if it can be one; writers of JSON may give it as 3.0."""
    if type(number) is float and number.is_integer():
        number = int(number)
    return number if type(number) is int and 0 <= number <= LARGEST_COUNT else None
