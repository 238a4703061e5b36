"""What `geminids list` does: the sessions there are, newest first."""

from __future__ import annotations

import sys
from math import ceil

from geminids.core.errors import NOTHING_FOUND
from geminids.core.names import one_line
from geminids.core.values import Value
from geminids.faces.cli.forms import (
    AGENTS,
    FLAG,
    JSON,
    NO_SYNC,
    NUMBER,
    PROJECT,
    SEVERAL,
    TEXT,
    WHERE_AND_HOW,
    WORD,
    Form,
    Option,
)
from geminids.faces.cli.talk import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from geminids.faces.cli.choices import Choices
    from geminids.faces.documents.sessions import ListedSession
    from geminids.library import Library
    from geminids.query.sessions.listing import Filter, Listing
    from geminids.storage.index.values import SessionRow

ON_A_TERMINAL = 20
KINDS = ("main", "subagent", "checkpoint", "lost")
EVERY_KIND = "all"
ORDERS = ("date", "started", "messages", "title", "project", "cost", "tokens", "time")
"""The orders of a list; written here so that help need not load what makes it."""
COLUMN_NAMES = (
    *("when", "started", "agent", "project", "title", "tags", "prompts", "calls", "time", "tokens", "cost"),
    *("model", "status", "id"),
)
"""What a column can tell of a session, for help; `session_table.py` knows how."""
MOST_TAGS = 10
"""So many of the tags that are most used are named where another was asked for."""


FORM = Form(
    (
        PROJECT,
        Option(
            "since",
            "--since",
            TEXT,
            "Only sessions active after WHEN: 30min, 12h, 7d, 2w, 1mo or 1y ago, today, yesterday, "
            '"last week", "this month", 2026-05, 2026-05-01, 2026-05-01T14:00.',
            metavar="WHEN",
        ),
        Option("until", "--until", TEXT, "Only sessions started before the end of WHEN.", metavar="WHEN"),
        Option(
            "limit",
            "-n --limit",
            NUMBER,
            f"List at most N sessions. Default: {ON_A_TERMINAL} on a terminal (`limit` under [list] in "
            "settings.toml), all in a pipe.",
            metavar="N",
        ),
        Option("page", "--page", NUMBER, "List page N, of as many sessions. Default: 1.", metavar="N"),
        Option(
            "kind",
            "--kind",
            WORD,
            "Only sessions of this kind. checkpoint: saved chats; lost: sessions of which only your "
            "prompts remain. Default: all but subagents.",
            words=(*KINDS, EVERY_KIND),
        ),
        AGENTS,
        Option(
            "tag",
            "--tag",
            TEXT,
            "Only sessions that you tagged TAG with `mark`; repeatable: sessions that have all the tags.",
            metavar="TAG",
            many=True,
            completes="tags",
        ),
        Option(
            "kept", "--deleted --kept", FLAG, "Only sessions whose files are gone; they are read from copies."
        ),
        Option(
            "sort",
            "--sort",
            WORD,
            "Sort by date of the last message, date of the first, number of messages, title, project, cost, "
            "tokens or time. Default: date. Newest and largest first.",
            words=ORDERS,
        ),
        Option("reverse", "--reverse", FLAG, "Reverse the order."),
        Option(
            "columns",
            "--columns",
            TEXT,
            f"Show these columns, in this order, separated by commas: {', '.join(COLUMN_NAMES)}. In a pipe "
            "they are separated by tabs and nothing is cut. Default on a terminal: `columns` under [list] in "
            "settings.toml.",
            metavar="NAMES",
            words=COLUMN_NAMES,
            completes=SEVERAL,
        ),
        NO_SYNC,
        JSON,
        Option("jsonl", "--jsonl", FLAG, "Print one JSON value per line."),
        *WHERE_AND_HOW,
    )
)


