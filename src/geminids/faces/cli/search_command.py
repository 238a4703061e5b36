"""`geminids search`, as it is typed."""

from __future__ import annotations

from typing import Any

import click

from geminids.faces.cli.completers import complete_words
from geminids.faces.cli.options import Choices, options_of, pass_choices
from geminids.faces.cli.query_words import QueryCommand, query_words
from geminids.faces.cli.search_answer import FORM


@click.command(name="search", cls=QueryCommand, context_settings={"ignore_unknown_options": True})
@click.argument("words", nargs=-1, callback=query_words, shell_complete=complete_words)
@options_of(FORM)
@pass_choices
def search(choices: Choices, /, **typed: Any) -> int:
    """Find sessions and messages by their words.

    Give the numbers to `geminids show`. In a pipe each message is one line of fields separated by tabs:
    session, number of the message, time, where the words are, project, snippet, and `deleted` if the session
    is read from a copy.

    \b
    cors preflight            both words
    "cors preflight"          exactly this phrase
    cors OR csrf              either word
    cors -test                the first word without the second
    pre*                      words that begin with pre
    *fligh*   /time ?out/     part of a word; a regular expression (slower)
    project:shop is:rewound   filters: agent project tool file model role
      tool:edit since:7d        status since before hour in is id tag name

    \b
    geminids search cors preflight
    geminids search 'error TS2345' --since 7d
    geminids search timeout --in output --project .
    geminids search '"rate limit" is:rewound' --json | jq '.hits[].session.id'
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import search_answer

    return search_answer.search(choices, **typed)
