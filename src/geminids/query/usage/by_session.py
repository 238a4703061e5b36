"""What single sessions used and cost, each with the subagents that it led: for lists of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from operator import attrgetter

from geminids.core.values import NamedTuple
from geminids.query.usage.stats import figures_by_session, roots_of
from geminids.storage.index.reader import sessions_numbered
from geminids.storage.index.totals import models_most_used, parents, session_numbers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

    from geminids.query.usage.figures import Figures
    from geminids.query.usage.row_prices import Pricing
    from geminids.storage.index.database import Index
    from geminids.storage.index.values import SessionRow


class SessionUse(NamedTuple):
    """What a session used."""

    tokens: int | None
    """None if the agent recorded none."""
    cost: Decimal | None
    """Dollars at list price; None if there is no price."""
    active: int
    """Microseconds in which somebody was at work."""
    model: str | None
    """The one that used most."""
    subagents: int = 0
    """How many it led, and are counted with it."""
    is_incomplete: bool = False
    """Whether files of these could not be read completely: then all numbers are lower bounds."""


def used_by_sessions(index: Index, session_ids: Sequence[str], pricing: Pricing) -> dict[str, SessionUse]:
    """What some sessions used, by their ids. Requests that are copies count where they were made."""
    numbers = session_numbers(index, session_ids)
    if not numbers:
        return {}
    roots = roots_of(parents(index))
    led = {child: root for child, root in roots.items() if root in numbers}
    figures = figures_by_session(index, [*numbers, *led], led, pricing)
    if children := [number for number in numbers if number in roots]:
        figures |= figures_by_session(index, children, {}, pricing)
    models, subagents = models_most_used(index, numbers), Counter(led.values())
    return {
        sid: _use(figures[number], models.get(number), subagents[number])
        for number, sid in numbers.items()
        if number in figures
    }


def with_subagents(index: Index, session_id: str) -> list[str]:
    """The id of a session and those of all subagents that it led."""
    led = sessions_numbered(index, list(_led_by(index, session_numbers(index, [session_id]))))
    return [session_id, *(row.id for row in led.values())]


def in_order_of_use(
    sessions: Sequence[SessionRow], used: Mapping[str, SessionUse], order: str, *, reverse: bool
) -> list[SessionRow]:
    """Sessions by `cost`, `tokens` or `time`, the largest first; last those of which it is not known."""
    of = {"cost": attrgetter("cost"), "tokens": attrgetter("tokens"), "time": attrgetter("active")}[order]

    def weight(row: SessionRow) -> tuple[bool, Decimal | int]:
        value = of(used[row.id]) if row.id in used else None
        return value is None, -(value or 0)

    ordered = sorted(sessions, key=weight)
    return ordered[::-1] if reverse else ordered


def _led_by(index: Index, sessions: Container[int]) -> dict[int, int]:
    """The subagents that some sessions led, each with its session."""
    return {child: root for child, root in roots_of(parents(index)).items() if root in sessions}


def _use(figures: Figures, model: str | None, subagents: int) -> SessionUse:
    return SessionUse(
        figures.tokens.total,
        figures.tokens.cost,
        figures.active,
        model,
        subagents,
        is_incomplete=figures.incomplete > 0,
    )
