"""Sessions that nobody named: on a terminal they are chosen from a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from geminids.core.errors import INTERRUPTED

if TYPE_CHECKING:
    from geminids.faces.cli.options import Choices
    from geminids.faces.tui.pick import Chosen


def session_wanted(choices: Choices, typed: str | None, verb: str, *, here_first: bool = False) -> str:
    """The session that was typed, else one that is chosen now; `verb` says what becomes of it.

    With `here_first` the list begins with the sessions of the project in whose folder somebody is.
    """
    if typed is not None:
        return typed
    chosen = picked(choices, verb, here_first=here_first)
    if chosen is None:
        raise missing_session()
    return chosen.key


def sessions_wanted(
    choices: Choices, typed: tuple[str, ...], verb: str, *, deleted: bool = False
) -> tuple[str, ...]:
    """What was typed; if that is nothing, the session that is chosen now, where somebody can choose.

    With `deleted` it is one of those whose files are gone.
    """
    if typed:
        return typed
    chosen = picked(choices, verb, deleted=deleted)
    return (chosen.key,) if chosen else ()


def picked(choices: Choices, verb: str, *, here_first: bool = False, deleted: bool = False) -> Chosen | None:
    """The session that somebody chooses on the terminal; None if nobody sits there, or programs read this."""
    if choices.json:
        return None
    from geminids.faces.tui.matches import Scope
    from geminids.faces.tui.terminal import has_terminal

    if not has_terminal():
        return None
    from geminids.faces.drawing.screen import find_screen
    from geminids.faces.tui.pick import pick

    here, anywhere = Scope(project=".", kept=deleted), Scope(kept=deleted)
    scopes = [here, anywhere] if here_first else [anywhere, here]
    has_colour = find_screen(no_color=choices.no_color).has_colour
    chosen = pick(choices.open_behind, verb, scopes, choices.now, has_colour=has_colour)
    if chosen is None:
        raise click.exceptions.Exit(INTERRUPTED)
    return chosen


def missing_session() -> click.MissingParameter:
    """What is wrong with a command line that names no session."""
    context = click.get_current_context()
    return click.MissingParameter(ctx=context, param=context.command.params[0])
