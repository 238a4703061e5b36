"""What Tab offers for an argument or an option; the shell's side of it stands in `shells.py`.

What is offered stands on the line as it is, unquoted, and may be anybody's: names of folders, ids out of
files. So only words are offered that every shell takes for themselves. Titles stand beside them, never on
the line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.agents import available as known_agents
from geminids.faces.cli.choices import Choices
from geminids.faces.cli.talk import cut
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from geminids.library.completions import Completions

LONGEST_TITLE = 60
"""Letters of what is shown beside a word: shells put it on one line."""
_INERT = frozenset("-_.:+@/")
_PATHS = (".", "/", "~")


def is_inert(word: str) -> bool:
    """Whether a word is one to every shell."""
    return word[:1].isalnum() and all(letter.isalnum() or letter in _INERT for letter in word)


def complete_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The sessions of the last list, or those whose id or name begins so."""
    found = {"latest": "the newest session"} | _known(context).sessions(incomplete)
    return _offered(found, incomplete)


def complete_sessions(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The same, else files."""
    found = [] if incomplete.startswith(_PATHS) else complete_ids(context, parameter, incomplete)
    return found or complete_files(context, parameter, incomplete)


def complete_tags(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The tags that were given before."""
    return _offered(_known(context).tags(), incomplete)


def complete_projects(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The projects that sessions were worked in; where a path is begun, folders."""
    if incomplete.startswith(_PATHS):
        return complete_folders(context, parameter, incomplete)
    return _offered(_known(context).projects(), incomplete)


def complete_words(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The filters of a query, and what they take."""
    from geminids.query.search.filters import FILTERS

    name, is_filter, value = incomplete.partition(":")
    if not is_filter:
        return _offered([f"{one}:" for one in FILTERS], incomplete)
    known = _with_titles(_known(context).values(name))
    return _offered({f"{name}:{one}": title for one, title in known.items()}, f"{name}:{value}")


def complete_several(
    words: Sequence[str], _: click.Context, __: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The next of several words with commas between."""
    from click.shell_completion import CompletionItem

    before, comma, begun = incomplete.rpartition(",")
    typed = before.split(",")
    left = [word for word in words if word not in typed and word.startswith(begun)]
    return [CompletionItem(f"{before}{comma}{word}") for word in left]


def complete_agents(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents whose files can be read."""
    return _offered(known_agents(), incomplete)


def complete_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_folders(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def _known(context: click.Context) -> Completions:
    return context.ensure_object(Choices).completions()


def _with_titles(words: Iterable[str]) -> Mapping[str, str]:
    """Words with what each stands for; with nothing, if they come without that."""
    return words if isinstance(words, Mapping) else dict.fromkeys(words, "")


def _offered(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Words that begin so in any case, each with its title in one harmless line."""
    from click.shell_completion import CompletionItem

    wanted = incomplete.casefold()
    return [
        CompletionItem(word, help=cut(safe.line(title), LONGEST_TITLE) or None)
        for word, title in _with_titles(words).items()
        if word.casefold().startswith(wanted) and is_inert(word)
    ]
