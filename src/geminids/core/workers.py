"""Other processes that answer what this one asks: as many cores as there are, one that gathers.

A worker is a Python of its own, on every system alike: nothing that threads here have open is copied into it,
and no program that uses the library is started again. It is handed questions through a pipe and hands back
their answers, in pickles. These are taken in the order of the questions, so what is made of them is the same,
byte for byte, whoever answered; and only so many are asked ahead as memory is meant for.

Whatever becomes of a worker, nothing is lost: what it does not answer is answered here. It ends by itself
when its pipe does, which the system closes if this process is killed.
"""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from importlib import import_module
from queue import SimpleQueue
from threading import Lock, Thread
from types import TracebackType
from typing import IO, Any, Self

from geminids.core.disk import REAL, heed

MOST = 4
"""Workers that one process keeps up with."""
_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from geminids.core.workers import serve; serve()"
)
_Question = tuple[Any, Future[Any]]


class _Unanswered:
    """The answer of a worker that has none: it is asked for again here, where somebody can say why."""


def wanted_workers(jobs: int | None) -> int:
    """How many workers to start where the user settled some number of processes, or none."""
    if jobs is None:
        affinity = getattr(os, "sched_getaffinity", None)
        jobs = len(affinity(0)) if affinity else os.cpu_count() or 1
    # Where there is no Python to start (a program that holds one), all is done here.
    return min(jobs, MOST) if jobs > 1 and sys.executable else 0


class Workers:
    """Processes that answer questions by a function; a context at the end of which there are none."""

    def __init__(self, number: int, function: str, holding: Sequence[int] = ()) -> None:
        """Start so many; the function is named by its module, a colon and its name.

        What is `holding` a lock is handed on, so that it is held until the last of them has ended, also where
        this process is killed.
        """
        self._holding = holding
        self._number = number
        self._function = function
        self._questions: SimpleQueue[_Question | None] = SimpleQueue()
        self._lock = Lock()
        self._processes: list[subprocess.Popen[bytes]] = []
        self._threads: list[Thread] = []
        self._left = 0
        """Those that still answer."""

    def __enter__(self) -> Self:
        try:
            for _ in range(self._number):
                self._start()
            self._left = len(self._processes)
            for process in self._processes:
                thread = Thread(target=self._hand_over, args=(process,), name="asking", daemon=True)
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

    def answers(self, questions: Iterable[Any]) -> Iterator[Any]:
        """The answers to all questions, in their order."""
        if not self._processes:
            yield from map(_named(self._function), questions)
            return
        asked: deque[_Question] = deque()
        for question in questions:
            asked.append((question, Future()))
            self._questions.put(asked[-1])
            if len(asked) > 2 * self._number:
                yield self._answer(*asked.popleft())
        while asked:
            yield self._answer(*asked.popleft())

    def _answer(self, question: Any, answer: Future[Any]) -> Any:
        given = answer.result()
        return _named(self._function)(question) if isinstance(given, _Unanswered) else given

    def _start(self) -> None:
        try:
            process = subprocess.Popen(
                [sys.executable, "-c", _START],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                # What it has to say is met again by whoever reads in its place.
                stderr=subprocess.DEVNULL,
                pass_fds=self._holding,
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
            asked, answer = question
            try:
                if is_new:
                    _send(process.stdin, sys.path)
                    _send(process.stdin, (self._function, REAL.largest()))
                    is_new = False
                _send(process.stdin, asked)
                answer.set_result(pickle.load(process.stdout))
            except Exception:  # noqa: BLE001 - any trouble is the worker's, and what it was asked is answered here
                process.kill()
                answer.set_result(_Unanswered())
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


def _named(function: str) -> Callable[[Any], Any]:
    module, _, name = function.partition(":")
    answer: Callable[[Any], Any] = getattr(import_module(module), name)
    return answer


def serve() -> None:
    """Answer questions until there are no more: all that a worker does."""
    # Whoever started us ends us.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    try:
        function, largest = pickle.load(questions)
        heed(lambda: largest)
        answer = _named(function)
        while True:
            _send(answers, _answer_if_possible(answer, pickle.load(questions)))
    except (EOFError, OSError):
        # Nobody asks, or waits, any more. What is still to be written has nobody to go to.
        os._exit(0)


def _answer_if_possible(answer: Callable[[Any], Any], question: Any) -> Any:
    """The answer; if there is any trouble, it is met again where somebody can say it."""
    try:
        return answer(question)
    except Exception:  # noqa: BLE001 - the same error is raised by who answers in our place
        return _Unanswered()
