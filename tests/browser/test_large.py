"""A session of 50,000 messages: how soon it is there, and how little of it is on the page."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import FIGURES
from tests.browser.serving import serving
from tests.browser.visiting import Visit, visiting
from tests.conftest import RecordProperty
from tests.support.homes import tool_call

MESSAGES = 50_000
MOST_NODES = 50
ID = "50000000-0000-4000-8000-000000000000"
PATIENCE = 30_000
"""Milliseconds for each step. How long it really took is told, not judged: tests share their machine."""
NODES = "document.querySelectorAll('article').length"
STORY = "document.querySelector('[aria-label=Messages]')"
WATCH_NODES = f"""() => {{
    window.most = 0;
    new MutationObserver(() => (window.most = Math.max(window.most, {NODES})))
        .observe(document.body, {{ childList: true, subtree: true }});
}}"""
MEASURE_FRAMES = f"""() => new Promise((done) => {{
    const times = [];
    const step = (now) => {{
        times.push(now);
        {STORY}.scrollTop += 120;
        if (times.length < 90) requestAnimationFrame(step);
        else done(times.slice(1).map((time, at) => time - times[at]).sort((one, other) => one - other));
    }};
    requestAnimationFrame(step);
}})"""
LENGTHS = (1, 2, 4, 8, 16)


def write_large_session(home: Path) -> None:
    """Prompts and answers of many lengths, every fifth with a call, as Gemini CLI 0.61 writes them."""
    chats = home / ".gemini" / "tmp" / "shop" / "chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text("/home/ada/shop")
    begun = datetime(2026, 5, 1, 10, tzinfo=UTC)
    header = {"sessionId": ID, "startTime": stamp(begun), "lastUpdated": stamp(begun), "kind": "main"}
    lengths = cycle(LENGTHS)
    with (chats / f"session-2026-05-01T10-00-{ID[:8]}.jsonl").open("w") as file:
        file.write(json.dumps(header) + "\n")
        for number in range(MESSAGES):
            at = stamp(begun + timedelta(seconds=20 * number))
            file.write(json.dumps(message(number, at, next(lengths))) + "\n")


def message(number: int, at: str, length: int) -> dict[str, Any]:
    words = f"Message {number}. " + "All work and no play makes a dull log. " * length
    told: dict[str, Any] = {"id": f"m{number}", "timestamp": at}
    if number % 2 == 0:
        return told | {"type": "user", "content": [{"text": words}]}
    calls = [tool_call(id=f"call-{number}", timestamp=at)] if number % 5 == 0 else []
    tokens = {
        "input": 100 + number % 900,
        "output": 20,
        "cached": 10,
        "thoughts": 0,
        "tool": 0,
        "total": 120 + number % 900,
    }
    return told | {
        "type": "gemini",
        "content": words,
        "model": "gemini-3-pro",
        "tokens": tokens,
        "toolCalls": calls,
    }


def stamp(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.fixture
def reader(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    write_large_session(tmp_path / "home")
    options = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    with serving(*options, machine=tmp_path, patience=120) as server, visiting(browser, server) as begun:
        begun.page.context.set_default_timeout(PATIENCE)
        yield begun


# One test: the session is made once, and whatever else runs meanwhile is not measured.
def test_a_large_session_opens_soon_and_little_of_it_is_on_the_page(
    reader: Visit, record_property: RecordProperty
) -> None:
    def tell(figure: str) -> None:
        record_property(FIGURES, f"{MESSAGES:,} messages: {figure}")

    tell(f"home is drawn {milliseconds(draw_home, reader)} after it was asked for")
    tell(f"the first one is there {milliseconds(open_session, reader)} after the click")
    draw_home(reader)
    tell(f"the first one is there {milliseconds(open_session, reader)} after the second click")
    nodes, frames = scroll(reader)
    tell(f"at most {nodes} on the page while one scrolls; a frame takes {frames}")
    assert 0 < nodes < MOST_NODES
    tell(f"the last one is there {milliseconds(jump_to_end, reader)} after the key")
    tell(f"a word is found {milliseconds(find, reader)} after it was typed")
    reader.go_to_session(f"gemini:{ID}", "#31000")
    expect(reader.turn(31_000)).to_be_in_viewport(timeout=PATIENCE)
    assert reader.page.evaluate(NODES) < MOST_NODES


def milliseconds(do: Callable[[Visit], None], visit: Visit) -> str:
    began = time.perf_counter()
    do(visit)
    return f"{1000 * (time.perf_counter() - began):.0f} ms"


def draw_home(visit: Visit) -> None:
    visit.page.goto(visit.server.base)
    visit.page.get_by_role("region", name="Newest sessions").wait_for()


def open_session(visit: Visit) -> None:
    visit.page.get_by_role("main").get_by_role("link", name=re.compile("^Message 0")).first.click()
    visit.turns.first.wait_for()


def jump_to_end(visit: Visit) -> None:
    visit.press("Shift+G")
    visit.turn(MESSAGES).wait_for()
    expect(visit.turn(MESSAGES)).to_be_in_viewport(timeout=PATIENCE)


def find(visit: Visit) -> None:
    visit.press("/")
    visit.page.keyboard.type("Message 44443")
    expect(visit.page.get_by_role("search").get_by_role("status")).to_have_text("1 of 1", timeout=PATIENCE)
    expect(visit.turn(44_444)).to_be_in_viewport(timeout=PATIENCE)


def scroll(visit: Visit) -> tuple[int, str]:
    """The most messages that were on the page at once, and how long frames took."""
    page = visit.go_to_session(f"gemini:{ID}")
    page.evaluate(WATCH_NODES)
    page.mouse.move(800, 500)
    for _ in range(30):
        page.mouse.wheel(0, 2500)
        page.wait_for_timeout(25)
    frames = page.evaluate(MEASURE_FRAMES)
    for share in (0.3, 0.95, 0.02, 1):
        page.evaluate(f"(share) => {STORY}.scrollTo(0, {STORY}.scrollHeight * share)", share)
        expect(visit.turns.first).to_be_visible(timeout=PATIENCE)
    median, slow = frames[len(frames) // 2], frames[int(len(frames) * 0.95)]
    return page.evaluate("window.most"), f"{median:.0f} ms, one in twenty {slow:.0f} ms or more"
