"""`geminids mcp`: the user's history for agents, over MCP."""

from __future__ import annotations

import sys

import click

from geminids.faces.cli.options import Choices, pass_choices, shared_options, sync_option
from geminids.faces.cli.talk import say


@click.command()
@click.option("--show-secrets", is_flag=True, help="Do not hide secrets in answers.")
@click.option(
    "--no-prompts",
    is_flag=True,
    help="Offer no prompts: for packages with commands of the same names.",
)
@sync_option
@shared_options
@pass_choices
def mcp(choices: Choices, *, show_secrets: bool, no_prompts: bool) -> int:
    """Let an agent search and read your sessions.

    Serves the Model Context Protocol on stdin and stdout; the agent starts it. Its tools only read. Secrets
    are hidden in every answer. It ends when the agent does.

    \b
    geminids mcp
    geminids mcp --show-secrets
    """  # noqa: D301 - click wants the character itself
    try:
        from geminids.faces.mcp.stdio import serve
    except ModuleNotFoundError as error:
        from geminids.faces.mcp.errors import McpNotInstalledError

        raise McpNotInstalledError(str(error.name).partition(".")[0]) from error
    from geminids.faces.mcp.answering import Wanted
    from geminids.library import open_library

    if sys.stdin and sys.stdin.isatty():
        say(
            "This is a server for agents (MCP). It waits for one on stdin; Ctrl-C ends it. `geminids "
            "install` registers it with your agents."
        )
    # A folder that is not there is told now, and not to every question.
    open_library(choices.home, choices.data, sample=choices.sample, sync=False).close()
    options = None if choices.no_sync else choices.where()
    serve(
        Wanted(choices.home, choices.data, choices.sample, not show_secrets, options), prompts=not no_prompts
    )
