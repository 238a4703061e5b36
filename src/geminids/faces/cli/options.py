"""Options that several commands share, accepted before and after the verb."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from geminids.core.agents import available as known_agents
from geminids.faces.cli.choices import Choices as Choices  # noqa: PLC0414 - what every command is handed
from geminids.faces.cli.completers import (
    complete_agents,
    complete_folders,
    complete_ids,
    complete_projects,
    complete_several,
    complete_tags,
)
from geminids.faces.cli.forms import (
    AGENT,
    AGENTS,
    FLAG,
    JSON,
    NO_SYNC,
    NUMBER,
    SEVERAL,
    TEXT,
    TEXT_OR_NOTHING,
    WHERE_AND_HOW,
    WORD,
    Form,
    Option,
)

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_NUMBER = 999_999_999
Command = TypeVar("Command", bound=Callable[..., Any])


def not_empty(_: click.Context, __: click.Parameter, value: Any) -> Any:
    """Refuse words that are none: scripts pass them by mistake."""
    if any(not words.strip() for words in ((value,) if isinstance(value, str) else value or ())):
        raise click.BadParameter("it is empty.")
    return value


def absolute(given: str) -> Path:
    """A path as it was typed, from the root on."""
    from pathlib import Path

    from geminids.core.config import expanded

    return Path(expanded(given)).absolute()


def _known_agents(_: click.Context, __: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """The agents that were typed, each once; refuse what is none."""
    if not value:
        return value
    known = known_agents()
    for name in value:
        if name.casefold() not in known:
            raise click.BadParameter(f"there is no agent {name!r}. Available: {', '.join(known)}.")
    return tuple(dict.fromkeys(map(str.casefold, value)))


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


class GlobalOption(click.Option):
    """One that nearly every command takes: what it does is told once, in the help of `geminids` itself."""

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Its lines in the help of a command, which names it in another place."""
        return None if ctx.parent else super().get_help_record(ctx)


def naming_global_options(command: click.Command) -> click.Command:
    """The command, whose help ends with the global options that it takes."""
    taken = {one.name for one in command.params if isinstance(one, GlobalOption)}
    if names := [option.spelled for option in (*WHERE_AND_HOW, JSON, NO_SYNC) if option.name in taken]:
        command.epilog = f"Global options: {', '.join(names)}; see `geminids --help`."
    return command


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
    if option.completes == SEVERAL:
        settings["shell_complete"] = partial(complete_several, option.words)
    elif option.completes:
        settings["shell_complete"] = _COMPLETIONS[option.completes]
    if option.for_run:
        remember = _remember if option.takes == FLAG else _remember_folder
        settings |= {"expose_value": False, "callback": remember, "cls": GlobalOption}
    return click.option(*option.spelled.split(), option.name, **settings)


def _type_of(option: Option) -> click.ParamType[Any] | None:
    if option.takes == NUMBER:
        return click.IntRange(min=option.least)
    return click.Choice(option.words) if option.takes == WORD else None


def _countable(_: click.Context, __: click.Parameter, value: int | None) -> int | None:
    """A number that the index can count to: what is more means all there is."""
    return value if value is None else min(value, LARGEST_NUMBER)


_CHECKS = {TEXT: not_empty, AGENT: _known_agents, NUMBER: _countable}
_COMPLETIONS = {
    "agents": complete_agents,
    "folders": complete_folders,
    "projects": complete_projects,
    "sessions": complete_ids,
    "tags": complete_tags,
}


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
