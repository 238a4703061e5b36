"""Answers from a process of their own, which is let go when nobody has asked for a while.

A server is there as long as its agent, often for hours, and is asked now and then. What it takes to answer
(the library, what hides secrets, a session of many megabytes) is in memory only around a question.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING, Any

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


class AnswersApart:
    """The same as `Answers`, from another process."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._process: asyncio.subprocess.Process | None = None
        self._starting = asyncio.Lock()
        self._listening: asyncio.Task[None] | None = None
        self._numbers = count(1)
        self._waiting: dict[int, tuple[asyncio.Future[dict[str, Any]], Tell | None]] = {}
        self._letting_go: asyncio.TimerHandle | None = None
        self._telling: set[asyncio.Task[Any]] = set()

    def begin(self) -> None:
        """Have the process started."""
        task = asyncio.create_task(self._started())
        self._telling.add(task)
        task.add_done_callback(self._telling.discard)

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
        self._waiting[number] = answered, tell
        try:
            await self._say(process, {"id": number, **question})
            answer: dict[str, Any] = await answered
        except asyncio.CancelledError:
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
            if self._letting_go is not None:
                self._letting_go.cancel()
            if self._process is None or self._process.returncode is not None:
                self._process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-P", "-m", "geminids.faces.mcp.answering"),
                    json.dumps(self._wanted._asdict()),
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    limit=LONGEST_LINE,
                )
                self._listening = asyncio.create_task(self._listen(self._process))
            return self._process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Hand on what the process says; whoever waits when it ends is told so."""
        import msgspec

        assert process.stdout is not None
        while line := await process.stdout.readline():
            told = msgspec.json.decode(line)
            answered, tell = self._waiting.get(told["id"], (None, None))
            if "progress" not in told:
                if answered is not None and not answered.done():
                    answered.set_result(told)
            elif tell is not None:
                telling = asyncio.create_task(_tell(tell, told["progress"]))
                self._telling.add(telling)
                telling.add_done_callback(self._telling.discard)
        await process.wait()
        for answered, _ in self._waiting.values():
            if not answered.done():
                answered.set_exception(EndedError())

    def _let_go_later(self) -> None:
        if self._letting_go is not None:
            self._letting_go.cancel()
        self._letting_go = asyncio.get_running_loop().call_later(IDLE, self._let_go)

    def _let_go(self) -> None:
        if not self._waiting and self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()


async def _tell(tell: Tell, progress: list[Any]) -> None:
    await tell(*progress)
