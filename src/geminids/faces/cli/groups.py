"""Commands with commands of their own: what is said where one of these does not exist."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Iterable

import click

from geminids.faces.cli.options import naming_global_options

_NEAR = 0.66
"""How alike a word and a command are if one is a slip for the other: `shwo`, but not `bread` for `redact`."""

CALLED_ELSEWHERE = {
    **dict.fromkeys(("delete", "remove", "rm", "prune"), "forget"),
    **dict.fromkeys(("cost", "costs", "usage", "tokens"), "stats"),
    **dict.fromkeys(("blocks", "windows"), "stats --blocks"),
    **dict.fromkeys(("name", "rename", "tag", "note", "label"), "mark"),
    **dict.fromkeys(("undelete", "recover"), "restore"),
    **dict.fromkeys(("open", "read", "cat", "less", "print"), "show"),
    **dict.fromkeys(("continue", "run", "start"), "resume"),
    **dict.fromkeys(("grep", "query"), "search"),
    **dict.fromkeys(("sign", "prove"), "attest"),
    **dict.fromkeys(("serve", "ui", "browse"), "web"),
    **dict.fromkeys(("backup", "copies"), "keep"),
}
"""What people may type for our commands."""


class NamingGroup(click.Group):
    """A group that says which of its commands may have been meant."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of its commands."""
        command = super().get_command(ctx, cmd_name)
        return command and naming_global_options(command)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or say which ones are near."""
        names = self.list_commands(ctx)
        if args[0] not in names and not args[0].startswith("-"):
            hint = near_commands(args[0], names) or f"Available: {', '.join(names)}."
            raise click.UsageError(f"No command {args[0]!r} in `{ctx.info_name}`. {hint}", ctx)
        return super().resolve_command(ctx, args)


def near_commands(wanted: str, names: Iterable[str]) -> str:
    """What may have been meant; nothing where no name is near."""
    from difflib import get_close_matches

    near = get_close_matches(wanted, list(names), n=2, cutoff=_NEAR)
    called = CALLED_ELSEWHERE.get(wanted, "")
    if called.partition(" ")[0] in names:
        near = [called]
    return f"Did you mean {' or '.join(f'`{name}`' for name in near)}?" if near else ""
