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
    """Update the index.

    Other commands do this by themselves. Use it in a nightly job, or after large changes: it does not stop
    before everything is read. The newest sessions come first, and Ctrl-C loses nothing that was already read.
    Only --full starts over.

    The index can be deleted at any time; it is made again from the sessions. After the first `search
    --like`, the vectors for search by meaning are updated too.

    \b
    geminids sync
    geminids sync --full --stats
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import sync_answer

    return sync_answer.sync(choices, **typed)
