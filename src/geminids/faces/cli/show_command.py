"""`geminids show`, as it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from geminids.faces.cli.options import Choices, complete_files, complete_ids, options_of, pass_choices
from geminids.faces.cli.show_answer import FORM

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_sessions(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The sessions of the last list, else files."""
    found = complete_ids(context, parameter, incomplete)
    return found or complete_files(context, parameter, incomplete)


@click.command()
@click.argument("wanted", required=False, metavar="[ID|FILE]", shell_complete=complete_sessions)
@options_of(FORM)
@pass_choices
def show(choices: Choices, /, **typed: Any) -> int:
    """Read a session: what was said, what was done, what went wrong.

    ID is an id or the beginning of one, a number from the last `geminids list`, or `latest`;
    without one you choose a session from a list. A FILE is a path, or a name that ends as those of
    sessions do; `-` is stdin. One that holds several sessions shows them one after the other.

    \b
    geminids show latest
    geminids show 3 --tools
    geminids show 3 --at 12
    geminids show 3 --detail prompts
    geminids show 1f0c9a2b --all
    geminids show 3 --version 1
    geminids show checkpoint-plan --beside
    geminids show ~/backup/session-2026-05-01T10-00-1f0c9a2b.jsonl --json
    ssh elsewhere cat session.jsonl | geminids show -
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import show_answer
    from geminids.faces.cli.picked import session_wanted

    typed["wanted"] = session_wanted(choices, typed["wanted"], "read")
    return show_answer.show(choices, **typed)
