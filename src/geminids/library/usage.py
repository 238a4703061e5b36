"""Numbers: what sessions did, used and cost, and where a figure comes from."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial

from geminids.core.errors import GeminidsError
from geminids.library.search import SearchMethods
from geminids.library.sessions import SessionMethods

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from decimal import Decimal

    from geminids.core.model import Session
    from geminids.query.search.language import Query
    from geminids.query.sessions.listing import Filter, Listing
    from geminids.query.usage.blocks import Blocks
    from geminids.query.usage.by_session import SessionUse
    from geminids.query.usage.costs import Costing
    from geminids.query.usage.explanation import ExplainedSession, ExplainedTotal
    from geminids.query.usage.over_time import OverTime
    from geminids.query.usage.present import Present
    from geminids.query.usage.prices import Prices
    from geminids.query.usage.request_costs import RequestCosts
    from geminids.query.usage.stats import LargestSessions, Statistics, StatsQuestion
    from geminids.storage.index.totals import BusyHour

PRICES_FILE = "prices.json"
"""In our folder: the prices of the models that were asked for."""


class UsageMethods(SearchMethods, SessionMethods):
    """What a library counts."""

    def listing(self, wanted: Filter, limit: int | None = None, skip: int = 0) -> Listing:
        """The sessions that are asked for in little, in order, and what the question leaves out."""
        from geminids.query.sessions.listing import BY_USE

        if wanted.order not in BY_USE:
            return super().listing(wanted, limit, skip)
        from geminids.query.usage.by_session import in_order_of_use

        every = super().listing(wanted._replace(order="date", reverse=False))
        used = self.used_by([row.id for row in every.sessions])
        ordered = in_order_of_use(every.sessions, used, wanted.order, reverse=wanted.reverse)
        end = None if limit is None else skip + limit
        return every._replace(sessions=ordered[skip:end])

    def stats(self, question: StatsQuestion, now: datetime | None = None) -> Statistics:
        """What sessions did, used and cost, in groups; no file of an agent is opened."""
        from geminids.query.usage.stats import statistics

        query, found = self._counted(question, now)
        return self._context.ask(lambda index: statistics(index, question, query, found, self._prices))

    def used_by(self, session_ids: Sequence[str]) -> dict[str, SessionUse]:
        """What some sessions used and cost, each with the subagents that it led, by their ids."""
        from geminids.query.usage.by_session import used_by_sessions

        return self._context.ask(lambda index: used_by_sessions(index, session_ids, self._prices))

    def with_subagents(self, session_id: str) -> list[str]:
        """The id of a session and those of all subagents that it led."""
        from geminids.query.usage.by_session import with_subagents

        return self._context.ask(lambda index: with_subagents(index, session_id))

    def blocks(self, question: StatsQuestion, now: datetime | None = None) -> Blocks:
        """What was used in each window of five hours, as limits of subscriptions count them."""
        from geminids.query.usage.blocks import blocks

        query, found = self._counted(question, now)
        return self._context.ask(lambda index: blocks(index, query, found, self._prices))

    def present(self, now: datetime, session: str | None = None, file: str | None = None) -> Present:
        """What was used today, the windows that are not over yet, and a session.

        That is the one with the id that its agent gave it, or with this file; without either the newest.
        """
        from geminids.query.usage.present import present

        return self._context.ask(lambda index: present(index, now, self._prices, session, file))

    def running(self, now: datetime, lately: timedelta, most: int) -> Present:
        """The same with the sessions that were written to lately."""
        from geminids.query.usage.present import running

        return self._context.ask(lambda index: running(index, now, self._prices, lately, most))

    def over_time(
        self, question: StatsQuestion, periods: str | None = None, most: int = 6, now: datetime | None = None
    ) -> OverTime:
        """What was used in each day, week or month, split by what the question groups by."""
        from geminids.query.usage.over_time import over_time

        query, found = self._counted(question, now)
        telling = partial(over_time, periods=periods, most=most)
        return self._context.ask(lambda index: telling(index, question, query, found, self._prices))

    def largest_sessions(
        self, question: StatsQuestion, most: int, now: datetime | None = None
    ) -> LargestSessions:
        """The sessions that used most and those that took most time, each with its subagents."""
        from geminids.query.usage.stats import largest_sessions

        query, found = self._counted(question, now)
        return self._context.ask(lambda index: largest_sessions(index, query, found, most))

    def context_windows(self, models: Collection[str]) -> dict[str, int | None]:
        """How many tokens a prompt of some models may have; None where the price list does not tell."""
        prices = self._prices({(None, model) for model in models}, as_settled=False)
        return {model: prices.context_window(None, model) for model in models}

    def hours(self, question: StatsQuestion, now: datetime | None = None) -> list[BusyHour]:
        """In which hours of which weekdays people typed and models answered, in local time."""
        from geminids.query.usage.stats import busy_hours

        query, found = self._counted(question, now)
        return self._context.ask(lambda index: busy_hours(index, query, found))

    def explain(self, question: StatsQuestion, now: datetime | None = None) -> ExplainedTotal:
        """Where a total comes from: sessions that add up to it, what was not counted, what is missing."""
        from geminids.query.usage.explanation import explained_total

        found = self.stats(question._replace(by="session", fold=False, estimate=False), now)
        return self._context.ask(lambda index: explained_total(index, found))

    def explain_session(self, wanted: str) -> ExplainedSession:
        """Where the usage of a session comes from, request by request, or of the first in a file."""
        from geminids.query.sessions.listing import Filter
        from geminids.query.usage.explanation import descendants, explained_session
        from geminids.storage.index.copies import copied_messages

        session = self._recorded(self.read(wanted).sessions[0])
        copied = self._context.ask(lambda index: copied_messages(index, session.id, session.file))
        led = descendants(self.sessions(Filter(kinds=frozenset({"subagent"}))))
        return explained_session(session, copied, led.get(session.id, ()), self._prices, self._context.disk)

    def costing(self, models: Collection[str]) -> Costing:
        """Answers what messages of some models cost at list price."""
        from geminids.query.usage.costs import Costing

        return Costing(self._prices({(None, model) for model in models}))

    def request_costs(self) -> RequestCosts:
        """Return what prices requests in any process, as `stats` does."""
        from geminids.query.usage.prices import overrides_in
        from geminids.query.usage.request_costs import RequestCosts
        from geminids.storage.index.totals import model_names

        prices = self._prices({(None, model) for model in self._context.ask(model_names)})
        settings = self._context.settings
        fingerprint = f"{prices.basis.library} {settings.prices!r}"
        return RequestCosts(overrides_in(settings), prices.to_keep or self._stored_prices(), fingerprint)

    def cost_of(self, session: Session) -> Decimal | None:
        """What a session cost at list price, without those that it led; None if nothing of it has a price."""
        from geminids.query.usage.costs import Costing

        sums = Costing.sums(session.messages)
        return (
            self.costing({alike.model for alike in sums if alike.model}).total(sums).amount if sums else None
        )

    def _counted(
        self, question: StatsQuestion, now: datetime | None
    ) -> tuple[Query | None, Sequence[int] | None]:
        """What a question narrows, and the numbers of the sessions with its words; None if it has none."""
        from datetime import UTC, datetime

        from geminids.query.usage.stats import asked

        moment = now or datetime.now(UTC)
        query = asked(question, moment)
        if query is not None and any(one.name in ("tag", "name") for one in query.filters):
            query = query._replace(marks=self.marks())
        if query is None or query.tree is None:
            return query, None
        every = self._every_number(query.text, moment)
        return query, every or [row.number for row in self.found_sessions(query.text, moment)]

    def _recorded(self, session: Session) -> Session:
        """The session that a print-out is of, with what the print-out counts; any other as it is."""
        import msgspec

        from geminids.core.model import SessionKind

        if session.kind is not SessionKind.COPY or session.reported is None:
            return session
        try:
            recorded = self.session(session.id)
        except GeminidsError:
            return session
        missing = session.unrecorded or recorded.unrecorded
        return msgspec.structs.replace(recorded, reported=session.reported, unrecorded=missing)

    def _prices(self, wanted: Collection[tuple[str | None, str]], *, as_settled: bool = True) -> Prices:
        """The prices of some models, as the user settled them or as the list has them.

        What was looked up is kept for the next time.
        """
        from contextlib import suppress

        from geminids.core import small_files
        from geminids.query.usage.prices import Prices, overrides_in

        folder, known = self._context.data_folder, self._stored_prices()
        prices = Prices.load(known, overrides_in(self._context.settings) if as_settled else None, wanted)
        if folder is not None and prices.to_keep is not None:
            # They are looked up once more if they cannot be kept.
            with suppress(OSError):
                small_files.write(folder, PRICES_FILE, prices.to_keep.encode())
        return prices

    def _stored_prices(self) -> str | None:
        """Return the prices that were looked up before."""
        from contextlib import suppress

        from geminids.core import small_files

        # Without what was kept, or with something else in its place, they are looked up.
        with suppress(OSError, UnicodeDecodeError):
            if self._context.data_folder is not None:
                return small_files.read(self._context.data_folder, PRICES_FILE).decode()
        return None
