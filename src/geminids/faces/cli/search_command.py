"""`geminids search`: the sessions and messages that hold some words, the best first."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE
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

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.query.search.found import Found
    from geminids.query.search.question import Question

LIMIT = 10
DEFAULT_WIDTH = 160
"""Characters of a snippet where no terminal sets the limit."""
PLACES = ("human", "model", "thoughts", "arguments", "output", "paths", "other")


@click.command(name="search", context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, callback=query_words)
@click.option(
    "--in",
    "places",
    multiple=True,
    type=click.Choice(PLACES),
    help="Only in what the human typed, what the model answered or thought, in what tools were given or "
    "answered, in paths, or in all else. May be given several times.",
)
@click.option(
    "--project",
    metavar="WHICH",
    callback=not_empty,
    help="A name or a piece of one, a path such as ., a slug, or the beginning of a hash.",
)
@agent_option
@click.option("--since", metavar="WHEN", callback=not_empty, help="Said after WHEN: 12h, 7d, 2026-05-01.")
@click.option("--until", metavar="WHEN", callback=not_empty, help="Said before the end of WHEN.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"At most N sessions; else {LIMIT}.",
)
@click.option("--after", metavar="PAGE", callback=not_empty, help="The page after another, which names it.")
@click.option(
    "--sort", "order", type=click.Choice(("best", "newest")), default="best", help="Which session is first."
)
@click.option("--scan", is_flag=True, help="Read all texts, also what is not indexed. Takes its time.")
@json_option
@click.option("--jsonl", is_flag=True, help="One JSON value a line: a message that was found.")
@sync_option
@shared_options
@pass_choices
def search(
    choices: Choices,
    *,
    words: tuple[str, ...],
    places: tuple[str, ...],
    project: str | None,
    agents: tuple[str, ...],
    since: str | None,
    until: str | None,
    limit: int | None,
    after: str | None,
    order: str,
    scan: bool,
    jsonl: bool,
) -> int:
    """Find the sessions and messages that hold some words.

    The numbers can be given to `geminids show`. In a pipe each message is one line of fields with
    tabs between them: session, number of the message, time, where the words are, project, snippet, and
    `kept` where the session is read from a copy.

    \b
    cors preflight            both words, in one message
    "cors preflight"          one after the other
    cors OR csrf              either
    cors -test                without the other
    pre*                      words that begin like this
    *fligh*   /time ?out/     any characters, a regular expression: slower
    project:shop tool:edit    filters: agent project tool file model role
      is:rewound since:7d     status since before in is id

    \b
    geminids search cors preflight
    geminids search 'error TS2345' --since 7d
    geminids search timeout --in output --project .
    geminids search '"rate limit" is:rewound' --json | jq '.hits[].session.id'
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.progress import progress
    from geminids.query.search.question import Question

    choices.json = choices.json or jsonl
    question = Question(
        words=" ".join(words),
        places=places,
        project=project,
        since=since,
        until=until,
        limit=limit or LIMIT,
        width=_snippet_width(choices),
        after=after,
        order=order,
        scan=scan,
        agents=agents,
    )
    library = choices.open_library(sample_if_empty=True)
    found = library.search(question, choices.now, progress("Scanning") if scan else None)
    if jsonl:
        _print_json_lines(found)
    elif choices.json:
        _print_json(found)
    else:
        _draw(choices, library, found)
    _tell(choices, question, found)
    if unreadable := library.unreadable():
        from geminids.faces.cli.sessions import tell_unreadable

        return tell_unreadable(unreadable)
    if found.unsearched:
        return PARTLY_DONE
    return 0 if found.sessions else NOTHING_FOUND


def _snippet_width(choices: Choices) -> int:
    if choices.json or not sys.stdout.isatty():
        return DEFAULT_WIDTH
    from geminids.faces.cli.hits import snippet_width

    return snippet_width()


def _print_json(found: Found) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.search import search_document

    print_json(search_document(found))


def _print_json_lines(found: Found) -> None:
    from geminids.faces.cli.json_output import print_lines
    from geminids.faces.documents.search import hits_of

    print_lines(hits_of(found))


def _draw(choices: Choices, library: Library, found: Found) -> None:
    from geminids.faces.cli.hits import draw_hits, print_hits
    from geminids.faces.cli.page import DrawnPage, open_page
    from geminids.faces.cli.screen import find_screen

    page = open_page(find_screen(no_color=choices.no_color))
    if isinstance(page, DrawnPage) and page.is_terminal:
        draw_hits(page, library, found, choices.now)
    else:
        print_hits(page, found)


def _tell(choices: Choices, question: Question, found: Found) -> None:
    from geminids.faces.cli.search_talk import SearchOutcome, tell_found

    spelled = ["search", *_spelled(question)]
    first = found.sessions[0].hits[0].message.place + 1 if found.sessions else 1
    show = choices.spelled("show", "1", "--at", str(first))
    more = partial(choices.spelled, *spelled)
    tell_found(SearchOutcome(found, more, show, choices.json, question.words))


def _spelled(question: Question) -> list[str]:
    """The words to type for a question, but for the page."""
    options = [word for place in question.places for word in ("--in", place)]
    options += [word for agent in question.agents for word in ("--agent", agent)]
    for name, value in (("project", question.project), ("since", question.since), ("until", question.until)):
        options += [f"--{name}", value] if value else []
    options += ["--sort", question.order] if question.order != "best" else []
    options += ["--limit", str(question.limit)] if question.limit != LIMIT else []
    options += ["--scan"] if question.scan else []
    # Options come first: after the words, one that begins with - would be taken for an option.
    ends_options = ["--"] if question.words.startswith("-") else []
    return [*options, *ends_options, question.words] if question.words else options
