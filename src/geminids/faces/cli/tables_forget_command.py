"""`geminids tables forget`: remove sessions and machines from the tables in a folder or a bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.completers import complete_files
from geminids.faces.cli.confirmation import UnansweredError, ask
from geminids.faces.cli.options import (
    Choices,
    absolute,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
)
from geminids.faces.cli.progress import waiting
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.scale.places.stored import Store

INDENT = 2
MOST_DRAWN = 20
"""The number of sessions that are shown one by one."""


@click.command()
@click.argument("wanted", nargs=-1, metavar="[ID]...", callback=not_empty)
@click.option(
    "-o",
    "--out",
    metavar="DIR|URI",
    required=True,
    callback=not_empty,
    shell_complete=complete_files,
    help="The folder or bucket that `geminids tables` writes to.",
)
@click.option(
    "--machine", metavar="NAME", callback=not_empty, help="Remove all tables of this machine instead."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@shared_options
@pass_choices
def forget(choices: Choices, *, wanted: tuple[str, ...], out: str, machine: str | None, yes: bool) -> int:
    """Remove sessions, or a machine, from tables that were written.

    Give ids as in the column `sessions.id`, or the beginning of one. The sessions and their subagents count
    nowhere from then on, whichever machine wrote them: the table `forgotten` has a hash of their ids, which
    `geminids sql`, Spark and settling.sql look up. Their rows leave the files with the next run of `geminids
    tables` on each machine.

    The files of a machine are deleted at once. If it still runs `geminids tables`, it writes them again. You
    see what would be removed, and are asked first.

    \b
    geminids tables forget 1f0c9a2b --out s3://team/sessions
    geminids tables forget --machine oldlaptop --out s3://team/sessions
    """  # noqa: D301 - click wants the character itself
    if bool(wanted) == bool(machine):
        raise click.UsageError("Give ids of sessions, or --machine.")
    store = _store(out)
    if machine:
        return _forget_machine(choices, store, machine, yes=yes)
    return _forget_sessions(choices, store, wanted, yes=yes)


def _store(out: str) -> Store:
    try:
        from geminids.scale.places.stores import open_store
        from geminids.scale.sql import forgetting as _forgetting  # noqa: F401 - whether it can be loaded
    except ModuleNotFoundError as error:
        from geminids.scale.places.errors import ScaleNotInstalledError

        raise ScaleNotInstalledError(str(error.name)) from error
    return open_store(out if "://" in out else str(absolute(out)))


def _forget_sessions(choices: Choices, store: Store, wanted: tuple[str, ...], *, yes: bool) -> int:
    from geminids.scale.sql.forgetting import forget_sessions, sessions_called
    from geminids.sharing.transcript import words

    with waiting("Asking"):
        found = sessions_called(store, wanted)
    if not found:
        say("Nothing to forget: no session in the tables has such an id.")
        return NOTHING_FOUND
    if not choices.json:
        page = choices.open_page()
        for session in found[:MOST_DRAWN]:
            machines = ", ".join(session.machines)
            page.line((session.id, "title"), (f"  {session.kind}, of {machines}", "quiet"), indent=INDENT)
        if len(found) > MOST_DRAWN:
            page.line((f"… and {words.count(len(found) - MOST_DRAWN, 'more session')}", "quiet"))
    number = words.count(len(found), "session")
    if not yes:
        ask(f"Forget {number} in these tables permanently?", UnansweredError("forgotten"))
    forget_sessions(store, [session.id for session in found])
    if choices.json:
        _print(store, [session.id for session in found], ())
    say(
        f"{number} forgotten in {words.path(store.uri)}. "
        "The rows leave the files with the next `geminids tables` of each machine."
    )
    return 0


def _forget_machine(choices: Choices, store: Store, machine: str, *, yes: bool) -> int:
    from geminids.scale.sql.forgetting import files_of_machine, forget_machine
    from geminids.sharing.transcript import words

    files = files_of_machine(store, machine)
    if not files:
        say(f"Nothing to remove: no machine {machine!r} has tables there.")
        return NOTHING_FOUND
    number = words.count(len(files), "file")
    if not yes:
        ask(f"Remove {number} of machine {machine} permanently?", UnansweredError("removed"))
    forget_machine(store, files)
    if choices.json:
        _print(store, (), files)
    say(f"Machine {machine}: {number} removed from {words.path(store.uri)}.")
    return 0


def _print(store: Store, sessions: list[str] | tuple[()], files: list[str] | tuple[()]) -> None:
    from geminids.faces.cli.json_output import print_json
    from geminids.faces.documents.tables import TablesForgetDocument

    print_json(TablesForgetDocument(uri=store.uri, sessions=sessions, files=files))
