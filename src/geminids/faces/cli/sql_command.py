"""`geminids sql`: SQL over the tables of this machine, or over those that lie in a folder or a bucket."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

import click

from geminids.core.errors import INTERRUPTED, NOTHING_FOUND, PARTLY_DONE, NothingToReadError
from geminids.faces.cli.completers import complete_files
from geminids.faces.cli.options import (
    Choices,
    absolute,
    json_option,
    not_empty,
    pass_choices,
    shared_options,
    sync_option,
)
from geminids.faces.cli.progress import stoppable, waiting
from geminids.faces.cli.tables_command import tell_strays
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geminids.faces.cli import sql_output
    from geminids.library import Library
    from geminids.scale.places.stored import Store
    from geminids.scale.sql.database import Database

FORMATS = ("table", "csv", "json", "parquet")
STDIN = "-"
MOST_BYTES = 1_000_000
"""Of a query: what is longer is no query that somebody meant."""
STOPPED = "Stopped. {done} of {total} sessions are in the tables; run the same command again to continue."


@click.command()
@click.argument("query", required=False, metavar="[QUERY|-]")
@click.option(
    "--file",
    "file",
    metavar="FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Read the query from this file.",
)
@click.option(
    "--tables",
    "where",
    metavar="DIR|URI",
    callback=not_empty,
    shell_complete=complete_files,
    help="Query the tables in this folder or bucket, as `geminids tables` writes them: s3://BUCKET/FOLDER, "
    "gs://…, az://…. Default: the sessions of this machine.",
)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(FORMATS),
    help="Default: table on a terminal; in a pipe csv; for a file, by its extension.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=not_empty,
    shell_complete=complete_files,
    help="Write to this file. Default: stdout.",
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@click.option(
    "--timeout",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Stop the query after so many seconds, exit code 3. Default: no limit.",
)
@click.option(
    "--schema", is_flag=True, help="List the tables and their columns, or those of the table QUERY."
)
@sync_option
@json_option
@shared_options
@pass_choices
def sql(
    choices: Choices,
    *,
    query: str | None,
    file: str | None,
    where: str | None,
    form: str | None,
    output: str | None,
    force: bool,
    timeout: float | None,
    schema: bool,
) -> int:
    """Query your sessions with SQL (DuckDB).

    The tables: sessions, messages, requests, calls, changes, problems. In these everything counts once, as in
    `stats`: what forks, resumed sessions and copies on other machines repeat is left out. With all_ before
    their names (all_requests) they hold every row. The first query writes the tables into the data directory,
    which takes as long as reading all sessions; later ones add what is new.

    Queries only read, and only these tables: no files, no network. Exit code 1 means no rows.

    \b
    geminids sql 'select sum(total) from requests'
    geminids sql 'select project, count(*) from sessions group by 1'
    geminids sql --format json 'from calls limit 5'
    geminids sql --tables s3://team/sessions --file monthly.sql
    geminids sql --schema            tables and columns
    geminids sql --schema requests   those of one table
    """  # noqa: D301 - click wants the character itself
    from geminids.faces.cli import sql_output

    if schema:
        return sql_output.print_schema(choices, query, form)
    wish = sql_output.Wish(_form(choices, form, output), output, force)
    written = _query(query, file)
    if written is None:
        sql_output.introduce(choices)
        return 0
    store, library = _tables(choices, where)
    if output:
        _check_output(output, library or choices.open_library())
    with _time_limit(timeout):
        code = _answer(choices, store, written, wish, library)
    if library is None:
        return code
    from geminids.faces.cli.sessions import tell_unreadable

    return tell_unreadable(library.unreadable()) or code


def _form(choices: Choices, form: str | None, output: str | None) -> str:
    """How the answer is given; refuse what nobody could read."""
    if choices.json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} cannot be combined.")
    ending = (output or "").rpartition(".")[2].casefold()
    by_file = ending if output and ending in FORMATS else None
    chosen = form or ("json" if choices.json else None) or by_file
    if chosen is None:
        chosen = "table" if not output and sys.stdout.isatty() else "csv"
    if chosen == "parquet" and not output and sys.stdout.isatty():
        raise click.UsageError("--format parquet needs -o FILE, or a pipe.")
    return chosen


def _query(query: str | None, file: str | None) -> str | None:
    """What is asked, wherever it was written; None if nothing is, and somebody can be told what may be."""
    if file is not None and query is not None:
        raise click.UsageError("Give the query itself or --file, not both.")
    if file is not None and file != STDIN:
        return _read(file)
    if STDIN in (query, file):
        return _decoded(sys.stdin.buffer.read(MOST_BYTES + 1), "stdin")
    if query is not None and not query.strip():
        raise click.UsageError("The query is empty.")
    if query is None and not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError("No query. Give one, or - to read it from stdin.")
    return query


def _read(file: str) -> str:
    try:
        with absolute(file).open("rb") as stream:
            return _decoded(stream.read(MOST_BYTES + 1), file)
    except OSError as error:
        raise NothingToReadError(file, (error.strerror or str(error)).lower()) from error


def _decoded(query: bytes, where: str) -> str:
    if len(query) > MOST_BYTES:
        raise NothingToReadError(where, f"a query has {MOST_BYTES:,} bytes at most")
    try:
        return query.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NothingToReadError(where, "it is not UTF-8") from error


def _tables(choices: Choices, where: str | None) -> tuple[Store, Library | None]:
    """The tables that are asked; for those of this machine, with the library that they are of."""
    from geminids.core.signals import delayed

    try:
        with delayed():
            from geminids.scale.places.stores import open_store
            from geminids.scale.sql import database as _database  # noqa: F401 - whether it can be loaded
            from geminids.scale.tables.run import up_to_date_tables

            if where is not None:
                return open_store(where), None
    except ModuleNotFoundError as error:
        from geminids.scale.places.errors import ScaleNotInstalledError

        raise ScaleNotInstalledError(str(error.name)) from error
    library = choices.open_library()
    with stoppable("Bringing tables up to date", STOPPED) as work:
        return open_store(up_to_date_tables(library, work)), library


def _check_output(output: str, library: Library) -> None:
    """Refuse a file among those of agents."""
    from geminids.core.config import is_below
    from geminids.core.errors import AgentFolderError

    if is_below(str(absolute(output)), library.agents_folders):
        raise AgentFolderError(output)


def _answer(
    choices: Choices, store: Store, query: str, wish: sql_output.Wish, library: Library | None
) -> int:
    """Ask, and print or write what is answered; the exit code."""
    from geminids.faces.cli import sql_output
    from geminids.scale.sql.answers import Answer
    from geminids.scale.sql.database import MEMORY, Database
    from geminids.scale.sql.errors import NoTablesError, TooLargeError

    with ExitStack() as stack:
        try:
            with waiting("Asking"):
                database = stack.enter_context(Database(store))
                stack.push(partial(_leave_behind, database))
                tell_strays(database.strays)
                notes = sql_output.notes(database, query, is_own=library is not None)
                answer = Answer(*database.ask(query))
        except NoTablesError:
            if library is None:
                raise
            from geminids.faces.cli.sessions import tell_nothing_found

            tell_nothing_found(library.searched_places)
            return NOTHING_FOUND
        try:
            code = sql_output.give(choices, answer, wish)
        except MemoryError as error:
            # Some rows fit into what the engine has, and not into what they are printed from.
            raise TooLargeError(MEMORY) from error
        for note in notes:
            say(note)
        return code


class _OutOfTimeError(KeyboardInterrupt):
    """The time of a query is over, which ends it like Ctrl-C."""


@contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """Interrupt what takes longer. Raises TooSlowError."""
    if seconds is None:
        yield
        return
    import signal

    from geminids.scale.sql.errors import TooSlowError

    if not hasattr(signal, "setitimer"):
        raise click.UsageError("--timeout does not work on this system.")

    def end(*_: object) -> None:
        raise _OutOfTimeError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    except _OutOfTimeError as error:
        raise TooSlowError(seconds) from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _leave_behind(database: Database, _: object, error: BaseException | None, __: object) -> None:
    """Have this process end without waiting for a query that cannot be interrupted."""
    if database.is_left_behind:
        import atexit
        import os

        from geminids.core.signals import told_to_end

        code = PARTLY_DONE if isinstance(error, _OutOfTimeError) else told_to_end() or INTERRUPTED
        atexit.register(os._exit, code)
