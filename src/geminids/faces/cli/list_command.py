"""`geminids list`: the sessions there are, newest first."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND
from geminids.core.values import Value
from geminids.faces.cli.options import (
    Choices,
    agent_option,
    complete_tags,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.faces.documents.sessions import MarkedSummary
    from geminids.library import Library
    from geminids.query.sessions.listing import Filter, Listing
    from geminids.storage.index.values import SessionRow

ON_A_TERMINAL = 20
KINDS = ("main", "subagent", "checkpoint", "lost")
EVERY_KIND = "all"
ORDERS = ("date", "started", "messages", "title", "project")
"""The orders of a list; written here so that help need not load what makes it."""
MOST_TAGS = 10
"""So many of the tags that are most used are named where another was asked for."""


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

    def filter(self, now: "datetime") -> "Filter":
        """Which sessions are meant at this moment."""
        from geminids.query.sessions.listing import LED_BY_HUMANS, Filter

        asked_for = frozenset({self.kind}) if self.kind in KINDS else LED_BY_HUMANS
        return Filter(
            kinds=None if self.kind == EVERY_KIND else asked_for,
            project=self.project,
            since=_moment(self.since, now),
            until=_moment(self.until, now, end=True),
            tags=self.tag,
            order=self.sort or ORDERS[0],
            reverse=self.reverse,
            agents=self.agents,
            kept=self.kept,
        )

    def options(self) -> list[str]:
        """The words to type for it."""
        once = ("project", "since", "until", "kind", "limit", "sort")
        typed = [(name, value) for name in once if (value := getattr(self, name))]
        typed += [("tag", tag) for tag in self.tag]
        typed += [("agent", agent) for agent in self.agents]
        words = [word for name, value in typed for word in (f"--{name}", str(value))]
        flags = (("--reverse", self.reverse), ("--kept", self.kept))
        return [*words, *(flag for flag, is_typed in flags if is_typed)]


def _moment(written: str | None, now: "datetime", *, end: bool = False) -> "datetime | None":
    if written is None:
        return None
    from geminids.query.search.moments import parse_moment

    return parse_moment(written, now, end=end)


@click.command(name="list")
@click.option(
    "--project",
    metavar="WHICH",
    callback=not_empty,
    help="A name or a piece of one, a path such as ., a slug, or the beginning of a hash.",
)
@click.option(
    "--since",
    metavar="WHEN",
    callback=not_empty,
    help="Active after WHEN: 30min, 12h, 7d, 2w, 1mo, 1y (so long ago), today, yesterday, "
    "2026-05-01, 2026-05-01T14:00.",
)
@click.option("--until", metavar="WHEN", callback=not_empty, help="Begun before the end of WHEN.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most N. Else {ON_A_TERMINAL} on a terminal, all in a pipe.",
)
@click.option(
    "--kind",
    type=click.Choice([*KINDS, EVERY_KIND]),
    help="Only main sessions, those of subagents, saved chats, or those of which only the words remain that "
    "were typed. Else all that a human led.",
)
@agent_option
@click.option(
    "--tag",
    multiple=True,
    metavar="TAG",
    callback=not_empty,
    shell_complete=complete_tags,
    help="Only those that you tagged so with `mark`; given several times, with all of them.",
)
@click.option("--kept", is_flag=True, help="Only those whose files are gone and that are read from copies.")
@click.option(
    "--sort",
    type=click.Choice(ORDERS),
    help="By the last word in it (the usual order) or the first, the newest first; by how many messages it "
    "has, the longest first; by title; or by project.",
)
@click.option("--reverse", is_flag=True, help="The other way round.")
@sync_option
@json_option
@click.option("--jsonl", is_flag=True, help="One JSON value a line.")
@shared_options
@pass_choices
def list_sessions(
    choices: Choices,
    *,
    project: str | None,
    since: str | None,
    until: str | None,
    limit: int | None,
    kind: str | None,
    agents: tuple[str, ...],
    tag: tuple[str, ...],
    kept: bool,
    sort: str | None,
    reverse: bool,
    jsonl: bool,
) -> int:
    """List sessions, newest first.

    The numbers can be given to `geminids show`. In a pipe each session is one line of fields
    with tabs between them: id, end, status, prompts, tool calls, project, title, and `kept` behind it for
    one that is read from a copy. One that was named with `geminids mark` has its name for a title. An id
    begins with the name of the agent; on a terminal, that has a column where sessions of several agents
    stand together.

    \b
    ✓ success       the model had the last word
    ✗ failure       its last tool call failed, or a subagent did not get done
    ! error         the agent reported an error
    ⊘ cancelled     the human stopped it
    … interrupted   nobody answered any more
    ⚠               part of a file is damaged or odd; `doctor` says where
    kept            its file is gone; it is read from a copy (`keep`)
    ↳               a subagent
    ⎘               a saved chat (/chat save)
    ✝               lost: what was typed is what remains

    \b
    geminids list
    geminids list --project . --since 7d
    geminids list --project shop --kind all -n 50
    geminids list --kind main --sort messages
    geminids list --tag keep
    geminids list --json | jq -r '.sessions[].title'
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.sessions import tell_memory

    choices.json = choices.json or jsonl
    asked = ListOptions(project, since, until, kind, limit, tag, sort, reverse, agents, kept)
    library = choices.open_library(sample_if_empty=True)
    listing = _listing(choices, library, asked)
    if jsonl:
        _print_json_lines(_marked(library, listing.sessions))
    elif choices.json:
        _print_json(_marked(library, listing.sessions))
    else:
        _draw(choices, library, listing.sessions)
    tell_memory(library)
    code = _tell(choices, asked, listing)
    if listing.sessions:
        return code
    _tell_nothing(library, listing, asked)
    return code or NOTHING_FOUND


