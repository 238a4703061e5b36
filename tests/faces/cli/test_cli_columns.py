"""`geminids list --columns`, and the same for good in settings.toml."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from geminids.faces.cli import list_answer, session_table
from tests.conftest import ROOT, Run
from tests.support.claude_lines import user, write
from tests.support.homes import write_session
from tests.support.terminal import on_terminal

SAMPLE_NOW = "2026-11-15T12:00:00+00:00"


def columns_of(seen: str) -> list[str]:
    return next(line for line in seen.splitlines() if line.startswith("#")).split()


def settled(tmp_path: Path, text: str) -> Path:
    (tmp_path / "settings.toml").write_text(text, "utf-8")
    return tmp_path


def test_help_and_the_page_name_the_columns_that_there_are(geminids: Run) -> None:
    assert tuple(session_table.COLUMNS) == list_answer.COLUMN_NAMES
    told = re.sub(r"\s+", " ", geminids("list", "--help").out)
    assert ", ".join(session_table.COLUMNS) in told
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` ", page, re.MULTILINE) == list(session_table.COLUMNS)


def test_a_pipe_gets_whole_values_in_the_order_that_was_asked_for(geminids: Run) -> None:
    line, *_ = geminids("list", "--sample", "--columns", "id,tokens,cost,model,time,title").out.splitlines()
    assert line.split("\t") == [
        "gemini:5cc86b27-c575-4a02-bb6d-5ff325f0fbc0",
        "106660",
        "0.054930825",
        "gemini-3.8-flash",
        "2",
        "Which recipes have no photo?",
    ]


@pytest.mark.parametrize("name", session_table.COLUMNS)
def test_every_column_can_be_had_by_itself(geminids: Run, name: str) -> None:
    piped = geminids("list", "--sample", "--columns", name)
    assert (piped.code, len(piped.out.splitlines())) == (0, 8)
    assert name == "tags" or all(line.strip() for line in piped.out.splitlines())
    seen = on_terminal("list", "--sample", "--columns", name, now=SAMPLE_NOW, NO_COLOR="1")
    assert columns_of(seen) == (["#"] if name == "status" else ["#", name])


@pytest.mark.parametrize("columns", [80, 100, 140])
def test_the_title_keeps_its_room_and_what_finds_none_is_said(columns: int) -> None:
    asked = ["when", "agent", "title", "cost", "tokens", "model", "id"]
    seen = on_terminal(
        "list", "--sample", "--columns", ",".join(asked), columns=columns, now=SAMPLE_NOW, NO_COLOR="1"
    )
    heading = next(line for line in seen.splitlines() if line.startswith("#"))
    shown = columns_of(seen)[1:]
    assert shown == asked[: len(shown)]
    assert heading.index("cost") - heading.index("title") >= 34
    assert len(heading) <= columns
    missing = asked[len(shown) :]
    told = re.sub(r"\s+", " ", seen)
    assert bool(missing) == (columns < 110)
    assert (f"No room for {', '.join(missing)}: the terminal is {columns} columns wide." in told) == bool(
        missing
    )


def test_a_project_is_whole_before_prompts_are_shown_and_cut_before_it_leaves(tmp_path: Path) -> None:
    write_session(
        tmp_path, "1" * 8, slug="moonhopper-app", prompt="camera jitters when the buggy drives fast"
    )
    write(tmp_path, user("a", None, "another agent"))
    shown = {
        columns: on_terminal("list", "--home", tmp_path, columns=columns, NO_COLOR="1")
        for columns in (80, 46)
    }
    assert "  moonhopper-app  camera jitters when the buggy" in shown[80]
    assert columns_of(shown[80]) == ["#", "when", "agent", "project", "title"]
    assert "  moonhop" in shown[46]
    assert "moonhopper-app" not in shown[46]


@pytest.mark.parametrize(
    ("typed", "reason"),
    [
        ("when,price", "There is no column 'price'. Available: when, started, agent,"),
        (",", "No columns given. Available: when,"),
    ],
)
def test_a_name_that_is_no_column_is_wrong_usage(geminids: Run, typed: str, reason: str) -> None:
    outcome = geminids("list", "--sample", "--columns", typed)
    assert (outcome.code, outcome.out) == (2, "")
    assert reason in outcome.err
    assert "See `geminids list --help`." in outcome.err


def test_names_are_taken_however_they_are_written_and_once(geminids: Run) -> None:
    as_typed = geminids("list", "--sample", "--columns", "ID, Title,id,").out
    assert as_typed == geminids("list", "--sample", "--columns", "id,title").out


@pytest.mark.parametrize("form", ["--json", "--jsonl"])
def test_json_has_no_columns_to_choose(geminids: Run, form: str) -> None:
    outcome = geminids("list", "--sample", form, "--columns", "id")
    assert outcome.code == 2
    assert "--columns cannot be combined with --json, which has everything." in outcome.err


def test_settings_are_for_terminals_and_what_is_typed_goes_first(geminids: Run, tmp_path: Path) -> None:
    data = settled(tmp_path, '[list]\ncolumns = ["title", "cost"]\nlimit = 3\n')
    for command in (["list"], []):
        seen = on_terminal(*command, "--sample", "--data", data, now=SAMPLE_NOW, NO_COLOR="1")
        assert columns_of(seen) == ["#", "title", "cost"]
    seen = on_terminal("list", "--sample", "--data", data, now=SAMPLE_NOW, NO_COLOR="1")
    assert len(re.findall(r"^\d  ", seen, re.MULTILINE)) == 3
    typed = ("--columns", "id", "-n", "4")
    seen = on_terminal("list", *typed, "--sample", "--data", data, now=SAMPLE_NOW, NO_COLOR="1")
    assert columns_of(seen) == ["#", "id"]
    assert len(re.findall(r"^\d  ", seen, re.MULTILINE)) == 4
    piped = geminids("list", "--sample", "--data", data).out
    assert piped == geminids("list", "--sample").out


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[list]\ncolumns = ["when", "price"]', "in [list]: There is no column 'price'. Available: when,"),
        ("[list]\ncolumns = []", """'columns' in [list] must be names in quotes, as ["when", "title"]"""),
        ('[list]\ncolumns = "when"', """'columns' in [list] must be names in quotes"""),
        ("[list]\ncolumns = [1]", """'columns' in [list] must be names in quotes"""),
        ("[list]\nlimit = 0", "'limit' in [list] must be a whole number greater than 0"),
        ("[list]\nlimits = 5", "[list] has no setting 'limits'; settings are columns, limit"),
    ],
)
def test_settings_that_cannot_be_used_say_what_to_write(tmp_path: Path, text: str, reason: str) -> None:
    data = settled(tmp_path, text)
    assert reason in on_terminal("list", "--sample", "--data", data, NO_COLOR="1", columns=200, code=2)


@pytest.mark.parametrize("columns", [80, 200])
def test_tags_stand_after_the_title_where_a_column_of_them_has_no_room(
    geminids: Run, tmp_path: Path, columns: int
) -> None:
    geminids("mark", "latest", "--tag", "bug", "--sample", "--data", tmp_path)
    options = ("--sample", "--data", tmp_path)
    seen = on_terminal("list", *options, columns=columns, now=SAMPLE_NOW, NO_COLOR="1")
    without = columns_of(on_terminal("list", "--sample", columns=columns, now=SAMPLE_NOW, NO_COLOR="1"))
    assert set(columns_of(seen)) - {"tags"} <= set(without)
    assert ("tags" in columns_of(seen)) == (columns > 80)
    line = next(line for line in seen.splitlines() if line.startswith("1"))
    assert "#bug" in line


@pytest.mark.parametrize("columns", [80, 100])
@pytest.mark.parametrize(
    ("name", "seen_as"),
    [
        ("S3 ACL bug", "S3 ACL bug #bug #needs-review"),
        ("Why the upload to the bucket was refused after the deploy", "Why the upload to the bucket was r"),
    ],
)
def test_tags_take_no_room_from_titles(
    geminids: Run, tmp_path: Path, columns: int, name: str, seen_as: str
) -> None:
    options = ("--sample", "--data", tmp_path)
    geminids("mark", "latest", "--name", name, "--tag", "bug", "--tag", "needs-review", *options)
    for asked in ((), ("--tag", "bug")):
        seen = on_terminal("list", *asked, *options, columns=columns, now=SAMPLE_NOW, NO_COLOR="1")
        line = next(line for line in seen.splitlines() if line.startswith("1"))
        assert seen_as in line
        assert "#bug" in line
