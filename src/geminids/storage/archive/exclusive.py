"""A while in which one process alone keeps copies, from the lock to the packs that are tidied at its end."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from geminids.storage.archive.failures import FailedToKeepError
from geminids.storage.archive.keeper import Writer, naming_trouble
from geminids.storage.archive.lock import alone, trouble
from geminids.storage.archive.rebuild import manifest_to_write
from geminids.storage.archive.rewrite import tidy


@contextmanager
def writing(
    folder: str,
    said: list[str],
    patience: float,
    tell: Callable[[str], None] | None,
    *,
    is_thorough: bool = False,
) -> Iterator[Writer]:
    """A while in which this process alone keeps copies; what is kept is durable when it ends.

    An error takes back what was kept since the last `commit`: half of something must not stay.
    """
    with alone(folder, patience, tell), naming_trouble(folder):
        try:
            manifest, cut = manifest_to_write(folder, said, is_thorough=is_thorough)
        except OSError as error:
            raise trouble(folder, error) from error
        try:
            writer = Writer(folder, manifest, cut)
            try:
                yield writer
                writer.commit()
                tidy(writer)
            except BaseException:
                # What went wrong first is what counts; half a transaction is undone by whoever opens it next.
                with suppress(OSError, sqlite3.Error, FailedToKeepError):
                    writer.roll_back()
                raise
            finally:
                writer.close()
        finally:
            manifest.close()
