"""Plain command lines of the commands that are used most, read without click: it takes longer to load than
they take for all else.

What is unusual is left to click: help, completion, mistakes, an option before its command or twice, a value
that begins with `-`. Both read by the same table (`forms.py`), and give a command the same.
"""

from __future__ import annotations

import os
from sys import modules

from geminids.core.agents import available as known_agents
from geminids.faces.cli.forms import AGENT, FLAG, NUMBER, TEXT, WORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from geminids.faces.cli.choices import Choices
    from geminids.faces.cli.forms import Form, Option

ANSWERS = {
    "browse": ("geminids.faces.cli.browse_answer", "browse"),
    "list": ("geminids.faces.cli.list_answer", "list_sessions"),
    "search": ("geminids.faces.cli.search_answer", "search"),
    "show": ("geminids.faces.cli.show_answer", "show"),
    "stats": ("geminids.faces.cli.stats_answer", "stats"),
    "statusline": ("geminids.faces.cli.statusline_answer", "statusline"),
    "sync": ("geminids.faces.cli.sync_answer", "sync"),
}
"""Where a command is answered; its form stands there too."""
LONGEST_NUMBER = 9
ALIASES = {"ls": "list", "find": "search", "view": "show", "version": "--version"}
"""What commands are called elsewhere."""


def as_meant(arguments: Sequence[str]) -> Sequence[str]:
    """A command line in our words, where it begins with a word of other programs."""
    match arguments:
        case [first, *rest] if first in ALIASES:
            return [ALIASES[first], *rest]
        case ["help", *rest]:
            return [*rest, "--help"]
        case _:
            return arguments


def plain_command(
    arguments: Sequence[str], choices: Choices
) -> tuple[Callable[..., int], dict[str, Any]] | None:
    """What answers a plain command line, and what it is given; None for one that click is to read."""
    if not arguments or arguments[0] not in ANSWERS or "_GEMINIDS_COMPLETE" in os.environ:
        return None
    module, function = ANSWERS[arguments[0]]
    __import__(module)
    form: Form = modules[module].FORM
    typed = _parsed(form, arguments[1:])
    if typed is None:
        return None
    for option in form.options:
        if option.for_run and (value := typed.pop(option.name)):
            setattr(choices, option.name, [*choices.home, *value] if option.many else value)
    return getattr(modules[module], function), typed


def _parsed(form: Form, arguments: Sequence[str]) -> dict[str, Any] | None:
    """The parameters of a command by their names; None for a line that is not plain."""
    known = {spelling: option for option in form.options for spelling in option.spelled.split()}
    given: dict[str, Any] = {}
    words: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith("-"):
            words.append(argument)
            continue
        spelling, is_joined, value = argument.partition("=")
        option = known.get(spelling)
        if option is None or (is_joined and not spelling.startswith("--")):
            return None
        if option.takes != FLAG and not is_joined:
            value = next(rest, "-")
            if value.startswith("-"):
                return None
        converted = _converted(option, value)
        if (
            converted is None
            or (option.name in given and not option.many)
            or (option.takes == FLAG and is_joined)
        ):
            return None
        given[option.name] = (*given.get(option.name, ()), converted) if option.many else converted
    return _complete(form, given, words)


def _converted(option: Option, value: str) -> Any:
    """What a command is given for a value; None for one that it would not take."""
    if option.takes == FLAG:
        return True
    if option.takes == TEXT and value.strip():
        return value
    if option.takes == NUMBER and value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER:
        return int(value) if int(value) >= option.least else None
    if option.takes == WORD and value in option.words:
        return value
    if option.takes == AGENT and value.casefold() in known_agents():
        return value.casefold()
    return None


def _complete(form: Form, given: dict[str, Any], words: Sequence[str]) -> dict[str, Any] | None:
    """All parameters, with what is usual for those that were not typed."""
    if "" in words or (len(words) != 1 and not form.many and form.argument) or (words and not form.argument):
        return None
    typed = {option.name: given.get(option.name, _usual(option)) for option in form.options}
    for option in form.options:
        if option.takes == AGENT:
            # However often one is named.
            typed[option.name] = tuple(dict.fromkeys(typed[option.name]))
    if form.argument:
        typed[form.argument] = tuple(words) if form.many else words[0]
    return typed


def _usual(option: Option) -> Any:
    if option.takes == FLAG:
        return False
    return () if option.many else option.default
