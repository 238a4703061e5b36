"""Figures of sessions as a page: a heading, a table that adds up, what is to be known of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, timedelta

from geminids.core.values import Value
from geminids.faces.drawing.amounts import MARK, UNKNOWN, at_least, dollars, exact, percent, short
from geminids.faces.drawing.number_tables import (
    EMPTY,
    GAP,
    RULE,
    Cell,
    Field,
    Fitted,
    Row,
    draw,
    fit,
    flow,
    number,
)
from geminids.sharing.transcript import safe, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from decimal import Decimal

    from geminids.faces.drawing.page import Page
    from geminids.query.usage.figures import Figures, Tokens
    from geminids.query.usage.stats import GroupName, Statistics, StatsGroup

TIMES = ("day", "week", "month")
LABEL = "list-price estimate"
MOST_UNPRICED = 5
"""So many models without a price are named."""
_BAR, _LEAST_BAR, _MOST_BAR, _BAR_IN_PIPE = "bars", 8, 30, 20
_WIDEST_LINE = 60
"""Days in the line of the heading."""
_NAME_WIDTHS = {"session": (16, 40), "project": (10, 20), "model": (24, 30), "tool": (14, 30)}
"""The least for words that name a group, and what they should have before numbers may be long."""


class View(Value):
    """What of the figures is shown, and where."""

    stats: Statistics
    limit: int | None
    """At most so many groups; all others are one row."""
    width: int | None
    """Columns; None in a pipe."""
    is_drawn: bool
    """Whether it is drawn on a terminal."""
    chart: str | None
    """Which picture is asked for; None if none was named."""
    measure: str = "cost"
    """What bars beside rows tell: `tokens`, or their `cost` as far as that is known."""


class Quantity(Value):
    """A number that a column shows of each group."""

    field: Field
    of: Callable[[Figures], Cell]
    adds_up: bool = True
    """Whether the groups together are the sum of each; a session may be in several groups."""


# Heading


def draw_heading(page: Page, view: View) -> None:
    """What all of it comes to, and when it was."""
    stats = view.stats
    for line in flow([*_span(stats), *stats.agents], view.width):
        page.line((line, "title"))
    for pieces in (_done(stats), _spent(stats)):
        for line in flow(pieces, view.width):
            page.line(line)
    wanted = view.chart == "sparkline" or (view.is_drawn and view.chart in (None, _BAR))
    if wanted and (line_of_days := _line_of_days(view)):
        page.line((line_of_days[0], "tool"), (f"  {line_of_days[1]}", "quiet"))


def _span(stats: Statistics) -> Iterator[str]:
    """From the first day to the last."""
    if stats.span is not None:
        first, last = stats.span
        yield _day(first) if first == last else f"{_day(first)} to {_day(last)}"


def _day(day: date) -> str:
    return f"{day.day} {day:%b} {day.year}"


def _done(stats: Statistics) -> Iterator[str]:
    total = stats.total
    yield words.sessions(stats.kinds)
    yield _bound(stats, words.count(total.prompts, "prompt"))
    yield f"{words.duration(timedelta(microseconds=total.active))} active"
    if total.calls:
        failed = f" ({total.errors:,} failed)" if total.errors else ""
        yield _bound(stats, f"{words.count(total.calls, 'tool call')}{failed}")
    if total.files:
        lines = "" if total.added is None else f" (+{total.added:,} -{total.removed or 0:,})"
        yield f"{words.count(total.files, 'file')} changed{lines}"


def _spent(stats: Statistics) -> Iterator[str]:
    used = stats.total.tokens
    yield _bound(stats, words.count(used.requests, "request"))
    yield "tokens not recorded" if used.total is None else _bound(stats, f"{exact(used.total)} tokens")
    if used.cost is not None:
        yield f"{_bound(stats, dollars(used.cost))} {LABEL}{_basis(stats)}"


def _bound(stats: Statistics, number: str) -> str:
    return at_least(number, is_bound=stats.total.incomplete > 0)


def _basis(stats: Statistics) -> str:
    """Where the prices are from."""
    known = [stats.basis.library] if stats.basis.library else []
    own = [f"your prices of {', '.join(stats.basis.overrides)}"] if stats.basis.overrides else []
    return f" ({'; '.join(known + own)})" if known or own else ""


def _line_of_days(view: View) -> tuple[str, str] | None:
    from geminids.faces.drawing.stats_charts import sparkline

    room = (
        _WIDEST_LINE
        if view.width is None
        else min(_WIDEST_LINE, view.width - len("  tokens a day, 31 Dec to 31 Dec"))
    )
    drawn = sparkline(view.stats.days, room)
    if drawn is None:
        return None
    ends = (f"{day.day} {day:%b}" for day in (drawn.first, drawn.last))
    return drawn.drawn, f"tokens a day, {' to '.join(ends)}"


# Table


_ADD_UP = frozenset({"fresh", "cached", "written", "output", "thoughts", "tool"})
"""What together is the total."""


def draw_table(page: Page, view: View) -> None:
    """A row each group, and their sum."""
    table = _laid_out(view)
    page.line()
    draw(page, table, is_drawn=view.is_drawn)
    if left_out := [field.heading for field in table.left_out if field.heading in _ADD_UP]:
        # Else nobody would know why a row does not add up.
        page.line((f"Left out at {view.width} columns: {', '.join(left_out)}.", "quiet"))


def _laid_out(view: View) -> Fitted:
    """The table, with bars if they are asked for or there is room for them."""
    quantities = _quantities(view.stats)
    fields = [*_names(view.stats), *(quantity.field for quantity in quantities)]
    rows = _rows(view, quantities)
    if view.chart == _BAR:
        width = _BAR_IN_PIPE if view.width is None else max(_LEAST_BAR, min(_BAR_IN_PIPE, view.width // 5))
        return fit(*_with_bars(view, fields, rows, width), view.width)
    table = fit(fields, rows, view.width)
    if view.chart is None and view.is_drawn and view.width is not None:
        spare = view.width - table.width - GAP
        if spare >= _LEAST_BAR:
            return fit(*_with_bars(view, fields, rows, min(spare, _MOST_BAR)), view.width)
    return table


def _with_bars(
    view: View, fields: Sequence[Field], rows: Sequence[Row], width: int
) -> tuple[list[Field], list[Row]]:
    """The same with a bar at the end of each group."""
    from geminids.faces.drawing.stats_charts import bar

    groups, _ = shown_groups(view.stats, view.limit)
    heading, weight = _weight(view)
    values = [weight(group.figures) for group in groups]
    largest = max((value or 0 for value in values), default=0)
    bars = iter([bar(value, largest, width) for value in values])
    # Only rows of groups have a bar; they are in the order of the groups.
    drawn = [
        row._replace(cells=[*row.cells, Cell(next(bars), style="tool") if row.style == "" else EMPTY])
        if row.cells
        else row
        for row in rows
    ]
    # The heading keeps the whole width free, so that a short bar is not taken for a narrow column.
    return [*fields, Field(f"{heading:<{width}}", is_number=False)], drawn


def _weight(view: View) -> tuple[str, Callable[[Figures], float | None]]:
    """What bars draw, which stands beside them."""
    if "tool" in view.stats.groupings:
        return "calls", lambda figures: figures.calls
    if view.measure == "cost" and view.stats.total.tokens.cost:
        return "cost", lambda figures: amount(figures.tokens, "cost")
    return "total", lambda figures: figures.tokens.total


def amount(used: Tokens, measure: str) -> int | None:
    """What a bar tells: tokens, or what they cost in millionths of a dollar."""
    if measure == "tokens":
        return used.total
    return None if used.cost is None else round(used.cost * 1_000_000)


def no_groups(stats: Statistics) -> str:
    """What is said in place of a table without rows."""
    if "tool" in stats.groupings:
        return "No tool calls."
    return f"No {' with a '.join(stats.groupings)} is known."


def without_noise(stats: Statistics) -> Statistics:
    """Figures without a group of which nothing is known but that replies are of no known model."""
    return stats._replace(
        groups=[group for group in stats.groups if _has_model(stats, group) or _says(group.figures)]
    )


def _has_model(stats: Statistics, group: StatsGroup) -> bool:
    named = zip(stats.groupings, group.names, strict=True)
    return all(name.key or by != "model" for by, name in named)


def _says(figures: Figures) -> bool:
    return bool(figures.tokens.requests or (figures.estimated and figures.estimated.requests))


def shown_groups(stats: Statistics, limit: int | None) -> tuple[Sequence[StatsGroup], Sequence[StatsGroup]]:
    """The last of those in order of time, else the first; and those that are left."""
    if limit is None or len(stats.groups) <= limit:
        return stats.groups, ()
    if stats.groupings[0] in TIMES:
        return stats.groups[-limit:], stats.groups[:-limit]
    return stats.groups[:limit], stats.groups[limit:]


def _rows(view: View, quantities: Sequence[Quantity]) -> list[Row]:
    stats = view.stats
    shown, others = shown_groups(stats, view.limit)
    names = _group_names(stats, is_piped=view.width is None)
    rows: list[Row] = []
    for before, group in zip((None, *shown), shown, strict=False):
        named = names(group)
        if before is not None and view.width is not None:
            # What all of some rows have in common stands in the first one only.
            named = _without_repeats(named, names(before))
        rows.append(Row([*named, *(quantity.of(group.figures) for quantity in quantities)]))
        rows += _estimated(stats, group.figures, quantities)
    if others:
        rest = _rest(stats, others, quantities)
        rows = [*rest, *rows] if stats.groupings[0] in TIMES else [*rows, *rest]
    of_rows = stats.total._replace(sessions=stats.grouped_sessions)
    total = [*_named(stats, "total"), *(quantity.of(of_rows) for quantity in quantities)]
    return [*rows, RULE, Row(total, "title"), *_estimated(stats, stats.total, quantities)]


def _rest(stats: Statistics, others: Sequence[StatsGroup], quantities: Sequence[Quantity]) -> Iterator[Row]:
    """All groups that are not shown, so that the columns add up."""
    figures = stats.together(others)
    what = "earlier" if stats.groupings[0] in TIMES else "others"
    sums = (quantity.of(figures) if quantity.adds_up else EMPTY for quantity in quantities)
    yield Row([*_named(stats, f"{len(others):,} {what}"), *sums], "quiet")
    yield from _estimated(stats, figures, quantities)


def _estimated(stats: Statistics, figures: Figures, quantities: Sequence[Quantity]) -> Iterator[Row]:
    """A guess stands in a row of its own, and is in no sum."""
    guess = figures.estimated
    if guess is None or not guess.requests:
        return
    empty = figures._replace(tokens=guess)
    cells = (_guessed(quantity, empty) for quantity in quantities)
    yield Row([*_named(stats, "  estimated"), *cells], "thought")


def _guessed(quantity: Quantity, figures: Figures) -> Cell:
    if quantity.field.heading not in _OF_REQUESTS:
        return EMPTY
    return _prefixed("~", quantity.of(figures._replace(incomplete=0)))


def _prefixed(mark: str, cell: Cell) -> Cell:
    """Return a number with a mark before it; what is not known has none."""
    is_number = cell.exact not in (UNKNOWN, "")
    if not is_number:
        return cell._replace(style="")
    shortened = f"{mark}{short(cell.short)}" if isinstance(cell.short, int) else None
    return Cell(at_least(cell.exact, is_bound=True, mark=mark), shortened)


# Names of groups


def _names(stats: Statistics) -> list[Field]:
    return [field for by in stats.groupings for field in _named_by(by, is_alone=by == stats.by)]


def _named_by(by: str, *, is_alone: bool) -> Iterator[Field]:
    """Yield the columns in which one grouping names groups."""
    heading = {"week": "week of", "session": "title"}.get(by, by)
    least, wishes = _NAME_WIDTHS.get(by, (None, None))
    if by == "session":
        yield Field("id", is_number=False, least=13)
    is_free = by == "session" or (by == "project" and is_alone)
    yield Field(heading, is_number=False, least=least, wishes=wishes, is_free=is_free)


def _named(stats: Statistics, name: str) -> list[Cell]:
    """The cells of a row that is no group."""
    return [Cell(name), *[EMPTY] * (len(_names(stats)) - 1)]


def _group_names(stats: Statistics, *, is_piped: bool) -> Callable[[StatsGroup], list[Cell]]:
    sessions = {
        name.key
        for group in stats.groups
        for by, name in zip(stats.groupings, group.names, strict=True)
        if by == "session"
    }
    ids = id_cells(sessions, is_whole=is_piped)

    def named(by: str, name: GroupName) -> list[Cell]:
        match by:
            case "month":
                return [Cell(name.key[: len("2026-11")])]
            case "session":
                title = Cell(safe.line(name.name)) if name.name else Cell("untitled", style="quiet")
                return [ids[name.key], title]
            case _:
                return [Cell(safe.line(name.name), style="human" if by == "project" else "")]

    return lambda group: [
        cell for by, name in zip(stats.groupings, group.names, strict=True) for cell in named(by, name)
    ]


def _without_repeats(cells: Sequence[Cell], before: Sequence[Cell]) -> list[Cell]:
    """Return names without those at the beginning that the row before has as well; the last one stays."""
    same = 0
    while same < len(cells) - 1 and cells[same] == before[same]:
        same += 1
    return [*[EMPTY] * same, *cells[same:]]


def id_cells(ids: Iterable[str], *, is_whole: bool) -> dict[str, Cell]:
    """For each id of a session what is shown of it: all in a pipe, else what tells it from the others."""
    if is_whole:
        return {sid: Cell(safe.line(sid), style="quiet") for sid in ids}
    from geminids.query.sessions.ids import short_ids

    native = {sid: sid.partition(":")[2] or sid for sid in ids}
    short_forms = short_ids(native.values())
    return {sid: Cell(safe.line(short_forms[name]), style="quiet") for sid, name in native.items()}


# Numbers of groups


def _quantities(stats: Statistics) -> list[Quantity]:
    if "tool" in stats.groupings:
        return [_CALLS, _FAILED, _RATE, _SESSIONS, _FILES, _ADDED, _REMOVED]
    if "model" in stats.groupings:
        return [_SESSIONS, *token_quantities(stats.total)]
    counted = [_SESSIONS] if {"agent", "project"}.intersection(stats.groupings) else []
    return [*counted, _ASKED, _ACTIVE, *token_quantities(stats.total)]


def token_quantities(total: Figures) -> list[Quantity]:
    """Requests and the kinds of tokens, as far as any of them stands in the total."""
    used, guess = total.tokens, total.estimated
    kinds = [_FRESH, _CACHED]
    kinds += [_WRITTEN] if used.cache_write else []
    kinds += [_OUTPUT]
    kinds += [_THOUGHTS] if used.thoughts or (guess and guess.thoughts) else []
    kinds += [_TOOL] if used.tool else []
    return [_REQUESTS, *kinds, _TOTAL, _COST]


def _of_tokens(heading: str, kind: Callable[[Tokens], int | None], leaves: int | None = None) -> Quantity:
    return Quantity(
        Field(heading, leaves=leaves), lambda figures: _bounded(number(kind(figures.tokens)), figures)
    )


def _bounded(cell: Cell, figures: Figures) -> Cell:
    """Return a number with the mark of a lower bound, if it is one."""
    return _prefixed(MARK, cell) if figures.incomplete else cell


def cost_cell(cost: Decimal | None, unpriced: int) -> Cell:
    """A cost that is not that of all requests is marked."""
    if cost is None:
        return Cell(UNKNOWN, style="quiet")
    return Cell(f"{dollars(cost)}{'*' if unpriced else ''}")


def _active(figures: Figures) -> Cell:
    return Cell(words.duration(timedelta(microseconds=figures.active)))


def _signed(sign: str, value: int | None) -> Cell:
    return Cell(UNKNOWN, style="quiet") if value is None else Cell(f"{sign if value else ''}{value:,}")


_SESSIONS = Quantity(Field("sessions", leaves=5), lambda figures: number(figures.sessions), adds_up=False)
_ASKED = Quantity(Field("prompts", leaves=4), lambda figures: _bounded(number(figures.prompts), figures))
_ACTIVE = Quantity(Field("active", leaves=1, is_extra=True), _active)
_REQUESTS = _of_tokens("requests", lambda used: used.requests, leaves=8)
_FRESH = _of_tokens("fresh", lambda used: used.fresh, leaves=11)
_CACHED = _of_tokens("cached", lambda used: used.cached, leaves=9)
_WRITTEN = _of_tokens("written", lambda used: used.cache_write, leaves=7)
_OUTPUT = _of_tokens("output", lambda used: used.output, leaves=10)
_THOUGHTS = _of_tokens("thoughts", lambda used: used.thoughts, leaves=6)
_TOOL = Quantity(Field("tool", leaves=3, is_extra=True), lambda figures: number(figures.tokens.tool))
_TOTAL = _of_tokens("total", lambda used: used.total)
_COST = Quantity(
    Field("cost"),
    lambda figures: _bounded(cost_cell(figures.tokens.cost, figures.tokens.unpriced), figures),
)
_OF_REQUESTS = {
    q.field.heading for q in (_REQUESTS, _FRESH, _CACHED, _WRITTEN, _OUTPUT, _THOUGHTS, _TOOL, _TOTAL, _COST)
}
_CALLS = Quantity(Field("calls"), lambda figures: _bounded(number(figures.calls), figures))
_FAILED = Quantity(Field("failed"), lambda figures: number(figures.errors))
_RATE = Quantity(Field("rate", leaves=4), lambda figures: Cell(percent(figures.errors, figures.calls)))
_FILES = Quantity(Field("files", leaves=3), lambda figures: number(figures.files), adds_up=False)
_ADDED = Quantity(Field("added", leaves=2), lambda figures: _signed("+", figures.added))
_REMOVED = Quantity(Field("removed", leaves=1), lambda figures: _signed("-", figures.removed))


# What is to be known of the numbers


def notes(stats: Statistics) -> Iterator[str]:
    """Sentences: what has no tokens, what has no price, what is a guess."""
    used = stats.total.tokens
    yield from incomplete_note(stats.total.incomplete)
    if stats.uncounted:
        which = words.sessions(stats.uncounted)
        yield f"Not counted: {which} with copied messages only; these count in their original session."
    if used.unmeasured:
        guessed = "" if stats.total.estimated else " `--estimate` estimates them."
        replies = words.count(used.unmeasured, "reply", "replies")
        yield f"{replies} without token counts: not included in requests, tokens and costs.{guessed}"
    yield from _guess(stats.total)
    yield from _without_price(stats)


def incomplete_note(sessions: int) -> Iterator[str]:
    """Yield why numbers are lower bounds, if they are."""
    if sessions:
        yield (
            f"{MARK} at least: {words.count(sessions, 'session')} could not be read completely (damaged or "
            "too large); `geminids doctor` shows why."
        )


def _guess(total: Figures) -> Iterator[str]:
    guess = total.estimated
    if guess is None:
        return
    if not guess.requests:
        yield "Nothing to estimate: all requests have token counts."
        return
    cost = f", ~{dollars(guess.cost)} at list price" if guess.cost is not None else ""
    yield (
        f"Estimated from the length of texts: {words.count(guess.requests, 'request')} may have used "
        f"~{exact(guess.total)} tokens{cost}. They are not included in any total."
    )


def _without_price(stats: Statistics) -> Iterator[str]:
    if "tool" not in stats.groupings:
        yield from stars(stats.total.tokens)
        if stats.total.estimated:
            yield from stars(stats.total.estimated, "estimated request")
    reasons: dict[str, list[str]] = {}
    for model in stats.unpriced[:MOST_UNPRICED]:
        named = f"{safe.line(model.model)} ({words.count(model.requests, 'request')})"
        reasons.setdefault(safe.line(model.reason), []).append(named)
    for reason, models in reasons.items():
        yield f"No price for {', '.join(models)}: {reason}."
    if (more := len(stats.unpriced) - MOST_UNPRICED) > 0:
        yield f"Nor for {words.count(more, 'other model')}."


def stars(used: Tokens, kind: str = "request") -> Iterator[str]:
    """What is left out of costs that have a mark."""
    if used.cost is not None and used.unpriced:
        yield f"* without {words.count(used.unpriced, kind)} that cannot be priced."


def draw_notes(page: Page, sentences: Iterable[str]) -> None:
    """Below the table, apart from it."""
    notes = list(sentences)
    if notes:
        page.line()
    for sentence in notes:
        page.sentence(sentence, "quiet")
