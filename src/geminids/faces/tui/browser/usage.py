"""What sessions used and cost: the numbers of `geminids stats`, with a bar for each day."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from geminids.faces.drawing import stats_tables
from geminids.faces.drawing.amounts import dollars, short
from geminids.faces.drawing.page import LaidOutPage
from geminids.faces.tui.browser.day_bars import bar_rows, bars_of, short_day
from geminids.faces.tui.browser.view import Help, Row, Seen, Stage, View, footer
from geminids.faces.tui.keys import Key, Typed
from geminids.faces.tui.lines import Piece, fitted

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.query.usage.stats import Statistics

GROUPS = ("model", "tool", "project", "agent", "day")
"""What it can be told by, in the order of their keys."""
MEASURES = {"c": "cost", "t": "tokens"}


class Span(NamedTuple):
    """A time of which usage is told."""

    key: str
    name: str
    since: str | None
    """As `--since` takes it."""


SPANS = (
    Span("d", "today", "today"),
    Span("w", "7 days", "7d"),
    Span("m", "30 days", "30d"),
    Span("a", "all", None),
)
MOST_ROWS = 200
"""Rows of a table; what is beyond them is summed up in one."""
_MARGIN = 1
_LEAST_BARS, _MOST_BARS, _BARS_SHARE = 3, 10, 5


class Asked(NamedTuple):
    """What is told."""

    by: str
    span: Span


class Chip(NamedTuple):
    """Something that can be chosen."""

    key: str
    name: str
    is_chosen: bool


class Drawn(NamedTuple):
    """For what lines were laid out."""

    asked: Asked
    measure: str
    columns: int
    height: int


class Usage(View):
    """Totals, days, and a table by model, tool, project, agent or day."""

    keys = (
        Help("↑↓", "scroll"),
        Help("Tab", "next table"),
        Help("Esc", "back"),
        Help("1-5", "by model, tool, project, agent, day"),
        Help("d w m a", "today, 7 days, 30 days, all"),
        Help("c t", "bars of cost, of tokens"),
    )

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.asked = Asked(GROUPS[0], SPANS[-1])
        self.measure = "cost"
        self._known: dict[Asked, Statistics] = {}
        self._trouble: dict[Asked, str] = {}
        self._laid_out: tuple[Drawn, list[Row]] | None = None
        self._top = 0
        self._room = 1
        self._places: list[tuple[int, range, str]] = []
        """Line and columns in which a key stands."""
        self._ask()

    def _ask(self) -> None:
        """Have it counted."""
        from geminids.query.usage.stats import StatsQuestion

        asked, now = self.asked, self.stage.now
        self._trouble.pop(asked, None)
        question = StatsQuestion(by=asked.by, since=asked.span.since)
        self.stage.ask(
            "usage",
            lambda library: stats_tables.without_noise(library.stats(question, now)),
            lambda found: self._take(asked, found),
            lambda error: self._failed(asked, error),
            is_slow=True,
        )

    def changed(self) -> None:
        """Have counted again what is seen; what was counted before is seen until then."""
        self._known = {asked: found for asked, found in self._known.items() if asked == self.asked}
        self._ask()

    def _take(self, asked: Asked, found: Statistics) -> None:
        self._known[asked], self._laid_out = found, None

    def _failed(self, asked: Asked, error: Exception) -> None:
        self._trouble[asked] = str(error)

    # What comes in.

    def press(self, key: Key) -> None:
        """Choose by what, of which time, in what; scroll; go back."""
        letter = key.text if isinstance(key, Typed) else ""
        steps = {"up": -1, "down": 1, "page up": -self._room, "page down": self._room}
        steps |= {"home": -self._top, "end": len(self._laid_out[1]) if self._laid_out else 0}
        steps |= {"k": -1, "j": 1}
        if key == "escape" or letter == "q":
            self.stage.close()
        elif (name := letter or str(key)) in steps:
            self._top += steps[name]
        elif name in ("tab", "right", "shift tab", "left"):
            step = 1 if name in ("tab", "right") else -1
            self._tell(by=GROUPS[(GROUPS.index(self.asked.by) + step) % len(GROUPS)])
        else:
            self._choose(letter)

    def _choose(self, letter: str) -> None:
        """What a letter means, if it means anything."""
        if letter in MEASURES:
            self.measure = MEASURES[letter]
        elif letter.isdecimal() and 1 <= int(letter) <= len(GROUPS):
            self._tell(by=GROUPS[int(letter) - 1])
        elif span := next((one for one in SPANS if one.key == letter), None):
            self._tell(span=span)

    def _tell(self, by: str | None = None, span: Span | None = None) -> None:
        self.asked = Asked(by or self.asked.by, span or self.asked.span)
        self._top = 0
        if self.asked not in self._known:
            self._ask()

    def click(self, column: int, line: int) -> None:
        """A click on something that can be chosen chooses it."""
        for where, columns, letter in list(self._places):
            if line == where and column in columns:
                self._choose(letter)

    def wheel(self, column: int, line: int, by: int) -> None:
        """The wheel scrolls."""
        self._top += by

    # What is seen.

    def seen(self, columns: int, height: int) -> Seen:
        """What can be chosen, what fits of the numbers, the keys."""
        choices = self._choices(columns)
        self._room = max(height - len(choices) - 1, 1)
        body = self._body(columns, height)
        self._top = max(0, min(self._top, len(body) - self._room))
        shown = body[self._top : self._top + self._room]
        blank: list[Row] = [[]] * (self._room - len(shown))
        return Seen([*choices, *shown, *blank, footer(self.keys, columns)])

    def _chosen_among(self, line: int, chips: Sequence[Chip], columns: int) -> Row:
        """What can be chosen, each with its key; where it stands is noted for clicks."""
        pieces, at = [Piece(" ")], 1
        for key, name, is_chosen in chips:
            told = f"[{name}]" if is_chosen else f" {name} "
            pieces += [Piece(key, "key"), Piece(told, "" if is_chosen else "quiet"), Piece(" ")]
            end = at + cell_len(told) + 2
            self._places.append((line, range(at, end), key))
            at = end
        return fitted(pieces, columns)

    def _choices(self, columns: int) -> list[Row]:
        """By what it is told, of which time and in what."""
        asked = self.asked
        groups = [Chip(str(at), name, name == asked.by) for at, name in enumerate(GROUPS, 1)]
        spans = [Chip(span.key, span.name, span == asked.span) for span in SPANS]
        measures = [Chip(key, name, name == self.measure) for key, name in MEASURES.items()]
        self._places.clear()
        lines = (groups, [*spans, *measures])
        return [self._chosen_among(line, chips, columns) for line, chips in enumerate(lines)]

    def _body(self, columns: int, height: int) -> list[Row]:
        drawn = Drawn(self.asked, self.measure, columns, height)
        found = self._known.get(self.asked)
        if found is None:
            sentence = self._trouble.get(self.asked) or f"Counting by {self.asked.by} …"
            style = "warning" if self.asked in self._trouble else "quiet"
            return [[], fitted([Piece(f"  {sentence}", style)], columns)]
        if self._laid_out is None or self._laid_out[0] != drawn:
            self._laid_out = drawn, laid_out(found, drawn, self.stage.now)
        return self._laid_out[1]


def laid_out(found: Statistics, drawn: Drawn, now: datetime) -> list[Row]:
    """The totals, the days, the table and what is to be known of its numbers."""
    room = drawn.columns - 2 * _MARGIN
    if not (found.total.sessions or found.total.tokens.requests):
        span = drawn.asked.span
        nothing = "No session is known." if span.since is None else f"Nothing was done ({span.name})."
        return [[], fitted([Piece(f" {nothing}", "warning")], drawn.columns)]
    view = stats_tables.View(found, MOST_ROWS, room, is_drawn=True, chart=None, measure=drawn.measure)
    heading, table = LaidOutPage(room), LaidOutPage(room)
    stats_tables.draw_heading(heading, view._replace(chart="none"))
    if found.groups:
        stats_tables.draw_table(table, view)
    else:
        table.line()
        table.line((stats_tables.no_groups(found), "quiet"))
    stats_tables.draw_notes(table, stats_tables.notes(found))
    bars = day_rows(found, drawn, now)
    return [[Piece(" " * _MARGIN), *row] for row in (*heading.lines, *bars, *table.lines)]


def day_rows(found: Statistics, drawn: Drawn, now: datetime) -> list[Row]:
    """A bar for each day or week, and what the highest of them is; nothing where that is one alone."""
    used = {day: stats_tables.amount(tokens, drawn.measure) for day, tokens in found.days}
    if not used:
        return []
    if drawn.measure == "cost" and found.total.tokens.cost is None:
        return [[], [Piece("No cost is known; t shows tokens.", "quiet")]]
    first = found.since.astimezone().date() if found.since else min(used)
    last = now.astimezone().date() if found.since else max(used)
    bars = bars_of(used, first, last, drawn.columns - 2 * _MARGIN)
    if bars is None:
        return []
    begins = short_day(bars.day(bars.values.index(bars.highest)))
    on = begins if bars.period == "day" else f"the week of {begins}"
    title = f"{drawn.measure} a {bars.period}, at most {told_amount(bars.highest, drawn.measure)}: {on}"
    height = max(_LEAST_BARS, min(drawn.height // _BARS_SHARE, _MOST_BARS))
    return [[], [Piece(title, "quiet")], *bar_rows(bars, height)]


def told_amount(value: int, measure: str) -> str:
    """What bars tell, in words."""
    return short(value) if measure == "tokens" else dollars(Decimal(value) / 1_000_000)
