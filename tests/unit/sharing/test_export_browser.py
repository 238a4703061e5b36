"""Pages in a real browser: quiet, alone, usable by hand and by key, in light, in the dark and on paper."""

from __future__ import annotations

import select
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from geminids.core.model import Session
from geminids.sharing import export
from tests.support.chromium import (
    NotHereError,
    axe_script,
    entry_of,
    headless_browser,
    readable_session,
    serious_faults,
    watched,
)
from tests.support.exporting import exported, fixture_sessions, hostile_session, looked_at_sessions, manner

WIDTHS = (1200, 800, 375)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
PAGES = ("readable", "hostile", "index", "images", "rewind-jsonl-2", "tool-calls-jsonl-2")
LISTED = 60
"""Sessions on the page that lists them."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    try:
        with headless_browser() as opened:
            yield opened
    except NotHereError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def axe(pytestconfig: pytest.Config) -> str:
    assert pytestconfig.cache
    try:
        return axe_script(pytestconfig.cache.mkdir("axe"))
    except NotHereError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    sessions: dict[str, Session] = {"readable": readable_session(), "hostile": hostile_session()}
    sessions |= looked_at_sessions()
    for name, session in sessions.items():
        (folder / f"{name}.html").write_bytes(exported("html", session, level="everything"))
    listed = [entry_of(session, f"{name}.html") for name, session in sessions.items()]
    listed += [
        entry_of(session, f"{name}.html") for name, session in list(fixture_sessions().items())[:LISTED]
    ]
    contents = export.load("html").contents(listed, manner("everything", redacted="3 e-mail addresses"))
    (folder / "index.html").write_bytes(b"".join(contents))
    return {file.stem: file for file in folder.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_quiet_and_asks_for_nothing(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with watched(browser, pages[name]) as seen:
        for scheme in SCHEMES:
            seen.page.emulate_media(color_scheme=scheme)
            seen.page.reload()
            if name != "index":
                seen.page.click("#open")
            seen.page.wait_for_load_state("networkidle")
            assert seen.troubles == [], scheme
            assert seen.page.evaluate("[...document.images].every((image) => image.naturalWidth > 0)"), scheme


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_no_page_is_wider_than_its_window(browser: Browser, pages: dict[str, Path], name: str) -> None:
    with watched(browser, pages[name]) as seen:
        for width in WIDTHS:
            seen.page.set_viewport_size({"width": width, "height": 800})
            seen.page.reload()
            if name != "index":
                seen.page.click("#open")
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.slow
def test_hostile_words_are_only_read(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["hostile"]) as seen:
        seen.page.click("#open")
        assert seen.page.locator("script").count() == 1
        assert seen.page.locator("iframe, object, embed, form, link, base, img").count() == 0
        shown = seen.page.inner_text("#story")
        for words in (
            "<script>alert('owned')</script>",
            "</script><script>alert(2)",
            "[click](javascript:alert(4))",
        ):
            assert words in shown
        assert seen.page.title().startswith("</title><script>alert(10)</script>")
        assert seen.troubles == []


@pytest.mark.slow
def test_the_policy_is_a_second_wall(browser: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"http://127.0.0.1:{server.getsockname()[1]}"
        inside = f"""<script>document.title = "owned"; alert(1)</script><img src="x" onerror="alert(2)">
