"""`geminids browse`, as it is typed."""

from __future__ import annotations

from typing import Any

import click

from geminids.faces.cli.browse_answer import FORM
from geminids.faces.cli.completers import complete_words
from geminids.faces.cli.options import Choices, options_of, pass_choices


@click.command()
@click.argument("words", nargs=-1, shell_complete=complete_words)
@options_of(FORM)
@pass_choices
def browse(choices: Choices, /, **typed: Any) -> int:
    """Find, read and resume sessions on one screen.

    Type to search, with the words and filters of `geminids search`; Enter reads the chosen session, Ctrl-R
    resumes it, F1 shows all keys.

    \b
    geminids browse
    geminids browse cache project:shop
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import browse_answer

    return browse_answer.browse(choices, **typed)
