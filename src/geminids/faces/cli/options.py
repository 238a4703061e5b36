"""Options that several commands share, accepted before and after the verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from geminids.core.agents import available as known_agents
from geminids.faces.cli.choices import Choices as Choices  # noqa: PLC0414 - what every command is handed
from geminids.faces.cli.forms import (
    AGENT,
    AGENTS,
    FLAG,
    JSON,
    NO_SYNC,
    NUMBER,
    TEXT,
    TEXT_OR_NOTHING,
    WHERE_AND_HOW,
    WORD,
    Form,
    Option,
)

if TYPE_CHECKING:
    from pathlib import Path

    from click.shell_completion import CompletionItem

Command = TypeVar("Command", bound=Callable[..., Any])


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

    from geminids.faces.cli.screen import terminal
    from geminids.library.completions import last_listed

    known = ["latest", *last_listed(context.ensure_object(Choices).data, terminal=terminal())]
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


def click_option(option: Option) -> Callable[[Command], Command]:
    """An option of the table as click knows it."""
    settings: dict[str, Any] = {"help": option.help.format(agents=", ".join(known_agents()))}
    if option.takes == FLAG:
        settings["is_flag"] = True
    else:
        settings |= {"metavar": option.metavar, "multiple": option.many, "default": option.default}
        settings |= {"callback": _CHECKS.get(option.takes), "type": _type_of(option)}
    if option.takes == TEXT_OR_NOTHING:
        settings |= {"is_flag": False, "flag_value": ""}
    if option.completes:
        settings["shell_complete"] = _COMPLETIONS[option.completes]
    if option.for_run:
        remember = _remember if option.takes == FLAG else _remember_folder
        settings |= {"expose_value": False, "callback": remember}
    return click.option(*option.spelled.split(), option.name, **settings)


def _type_of(option: Option) -> click.ParamType[Any] | None:
    if option.takes == NUMBER:
        return click.IntRange(min=option.least)
    return click.Choice(option.words) if option.takes == WORD else None


_CHECKS = {TEXT: not_empty, AGENT: _known_agents}
_COMPLETIONS = {"agents": complete_agents, "folders": complete_folders, "tags": complete_tags}


def options_of(form: Form) -> Callable[[Command], Command]:
    """All options of a command."""
    return _all_of(form.options)


def _all_of(options: Sequence[Option]) -> Callable[[Command], Command]:
    def added(command: Command) -> Command:
        for option in reversed(options):
            command = click_option(option)(command)
        return command

    return added


shared_options = _all_of(WHERE_AND_HOW)
"""Where to look and how to draw."""
json_option = click_option(JSON)
sync_option = click_option(NO_SYNC)
agent_option = click_option(AGENTS)

pass_choices = click.make_pass_decorator(Choices, ensure=True)
