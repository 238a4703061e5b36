"""Values inside objects inside objects, by the names that lead to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def value_at(value: Any, path: Sequence[str]) -> Any:
    """What stands at a path; None if nothing does."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def nested(path: Sequence[str], value: Any) -> Any:
    """A value inside the objects that lead to it."""
    for name in reversed(path):
        value = {name: value}
    return value


def with_value(base: Any, path: Sequence[str], value: Any) -> Any:
    """An object with another value at a path."""
    if not path:
        return value
    there = base if isinstance(base, dict) else {}
    return {**there, path[0]: with_value(there.get(path[0]), path[1:], value)}
