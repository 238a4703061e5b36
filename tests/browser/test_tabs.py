"""Many tabs of one browser: each can ask, and all hear what happens."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.browser.serving import serving
from tests.browser.visiting import visiting
from tests.support.homes import write_session

TABS = 8
"""More than the connections that a browser opens to one server."""
PATIENCE = 20_000


def hear(pages: list[Page], words: str) -> None:
    for page in pages:
        expect(page.get_by_text(words).first).to_be_visible(timeout=PATIENCE)


def test_any_number_of_tabs_can_ask_and_hear(browser: Browser, tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home)
    options = ("--home", home, "--data", tmp_path / "data")
    with serving(*options, machine=tmp_path) as server, visiting(browser, server) as visit:
        visit.go("/sessions")
        others = [visit.page.context.new_page() for _ in range(TABS)]
        for page in others:
            page.goto(f"{server.base}/sessions")
        hear([visit.page, *others], "Fix the login redirect")
        write_session(home, "2f0c9a2b-0000-4000-8000-000000000002", slug="zoo", prompt="Feed the zebra")
        hear([visit.page, *others], "Feed the zebra")
        others.pop(0).close()
        # The first has the line: when it goes elsewhere, another takes it.
        visit.page.goto("about:blank")
        write_session(home, "3f0c9a2b-0000-4000-8000-000000000003", slug="farm", prompt="Shear the yak")
        hear(others, "Shear the yak")
        assert not any(page.get_by_text("Not connected").count() for page in others)
