"""Entries of the plainer translation: members that the format names, and what else an agent wrote."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from geminids.core.agents.records import Entry, Surroundings
from geminids.sharing.records.published_shapes import ENTRIES, Counts, fits, is_moment


def entry(mapped: Mapping[str, Any], native: Mapping[str, Any] | None = None) -> Entry:
    """An entry: its members, and behind them those of the agent under their own names.

    Nothing stands there that is null or that the format would not take. What was mapped is never replaced.
    """
    own = {name: value for name, value in (native or {}).items() if name not in mapped and name != "children"}
    shape = ENTRIES[str(mapped["type"])]
    return {name: value for name, value in {**mapped, **own}.items() if fits(shape, name, value)}


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
    return {name: value for name, value in {**mapped, **own}.items() if fits(Counts, name, value)}


def moment(written: object) -> str | int | None:
    """A time as the agent wrote it, if the format takes it like this."""
    return written if isinstance(written, str | int) and is_moment(written) else None