<script src="{address}/a.js"></script><link rel="stylesheet" href="{address}/a.css">
<img src="{address}/a.png">
<style>body {{ background: url({address}/b.png) }}</style><iframe src="{address}"></iframe>
<a id="bad" href="javascript:alert(3)">click</a>"""
        broken = tmp_path / "broken.html"
        broken.write_bytes(pages["readable"].read_bytes().replace(b"<h1>", inside.encode() + b"<h1>"))
        page = browser.new_page()
        dialogs: list[str] = []
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        page.goto(broken.as_uri())
        page.click("#bad")
        page.wait_for_load_state("networkidle")
        assert page.title().startswith("Fix the failing preflight")
        assert dialogs == []
        assert _asked(server) == b""
        page.close()


@pytest.mark.slow
def test_a_search_opens_what_it_finds_and_closes_it_again(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["readable"]) as seen:
        page = seen.page
        fold = page.locator("details", has_text="zanzibar")
        assert not fold.get_attribute("open")
        page.keyboard.press("/")
        page.keyboard.type("ZANZIBAR")
        expect(seen.page.locator("#count")).to_have_text("1 of 1")
        assert fold.get_attribute("open") is not None
        assert page.locator(".outline [data-hits='1']").inner_text().startswith("The browser says")
        page.keyboard.press("Escape")
        assert page.input_value("#search") == ""
        assert page.inner_text("#count") == ""
        assert fold.get_attribute("open") is None
        assert seen.troubles == []


@pytest.mark.slow
def test_a_search_steps_from_match_to_match(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["readable"]) as seen:
        page = seen.page
        page.fill("#search", "router")
        expect(page.locator("#count")).to_contain_text("1 of")
        most = int(page.inner_text("#count").split()[-1])
        assert most > 5
        page.press("#search", "Enter")
        assert page.inner_text("#count") == f"2 of {most}"
        page.press("#search", "Shift+Enter")
        page.click("#previous")
        assert page.inner_text("#count") == f"{most} of {most}"
        page.click("#next")
        assert page.inner_text("#count") == f"1 of {most}"
        page.fill("#search", "no such words")
        expect(seen.page.locator("#count")).to_have_text("no match")


@pytest.mark.slow
def test_a_match_may_cross_from_colour_to_colour(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["readable"]) as seen:
        seen.page.fill("#search", 'frozenset({"GET"})  # head')
        expect(seen.page.locator("#count")).to_have_text("1 of 1")
        marked = "[...CSS.highlights.get('here')].map(String)"
        assert seen.page.evaluate(marked) == ['frozenset({"GET"})  # HEAD']


def test_keys_lead_from_prompt_to_prompt(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["readable"], reduced_motion="reduce") as seen:
        focused = "document.activeElement.id"
        for expected in ("m-1", "m-6", "m-8", "m-9", "m-9"):
            seen.page.keyboard.press("j")
            assert seen.page.evaluate(focused) == expected
        seen.page.keyboard.press("k")
        assert seen.page.evaluate(focused) == "m-8"


@pytest.mark.slow
def test_all_folds_open_and_close_at_once(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["readable"]) as seen:
        seen.page.click("#open")
        assert seen.page.locator("#story details:not([open])").count() == 0
        seen.page.click("#close")
        assert seen.page.locator("#story details[open]").count() == 0


def test_the_theme_can_be_turned(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["readable"], color_scheme="light") as seen:
        colours = [_background(seen.page)]
        for _ in range(2):
            seen.page.click("#theme")
            colours.append(_background(seen.page))
        assert colours[0] == colours[2] != colours[1]


def test_a_page_works_without_its_script(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["readable"], java_script_enabled=False) as seen:
        assert not seen.page.is_visible(".tools")
        assert seen.page.is_visible(".outline a >> nth=3")
        output = seen.page.get_by_text("zanzibar")
        assert not output.is_visible()
        seen.page.get_by_text("run_shell_command").click()
        assert output.is_visible()


@pytest.mark.slow
def test_the_outline_is_folded_where_there_is_little_room(browser: Browser, pages: dict[str, Path]) -> None:
    for width, is_open in ((1200, True), (375, False)):
        with watched(browser, pages["readable"], viewport={"width": width, "height": 700}) as seen:
            assert seen.page.is_visible(".outline a >> nth=0") is is_open


@pytest.mark.slow
def test_on_paper_there_is_the_conversation_and_nothing_to_click(
    browser: Browser, pages: dict[str, Path]
) -> None:
    with watched(browser, pages["readable"], color_scheme="dark") as seen:
        seen.page.emulate_media(media="print")
        assert not seen.page.is_visible(".top")
        assert not seen.page.is_visible(".outline")
        assert _background(seen.page) == "rgb(255, 255, 255)"
        assert "(https://fetch.spec.whatwg.org/)" in seen.page.evaluate(
            "getComputedStyle(document.querySelector('.prose a'), '::after').content"
        ).replace('" "', "").replace('"', "")
        assert seen.page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.slow
def test_the_list_is_filtered_and_ordered(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["index"]) as seen:
        page = seen.page
        rows = page.locator("#sessions tbody tr")
        page.keyboard.press("/")
        page.keyboard.type("failing  PREFLIGHT")
        assert rows.locator("visible=true").count() == 1
        assert page.inner_text("#count") == f"1 of {rows.count()}"
        page.keyboard.press("Escape")
        assert rows.locator("visible=true").count() == rows.count()
        page.get_by_role("button", name="Prompts").click()
        shown = [int(cell) for cell in page.locator("#sessions tbody td:nth-child(5)").all_inner_texts()]
        assert shown == sorted(shown, reverse=True)
        assert page.get_attribute("th:nth-child(5)", "aria-sort") == "descending"
        link = page.get_by_role("link", name="Fix the failing preflight")
        assert link.get_attribute("href") == "readable.html"


def test_the_list_on_paper_has_nothing_to_click(browser: Browser, pages: dict[str, Path]) -> None:
    with watched(browser, pages["index"]) as seen:
        seen.page.emulate_media(media="print")
        assert not seen.page.is_visible(".top")
        assert seen.page.is_visible("#sessions")


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(browser: Browser, pages: dict[str, Path], axe: str, name: str) -> None:
    # The script is not ours: the policy is set aside.
    with watched(browser, pages[name], bypass_csp=True) as seen:
        for scheme, faults in serious_faults(seen.page, axe):
            assert faults == [], scheme


@pytest.mark.slow
def test_axe_finds_nothing_serious_behind_folds(browser: Browser, tmp_path: Path, axe: str) -> None:
    opened = tmp_path / "opened.html"
    written = exported("html", readable_session(), level="everything")
    opened.write_bytes(written.replace(b"<details class=", b"<details open class="))
    with watched(browser, opened, bypass_csp=True, viewport={"width": 375, "height": 800}) as seen:
        for scheme, faults in serious_faults(seen.page, axe):
            assert faults == [], scheme


def _asked(server: socket.socket) -> bytes:
    """What a server was asked. Chromium may knock where a frame points to before it reads the policy."""
    if not select.select([server], [], [], 0.5)[0]:
        return b""
    connection, _ = server.accept()
    with connection:
        return connection.recv(1000) if select.select([connection], [], [], 1)[0] else b""


def _background(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))
