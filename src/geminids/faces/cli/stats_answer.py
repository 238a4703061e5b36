"""What `geminids stats` does: what sessions used, what they cost, and where the time went."""

from __future__ import annotations

import sys

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.choices import WrongUsageError
from geminids.faces.cli.forms import (
    AGENTS,
    FLAG,
    JSON,
    NO_SYNC,
    NUMBER,
    PROJECT,
    SEVERAL,
    TEXT,
    TEXT_OR_NOTHING,
    WHERE_AND_HOW,
    WORD,
    Form,
    Option,
)
from geminids.faces.cli.stats_options import GROUPS, ON_A_TERMINAL, StatsOptions, tell_more, tell_nothing
from geminids.faces.cli.talk import say

_LEAST_OF_AN_ID = 6
_HEXADECIMAL = frozenset("0123456789abcdefABCDEF")
EVERY_SESSION = "all"
"""What is explained where no session is to be chosen."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.cli.choices import Choices
    from geminids.faces.drawing.page import Page
    from geminids.faces.drawing.screen import Screen
    from geminids.library import Library
    from geminids.query.usage.stats import Statistics


CHARTS = ("bars", "heatmap", "sparkline", "none")
FORM = Form(
    (
        Option(
            "by",
            "--by",
            TEXT,
            f"Group by one of these, or by several with commas between (model,project): {', '.join(GROUPS)}. "
            "Default: day.",
            metavar="GROUP",
            words=GROUPS,
            completes=SEVERAL,
        ),
        Option(
            "blocks",
            "--blocks",
            FLAG,
            "Group by five-hour windows, by which subscriptions count their limits. The current window also "
            "has the time left, its burn rate and a projection.",
        ),
        Option(
            "live",
            "--live",
            FLAG,
            "Show today, the current windows and the running sessions, and redraw as sessions are written. "
            "Press q to quit.",
        ),
        Option(
            "since",
            "--since",
            TEXT,
            'Only usage after WHEN: 12h, 7d, 1mo, today, "last month", 2026-05, 2026-05-01.',
            metavar="WHEN",
        ),
        Option("until", "--until", TEXT, "Only usage before the end of WHEN.", metavar="WHEN"),
        PROJECT,
        AGENTS,
        Option(
            "subagents",
            "--subagents",
            WORD,
            "With --by session: add subagents to the session that started them (fold) or list them "
            "separately (apart). Default: fold.",
            words=("fold", "apart"),
            default="fold",
        ),
        Option(
            "estimate",
            "--estimate",
            FLAG,
            "Estimate tokens of requests that have none recorded. Estimates have their own rows and "
            "are in no total.",
        ),
        Option(
            "chart",
            "--chart",
            WORD,
            "Draw bars beside the rows, a calendar (replaces the table if --by is not given), one line of "
            "days, or nothing. Default: what fits the terminal.",
            words=CHARTS,
        ),
        Option(
            "limit",
            "-n --limit",
            NUMBER,
            f"Show at most N rows and sum up the others in one. Default: {ON_A_TERMINAL} on a "
            "terminal, all in a pipe.",
            metavar="N",
        ),
        Option(
            "explain",
            "--explain",
            TEXT_OR_NOTHING,
            "Show where the numbers come from: `all` session by session, one session (ID or a FILE) request "
            "by request, with file and line. Put QUERY before it. Default: a session from a list; all in a "
            "pipe, and where QUERY, a time, a project, an agent or --limit is given.",
            metavar="[ID]",
            completes="sessions",
        ),
        Option("no_pager", "--no-pager", FLAG, "With --explain: do not use a pager."),
        NO_SYNC,
        JSON,
        Option("as_csv", "--csv", FLAG, "Print CSV for spreadsheets on stdout."),
        *WHERE_AND_HOW,
    ),
    argument="words",
    many=True,
)


def stats(
    choices: Choices,
    *,
    words: tuple[str, ...],
    by: str | None,
    blocks: bool,
    live: bool,
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
    """Show the figures that are asked for, and say what is not shown; the exit code."""
    if as_csv and choices.json:
        raise WrongUsageError("stats", "--csv and --json cannot be combined.")
    asked = StatsOptions(
        " ".join(words),
        _groupings(by),
        since,
        until,
        project,
        agents,
        subagents,
        estimate,
        chart,
        limit,
        blocks,
    )
    if blocks or live:
        _refuse_other_rows(asked, explain, is_live=live, for_programs=choices.json or as_csv)
    if live:
        from geminids.faces.cli.stats_live import show_live

        return show_live(choices)
    choices.json = choices.json or as_csv
    if explain is not None:
        explain = _explained_session(choices, explain, asked)
    library = choices.open_library(sample_if_empty=True)
    if session_id := _session_meant(library, words):
        ids = library.with_subagents(session_id)
        asked = asked._replace(words=" ".join(f'id:"{one}"' for one in ids))
    if explain is not None:
        from geminids.faces.cli.explain_page import explained

        return explained(choices, library, asked, explain, no_pager=no_pager)
    found = library.stats(asked.question(), choices.now)
    if blocks:
        from geminids.faces.cli.stats_blocks import show_blocks

        show_blocks(choices, library, asked, found, as_csv=as_csv)
    elif as_csv:
        _print_csv(found, limit)
    elif choices.json:
        _print_json(found, limit)
    elif found.total.sessions or found.total.tokens.requests:
        _draw(choices, asked, found)
    return _exit_code(library, asked, found)


def _groupings(typed: str | None) -> str | None:
    """Return what to group by as it is to be asked, each grouping once."""
    if typed is None:
        return None
    several = dict.fromkeys(word.strip().casefold() for word in typed.split(","))
    for word in several:
        if word not in GROUPS:
            raise WrongUsageError("stats", f"--by: {word!r} is not one of {', '.join(GROUPS)}.")
    if {"model", "tool"} <= several.keys():
        raise WrongUsageError(
            "stats", "--by cannot combine model and tool: tools use no tokens of their own."
        )
    return ",".join(several)


def _refuse_other_rows(
    asked: StatsOptions, explain: str | None, *, is_live: bool, for_programs: bool
) -> None:
    """Refuse what says that rows are something else than windows; and all that chooses, of what is live."""
    given: dict[str, object] = {
        "--by": asked.by,
        "--chart": asked.chart,
        "--estimate": asked.estimate,
        "--subagents": asked.subagents != "fold",
        "--explain": explain is not None,
    }
    if is_live:
        given |= {
            "--blocks": asked.blocks,
            "--json or --csv": for_programs,
            "a QUERY": asked.words,
            "--since": asked.since,
            "--until": asked.until,
            "--project": asked.project,
            "--agent": asked.agents,
            "--limit": asked.limit,
        }
    if named := [option for option, is_given in given.items() if is_given]:
        option = "--live" if is_live else "--blocks"
        raise WrongUsageError("stats", f"{option} cannot be combined with {', '.join(named)}.")


def _explained_session(choices: Choices, wanted: str, asked: StatsOptions) -> str:
    """The session that is to be explained: a chosen one where nothing selects any; nothing means all."""
    if wanted == EVERY_SESSION:
        return ""
    if wanted or any((asked.words, asked.since, asked.until, asked.project, asked.agents, asked.limit)):
        return wanted
    from geminids.faces.cli.picked import picked

    chosen = picked(choices, "explain")
    return chosen.key if chosen else ""


def _session_meant(library: Library, words: tuple[str, ...]) -> str | None:
    """The session that a number of the last list, an id, a name or `latest` means; None for other words."""
    if len(words) != 1:
        return None
    from geminids.core.errors import NoSuchLineError, SessionNotFoundError

    (wanted,) = words
    is_number = wanted == "latest" or wanted.isdecimal()
    if not (is_number or _looks_like_id(wanted) or library.sessions_named(wanted)):
        return None
    try:
        return library.session(wanted).id
    except NoSuchLineError:
        say(f"To count the sessions with this number in them: `geminids stats '\"{wanted}\"'`.")
        raise
    except SessionNotFoundError:
        # The beginning of no id: a word like another.
        return None


def _looks_like_id(word: str) -> bool:
    """Whether a word may be the beginning of an id; few words of any language are hexadecimal numbers."""
    agent, has_agent, native = word.rpartition(":")
    if has_agent:
        from geminids.core.agents import available

        return agent in available() and bool(native)
    digits = word.replace("-", "")
    return len(digits) >= _LEAST_OF_AN_ID and set(digits) <= _HEXADECIMAL and not digits.isalpha()


def _print_csv(found: Statistics, limit: int | None) -> None:
    from geminids.faces.cli.stats_csv import csv_lines

    for line in csv_lines(found, limit):
        sys.stdout.write(line)


def _print_json(found: Statistics, limit: int | None) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.usage import stats_document
    from geminids.faces.drawing.stats_tables import LABEL, shown_groups

    groups, _ = shown_groups(found, limit)
    print_json(stats_document(found, groups, LABEL))


def _draw(choices: Choices, asked: StatsOptions, found: Statistics) -> None:
    from geminids.faces.drawing.page import open_page
    from geminids.faces.drawing.screen import find_screen
    from geminids.faces.drawing.stats_tables import (
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


def _draw_calendar(page: Page, screen: Screen, choices: Choices, found: Statistics) -> None:
    from geminids.faces.drawing.stats_charts import calendar, draw_calendar

    drawn = calendar(found.days, choices.now.astimezone().date(), screen.width)
    if drawn is None:
        say("No calendar: the day of no request is known.")
        return
    page.line()
    draw_calendar(page, drawn, screen.width)


def _tell_hidden(choices: Choices, asked: StatsOptions, found: Statistics, limit: int | None) -> None:
    """Say what the table does not show, and how to see it."""
    if not found.groups:
        from geminids.faces.drawing.stats_tables import no_groups

        say(no_groups(found))
    else:
        tell_more(choices, asked, len(found.groups), limit, found.by if len(found.groupings) == 1 else "row")


def _exit_code(library: Library, asked: StatsOptions, found: Statistics) -> int:
    """Say what could not be read, or why there is nothing; the exit code that follows from it."""
    from geminids.faces.cli.sessions import tell_unreadable

    code = tell_unreadable(library.unreadable())
    if found.total.sessions or found.total.tokens.requests:
        return code
    tell_nothing(library, asked)
    return code or NOTHING_FOUND
