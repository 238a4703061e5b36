"""The browser's list: newest first, what is typed, what is seen beside it, and what there is to say."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.support.browsing import Browsing, browse
from tests.support.homes import tool_call, write_session


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browsed")
    for number in range(40):
        prompt = f"Question {number} about bread"
        write_session(folder, f"{number:08}-a", prompt=prompt, day=number % 28 + 1, slug="bakery")
    write_session(folder, "90000000-a", prompt="购物车里的商品数量在刷新页面之后变成零", day=2, slug="shop")
    write_session(folder, "91000000-a", prompt="\x1b[2J\x1b]0;evil\x07 words", day=3, slug="shop")
    write_session(
        folder, "92000000-a", prompt="Why is the upload refused?", answer="An ACL 🙂", slug="s3", day=28
    )
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_the_newest_stand_there_and_the_chosen_one_is_seen(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        screen = await seen.wait_for("43 sessions", "#1", "An ACL")
        assert "Why is the upload refused?" in seen.lines[2]
        assert len([line for line in seen.lines if "gemini" in line and "Question" in line]) == 12
        assert "Enter read" in seen.lines[-1]
        assert len(seen.lines) == 24
        assert screen.count("─" * 80) == 1

    browse([home], data, script)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (140, 45), (200, 60), (45, 10)])
def test_every_line_fits(home: Path, data: Path, size: tuple[int, int]) -> None:
    async def script(seen: Browsing) -> None:
        await seen.type("购物")
        await seen.wait_for("1 session")
        await seen.wait_for("购物车")
        assert len(seen.lines) == size[1]
        assert max(map(cell_len, seen.lines)) <= size[0]

    browse([home], data, script, size=size)


def test_what_is_typed_is_looked_for_at_once(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions")
        await seen.type("re")
        await seen.wait_for("refused?", "  1 session")
        await seen.type("fusde")
        await seen.wait_for("refused instead of refusde", "Why is the upload")
        await seen.press("escape")
        await seen.wait_for("43 sessions")

    browse([home], data, script)


def test_every_session_can_be_reached(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions")
        for _ in range(8):
            await seen.press("pagedown")
        await seen.wait_for("Question 0 about bread")
        assert seen.chosen == "Question 0 about bread"

    browse([home], data, script)


def test_messages_are_listed_in_place_of_sessions(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.type("acl")
        await seen.wait_for("  1 session")
        await seen.press("tab")
        screen = await seen.wait_for("messages ·")
        assert "#2" in screen
        assert "An ACL" in seen.lines[2]
        await seen.press("tab")
        await seen.wait_for("sessions ·")

    browse([home], data, script)


def test_filters_are_completed(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions")
        await seen.type("proj")
        await seen.wait_for("→ project:")
        await seen.press("right")
        await seen.type("ba")
        await seen.wait_for("project:bakery")
        await seen.press("right")
        await seen.wait_for("40 sessions")

    browse([home], data, script)


def test_a_filter_that_is_not_typed_to_its_end_empties_no_list(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.type("bread status:")
        await seen.wait_for("40 sessions")

    browse([home], data, script)


def test_agents_scopes_and_orders(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions", "[all]", "newest first")
        await seen.press("shift+tab")
        await seen.wait_for("[claude]", "No session found.")
        await seen.click(2, 1)
        await seen.wait_for("[all]", "43 sessions")
        await seen.press("ctrl+s", "ctrl+s")
        await seen.wait_for("longest first")
        await seen.press("ctrl+t", "ctrl+t")
        await seen.wait_for("0 sessions · deleted")

    browse([home], data, script)


def test_the_mouse_chooses(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions", "An ACL")
        await seen.click(20, 5)
        assert seen.chosen in seen.lines[5]

    browse([home], data, script)


def test_what_is_new_appears_and_the_chosen_one_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.faces.tui.browser.sessions.SYNC_EVERY", 0.2)
    home = tmp_path / "home"
    write_session(home, "11111111-a", prompt="The first one", day=1)
    write_session(home, "22222222-b", prompt="The second one", day=2)

    async def script(seen: Browsing) -> None:
        await seen.wait_for("2 sessions")
        await seen.press("down")
        write_session(home, "33333333-c", prompt="The third one", day=3)
        await seen.wait_for("3 sessions")
        assert "The third one" in seen.lines[2]
        assert seen.chosen == "The first one"

    browse([home], tmp_path / "data", script)


def test_an_empty_machine_is_offered_the_sample(tmp_path: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("No session found.", "--sample")

    (tmp_path / "home").mkdir()
    browse([tmp_path / "home"], tmp_path / "data", script)


def test_a_screen_that_is_too_small_says_so_and_comes_back(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions")
        await seen.resize(30, 6)
        await seen.wait_for("Too small")
        await seen.resize(140, 45)
        await seen.wait_for("43 sessions", "│ ")

    browse([home], data, script)


def test_a_home_that_is_deleted_while_open_leaves_what_was_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr("geminids.faces.tui.browser.sessions.SYNC_EVERY", 0.2)
    home = tmp_path / "home"
    write_session(home, "11111111-a", prompt="The first one", day=1)

    async def script(seen: Browsing) -> None:
        await seen.wait_for("  1 session")
        shutil.rmtree(home / ".gemini" / "tmp")
        await seen.wait_for("✝")
        assert "The first one" in seen.screen

    browse([home], tmp_path / "data", script)


def test_control_characters_are_only_words(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.type("evil")
        screen = await seen.wait_for("  1 session")
        assert "\x1b" not in screen
        assert "\x07" not in screen

    browse([home], data, script)


def test_escape_ends_it(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions")
        await seen.press("escape")

    assert browse([home], data, script) is None


def test_the_keys_are_told(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("43 sessions")
        await seen.press("f1")
        await seen.wait_for("Keys", "Shift-↑", "suspend")
        await seen.press("escape")
        await seen.wait_for("43 sessions", but_not="suspend")

    browse([home], data, script, size=(80, 40))


def test_all_messages_of_a_session_are_listed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    calls = [tool_call(id=f"call-{number}", args={"command": f"bake bread {number}"}) for number in range(9)]
    for number, call in enumerate(calls):
        write_session(home, f"{number}1111111-a", prompt=f"Bread {number}", answer="Bread!", calls=[call])

    async def script(seen: Browsing) -> None:
        await seen.type("bread")
        await seen.wait_for("9 sessions")
        await seen.press("tab")
        await seen.wait_for("messages ·", "#2")

    browse([home], tmp_path / "data", script)


def test_what_was_read_for_a_slip_is_found_in_the_session(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.type("refusde")
        await seen.wait_for("refused instead of refusde")
        await seen.press("enter")
        await seen.wait_for("conversation · #1", "match 1 of 1")

    browse([home], data, script)
