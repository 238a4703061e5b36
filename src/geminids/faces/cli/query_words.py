"""Words in the language of searches, as an argument of a command."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import click

_WORD_MARK = "\0"
"""Stands before a word that begins with `-` while click reads the line; no word holds it."""
_COUNT = re.compile(r"-n\d+")


class QueryCommand(click.Command):
    """A command whose words are a query: behind the first of them, `-machine` leaves out the word machine.

    click would take it for `-m -a -c -h …`, and print the help.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a command line."""
        return super().parse_args(ctx, list(_with_marked_words(self.get_params(ctx), args)))


def _with_marked_words(parameters: Iterable[click.Parameter], typed: Sequence[str]) -> Iterator[str]:
    known = {spelled: parameter for parameter in parameters for spelled in parameter.opts}
    has_word, rest = False, iter(typed)
    for word in rest:
        if word == "--":
            yield from (word, *rest)
        elif not word.startswith("-"):
            has_word = True
            yield word
        elif has_word and not (word in known or word.startswith("--") or _COUNT.fullmatch(word)):
            yield _WORD_MARK + word
        else:
            yield word
            option = known.get(word)
            if isinstance(option, click.Option) and not (
                option.is_flag or isinstance(option.flag_value, str)
            ):
                yield from islice(rest, 1)


def query_words(context: click.Context, _: click.Parameter, words: tuple[str, ...]) -> tuple[str, ...]:
    """Take `-test` for what is to be left out, but a slip in an option for a slip."""
    words = tuple(word.removeprefix(_WORD_MARK) for word in words)
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
