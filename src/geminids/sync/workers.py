"""Bundles that other processes read, while this one writes into the one SQLite file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from geminids.core import workers
from geminids.core.grouping import grouped
from geminids.sync.bundle_rows import BundleRows, Task, bundle_rows, weight
from geminids.sync.forgotten_filter import Graves

_BATCH = 2_000_000
"""Bytes of session files that a worker is handed at once."""


class Workers(workers.Workers):
    """Processes that read; a context at the end of which there are none."""

    def __init__(self, number: int) -> None:
        super().__init__(number, f"{__name__}:{rows_of_batch.__name__}")

    def read(self, tasks: Iterable[Task]) -> Iterator[BundleRows]:
        """The rows of all bundles, in their order."""
        if not self._processes:
            # One by one: nobody waits for a batch.
            return (bundle_rows(task, Graves({})) for task in tasks)
        batches = grouped(tasks, lambda task: weight(task.bundle), _BATCH)
        return (rows for answer in self.answers(batches) for rows in answer)


def rows_of_batch(batch: Sequence[Task]) -> list[BundleRows]:
    """The rows of some bundles: what a worker is asked for."""
    nothing_forgotten = Graves({})
    return [bundle_rows(task, nothing_forgotten) for task in batch]
