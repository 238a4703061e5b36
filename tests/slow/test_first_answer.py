"""Commands on a home that nobody has looked at: the newest at once, the rest behind, sums of all of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.homes import write_session
from tests.support.indexes import assert_equals_a_fresh_build

SESSIONS = 12
LONGEST = 60.0
"""Seconds in which all must be read on a machine that does other things too."""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sessions of two megabytes each, of which the larger numbers are newer."""
    folder = tmp_path_factory.mktemp("cold")
    for number in range(SESSIONS):
        native_id = f"{number:08x}-0000-4000-8000-000000000000"
        path = write_session(
            folder, native_id, day=1 + number, prompt="common", answer="word" + " " * 2_000_000
        )
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return folder


class Commands:
    """Commands on a home with a data folder of its own."""

    def __init__(self, home: Path, data: Path) -> None:
        self.home, self.data = home, data

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-m", "geminids", *words, "--home", str(self.home), "--data", str(self.data)]
        ran = subprocess.run(line, capture_output=True, text=True, timeout=LONGEST, check=False)
        assert ran.returncode == 0, ran.stderr
        return ran

    def wait_for_the_rest(self) -> None:
        """Wait until the process that nobody waits for says that it is done."""
        log, until = self.data / "hook.log", time.monotonic() + LONGEST
        while not (log.exists() and "Taken in" in log.read_text()):
            assert time.monotonic() < until, "nobody reads the rest"
            time.sleep(0.1)


@pytest.fixture
def commands(home: Path, tmp_path: Path) -> Commands:
    return Commands(home, tmp_path / "data")


def test_a_list_tells_the_newest_and_has_the_rest_read_behind(commands: Commands, tmp_path: Path) -> None:
    ran = commands.run("list", "--json")
    listed = [int(session["native_id"][:8], 16) for session in json.loads(ran.stdout)["sessions"]]
    assert 0 < len(listed) < SESSIONS
    assert listed == list(range(SESSIONS - 1, SESSIONS - 1 - len(listed), -1))
    assert f"{SESSIONS - len(listed)} more sessions are still to be read" in ran.stderr
    assert json.loads(ran.stdout)["to_come"] == SESSIONS - len(listed)
    commands.wait_for_the_rest()
    ran = commands.run("list", "--json")
    assert len(json.loads(ran.stdout)["sessions"]) == SESSIONS
    assert (ran.stderr, json.loads(ran.stdout).get("to_come")) == ("", None)
    assert_equals_a_fresh_build([commands.home], commands.data, tmp_path / "fresh")


def test_what_is_counted_is_what_is_read_so_far(commands: Commands) -> None:
    assert re.search(
        r"Showing 2 of [\d,]+ sessions read so far; `.*` shows these", commands.run("list", "-n", "2").stderr
    )
    commands.wait_for_the_rest()
    assert f"Showing 2 of {SESSIONS:,} sessions; " in commands.run("list", "-n", "2").stderr


def test_the_overview_counts_what_is_read_so_far(commands: Commands) -> None:
    assert re.match(r"Gemini CLI  [\d,]+ sessions so far, ", commands.run().stdout)
    commands.wait_for_the_rest()
    assert re.match(rf"Gemini CLI  {SESSIONS:,} sessions, ", commands.run().stdout)


@pytest.mark.parametrize("words", [("search", "common"), ("show", "latest"), ()], ids=str)
def test_what_shows_sessions_does_not_wait(commands: Commands, words: tuple[str, ...]) -> None:
    assert "still to be read" in commands.run(*words).stderr
    commands.wait_for_the_rest()
    assert "still to be read" not in commands.run(*words).stderr


def test_a_search_for_programs_says_it_too_and_an_overview_waits(commands: Commands) -> None:
    found = json.loads(commands.run("search", "common", "--json").stdout)
    assert 0 < found["to_come"] < SESSIONS
    told = json.loads(commands.run("--json").stdout)
    assert sum(agent["sessions"] for agent in told["agents"]) == SESSIONS


def test_what_is_not_among_the_newest_is_waited_for(commands: Commands) -> None:
    ran = commands.run("show", "00000000", "--json")
    assert json.loads(ran.stdout)["native_id"].startswith("00000000")


@pytest.mark.parametrize("is_begun", [False, True])
def test_sums_are_of_all_sessions(commands: Commands, *, is_begun: bool) -> None:
    if is_begun:
        commands.run("list")
    ran = commands.run("stats", "--json")
    assert json.loads(ran.stdout)["total"]["sessions"] == SESSIONS
    assert "still to be read" not in ran.stderr