class ListOptions(Value):
    """What a list is asked for, as it was typed."""

    project: str | None
    since: str | None
    until: str | None
    kind: str | None
    limit: int | None
    tag: tuple[str, ...] = ()
    sort: str | None = None
    reverse: bool = False
    agents: tuple[str, ...] = ()
    kept: bool = False
    columns: str | None = None
    page: int | None = None

    def filter(self, now: datetime) -> Filter:
        """Which sessions are meant at this moment."""
        from geminids.query.sessions.listing import Filter

        return Filter(
            kinds=self.kinds(),
            project=self.project,
            since=_moment(self.since, now),
            until=_moment(self.until, now, end=True),
            tags=self.tag,
            order=self.sort or ORDERS[0],
            reverse=self.reverse,
            agents=self.agents,
            kept=self.kept,
        )

    def skipped(self, limit: int) -> int:
        """How many sessions stand on the pages before."""
        return ((self.page or 1) - 1) * limit

    def kinds(self) -> frozenset[str] | None:
        """The kinds that are asked for; None means all."""
        from geminids.query.sessions.listing import LED_BY_HUMANS

        if self.kind == EVERY_KIND:
            return None
        return frozenset({self.kind}) if self.kind in KINDS else LED_BY_HUMANS

    def options(self) -> list[str]:
        """The words to type for it."""
        once = ("project", "since", "until", "kind", "limit", "sort", "columns", "page")
        typed = [(name, value) for name in once if (value := getattr(self, name))]
        typed += [("tag", tag) for tag in self.tag]
        typed += [("agent", agent) for agent in self.agents]
        words = [word for name, value in typed for word in (f"--{name}", str(value))]
        flags = (("--reverse", self.reverse), ("--deleted", self.kept))
        return [*words, *(flag for flag, is_typed in flags if is_typed)]


def _moment(written: str | None, now: datetime, *, end: bool = False) -> datetime | None:
    if written is None:
        return None
    from geminids.query.search.moments import parse_moment

    return parse_moment(written, now, end=end)


def list_sessions(
    choices: Choices,
    *,
    project: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
    page: int | None,
    kind: str | None,
    agents: tuple[str, ...],
    tag: tuple[str, ...],
    kept: bool,
    sort: str | None,
    reverse: bool,
    columns: str | None,
    jsonl: bool,
) -> int:
    """Show the sessions that are asked for, and say what is not shown; the exit code."""
    from geminids.faces.cli.sessions import tell_memory

    choices.json = choices.json or jsonl
    asked = ListOptions(project, since, until, kind, limit, tag, sort, reverse, agents, kept, columns, page)
    wanted = _columns(choices, columns)
    library = choices.open_library(sample_if_empty=True, early=True)
    listing = _listing(choices, library, asked)
    if jsonl:
        _print_json_lines(_documents(library, listing.sessions))
    elif choices.json:
        _print_json(_documents(library, listing.sessions), library.to_come())
    elif listing.sessions:
        _draw(choices, library, listing.sessions, wanted)
    tell_memory(library)
    code = _tell(choices, library, asked, listing)
    if listing.sessions:
        return code
    _tell_nothing(library, listing, asked)
    return code or NOTHING_FOUND


def _listing(choices: Choices, library: Library, asked: ListOptions) -> Listing:
    limit = asked.limit or _usual_limit(choices, library, asked)
    return library.listing(asked.filter(choices.now), limit, asked.skipped(limit or 0))


def _usual_limit(choices: Choices, library: Library, asked: ListOptions) -> int | None:
    if not asked.page and (choices.json or not sys.stdout.isatty()):
        return None
    return library.list_settings.limit or ON_A_TERMINAL


def _columns(choices: Choices, typed: str | None) -> Sequence[str]:
    """The columns that are asked for; none if that is left to us."""
    if typed is None:
        return ()
    from geminids.faces.cli.choices import WrongUsageError
    from geminids.faces.cli.session_table import UnknownColumnError, columns_named

    if choices.json:
        raise WrongUsageError("list", "--columns cannot be combined with --json, which has everything.")
    try:
        return columns_named(typed.split(","))
    except UnknownColumnError as error:
        raise WrongUsageError("list", str(error)) from error


def _documents(library: Library, sessions: Sequence[SessionRow]) -> list[ListedSession]:
    from geminids.faces.cli.sessions import marks_of
    from geminids.faces.documents.sessions import listed

    marks, used = marks_of(library, sessions), library.used_by([row.id for row in sessions])
    return [listed(summary, marks, used.get(summary.id)) for summary in library.summaries(sessions)]


def _print_json(sessions: Sequence[ListedSession], to_come: int) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.sessions import ListDocument

    print_json(ListDocument(sessions=sessions, to_come=to_come))


