"""`geminids keep hook`: what agents call after turns and at the end; mostly `hook_answer.py` answers."""

from __future__ import annotations

import click

from geminids.faces.cli.options import Choices, pass_choices, shared_options


class WronglyCalledError(click.UsageError):
    """Options that make no sense: agents tell it their user, and go on. With 2 they would stop."""

    exit_code = 1


class HookCommand(click.Command):
    """A command that never ends with the code that stops an agent, however it was called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the options."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            raise WronglyCalledError(error.message, ctx) from error


@click.command(cls=HookCommand)
@click.argument("added", nargs=-1, metavar="[ARGUMENTS]")
@shared_options
@pass_choices
def hook(choices: Choices, /, **_: object) -> int:
    """Start a sync and return at once: for the hooks of agents.

    The sync runs in the background at low priority, even after the agent has ended. It waits for a running
    sync; if another is already waiting, it does nothing. Its result is written to `hook.log` in the data
    directory. What the agent passes on stdin is neither needed nor trusted.

    `geminids install` registers it with your agents.

    \b
    geminids keep hook
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli.hook_answer import be_called

    be_called(_options(choices))
    return 0


def _options(choices: Choices) -> list[str]:
    """The same choices for the sync."""
    homes = [f"--home={home}" for home in choices.home]
    data = [f"--data={choices.data}"] if choices.data else []
    return [*homes, *data, *(["--sample"] if choices.sample else [])]
