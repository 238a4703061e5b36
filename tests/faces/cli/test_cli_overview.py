"""`geminids` alone."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, Run
from tests.support.homes import FIRST_ID, write_session
from tests.support.terminal import on_terminal

HOMES = sorted((FIXTURES / "gemini").glob("*/home"))


def test_the_overview_counts_and_says_what_to_type_next(geminids: Run, tmp_path: Path) -> None:
    for number in range(7):
        write_session(tmp_path, f"{number:08}-a", slug="shop" if number else "blog", day=number + 1)
    outcome = geminids("--home", tmp_path)
    assert outcome.code == 0
    assert outcome.out.startswith("Gemini CLI  7 sessions, 2 projects, ")
    assert "2026-05-01 to 2026-05-07" in outcome.out
    assert outcome.out.count("gemini:") == 5
    assert f"Read the newest:  geminids show 00000006 --home {tmp_path}\n" in outcome.out
    assert f"See more:         geminids list --home {tmp_path}\n" in outcome.out
    assert f"On one screen:    geminids browse --home {tmp_path}\n" in outcome.out
    assert geminids("show", "00000006", "--home", tmp_path).code == 0


@pytest.mark.slow
def test_a_command_to_type_is_whole_however_narrow_the_terminal_is(tmp_path: Path) -> None:
    home = tmp_path / ("a-long-name-of-a-folder-" * 4)
    write_session(home)
    shown = on_terminal("--home", home, columns=40)
    assert f"geminids show {FIRST_ID[:8]} --home {home}\n" in shown


def test_what_is_damaged_is_said(geminids: Run, tmp_path: Path) -> None:
    path = write_session(tmp_path)
    path.write_bytes(path.read_bytes() + b'{"id": "cut')
    outcome = geminids("--home", tmp_path)
    assert "1 file damaged." in outcome.out
    assert f"See the damage:  geminids doctor --home {tmp_path}" in outcome.out


def test_json_holds_the_same(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path)
    document = json.loads(geminids("--json", "--home", tmp_path).out)
    assert document["schema"] == "geminids/overview/1"
    assert document["agents"][0]["sessions"] == 1
    assert [session["native_id"] for session in document["newest"]] == [FIRST_ID]


def test_an_empty_home_is_told(geminids: Run, tmp_path: Path) -> None:
    outcome = geminids("--home", tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert "No session found" in outcome.err
    assert geminids("--home", tmp_path, "--json").code == 1


def test_the_numbers_of_the_overview_can_be_shown(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path, day=1)
    write_session(tmp_path, "22222222-b", day=2, prompt="Second")
    geminids("list", "--home", tmp_path, "--until", "2026-05-01")
    geminids("--home", tmp_path)
    assert geminids("show", "1", "--home", tmp_path).out.startswith("Second")


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.parent.name)
def test_the_suggested_command_works_as_it_is_printed(geminids: Run, home: Path) -> None:
    outcome = geminids("--home", home)
    (suggested,) = re.findall(r"^(?:Read|See the|Find).*?:  geminids (.*)$", outcome.out, re.MULTILINE)
    # Folders that are nowhere on this machine are not found.
    assert geminids(*shlex.split(suggested)).code == 0 or suggested.startswith("projects resolve")


def test_what_was_too_large_for_an_overview_is_said(geminids: Run, tmp_path: Path) -> None:
    folder = write_session(tmp_path).parent.parent
    line = {"sessionId": "gone", "messageId": 0, "type": "user", "message": "w" * 1000, "timestamp": "x"}
    (folder / "logs.json").write_text(json.dumps([line] * 9000, indent=2))
    for words in ((), ("projects",), ("list",)):
        outcome = geminids(*words, "--home", tmp_path)
        assert outcome.code == 0
        assert "logs.json was not read: longer than what this command reads" in outcome.err


@pytest.mark.slow
def test_a_large_log_that_was_laid_out_anew_is_not_said_to_be_read(geminids: Run, tmp_path: Path) -> None:
    folder = write_session(tmp_path).parent.parent
    line = {"sessionId": "gone", "messageId": 0, "type": "user", "message": "w" * 1000, "timestamp": "x"}
    (folder / "logs.json").write_text(json.dumps([line] * 17_000))
    assert "none of it was read" in geminids("list", "--home", tmp_path).err
    outcome = geminids("projects", "show", "shop", "--prompts", "--home", tmp_path)
    assert outcome.out.count("www") > 0


def test_of_many_files_left_unread_a_few_are_named(geminids: Run, tmp_path: Path) -> None:
    folder = write_session(tmp_path).parent.parent
    turn = {"role": "user", "parts": [{"text": "w" * 2_000_000}]}
    for number in range(9):
        (folder / f"checkpoint-{number}.json").write_text(json.dumps([turn]))
    outcome = geminids("list", "--home", tmp_path)
    assert outcome.err.count("Part of") == 3
    assert "The same is true of 3 more files." in outcome.err
