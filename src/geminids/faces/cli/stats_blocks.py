"""`stats --blocks`: a row for each window of five hours, and how fast the present ones are used."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime

from geminids.faces.cli.stats_options import ON_A_TERMINAL, tell_more
from geminids.faces.drawing.amounts import dollars, short
from geminids.faces.drawing.number_tables import RULE, Cell, Field, Fitted, Row, draw, fit, flow
from geminids.faces.drawing.page import open_page
from geminids.faces.drawing.screen import find_screen
from geminids.faces.drawing.stats_tables import LABEL, View, draw_heading, draw_notes, notes, token_quantities
from geminids.query.usage.figures import Figures, Tokens
from geminids.sharing.transcript import safe, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.cli.choices import Choices
    from geminids.faces.cli.stats_options import StatsOptions
    from geminids.faces.drawing.screen import Screen
    from geminids.library import Library
    from geminids.query.usage.blocks import Block, Blocks, Burn
    from geminids.query.usage.stats import Statistics


def show_blocks(
    choices: Choices, library: Library, asked: StatsOptions, of_all: Statistics, *, as_csv: bool
) -> None:
    """Give out the windows as they are wished; `of_all` are the figures of all that is in them."""
    found = library.blocks(asked.question(), choices.now)
    if as_csv:
        from geminids.faces.cli.stats_csv import block_lines

        sys.stdout.writelines(block_lines(found, asked.limit, of_all.total.incomplete))
    elif choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.usage import blocks_document

        print_json(blocks_document(found, asked.limit, LABEL, choices.now, of_all.total.incomplete))
    elif found.blocks:
        _draw(choices, asked, of_all, found)


def _draw(choices: Choices, asked: StatsOptions, of_all: Statistics, found: Blocks) -> None:
    screen = find_screen(no_color=choices.no_color)
    page = open_page(screen)
    limit = asked.limit or (ON_A_TERMINAL if screen.is_terminal else None)
    draw_heading(page, View(of_all, limit, screen.width, screen.is_terminal, None))
    page.line()
    draw(page, _table(found, limit, screen, choices.now), is_drawn=screen.is_terminal)
    for block in found.active(choices.now):
        page.line()
        for line in flow(present_window(block, choices.now), screen.width):
            page.line(line)
    draw_notes(page, notes(of_all))
    tell_more(choices, asked, len(found.blocks), limit, "window")


def _table(found: Blocks, limit: int | None, screen: Screen, now: datetime) -> Fitted:
    """A row for each window, with pauses between them on a terminal, and their sum."""
    quantities = token_quantities(Figures(tokens=found.total))
    has_agents = len({block.agent for block in found.blocks}) > 1
    names = ["window", "agent"] if has_agents else ["window"]

    def row(tokens: Tokens, *named: str, style: str = "") -> Row:
        cells = [Cell(name) for name in (*named, "")[: len(names)]]
        return Row([*cells, *(quantity.of(Figures(tokens=tokens)) for quantity in quantities)], style)

    shown = found.newest(limit)
    earlier = found.blocks[: len(found.blocks) - len(shown)]
    rows = [row(_together(earlier), f"{len(earlier):,} earlier", style="quiet")] if earlier else []
    for block in shown:
        # A pause of one agent lies between the windows of others.
        if block.idle and screen.is_terminal and not has_agents:
            rows.append(Row((), "quiet", f"    {words.duration(block.idle)} without a request"))
        is_present = block.is_active(now)
        when = f"{words.moment(block.start)}{' now' if is_present else ''}"
        rows.append(row(block.tokens, when, block.agent, style="title" if is_present else ""))
    rows += [RULE, row(found.total, "total", style="title")]
    fields = [*(Field(name, is_number=False) for name in names), *(quantity.field for quantity in quantities)]
    return fit(fields, rows, screen.width)


def _together(blocks: Iterable[Block]) -> Tokens:
    return Tokens.sum(block.tokens for block in blocks)


def present_window(block: Block, now: datetime) -> Iterator[str]:
    """What is to be known of a window that is not over: how much is left of it, and how fast it is used."""
    burn = block.burn(now)
    if burn is None:
        return
    yield f"{safe.line(block.agent)} until {words.clock(block.end)}"
    yield f"{words.duration(burn.left)} left"
    yield from rates(burn)
    if burn.projected_tokens is not None:
        cost = f", {dollars(burn.projected_cost)}" if burn.projected_cost is not None else ""
        yield f"projected: {short(burn.projected_tokens)} tokens{cost}"


def rates(burn: Burn) -> Iterator[str]:
    """How fast a window is used."""
    if burn.tokens_per_minute is not None:
        yield f"{short(round(burn.tokens_per_minute))} tokens/min"
    if burn.cost_per_hour is not None:
        yield f"{dollars(burn.cost_per_hour)}/h"
