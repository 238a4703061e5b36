"""Changing the durable file: all of a change is made or nothing, by one process at a time."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from geminids.storage.durable import database
from geminids.storage.durable.database import (
    FILE_NAME,
    VERSION,
    NewerStoreError,
    alone,
    back_up,
    beside,
    check,
    explained,
    is_damage,
    is_expected,
    make_private,
    new_file,
    opened,
    refuse_strange,
    step_forward,
    sum_up,
)

if TYPE_CHECKING:
    from pathlib import Path


@contextmanager
def changing(folder: "Path", *, asked: bool) -> Iterator[sqlite3.Connection]:
    """A change that no other process disturbs; all of it is kept, or nothing.

    What the user `asked` for waits longer, is on the disk when this ends, is copied once a day, and mends a
    damaged file, which is then said with `RecoveredError`. For anything else such a file is left alone.
    """
    file = folder / FILE_NAME
    make_private(folder)
    until = time.monotonic() + (database.PATIENCE if asked else database.LITTLE_PATIENCE)
    with alone(file, until):
        try:
            with _transaction(file, until, asked=asked) as connection:
                yield connection
        except sqlite3.Error as error:
            mend = asked and is_damage(error)
            raise (_mended(file) if mend else explained(error, file)) from error


@contextmanager
def _transaction(file: "Path", until: float, *, asked: bool) -> Iterator[sqlite3.Connection]:
    if not is_expected(file):
        new_file(file).replace(file)
    refuse_strange(file)
    _keep_private(file)
    with closing(opened(file, max(0.0, until - time.monotonic()))) as connection:
        _bring_up_to_date(connection, file)
        connection.execute("PRAGMA synchronous = FULL" if asked else "PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            sum_up(connection)
            connection.execute("COMMIT")
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    if asked:
        _back_up_if_possible(file)


def _keep_private(file: "Path") -> None:
    """Take rights from others that a file has got on its way, such as from a copy that was put back."""
    if os.name != "nt" and file.stat().st_mode & 0o077:
        file.chmod(0o600)


def _bring_up_to_date(connection: sqlite3.Connection, file: "Path") -> None:
    version = check(connection)
    if version > VERSION:
        raise NewerStoreError(file, version)
    if version < VERSION:
        back_up(file, file.with_name(f"{file.name}.v{version}.bak"))
        step_forward(connection, version, VERSION)


def _back_up_if_possible(file: "Path") -> None:
    try:
        back_up(file, beside(file, ".bak"))
    except (OSError, sqlite3.Error):
        # What was asked for is done; a copy can be made the next time.
        return


def _mended(file: "Path") -> Exception:
    """What to say after a damaged file was mended, or could not be."""
    from geminids.storage.durable.recovery import recover

    try:
        return recover(file)
    except sqlite3.Error as error:
        return explained(error, file)
