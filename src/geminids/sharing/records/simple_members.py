"""Entries of the plainer translation: members that the format names, and what else an agent wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from geminids.core.agents.records import Entry, Surroundings

_TEXTS = {
    "user": frozenset({"id", "model-id", "parent-id"}),
    "assistant": frozenset({"id", "model-id", "parent-id"}),
    "tool-call": frozenset({"id", "name", "call-id"}),
    "tool-result": frozenset({"id", "call-id", "status"}),
    "reasoning": frozenset({"id", "encrypted", "subject"}),
    "system-event": frozenset({"id", "event-type"}),
}
"""Members of each kind of entry that must be texts."""
_COUNTS = frozenset({"input", "output", "cached", "reasoning", "total"})
_LARGEST_COUNT = 2**64 - 1
_MOMENT = re.compile(
    r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d+)?"
    r"(Z|[+-]([01]\d|2[0-3]):[0-5]\d)",
    re.ASCII,
)


def entry(mapped: Mapping[str, Any], native: Mapping[str, Any] | None = None) -> Entry:
    """An entry: its members, and behind them those of the agent under their own names.

    Nothing stands there that is null or that the format would not take. What was mapped is never replaced.
    """
    own = {name: value for name, value in (native or {}).items() if name not in mapped and name != "children"}
    kind = str(mapped["type"])
    return {name: value for name, value in {**mapped, **own}.items() if _fits(kind, name, value)}


def first_known(surroundings: Sequence[Surroundings]) -> Surroundings:
    """What the first lines say that say anything."""
    return Surroundings(
        next((about.start for about in surroundings if about.start is not None), None),
        next((about.folder for about in surroundings if about.folder), None),
        next((about.release for about in surroundings if about.release), None),
    )


def without(native: Mapping[str, Any], known: Iterable[str]) -> dict[str, Any]:
    """The members of a native record that are not told otherwise."""
    names = frozenset(known)
    return {name: value for name, value in native.items() if name not in names}


def usage(mapped: Mapping[str, Any], native: Mapping[str, Any]) -> dict[str, Any]:
    """Tokens: the counts that the format names, and behind them the agent's own."""
    own = {name: value for name, value in native.items() if name not in mapped}
    return {name: value for name, value in {**mapped, **own}.items() if _is_counted(name, value)}


def moment(written: object) -> str | int | None:
    """A time as the agent wrote it, if the format takes it like this."""
    match written:
        case str() if _MOMENT.fullmatch(written):
            return written
        case int() if _is_count(written):
            return written
        case _:
            return None


def text_of(written: object) -> str | None:
    """A text, if it is one."""
    return written if isinstance(written, str) else None


def _fits(kind: str, name: str, value: object) -> bool:
    if value is None:
        return False
    if name in _TEXTS[kind]:
        return isinstance(value, str)
    match name:
        case "timestamp":
            return moment(value) is not None
        case "is-error":
            return isinstance(value, bool)
        case "data" | "token-usage":
            return isinstance(value, dict)
        case _:
            return True


def _is_counted(name: str, value: object) -> bool:
    match name:
        case _ if name in _COUNTS:
            return _is_count(value)
        case "cost":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case _:
            return value is not None


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_COUNT
