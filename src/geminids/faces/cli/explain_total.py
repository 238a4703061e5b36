"""A total down to its sessions: they add up to it, and what is not in it is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from geminids.faces.cli.explain_tables import VERDICTS, draw_rows, missing
from geminids.faces.cli.stats_options import ON_A_TERMINAL
from geminids.faces.drawing.amounts import at_least, exact
from geminids.faces.drawing.number_tables import EMPTY, RULE, Cell, Field, Row, number
from geminids.faces.drawing.stats_tables import (
    cost_cell,
    draw_notes,
    id_cells,
    incomplete_note,
    stars,
)
from geminids.sharing.transcript import safe, words

if TYPE_CHECKING:
    from geminids.faces.drawing.page import Page
    from geminids.faces.drawing.screen import Screen
    from geminids.query.usage.explanation import Checks, ExplainedAgent, ExplainedLine, ExplainedTotal


def draw_total(page: Page, screen: Screen, found: ExplainedTotal, limit: int | None) -> None:
    """Agents if there are several, sessions, and what is to be known of them."""
    used = found.tokens
    requests, sessions = words.count(used.requests, "request"), words.sessions(found.kinds)
    total = "tokens not recorded" if used.total is None else f"{exact(used.total)} tokens"
    total = at_least(total, is_bound=found.incomplete > 0)
    page.line((f"{total} in {requests} of {sessions}", "title"))
    if len(found.agents) > 1:
        draw_rows(page, screen, *_agents(found))
    limit = limit or (ON_A_TERMINAL if screen.is_terminal else len(found.sessions))
    draw_rows(page, screen, *_sessions(found, limit, is_piped=screen.width is None))
    draw_notes(page, _notes(found))


def most_expensive(found: ExplainedTotal) -> str:
    """What to type for the session that cost most; without prices, that used most."""
    dearest = max(found.sessions, key=lambda line: line.cost or 0)
    return id_cells((line.id for line in found.sessions), is_whole=False)[dearest.id].exact


def _agents(found: ExplainedTotal) -> tuple[list[Field], list[Row]]:
    fields = [
        Field("agent", is_number=False, least=8),
        Field("sessions", leaves=2),
        Field("copies", leaves=4),
        Field("taken over", leaves=3),
        Field("unmeasured", leaves=1),
        Field("requests"),
        Field("tokens"),
    ]
    rows = [Row([Cell(safe.line(agent.agent)), *map(number, _numbers(agent))]) for agent in found.agents]
    sums = [sum(column) for column in zip(*(_numbers(agent)[:4] for agent in found.agents), strict=True)]
    total = [Cell("total"), *map(number, [*sums, found.tokens.requests, found.tokens.total])]
    return fields, [*rows, RULE, Row(total, "title")]


def _numbers(agent: ExplainedAgent) -> tuple[int, int, int, int, int, int | None]:
    return (
        agent.sessions,
        agent.copies,
        agent.taken_over,
        agent.unmeasured,
        agent.requests,
        agent.total,
    )


def _sessions(found: ExplainedTotal, limit: int, *, is_piped: bool) -> tuple[list[Field], list[Row]]:
    """The sessions with a title, and their agents and copies where there are several."""
    fields = [
        Field("id", is_number=False, least=13),
        Field("agent", is_number=False, least=6, leaves=1),
        Field("title", is_number=False, least=12, wishes=30, is_free=True),
        Field("copies", leaves=3),
        Field("taken over", leaves=2),
        Field("requests", leaves=4),
        Field("tokens"),
        Field("cost", leaves=5),
        Field("", is_number=False),
    ]
    ids = id_cells((line.id for line in found.sessions), is_whole=is_piped)
    rows = [_row(line, ids[line.id]) for line in found.sessions[:limit]]
    rows += _rest(found.sessions[limit:])
    copies, taken_over = _not_counted(found.sessions)
    numbers = (copies, taken_over, found.tokens.requests, found.tokens.total)
    cost = cost_cell(found.tokens.cost, found.tokens.unpriced)
    total = [Cell("total"), EMPTY, EMPTY, *map(number, numbers), cost, EMPTY]
    return _without_blanks(found, fields, [*rows, RULE, Row(total, "title")])


def _without_blanks(
    found: ExplainedTotal, fields: list[Field], rows: list[Row]
) -> tuple[list[Field], list[Row]]:
    shown = {
        "agent": len(found.agents) > 1,
        "copies": any(line.copies for line in found.sessions),
        "taken over": any(line.taken_over for line in found.sessions),
        "cost": found.tokens.cost is not None,
        "": any(line.verdict for line in found.sessions),
    }
    places = [place for place, field in enumerate(fields) if shown.get(field.heading, True)]
    chosen = [
        row._replace(cells=[row.cells[place] for place in places]) if row.cells else row for row in rows
    ]
    return [fields[place] for place in places], chosen


def _not_counted(lines: Sequence[ExplainedLine]) -> tuple[int, int]:
    """Copies of requests of other sessions, and what files say they took over."""
    return sum(line.copies for line in lines), sum(line.taken_over for line in lines)


def _row(line: ExplainedLine, shown_id: Cell) -> Row:
    mark, style = VERDICTS.get(line.verdict or "", ("", ""))
    return Row(
        [
            shown_id,
            Cell(safe.line(line.agent)),
            Cell(safe.line(line.title)) if line.title else Cell("untitled", style="quiet"),
            *map(number, (line.copies, line.taken_over, line.requests, line.total)),
            cost_cell(line.cost, line.unpriced),
            Cell(mark, style=style),
        ]
    )


def _rest(others: Sequence[ExplainedLine]) -> Iterator[Row]:
    """Sessions that are not shown, in one row, so that the columns add up."""
    if not others:
        return
    totals = [line.total for line in others if line.total is not None]
    numbers = (
        *_not_counted(others),
        sum(line.requests for line in others),
        sum(totals) if totals else None,
    )
    costs = [line.cost for line in others if line.cost is not None]
    cost = cost_cell(sum(costs, Decimal()) if costs else None, sum(line.unpriced for line in others))
    yield Row([Cell(f"{len(others):,} others"), EMPTY, EMPTY, *map(number, numbers), cost, EMPTY], "quiet")


def _notes(found: ExplainedTotal) -> Iterator[str]:
    yield from incomplete_note(found.incomplete)
    copies, taken_over = _not_counted(found.sessions)
    if copies:
        yield (
            f"Not counted: {words.count(copies, 'copy', 'copies')} of requests that are counted in another "
            "session."
        )
    if taken_over:
        yield f"Not counted: {words.count(taken_over, 'request')} that a session took over from another."
    if found.tokens.unmeasured:
        replies = words.count(found.tokens.unmeasured, "reply", "replies")
        yield f"{replies} without token counts: not included in requests and tokens."
    yield from stars(found.tokens)
    for part in found.unrecorded:
        yield f"Missing in {words.count(part.sessions, 'session')} of {part.agent}: {missing(part)}"
    yield _checks(found.checks)


def _checks(checks: Checks) -> str:
    """How our sums compare with those that agents keep themselves."""
    counts = {
        "equal (✓)": checks.agrees,
        "explained by missing requests (≈)": checks.explained,
        "older than the last requests (<)": checks.behind,
        "different (✗)": checks.differs,
    }
    known = [f"{number:,} {what}" for what, number in counts.items() if number]
    if not known:
        return "No agent recorded a total to compare with."
    has = "has" if checks.none == 1 else "have"
    rest = f"; {words.count(checks.none, 'session')} {has} none" if checks.none else ""
    return f"The agents' own totals: {', '.join(known)}{rest}."
