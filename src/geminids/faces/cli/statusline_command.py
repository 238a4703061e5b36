"""`geminids statusline`, as it is typed."""

from __future__ import annotations

import click

from geminids.faces.cli.options import Choices, options_of, pass_choices
from geminids.faces.cli.statusline_answer import FORM


@click.command(name="statusline")
@options_of(FORM)
@pass_choices
def statusline(choices: Choices, /) -> int:
    """Print one line about a session, for agents that show a status line.

    It shows the model, the cost of the session and of today, the time left in the current five-hour window,
    its burn rate, and the size of the context. The agent runs the command and passes JSON on stdin that
    names the session. Default: the newest session. It takes at most about half a second. The exit code is
    always 0; an error is printed as the line.

    To set it up, see `docs/stats.md`. COLUMNS limits the width of the line.

    \b
    geminids statusline
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import statusline_answer

    return statusline_answer.statusline(choices)
