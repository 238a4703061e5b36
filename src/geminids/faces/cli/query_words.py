"""Words in the language of searches, as an argument of a command."""

from __future__ import annotations

import re

import click


def query_words(context: click.Context, _: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Take `-test` for what is to be left out, but a slip in an option for a slip."""
    known = [name for parameter in context.command.params for name in parameter.opts]
    for word in words:
        if word.startswith("--") and word.lstrip("-"):
            from difflib import get_close_matches

            if near := get_close_matches(word, known, n=1, cutoff=0.7):
                raise click.UsageError(
                    f"No such option {word!r}, did you mean {near[0]}? To search for it as a word, put "
                    "it in quotes.",
                    context,
                )
    return words


def has_words(typed: str) -> bool:
    """Whether a query looks for words, and does not only choose among sessions: `is:kept project:shop`."""
    return bool(_without_filters(typed).strip())


def has_filters(typed: str) -> bool:
    """Whether a query chooses among sessions, by whatever else: `is:kept refusal`."""
    return _without_filters(typed) != typed


def _without_filters(typed: str) -> str:
    from geminids.query.search.filters import FILTERS

    names = "|".join(FILTERS)
    return re.sub(rf'(?:^|(?<=\s))-?(?:{names}):(?:"[^"]*"|\S+)', "", typed)
