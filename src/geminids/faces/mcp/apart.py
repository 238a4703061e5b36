"""Answers from a process of their own, which is let go when nobody has asked for a while.

A server is there as long as its agent, often for hours, and is asked now and then. What it takes to answer
(the library, what hides secrets, a session of many megabytes) is in memory only around a question.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any, NamedTuple

from geminids.core.errors import PARTLY_DONE, GeminidsError

if TYPE_CHECKING:
    from geminids.faces.mcp.answering import Wanted
    from geminids.faces.mcp.answers import Answer
    from geminids.faces.mcp.callers import Call
    from geminids.faces.mcp.syncing import Tell
    from geminids.faces.mcp.tools import Tool

IDLE = 60.0
"""Seconds without a question after which the process is let go."""
LONGEST_LINE = 4_000_000
"""Bytes of what it says at once."""


class EndedError(GeminidsError):
    """The process has ended before it has answered."""

    exit_code = PARTLY_DONE

    def __init__(self) -> None:
        super().__init__(
            "The process that reads sessions has ended. Ask again; if it ends again, ask for less."
        )


class _Question(NamedTuple):
    """What somebody waits for."""

    process: asyncio.subprocess.Process
    answered: asyncio.Future[dict[str, Any]]
    tell: Tell | None


class AnswersApart:
    """The same as `Answers`, from another process."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._numbers = count(1)
        self._waiting: dict[int, _Question] = {}
        self._letting_go: asyncio.TimerHandle | None = None
        self._tasks: set[asyncio.Task[Any]] = set()

    def begin(self) -> None:
        """Have the process started."""
        self._keep(asyncio.create_task(self._started()))

    async def answer(self, tool: Tool, given: dict[str, Any], call: Call, tell: Tell) -> Answer:
        """What a tool gives. Raises GeminidsError."""
        from geminids.faces.mcp.answers import Answer

        answer = await self._ask({"tool": tool.name, "given": given, "call": list(call)}, tell)
        return Answer(answer["text"], answer["structured"])

    async def completed(self, beginning: str, call: Call) -> tuple[list[str], int]:
        """What a beginning of an id may mean, and how many that are."""
        answer = await self._ask({"beginning": beginning, "call": list(call)}, None)
        return answer["values"], answer["total"]

    def end(self) -> None:
        """Let the process go at once."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def _ask(self, question: dict[str, Any], tell: Tell | None) -> dict[str, Any]:
        process = await self._started()
        number, answered = next(self._numbers), asyncio.get_running_loop().create_future()
        self._waiting[number] = _Question(process, answered, tell)
        try:
            await self._say(process, {"id": number, **question})
            answer: dict[str, Any] = await answered
        except asyncio.CancelledError:
            # A process that has ended works on nothing.
            with suppress(EndedError):
                await asyncio.shield(self._say(process, {"cancel": number}))
            raise
        finally:
            self._waiting.pop(number, None)
            self._let_go_later()
        if "error" in answer:
            raise GeminidsError(answer["error"])
        return answer

    async def _say(self, process: asyncio.subprocess.Process, message: dict[str, Any]) -> None:
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(message).encode() + b"\n")
            await process.stdin.drain()
        except OSError as error:
            raise EndedError from error

    async def _started(self) -> asyncio.subprocess.Process:
        async with self._starting:
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", "geminids.faces.mcp.answering"),
                    json.dumps(self._wanted._asdict()),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    limit=LONGEST_LINE,
                )
                self._keep(asyncio.create_task(self._listen(self._process)))
            # Many agents start a server and never ask it.
            self._let_go_later()
            return self._process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Hand on what the process says; whoever waits when it ends is told so."""
        import msgspec

        assert process.stdout is not None
        while line := await process.stdout.readline():
            told = msgspec.json.decode(line)
            question = self._waiting.get(told["id"])
            if question is None:
                continue
            if "progress" in told:
                if question.tell is not None:
                    self._keep(asyncio.create_task(_tell(question.tell, told["progress"])))
            elif not question.answered.done():
                question.answered.set_result(told)
        await process.wait()
        for question in self._waiting.values():
            if question.process is process and not question.answered.done():
                question.answered.set_exception(EndedError())

    def _keep(self, task: asyncio.Task[Any]) -> None:
        """Hold on to a task until it is done: the loop itself would forget it."""
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _let_go_later(self) -> None:
        if self._letting_go is not None:
            self._letting_go.cancel()
        self._letting_go = asyncio.get_running_loop().call_later(IDLE, self._let_go)

    def _let_go(self) -> None:
        if not self._waiting and self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process = None


async def _tell(tell: Tell, progress: list[Any]) -> None:
    # A client that hears nothing of how far it is still gets its answer.
    with suppress(Exception):
        await tell(*progress)
