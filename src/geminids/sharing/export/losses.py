"""What of a session a format cannot carry: computed by trying, for any format that is installed.

A fact is a kind of value in a session, in words: `tool call: exit code`. For each, the report counts how many
values there are, and what becomes of them. It knows no format; what it says of one is true for the session at
hand, at the level of detail that was chosen, with the options that were given.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.sharing.export.base import Format, Manner


class Verdict(StrEnum):
    """What becomes of a fact as a whole, the worst first."""

    LOST = "lost"
    LEFT_OUT = "left out"
    """Not told at this level of detail, but at others."""
    PARTLY = "partly"
    CARRIED = "carried"


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of the values of one fact."""

    fact: str
    values: int
    tried: int
    """Of a long session only some values can be tried; what follows counts these."""
    carried: int
    cut: int
    """A piece is there: a text without its end, a number rounded or in a sum, a time without its seconds."""
    left_out: int
    """Not told at the chosen level of detail, but told where everything is."""

    @property
    def lost(self) -> int:
        """Values of which nothing is there, at any level of detail."""
        return self.tried - self.carried - self.cut - self.left_out

    @property
    def verdict(self) -> Verdict:
        """What becomes of all of them together."""
        if self.carried == self.tried:
            return Verdict.CARRIED
        if self.carried or self.cut:
            return Verdict.PARTLY
        return Verdict.LEFT_OUT if self.left_out else Verdict.LOST

    def __add__(self, other: Loss) -> Loss:
        """The same fact in both."""
        counts = {name: getattr(self, name) + getattr(other, name) for name in COUNTS}
        return Loss(fact=self.fact, **counts)


class LossReport(msgspec.Struct, frozen=True, kw_only=True):
    """What becomes of all facts of a session, or of several together, in one format. The lost come first."""

    format: str
    session_id: str | None
    """None if it tells of several."""
    sessions: int = 1
    losses: tuple[Loss, ...]

    def __add__(self, other: LossReport) -> LossReport:
        """A report of all sessions of both."""
        return LossReport(
            format=self.format,
            session_id=None,
            sessions=self.sessions + other.sessions,
            losses=_added([*self.losses, *other.losses]),
        )

    def having(self, verdict: Verdict) -> list[Loss]:
        """The facts of which this becomes."""
        return [loss for loss in self.losses if loss.verdict is verdict]


COUNTS = ("values", "tried", "carried", "cut", "left_out")
_VERDICTS = list(Verdict)


def losses(session: Session, chosen: Format, manner: Manner) -> LossReport:
    """What of this session a format cannot carry, written in this manner."""
    # What only names the report, such as a document of the command line, need not load what makes one.
    from geminids.sharing.export.tallies import counted_losses

    found = counted_losses(session, chosen, manner)
    return LossReport(format=chosen.name, session_id=session.id, losses=_added(found))


def _added(counted: Iterable[Loss]) -> tuple[Loss, ...]:
    """Each fact once, the lost ones first."""
    sums: dict[str, Loss] = {}
    for loss in counted:
        sums[loss.fact] = sums[loss.fact] + loss if loss.fact in sums else loss
    return tuple(sorted(sums.values(), key=_worst_first))


def _worst_first(loss: Loss) -> tuple[int, str]:
    return _VERDICTS.index(loss.verdict), loss.fact
