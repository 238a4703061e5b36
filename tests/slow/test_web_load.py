"""Many who ask at once while agents write: everybody is answered, and nobody hears of less than before."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from threading import Event
from typing import Any, NamedTuple

import pytest
from starlette.requests import Request
from starlette.responses import Response

from geminids.core.errors import GeminidsError
from geminids.faces.documents.base import Document
from geminids.faces.serving.libraries import Libraries
from geminids.faces.web.answers import AnswerCache, Answers
from geminids.faces.web.endpoints import Asked as QuestionOf
from geminids.faces.web.endpoints import Desk, Endpoint
from geminids.library import open_library
from tests.conftest import RecordProperty
from tests.support.connections import to_be_closed
from tests.support.homes import FIRST_ID, write_session
from tests.support.large_homes import write_large_home
from tests.support.web_apps import Served, served, wait_until

ID = f"gemini:{FIRST_ID}"
CLIENTS = 20
REQUESTS = 50
SESSIONS = 150
NEW = 30
"""Sessions that appear meanwhile."""
WORDS = (
    "balan",
    "corek",
    "denio",
    "fimu",
    "gulan",
    '"coran denek"',
    "balan -corio",
    "since:900d gulu",
    "de*",
)


class Asked(NamedTuple):
    """What one request was, and what came of it."""

    path: str
    status: int
    answer: Any
    seconds: float


def questions(client: int) -> Iterator[str]:
    """What somebody asks, one thing after another; hardly anything twice."""
    for number in count(client * REQUESTS):
        word = WORDS[number % len(WORDS)]
        yield from (
            "/api/overview",
            f"/api/sessions?limit={1 + number % 100}",
            f"/api/search?q={word}&width={40 + number % 200}",
            f"/api/session/messages?id={ID}&start={number % 30}",
            f"/api/sessions?q={word}&limit={1 + number % 50}",
            f"/api/facets?q={word}&since={900 + number}d",
            f"/api/session/opening?id={ID}&detail=tools",
            f"/api/usage?by=model&limit={1 + number}",
            f"/api/projects?limit={1 + number % 20}",
            f"/api/session/outline?id={ID}",
        )


def ask_often(server: Served, client: int) -> list[Asked]:
    asked = []
    with server.client() as asking:
        for _, path in zip(range(REQUESTS), questions(client), strict=False):
            began = time.monotonic()
            answer = asking.get(path)
            asked.append(Asked(path, answer.status_code, answer.json(), time.monotonic() - began))
    return asked


def keep_writing(server: Served, home: Path, prepared: Path, log: Path, stop: Event) -> int:
    """Copy sessions into a home and let one grow until it is enough; how many messages were added."""
    files = sorted(prepared.glob(".gemini/tmp/*/chats/*.jsonl"))
    assert len(files) == NEW
    added = 0
    with server.client() as client:
        while files or not stop.is_set():
            if files:
                file = files.pop()
                shutil.copy2(file, home / file.relative_to(prepared))
            with log.open("a") as growing:
                growing.write(prompt(added))
            added += 1
            if added % 3 == 0:
                assert client.post("/api/sync").status_code == 200
    return added


def prompt(number: int) -> str:
    said = [{"text": f"And then {number}, gulan."}]
    at = "2026-05-01T11:00:00.000Z"
    return json.dumps({"id": f"more-{number}", "timestamp": at, "type": "user", "content": said}) + "\n"


@pytest.mark.usefixtures("without_copies")
def test_all_are_answered_while_a_home_grows(tmp_path: Path, record_property: RecordProperty) -> None:
    home, prepared = tmp_path / "home", tmp_path / "prepared"
    write_large_home(home, range(SESSIONS))
    write_large_home(prepared, range(SESSIONS, SESSIONS + NEW))
    log = write_session(home)
    with served(home, tmp_path / "data") as server, server.client() as client:
        wait_until(lambda: client.get("/api/sessions").status_code == 200, "the first index")
        wait_until(lambda: total(client.get("/api/sessions").json()) == SESSIONS + 1, "all sessions")
        stop = Event()
        with ThreadPoolExecutor(CLIENTS + 1) as pool:
            writing = pool.submit(keep_writing, server, home, prepared, log, stop)
            try:
                heard = list(pool.map(partial(ask_often, server), range(CLIENTS)))
            finally:
                stop.set()
            added = writing.result()
        assert client.post("/api/sync").status_code == 200
        assert total(client.get("/api/sessions").json()) == SESSIONS + NEW + 1
        story = client.get("/api/session", params={"id": ID}).json()
        assert story["messages"] == 2 + added, "not a line was missed"
        server.process.terminate()
        _, said = server.process.communicate(timeout=30)
        assert said == ""
    every = [asked for one in heard for asked in one]
    assert len(every) == CLIENTS * REQUESTS
    assert [(asked.path, asked.status, asked.answer) for asked in every if asked.status != 200] == []
    for one in heard:
        assert_nothing_vanished(one)
    taken = sorted(asked.seconds for asked in every)
    middle, late = taken[len(taken) // 2], taken[int(len(taken) * 0.95)]
    record_property(
        "counts", f"web: {len(every)} requests of {CLIENTS}, p50 {middle:.3f} s, p95 {late:.3f} s"
    )


def total(answer: Any) -> int:
    found: int = answer["total"]
    return found


def assert_nothing_vanished(asked: list[Asked]) -> None:
    """Sessions and messages only came, so nobody may see fewer of them than a moment ago."""
    for beginning in ("/api/sessions?limit", "/api/session/messages"):
        seen = [total(one.answer) for one in asked if one.path.startswith(beginning)]
        assert all(before <= after for before, after in pairwise(seen)), (beginning, seen)


# Answers that are worked out once


class Work:
    """An answer that takes a moment, and how often it was worked out."""

    def __init__(self, error: Exception | None = None) -> None:
        self.times = 0
        self._error = error

    async def __call__(self) -> bytes:
        self.times += 1
        await asyncio.sleep(0.05)
        if self._error:
            raise self._error
        return b"an answer"


def test_what_twenty_ask_at_once_is_worked_out_once() -> None:
    async def ask() -> tuple[list[bytes], int]:
        kept, work = AnswerCache(), Work()
        answers = await asyncio.gather(*(kept.get("a question", work) for _ in range(20)))
        return [*answers, await kept.get("a question", work)], work.times

    assert asyncio.run(ask()) == ([b"an answer"] * 21, 1)


def test_a_question_without_an_answer_is_asked_again() -> None:
    async def ask() -> tuple[list[object], int]:
        kept, work = AnswerCache(), Work(GeminidsError("No."))
        many = (kept.get("a question", work) for _ in range(3))
        refused: list[object] = list(await asyncio.gather(*many, return_exceptions=True))
        again = await asyncio.gather(kept.get("a question", work), return_exceptions=True)
        return [*refused, *again], work.times

    refused, times = asyncio.run(ask())
    assert [type(one) for one in refused] == [GeminidsError] * 4
    assert times == 2


def test_who_goes_away_takes_nothing_from_the_others() -> None:
    async def ask() -> tuple[bytes, int]:
        kept, work = AnswerCache(), Work()
        leaving = asyncio.create_task(kept.get("a question", work))
        staying = asyncio.create_task(kept.get("a question", work))
        await asyncio.sleep(0.01)
        leaving.cancel()
        return await staying, work.times

    assert asyncio.run(ask()) == (b"an answer", 1)


# Ending in the middle of it


class Slow:
    """An endpoint whose answer nobody lives to see."""

    def __init__(self) -> None:
        self.has_begun = Event()

    def give(self, _: Desk, __: QuestionOf) -> Document:
        """Never."""
        self.has_begun.set()
        Event().wait()
        return Document()

    def endpoint(self) -> Endpoint:
        return Endpoint("/api/slow", QuestionOf, Document, self.give)


def test_who_still_waits_when_the_server_ends_is_told_so_at_once(tmp_path: Path) -> None:
    home, slow = tmp_path / "home", Slow()
    write_session(home)
    opening = partial(open_library, [str(home)], str(tmp_path / "data"))
    with opening(sync=True) as library:
        library.sync()

    async def ask() -> Response:
        answers = Answers(to_be_closed(Libraries(opening, syncs=False)), token="", redacts=False)
        scope = {"type": "http", "query_string": b"", "headers": []}
        asking = asyncio.create_task(_awaited(answers.to(slow.endpoint())(Request(scope))))
        assert await asyncio.to_thread(slow.has_begun.wait, 30)
        answers.end()
        return await asyncio.wait_for(asking, 5)

    assert asyncio.run(ask()).status_code == 503


async def _awaited(answer: Awaitable[Response]) -> Response:
    return await answer


def test_the_process_ends_in_the_middle_of_an_answer() -> None:
    script = """
import asyncio, threading
from geminids.faces.serving.workers import Workers

async def ask():
    has_begun = threading.Event()
    waiting = asyncio.create_task(Workers(1).run(lambda: (has_begun.set(), threading.Event().wait())))
    await asyncio.to_thread(has_begun.wait)
    waiting.cancel()

asyncio.run(ask())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stderr == ""


def test_a_first_sync_that_finds_nothing_new_changes_nothing_for_the_page(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    opening = partial(open_library, [str(tmp_path / "home")], str(tmp_path / "data"))
    to_be_closed(Libraries(opening, syncs=True)).sync()
    again = to_be_closed(Libraries(opening, syncs=True))
    before = again.generation
    again.sync()
    assert again.generation == before, "else a page that was just drawn asks for everything once more"
    write_session(tmp_path / "home", "2f0c9a2b-0000-4000-8000-000000000002")
    again.sync()
    assert again.generation > before
