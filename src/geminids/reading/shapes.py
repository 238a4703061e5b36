"""Values as agents write them, if they are of the kind that they should be."""

from __future__ import annotations


def text_or_none(value: object) -> str | None:
    """The value if it is a text."""
    return value if type(value) is str else None
