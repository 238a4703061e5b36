"""Sessions that want to do harm, in a real browser: their words are shown, and are only words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.serving import copy_cases, serving, session_of
from tests.browser.visiting import PHONE, Desk, Visit, opened, visiting
from tests.support.homes import tool_call, write_session
from tests.support.poisoned_homes import CONTROLS, SECRET, write_poisoned
from tests.support.web_apps import Served

RECORDED = "gemini/hostile"
WRITTEN = "0e0c9a2b-0000-4000-8000-00000000000e"
SCRIPT = "<script>alert('title')</script><img src=x onerror=alert(1)>"
ODD = (
    f"{SCRIPT} half an emoji: \ud83d, NUL: \x00, \u202egnp.exe\u202c, "
    "\x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J"
)
ESCAPES = (
    "".join(f"\x1b[{n % 108}m\x1b[{n}C\x1b]8;;javascript:alert({n})\x07x" for n in range(6000))
    + "\x1b["
    + "1;" * 60_000
    + "m"
)
OURS = ("/", "#", "?")
LINKS_ALLOWED = re.compile(r"https?://|mailto:|/(?!/)|#|\?")
LOOK = """() => {
    const banned = ["IFRAME", "OBJECT", "EMBED", "FORM", "BASE", "STYLE", "META"];
    const found = [];
    for (const one of document.querySelectorAll("*")) {
        if (banned.includes(one.tagName) && !document.head.contains(one)) found.push(one.outerHTML);
        if (one.tagName === "SCRIPT" && !one.src.startsWith(location.origin)) found.push(one.outerHTML);
        for (const { name, value } of one.attributes) {
            const isAddress = /href|src|action|^data$|poster/i.test(name);
            const isBad = /^\\W*(javascript|vbscript|data|file):/i.test(value);
            const isEvent = /^on|^srcdoc$/i.test(name);
            if (isEvent || (isAddress && isBad)) found.push(`${one.tagName} ${name}=${value}`);
        }
    }
    return found.map((one) => one.slice(0, 200));
}"""
LINKS = """() => [...document.querySelectorAll("a[href]")].map((one) => ({
    href: one.getAttribute("href"), rel: one.getAttribute("rel") ?? "" }))"""
HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.fixture(scope="module")
def hostile(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("hostile")
    home = copy_cases(folder / "home", RECORDED)
    call = tool_call(args={"command": ODD}, resultDisplay=ESCAPES)
    call["result"][0]["functionResponse"]["response"] = {"output": ESCAPES + ODD}
    edit = tool_call(
        "write_file",
        args={"file_path": f"/home/ada/{SCRIPT}.html", "content": ODD},
        resultDisplay={
            "fileDiff": f"@@ -0,0 +1 @@\n+{ODD}\n",
            "fileName": SCRIPT,
            "originalContent": None,
            "newContent": ODD,
        },
    )
    write_session(
        home,
        WRITTEN,
        slug="shop",
        project=f"/home/ada/{SCRIPT.replace('/', '')}",
        prompt=ODD,
        answer=ODD,
        calls=[call, edit],
    )
    with serving("--home", home, "--data", folder / "data", machine=folder) as served:
        yield served


@pytest.fixture(scope="module")
def desk_of_victims(browser: Browser, hostile: Served) -> Iterator[Desk]:
    with opened(browser, hostile) as context:
        yield Desk(context, hostile)


@pytest.fixture
def victim(desk_of_victims: Desk) -> Iterator[Visit]:
    """Nothing that is hostile may even be tried: a policy that stops it would be told as trouble."""
    with desk_of_victims.visit() as begun:
        yield begun


def check_harmless(page: Page) -> None:
    assert page.evaluate(LOOK) == []
    for link in page.evaluate(LINKS):
        assert LINKS_ALLOWED.match(link["href"]), link
        if not link["href"].startswith(OURS):
            assert {"noopener", "noreferrer", "nofollow"} <= set(link["rel"].split()), link


@pytest.mark.parametrize("view", ["/", "/sessions", "/search?q=alert", "/usage", "/projects", "/health"])
def test_no_view_does_what_sessions_say(victim: Visit, view: str) -> None:
    page = victim.go(view)
    page.wait_for_timeout(300)
    check_harmless(page)
    assert victim.is_too_wide() == ""


@pytest.mark.parametrize("session", [session_of(RECORDED), f"gemini:{WRITTEN}"], ids=["recorded", "written"])
def test_no_transcript_does_what_it_says(victim: Visit, session: str) -> None:
    page = victim.go_to_session(session, "?detail=everything")
    height = page.evaluate("document.querySelector('[aria-label=Messages]').scrollHeight")
    for place in range(0, int(height) + 700, 700):
        page.evaluate("(to) => document.querySelector('[aria-label=Messages]').scrollTo(0, to)", place)
        page.wait_for_timeout(60)
        check_harmless(page)
    assert victim.is_too_wide() == ""


def test_hostile_words_are_shown_as_they_are(victim: Visit) -> None:
    page = victim.go_to_session(session_of(RECORDED))
    expect(page.get_by_role("article").first).to_contain_text(
        "<script>alert('typed')</script><img src=x onerror=alert(1)>"
    )
    expect(page.get_by_role("heading", level=1)).to_contain_text("<script>alert('typed')</script>")
    expect(page).to_have_title(re.compile(r"^<script>alert\('typed'\)</script>"))


def test_good_links_work_and_bad_ones_are_words(victim: Visit) -> None:
    page = victim.go_to_session(session_of(RECORDED))
    good = page.get_by_role("article").get_by_role("link", name="good").first
    expect(good).to_have_attribute("href", "http://127.0.0.1:1/good")
    expect(page.get_by_role("article").get_by_role("link", name="mail").first).to_have_attribute(
        "href", re.compile("^mailto:")
    )
    for name in ("a script", "a page", "old", "file"):
        expect(page.get_by_role("article").get_by_role("link", name=name, exact=True)).to_have_count(0)


def test_no_character_turns_words_round_or_cannot_be_seen(victim: Visit) -> None:
    for session in (session_of(RECORDED), f"gemini:{WRITTEN}"):
        page = victim.go_to_session(session, "?detail=everything")
        assert not HIDDEN.findall(page.locator("main").inner_text().replace("\t", " ")), session
        assert not HIDDEN.findall(page.title())


def test_a_raw_record_is_only_words(victim: Visit) -> None:
    page = victim.go_to_session(f"gemini:{WRITTEN}")
    victim.press("r")
    expect(page.get_by_role("dialog")).to_contain_text("<script>")
    check_harmless(page)


def test_a_hostile_title_fits_on_a_phone(browser: Browser, hostile: Served) -> None:
    with visiting(browser, hostile, size=PHONE) as visit:
        for view in ("/", "/sessions", "/search?q=alert", "/projects", "/health", "/usage"):
            visit.go(view)
            assert visit.is_too_wide() == ""
        for session in (session_of(RECORDED), f"gemini:{WRITTEN}"):
            visit.go_to_session(session, "?detail=everything")
            assert visit.is_too_wide() == ""


def test_the_palette_shows_hostile_titles_as_words(victim: Visit) -> None:
    page = victim.go("/")
    victim.press("Control+k")
    expect(page.get_by_role("option", name=re.compile("<script>")).first).to_be_visible()
    check_harmless(page)


def test_words_of_an_address_are_only_words(victim: Visit) -> None:
    victim.foresee("400", "404")
    for address in (
        f"/search?q={SCRIPT}",
        f"/sessions?q={SCRIPT}",
        f"/sessions/{SCRIPT}",
        "/sessions?project=javascript:alert(1)",
    ):
        page = victim.go(address.replace("<", "%3C").replace(">", "%3E").replace("/script", "%2Fscript"))
        check_harmless(page)


def test_the_exported_page_of_a_hostile_session_is_harmless(victim: Visit, tmp_path: Path) -> None:
    page = victim.go_to_session(session_of(RECORDED))
    page.locator("summary", has_text="Export").click()
    with page.expect_download() as download:
        page.get_by_role("link", name=re.compile("^A page to share")).click()
    assert re.fullmatch(r"[\w .,()'-]+\.html", download.value.suggested_filename)


# Every field at once: models, tools, ids, titles, branches, names of arguments and of folders


POISON = f" {SCRIPT}[x](javascript:alert(1)) {CONTROLS} {SECRET}"
UNSEEN = """() => [document.title, document.body.innerText, ...[...document.querySelectorAll("*")]
    .flatMap((one) => [...one.attributes].map(({ value }) => value))]"""
CASES = ("gemini/hostile", "gemini/mcp", "claude/subagent", "codex/subagents")


@pytest.fixture(scope="module", params=[(), ("--redact",)], ids=["open", "redacted"])
def poisoned(
    request: pytest.FixtureRequest, browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("poisoned")
    home = write_poisoned(folder / "home", CASES, POISON)
    write_session(home, slug=f"\u202egnp{SCRIPT.replace('/', '')}", project=f"/home/ada/{POISON}")
    with serving("--home", home, "--data", folder / "data", *request.param, machine=folder) as served:
        yield served


def test_no_field_of_any_session_does_what_it_says(browser: Browser, poisoned: Served) -> None:
    with poisoned.client() as client:
        about = client.get("/api/about").json()
        sessions = client.get("/api/sessions", params={"kind": ["main", "subagent"], "limit": "200"}).json()

    def check(page: Page) -> None:
        check_harmless(page)
        for words in page.evaluate(UNSEEN):
            assert not HIDDEN.findall(words.replace("\t", " ").replace("\n", " ")), words[:200]
            assert not (about["is_redacted"] and SECRET[:16] in words), words[:200]

    with visiting(browser, poisoned) as visit:
        for view in ("/", "/sessions", "/search?q=tool:mcp*", "/usage", "/projects", "/health"):
            page = visit.go(view)
            page.wait_for_timeout(200)
            check(page)
        for session in sessions["sessions"]:
            page = visit.go_to_session(session["id"], "?detail=everything")
            visit.press("e")
            page.locator("summary", has_text="Facts").click()
            check(page)
            page.evaluate("() => document.querySelector('[aria-label=Messages]').scrollTo(0, 1e6)")
            page.wait_for_timeout(100)
            check(page)
        # What the page made of the ids leads on: to a session, to its project, to the tools.
        page = visit.go("/sessions")
        page.locator("main a[data-session]").first.click()
        expect(visit.turns.first).to_be_visible()
        page = visit.go("/projects")
        page.locator("main a.sessions-of").first.click()
        expect(page.locator("main a[data-session]").first).to_be_visible()
        page = visit.go("/usage")
        page.locator("main a[title$='with it']").first.click()
        expect(page.locator("main a[data-session]").first).to_be_visible()


def test_a_page_to_share_hides_secrets_unless_that_is_switched_off(
    browser: Browser, poisoned: Served
) -> None:
    with visiting(browser, poisoned) as visit:
        with poisoned.client() as client:
            is_redacted = client.get("/api/about").json()["is_redacted"]
            (first, *_) = client.get("/api/sessions").json()["sessions"]
        page = visit.go_to_session(first["id"])
        page.locator("summary", has_text="Export").click()
        switch, link = (
            page.get_by_label("Hide secrets"),
            page.get_by_role("link", name=re.compile("^A page to")),
        )
        expect(switch).to_have_count(0 if is_redacted else 1)
        for is_hidden in (True,) if is_redacted else (True, False):
            switch.set_checked(is_hidden) if not is_redacted else None
            with page.expect_download() as download:
                link.click()
            assert (SECRET in download.value.path().read_text("utf-8")) is not is_hidden
