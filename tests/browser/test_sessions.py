"""Sessions: one box, filters, groups, and keys all the way."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.serving import session_of
from tests.browser.visiting import Visit
from tests.support.web_apps import wait_until

IMAGES = "gemini/images"


@pytest.fixture
def sessions(visit: Visit) -> Page:
    return visit.go("/sessions")


def lines(page: Page) -> Locator:
    return page.locator("main a[data-session]")


def chosen(page: Page) -> Locator:
    return page.locator("main a[data-session][aria-current]")


def total(page: Page) -> int:
    said = page.get_by_role("main").get_by_text(re.compile(r"^(at least )?[\d,]+ sessions?")).first
    return int(re.sub(r"\D", "", said.inner_text().split(" session")[0]))


def test_a_word_in_the_box_leaves_the_sessions_that_have_it(visit: Visit, sessions: Page) -> None:
    before = total(sessions)
    sessions.get_by_label("Filter sessions").fill("agent:codex")
    expect(sessions).to_have_url(re.compile("q=agent%3Acodex"))
    expect(sessions.get_by_role("main").get_by_text(re.compile(f"^{before:,} sessions"))).to_have_count(0)
    assert 0 < total(sessions) < before
    expect(lines(sessions).first).to_have_attribute("data-session", re.compile("^codex:"))
    sessions.reload()
    visit.settle()
    expect(sessions.get_by_label("Filter sessions")).to_have_value("agent:codex")
    expect(lines(sessions).first).to_have_attribute("data-session", re.compile("^codex:"))


def test_a_filter_half_typed_is_no_error(sessions: Page) -> None:
    sessions.get_by_label("Filter sessions").press_sequentially("agent:")
    sessions.wait_for_timeout(400)
    expect(sessions.get_by_role("alert")).to_have_count(0)
    expect(lines(sessions).first).to_be_visible()


def test_a_question_that_makes_no_sense_is_told(visit: Visit, sessions: Page) -> None:
    visit.foresee("400", "Failed to load resource")
    sessions.get_by_label("Filter sessions").fill('since:"no such day"')
    expect(sessions.get_by_role("alert")).to_contain_text("no such day")


def test_nothing_found_offers_a_way_back(visit: Visit, sessions: Page) -> None:
    sessions.get_by_label("Filter sessions").fill("zyxwvutsrq")
    sessions.get_by_role("button", name="Show all sessions").click()
    visit.settle()
    expect(lines(sessions).first).to_be_visible()


@pytest.mark.parametrize(("label", "value"), [("Agent", "claude"), ("Time", "1y"), ("Kind", "subagent")])
def test_a_filter_narrows_and_can_be_cleared(sessions: Page, label: str, value: str) -> None:
    before = total(sessions)
    sessions.get_by_role("combobox", name=label).select_option(value)
    expect(sessions).to_have_url(re.compile(value))
    expect(lines(sessions).first).to_be_visible()
    if label == "Agent":
        expect(lines(sessions).first).to_have_attribute("data-session", re.compile("^claude:"))
    sessions.get_by_role("button", name="Clear", exact=True).click()
    expect(sessions.get_by_role("main").get_by_text(re.compile(f"^{before:,} sessions"))).to_be_visible()


def test_sessions_stand_in_groups(sessions: Page) -> None:
    grouping = sessions.get_by_role("group", name="Grouping")
    grouping.get_by_role("button", name="By project").click()
    expect(sessions.get_by_role("main").get_by_role("heading", level=2).first).to_be_visible()
    expect(sessions.get_by_role("main").get_by_role("heading", level=2, name="alpha").first).to_be_attached()
    grouping.get_by_role("button", name="No grouping").click()
    expect(sessions.get_by_role("main").get_by_role("heading", level=2)).to_have_count(0)


def test_keys_lead_from_the_box_to_a_session_and_back(visit: Visit, sessions: Page) -> None:
    visit.press("/")
    box = sessions.get_by_label("Filter sessions")
    expect(box).to_be_focused()
    sessions.keyboard.type("agent:gemini")
    visit.press("Enter")
    expect(box).not_to_be_focused()
    expect(lines(sessions).first).to_have_attribute("data-session", re.compile("^gemini:"))
    visit.press("j", "j", "k")
    expect(chosen(sessions)).to_have_count(1)
    first = lines(sessions).first.get_attribute("data-session")
    expect(chosen(sessions)).to_have_attribute("data-session", str(first))
    visit.press("j")
    picked = chosen(sessions).get_attribute("data-session")
    assert picked != first
    visit.press("Enter")
    expect(sessions.get_by_role("article").first).to_be_visible()
    sessions.go_back()
    visit.settle()
    expect(chosen(sessions)).to_have_attribute("data-session", str(picked))


def test_the_list_is_where_it_was_when_one_comes_back(visit: Visit, sessions: Page) -> None:
    sessions.mouse.move(700, 500)
    sessions.mouse.wheel(0, 3000)
    wait_until(lambda: sessions.evaluate("scrollY") > 1500, "the list to be scrolled")
    sessions.wait_for_timeout(300)
    there = sessions.evaluate("scrollY")
    seen = lines(sessions).nth(8)
    seen.click()
    expect(sessions.get_by_role("article").or_(sessions.get_by_text("Nothing to show")).first).to_be_visible()
    sessions.go_back()
    visit.settle()
    wait_until(lambda: abs(sessions.evaluate("scrollY") - there) < 300, "the list to be where it was")


def test_the_whole_list_can_be_scrolled_and_few_lines_are_drawn(sessions: Page) -> None:
    sessions.mouse.move(700, 500)
    for _ in range(30):
        sessions.mouse.wheel(0, 4000)
        sessions.wait_for_timeout(60)
        assert lines(sessions).count() < 80
    assert sessions.evaluate("scrollY + innerHeight >= document.documentElement.scrollHeight - 400")


def test_the_sheet_of_keys_opens_and_closes(visit: Visit, sessions: Page) -> None:
    visit.press("?")
    sheet = sessions.get_by_role("dialog", name=re.compile("Keys"))
    expect(sheet).to_be_visible()
    expect(sheet).to_contain_text("next, previous prompt")
    visit.press("Escape")
    expect(sheet).to_have_count(0)


@pytest.mark.parametrize("key", ["Control+k", "Meta+k"])
def test_the_palette_finds_a_session_and_goes_there(visit: Visit, sessions: Page, key: str) -> None:
    visit.press(key)
    palette = sessions.get_by_role("dialog", name="Palette")
    expect(palette.get_by_role("combobox")).to_be_focused()
    sessions.keyboard.type("picture")
    expect(palette.get_by_role("option", name=re.compile("Search everything for"))).to_be_visible()
    choice = palette.get_by_role("listbox").get_by_role("option").nth(1)
    expect(choice).to_be_visible()
    visit.press("ArrowDown", "ArrowUp", "ArrowDown")
    expect(choice).to_have_attribute("aria-selected", "true")
    visit.press("Enter")
    expect(palette).to_have_count(0)
    expect(sessions.get_by_role("article").first).to_be_visible()


def test_the_palette_goes_to_views_and_closes_without_a_choice(visit: Visit, sessions: Page) -> None:
    visit.press("Control+k")
    palette = sessions.get_by_role("dialog", name="Palette")
    visit.press("Escape")
    expect(palette).to_have_count(0)
    visit.press("Control+k")
    sessions.keyboard.type("Health")
    palette.get_by_role("option", name=re.compile("^(Go to )?Health")).first.click()
    expect(sessions.get_by_role("heading", name="Health", level=1)).to_be_visible()


def test_an_address_names_a_session(visit: Visit) -> None:
    session = session_of(IMAGES)
    page = visit.go_to_session(session)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page).to_have_title(re.compile("geminids"))
