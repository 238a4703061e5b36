"""Bundles that other processes read, while this one writes: as many cores as there are, one SQLite file.

A worker is a Python of its own, on every system alike: nothing that threads here have open is copied into it,
and no program that uses the library is started again. It is handed bundles through a pipe and hands back
their rows, in pickles. The answers are taken in the order of the questions, so an index is the same, byte for
byte, whoever read for it; and only so many are asked for ahead as memory is meant for.

Whatever becomes of a worker, nothing is lost: what it does not answer is read here. It ends by itself when
its pipe does, which the system closes if this process is killed.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import IO

from geminids.core.disk import REAL, heed
from geminids.sync.bundle_rows import BundleRows, Task, bundle_rows, weight
from geminids.sync.forgotten_filter import Graves

MOST = 4
"""Workers that one writer keeps up with."""
_BATCH = 2_000_000
"""Bytes of session files that a worker is handed at once."""
_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from geminids.sync.workers import serve; serve()"
)
_Question = tuple[Sequence[Task], Future[list[BundleRows] | None]]


def wanted_workers(jobs: int | None) -> int:
    """How many workers to start where the user settled some number of processes, or none."""
    if jobs is None:
        affinity = getattr(os, "sched_getaffinity", None)
        jobs = len(affinity(0)) if affinity else os.cpu_count() or 1
    # Where there is no Python to start (a program that holds one), all is read here.
    return min(jobs, MOST) if jobs > 1 and sys.executable else 0


class Workers:
    """Processes that read; a context at the end of which there are none."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._lock = Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[Thread] = []
        self._left = 0
        """Those that still answer."""

    def __enter__(self) -> Workers:
        try:
            for _ in range(self._number):
                self._start()
            self._left = len(self._processes)
            for process in self._processes:
                thread = Thread(target=self._hand_over, args=(process,), name="reading", daemon=True)
                thread.start()
                self._threads.append(thread)
        except BaseException:
            self._end(at_once=True)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._end(at_once=kind is not None)

    def _end(self, *, at_once: bool) -> None:
        if at_once:
            for process in self._processes:
                process.kill()
        for _ in self._threads:
            self._questions.put(None)
        for thread in self._threads:
            thread.join()
        for process in self._processes:
            _closed(process)

    def read(self, tasks: Iterable[Task]) -> Iterator[BundleRows]:
        """The rows of all bundles, in their order."""
        if not self._processes:
            yield from _rows(tasks)
            return
        asked: deque[_Question] = deque()
        for batch in _batches(tasks):
            asked.append((batch, Future()))
            self._questions.put(asked[-1])
            if len(asked) > 2 * self._number:
                yield from _answer(asked.popleft())
        while asked:
            yield from _answer(asked.popleft())

    def _start(self) -> None:
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # What it has to say is met again by whoever reads in its place.
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            # No room for another process: the others do it, or this one.
            return
        self._processes.append(process)

    def _hand_over(self, process: subprocess.Popen[bytes]) -> None:
        """Hand questions to a process as long as there are any, and its answers back."""
        assert process.stdin
        assert process.stdout
        is_new = True
        while (question := self._questions.get()) is not None:
            batch, answer = question
            try:
                if is_new:
                    _send(process.stdin, sys.path)
                    _send(process.stdin, REAL.largest())
                    is_new = False
                _send(process.stdin, batch)
                answer.set_result(pickle.load(process.stdout))
            except Exception:  # noqa: BLE001 - any trouble is the worker's, and what it was asked is read here
                process.kill()
                answer.set_result(None)
                if self._is_not_the_last():
                    return

    def _is_not_the_last(self) -> bool:
        """Whether others still answer: somebody has to say that nobody does."""
        with self._lock:
            self._left -= 1
            return self._left > 0


def _send(pipe: IO[bytes], value: object) -> None:
    pickle.dump(value, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()


def _closed(process: subprocess.Popen[bytes]) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe
        try:
            pipe.close()
        except OSError:
            # What was not sent yet has nobody to go to.
            continue
    process.wait()


def _batches(tasks: Iterable[Task]) -> Iterator[Sequence[Task]]:
    batch: list[Task] = []
    size = 0
    for task in tasks:
        batch.append(task)
        size += weight(task.bundle)
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _answer(question: _Question) -> Iterator[BundleRows]:
    batch, answer = question
    rows = answer.result()
    return iter(rows) if rows is not None else _rows(batch)


def _rows(batch: Iterable[Task]) -> Iterator[BundleRows]:
    nothing_forgotten = Graves({})
    return (bundle_rows(task, nothing_forgotten) for task in batch)


def serve() -> None:
    """Answer questions until there are no more: all that a worker does."""
    # Whoever started us ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    try:
        largest: int = pickle.load(questions)
        heed(lambda: largest)
        while True:
            _send(answers, _read_if_possible(pickle.load(questions)))
    except (EOFError, OSError):
        # Nobody asks, or waits, any more. What is still to be written has nobody to go to.
        os._exit(0)


def _read_if_possible(batch: Sequence[Task]) -> list[BundleRows] | None:
    """The rows of bundles; None if there is any trouble, which is met again where somebody can say it."""
    try:
        return list(_rows(batch))
    except Exception:  # noqa: BLE001 - the same error is raised by who reads in our place
        return None
