"""`geminids sync`, as it is typed."""

from __future__ import annotations

from typing import Any

import click

from geminids.faces.cli.options import Choices, options_of, pass_choices
from geminids.faces.cli.sync_answer import FORM


@click.command()
@options_of(FORM)
@pass_choices
def sync(choices: Choices, /, **typed: Any) -> int:
    """Take what is new into the index.

    Commands that list and search do this by themselves. It is of use before a flight, in a nightly job,
    or where much has changed: it takes as long as it takes. The newest sessions come first, and what was
    taken in before Ctrl-C stays; only --full begins again.

    The index holds what is needed to find sessions, not their words. It can be thrown away at any time.
    Once somebody has searched with `search --like`, what that compares is brought up to date too.

    \b
    geminids sync
    geminids sync --full --stats
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import sync_answer

    return sync_answer.sync(choices, **typed)
