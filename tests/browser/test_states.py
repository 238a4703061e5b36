"""What is shown when there is nothing, not yet, no more, or no leave to see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.serving import copy_cases, serving
from tests.browser.visiting import PHONE, Visit, visiting
from tests.support.web_apps import Served

NOTHING = re.compile("^No sessions")
VIEWS = ("/", "/sessions", "/search", "/usage", "/projects", "/health")


@pytest.fixture
def empty(browser: Browser, tmp_path: Path) -> Iterator[Visit]:
    (tmp_path / "home").mkdir()
    options = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    with serving(*options, machine=tmp_path) as server, visiting(browser, server) as begun:
        yield begun


def test_a_machine_without_sessions_is_told_so_in_every_view(empty: Visit) -> None:
    for view in VIEWS:
        page = empty.go(view)
        expect(page.get_by_role("heading", level=1)).to_have_count(1)
        expect(page.get_by_role("alert")).to_have_count(0)
        assert empty.is_too_wide() == ""
    page = empty.go("/")
    expect(page.get_by_role("heading", name=NOTHING)).to_be_visible()
    page = empty.go("/sessions")
    expect(page.get_by_role("heading", name=NOTHING)).to_be_visible()


def test_the_first_session_appears_by_itself(empty: Visit, tmp_path: Path) -> None:
    page = empty.go("/")
    expect(page.get_by_role("heading", name=NOTHING)).to_be_visible()
    copy_cases(tmp_path / "home", "gemini/images")
    expect(page.get_by_text("Describe pic.png with your reader.").first).to_be_visible(timeout=30_000)


def test_at_the_first_start_the_page_fills_as_soon_as_there_is_an_index(
    browser: Browser, tmp_path: Path
) -> None:
    copy_cases(tmp_path / "home")
    options = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    with (
        serving(*options, machine=tmp_path, is_read=False) as server,
        visiting(browser, server) as visit,
    ):
        # There is nothing to ask yet, which the page must take for what it is.
        visit.foresee("503")
        page = visit.page
        page.goto(f"{server.base}/?token={server.token}")
        page.evaluate(
            """() => {
                const look = () => (window.alerted ||= document.querySelector("[role=alert]") !== null);
                new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
                look();
            }"""
        )
        expect(page.get_by_role("region", name="Newest sessions")).to_be_visible(timeout=60_000)
        assert page.evaluate("window.alerted") is False


@pytest.mark.parametrize("address", ["/no/such/page", "/usages"])
def test_a_wrong_address_is_told(visit: Visit, address: str) -> None:
    page = visit.go(address)
    expect(page.get_by_role("alert")).to_contain_text("There is nothing at this address")
    page.get_by_role("navigation", name="Views").get_by_role("link", name="Sessions").click()
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()


def test_a_server_that_is_gone_is_told_and_what_was_read_stays(browser: Browser, tmp_path: Path) -> None:
    copy_cases(tmp_path / "home", "gemini/images", "claude/images")
    options = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    with serving(*options, machine=tmp_path) as server, visiting(browser, server) as visit:
        page = visit.go("/")
        visit.foresee(
            "ERR_CONNECTION_REFUSED",
            "ERR_INCOMPLETE_CHUNKED_ENCODING",
            "ERR_CONNECTION_RESET",
            "ERR_EMPTY_RESPONSE",
        )
        server.process.terminate()
        server.process.wait(20)
        expect(page.get_by_role("navigation", name="Views")).to_contain_text("Not connected")
        expect(page.get_by_text("Describe pic.png with your reader.").first).to_be_visible()
        page.get_by_role("navigation", name="Views").get_by_role("link", name="Projects").click()
        expect(page.get_by_role("alert")).to_contain_text(re.compile("still running"))


# Who may see it


def test_without_the_token_a_page_says_how_to_get_in(browser: Browser, server: Served) -> None:
    with visiting(browser, server, with_token=False) as visit:
        visit.foresee("401")
        answer = visit.page.goto(f"{server.base}/sessions")
        assert answer
        assert answer.status == 401
        assert "html" in answer.headers["content-type"], "a person looks at it"
        expect(visit.page.get_by_role("heading", level=1)).to_have_text("This page is locked")
        expect(visit.page.locator("body")).to_contain_text("Open the address that was printed")
        assert visit.is_too_wide() == ""


def test_the_token_becomes_a_cookie_that_no_script_reads_and_reloading_works(
    browser: Browser, server: Served
) -> None:
    with visiting(browser, server, with_token=False) as visit:
        page = visit.page
        page.goto(f"{server.base}/sessions?q=agent%3Acodex&token={server.token}")
        visit.settle()
        expect(page).to_have_url(f"{server.base}/sessions?q=agent%3Acodex")
        (cookie,) = page.context.cookies()
        assert cookie["httpOnly"]
        assert cookie["sameSite"] == "Strict"
        assert page.evaluate("document.cookie") == ""
        page.reload()
        visit.settle()
        expect(page.locator("main a[data-session]").first).to_be_visible()
        assert server.token not in page.content()


def test_an_old_token_is_told_from_a_missing_one(browser: Browser, server: Served) -> None:
    with visiting(browser, server, with_token=False) as visit:
        visit.foresee("401")
        visit.page.goto(f"{server.base}/?token=of-yesterday")
        expect(visit.page.locator("body")).to_contain_text("from an earlier start")


def test_two_servers_are_open_at_once(browser: Browser, server: Served, tmp_path: Path) -> None:
    copy_cases(tmp_path / "home", "gemini/images")
    options = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    with serving(*options, machine=tmp_path) as other, visiting(browser, server, with_token=False) as visit:
        page = visit.page
        page.goto(f"{server.base}/?token={server.token}")
        visit.settle()
        second = page.context.new_page()
        visit.foresee(f"elsewhere: {other.base}")
        second.goto(f"{other.base}/?token={other.token}")
        expect(second.get_by_text("Describe pic.png with your reader.").first).to_be_visible()
        for opened in (page, second):
            opened.reload()
            expect(opened.get_by_role("region", name="Newest sessions")).to_be_visible()
        assert len(page.context.cookies()) == 2
        second.close()


def test_secrets_are_hidden_when_asked_and_the_page_says_so(browser: Browser, tmp_path: Path) -> None:
    copy_cases(tmp_path / "home", "gemini/images")
    options = ("--redact", "--home", tmp_path / "home", "--data", tmp_path / "data")
    with serving(*options, machine=tmp_path) as server, visiting(browser, server) as visit:
        page = visit.go("/")
        expect(page.get_by_text(re.compile("Secrets (are )?hidden")).first).to_be_visible()
    with (
        serving(*options, machine=tmp_path) as server,
        visiting(browser, server, size=PHONE) as visit,
    ):
        page = visit.go("/")
        expect(
            page.get_by_text(re.compile("Secrets (are )?hidden")).filter(visible=True).first
        ).to_be_visible()


@pytest.mark.parametrize("options", [("--sample",), ()], ids=["asked-for", "empty-machine"])
def test_the_sample_is_named_as_one(browser: Browser, tmp_path: Path, options: tuple[str, ...]) -> None:
    with serving(*options, machine=tmp_path) as server, visiting(browser, server) as visit:
        page = visit.go("/")
        expect(page.get_by_text(re.compile("^Sample")).first).to_be_visible()
