"""A transcript: read, jumped about in, folded, found in, linked to and copied from."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.serving import session_of
from tests.browser.visiting import PHONE, Desk, Visit, box_of, draw_anew, opened, visiting
from tests.conftest import FIXTURES
from tests.support.web_apps import Served, wait_until

TOOLS = "gemini/tool-calls-jsonl-1"
PROMPT, LISTED, WRITTEN, EDITED, PRINTED, LAST = 1, 2, 6, 7, 10, 14
REWOUND = "gemini/rewind-jsonl-2"
NESTED = "gemini/subagents-nested-jsonl"
LEVELS = ("prompts", "conversation", "tools", "thoughts", "everything")


@pytest.fixture
def tools(visit: Visit) -> Page:
    return visit.go_to_session(session_of(TOOLS))


@pytest.fixture(scope="module")
def writing_desk(browser: Browser, server: Served) -> Iterator[Desk]:
    """A browser that lets pages write to the clipboard and tests read it."""
    with opened(browser, server, permissions=["clipboard-read", "clipboard-write"]) as context:
        yield Desk(context, server)


@pytest.fixture
def writing(writing_desk: Desk) -> Iterator[Visit]:
    """Somebody at that browser."""
    with writing_desk.visit() as begun:
        yield begun


def copied(page: Page, words: str) -> str:
    """What was copied, as soon as it holds these words."""
    wait_until(lambda: words in page.evaluate("navigator.clipboard.readText()"), f"a copy of {words!r}")
    return str(page.evaluate("navigator.clipboard.readText()"))


def calls(where: Page | Locator, tool: str) -> Locator:
    return where.locator("[aria-expanded]").filter(has_text=re.compile(rf"{tool}\b"))


def is_in_view(page: Page, what: Locator) -> bool:
    box, height = box_of(what), page.viewport_size or {"height": 0}
    return 0 <= box["y"] < height["height"]


# What is shown


@pytest.mark.parametrize(
    ("case", "asked", "answered"),
    [
        (TOOLS, "Try all your tools on this folder.", "Done. One file was missing"),
        ("claude/tools", None, None),
        ("codex/tools", "Sort the pears into a file of their own", "Done: the pears are in src/pears.py"),
    ],
)
def test_prompts_and_answers_of_every_agent_are_told(
    visit: Visit, case: str, asked: str | None, answered: str | None
) -> None:
    page = visit.go_to_session(session_of(case))
    for words in filter(None, (asked, answered)):
        expect(page.get_by_role("article").get_by_text(words).first).to_be_attached()
    expect(page.get_by_role("heading", level=1)).not_to_be_empty()


def test_the_head_says_what_session_it_is(tools: Page) -> None:
    expect(tools.get_by_role("heading", level=1)).to_contain_text("Try all your tools on this folder.")
    expect(tools).to_have_title(re.compile("^Try all your tools"))
    head = tools.get_by_role("main")
    for words in ("Gemini CLI", "alpha", "1 prompt", "15 calls"):
        expect(head.get_by_text(words, exact=False).first).to_be_visible()


def test_levels_of_detail_tell_more_and_less(visit: Visit, tools: Page) -> None:
    level = tools.get_by_role("combobox", name="Detail")
    level.select_option("prompts")
    expect(visit.turns).to_have_count(1)
    level.select_option("thoughts")
    expect(visit.turn(LISTED)).to_contain_text("Look at the folder first.")
    expect(tools).to_have_url(re.compile("detail=thoughts"))
    level.select_option("conversation")
    expect(visit.turn(LISTED)).not_to_contain_text("Look at the folder first.")


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_of_detail_has_an_address(visit: Visit, level: str) -> None:
    page = visit.go_to_session(session_of(TOOLS), f"?detail={level}")
    expect(page.get_by_role("combobox", name="Detail")).to_have_value(level)


def test_a_call_opens_and_folds(visit: Visit, tools: Page) -> None:
    call = calls(visit.turn(LISTED), "list_directory")
    expect(call).to_have_attribute("aria-expanded", "false")
    call.click()
    expect(visit.turn(LISTED).get_by_role("group", name=re.compile("^Output"))).to_contain_text("notes.txt")
    call.click()
    expect(call).to_have_attribute("aria-expanded", "false")
    expect(visit.turn(LISTED).get_by_role("group", name=re.compile("^Output"))).to_have_count(0)


def test_all_calls_open_and_fold_with_one_key(visit: Visit, tools: Page) -> None:
    visit.press("e")
    expect(calls(visit.turn(LISTED), "list_directory")).to_have_attribute("aria-expanded", "true")
    visit.press("e")
    expect(calls(visit.turn(LISTED), "list_directory")).to_have_attribute("aria-expanded", "false")


def test_a_change_is_shown_in_one_column_or_two_and_the_choice_stays(visit: Visit) -> None:
    page = visit.go_to_session(session_of(TOOLS), f"#{EDITED}")
    calls(visit.turn(EDITED), "replace").click()
    change = visit.turn(EDITED).get_by_role("figure")
    expect(change).to_contain_text("return a + b  # Summe")
    rows = change.locator("table tr").filter(has_text="return a + b")
    expect(rows).to_have_count(2)
    change.get_by_role("button", name="Side by side").click()
    expect(rows).to_have_count(1)
    page.reload()
    expect(visit.turns.first).to_be_visible()
    calls(visit.turn(EDITED), "replace").click()
    expect(rows).to_have_count(1)


def test_a_narrow_window_shows_changes_in_one_column(browser: Browser, server: Served) -> None:
    with visiting(browser, server, size=PHONE) as visit:
        page = visit.go_to_session(session_of(TOOLS), f"#{EDITED}")
        page.evaluate("document.activeElement?.blur?.()")
        visit.press("s")
        calls(visit.turn(EDITED), "replace").click()
        change = visit.turn(EDITED).get_by_role("figure")
        expect(change.locator("table tr").filter(has_text="return a + b")).to_have_count(2)
        assert visit.is_too_wide() == ""


def test_colours_of_a_terminal_are_colours(visit: Visit) -> None:
    visit.go_to_session(session_of(TOOLS), f"#{PRINTED}")
    calls(visit.turn(PRINTED), "run_shell_command").last.click()
    output = visit.turn(PRINTED).get_by_role("group", name=re.compile("^Output"))
    red = output.get_by_text("red", exact=True)
    expect(red).to_be_visible()
    of_words, of_screen = (
        one.evaluate("(one) => getComputedStyle(one).color") for one in (red, output.locator("pre"))
    )
    assert of_words != of_screen
    assert "\x1b" not in output.inner_text()
    assert "[31m" not in output.inner_text()


@pytest.mark.parametrize("case", ["gemini/images", "claude/images", "codex/images", "gemini/image-prompt"])
def test_pictures_are_shown_and_grow(visit: Visit, case: str) -> None:
    page = visit.go_to_session(session_of(case), "?detail=everything")
    picture = page.get_by_role("article").get_by_role("img").first
    picture.scroll_into_view_if_needed()
    expect(picture).to_be_visible()
    drawn = "[...document.images].every((one) => one.complete && one.naturalWidth > 0)"
    wait_until(lambda: bool(page.evaluate(drawn)), "all pictures")
    assert all(
        source.startswith(visit.server.base)
        for source in page.evaluate("[...document.images].map((one) => one.src)")
    )
    page.get_by_role("button", name=re.compile("^Enlarge")).first.click()
    expect(page.get_by_role("dialog").get_by_role("img")).to_be_visible()
    visit.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.parametrize(
    ("case", "words"),
    [(NESTED, "Find where add is defined"), ("claude/subagent", ""), ("codex/subagents", "")],
)
def test_a_subagent_is_read_in_place(visit: Visit, case: str, words: str) -> None:
    page = visit.go_to_session(session_of(case), "?detail=conversation")
    page.get_by_role("button", name=re.compile("^Read the subagent")).first.click()
    child = page.get_by_role("region", name="Subagent").first
    expect(child.get_by_role("article").first).to_be_visible()
    expect(child).to_contain_text(words)
    page.get_by_role("button", name="Close the subagent").first.click()
    expect(page.get_by_role("region", name="Subagent")).to_have_count(0)


def test_a_dropped_branch_is_shown_where_it_forked(visit: Visit) -> None:
    page = visit.go_to_session(session_of(REWOUND))
    expect(page.get_by_text("Second answer.")).to_have_count(0)
    fork = page.get_by_role("button", name=re.compile("undone")).filter(has_text="Second question")
    fork.click()
    branch = page.get_by_role("region", name="Dropped branch").first
    expect(branch).to_contain_text("Second answer.")
    assert box_of(visit.turn(3))["y"] < box_of(branch)["y"] < box_of(visit.turn(12))["y"]
    fork.click()
    expect(page.get_by_text("Second answer.")).to_have_count(0)
    visit.press("b")
    expect(page.get_by_text("Third answer.")).to_be_visible()
    expect(page.get_by_text("Answer after rewinding.")).to_be_visible()


def test_tokens_and_time_stand_beside_a_turn(visit: Visit, tools: Page) -> None:
    rail = visit.turn(LISTED).get_by_role("group", name=re.compile("^Time and tokens"))
    expect(rail).to_contain_text(re.compile(r"\d"))


# Getting about


def test_the_outline_leads_to_a_prompt_and_knows_where_one_is(visit: Visit) -> None:
    page = visit.go_to_session(session_of("claude/images"))
    outline = page.get_by_role("navigation", name="Prompts")
    expect(outline).to_contain_text("3 prompts")
    outline.get_by_role("button", name=re.compile("^Compare them")).click()
    expect(page).to_have_url(re.compile("#13$"))
    expect(outline.locator("[aria-current=location]")).to_contain_text("Compare them")
    assert is_in_view(page, visit.turn(13))


def test_the_outline_can_be_put_away_and_stays_so(visit: Visit, tools: Page) -> None:
    outline = tools.get_by_role("navigation", name="Prompts")
    expect(outline).to_be_visible()
    visit.press("o")
    expect(outline).to_have_count(0)
    tools.reload()
    expect(visit.turns.first).to_be_visible()
    expect(outline).to_have_count(0)
    tools.get_by_role("button", name="Outline").click()
    expect(outline).to_be_visible()


def test_keys_go_from_message_to_message_and_prompt_to_prompt(visit: Visit) -> None:
    page = visit.go_to_session(session_of("claude/images"))
    visit.press("j")
    page.wait_for_url(re.compile(r"#\d+$"))
    visit.press("Shift+J")
    page.wait_for_url(re.compile("#8$"))
    visit.press("Shift+J")
    page.wait_for_url(re.compile("#13$"))
    visit.press("Shift+K")
    page.wait_for_url(re.compile("#8$"))
    visit.press("k")
    page.wait_for_url(re.compile("#7$"))
    visit.press("Shift+G")
    page.wait_for_url(re.compile("#15$"))


def test_words_are_found_also_in_folded_calls(visit: Visit, tools: Page) -> None:
    visit.press("/")
    box = tools.get_by_label("Find in this session")
    expect(box).to_be_focused()
    tools.keyboard.type("notes.txt")
    status = tools.get_by_role("search").get_by_role("status")
    # Each letter is looked for while the next is typed.
    expect(status).to_have_text("1 of 2")
    total = 2
    expect(tools.get_by_role("article").get_by_text("notes.txt").first).to_be_visible()
    visit.press("Enter")
    expect(status).to_have_text(f"2 of {total}")
    tools.get_by_role("button", name="Previous hit").click()
    expect(status).to_have_text(f"1 of {total}")
    tools.get_by_role("group", name="Messages", exact=True).focus()
    visit.press("n")
    expect(status).to_have_text(f"2 of {total}")
    visit.press("N")
    expect(status).to_have_text(f"1 of {total}")
    visit.press("Escape")
    expect(box).to_have_count(0)


def test_nothing_found_is_said(visit: Visit, tools: Page) -> None:
    visit.press("f")
    tools.keyboard.type("zyxwvutsrq")
    expect(tools.get_by_role("search").get_by_role("status")).to_have_text("Nothing found")


@pytest.mark.parametrize("form", ["#{}", "?at={}"])
def test_a_link_leads_to_its_message(visit: Visit, form: str) -> None:
    page = visit.go_to_session(session_of(TOOLS), form.format(LAST))
    expect(visit.turn(LAST)).to_be_visible()
    assert is_in_view(page, visit.turn(LAST))
    page.reload()
    expect(visit.turn(LAST)).to_be_visible()
    assert is_in_view(page, visit.turn(LAST))


def test_a_link_to_a_message_that_a_level_leaves_out_tells_more(visit: Visit) -> None:
    visit.go_to_session(session_of(REWOUND), "#9")
    expect(visit.turn(9)).to_contain_text("Third answer.")


def test_back_returns_to_the_list_one_came_from(visit: Visit) -> None:
    page = visit.go("/sessions?q=agent%3Acodex")
    page.locator("main a[data-session]").first.click()
    expect(visit.turns.first).to_be_visible()
    visit.press("j")
    # The address follows a moment later.
    expect(page).to_have_url(re.compile(r"#\d+$"))
    page.go_back()
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()
    expect(page).to_have_url(re.compile("agent%3Acodex"))


# Taking along


def test_a_message_is_copied_as_markdown(writing: Visit) -> None:
    page = writing.go_to_session(session_of(TOOLS), f"#{LAST}")
    turn = writing.turn(LAST)
    turn.hover()
    turn.get_by_role("button", name="Copy", exact=True).click()
    said = "Done. One file was missing, one edit failed, the rest worked."
    assert said in copied(page, said).splitlines()


def test_a_turn_is_copied_with_all_its_answers(writing: Visit) -> None:
    page = writing.go_to_session(session_of("claude/images"), "#8")
    writing.turn(8).hover()
    writing.turn(8).get_by_role("button", name="Copy turn").click()
    words = copied(page, "A grey rectangle.")
    assert "And grey.png?" in words
    assert "Compare them." not in words


def test_a_link_is_copied_with_one_key(writing: Visit) -> None:
    session = session_of(TOOLS)
    page = writing.go_to_session(session, f"#{LAST}")
    writing.press("y")
    address = copied(page, "http")
    assert address.startswith(writing.server.base)
    assert address.endswith(f"#{LAST}")
    assert "token" not in address
    page.goto(address)
    expect(writing.turn(LAST)).to_be_visible()


def test_the_record_is_shown_as_the_agent_wrote_it(writing: Visit) -> None:
    page = writing.go_to_session(session_of(TOOLS), f"#{PROMPT}")
    writing.turn(PROMPT).hover()
    writing.turn(PROMPT).get_by_role("button", name="Raw").click()
    drawer = page.get_by_role("dialog", name=f"Raw record of message {PROMPT}")
    expect(drawer).to_contain_text('"Try all your tools on this folder."')
    drawer.get_by_role("button", name="Copy").click()
    (file,) = (FIXTURES / TOOLS / "home").rglob("chats/*.jsonl")
    written = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    assert json.loads(copied(page, "{")) in written
    writing.press("Escape")
    expect(drawer).to_have_count(0)


def test_a_session_is_exported(visit: Visit, tools: Page, tmp_path: Path) -> None:
    tools.locator("summary", has_text="Export").click()
    with tools.expect_download() as download:
        tools.get_by_role("link", name=re.compile("^A page to share")).click()
    download.value.save_as(tmp_path / "page.html")
    assert "Try all your tools on this folder." in (tmp_path / "page.html").read_text("utf-8")
    assert download.value.suggested_filename.endswith(".html")


def test_the_command_that_resumes_is_shown_and_copied(writing: Visit) -> None:
    page = writing.go_to_session(session_of(TOOLS))
    page.locator("summary", has_text="Resume").click()
    menu = page.locator("details[open]")
    expect(menu).to_contain_text("'/tmp/demo/alpha' does not exist")
    line = menu.locator("code", has_text=re.compile("^geminids export"))
    line.locator("..").get_by_role("button", name="Copy").click()
    assert copied(page, "geminids export") == line.inner_text()


def test_a_session_that_does_not_exist_is_told(visit: Visit) -> None:
    visit.foresee("404")
    page = visit.go("/sessions/gemini%3Anone")
    expect(page.get_by_role("alert")).to_contain_text("Not found")
    page.get_by_role("main").get_by_role("link", name="All sessions").click()
    expect(page.get_by_role("heading", name="Sessions", level=1)).to_be_visible()


def test_the_outline_is_a_sheet_on_a_phone(browser: Browser, server: Served) -> None:
    with visiting(browser, server, size=PHONE) as visit:
        page = visit.go_to_session(session_of("claude/images"))
        outline = page.get_by_role("navigation", name="Prompts")
        expect(outline).to_have_count(0)
        page.get_by_role("button", name="Outline").click()
        outline.get_by_role("button", name=re.compile("^Compare them")).click()
        expect(outline).to_have_count(0)
        assert is_in_view(page, visit.turn(13))
        assert visit.is_too_wide() == ""


def test_what_was_looked_for_does_not_come_back_after_escape(visit: Visit) -> None:
    page = visit.page
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(re.compile("/api/session/find"), hold, times=1)
    with page.expect_request(re.compile("/api/session/find")):
        visit.go_to_session(session_of(TOOLS), "?find=all+tools")
    bar = page.get_by_role("search", name="In this session")
    expect(bar).to_be_visible()
    visit.press("Escape")
    expect(bar).to_have_count(0)
    with page.expect_response(re.compile("/api/session/find")):
        held[0].continue_()
    draw_anew(page)
    page.wait_for_timeout(500)
    expect(page).not_to_have_url(re.compile("find="))
