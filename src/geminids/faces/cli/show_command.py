"""`geminids show`, as it is typed."""

from __future__ import annotations

from typing import Any

import click

from geminids.faces.cli.completers import complete_sessions
from geminids.faces.cli.options import Choices, options_of, pass_choices
from geminids.faces.cli.show_answer import FORM


@click.command()
@click.argument("wanted", required=False, metavar="[ID|FILE]", shell_complete=complete_sessions)
@options_of(FORM)
@pass_choices
def show(choices: Choices, /, **typed: Any) -> int:
    """Read a session: what was said, what was done, what went wrong.

    ID is an id or the beginning of one, a name from `geminids mark`, a number from the last `geminids list`,
    or `latest`; without one, choose the session from a list. FILE is a path, or a name that ends like a
    session file; `-` is stdin. A file with several sessions shows all of them.

    \b
    geminids show latest
    geminids show 3 --tools
    geminids show 3 --at 12 --limit 5
    geminids show 3 --at 12 --find "login redirect"
    geminids show 3 --detail prompts
    geminids show 1f0c9a2b --all
    geminids show 3 --version 1
    geminids show checkpoint-plan --beside
    geminids show ~/backup/session-2026-05-01T10-00-1f0c9a2b.jsonl --json
    ssh elsewhere cat session.jsonl | geminids show -
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import show_answer
    from geminids.faces.cli.picked import missing_session, picked

    if typed["wanted"] is None:
        chosen = picked(choices, "read")
        if chosen is None:
            raise missing_session()
        typed["wanted"] = chosen.key
        if chosen.message and typed["at"] is None:
            typed |= {"at": chosen.message, "find": typed["find"] or chosen.words}
    return show_answer.show(choices, **typed)
