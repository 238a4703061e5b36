"""Usage: pictures that are drawn, tables with the same numbers, and everything narrowed by a click."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.serving import serving, session_of
from tests.browser.visiting import Visit, visiting
from tests.support.homes import write_session
from tests.support.web_apps import wait_until

PANELS = ("Tokens", "Models", "Tools", "Projects", "Hours of the week")
TOOLS = "gemini/tool-calls-jsonl-1"


@pytest.fixture
def usage(visit: Visit) -> Page:
    page = visit.go("/usage")
    expect(panel(page, "Models")).to_be_visible()
    expect(panel(page, "Tokens").locator("svg path").first).to_be_attached()
    return page


def panel(page: Page, title: str) -> Locator:
    return page.get_by_role("region", name=re.compile(f"^{title}")).first


def rows(page: Page, title: str) -> list[list[str]]:
    """The table behind a picture."""
    panel(page, title).get_by_role("button", name="Table").click()
    table = panel(page, title).get_by_role("table")
    expect(table).to_be_visible()
    more = panel(page, title).get_by_role("button", name=re.compile("^Show all"))
    if more.count():
        more.click()
    return [
        [cell.strip() for cell in row.locator("th, td").all_inner_texts()]
        for row in table.get_by_role("row").all()
    ]


def figure(page: Page, name: str) -> str:
    return page.locator("main dl div", has_text=re.compile(f"^{name}")).locator("dd").first.inner_text()


def saved(page: Page, title: str, folder: Path) -> list[list[str]]:
    with page.expect_download() as download:
        panel(page, title).get_by_role("button", name=re.compile("save as CSV")).click()
    download.value.save_as(folder / "saved.csv")
    assert download.value.suggested_filename.endswith(".csv")
    with (folder / "saved.csv").open(encoding="utf-8-sig", newline="") as file:
        return list(csv.reader(file))


def test_its_totals_are_those_of_the_server(visit: Visit, usage: Page) -> None:
    with visit.server.client() as client:
        total = client.get("/api/usage").json()["total"]
    assert figure(usage, "Sessions") == f"{total['sessions']:,}"
    told = usage.locator("main dl div", has_text=re.compile("^Tokens")).locator("dd").first
    assert re.sub(r"\D", "", told.get_attribute("title") or "") == str(total["tokens"]["total"])


@pytest.mark.parametrize("title", PANELS)
def test_every_picture_is_also_a_table_and_a_file(usage: Page, tmp_path: Path, title: str) -> None:
    shown = rows(usage, title)
    written = saved(usage, title, tmp_path)
    assert len(shown) == len(written) > 1
    assert shown[0] == written[0]
    assert [row[0] for row in shown] == [row[0].removeprefix("'") for row in written]


def test_the_tokens_of_the_days_add_up_to_the_total(visit: Visit, usage: Page, tmp_path: Path) -> None:
    days_shown = usage.get_by_role("group", name="Periods").get_by_role("button", name=re.compile("Day"))
    days_shown.click()
    expect(days_shown).to_have_attribute("aria-pressed", "true")
    names, *days = saved(usage, "Tokens", tmp_path)
    assert names[-1] == "All"
    with visit.server.client() as client:
        total = client.get("/api/usage").json()["total"]["tokens"]["total"]
    assert sum(int(day[-1]) for day in days) == total
    for day in days:
        assert sum(int(kind or 0) for kind in day[1:-1]) == int(day[-1])


@pytest.mark.parametrize(
    ("group", "button", "address"),
    [
        ("What is measured", "Cost", "measure=cost"),
        ("How it is split", re.compile("[Mm]odel"), "split=model"),
        ("Periods", re.compile("Week"), "by=week"),
        ("Periods", re.compile("Month"), "by=month"),
        ("Sums", re.compile("[Cc]umulative|[Ss]um|up|grow", re.IGNORECASE), "sum=true"),
    ],
)
def test_the_picture_over_time_can_be_turned(
    usage: Page, group: str, button: str | re.Pattern[str], address: str
) -> None:
    buttons = usage.get_by_role("group", name=group).get_by_role("button", name=button)
    buttons.last.click()
    expect(buttons.last).to_have_attribute("aria-pressed", "true")
    expect(usage).to_have_url(re.compile(address))
    expect(usage.get_by_role("main").locator("svg path").first).to_be_attached()


def test_a_click_narrows_everything_and_back_undoes_it(visit: Visit, usage: Page) -> None:
    before = figure(usage, "Sessions")
    panel(usage, "Tools").get_by_role("button", name=re.compile("^write_file")).first.click()
    chips = usage.get_by_role("list", name="Filtered by")
    expect(chips).to_contain_text("write_file")
    expect(usage.locator("main dl dd").first).not_to_have_text(before)
    narrowed = figure(usage, "Sessions")
    usage.reload()
    visit.settle()
    expect(chips).to_contain_text("write_file")
    usage.go_back()
    visit.settle()
    expect(chips).to_have_count(0)
    expect(usage.locator("main dl dd").first).to_have_text(before)
    usage.go_forward()
    expect(usage.locator("main dl dd").first).to_have_text(narrowed)
    chips.get_by_role("button", name=re.compile("remove this filter$")).first.click()
    expect(chips).to_have_count(0)
    expect(usage.locator("main dl dd").first).to_have_text(before)


@pytest.mark.parametrize("title", ["Models", "Projects", "Hours of the week"])
def test_what_is_clicked_is_what_is_shown(usage: Page, title: str) -> None:
    where = panel(usage, title)
    if title == "Hours of the week":
        where.get_by_role("button", name=re.compile("^Sun|Sunday")).first.click()
    else:
        where.get_by_role("listitem").get_by_role("button").first.click()
    expect(usage.get_by_role("list", name="Filtered by").get_by_role("listitem")).to_have_count(1)


def test_the_sessions_that_are_meant_are_one_click_away(visit: Visit, usage: Page) -> None:
    with visit.server.client() as client:
        groups = client.get("/api/usage", params={"by": "model"}).json()["groups"]
    most = max((group for group in groups if group["key"]), key=lambda group: group["tokens"]["total"] or 0)
    line = panel(usage, "Models").get_by_role("listitem").filter(has_text=most["key"]).first
    line.get_by_role("link").click()
    visit.settle()
    expect(usage).to_have_url(re.compile("/sessions"))
    expect(usage.locator("main a[data-session]").first).to_be_visible()


def test_a_session_is_shown_as_a_line_of_time_and_leads_to_its_messages(visit: Visit) -> None:
    page = visit.go(f"/usage?session={session_of(TOOLS)}")
    line = panel(page, "Where time went")
    line.get_by_role("link", name=re.compile("^Try all your tools")).click()
    expect(visit.turn(1)).to_be_visible()


def test_the_transcript_leads_to_where_the_time_went(visit: Visit) -> None:
    page = visit.go_to_session(session_of(TOOLS))
    page.locator("summary", has_text="Facts").click()
    page.get_by_role("link", name=re.compile("time went")).click()
    expect(panel(page, "Where time went")).to_contain_text("Try all your tools")
    expect(panel(page, "How full the context was").locator("svg path").first).to_be_attached()


def test_a_range_without_anything_can_be_cleared(visit: Visit) -> None:
    page = visit.go("/usage?since=2001-01-01&until=2001-01-02")
    expect(page.get_by_role("heading", name="No activity in this time")).to_be_visible()
    page.get_by_role("button", name="Clear it").click()
    expect(panel(page, "Models")).to_be_visible()


def test_pictures_are_drawn_anew_when_the_colours_change(usage: Page) -> None:
    ink = "() => getComputedStyle(document.querySelector('main [role=img] svg text')).fill"
    before = usage.evaluate(ink)
    usage.emulate_media(color_scheme="dark")
    wait_until(lambda: usage.evaluate(ink) != before, "other colours")


def test_sessions_of_one_id_can_each_be_picked(browser: Browser, tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        write_session(tmp_path / "home", prompt=f"About {name}", slug=name)
    options = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    with serving(*options, machine=tmp_path) as server, visiting(browser, server) as visit:
        picker = visit.go("/usage").get_by_role("region", name="One session").get_by_role("combobox")
        for group in ("Newest", "Most tokens", "Longest active time"):
            told = picker.locator(f'optgroup[label="{group}"] option')
            expect(told).to_have_count(3)
            assert len({option.get_attribute("value") for option in told.all()}) == 3
        picker.select_option(
            label=next(one for one in picker.locator("option").all_inner_texts() if "About two" in one)
        )
        expect(picker.locator("option:checked")).to_contain_text("About two")
