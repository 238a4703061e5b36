"""Home: what there is at a glance, as the library counts it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from geminids.library import Library, open_library
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter
from geminids.query.usage.stats import StatsQuestion
from tests.browser.visiting import Visit
from tests.support.web_apps import Served


@pytest.fixture
def library(server: Served, everything: Path, data: Path) -> Iterator[Library]:
    assert server.process.poll() is None
    with open_library([str(everything)], str(data), sync=False) as opened:
        yield opened


def figure(visit: Visit, name: str) -> str:
    """The number that stands under a name in the headline."""
    term = visit.page.get_by_role("main").locator("dl").first.locator("div", has_text=re.compile(f"^{name}"))
    return term.locator("dd").first.inner_text().strip()


def test_its_numbers_are_those_of_the_library(visit: Visit, library: Library) -> None:
    visit.go()
    totals = library.stats(StatsQuestion(by="agent"), datetime.now(UTC)).total
    kinds = library.listing(Filter(), 1).kinds
    assert figure(visit, "Sessions") == f"{totals.sessions:,}"
    told = visit.page.get_by_role("main").locator("dl").first.inner_text()
    assert f"and {kinds['checkpoint']} checkpoints, {totals.subagents} subagents" in told
    assert figure(visit, "Prompts") == f"{totals.prompts:,}"


def test_every_agent_leads_to_its_sessions(visit: Visit, library: Library) -> None:
    page = visit.go()
    page.get_by_role("main").get_by_role("link", name=re.compile("^Codex CLI")).first.click()
    visit.settle()
    expect(page).to_have_url(re.compile("/sessions.*codex"))
    total = library.listing(Filter(kinds=LED_BY_HUMANS, agents=("codex",)), 1).total
    expect(page.get_by_text(re.compile(rf"^{total} sessions"))).to_be_visible()


def test_the_newest_sessions_are_listed_and_open(visit: Visit, library: Library) -> None:
    page = visit.go()
    newest = page.get_by_role("region", name="Newest sessions").get_by_role("link")
    titles = [row.title for row in library.listing(Filter(kinds=LED_BY_HUMANS), 3).sessions]
    shown = newest.filter(has=page.locator("[data-session]")).or_(newest)
    assert titles[0] is None or titles[0][:20] in shown.all_inner_texts()[1]
    newest.nth(1).click()
    visit.settle()
    expect(visit.turns.first).to_be_visible()


def test_the_days_of_the_map_can_be_walked_with_keys_and_open_their_sessions(visit: Visit) -> None:
    page = visit.go()
    days = page.get_by_role("group", name=re.compile("^Activity day by day"))
    busy = days.get_by_role("link", name=re.compile("session")).last
    busy.focus()
    said = busy.get_attribute("aria-label")
    assert said
    expect(page.get_by_text(said)).to_be_visible()
    visit.press("ArrowLeft", "ArrowRight")
    expect(busy).to_be_focused()
    visit.press("Enter")
    visit.settle()
    expect(page).to_have_url(re.compile(r"/sessions\?.*since=\d{4}-\d\d-\d\d"))


def test_the_map_shows_other_measures(visit: Visit) -> None:
    page = visit.go()
    measures = page.get_by_role("group", name="What is shown")
    for name in ("Time", "Tokens", "Cost", "Prompts"):
        measures.get_by_role("button", name=name).click()
        expect(measures.get_by_role("button", name=name)).to_have_attribute("aria-pressed", "true")


def test_what_is_about_to_be_deleted_is_told(visit: Visit) -> None:
    page = visit.go()
    told = page.get_by_role("region", name="Expiring soon")
    expect(told).to_contain_text("Gemini CLI deletes what was not used for 30 days")


def test_the_tokens_of_the_last_weeks_are_drawn(visit: Visit) -> None:
    page = visit.go()
    told = page.get_by_role("region", name="Tokens by week")
    expect(told.get_by_role("img", name=re.compile("^Tokens of the last"))).to_be_visible()
    told.get_by_role("link", name="Usage").click()
    expect(page.get_by_role("heading", name="Usage", level=1)).to_be_visible()
