"""The views beside the list: projects, usage, what is kept; how one gets to them and back."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
from rich.cells import cell_len

from geminids import sample
from geminids.core.model import KnownBy, Project
from geminids.faces.drawing.amounts import dollars
from geminids.faces.tui.browser.app import Browser
from geminids.faces.tui.browser.columns import Column, heading_row, table_row
from geminids.faces.tui.browser.day_bars import bar_rows, bars_of
from geminids.faces.tui.browser.projects import explained_state, project_lines, state_of
from geminids.faces.tui.browser.usage import GROUPS
from geminids.faces.tui.browser.view import View
from geminids.faces.tui.browser.views import LIST, VIEWS, Views
from geminids.faces.tui.lines import Piece
from geminids.faces.tui.matches import Scope
from geminids.library import Library
from geminids.sharing.transcript import safe
from tests.conftest import FIXTURES, NOW, Run
from tests.support import browsing
from tests.support.browsing import Browsing, Script
from tests.support.homes import write_session
from tests.support.kept_homes import FIRST, lose_everything, user_home

if TYPE_CHECKING:
    pass

CASES = (
    "gemini/tool-calls-jsonl-2",
    "gemini/projects",
    "claude/plain",
    "claude/tools",
    "codex/plain",
    "codex/tools",
)
SIZES = ((60, 20), (80, 24), (140, 45))
CHINESE = "购物车里的商品数量在刷新页面之后变成零"
SCOPES = (Scope(), Scope(project="."), Scope(kept=True))


class Place(NamedTuple):
    """Homes, and the folder of their index."""

    home: Path
    data: Path

    @property
    def options(self) -> tuple[object, ...]:
        return "--home", self.home, "--data", self.data


def browse(
    place: Place,
    play: Script,
    *,
    size: tuple[int, int] = (80, 24),
    first: Callable[[Browser], View] | None = None,
) -> None:
    """Play with the browser of a place; without another view it begins with the list."""
    browsing.browse([place.home], place.data, play, size=size, first=first)


def beside(key: str, opened: list[str] | None = None) -> Callable[[Browser], View]:
    """A view beside the list as the first; what it opens is noted."""
    note = opened.append if opened is not None else lambda _: None
    return lambda stage: Views(stage, key, lambda project, _: note(project), note)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A home of all agents, with names that try to do harm and such that are wide."""
    folder = tmp_path_factory.mktemp("views")
    home = folder / "home"
    for case in CASES:
        shutil.copytree(FIXTURES / case / "home", home, symlinks=True, dirs_exist_ok=True)
    write_session(home, "90000000-a", prompt=CHINESE, day=14, slug="shop", project=f"/home/ada/{CHINESE}")
    evil = "\x1b[2J\x1b]0;evil\x07"
    write_session(
        home, "91000000-a", prompt=f"{evil} words", day=15, slug="evil", project=f"/srv/{evil}/x\x9b"
    )
    with Library([home], folder / "data") as library:
        library.to_come()
    return Place(home, folder / "data")


@pytest.fixture
def library(place: Place) -> Iterator[Library]:
    with Library([place.home], place.data) as library:
        yield library


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """The home of a user with an agent that will soon delete two sessions, and their copies."""
    home = user_home(tmp_path, monkeypatch)
    place = Place(home, tmp_path / "data")
    with Library([home], place.data) as library:
        library.to_come()
    return place


def text_of(row: Sequence[Any]) -> str:
    return "".join(piece.text for piece in row)


# Pieces


COLUMNS = (
    Column("name", 10, grows=True),
    Column("number", 8, is_number=True),
    Column("folder", 12, 60, grows=True, keeps_end=True),
    Column("", 2),
)


@pytest.mark.parametrize("room", [40, 59, 60, 61, 80, 141])
@pytest.mark.parametrize("name", ["shop", CHINESE, "\x1b[2Jevil\n"])
def test_a_row_is_as_wide_as_the_screen(room: int, name: str) -> None:
    row = table_row(COLUMNS, [Piece(name), Piece("1,234"), Piece(f"/srv/{name}"), Piece("✗")], room)
    assert cell_len(text_of(row)) == cell_len(text_of(heading_row(COLUMNS, room))) == room
    assert "\x1b" not in text_of(row)


