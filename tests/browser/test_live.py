"""A transcript while its file grows: what the real agents wrote, the second half written later."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.serving import copy_cases, serving, session_of
from tests.browser.visiting import DESKTOP, Visit, visiting

PATIENCE = 20_000
LOW = (1280, 320)
"""A window in which a short session must be scrolled."""
GEMINI = "gemini/tool-calls-jsonl-1"
LAST_WORDS = {
    GEMINI: "Done. One file was missing, one edit failed, the rest worked.",
    "claude/images": "Both are grey.",
    "codex/tools": "Done: the pears are in src/pears.py and the notes are gone.",
}
SCROLLER = "document.querySelector('[aria-label=Messages]')"


class Growing(NamedTuple):
    """A visit to a session of which only the beginning was written yet."""

    visit: Visit
    home: Path
    file: Path
    rest: list[bytes]

    def write(self, lines: int | None = None) -> None:
        """Write the next lines of the real file, or all that is left."""
        count = len(self.rest) if lines is None else lines
        with self.file.open("ab") as file:
            file.write(b"".join(self.rest[:count]))
        del self.rest[:count]


Begin = Callable[..., AbstractContextManager[Growing]]


@pytest.fixture
def begin(browser: Browser, tmp_path: Path) -> Begin:
    @contextmanager
    def opened(case: str, *, keep: float = 0.5, size: tuple[int, int] = DESKTOP) -> Iterator[Growing]:
        home = copy_cases(tmp_path / "home", case)
        session = session_of(case)
        (file,) = (path for path in home.rglob("*.jsonl") if session.rpartition(":")[2][:8] in path.name)
        written = file.read_bytes().splitlines(keepends=True)
        cut = int(len(written) * keep)
        file.write_bytes(b"".join(written[:cut]))
        options = ("--home", home, "--data", tmp_path / "data")
        with serving(*options, machine=tmp_path) as server, visiting(browser, server, size=size) as visit:
            visit.go_to_session(session)
            # The watch begins a moment after the server has read everything.
            visit.page.wait_for_timeout(1500)
            yield Growing(visit, home, file, written[cut:])

    return opened


@pytest.mark.parametrize("case", LAST_WORDS)
def test_what_an_agent_writes_appears_by_itself(begin: Begin, case: str) -> None:
    with begin(case) as growing:
        words = growing.visit.page.get_by_role("article").get_by_text(LAST_WORDS[case])
        expect(words).to_have_count(0)
        growing.write()
        growing.visit.page.keyboard.press("End")
        expect(words.first).to_be_attached(timeout=PATIENCE)


def test_whoever_is_at_the_end_stays_there(begin: Begin) -> None:
    with begin(GEMINI, size=LOW) as growing:
        page = growing.visit.page
        page.evaluate(f"{SCROLLER}.scrollTo(0, 1e6)")
        page.wait_for_timeout(400)
        page.evaluate(f"{SCROLLER}.scrollTo(0, 1e6)")
        growing.write()
        expect(growing.visit.turns.get_by_text(LAST_WORDS[GEMINI])).to_be_in_viewport(timeout=PATIENCE)


def test_whoever_reads_the_beginning_is_left_alone_and_told(begin: Begin) -> None:
    with begin(GEMINI, size=LOW) as growing:
        page = growing.visit.page
        first = growing.visit.turn(1)
        expect(first).to_be_in_viewport()
        growing.write()
        news = page.get_by_role("button", name="new message")
        expect(news).to_be_visible(timeout=PATIENCE)
        expect(first).to_be_in_viewport()
        assert page.evaluate(f"{SCROLLER}.scrollTop") < 5
        news.click()
        expect(growing.visit.turns.get_by_text(LAST_WORDS[GEMINI])).to_be_in_viewport()
        expect(news).to_have_count(0)


def test_a_line_cut_in_its_middle_is_waited_for(begin: Begin) -> None:
    with begin(GEMINI) as growing:
        line = growing.rest[-1]
        growing.write(len(growing.rest) - 1)
        with growing.file.open("ab") as file:
            file.write(line[:40])
            file.flush()
            os.fsync(file.fileno())
            growing.visit.page.wait_for_timeout(1500)
            file.write(line[40:])
        growing.rest.clear()
        growing.visit.page.keyboard.press("End")
        words = growing.visit.turns.get_by_text(LAST_WORDS[GEMINI])
        expect(words.first).to_be_attached(timeout=PATIENCE)
        expect(growing.visit.page.get_by_role("alert")).to_have_count(0)


def test_a_session_that_is_deleted_stays_readable_and_says_so(begin: Begin) -> None:
    with begin(GEMINI, keep=1) as growing:
        page = growing.visit.page
        growing.file.unlink()
        expect(
            page.get_by_role("main").get_by_text("gone").or_(page.get_by_text("kept copy")).first
        ).to_be_visible(timeout=PATIENCE)
        expect(growing.visit.turn(1)).to_be_visible()


def test_a_new_session_is_listed_with_a_live_dot(begin: Begin) -> None:
    with begin(GEMINI) as growing:
        visit = growing.visit
        page = visit.go("/sessions")
        growing.write()
        line = page.locator(f"main a[data-session='{session_of(GEMINI)}']")
        expect(line.get_by_role("img", name="Running")).to_be_attached(timeout=PATIENCE)
        copy_cases(growing.home, "gemini/images")
        expect(page.locator(f"main a[data-session='{session_of('gemini/images')}']")).to_be_visible(
            timeout=PATIENCE
        )
