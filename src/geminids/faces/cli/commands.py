"""The commands as click knows them, loaded when they are used."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import takewhile
from typing import TYPE_CHECKING

import click

from geminids import __version__
from geminids.faces.cli.options import (
    Choices,
    GlobalOption,
    json_option,
    naming_global_options,
    shared_options,
    sync_option,
)
from geminids.faces.cli.plain_lines import as_meant
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

WIDEST_HELP = 80
_LEAST_OF_AN_ID = 6
"""So many hexadecimal digits are hardly a word, and a longer number than a list has lines."""

COMMANDS = {
    "list": ("geminids.faces.cli.list_command:list_sessions", "List sessions, newest first."),
    "show": ("geminids.faces.cli.show_command:show", "Read a session."),
    "browse": ("geminids.faces.cli.browse_command:browse", "Find, read and resume sessions on one screen."),
    "search": ("geminids.faces.cli.search_command:search", "Find sessions and messages by their words."),
    "stats": ("geminids.faces.cli.stats_command:stats", "Show what sessions used and cost."),
    "statusline": (
        "geminids.faces.cli.statusline_command:statusline",
        "Print a status line for your agent: cost, time left, context.",
    ),
    "resume": ("geminids.faces.cli.resume_command:resume", "Resume a session in its agent."),
    "export": ("geminids.faces.cli.export_command:export", "Write sessions as files, to read or to share."),
    "redact": (
        "geminids.faces.cli.redact_command:redact",
        "Show what would be hidden in a session, and why.",
    ),
    "mark": ("geminids.faces.cli.mark_command:mark", "Name, tag and note sessions."),
    "keep": ("geminids.faces.cli.keep_command:keep", "Keep copies; show what agents will delete and when."),
    "restore": ("geminids.faces.cli.restore_command:restore", "Put deleted sessions back for their agents."),
    "rescue": (
        "geminids.faces.cli.rescue_command:rescue",
        "Find and repair sessions that an agent cannot show.",
    ),
    "forget": ("geminids.faces.cli.forget_command:forget", "Remove sessions from the index and the copies."),
    "attest": (
        "geminids.faces.cli.attest_command:attest",
        "Sign sessions as records that anyone can verify.",
    ),
    "verify": ("geminids.faces.cli.verify_command:verify", "Check a signed record."),
    "redact-record": (
        "geminids.faces.cli.redact_record_command:redact_record",
        "Remove parts of a signed record.",
    ),
    "key": ("geminids.faces.cli.key_command:key", "Create and manage signing keys."),
    "tables": ("geminids.faces.cli.tables_command:tables", "Write sessions as tables (Parquet)."),
    "sql": ("geminids.faces.cli.sql_command:sql", "Query your sessions with SQL (DuckDB)."),
    "web": ("geminids.faces.cli.web_command:web", "Open your sessions in a browser."),
    "mcp": ("geminids.faces.cli.mcp_command:mcp", "Let your agents search and read past sessions."),
    "install": (
        "geminids.faces.cli.install_command:install",
        "Let agents search their past sessions and keep new ones.",
    ),
    "uninstall": ("geminids.faces.cli.install_command:uninstall", "Remove geminids from agents."),
    "watch": ("geminids.faces.cli.watch_command:watch", "Print new messages as they are written."),
    "projects": (
        "geminids.faces.cli.projects_command:projects",
        "List projects; find and link their folders.",
    ),
    "sync": ("geminids.faces.cli.sync_command:sync", "Update the index."),
    "doctor": ("geminids.faces.cli.doctor_command:doctor", "Report what could be read and what could not."),
    "completion": (
        "geminids.faces.cli.completion_command:completion",
        "Print a shell completion script.",
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
        return naming_global_options(getattr(import_module(module), attribute))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept what an agent calls one of our commands."""
        return super().parse_args(ctx, ["list" if one == "--list-sessions" else one for one in args])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands, without loading them to be told what they do."""
        if incomplete.startswith("-"):
            return super().shell_complete(ctx, incomplete)
        from click.shell_completion import CompletionItem

        return [
            CompletionItem(name, help=summary)
            for name, (_, summary) in COMMANDS.items()
            if name.startswith(incomplete)
        ]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what can be typed: commands, what is to be typed alone, and the options of all commands."""
        self.format_commands(ctx, formatter)
        alone: list[tuple[str, str]] = []
        shared: list[tuple[str, str]] = []
        for option in self.get_params(ctx):
            if record := option.get_help_record(ctx):
                (shared if isinstance(option, GlobalOption) else alone).append(record)
        for title, records in (("Options", alone), ("Global options, before or after a command", shared)):
            with formatter.section(title):
                formatter.write_dl(records)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, by what it is called elsewhere too, or say which ones are near."""
        if ctx.resilient_parsing and args[0] in ("help", "version"):
            # A shell asks what may follow; nothing is printed for it.
            return None, None, []
        args = list(as_meant(args))
        if args == ["--help"]:
            click.echo(ctx.get_help())
            ctx.exit()
        if args[0] == "--version":
            click.echo(f"geminids {__version__}")
            ctx.exit()
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(f"No command {args[0]!r}. {_hint(args)}", ctx)
        return super().resolve_command(ctx, args)


@click.group(
    cls=LazyGroup, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, message="geminids %(version)s")
@shared_options
@json_option
@sync_option
@click.pass_context
def cli(context: click.Context) -> int | None:
    """Find, read and keep the sessions of coding agents on this machine.

    Without a command: show an overview.

    \b
    geminids browse                find, read and resume on one screen
    geminids                       overview of your sessions
    geminids list --since 7d       sessions of the last week
    geminids show 3                read the third of them
    geminids search cors preflight find it in all sessions
    geminids stats --by project    time, tokens and cost
    geminids show latest --tools   the newest, with tool outputs
    geminids export 3 -o 3.html    one page to share; add --redact
    geminids resume 3              resume it in its agent
    geminids mark 3 --tag keep     tag it; then `list --tag keep`
    geminids keep                  what is kept, what will be deleted
    geminids rescue                sessions that an agent cannot show
    geminids web                   your sessions in a browser
    geminids install               let agents search their past
    geminids watch                 new messages as they are written
    geminids projects              projects and their folders
    geminids doctor                what could be read, what not
    """  # noqa: D301 - click wants the character itself
    if context.invoked_subcommand is not None:
        return None
    from geminids.faces.cli.overview_command import overview

    return overview(context.ensure_object(Choices))


def run_with_click(arguments: Sequence[str], choices: Choices) -> int:
    """Run any command line, or complete one, and return its exit code."""
    if "_GEMINIDS_COMPLETE" in os.environ:
        from geminids.faces.cli.shells import answer_shell

        return answer_shell(cli, os.environ["_GEMINIDS_COMPLETE"])
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
        interrupt = KeyboardInterrupt()
        for note in getattr(stopped, "__notes__", ()):
            interrupt.add_note(note)
        raise interrupt from stopped


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
    if isinstance(error, click.NoSuchOption) and error.possibilities:
        # The nearest comes first.
        del error.possibilities[1:]
    sentence = _no_session(command, error) or error.format_message()
    if hint := _name_in_quotes(command, error):
        return f"{sentence}. {hint}"
    end = "" if sentence.endswith((".", "?", "!")) else "."
    return f"{sentence}{end} See `{command} --help`."


def _no_session(command: str, error: click.UsageError) -> str:
    """What to say where a session is to be named, and none is."""
    parameter = error.param if isinstance(error, click.MissingParameter) else None
    if parameter is None or (parameter.metavar or "").strip("[]") not in ("ID", "ID|FILE"):
        return ""
    return f"Which session? Give a number from `geminids list`, or use `{command} latest` for the newest."


def _name_in_quotes(command: str, error: click.UsageError) -> str:
    """What to type where the words of a name came one by one, and only one session is taken."""
    import re
    from shlex import quote

    first = error.ctx.params.get("wanted") if error.ctx else None
    extra = re.fullmatch(r"Got unexpected extra arguments? \((.+)\)", error.format_message())
    if not (extra and isinstance(first, str)) or extra[1].replace(" ", "").isdecimal():
        return ""
    return f"A name of several words is put in quotes: `{command} {quote(f'{first} {extra[1]}')}`."


def _hint(typed: Sequence[str]) -> str:
    """What may have been meant by a line that begins with no command."""
    import re
    from shlex import join, quote

    wanted = typed[0]
    if os.path.exists(wanted):  # noqa: PTH110
        return f"To read a file: `geminids show {quote(wanted if os.sep in wanted else './' + wanted)}`."
    from geminids.faces.cli.groups import near_commands

    if wanted.isdecimal() and len(wanted) < _LEAST_OF_AN_ID:
        return f"To read session {wanted} of the last list: `geminids show {wanted}`."
    if re.fullmatch(rf"[0-9a-f]{{{_LEAST_OF_AN_ID}}}[-0-9a-f]*", wanted):
        return f"To read a session: `geminids show {wanted}`."
    words = list(takewhile(lambda word: not word.startswith("-"), typed))
    it = "it" if len(words) == 1 else "them"
    return near_commands(wanted, COMMANDS) or f"To find {it}: `geminids search {join(words)}`."