def test_a_folder_is_cut_at_its_beginning_and_leaves_where_there_is_no_room() -> None:
    cells = [Piece("shop"), Piece("1"), Piece("/home/ada/dev/somewhere/shop"), Piece("")]
    assert "…/ada/dev/somewhere/shop " in text_of(table_row(COLUMNS, cells, 60))
    assert "/" not in text_of(table_row(COLUMNS, cells, 59))


def test_days_are_bars_as_wide_as_there_is_room() -> None:
    used = {date(2026, 6, 1): 1, date(2026, 6, 3): 1000, date(2026, 6, 7): None}
    bars = bars_of(used, date(2026, 6, 1), date(2026, 6, 7), 78)
    assert bars is not None
    assert (bars.values, bars.width, bars.period) == ([1, 0, 1000, 0, 0, 0, 0], 11, "day")
    *drawn, names = map(text_of, bar_rows(bars, 4))
    assert drawn[0].split() == ["█" * 10]
    assert drawn[-1].split() == ["▁" * 10, "█" * 10]
    assert (names[:5], names.rstrip()[-5:]) == ("1 Jun", "7 Jun")
    assert {len(line) for line in (*drawn, names)} == {77}


def test_more_days_than_there_is_room_for_are_weeks() -> None:
    used = {date(2026, 1, 1): 5, date(2026, 1, 4): 1, date(2026, 6, 15): 5}
    bars = bars_of(used, date(2026, 1, 1), date(2026, 6, 15), 58)
    assert bars is not None
    assert (bars.first, bars.day(24), bars.period) == (date(2025, 12, 29), date(2026, 6, 15), "week")
    assert (bars.values[0], bars.values[-1], sum(bars.values)) == (6, 5, 11)
    assert text_of(bar_rows(bars, 3)[-1]).split("  ")[0] == "29 Dec"


def test_of_many_weeks_the_last_are_seen() -> None:
    bars = bars_of({date(2020, 1, 1): 9, date(2026, 6, 15): 5}, date(2020, 1, 1), date(2026, 6, 15), 58)
    assert bars is not None
    assert (len(bars.values), bars.width, bars.highest, bars.day(57)) == (58, 1, 5, date(2026, 6, 15))


def test_one_day_or_nothing_is_no_picture() -> None:
    used = {date(2026, 6, 15): 5}
    assert bars_of(used, date(2026, 6, 15), date(2026, 6, 15), 58) is None
    assert bars_of(used, date(2026, 6, 1), date(2026, 6, 14), 58) is None


# Projects


def test_projects_and_their_numbers_are_those_of_the_commands(
    library: Library, place: Place, geminids: Run
) -> None:
    lines = project_lines(library, NOW)
    listed = json.loads(geminids("projects", "--json", *place.options).out)["projects"]
    assert [(one.report.project.path, one.report.sessions) for one in lines] == [
        (one["project"]["path"], one["sessions"]) for one in listed
    ]
    total = json.loads(geminids("stats", "--json", "--by", "project", *place.options).out)["total"]
    assert sum(one.used.prompts for one in lines) == total["prompts"]
    assert sum(one.used.tokens.total or 0 for one in lines) == total["tokens"]["total"]
    assert sum(float(one.used.tokens.cost or 0) for one in lines) == pytest.approx(total["tokens"]["cost"])


def test_a_project_is_meant_by_what_opens_it(library: Library, place: Place, geminids: Run) -> None:
    for line in project_lines(library, NOW):
        arguments = ("list", "--json", "--kind", "all", "--limit", "1000", *place.options)
        found = json.loads(geminids(*arguments, "--project", line.wanted).out)
        assert len(found["sessions"]) >= line.report.sessions


