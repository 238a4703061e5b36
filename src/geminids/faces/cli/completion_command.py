"""`geminids completion`: the script that teaches a shell our commands."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print the completion script for a shell.

    \b
    geminids completion bash >> ~/.bashrc
    geminids completion zsh  >> ~/.zshrc
    geminids completion fish > ~/.config/fish/completions/geminids.fish
    """  # noqa: D301 - click wants the character itself
    from click.shell_completion import get_completion_class

    from geminids.faces.cli.commands import cli

    script = get_completion_class(shell)
    if script is None:
        raise click.UsageError(f"No completion for {shell}.")
    click.echo(script(cli, {}, "geminids", "_GEMINIDS_COMPLETE").source())
