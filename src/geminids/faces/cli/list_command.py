"""`geminids list`, as it is typed."""

from __future__ import annotations

from typing import Any

import click

from geminids.faces.cli.list_answer import FORM
from geminids.faces.cli.options import Choices, options_of, pass_choices


@click.command(name="list")
@options_of(FORM)
@pass_choices
def list_sessions(choices: Choices, /, **typed: Any) -> int:
    """List sessions, newest first.

    The numbers can be given to `geminids show`. In a pipe each session is one line of fields
    with tabs between them: id, end, status, prompts, tool calls, project, title, and `kept` behind it for
    one that is read from a copy. One that was named with `geminids mark` has its name for a title. An id
    begins with the name of the agent; on a terminal, that has a column where sessions of several agents
    stand together.

    \b
    ✓ success       the model had the last word
    ✗ failure       its last tool call failed, or a subagent did not get done
    ! error         the agent reported an error
    ⊘ cancelled     the human stopped it
    … interrupted   nobody answered any more
    ⚠               part of a file is damaged or odd; `doctor` says where
    kept            its file is gone; it is read from a copy (`keep`)
    ↳               a subagent
    ⎘               a checkpoint, saved by hand (/chat save)
    ✝               lost: what was typed is what remains

    \b
    geminids list
    geminids list --project . --since 7d
    geminids list --project shop --kind all -n 50
    geminids list --kind main --sort messages
    geminids list --tag keep
    geminids list --json | jq -r '.sessions[].title'
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import list_answer

    return list_answer.list_sessions(choices, **typed)
