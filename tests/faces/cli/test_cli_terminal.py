"""What people see on a real terminal, of any width."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.support.homes import write_session
from tests.support.terminal import on_terminal

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    write_session(tmp_path, prompt="Warum wird die Anmeldung immer wieder umgeleitet? " * 4)
    write_session(tmp_path, "22222222-b", slug="a-project-with-a-very-long-name-indeed", day=3)
    write_session(
        tmp_path,
        "33333333-c",
        day=4,
        prompt="购物车里的商品数量在刷新页面之后变成零，请检查并修复这个问题，谢谢" * 2,
    )
    write_session(tmp_path, "44444444-d", day=5, prompt="👩‍👩‍👧 " * 40)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("columns", [30, 45, 60, 80, 120])
@pytest.mark.parametrize(
    "arguments", [[], ["list"], ["show", "latest", "--no-pager"], ["show", "3333", "--no-pager"]]
)
def test_no_line_is_wider_than_the_terminal(home: Path, arguments: list[str], columns: int) -> None:
    seen = on_terminal(*arguments, "--home", home, columns=columns)
    for line in ESCAPES.sub("", seen).splitlines():
        # A command is there to be copied, so it is not cut.
        is_command = re.search(r": +geminids ", line)
        assert line.startswith("geminids: ") or is_command or cell_len(line) <= columns, line


def test_a_list_has_numbers_headings_and_colour(home: Path) -> None:
    seen = on_terminal("list", "--home", home)
    assert "\x1b[" in seen
    lines = ESCAPES.sub("", seen).splitlines()
    assert lines[0].split() == ["#", "when", "project", "title", "prompts"]
    assert [line.split()[0] for line in lines[1:5]] == ["1", "2", "3", "4"]
    assert lines[4].rstrip().endswith("✓")


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment", [{"NO_COLOR": "1"}, {"CLICOLOR": "0"}, {"TERM": "dumb"}], ids=lambda e: next(iter(e))
)
@pytest.mark.parametrize("arguments", [["list"], ["show", "latest", "--no-pager"]])
def test_colour_can_be_refused(
    home: Path, arguments: list[str], environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "\x1b" not in on_terminal("--no-color", *arguments, "--home", home)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert "\x1b" not in on_terminal(*arguments, "--home", home)


@pytest.mark.slow
def test_only_twenty_sessions_are_listed_unless_more_are_asked_for(tmp_path: Path) -> None:
    for number in range(25):
        write_session(tmp_path, f"{number:08}-a", day=number + 1)
    told = f"Showing 20 of 25 sessions; `geminids list --limit 25 --home {tmp_path}` shows all"
    assert told in " ".join(on_terminal("list", "--home", tmp_path).split())
    assert "Shown are" not in on_terminal("list", "--home", tmp_path, "--limit", "25")


@pytest.mark.slow
def test_a_transcript_goes_through_the_pager(home: Path, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nhead -n 1\n")
    pager.chmod(0o755)
    assert on_terminal("show", "3333", "--home", home, PAGER=str(pager)).startswith("PAGED\n")
    assert "PAGED" not in on_terminal("show", "3333", "--home", home, "--no-pager", PAGER=str(pager))
    assert "购物车" in on_terminal("show", "3333", "--home", home, PAGER="no-such-pager")
    assert "购物车" in on_terminal("show", "3333", "--home", home, PAGER="")
    told = on_terminal("show", "3333", "--home", home, PAGER="less '")
    assert "购物车" in told
    assert "PAGER is not a command" in told


@pytest.mark.slow
def test_json_on_a_terminal_is_indented_and_steers_nothing(tmp_path: Path) -> None:
    write_session(tmp_path, prompt="\x9b31m\x7f\x1b[2J \u202e")
    seen = on_terminal("list", "--home", tmp_path, "--json")
    assert seen.startswith('{\n  "schema"')
    assert not set(seen) & {"\x9b", "\x7f", "\x1b", "\u202e"}


@pytest.mark.slow
@pytest.mark.parametrize("variable", ["FORCE_COLOR", "CLICOLOR_FORCE"])
@pytest.mark.parametrize("verb", [["list"], []])
def test_colour_in_a_pipe_adds_nothing_but_colour(home: Path, variable: str, verb: list[str]) -> None:
    line = [sys.executable, "-m", "geminids", *verb, "--home", str(home)]
    done = subprocess.run(line, check=True, capture_output=True, text=True, env=os.environ | {variable: "1"})
    assert "\x1b[" in done.stdout
    refused = subprocess.run(
        [*line, "--no-color"], check=True, capture_output=True, text=True, env=os.environ | {variable: "1"}
    )
    assert "\x1b" not in refused.stdout
    assert ESCAPES.sub("", done.stdout) == refused.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        (140, ["#", "when", "project", "title", "prompts", "time", "tokens", "model"]),
        (80, ["#", "when", "project", "title", "prompts"]),
        (52, ["#", "when", "project", "title"]),
        (45, ["#", "when", "project", "title"]),
        (40, ["#", "when", "title"]),
        (24, ["#", "title"]),
    ],
)
def test_little_room_costs_columns_never_a_number(tmp_path: Path, columns: int, headings: list[str]) -> None:
    for number in range(12):
        write_session(tmp_path, f"{number:08}-a", day=number + 1, prompt="words " * 20, slug="a-long-name")
    lines = ESCAPES.sub("", on_terminal("list", "--home", tmp_path, columns=columns)).splitlines()
    assert lines[0].split() == headings
    assert [line.split()[0] for line in lines[1:13]] == [str(number) for number in range(1, 13)]
    assert all(line.rstrip().endswith("✓") for line in lines[1:13])
    assert all(cell_len(line) <= columns for line in lines[:13])


@pytest.mark.slow
@pytest.mark.parametrize(("given", "handed_on"), [({}, "-R -FX"), ({"LESS": "-i"}, "-R -i")])
def test_less_lets_colours_through(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, str], handed_on: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "options $LESS"\ncat > /dev/null\n')
    pager.chmod(0o755)
    assert on_terminal("show", "3333", "--home", home, PAGER=str(pager)) == f"options {handed_on}\n"


@pytest.mark.slow
def test_a_dumb_terminal_gets_no_pager(home: Path) -> None:
    assert "购物车" in on_terminal("show", "3333", "--home", home, TERM="dumb", PAGER="false")


def test_code_has_colours_that_light_terminals_can_show(tmp_path: Path) -> None:
    code = 'Look at `list()`:\n\n```python\nimport os\nclass A(B):\n    # note\n    x = "x" + str(12)\n```\n'
    write_session(tmp_path, answer=code)
    seen = on_terminal("show", "latest", "--home", tmp_path, PAGER="cat")
    colours = {number for codes in re.findall(r"\x1b\[([0-9;]+)m", seen) for number in codes.split(";")}
    assert "36" in colours, "code in a line has a colour"
    assert not [one for one in colours if 90 <= int(one) <= 107], "bright ones cannot be read on white"
    assert not [one for one in colours if 40 <= int(one) <= 47], "nor is anything a blot on it"
