"""Projects and Health: one line for each project, and how everything stands."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.visiting import Visit


def test_every_project_has_a_line_that_leads_to_its_sessions(visit: Visit) -> None:
    with visit.server.client() as client:
        told = client.get("/api/projects", params={"limit": 200}).json()
    page = visit.go("/projects")
    lines = page.get_by_role("main").get_by_role("listitem")
    expect(page.get_by_text(f"{told['total']} projects")).to_be_visible()
    assert lines.count() == told["total"]
    alpha = page.get_by_role("main").get_by_role("link", name=re.compile("^alpha")).first
    alpha.click()
    visit.settle()
    expect(page).to_have_url(re.compile(r"/sessions\?project="))
    expect(page.locator("main a[data-session]").first).to_be_visible()


def test_projects_stand_in_the_order_one_wants(visit: Visit) -> None:
    page = visit.go("/projects")
    order = page.get_by_role("group", name="Order")
    order.get_by_role("button", name="Name").click()
    names = page.locator("main li .name").all_inner_texts()
    first = [name.split("\n")[0].lower() for name in names]
    assert first == sorted(first)
    assert len(first) > 3


def test_health_tells_how_everything_stands(visit: Visit) -> None:
    page = visit.go("/health")
    main = page.get_by_role("main")
    for heading in ("Problems", "Kept copies", "What agents will delete"):
        expect(main.get_by_role("heading", name=heading)).to_be_visible()
    expect(main).to_contain_text("Gemini CLI")
    expect(main).to_contain_text(re.compile(r"\d+ problems"))


def test_every_byte_is_accounted_for(visit: Visit) -> None:
    page = visit.go("/health")
    page.get_by_role("button", name="Read all files").click()
    table = page.get_by_role("main").get_by_role("table").last
    expect(table).to_contain_text("Bytes", timeout=30_000)
    expect(table).to_contain_text("Records")


def test_what_is_new_is_read_when_asked(visit: Visit) -> None:
    page = visit.go("/health")
    page.get_by_role("main").get_by_role("button", name=re.compile("refresh", re.IGNORECASE)).first.click()
    expect(page.get_by_role("main")).to_contain_text(re.compile(r"(read|checked) in"), timeout=20_000)