def _listing(choices: Choices, library: "Library", asked: ListOptions) -> "Listing":
    limit = asked.limit or _usual_limit(choices)
    return library.listing(asked.filter(choices.now), limit)


def _usual_limit(choices: Choices) -> int | None:
    return ON_A_TERMINAL if sys.stdout.isatty() and not choices.json else None


def _marked(library: "Library", sessions: "Sequence[SessionRow]") -> "list[MarkedSummary]":
    from geminids.faces.cli.sessions import marks_of
    from geminids.faces.documents.sessions import MarkedSummary, marked

    marks = marks_of(library, sessions)
    return [marked(MarkedSummary, summary, marks) for summary in library.summaries(sessions)]


def _print_json(sessions: "Sequence[MarkedSummary]") -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.sessions import ListDocument

    print_json(ListDocument(sessions=sessions))


def _print_json_lines(sessions: "Sequence[MarkedSummary]") -> None:
    from geminids.faces.cli.json_output import print_lines

    print_lines(sessions)


def _draw(choices: Choices, library: "Library", sessions: "Sequence[SessionRow]") -> None:
    from geminids.faces.cli.sessions import draw_sessions

    draw_sessions(choices.open_page(), library, sessions, choices.now)


def _tell(choices: Choices, asked: ListOptions, listing: "Listing") -> int:
    """Say what the list does not show, and how to see it; the exit code that follows from it."""
    from geminids.faces.cli.sessions import tell_left_unread, tell_unreadable
    from geminids.sharing.transcript import words

    _tell_match(listing, asked.project)
    if more := listing.total - len(listing.sessions):
        everything = choices.spelled("list", *asked._replace(limit=listing.total).options())
        say(f"{words.count(more, 'more session')}; `{everything}` shows {words.them(more)}.")
    if others := listing.hidden.get("kind"):
        every_kind = choices.spelled("list", *asked._replace(kind=EVERY_KIND, limit=None).options())
        say(f"{words.count(others, 'session')} of another kind; `{every_kind}` shows {words.them(others)}.")
    tell_left_unread(listing.left_unread, lambda file: choices.spelled("show", file))
    return tell_unreadable(listing.problems)


def _tell_match(listing: "Listing", wanted: str | None) -> None:
    """Say which projects were meant, where there are several."""
    from geminids.core.names import project_names

    names = sorted(set(project_names(listing.matched).values()))
    if len(names) > 1:
        say(f"{len(names)} projects match {wanted!r}: {', '.join(names)}.")


def _tell_nothing(library: "Library", listing: "Listing", asked: ListOptions) -> None:
    from geminids.faces.cli.sessions import tell_nothing_found
    from geminids.sharing.transcript import words

    if asked.project and listing.hidden.keys() == {"project"}:
        near = ", ".join(listing.nearest_projects(asked.project))
        say(f"No project matches {asked.project!r}. There are: {near}.")
    elif asked.tag and listing.hidden.keys() == {"tag"}:
        _tell_no_such_tag(library, [tag.removeprefix("#").casefold() for tag in asked.tag])
    elif asked.kept and listing.hidden.keys() <= {"kept", "kind"}:
        say(_all_there(listing.considered))
    elif listing.hidden:
        say(f"None of {words.count(listing.considered, 'session')} matches.")
    else:
        tell_nothing_found()


def _all_there(number: int) -> str:
    return f"The files of all {number:,} sessions are there." if number > 1 else "Its files are there."


def _tell_no_such_tag(library: "Library", wanted: Sequence[str]) -> None:
    """Say which tags there are; where these are among them, that what has them is not here."""
    from geminids.sharing.transcript import words

    known = library.tags()
    if unknown := [tag for tag in wanted if tag not in known]:
        there = words.tags(list(known)[:MOST_TAGS]) or "none yet"
        say(f"No session is tagged {words.tags(unknown)}. There are: {there}.")
    else:
        say(f"No session here is tagged {words.tags(wanted)}; `geminids mark` shows which are.")
