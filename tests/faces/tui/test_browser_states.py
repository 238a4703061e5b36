"""What the browser shows while an index is made, where something cannot be read, and of what is new."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from geminids.core.errors import GeminidsError
from geminids.faces.tui.asker import Asker
from geminids.faces.tui.browser.sessions import Sessions
from geminids.faces.tui.matches import Asked, Scope
from tests.conftest import NOW, Rights
from tests.support.browsing import Browsing, browse, choices_of, wait_until
from tests.support.homes import write_session

SESSIONS = 6


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Sessions in two projects, the larger numbers newer."""
    for number in range(SESSIONS):
        prompt = f"Question {number}"
        path = write_session(tmp_path / "home", f"{number}0000000-a", slug=f"p{number % 2}", prompt=prompt)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return tmp_path / "home"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that anybody may use."""
    folder = tmp_path / "data"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is new is looked for all the time."""
    monkeypatch.setattr("geminids.faces.tui.browser.sessions.SYNC_EVERY", 0.2)


# An index that is being made


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_an_index_that_is_being_made_shows_the_newest_and_how_many_are_to_come(
    home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("intake.STEP", "intake.STEP_IN_TIME", "FIRST_STEP"):
        monkeypatch.setattr(f"geminids.sync.{name}", 1)
    monkeypatch.setattr("geminids.library.current_index.BUDGET", 0.0)
    # No other process reads on: each look takes a step.
    monkeypatch.setattr("geminids.faces.cli.choices.Choices.sync_behind", lambda _: None)

    async def script(seen: Browsing) -> None:
        screen = await seen.wait_for("Question 5", "more sessions are being read", "Enter read")
        assert "geminids sync" not in screen
        await seen.wait_for("Question 4", "1 more session is being read")
        assert seen.chosen == "Question 5"
        await seen.wait_for("6 sessions", "Question 0", but_not="being read")

    browse([home], data, script)


def test_before_there_is_a_list_it_is_said_how_far_reading_is(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("6 sessions")
        view = seen.app.views[-1]
        assert isinstance(view, Sessions)
        view.listing.listed = None
        view._asker._progress(12, 100)
        view._asker.listed = None
        screen = await seen.wait_for("Reading sessions: 12 %", "The newest come first.")
        assert "No session" not in screen

    browse([home], data, script)


# What cannot be read


@pytest.fixture
def as_nobody(home: Path, tmp_path: Path, without_privileges: Rights) -> Rights:
    """The same, with all loaded that a browser loads: who is nobody may not read it."""

    async def script(seen: Browsing) -> None:
        await seen.wait_for("6 sessions", "Done.")
        await seen.settle()

    browse([home], tmp_path / "other", script)
    return without_privileges


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("size", [(80, 24), (60, 20)])
def test_a_folder_of_an_agent_that_is_closed_is_named_until_a_key_is_pressed(
    home: Path, data: Path, as_nobody: Rights, size: tuple[int, int]
) -> None:
    closed = home / ".gemini" / "tmp" / "p1"
    closed.chmod(0)

    async def script(seen: Browsing) -> None:
        screen = await seen.wait_for("3 sessions", "Cannot read", "shows all.")
        assert "p1: Permission denied" in " ".join(screen.split())
        await seen.press("down")
        await seen.wait_for("3 sessions", "Enter read", but_not="Cannot read")
        await seen.settle()
        assert "Cannot read" not in seen.screen

    with as_nobody():
        browse([home], data, script, size=size)


def test_where_nothing_can_be_read_no_sample_is_offered_for_it(
    home: Path, data: Path, as_nobody: Rights
) -> None:
    (home / ".gemini").chmod(0)

    async def script(seen: Browsing) -> None:
        await seen.wait_for("Cannot read", "Permission denied", but_not="No session found")

    with as_nobody():
        browse([home], data, script)


@pytest.mark.parametrize("closed", ["own", "own/index"])
def test_a_data_directory_that_cannot_be_read_is_said(
    home: Path, data: Path, as_nobody: Rights, closed: str
) -> None:
    async def read(seen: Browsing) -> None:
        await seen.wait_for("6 sessions")

    async def script(seen: Browsing) -> None:
        await seen.until_closed()

    with as_nobody():
        browse([home], data / "own", read)
        (data / closed).chmod(0)
        with pytest.raises((GeminidsError, OSError), match=r"Permission denied: .*/own.*--data DIR"):
            browse([home], data / "own", script)
        (data / closed).chmod(0o700)


# What is no bad input


def test_an_error_of_ours_is_handed_on_and_not_swallowed(home: Path, data: Path) -> None:
    asker = Asker(choices_of([home], data).open_behind, NOW, lambda: None)
    try:
        # Nothing that can be asked.
        asker.ask(Asked(None, Scope(), 10))  # type: ignore[arg-type]
        wait_until(lambda: asker.error is not None)
        assert isinstance(asker.error, AttributeError)
    finally:
        asker.close()


def test_without_colour_the_chosen_line_and_what_was_found_are_seen(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("6 sessions", "Done.")
        styles = [segment.style for strip in seen.strips for segment in strip if segment.style]
        assert not any(style.color or style.bgcolor for style in styles)
        assert all(
            segment.style and segment.style.reverse for segment in seen.strips[2] if segment.text.strip()
        )
        await seen.type("3")
        await seen.wait_for("  1 session", "Question 3")
        await seen.press("tab")
        await seen.wait_for("messages ·")
        found = [one for strip in seen.strips for one in strip if one.text == "3" and one.style]
        assert any(one.style and (one.style.underline or one.style.bold) for one in found)

    browse([home], data, script, has_colour=False)


# What is new


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("f3", "2 projects", "3 projects"),
        ("f4", "6 sessions", "7 sessions"),
        ("f5", "files     8", "files     10"),
    ],
)
def test_a_view_tells_what_is_new_while_it_is_looked_at(
    home: Path, data: Path, key: str, before: str, after: str
) -> None:
    async def script(seen: Browsing) -> None:
        await seen.wait_for("6 sessions")
        await seen.press(key)
        await seen.wait_for("F2 Sessions", before)
        write_session(home, "90000000-a", slug="p2", prompt="A new one")
        await seen.wait_for("F2 Sessions", after)
        await seen.press("f2")
        await seen.wait_for("7 sessions", "A new one")

    browse([home], data, script)


@pytest.mark.slow
@pytest.mark.usefixtures("quick")
def test_what_is_chosen_in_a_view_stays_chosen(home: Path, data: Path) -> None:
    async def script(seen: Browsing) -> None:
        await seen.press("f3")
        await seen.wait_for("2 projects")
        await seen.press("down")
        await seen.settle()
        chosen = seen.screen.rpartition("─\n")[2].splitlines()[0]
        write_session(home, "90000000-a", slug="p2", prompt="A new one", day=20)
        await seen.wait_for("3 projects")
        assert seen.screen.rpartition("─\n")[2].splitlines()[0] == chosen

    browse([home], data, script)


@pytest.mark.slow
def test_where_nothing_is_new_nothing_is_asked_again(home: Path, data: Path) -> None:
    asker = Asker(choices_of([home], data).open_behind, NOW, lambda: None, every=0.05)
    try:
        asker.ask(Asked("", Scope(), 10))
        wait_until(lambda: asker.changes == 1 and asker.listed is not None)
        wait_until(lambda: asker.readings > 4)
        listed = asker.listed
        wait_until(lambda: asker.readings > 8)
        assert asker.changes == 1
        assert asker.listed is listed
        write_session(home, "90000000-a", slug="p2", prompt="A new one")
        wait_until(lambda: asker.listed is not None and asker.listed.total == SESSIONS + 1)
    finally:
        asker.close()
