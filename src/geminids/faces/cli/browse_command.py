"""`geminids browse`: find, read and resume sessions on one screen."""

from __future__ import annotations

import gc

import click

from geminids.faces.cli.completers import complete_words
from geminids.faces.cli.options import Choices, pass_choices, shared_options, sync_option


@click.command()
@click.argument("words", nargs=-1, shell_complete=complete_words)
@sync_option
@shared_options
@pass_choices
def browse(choices: Choices, *, words: tuple[str, ...]) -> int:
    """Find, read and resume sessions on one screen.

    Type to search, with the words and filters of `geminids search`; Enter reads the chosen session, Ctrl-R
    resumes it, F1 shows all keys.

    \b
    geminids browse
    geminids browse cache project:shop
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.drawing.screen import find_screen
    from geminids.faces.tui.errors import BrowserNotInstalledError, NoTerminalError
    from geminids.faces.tui.matches import Scope
    from geminids.faces.tui.terminal import has_terminal

    if not has_terminal():
        raise NoTerminalError
    # So much is loaded that looking for objects which nobody uses takes longer than the list.
    gc.disable()
    try:
        from geminids.faces.tui.browser.browse import browse as run
    except ModuleNotFoundError as error:
        raise BrowserNotInstalledError(str(error.name)) from error
    scopes = [Scope(), Scope(project="."), Scope(kept=True)]
    has_colour = find_screen(no_color=choices.no_color).has_colour
    result = run(
        choices.open_behind,
        scopes,
        " ".join(words),
        completions=choices.completions(),
        spelled=choices.spelled,
        has_colour=has_colour,
    )
    return _follow(choices, result)


def _follow(choices: Choices, result: object) -> int:
    """Do what the browser was left for."""
    from geminids.faces.tui.browser.results import OpenInWeb, Resume

    match result:
        case Resume(how, program):
            from geminids.faces.cli.becoming import become

            return become(how, program)
        case OpenInWeb(page):
            from geminids.faces.cli.web_command import serve_web

            serve_web(choices, page=page)
    return 0
