"""The commands as click knows them, loaded when they are used."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module

import click

from geminids import __version__
from geminids.faces.cli.options import Choices, json_option, shared_options, sync_option
from geminids.faces.cli.plain_lines import as_meant
from geminids.faces.cli.talk import say

WIDEST_HELP = 80

COMMANDS = {
    "list": ("geminids.faces.cli.list_command:list_sessions", "List sessions, newest first."),
    "show": ("geminids.faces.cli.show_command:show", "Read a session."),
    "search": ("geminids.faces.cli.search_command:search", "Find sessions and messages by their words."),
    "stats": ("geminids.faces.cli.stats_command:stats", "Show what sessions used and cost."),
    "statusline": (
        "geminids.faces.cli.statusline_command:statusline",
        "Print one line of figures, for agents that show one.",
    ),
    "resume": ("geminids.faces.cli.resume_command:resume", "Resume a session in its agent."),
    "export": ("geminids.faces.cli.export_command:export", "Write sessions as files, to read or to share."),
    "redact": (
        "geminids.faces.cli.redact_command:redact",
        "Show what would be hidden in a session, and why.",
    ),
    "mark": ("geminids.faces.cli.mark_command:mark", "Name, tag and note sessions."),
    "keep": ("geminids.faces.cli.keep_command:keep", "Keep copies; show what agents will delete and when."),
    "restore": ("geminids.faces.cli.restore_command:restore", "Put kept sessions back for their agents."),
    "rescue": (
        "geminids.faces.cli.rescue_command:rescue",
        "Find and repair sessions that an agent cannot show.",
    ),
    "forget": ("geminids.faces.cli.forget_command:forget", "Take sessions out of the index and the copies."),
    "attest": (
        "geminids.faces.cli.attest_command:attest",
        "Sign sessions as records that anyone can verify.",
    ),
    "verify": ("geminids.faces.cli.verify_command:verify", "Check a signed record."),
    "redact-record": (
        "geminids.faces.cli.redact_record_command:redact_record",
        "Take pieces out of a signed record.",
    ),
    "key": ("geminids.faces.cli.key_command:key", "Make and show the keys that records are signed with."),
    "web": ("geminids.faces.cli.web_command:web", "Look at sessions in a browser."),
    "watch": ("geminids.faces.cli.watch_command:watch", "Print new messages as they are written."),
    "projects": (
        "geminids.faces.cli.projects_command:projects",
        "List projects, find and link their folders.",
    ),
    "sync": ("geminids.faces.cli.sync_command:sync", "Take what is new into the index."),
    "doctor": ("geminids.faces.cli.doctor_command:doctor", "Report what was understood and what was not."),
    "completion": (
        "geminids.faces.cli.completion_command:completion",
        "Print the completion script of a shell.",
    ),
}
"""Where a command is, and what it does, so that help need not load it."""


class LazyGroup(click.Group):
    """Commands that are imported when somebody asks for them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name them in the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load one of them."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept what an agent calls one of our commands."""
        return super().parse_args(ctx, ["list" if one == "--list-sessions" else one for one in args])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, by what it is called elsewhere too, or say which ones are near."""
        args = list(as_meant(args))
        if args == ["--help"]:
            click.echo(ctx.get_help())
            ctx.exit()
        if args[0] == "--version":
            click.echo(f"geminids {__version__}")
            ctx.exit()
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"No command {args[0]!r}. {_hint(args[0])}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="geminids %(version)s")
@sync_option
@json_option
@shared_options
@click.pass_context
def cli(context: click.Context) -> int | None:
    """Find and read the sessions that coding agents leave on this disk.

    Without a command: what there is.

    \b
    geminids                       what there is
    geminids list --since 7d       the sessions of the last week
    geminids show 3                the third of them
    geminids search cors preflight what was said about it
    geminids stats --by project    what it took: time, tokens, cost
    geminids show latest --tools   the newest, with all that its tools did
    geminids export 3 -o 3.html    one page to keep or to share; --redact
    geminids resume 3              go on with it where you left off
    geminids mark 3 --tag keep     say something of one; `list --tag keep`
    geminids keep                  what is kept, what will be deleted
    geminids rescue                what an agent has but cannot show
    geminids web                   all of it in a browser
    geminids watch                 new messages as they are written
    geminids projects              the folders they were worked in
    geminids doctor                what was understood, what not
    """  # noqa: D301 - click wants the character itself
    if context.invoked_subcommand is not None:
        return None
    from geminids.faces.cli.overview_command import overview

    return overview(context.ensure_object(Choices))


def run_with_click(arguments: Sequence[str], choices: Choices) -> int:
    """Run any command line, or complete one, and return its exit code."""
    if "_GEMINIDS_COMPLETE" in os.environ:
        from click.shell_completion import shell_complete

        return shell_complete(cli, {}, "geminids", "_GEMINIDS_COMPLETE", os.environ["_GEMINIDS_COMPLETE"])
    try:
        with cli.make_context(
            "geminids", list(arguments), obj=choices, terminal_width=_help_width()
        ) as context:
            return cli.invoke(context) or 0
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.UsageError as error:
        say(_usage(error))
        return error.exit_code
    except click.Abort as stopped:
        raise KeyboardInterrupt from stopped


def _help_width() -> int:
    """As wide as the terminal, up to 80 columns. (click would load shutil to find out.)"""
    written = os.environ.get("COLUMNS", "")
    if written.isdecimal():
        return min(int(written), WIDEST_HELP)
    try:
        return min(os.get_terminal_size(sys.stdout.fileno()).columns, WIDEST_HELP)
    except (OSError, ValueError):
        return WIDEST_HELP


def _usage(error: click.UsageError) -> str:
    command = error.ctx.command_path if error.ctx else "geminids"
    sentence = error.format_message()
    end = "" if sentence.endswith((".", "?", "!")) else "."
    return f"{sentence}{end} `{command} --help` shows how."


def _hint(wanted: str) -> str:
    from shlex import quote

    if os.path.exists(wanted):  # noqa: PTH110
        return f"To read a file: `geminids show {quote(wanted if os.sep in wanted else './' + wanted)}`."
    from geminids.faces.cli.groups import near_commands

    if wanted.isdecimal():
        return f"To read a session of the last list: `geminids show {wanted}`."
    return near_commands(wanted, COMMANDS) or f"To find it: `geminids search {quote(wanted)}`."
