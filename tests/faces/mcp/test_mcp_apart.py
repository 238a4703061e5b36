"""Answers from a process of their own: it is let go, may be killed, and is told what nobody waits for."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from geminids.core.errors import GeminidsError
from geminids.faces.mcp import apart
from geminids.faces.mcp.answering import Wanted
from geminids.faces.mcp.apart import AnswersApart, EndedError
from geminids.faces.mcp.callers import Call
from geminids.faces.mcp.tools import LIST_SESSIONS, READ_SESSION
from tests.support.homes import write_session

CALL = Call("a-client", {}, ())


async def nobody(*_: object) -> None:
    """Hears nothing."""


def apart_from(folder: Path, talk: Callable[[AnswersApart], Awaitable[Any]]) -> Any:
    """What comes of asking another process about a home with one session."""
    write_session(folder / "home", prompt="plant the harvest")
    where = ["--home", str(folder / "home"), "--data", str(folder / "data")]
    wanted = Wanted([str(folder / "home")], str(folder / "data"), False, False, where)

    async def run() -> Any:
        answers = AnswersApart(wanted)
        try:
            return await asyncio.wait_for(talk(answers), 60)
        finally:
            process = answers._process
            answers.end()
            if process is not None:
                await process.wait()

    return asyncio.run(run())


async def until_asked(answers: AnswersApart, questions: int) -> None:
    """Wait until so many questions are under way."""
    while len(answers._waiting) < questions:  # noqa: ASYNC110 - nothing else tells
        await asyncio.sleep(0)


async def listed(answers: AnswersApart) -> int:
    answer = await answers.answer(LIST_SESSIONS, {}, CALL, nobody)
    return len(answer.structured["sessions"])


def test_who_has_not_been_asked_for_a_while_is_let_go_and_comes_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(apart, "IDLE", 0.2)

    async def talk(answers: AnswersApart) -> tuple[int, int, bool]:
        answers.begin()
        first = await listed(answers)
        process = answers._process
        assert process is not None
        await process.wait()
        second = await listed(answers)
        return first, second, answers._process is process

    assert apart_from(tmp_path, talk) == (1, 1, False)


def test_where_it_is_killed_whoever_waits_is_told_and_the_next_is_answered(tmp_path: Path) -> None:
    async def talk(answers: AnswersApart) -> int:
        assert await listed(answers) == 1
        waiting = asyncio.create_task(answers.answer(READ_SESSION, {"id": "1f0c9a2b"}, CALL, nobody))
        await until_asked(answers, 1)
        assert answers._process is not None
        answers._process.kill()
        with pytest.raises(EndedError):
            await waiting
        return await listed(answers)

    assert apart_from(tmp_path, talk) == 1


def test_what_nobody_waits_for_is_taken_back(tmp_path: Path) -> None:
    async def talk(answers: AnswersApart) -> int:
        asked = [asyncio.create_task(listed(answers)) for _ in range(5)]
        await until_asked(answers, 5)
        for one in asked:
            one.cancel()
        done = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(one, asyncio.CancelledError) for one in done)
        assert not answers._waiting
        return await listed(answers)

    assert apart_from(tmp_path, talk) == 1


def test_what_is_wrong_comes_back_in_words(tmp_path: Path) -> None:
    async def talk(answers: AnswersApart) -> str:
        with pytest.raises(GeminidsError) as wrong:
            await answers.answer(READ_SESSION, {"id": "nothing-like-it"}, CALL, nobody)
        return str(wrong.value)

    assert apart_from(tmp_path, talk).startswith("No session 'nothing-like-it'.")


@pytest.mark.slow
def test_an_answer_in_which_much_is_read_for_the_first_time_says_how_far_it_is(tmp_path: Path) -> None:
    for number in range(6_000):
        native_id = f"{number:08x}-0000-4000-8000-00000000000d"
        write_session(tmp_path / "home", native_id, prompt=f"harvest {number} {os.urandom(200).hex()}", day=3)
    heard: list[tuple[int, int]] = []

    async def hear(done: int, of: int, _: str) -> None:
        heard.append((done, of))

    async def talk(answers: AnswersApart) -> Any:
        return (await answers.answer(LIST_SESSIONS, {}, CALL, hear)).structured

    answer = apart_from(tmp_path, talk)
    assert answer["sessions"]
    assert heard
    assert all(done <= of for done, of in heard)