@pytest.mark.parametrize(
    ("project", "state", "said"),
    [
        (Project(str(FIXTURES), "3f2a", None, KnownBy.MARKER, certain=True), "", ""),
        (Project("/gone", "3f2a", None, KnownBy.RECORDS), "gone", "projects link 3f2a"),
        (Project("/gone", "3f2a", None, KnownBy.ARGUMENTS), "guessed", "is a guess. `geminids projects link"),
        (Project(None, "3f2a", None, None), "unknown", "only its hash 3f2a. `geminids projects resolve`"),
        (Project(None, None, "shop", None), "unknown", "no record names it"),
    ],
)
def test_what_is_wrong_with_a_folder_is_explained(
    library: Library, project: Project, state: str, said: str
) -> None:
    assert state_of(project) == state
    line = project_lines(library, NOW)[0]
    report = msgspec.structs.replace(line.report, project=project)
    assert said in explained_state(line._replace(report=report, state=state))


def test_typing_finds_a_project_and_enter_opens_it(place: Place) -> None:
    opened: list[str] = []

    async def play(screen: Browsing) -> None:
        await screen.wait_for("F3[Projects]", "folder", "projects")
        await screen.press(*"购物")
        seen = await screen.wait_for("1 project")
        assert "The folder is not there" in seen
        await screen.press("escape", "down", "enter")

    browse(place, play, first=beside("f3", opened))
    assert len(opened) == 1


@pytest.mark.slow
def test_the_list_is_narrowed_to_a_project_and_keeps_what_was_typed(place: Place) -> None:
    async def play(screen: Browsing) -> None:
        await screen.wait_for("␇ words")
        await screen.press(*"words")
        await screen.press("f3")
        await screen.wait_for("projects")
        await screen.press(*"srv", "enter")
        seen = await screen.wait_for("> words", "project x")
        assert CHINESE[:4] not in seen
        await screen.press("ctrl+t")
        await screen.wait_for("> words", but_not="project x")

    browse(place, play)


# Usage


@pytest.mark.parametrize("by", GROUPS)
@pytest.mark.parametrize("where", ["sample", "agents"])
def test_the_numbers_are_those_of_stats(
    place: Place, tmp_path: Path, geminids: Run, by: str, where: str
) -> None:
    place = place if where == "agents" else Place(Path(sample.home()), tmp_path)
    found = json.loads(geminids("stats", "--json", "--by", by, *place.options).out)
    total = found["total"]

    async def play(screen: Browsing) -> None:
        await screen.press(str(1 + GROUPS.index(by)))
        seen = await screen.wait_for(f"[{by}]", "total" if by != "tool" else "calls")
        assert f"{total['tokens']['total']:,} tokens" in seen
        assert f"{dollars(total['tokens']['cost'])} list-price estimate" in seen
        assert f"{total['prompts']} prompts" in seen
        for group in found["groups"]:
            number = group["calls"] if by == "tool" else (group["tokens"] or {}).get("total")
            name = re.escape(safe.line(group["group"][0]["name"]))
            row = next(line for line in screen.lines if re.match(f" {name}  ", line))
            assert number is None or f" {number:,} " in f"{row} "

    browse(place, play, size=(200, 90), first=beside("f4"))


def test_of_a_span_the_numbers_are_those_since_then(own: Place, geminids: Run) -> None:
    since = json.loads(geminids("stats", "--json", "--since", "30d", *own.options).out)
    assert since["total"]["prompts"] == 1

    async def play(screen: Browsing) -> None:
        await screen.wait_for("No cost is known; t shows tokens.", "No price for gemini-3-pro")
        await screen.press("m")
        await screen.wait_for("[30 days]", f"{since['total']['prompts']} prompt")
        await screen.press("d")
        await screen.wait_for("Nothing was done (today).")
        await screen.press("a", "t")
        await screen.wait_for("tokens a day, at most 12: 1 May", "[tokens]")
        await screen.press("tab")
        await screen.wait_for("[tool]", "No tool calls.")
        await screen.click_on("agent")
        await screen.wait_for("[agent]")

    browse(own, play, first=beside("f4"))


