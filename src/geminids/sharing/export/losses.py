"""What of a session a format cannot carry: what the session holds, joined with the table of the format.

A fact is a kind of value in a session, in words: `tool call: exit code`. For each, the report counts how many
values there are, how many of them the chosen level of detail tells, and what becomes of these by the table
(`format_tables.py`), which the tests prove by trying.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, cast

import msgspec

if TYPE_CHECKING:
    from geminids.core.model import Session
    from geminids.sharing.export.base import Format, Manner
    from geminids.sharing.export.format_tables import Carried


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
    """Of how many it is known what becomes of them: all, however long a session is."""
    carried: int
    cut: int
    """In part there: some of them whole and others not, or of each a piece, such as a text without its end, a
    number rounded or in a sum, a time without its seconds."""
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
            losses=summed([*self.losses, *other.losses]),
        )

    def having(self, verdict: Verdict) -> list[Loss]:
        """The facts of which this becomes."""
        return [loss for loss in self.losses if loss.verdict is verdict]


Slot = tuple[str, str | None]
"""A kind of values, and the kind of the messages that they stand in, if they stand in one."""

COUNTS = ("values", "tried", "carried", "cut", "left_out")
_VERDICTS = list(Verdict)


def losses(session: Session, chosen: Format, manner: Manner) -> LossReport:
    """What of this session a format cannot carry, written in this manner."""
    # What only names the report, such as a document of the command line, need not load what makes one.
    from geminids.sharing.export.format_tables import carried_by
    from geminids.sharing.transcript.visible import visible_session

    carried = carried_by(chosen, manner)
    held = _counted(session)
    shown = held if manner.detail.everything else _counted(visible_session(session, manner.detail))
    found = (_loss(slot, values, min(values, shown[slot]), carried) for slot, values in held.items())
    return LossReport(format=chosen.name, session_id=session.id, losses=summed(found))


def _counted(session: Session) -> Counter[Slot]:
    """How many values of each kind there are, apart for each kind of messages that they stand in."""
    from geminids.sharing.export.kinds import Held, each_value, is_words, message_kind

    messages = [message_kind(message.state) for message in session.messages]
    counts: Counter[Slot] = Counter()
    speaking: set[int] = set()

    def count(held: Held) -> None:
        if held.steps[0] != "messages":
            counts[held.kind, None] += 1
            return
        number = cast("int", held.steps[1])
        counts[held.kind, messages[number]] += 1
        if held.steps[2] == "parts" and is_words(held.value):
            speaking.add(number)

    each_value(session, count)
    counts.update((messages[number], None) for number in speaking)
    return counts


def _loss(slot: Slot, values: int, shown: int, carried: Carried) -> Loss:
    """What becomes of the values of one kind; those in messages that are lost are lost with them."""
    from geminids.sharing.export.facts import fact_of
    from geminids.sharing.export.format_tables import Share

    kind, messages = slot
    share, fullest = carried.of_the_shown(kind, messages), carried.at_everything(kind, messages)
    there = 0 if share is Share.LOST else shown
    return Loss(
        fact=fact_of(kind),
        values=values,
        tried=values,
        carried=there if share is Share.WHOLE else 0,
        cut=there if share is Share.PART else 0,
        left_out=0 if share is fullest is Share.LOST else values - there,
    )


def summed(counted: Iterable[Loss]) -> tuple[Loss, ...]:
    """Each fact once, the lost ones first."""
    sums: dict[str, Loss] = {}
    for loss in counted:
        sums[loss.fact] = sums[loss.fact] + loss if loss.fact in sums else loss
    return tuple(sorted(sums.values(), key=_worst_first))


def _worst_first(loss: Loss) -> tuple[int, str]:
    return _VERDICTS.index(loss.verdict), loss.fact
