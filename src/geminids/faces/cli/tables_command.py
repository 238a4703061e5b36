"""`geminids tables`: sessions as Parquet, in a folder or a bucket, for every engine that reads tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import click

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE
from geminids.faces.cli.completers import complete_files
from geminids.faces.cli.groups import NamingGroup
from geminids.faces.cli.options import (
    Choices,
    absolute,
    json_option,
    not_empty,
    shared_options,
    sync_option,
)
from geminids.faces.cli.progress import stoppable
from geminids.faces.cli.redaction_options import hide_option, open_redactor
from geminids.faces.cli.tables_forget_command import forget
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.scale.tables.run import TablesWriter
    from geminids.scale.tables.written import TablesWritten

STOPPED = (
    "Stopped after {done} of {total} sessions. The files written so far are complete; run the same command "
    "again to continue."
)
TEXT = "text"
"""What can be left out."""
MOST_NAMED = 10
"""The number of unreadable or unknown files that are named."""


@click.group(cls=NamingGroup, invoke_without_command=True)
@click.option(
    "-o",
    "--out",
    metavar="DIR|URI",
    callback=not_empty,
    shell_complete=complete_files,
    help="Write to this folder, or to object storage: s3://BUCKET/FOLDER, gs://…, az://….",
)
@click.option(
    "--without",
    type=click.Choice([TEXT]),
    help="Leave out all columns with words of conversations and files: only names and numbers remain.",
)
@click.option("--raw", is_flag=True, help="Do not hide secrets.")
@hide_option
@click.option(
    "--machine",
    metavar="NAME",
    callback=not_empty,
    help="The name of this machine in the tables; it replaces the one before. Default: a random name.",
)
@click.option("--full", is_flag=True, help="Write everything again, not only what changed.")
@sync_option
@json_option
@shared_options
@click.pass_context
def tables(
    context: click.Context,
    *,
    out: str | None,
    without: str | None,
    raw: bool,
    hide: tuple[str, ...],
    machine: str | None,
    full: bool,
) -> int | None:
    """Write sessions as tables (Parquet), for SQL, data frames and Spark.

    Six tables: sessions, messages, requests, calls, changes and problems, in folders by agent and month.
    Secrets are hidden first. Run it again at any time: only what changed is written. Several machines can
    write to the same place. Sessions that you `geminids forget` are gone after the next run.

    \b
    geminids tables --out ~/sessions
    geminids tables --out s3://team/sessions
    geminids tables --out s3://team/numbers --without text
    geminids tables --out ~/sessions --hide home --machine laptop
    geminids tables forget 1f0c9a2b --out ~/sessions
    """  # noqa: D301 - click wants the character itself
    if context.invoked_subcommand is not None:
        if out is not None:
            raise click.UsageError(f"Give --out after `tables {context.invoked_subcommand}`.", context)
        return None
    if out is None:
        (option,) = (one for one in context.command.params if one.name == "out")
        raise click.MissingParameter(ctx=context, param=option)
    choices = context.ensure_object(Choices)
    if raw and hide:
        raise click.UsageError("--hide and --raw cannot be combined.")
    with choices.open_library() as library:
        writer = _writer(library, out, machine, hide, raw=raw, words=without != TEXT)
        with stoppable("Writing tables", STOPPED) as work:
            written = writer.bring_up_to_date(anew=full, progress=work)
        if choices.json:
            _print(written)
        else:
            _tell(written, raw=raw)
        return _tell_what_is_missing(library, written)


tables.add_command(forget)


def _writer(
    library: Library, out: str, machine: str | None, hide: Collection[str], *, raw: bool, words: bool
) -> TablesWriter:
    """What writes as it was asked for. What cannot be used is said before the rules are prepared."""
    from importlib.util import find_spec

    from geminids.scale.places.errors import NoMachineNameError, ScaleNotInstalledError
    from geminids.scale.tables.part import Manner
    from geminids.scale.tables.run import TablesWriter

    # It is loaded when there is something to write.
    if find_spec("pyarrow") is None:
        raise ScaleNotInstalledError("pyarrow")
    place = out if "://" in out else str(absolute(out))
    name = machine or library.machine()
    if name is None:
        raise NoMachineNameError
    manner = Manner(place, name, words)
    TablesWriter(library, manner)
    redactor = None if raw else open_redactor(library, hide, keep_attachments=False)
    return TablesWriter(library, manner._replace(redactor=redactor))


def _print(written: TablesWritten) -> None:
    from geminids.faces.cli.json_output import print_filled
    from geminids.faces.documents.tables import TablesDocument

    print_filled(TablesDocument, written)


def _tell(written: TablesWritten, *, raw: bool) -> None:
    """What was written, and what of it nobody has looked through."""
    from geminids.sharing.transcript import words

    if not written.rows:
        return
    rows = (words.count(number, table[:-1]) for table, number in written.rows.items() if number)
    say(f"{words.path(written.uri)}: {', '.join(rows)}.")
    if not written.written and not written.removed:
        say(f"Machine {written.machine}: nothing changed, nothing written.")
        return
    changed = f"{words.count(written.written, 'part')} of {written.parts:,} written"
    gone = f", {written.removed:,} removed" if written.removed else ""
    hidden = "secrets are not hidden" if raw else f"{words.count(written.hidden, 'thing')} hidden"
    say(f"Machine {written.machine}: {changed}{gone}; {hidden}.")


def tell_strays(strays: Sequence[str]) -> None:
    """Say which files among tables are not read."""
    for file in strays[:MOST_NAMED]:
        say(f"Not read, since no machine wrote it there; remove it: {file}")
    if len(strays) > MOST_NAMED:
        say(f"And {len(strays) - MOST_NAMED:,} more.")


def _tell_what_is_missing(library: Library, written: TablesWritten) -> int:
    from geminids.faces.cli.sessions import tell_nothing_found, tell_unreadable

    for reason in written.failed.values():
        say(reason)
    tell_strays(written.strays)
    for file in written.unreadable[:MOST_NAMED]:
        say(f"Cannot be read now; rows that were written before stay: {file}")
    if len(written.unreadable) > MOST_NAMED:
        say(f"And {len(written.unreadable) - MOST_NAMED:,} more.")
    unreadable = tell_unreadable(library.unreadable())
    if written.failed or written.unreadable:
        return PARTLY_DONE
    if not any(written.rows.values()) and not unreadable:
        tell_nothing_found(library.searched_places)
        return NOTHING_FOUND
    return unreadable
