"""One walk through every view, as somebody takes who opens the app for the first time."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import session_of
from tests.browser.visiting import Visit

SESSION = "gemini/tool-calls-jsonl-1"


@pytest.mark.quick
def test_every_view_is_drawn_and_leads_on(visit: Visit) -> None:
    page = visit.go()
    expect(main_of(page).get_by_role("link", name=re.compile("Gemini CLI")).first).to_be_visible()
    for name in ("Sessions", "Projects", "Usage", "Health"):
        page.get_by_role("navigation").get_by_role("link", name=name).first.click()
        visit.settle()
        expect(page).to_have_url(re.compile(f"/{name.lower()}"))
        expect(main_of(page).get_by_role("heading").first).to_be_visible()
    page = visit.go("/search?q=file")
    expect(main_of(page).get_by_role("link").first).to_be_visible()
    visit.go_to_session(session_of(SESSION))
    assert visit.turns.count() > 1


def main_of(page: Page) -> Locator:
    return page.get_by_role("main")
