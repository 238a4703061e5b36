"""What a format carries of a session, by kind of value: a table that lies beside the format.

The table of the format `x` is the file `carried/x.toml` beside the module of its class:

    [usual.everything]             what is written without options, at this level of detail
    whole = ["message.at", …]      every value of these kinds is there
    part = ["session.usage.input"] some are, or a piece of each: cut, rounded, in a sum, without seconds

    [usual.conversation]           of what this level tells, where it is not as at `everything`
    lost = ["message.model"]       nothing of them is there

    ["table=calls".everything]     with an option; several are joined by a +

At `everything`, a kind that is not named is lost: nothing is promised of what is not known.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from geminids.core.errors import NoTableError
from geminids.sharing.export.base import Format, Manner
from geminids.sharing.transcript.entries import LEVELS, Detail

FOLDER = "carried"
USUAL = "usual"
EVERYTHING = "everything"


class Share(StrEnum):
    """How much of the values of a kind a format carries."""

    WHOLE = "whole"
    PART = "part"
    LOST = "lost"


class Carried:
    """What a format carries with certain options, at the level of everything and at a chosen one."""

    def __init__(self, levels: Mapping[str, Mapping[str, list[str]]], detail: Detail) -> None:
        self._everything = _by_kind(levels.get(EVERYTHING, {}))
        self._here = self._everything | _by_kind(levels.get(level_of(detail), {}))

    def at_everything(self, kind: str, messages: str | None = None) -> Share:
        """How much there is of a kind, in messages of a kind, if everything is told."""
        return _share(self._everything, kind, messages)

    def of_the_shown(self, kind: str, messages: str | None = None) -> Share:
        """How much there is, at the chosen level, of what this level tells."""
        return _share(self._here, kind, messages)


def carried_by(chosen: Format, manner: Manner) -> Carried:
    """What a format carries in this manner. Raises NoTableError where nobody has written that down."""
    variants = _table(type(chosen).__module__, chosen.name)
    variant = variant_of(chosen, manner)
    if variant not in variants:
        raise NoTableError(chosen.name)
    return Carried(variants[variant], manner.detail)


def variant_of(chosen: Format, manner: Manner) -> str:
    """What the options that were chosen are called in the table of a format."""
    usual = Manner(detail=manner.detail)
    # With the agent's own records a format tells more, but none of what it tells without them gets lost.
    named = (
        f"{name}={manner.table}" if name == "table" else name
        for name in sorted(chosen.options - {"natives"})
        if getattr(manner, name) != getattr(usual, name)
    )
    return "+".join(named) or USUAL


def level_of(detail: Detail) -> str:
    """The name of the level of detail, or of the fullest that tells nothing else, if it has no name."""
    fields = detail.__struct_fields__
    shown = {name for name in fields if getattr(detail, name)}
    return [
        name for name, level in LEVELS.items() if shown.issuperset(f for f in fields if getattr(level, f))
    ][-1]


@cache
def _table(module: str, name: str) -> Mapping[str, Mapping[str, Mapping[str, list[str]]]]:
    beside = Path(sys.modules[module].__file__ or "").parent
    try:
        written = (beside / FOLDER / f"{name}.toml").read_text("utf-8")
    except FileNotFoundError:
        raise NoTableError(name) from None
    return tomllib.loads(written)


def _share(shares: Mapping[str, Share], kind: str, messages: str | None) -> Share:
    if messages is not None and shares.get(messages, Share.LOST) is Share.LOST:
        return Share.LOST
    return shares.get(kind, Share.LOST)


def _by_kind(shares: Mapping[str, list[str]]) -> dict[str, Share]:
    return {kind: Share(share) for share, kinds in shares.items() for kind in kinds}
