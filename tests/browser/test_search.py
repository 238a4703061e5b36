"""Search: hits with context across everything, narrowed down, each leading to its message."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.serving import session_of
from tests.browser.visiting import PHONE, Visit, box_of, visiting
from tests.support.web_apps import Served

WORDS = "pears"


@pytest.fixture
def found(visit: Visit) -> Page:
    return visit.go(f"/search?q={WORDS}")


def hits(page: Page) -> Locator:
    return page.locator("main a[data-hit]")


def matches(page: Page) -> int:
    said = page.get_by_role("main").get_by_text(re.compile(r"^\s*(at least )?[\d,]+ messages? in")).first
    number = re.search(r"[\d,]+", said.inner_text())
    assert number
    return int(number[0].replace(",", ""))


def test_words_typed_anywhere_are_looked_for(visit: Visit) -> None:
    page = visit.go()
    visit.press("/")
    page.keyboard.type(WORDS)
    visit.press("Enter")
    expect(page).to_have_url(re.compile(rf"/search\?q={WORDS}"))
    expect(hits(page).first.locator("mark").first).to_have_text(re.compile(WORDS, re.IGNORECASE))


def test_hits_are_counted_as_the_server_counts_them(visit: Visit, found: Page) -> None:
    with visit.server.client() as client:
        answer = client.get("/api/search", params={"q": WORDS}).json()
    assert matches(found) == answer["matches"] > 1


def test_a_hit_opens_at_its_message(visit: Visit, found: Page) -> None:
    hit = hits(found).first
    key = hit.get_attribute("data-hit")
    assert key
    number = key.rpartition("#")[2]
    hit.click()
    expect(visit.turn(int(number))).to_be_visible()
    expect(found).to_have_url(re.compile(rf"#{number}$"))
    expect(found.get_by_label("Find in this session")).to_have_value(WORDS)
    box = box_of(visit.turn(int(number)))
    assert box["y"] < 800


def test_keys_choose_a_hit_and_back_finds_it_again(visit: Visit, found: Page) -> None:
    visit.press("j", "j")
    chosen = found.locator("main a[data-hit][aria-current]")
    expect(chosen).to_have_count(1)
    key = chosen.get_attribute("data-hit")
    visit.press("Enter")
    expect(visit.turns.first).to_be_visible()
    found.go_back()
    visit.settle()
    expect(chosen).to_have_attribute("data-hit", str(key))
    visit.press("k")
    expect(chosen).not_to_have_attribute("data-hit", str(key))
    visit.press("j")
    expect(chosen).to_have_attribute("data-hit", str(key))


def test_facets_narrow_and_going_back_undoes_it(visit: Visit) -> None:
    page = visit.go("/search?q=notes")
    before = matches(page)
    aside = page.get_by_role("complementary", name="Filters").or_(page.get_by_label("Filters")).first
    aside.get_by_role("button", name=re.compile("^Codex")).click()
    expect(page).to_have_url(re.compile("agent=codex"))
    expect(page.locator("main a[data-hit^='codex:']").first).to_be_visible()
    expect(page.locator("main a[data-hit^='gemini:']")).to_have_count(0)
    assert 0 < matches(page) < before
    aside.get_by_role("button", name="What you typed").or_(
        aside.get_by_role("button", name=re.compile("^You"))
    ).first.click()
    expect(page).to_have_url(re.compile("place=human"))
    page.go_back()
    expect(page).not_to_have_url(re.compile("place=human"))
    page.go_back()
    expect(page).not_to_have_url(re.compile("agent=codex"))
    expect(
        page.get_by_role("main").get_by_text(re.compile(rf"^\s*(at least )?{before:,} messages in"))
    ).to_be_visible()


def test_the_order_can_be_changed(found: Page) -> None:
    order = found.get_by_role("group", name="Order")
    order.get_by_role("button", name="Newest first").click()
    expect(order.get_by_role("button", name="Newest first")).to_have_attribute("aria-pressed", "true")
    expect(found).to_have_url(re.compile("order=newest"))
    expect(hits(found).first).to_be_visible()


def test_nothing_found_is_told(visit: Visit) -> None:
    page = visit.go("/search?q=zyxwvutsrq")
    expect(page.get_by_role("heading", name="No results")).to_be_visible()


def test_a_question_that_makes_no_sense_is_told_with_its_place(visit: Visit) -> None:
    visit.foresee("400", "Failed to load resource")
    page = visit.go("/search?q=/(/")
    expect(page.get_by_role("alert")).to_contain_text("This search is not valid")


def test_before_searching_the_language_is_shown(visit: Visit) -> None:
    page = visit.go("/search")
    page.get_by_role("main").get_by_role("link", name="agent:gemini").click()
    expect(page).to_have_url(re.compile("q=agent%3Agemini"))
    expect(hits(page).first.or_(page.locator("main a[data-session]").first).first).to_be_visible()


def test_every_agent_is_searched(visit: Visit) -> None:
    page = visit.go("/search?q=agent%3Aclaude+grey")
    expect(page.locator(f"main a[data-hit^='{session_of('claude/images')}']").first).to_be_visible()


def test_facets_can_be_reached_on_a_phone(browser: Browser, server: Served) -> None:
    with visiting(browser, server, size=PHONE) as visit:
        page = visit.go("/search?q=notes")
        page.get_by_role("button", name="Filters").click()
        page.get_by_role("button", name=re.compile("^Codex")).click()
        expect(page).to_have_url(re.compile("agent=codex"))
        assert visit.is_too_wide() == ""