def _print_json_lines(sessions: Sequence[ListedSession]) -> None:
    from geminids.faces.cli.json_output import print_lines

    print_lines(sessions)


def _draw(choices: Choices, library: Library, sessions: Sequence[SessionRow], columns: Sequence[str]) -> None:
    from geminids.faces.cli.session_table import draw_sessions

    draw_sessions(choices.open_page(), library, sessions, choices.now, columns)


def _tell(choices: Choices, library: Library, asked: ListOptions, listing: Listing) -> int:
    """Say what the list does not show, and how to see it; the exit code that follows from it."""
    from geminids.faces.cli.sessions import tell_left_unread, tell_unreadable
    from geminids.sharing.transcript import words

    _tell_match(listing, asked.project)
    meant, others = _by_kind(asked, listing)
    if listing.total > len(listing.sessions) > 0:
        everything = choices.spelled("list", *asked._replace(limit=listing.total, page=None).options())
        limit = asked.limit or _usual_limit(choices, library, asked) or 0
        first, shown = asked.skipped(limit), len(listing.sessions)
        which = f"{first + 1:,} to {first + shown:,}" if first else f"{shown:,}"
        so_far, those = (" read so far", "these") if library.to_come() else ("", "all")
        say(f"Showing {which} of {words.sessions(meant)}{so_far}; `{everything}` shows {those}.")
    if others:
        every_kind = choices.spelled(
            "list", *asked._replace(kind=EVERY_KIND, limit=None, page=None).options()
        )
        say(f"Not listed: {words.sessions(others)}; `{every_kind}` shows {words.them(sum(others.values()))}.")
    tell_left_unread(listing.left_unread, lambda file: choices.spelled("show", file))
    return tell_unreadable(listing.problems)


def _by_kind(asked: ListOptions, listing: Listing) -> tuple[dict[str, int], dict[str, int]]:
    """How many sessions of each kind match, of those that were asked for and of the others."""
    meant = listing.asked_for(asked.kinds())
    return meant, {kind: number for kind, number in listing.kinds.items() if kind not in meant}


def _tell_match(listing: Listing, wanted: str | None) -> None:
    """Say which projects were meant, where there are several."""
    from geminids.core.names import project_names

    names = sorted(set(project_names(listing.matched).values()))
    if len(names) > 1:
        say(f"{len(names)} projects match {wanted!r}: {one_line(', '.join(names))}.")


def _tell_nothing(library: Library, listing: Listing, asked: ListOptions) -> None:
    from geminids.faces.cli.sessions import tell_nothing_found
    from geminids.sharing.transcript import words

    if listing.total and asked.page:
        limit = asked.limit or library.list_settings.limit or ON_A_TERMINAL
        say(words.no_page(asked.page, ceil(listing.total / limit)))
    elif asked.project and listing.hidden.keys() == {"project"}:
        say(str(listing.no_such_project(asked.project)))
    elif asked.tag and listing.hidden.keys() == {"tag"}:
        _tell_no_such_tag(library, [tag.removeprefix("#").casefold() for tag in asked.tag])
    elif asked.kept and listing.considered and listing.hidden.keys() <= {"kept", "kind"}:
        say(_all_there(listing.considered))
    elif listing.hidden and listing.considered:
        say(f"No match in {words.sessions(listing.considered)}.")
    elif listing.hidden:
        say("No session of this kind found.")
    else:
        tell_nothing_found(library.searched_places)


def _all_there(considered: Mapping[str, int]) -> str:
    from geminids.sharing.transcript import words

    if sum(considered.values()) == 1:
        return "Its files still exist."
    return f"All files still exist: {words.sessions(considered)}."


def _tell_no_such_tag(library: Library, wanted: Sequence[str]) -> None:
    """Say which tags there are; where these are among them, that what has them is not here."""
    from geminids.sharing.transcript import words

    known = library.tags()
    if unknown := [tag for tag in wanted if tag not in known]:
        there = words.tags(list(known)[:MOST_TAGS])
        hint = f"Available: {there}." if there else "`geminids mark ID --tag TAG` tags one."
        say(f"No session is tagged {words.tags(unknown)}. {hint}")
    else:
        say(f"No session here is tagged {words.tags(wanted)}; `geminids mark` shows which are.")
