"""The process that answers for a server: it holds the library, what hides secrets, and opened sessions.

    python -P -m geminids.faces.mcp.answering '{"homes": [], "hides": true, …}'

A line of JSON is a question, or takes one back; lines of JSON are what it says: how far it is, and answers.
It ends when its stdin does, whatever it is in the middle of.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Sequence
from functools import partial
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import msgspec

from geminids.core.errors import GeminidsError
from geminids.faces.mcp.callers import Call
from geminids.faces.mcp.faults import in_words
from geminids.faces.serving.collecting import collect_seldom
from geminids.faces.serving.memory import give_back, keep_little

if TYPE_CHECKING:
    from geminids.faces.mcp.answers import Answers

RESTING = 1.0
"""Seconds after an answer in which nothing more is asked, as a rule."""


class Wanted(NamedTuple):
    """Which sessions are asked for, and how they are told."""

    homes: Sequence[str]
    data: str | None
    sample: bool
    hides: bool
    options: Sequence[str] | None
    """The words of a sync of these sessions; None if the index is used as it is."""


class Answering:
    """Answers the questions that come in."""

    def __init__(self, answers: Answers, out: IO[bytes]) -> None:
        self._answers = answers
        self._out = out
        self._asked: dict[int, asyncio.Task[None]] = {}
        self._resting: asyncio.TimerHandle | None = None

    def hear(self, line: bytes) -> None:
        """Take a question, or take one back."""
        told = msgspec.json.decode(line)
        if "cancel" in told:
            if task := self._asked.get(told["cancel"]):
                task.cancel()
            return
        number = told["id"]
        task = asyncio.create_task(self._answer(number, told))
        self._asked[number] = task
        task.add_done_callback(lambda _: self._asked.pop(number, None))

    async def _answer(self, number: int, told: dict[str, Any]) -> None:
        try:
            answer = await in_words(self._worked_out(number, told))
        except GeminidsError as error:
            answer = {"error": str(error)}
        self._say({"id": number, **answer})
        self._rest_later()

    async def _worked_out(self, number: int, told: dict[str, Any]) -> dict[str, Any]:
        from geminids.faces.mcp.tools import BY_NAME

        call = Call(*told["call"])
        if "beginning" in told:
            values, total = await self._answers.completed(told["beginning"], call)
            return {"values": values, "total": total}

        async def tell(done: int, of: int, what: str) -> None:
            self._say({"id": number, "progress": [done, of, what]})

        answer = await self._answers.answer(BY_NAME[told["tool"]], told["given"], call, tell)
        return answer._asdict()

    def _rest_later(self) -> None:
        if self._resting is not None:
            self._resting.cancel()
        self._resting = asyncio.get_running_loop().call_later(RESTING, give_back)

    def _say(self, message: dict[str, Any]) -> None:
        self._out.write(msgspec.json.encode(message) + b"\n")
        self._out.flush()


def main(wanted: Wanted) -> None:
    """Answer until stdin ends."""
    collect_seldom()
    keep_little()
    # Whatever else is printed here is for people.
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    asyncio.run(_serve(wanted, out))


async def _serve(wanted: Wanted, out: IO[bytes]) -> None:
    from geminids.core.config import current_folder
    from geminids.faces.mcp.answers import Answers
    from geminids.faces.serving.libraries import Libraries
    from geminids.library import open_library

    opening = partial(open_library, wanted.homes, wanted.data, sample=wanted.sample)
    environment = dict(os.environ)
    answers = Answers(
        Libraries(opening, syncs=wanted.options is not None),
        hides=wanted.hides,
        options=wanted.options,
        environment=environment,
        here=current_folder(environment),
    )
    answering, loop = Answering(answers, out), asyncio.get_running_loop()

    def listen() -> None:
        for line in sys.stdin.buffer:
            loop.call_soon_threadsafe(answering.hear, line)
        os._exit(0)

    Thread(target=listen, daemon=True).start()
    answers.begin()
    await asyncio.Event().wait()


if __name__ == "__main__":
    main(Wanted(**msgspec.json.decode(sys.argv[1])))
