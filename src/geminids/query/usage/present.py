"""What goes on at this moment: a session as a status line tells it, today, the present windows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from geminids.core.names import storable
from geminids.core.values import NamedTuple
from geminids.query.search.moments import parse_moment
from geminids.query.usage.blocks import present_blocks
from geminids.query.usage.by_session import used_by_sessions
from geminids.query.usage.counted import in_time
from geminids.query.usage.figures import Tokens, used_by
from geminids.query.usage.row_prices import RowPrices
from geminids.storage.index import reader, totals
from geminids.storage.index.reader import Condition
from geminids.storage.index.totals import Scope

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.usage.blocks import Block
    from geminids.query.usage.by_session import SessionUse
    from geminids.query.usage.row_prices import Pricing
    from geminids.storage.index.database import Index
    from geminids.storage.index.values import SessionRow

_IS_MAIN = Condition("kind = ?", ("main",))


class Present(NamedTuple):
    """What is to be told of this moment."""

    today: Tokens
    """Since midnight, in local time."""
    blocks: Sequence[Block]
    """The window of each agent that is not over yet."""
    sessions: Sequence[OpenSession]
    is_incomplete: bool
    """Whether files of sessions of today could not be read completely: then `today` is a lower bound."""


class OpenSession(NamedTuple):
    """A session that somebody is in."""

    row: SessionRow
    used: SessionUse | None
    model: str | None
    """The one that answered last."""
    context: int | None
    """Tokens of its last prompt, with all that went before in it."""


def present(index: Index, now: datetime, pricing: Pricing, session: str | None, file: str | None) -> Present:
    """The session with this id of its agent, or this file; without either the newest."""
    return _present(index, now, pricing, _meant(index, session, file))


def running(index: Index, now: datetime, pricing: Pricing, lately: timedelta, most: int) -> Present:
    """The sessions that were written to lately, the newest first."""
    is_running = [_IS_MAIN, reader.not_over_before(now - lately)]
    return _present(index, now, pricing, reader.sessions(index, is_running, most))


def _present(index: Index, now: datetime, pricing: Pricing, rows: Sequence[SessionRow]) -> Present:
    used = used_by_sessions(index, [row.id for row in rows], pricing)
    last = {row.number: totals.last_request(index, row.number) or (None, None) for row in rows}
    return Present(
        _today(index, now, pricing),
        present_blocks(index, now, pricing).blocks,
        [OpenSession(row, used.get(row.id), *last[row.number]) for row in rows],
        bool(totals.incomplete_sessions(index, Scope(), parse_moment("today", now), None)),
    )


def _meant(index: Index, session: str | None, file: str | None) -> list[SessionRow]:
    if session is None and file is None:
        return reader.sessions(index, [_IS_MAIN], 1)
    names = tuple(name and storable(name) for name in (session, file))
    is_meant = Condition("native_id = ? COLLATE NOCASE OR file = ?", names)
    return reader.sessions(index, [_IS_MAIN, is_meant], 1)


def _today(index: Index, now: datetime, pricing: Pricing) -> Tokens:
    spent = totals.spent(index, in_time(index, Scope(), parse_moment("today", now)), "day")
    prices = RowPrices(index, spent, pricing)
    return Tokens.sum(used_by(row, prices.cost(row)) for row in spent)
