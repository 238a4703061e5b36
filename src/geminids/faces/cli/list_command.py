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

    Give the numbers to `geminids show` and other commands. In a pipe each session is one line of fields
    separated by tabs: id, end, status, prompts, tool calls, project, title, and `deleted` for a session that
    is read from a copy. The name that you gave with `geminids mark` replaces the title. An id begins with the
    name of the agent; on a terminal the agent has its own column if the list has sessions of several agents.

    \b
    ✓ success       the model answered last
    ✗ failure       its last tool call failed, or a subagent did not finish
    ! error         the agent reported an error
    ⊘ cancelled     you stopped it
    ‖ interrupted   it ended without an answer
    ⚠               part of a file is damaged; `doctor` shows where
    deleted         its file is gone; it is read from a copy
    ↳               a subagent
    ⎘               a checkpoint: a saved chat (/chat save)
    ✝               lost: only your prompts remain

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
