"""`geminids stats`: what sessions used, what they cost, and where the time went."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.options import (
    Choices,
    agent_option,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.query_words import query_words
from geminids.faces.cli.stats_options import GROUPS, ON_A_TERMINAL, StatsOptions, tell_nothing
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.cli.page import Page
    from geminids.faces.cli.screen import Screen
    from geminids.library import Library
    from geminids.query.usage.stats import Statistics

CHARTS = ("bars", "heatmap", "sparkline", "none")
_NOT_EXPLAINED = ("by", "subagents", "estimate", "chart", "as_csv")
"""What says how a table of figures is laid out: an explanation has another one."""
_OF_ALL = ("words", "since", "until", "project", "agents", "limit")
"""What chooses among sessions: of one that is named there is nothing to choose."""


@click.command(name="stats", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, metavar="[QUERY]...", callback=query_words)
@click.option("--by", type=click.Choice(GROUPS), help="What a row is; else a day.")
@click.option(
    "--since",
    metavar="WHEN",
    callback=not_empty,
    help="Only what was used after WHEN: 12h, 7d, 1mo, today, 2026-05-01.",
)
@click.option(
    "--until", metavar="WHEN", callback=not_empty, help="Only what was used before the end of WHEN."
)
@click.option(
    "--project",
    metavar="WHICH",
    callback=not_empty,
    help="A name or a piece of one, a path such as ., a slug, or the beginning of a hash.",
)
@agent_option
@click.option(
    "--subagents",
    type=click.Choice(("fold", "apart")),
    default="fold",
    help="With --by session: count subagents with the session that started them (the usual way), or apart.",
)
@click.option(
    "--estimate",
    is_flag=True,
    help="Guess the tokens of requests that have none recorded: in rows of their own, in no sum.",
)
@click.option(
    "--chart",
    type=click.Choice(CHARTS),
    help="Bars beside the rows, a calendar (without --by in place of the table), a line of days, or nothing. "
    "Else on a terminal what there is room for.",
)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most N rows, all others as one. Else {ON_A_TERMINAL} on a terminal, all in a pipe.",
)
@click.option(
    "--explain",
    is_flag=False,
    flag_value="",
    metavar="[ID]",
    help="Where the numbers come from: session by session, or with ID or a FILE request by request, with the "
    "line of its file. A QUERY stands before it.",
)
@click.option("--no-pager", is_flag=True, help="With --explain: straight to the terminal.")
@sync_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="A table for spreadsheets on stdout.")
@shared_options
@pass_choices
def stats(
    choices: Choices,
    *,
    words: tuple[str, ...],
    by: str | None,
    since: str | None,
    until: str | None,
    project: str | None,
    agents: tuple[str, ...],
    subagents: str,
    estimate: bool,
    chart: str | None,
    limit: int | None,
    explain: str | None,
    no_pager: bool,
    as_csv: bool,
) -> int:
    """Show what sessions used and cost, and where the time went.

    Each request counts once, however often files repeat it. QUERY are words and filters as for
    `search`: only sessions that it finds count. Costs are estimates at list price, no bill.

    \b
    fresh      of the prompt: new to the model
    cached     of the prompt: read from a cache
    written    of the prompt: put into a cache
    output     the answer, without thoughts
    thoughts   what the model thought
    tool       what tools of the provider added to the prompt
    –          not recorded; * of a cost: not all requests have a price

    \b
    geminids stats
    geminids stats --by model --since 30d
    geminids stats --by session --project .
    geminids stats --by tool tool:edit
    geminids stats --chart heatmap
    geminids stats --by month --csv > months.csv
    geminids stats --explain latest
    """  # noqa: D301 - click wants the character itself
    _refuse_together(choices, explain, as_csv=as_csv)
    asked = StatsOptions(
        " ".join(words), by, since, until, project, agents, subagents, estimate, chart, limit
    )
    choices.json = choices.json or as_csv
    library = choices.open_library(sample_if_empty=True)
    if explain is not None:
        from geminids.faces.cli.explain_page import explained

        return explained(choices, library, asked, explain, no_pager=no_pager)
    found = library.stats(asked.question(), choices.now)
    if as_csv:
        _print_csv(found, limit)
    elif choices.json:
        _print_json(found, limit)
    elif found.total.sessions or found.total.tokens.requests:
        _draw(choices, asked, found)
    return _exit_code(library, asked, found)


def _refuse_together(choices: Choices, explain: str | None, *, as_csv: bool) -> None:
    """Refuse what cannot be had together: what is asked for must not be passed over in silence."""
    if as_csv and choices.json:
        raise click.UsageError("--csv and --json cannot be had together.")
    if explain is None:
        return
    option = "--explain ID" if explain else "--explain"
    if given := _given(_NOT_EXPLAINED + _OF_ALL if explain else _NOT_EXPLAINED):
        raise click.UsageError(f"{option} cannot be had together with {', '.join(given)}.")


def _given(names: Sequence[str]) -> list[str]:
    """Those of some parameters that were typed, as they are typed."""
    context = click.get_current_context()
    spelled = {parameter.name: parameter for parameter in context.command.params}
    return [
        max(spelled[name].opts, key=len) if isinstance(spelled[name], click.Option) else "a QUERY"
        for name in names
        if context.params[name] and context.get_parameter_source(name) is not ParameterSource.DEFAULT
    ]


def _print_csv(found: "Statistics", limit: int | None) -> None:
    from geminids.faces.cli.stats_csv import csv_lines

    for line in csv_lines(found, limit):
        sys.stdout.write(line)


def _print_json(found: "Statistics", limit: int | None) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.cli.stats_tables import LABEL, shown_groups
    from geminids.faces.documents.usage import stats_document

    groups, _ = shown_groups(found, limit)
    print_json(stats_document(found, groups, LABEL))


def _draw(choices: Choices, asked: StatsOptions, found: "Statistics") -> None:
    from geminids.faces.cli.page import open_page
    from geminids.faces.cli.screen import find_screen
    from geminids.faces.cli.stats_tables import (
        View,
        draw_heading,
        draw_notes,
        draw_table,
        notes,
        without_noise,
    )

    found = without_noise(found)
    screen = find_screen(no_color=choices.no_color)
    page = open_page(screen)
    limit = asked.limit or (ON_A_TERMINAL if screen.is_terminal else None)
    view = View(found, limit, screen.width, screen.is_terminal, asked.chart)
    draw_heading(page, view)
    if asked.chart == "heatmap":
        _draw_calendar(page, screen, choices, found)
    is_shown = asked.chart != "heatmap" or asked.by is not None
    if is_shown and found.groups:
        draw_table(page, view)
    draw_notes(page, notes(found))
    if is_shown:
        _tell_hidden(choices, asked, found, limit)


def _draw_calendar(page: "Page", screen: "Screen", choices: Choices, found: "Statistics") -> None:
    from geminids.faces.cli.stats_charts import calendar, draw_calendar

    drawn = calendar(found.days, choices.now.astimezone().date(), screen.width)
    if drawn is None:
        say("No day of any request is known, so there is no calendar.")
        return
    page.line()
    draw_calendar(page, drawn, screen.width)


def _tell_hidden(choices: Choices, asked: StatsOptions, found: "Statistics", limit: int | None) -> None:
    """Say what the table does not show, and how to see it."""
    from geminids.sharing.transcript import words

    if not found.groups:
        say(f"No {found.by} is known of them." if found.by != "tool" else "No tool was called in them.")
    elif limit is not None and (more := len(found.groups) - limit) > 0:
        everything = choices.spelled("stats", *asked._replace(limit=len(found.groups)).options())
        say(f"{words.count(more, f'more {found.by}')}; `{everything}` shows {words.them(more)}.")


def _exit_code(library: "Library", asked: StatsOptions, found: "Statistics") -> int:
    """Say what could not be read, or why there is nothing; the exit code that follows from it."""
    from geminids.faces.cli.sessions import tell_unreadable

    code = tell_unreadable(library.unreadable())
    if found.total.sessions or found.total.tokens.requests:
        return code
    tell_nothing(library, asked)
    return code or NOTHING_FOUND
