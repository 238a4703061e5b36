"""`geminids statusline`, as it is typed."""

from __future__ import annotations

import click

from geminids.faces.cli.options import Choices, options_of, pass_choices
from geminids.faces.cli.statusline_answer import FORM


@click.command(name="statusline")
@options_of(FORM)
@pass_choices
def statusline(choices: Choices, /) -> int:
    """Print one line about a session, for agents that show one below their prompt.

    The model, what the session cost and what all of today did, how much is left of the present window of
    five hours, how fast it is used, and the size of the context. Agents run the command and give JSON on
    stdin that says which session it is; without any it is the newest. It takes no more than about half a
    second, and ends with 0 whatever happens: what is wrong stands in the line.

    `docs/stats.md` has the setting. COLUMNS says how wide the line may be.

    \b
    geminids statusline
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import statusline_answer

    return statusline_answer.statusline(choices)
