"""Options that several commands share, accepted before and after the verb."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from geminids.core.agents import available as known_agents
from geminids.sharing.transcript.levels import LEVEL_WORDS

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from click.shell_completion import CompletionItem

    from geminids.faces.cli.page import Page
    from geminids.library import Library

Command = TypeVar("Command", bound=Callable[..., Any])


class Choices:
    """What was chosen for the whole run."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now
        self.home: list[str] = []
        self.data: str | None = None
        self.sample = False
        self.no_color = False
        self.json = False
        self.no_sync = False

    @property
    def now(self) -> datetime:
        """The time of this run."""
        from datetime import UTC, datetime

        self._now = self._now or datetime.now(UTC)
        return self._now

    def open_library(self, *, sample_if_empty: bool = False) -> Library:
        """The library that was chosen. Programs never get the sample unless they ask for it."""
        from geminids.faces.cli.progress import progress
        from geminids.faces.cli.talk import say
        from geminids.library import open_library

        library = open_library(
            self.home,
            self.data,
            sample=self.sample,
            sample_if_empty=sample_if_empty and not self.json,
            sync=not self.no_sync,
            tell=say,
            progress=progress("Reading sessions"),
        )
        if context := click.get_current_context(silent=True):
            context.call_on_close(library.close)
        if library.sample and not self.sample:
            say("No session on this machine; these are the samples that come with geminids.")
        return library

    def open_page(self) -> Page:
        """What is drawn on: stdout, as far as a terminal is there and colour is wished."""
        from geminids.faces.cli.page import open_page
        from geminids.faces.cli.screen import find_screen

        return open_page(find_screen(no_color=self.no_color))

    def spelled(self, *words: str) -> str:
        """A command to type that looks where this one did."""
        homes = [word for home in self.home for word in ("--home", home)]
        data = ["--data", self.data] if self.data else []
        return _joined(["geminids", *words, *homes, *data, *(["--sample"] if self.sample else [])])


def _joined(words: list[str]) -> str:
    """Words as one types them in a shell."""
    if all(word.replace("-", "").replace("/", "").isalnum() and word.isascii() for word in words):
        # Nothing needs quotes, and every command would pay for loading what knows about them.
        return " ".join(words)
    from shlex import join

    return join(words)


def not_empty(_: click.Context, __: click.Parameter, value: Any) -> Any:
    """Refuse words that are none: scripts pass them by mistake."""
    if any(not words.strip() for words in ((value,) if isinstance(value, str) else value or ())):
        raise click.BadParameter("it is empty.")
    return value


def absolute(given: str) -> Path:
    """A path as it was typed, from the root on."""
    from pathlib import Path

    return Path(given).expanduser().absolute()


def _is_inert(word: str) -> bool:
    """Whether a word is one to every shell: what Tab puts on a line is not quoted, and may be anybody's."""
    return word[:1].isalnum() and all(letter.isalnum() or letter in "-_.:+@" for letter in word)


def complete_ids(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The sessions of the last list."""
    from click.shell_completion import CompletionItem

    from geminids.library.completions import last_listed

    known = ["latest", *last_listed(context.ensure_object(Choices).data)]
    return [CompletionItem(name) for name in known if name.startswith(incomplete) and _is_inert(name)]


def complete_tags(context: click.Context, _: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The tags that were given before."""
    from click.shell_completion import CompletionItem

    from geminids.library.completions import known_tags

    known = known_tags(context.ensure_object(Choices).data)
    wanted = incomplete.casefold()
    return [CompletionItem(tag) for tag in known if tag.startswith(wanted) and _is_inert(tag)]


def complete_agents(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The agents whose files can be read."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in known_agents() if name.startswith(incomplete.casefold())]


def _known_agents(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The agents that were typed, each once; refuse what is none."""
    if not value:
        return value
    known = known_agents()
    for name in value:
        if name.casefold() not in known:
            raise click.BadParameter(f"there is no agent {name!r}. There are: {', '.join(known)}.")
    return tuple(dict.fromkeys(map(str.casefold, value)))


def complete_files(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a file."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def complete_folders(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete the name of a folder."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="dir")]


def _remember(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    choices = context.ensure_object(Choices)
    if not value or parameter.name is None:
        return
    if isinstance(value, tuple):
        getattr(choices, parameter.name).extend(value)
    else:
        setattr(choices, parameter.name, value)


def _remember_folder(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    _remember(context, parameter, not_empty(context, parameter, value))


def shared_options(command: Command) -> Command:
    """Where to look and how to draw."""
    for add in reversed(_SHARED):
        command = add(command)
    return command


_SHARED: list[Callable[[Any], Any]] = [
    click.option(
        "--home",
        multiple=True,
        metavar="DIR",
        shell_complete=complete_folders,
        expose_value=False,
        callback=_remember_folder,
        help="A folder that stands for a user's home; may be given several times. Else GEMINIDS_HOMES, "
        "else where the agents keep their files.",
    ),
    click.option(
        "--data",
        metavar="DIR",
        shell_complete=complete_folders,
        expose_value=False,
        callback=_remember_folder,
        help="Our own folder. Else GEMINIDS_DATA, else the usual place.",
    ),
    click.option(
        "--sample",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="The sample sessions that come with geminids.",
    ),
    click.option("--no-color", is_flag=True, expose_value=False, callback=_remember, help="No colour."),
]

json_option = click.option(
    "--json", is_flag=True, expose_value=False, callback=_remember, help="One JSON document on stdout."
)

sync_option = click.option(
    "--no-sync",
    is_flag=True,
    expose_value=False,
    callback=_remember,
    help="Take the index as it is, without looking for what is new.",
)

agent_option = click.option(
    "--agent",
    "agents",
    multiple=True,
    metavar="NAME",
    callback=_known_agents,
    shell_complete=complete_agents,
    help=f"Only of this agent ({', '.join(known_agents())}); given several times, of any of them. "
    "Else of all.",
)

detail_option = click.option(
    "--detail",
    "detail_level",
    type=click.Choice(tuple(LEVEL_WORDS)),
    help=f"How much is told: {'; '.join(f'{level}, {note}' for level, note in LEVEL_WORDS.items())}.",
)

pass_choices = click.make_pass_decorator(Choices, ensure=True)
