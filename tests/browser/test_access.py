"""Everybody can use it: by key alone, on a phone, in the dark, without movement, with a reader of screens."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from tests.browser.serving import session_of
from tests.browser.visiting import DESKTOP, PHONE, Desk, Visit, draw_anew, opened, visiting
from tests.support.chromium import serious_faults
from tests.support.web_apps import Served, wait_until

TOOLS = "gemini/tool-calls-jsonl-1"
VIEWS = {
    "home": "/",
    "sessions": "/sessions",
    "sessions by project": "/sessions?group=project",
    "search": "/search?q=notes",
    "before searching": "/search",
    "usage": "/usage",
    "projects": "/projects",
    "health": "/health",
    "transcript": None,
    "nowhere": "/no/such/page",
}
FOCUSED = """() => {
    const one = document.activeElement;
    const box = one.getBoundingClientRect();
    const look = () => JSON.stringify([one, one.parentElement, one.firstElementChild ?? one].map((each) => {
        const style = getComputedStyle(each);
        return [style.outlineStyle, style.boxShadow, style.borderColor, style.backgroundColor, style.stroke];
    }));
    const focused = look();
    one.blur();
    const isSeen = look() !== focused;
    one.focus();
    return {
        name: one.getAttribute("aria-label") ?? one.innerText ?? one.value ?? "",
        tag: one.tagName,
        isSeen,
        isInside: box.width > 0 && box.height > 0,
    };
}"""
BRIGHTNESS = """() => {
    const colour = getComputedStyle(document.body).backgroundColor;
    const [red, green, blue] = colour.match(/\\d+(\\.\\d+)?/g).map(Number);
    return (red + green + blue) / 3;
}"""


def open_view(visit: Visit, name: str) -> Page:
    address = VIEWS[name]
    if address is None:
        return visit.go_to_session(session_of(TOOLS), "?detail=everything")
    page = visit.go(address)
    page.wait_for_load_state("networkidle") if name == "usage" else None
    return page


@pytest.fixture(scope="module")
def desk_for_axe(browser: Browser, server: Served) -> Iterator[Desk]:
    """A desk for axe, whose script is not ours: the policy is set aside."""
    with opened(browser, server, bypass_csp=True, reduced_motion="reduce") as context:
        yield Desk(context, server)


@pytest.fixture
def inspected(desk_for_axe: Desk) -> Iterator[Visit]:
    """A visit at that desk."""
    with desk_for_axe.visit() as begun:
        yield begun


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_keeps_anybody_from_using_a_view(inspected: Visit, axe: str, name: str) -> None:
    page = open_view(inspected, name)
    for size in (DESKTOP, PHONE):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        for scheme, faults in serious_faults(page, axe):
            assert faults == [], f"{scheme}, {size[0]} wide"
            assert inspected.is_too_wide() == "", f"{scheme}, {size[0]} wide"


@pytest.mark.parametrize("opened", ["palette", "keys", "raw", "find", "menu", "completions"])
def test_nothing_keeps_anybody_from_using_what_opens(inspected: Visit, axe: str, opened: str) -> None:
    page = open_view(inspected, "sessions" if opened == "completions" else "transcript")
    match opened:
        case "palette":
            inspected.press("Control+k")
            expect(page.get_by_role("listbox").get_by_role("option").first).to_be_visible()
        case "keys":
            inspected.press("?")
            expect(page.get_by_role("dialog")).to_be_visible()
        case "raw":
            inspected.press("r")
            expect(page.get_by_role("dialog")).to_contain_text("{")
        case "find":
            inspected.press("f")
            page.keyboard.type("notes")
            expect(page.get_by_role("search").get_by_role("status")).to_contain_text("of")
        case "menu":
            page.locator("summary", has_text="Facts").click()
        case _:
            inspected.press("/")
            page.keyboard.type("agent:")
            expect(page.get_by_role("option").first).to_be_visible()
    for scheme, faults in serious_faults(page, axe):
        assert faults == [], scheme


@pytest.mark.parametrize("width", [375, 768])
def test_no_view_is_wider_than_its_window(browser: Browser, server: Served, width: int) -> None:
    with visiting(browser, server, size=(width, 812), has_touch=True) as visit:
        for name in VIEWS:
            open_view(visit, name)
            draw_anew(visit.page)
            assert visit.is_too_wide() == "", name


def test_all_views_can_be_reached_on_a_phone(browser: Browser, server: Served) -> None:
    with visiting(browser, server, size=PHONE, has_touch=True, is_mobile=True) as visit:
        page = visit.go()
        for name in ("Sessions", "Search", "Usage", "Projects", "Health"):
            page.get_by_role("navigation", name="Views").get_by_role("link", name=name).tap()
            expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
            visit.settle()


def test_the_colours_follow_the_system_and_can_be_chosen(browser: Browser, server: Served) -> None:
    with visiting(browser, server, scheme="dark") as visit:
        page = visit.go()
        assert page.evaluate(BRIGHTNESS) < 80
        page.emulate_media(color_scheme="light")
        wait_until(lambda: page.evaluate(BRIGHTNESS) > 180, "light colours")
        colours = page.get_by_role("button", name=re.compile("^Colours"))
        for _ in range(3):
            if "dark" in str(colours.get_attribute("aria-label")):
                break
            colours.click()
        expect(colours).to_have_attribute("aria-label", re.compile("dark"))
        wait_until(lambda: page.evaluate(BRIGHTNESS) < 80, "dark colours")
        page.reload()
        visit.settle()
        assert page.evaluate(BRIGHTNESS) < 80, "the choice stays"


def test_nothing_moves_for_whoever_wants_no_movement(browser: Browser, server: Served) -> None:
    with visiting(browser, server, reduced_motion="reduce") as visit:
        for name in ("home", "sessions", "transcript", "usage"):
            page = open_view(visit, name)
            moving = page.evaluate(
                """() => document.getAnimations().filter((one) => {
                    const { duration, iterations } = one.effect.getComputedTiming();
                    return duration > 1 && (iterations === Infinity || duration > 200);
                }).map((one) => one.effect.target?.outerHTML.slice(0, 100))"""
            )
            assert moving == []
            assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


# By key alone


def test_the_first_stop_leads_to_the_content(visit: Visit) -> None:
    page = visit.go("/sessions")
    visit.press("Tab")
    skip = page.get_by_role("link", name="Skip to content")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    visit.press("Enter", "Tab")
    assert page.evaluate("document.querySelector('main').contains(document.activeElement)")


@pytest.mark.parametrize("name", VIEWS)
def test_every_stop_of_the_tab_key_is_seen_and_has_a_name(visit: Visit, name: str) -> None:
    page = open_view(visit, name)
    page.evaluate("document.activeElement.blur()")
    for _ in range(30):
        visit.press("Tab")
        stop = page.evaluate(FOCUSED)
        if stop["tag"] == "BODY":
            break
        assert stop["isSeen"], stop
        assert stop["isInside"], stop
        assert stop["name"].strip() or stop["tag"] in {"MAIN", "INPUT", "SELECT"}, stop


def test_going_to_a_view_moves_the_focus_there(visit: Visit) -> None:
    page = visit.go()
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Projects").focus()
    visit.press("Enter")
    expect(page.get_by_role("heading", name="Projects", level=1)).to_be_focused()
    expect(page).to_have_title(re.compile("Projects"))


def test_everything_is_done_by_key_alone(visit: Visit) -> None:
    page = visit.go()
    for key, name in (("2", "Sessions"), ("3", "Search"), ("4", "Usage"), ("5", "Projects"), ("6", "Health")):
        visit.press(key)
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    visit.press("/")
    expect(page.get_by_label("Search", exact=True)).to_be_focused()
    page.keyboard.type("pears")
    visit.press("Enter")
    expect(page.locator("main a[data-hit]").first).to_be_visible()
    visit.press("j", "Enter")
    expect(visit.turns.first).to_be_visible()
    visit.press("Escape", "e", "d", "D", "o", "o", "s", "s", "x", "t", "t", "b", "Shift+J", "j", "k")
    visit.press("r")
    expect(page.get_by_role("dialog", name=re.compile("^Raw record"))).to_be_visible()
    visit.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    before = page.url
    visit.press("]")
    expect(page).not_to_have_url(before)
    expect(visit.turns.first).to_be_visible()
    visit.press("Control+k")
    page.keyboard.type("home")
    expect(page.get_by_role("option", name=re.compile("Home")).first).to_be_visible()
    visit.press("Escape", "1")
    expect(page.get_by_role("region", name="Newest sessions")).to_be_visible()


def test_a_key_right_after_a_sheet_was_closed_is_for_the_page(visit: Visit) -> None:
    page = visit.go("/health")
    for key, name in (("2", "Sessions"), ("5", "Projects"), ("6", "Health")) * 3:
        visit.press("Control+k")
        expect(page.get_by_role("dialog", name="Palette")).to_be_visible()
        # Both before the browser has told that the sheet is closed.
        page.evaluate(
            """(key) => { for (const one of ["Escape", key]) document.activeElement.dispatchEvent(
                new KeyboardEvent("keydown", { key: one, bubbles: true, cancelable: true })); }""",
            key,
        )
        expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_view_that_comes_while_a_sheet_is_open_leaves_the_keys_to_it(visit: Visit) -> None:
    with visit.server.client() as client:
        newest = client.get("/api/sessions", params={"limit": 1}).json()["sessions"][0]["id"]
    page = visit.go_to_session(newest)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/api/sessions[?]limit=200"), hold)
    before = page.url
    with page.expect_request(re.compile("limit=200")):
        visit.press("]")
    visit.press("Control+k")
    expect(page.get_by_role("dialog", name="Palette")).to_be_visible()
    (next_session,) = held
    next_session.continue_()
    expect(page).not_to_have_url(before)
    expect(page.locator("article").first).to_be_visible()
    visit.press("Escape", "1")
    expect(page.get_by_role("region", name="Newest sessions")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_keys_do_nothing_while_one_types(visit: Visit) -> None:
    page = visit.go("/sessions")
    visit.press("/")
    page.keyboard.type("jk?123")
    expect(page.get_by_label("Filter sessions")).to_have_value("jk?123")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
