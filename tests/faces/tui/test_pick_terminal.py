"""The picker on a real terminal: typed into, resized, suspended, left."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.support.homes import write_session
from tests.support.tmux import Tmux, needs_tmux, terminal

pytestmark = [needs_tmux, pytest.mark.slow]
GEMINIDS = [sys.executable, "-m", "geminids"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    write_session(folder, "11111111-a", prompt="Why is the upload refused?", day=1)
    write_session(folder, "22222222-b", prompt="Count the notes", day=2)
    write_session(folder, "33333333-c", prompt="\x1b]0;owned\x07\x1b[2J evil words", day=3)
    return folder


def run(home: Path, *arguments: str) -> AbstractContextManager[Tmux]:
    where = ["--home", str(home), "--data", str(home.parent / "data")]
    return terminal([*GEMINIDS, *arguments, *where], home.parent)


def test_type_see_enter(home: Path) -> None:
    with run(home, "show", "--no-pager") as seen:
        assert "Count the notes" in seen.wait_for("3 sessions")
        seen.type("upl")
        found = seen.wait_for("1 session\n")
        assert "Why is the upload refused?" in found
        assert "Count the notes" not in found
        seen.press("Enter")
        told = seen.wait_for("ended 0")
        assert "Why is the upload refused?" in told
        assert "1 message below" not in told
        assert "Esc quit" not in seen.screen()


def test_keys_that_are_typed_early_are_kept(home: Path) -> None:
    begun = f"sleep 1; exec {shlex.join([*GEMINIDS, 'show', '--no-pager'])} --home {home} --data {home}-data"
    with terminal(["sh", "-c", begun], home.parent) as seen:
        seen.type("notes")
        seen.press("Enter")
        assert "Count the notes" in seen.wait_for("ended 0")


@pytest.mark.parametrize("key", ["Escape", "C-c"])
def test_leaving_gives_the_screen_back(home: Path, key: str) -> None:
    with run(home, "resume") as seen:
        seen.wait_for("3 sessions")
        seen.press(key)
        assert seen.wait_for("ended").split() == ["ended", "130"]


def test_a_hostile_session_is_only_words(home: Path) -> None:
    with run(home, "show") as seen:
        seen.wait_for("3 sessions")
        seen.type("evil")
        assert "evil words" in seen.wait_for("1 session\n")


def test_another_size_is_another_picture(home: Path) -> None:
    with run(home, "show") as seen:
        seen.wait_for("3 sessions")
        seen.resize(44, 12)
        lines = seen.wait_for("Esc quit").rstrip("\n").split("\n")
        assert len(lines) <= 12
        seen.resize(120, 40)
        assert "project" not in seen.wait_for("3 sessions")
        assert len(seen.wait_for("─" * 120).split("\n")) >= 40


def test_ctrl_z_gives_the_terminal_to_the_shell(home: Path) -> None:
    where = f"--home {home} --data {home}-data"
    with terminal(["bash", "--norc", "-i"], home.parent, environment={"PS1": "shell> "}) as seen:
        seen.wait_for("shell>")
        seen.type(f"{shlex.join(GEMINIDS)} show --no-pager {where}")
        seen.press("Enter")
        seen.wait_for("3 sessions")
        seen.press("C-z")
        seen.wait_for("Stopped")
        seen.type("echo still here; fg")
        seen.press("Enter")
        seen.wait_for("3 sessions")
        seen.type("notes")
        seen.press("Enter")
        seen.wait_for("Done.")


def test_the_agent_takes_the_place_of_the_picker(home: Path) -> None:
    programs = home.parent / "bin"
    programs.mkdir()
    agent = programs / "gemini"
    agent.write_text('#!/bin/sh\necho "agent in $(pwd): $*"\n')
    agent.chmod(0o755)
    project = home.parent / "shop"
    project.mkdir()
    write_session(home, "44444444-d", prompt="Go on with me", day=4, project=str(project))
    path = f"PATH={programs}:{os.environ['PATH']}"
    where = ["--home", str(home), "--data", str(home.parent / "data"), "--yes"]
    with terminal(["env", path, *GEMINIDS, "resume", *where], home.parent) as seen:
        seen.wait_for("this project")
        seen.type("go on with")
        seen.wait_for("Esc clear")
        seen.press("Enter")
        told = seen.wait_for("ended 0")
        assert f"agent in {project}" in told.replace("\n", "")


@pytest.mark.parametrize(
    ("words", "verb"),
    [
        (["export"], "export"),
        (["mark", "--name", "a"], "mark"),
        (["attest", "--output", "record"], "sign"),
        (["redact"], "show what would be hidden"),
    ],
)
def test_who_names_no_session_chooses_one(home: Path, words: list[str], verb: str) -> None:
    with run(home, *words) as seen:
        seen.wait_for("3 sessions", f"Enter {verb}")
        seen.press("Escape")
        assert seen.wait_for("ended").split() == ["ended", "130"]


def test_the_numbers_of_a_chosen_session_are_explained(home: Path) -> None:
    with run(home, "stats", "--no-pager", "--explain") as seen:
        seen.wait_for("3 sessions", "Enter explain")
        seen.type("notes")
        seen.wait_for("1 session\n")
        seen.press("Enter")
        assert "Count the notes" in seen.wait_for("ended 0")


def test_of_all_sessions_or_of_some_nothing_is_chosen_to_be_explained(home: Path) -> None:
    line = shlex.join([*GEMINIDS, "stats", "--home", str(home), "--data", str(home.parent / "data")])
    rest = ("--explain all", "--explain --agent gemini", "notes --explain", "--explain | cat")
    lines = "; ".join(f"PAGER=cat {line} {one}" for one in rest)
    with terminal(["sh", "-c", lines], home.parent, size=(80, 100)) as seen:
        told = seen.wait_for("ended 0")
    assert told.count("Count the notes") == 4
    assert told.count("Why is the upload refused?") == 3


def test_without_a_terminal_it_says_what_is_missing(home: Path) -> None:
    where = ["--home", str(home), "--data", str(home.parent / "data")]
    line = shlex.join([*GEMINIDS, "show", *where])
    with terminal(["sh", "-c", f"{line} | cat; {line} < /dev/null"], home.parent) as seen:
        told = seen.wait_for("ended 2")
        assert told.count("Which session?") == 2


def test_where_there_is_no_session_nothing_is_to_be_chosen(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with run(tmp_path / "home", "show") as seen:
        told = seen.wait_for("ended 1")
        assert "No session found in" in told
        assert "--sample" in told


LATE = """
import os, sys
from geminids.faces.tui.terminal import Terminal
with Terminal() as terminal:
    pass
with open(sys.argv[1], "w+b") as other, open(os.devnull) as _:
    other.write(b"mine")
    other.flush()
    terminal.wake()
    print(open(sys.argv[1], "rb").read())
"""


def test_who_wakes_too_late_writes_into_no_other_file(tmp_path: Path) -> None:
    line = [sys.executable, "-c", LATE, str(tmp_path / "other")]
    with terminal(line, tmp_path) as seen:
        assert "b'mine'" in seen.wait_for("ended 0")


def test_the_message_that_was_found_is_what_is_read(home: Path) -> None:
    write_session(home, "55555555-e", prompt="Look into it", answer="The lighthouse is dark.", day=5)
    with run(home, "show", "--no-pager") as seen:
        seen.wait_for("4 sessions")
        seen.type("lighthouse")
        seen.wait_for("1 session\n")
        seen.press("Enter")
        told = seen.wait_for("ended 0")
        assert "1 message above" in told
        assert "The lighthouse is dark." in told


def test_where_nothing_was_deleted_there_is_nothing_to_choose(home: Path) -> None:
    with run(home, "restore") as seen:
        assert "No session needs to be restored" in seen.wait_for("ended 1")
