"""What `geminids browse` does: sessions found, read and resumed on one screen."""

from __future__ import annotations

import gc

from geminids.faces.cli.forms import NO_SYNC, WHERE_AND_HOW, Form

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.faces.cli.choices import Choices

FORM = Form((NO_SYNC, *WHERE_AND_HOW), argument="words", many=True)


def browse(choices: Choices, *, words: tuple[str, ...]) -> int:
    """Let somebody look around, and do what the browser was left for; the exit code."""
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
    result = run(
        choices.open_behind,
        [Scope(), Scope(project="."), Scope(kept=True)],
        " ".join(words),
        completions=choices.completions(),
        spelled=choices.spelled,
        has_colour=find_screen(no_color=choices.no_color).has_colour,
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