def test_what_does_not_fit_is_scrolled_to(place: Place) -> None:
    async def play(screen: Browsing) -> None:
        await screen.press("5")
        first = (await screen.wait_for("[day]", "list-price")).splitlines()[3]
        await screen.press("end")
        await screen.wait_for("total", but_not=first)
        await screen.press("home")
        await screen.wait_for(first)

    browse(place, play, size=(80, 14), first=beside("f4"))


# Keeping


@pytest.mark.slow
def test_what_will_be_deleted_is_told_as_keep_tells_it(own: Place, geminids: Run) -> None:
    verdict = geminids("keep", *own.options).err.splitlines()[0].removeprefix("geminids: ")
    opened: list[str] = []

    async def play(screen: Browsing) -> None:
        seen = await screen.wait_for("F5[Keeping]", "will be deleted", "next start")
        assert verdict in " ".join(" ".join(seen.splitlines()[1:3]).split())
        assert "Fix the login redirect" in seen
        assert "kept" in seen
        await screen.press("down", "enter", "k", "enter")

    browse(own, play, first=beside("f5", opened))
    assert len(opened) == 2
    assert opened[1] == FIRST


def test_what_was_deleted_can_be_read(own: Place) -> None:
    lose_everything(own.home)
    opened: list[str] = []

    async def play(screen: Browsing) -> None:
        await screen.wait_for("deleted, last used", "Fix the login redirect", "geminids restore")
        await screen.press("end", "enter")

    with Library([own.home], own.data) as library:
        library.to_come()
    browse(own, play, first=beside("f5", opened))
    assert opened == [FIRST]


def test_sessions_that_expire_are_marked_and_that_is_said_once(own: Place) -> None:
    async def play(screen: Browsing) -> None:
        seen = await screen.wait_for("2 sessions expire within 7 days", "◷")
        assert seen.count("◷") == 2
        await screen.press("f5")
        await screen.wait_for("will be deleted")
        await screen.press("q")
        seen = await screen.wait_for("Fix the login", but_not="expire within")
        assert seen.count("◷") == 2

    browse(own, play)


# From one to another


@pytest.mark.slow
def test_each_view_leads_to_the_others_and_back_to_the_list(place: Place) -> None:
    async def play(screen: Browsing) -> None:
        await screen.wait_for("␇ words")
        await screen.press(*"words")
        for leaves in ("escape", LIST):
            for view in (*VIEWS, *reversed(VIEWS)):
                await screen.press(view.key)
                await screen.wait_for(f"[{view.name}]")
            await screen.press(leaves)
            await screen.wait_for("> words", "evil", but_not="[Projects]")
        await screen.press("f3")
        await screen.click_on("Usage")
        await screen.wait_for("[Usage]")
        await screen.click_on("Sessions")
        await screen.wait_for("> words")

    browse(place, play)


def test_a_view_stays_as_it_was_left(place: Place) -> None:
    async def play(screen: Browsing) -> None:
        await screen.press(*"shop", "f4", "3", "f3")
        await screen.wait_for("> shop", "[Projects]")
        await screen.press("f4")
        await screen.wait_for("[project]")

    browse(place, play, first=beside("f3"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("key", [view.key for view in VIEWS])
def test_a_view_fits_the_screen_and_no_name_does_harm(place: Place, key: str, size: tuple[int, int]) -> None:
    ready = {"f3": "last used", "f4": "list-price", "f5": "keeping "}

    async def play(screen: Browsing) -> None:
        await screen.wait_for(ready[key])
        for line in screen.lines:
            assert cell_len(line) == size[0]
            assert line.isprintable()
        assert "Esc" in screen.lines[-1]

    browse(place, play, size=size, first=beside(key))


@pytest.mark.parametrize("key", [view.key for view in VIEWS])
def test_what_cannot_be_asked_is_said(tmp_path: Path, key: str) -> None:
    async def play(screen: Browsing) -> None:
        await screen.wait_for("There is no index")
        await screen.press("escape")

    browse(Place(tmp_path, tmp_path / "data"), play, first=beside(key))
