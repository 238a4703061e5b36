"""`geminids completion`: the script that teaches a shell our commands."""

from __future__ import annotations

import click


@click.command()
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the completion script for a shell.

    It completes commands, options, sessions, projects and filters; zsh and fish show the titles of
    sessions beside their ids. Open a new shell for it to take effect.

    \b
    geminids completion bash >> ~/.bashrc
    geminids completion zsh  >> ~/.zshrc
    geminids completion fish > ~/.config/fish/completions/geminids.fish
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.commands import cli
    from geminids.faces.cli.shells import script

    click.echo(script(cli, shell), nl=False)
