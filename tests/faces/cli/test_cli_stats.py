"""`geminids stats`."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

from geminids import sample
from geminids.faces.drawing.number_tables import folded
from geminids.faces.drawing.page import DrawnPage
from geminids.faces.drawing.screen import Screen
from geminids.faces.drawing.stats_charts import calendar, draw_calendar
from geminids.faces.drawing.stats_tables import View, draw_heading, draw_table
from geminids.library import Library
from geminids.query.usage.stats import STATS_GROUPS, StatsQuestion
from tests.conftest import FIXTURES, Run
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.terminal import on_terminal

HOMES = sorted(FIXTURES.glob("*/*/home"))
SAMPLE_TOTAL = "1,192,511"
ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"
TIMES = ("day", "week", "month")
KINDS = ("fresh", "cached", "written", "output", "thoughts", "tool", "total", "requests")


def name_of_case(value: object) -> str:
    return " ".join(value) if isinstance(value, list) else ""


def rows_of(printed: str) -> tuple[list[dict[str, str]], dict[str, str]]:
    """The groups and the total of a table in a pipe, cell by cell."""
    heading, *lines = printed.split("\n\n")[1].splitlines()
    names = re.split(r"\s{2,}", heading.strip())
    *groups, total = [dict(zip(names, re.split(r"\s{2,}", line.strip()), strict=False)) for line in lines]
    return groups, total


def whole(number: str) -> int:
    return 0 if number == "–" else int(number.replace(",", "").lstrip("+-≥"))


def csv_rows(printed: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(printed, newline="")))


def plain(seen: str) -> list[str]:
    return ESCAPES.sub("", seen).splitlines()


def home_with_days(home: Path, number: int) -> Path:
    for day in range(1, number + 1):
        write_session(home, f"{day:08}-a", day=day, calls=[tool_call()])
    return home


# What is counted


@pytest.mark.parametrize("home", HOMES, ids=lambda home: f"{home.parent.parent.name}-{home.parent.name}")
def test_the_rows_of_a_table_add_up_to_its_total(geminids: Run, home: Path) -> None:
    for by in STATS_GROUPS:
        outcome = geminids("stats", "--home", home, "--by", by)
        if outcome.code == 1:
            assert "No session found" in outcome.err
            return
        assert outcome.code in (0, 3), outcome.err
        if "No tool calls" in outcome.err or "No model is known" in outcome.err:
            continue
        groups, total = rows_of(outcome.out)
        kinds = ("calls", "failed") if by == "tool" else [kind for kind in KINDS if kind in total]
        for kind in kinds:
            assert sum(whole(group[kind]) for group in groups) == whole(total[kind]), (by, kind)


@pytest.mark.parametrize("by", STATS_GROUPS)
def test_csv_and_json_hold_what_the_library_counts(geminids: Run, by: str) -> None:
    with Library(sample=True) as library:
        found = library.stats(StatsQuestion(by=by, estimate=True))
    rows = csv_rows(geminids("stats", "--sample", "--by", by, "--estimate", "--csv").out)
    document = check_printed(
        geminids("stats", "--sample", "--by", by, "--estimate", "--json").out, "geminids/stats/2"
    )
    assert [row["key"] for row in rows] == [group.key for group in found.groups]
    for row, told, group in zip(rows, document["groups"], found.groups, strict=True):
        _check_group(row, told, group.figures, by)
    assert document["total"]["tokens"]["total"] == found.total.tokens.total == 1_192_511
    assert document["prices"] == {"label": "list-price estimate", "library": _prices(), "overrides": []}
    assert [day["day"] for day in document["days"]] == [str(day) for day, _ in found.days]


def test_several_groupings_as_json_and_csv(geminids: Run) -> None:
    question = ("stats", "--sample", "--by", "model,project")
    document = check_printed(geminids(*question, "--json").out, "geminids/stats/2")
    assert document["by"] == ["model", "project"]
    named = [[(one["by"], one["name"]) for one in group["group"]] for group in document["groups"]]
    assert named[0] == [("model", "gemini-3.8-flash"), ("project", "skycast")]
    rows = csv_rows(geminids(*question, "--csv").out)
    assert [[(row["by"], row["name"]), (row["by_2"], row["name_2"])] for row in rows] == named
    assert [group["tokens"]["total"] for group in document["groups"]] == [
        int(row["total_tokens"]) for row in rows
    ]


def test_several_groupings_as_text(geminids: Run) -> None:
    """On a terminal a name stands at the first of its rows, in a pipe on all of them."""
    groups, total = rows_of(geminids("stats", "--sample", "--by", "model,project").out)
    assert [(group["model"], group["project"]) for group in groups][:2] == [
        ("gemini-3.8-flash", "skycast"),
        ("gemini-3.8-flash", "recipes"),
    ]
    assert total["model"] == "total"
    drawn = plain(on_terminal("stats", "--sample", "--by", "model,project", columns=80))
    heading = next(place for place, line in enumerate(drawn) if line.startswith("model  "))
    assert [line[:31].rstrip() for line in drawn[heading + 1 : heading + 4]] == [
        "gemini-3.8-flash        skycast",
        "                        recipes",
        "gemini-3-flash-preview  skycast",
    ]
    assert all(cell_len(line) <= 80 for line in drawn)


def test_rows_that_a_limit_leaves_out_add_up_with_the_others(geminids: Run) -> None:
    said = geminids("stats", "--sample", "--by", "month,model,project", "--limit", "2")
    earlier, *shown, total = said.out.split("\n\n")[1].splitlines()[1:]
    assert earlier.startswith("5 earlier ")
    assert sum(whole(line.split()[-2]) for line in (earlier, *shown)) == whole(total.split()[-2]) == 1_192_511
    assert "more rows" in on_terminal("stats", "--sample", "--by", "month,model", "--limit", "1")


@pytest.mark.parametrize(
    ("by", "said"),
    [
        ("model,tool", "--by cannot combine model and tool: tools use no tokens of their own."),
        ("model,colour", "--by: 'colour' is not one of day, week"),
        ("model,", "--by: '' is not one of day, week"),
    ],
)
def test_groupings_that_cannot_be_had_are_refused(geminids: Run, by: str, said: str) -> None:
    outcome = geminids("stats", "--sample", "--by", by)
    assert outcome.code == 2
    assert said in outcome.err


def _prices() -> str:
    from importlib.metadata import version

    return f"genai-prices {version('genai-prices')}"


def _check_group(row: dict[str, str], told: dict[str, Any], figures: Any, by: str) -> None:
    assert (row["sessions"], told["sessions"]) == (str(figures.sessions), figures.sessions)
    if by == "tool":
        assert (row["requests"], told["tokens"]) == ("", None)
        assert (row["tool_calls"], told["calls"]) == (str(figures.calls), figures.calls)
        return
    for name in ("input", "cached", "cache_write", "output", "thoughts", "tool", "total", "fresh"):
        value = getattr(figures.tokens, name)
        assert told["tokens"][name] == value
        assert row[f"{name}_tokens"] == ("" if value is None else str(value))
    assert Decimal(row["list_price_usd"]) == figures.tokens.cost
    assert told["tokens"]["cost"] == pytest.approx(float(figures.tokens.cost), abs=1e-6)
    assert (row["prompts"], told["prompts"]) == (
        ("", None) if by == "model" else (str(figures.prompts), figures.prompts)
    )


def test_the_heading_says_what_all_of_it_comes_to(geminids: Run) -> None:
    heading = geminids("stats", "--sample").out.split("\n\n")[0].splitlines()
    assert heading == [
        "17 Jan 2026 to 8 Nov 2026 · gemini",
        (
            "8 sessions, 1 subagent · 19 prompts · 15 min 48 s active · 39 tool calls (1 failed)"
            " · 11 files changed (+42 -8)"
        ),
        f"44 requests · {SAMPLE_TOTAL} tokens · $0.59 list-price estimate ({_prices()})",
    ]


@pytest.mark.parametrize(
    ("options", "total"),
    [
        (["--since", "2026-11-01"], "520,351"),
        (["--until", "2026-04-18"], "157,940"),
        (["--project", "recipes"], "329,205"),
        (["project:recipes"], "329,205"),
        (["model:2.5"], "45,146"),
        (["lentil"], "329,205"),
        (["--agent", "gemini"], SAMPLE_TOTAL),
    ],
    ids=name_of_case,
)
def test_what_counts_can_be_chosen(geminids: Run, options: list[str], total: str) -> None:
    outcome = geminids("stats", "--sample", *options)
    assert outcome.code == 0
    assert f" · {total} tokens · " in outcome.out


def test_subagents_count_with_their_parent_or_apart(geminids: Run) -> None:
    parent = "gemini:d43a9578-9f23-4baf-8940-e1b06863f35d"

    def totals(*options: str) -> dict[str, str]:
        rows = csv_rows(geminids("stats", "--sample", "--by", "session", "--csv", *options).out)
        return {row["key"]: row["total_tokens"] for row in rows}

    assert totals()[parent] == "97844"
    apart = totals("--subagents", "apart")
    assert apart[parent] == "39157"
    assert len(apart) == len(totals()) + 1
    assert sum(map(int, apart.values())) == sum(map(int, totals().values()))


# What is not known


def without_tokens(file: Path) -> None:
    header, user, reply = map(json.loads, file.read_text().splitlines())
    del reply["tokens"]
    file.write_text("".join(json.dumps(record) + "\n" for record in (header, user, reply)))


def test_what_was_not_recorded_is_a_dash_and_no_nought(geminids: Run, tmp_path: Path) -> None:
    without_tokens(write_session(tmp_path))
    write_session(tmp_path, SECOND_ID, day=9)
    printed = geminids("stats", "--home", tmp_path).out
    (first, second), total = rows_of(printed)
    assert [first[kind] for kind in ("fresh", "output", "total", "cost")] == ["–"] * 4
    assert (second["total"], total["total"]) == ("12", "12")
    row = csv_rows(geminids("stats", "--home", tmp_path, "--csv").out)[0]
    assert (row["total_tokens"], row["list_price_usd"]) == ("", "")
    document = json.loads(geminids("stats", "--home", tmp_path, "--json").out)
    assert document["groups"][0]["tokens"]["total"] is None


def test_an_estimate_stands_apart_and_is_in_no_sum(geminids: Run, tmp_path: Path) -> None:
    without_tokens(write_session(tmp_path, prompt="words " * 400))
    write_session(tmp_path, SECOND_ID, day=9)
    measured = rows_of(geminids("stats", "--home", tmp_path).out)[1]
    outcome = geminids("stats", "--home", tmp_path, "--estimate")
    lines = outcome.out.splitlines()
    (total,) = (line for line in lines if line.startswith("total"))
    assert re.split(r"\s{2,}", total.strip()) == list(measured.values())
    guesses = [line for line in lines if line.startswith("  estimated")]
    assert [line.split()[1:3] for line in guesses] == [["~1", "~600"]] * 2
    assert "1 request may have used ~602 tokens. They are not included in any total." in outcome.out


def test_replies_without_tokens_are_told_and_no_rows_of_their_own(geminids: Run, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    without_tokens(file)
    file.write_text(file.read_text().replace('"model": "gemini-3-pro", ', ""))
    write_session(tmp_path, SECOND_ID, day=9)
    outcome = geminids("stats", "--home", tmp_path, "--by", "model")
    said = "1 reply without token counts: not included in requests, tokens and costs. `--estimate` estimates"
    assert said in outcome.out
    groups, total = rows_of(outcome.out)
    assert [group["model"] for group in groups] == ["gemini-3-pro"]
    assert total["requests"] == "1"
    document = json.loads(geminids("stats", "--home", tmp_path, "--by", "model", "--json").out)
    unknown = {group["group"][0]["name"]: group["tokens"] for group in document["groups"]}["(unknown)"]
    assert (unknown["requests"], unknown["unmeasured"]) == (0, 1)
    guessed = geminids("stats", "--home", tmp_path, "--by", "model", "--estimate").out
    assert "(unknown) " in guessed
    explained = geminids("stats", "--home", tmp_path, "--explain").out
    assert "1 reply without token counts: not included in requests and tokens." in explained


def test_a_guess_is_marked_as_one_and_so_is_what_it_leaves_out(geminids: Run, tmp_path: Path) -> None:
    for native_id, model in ((FIRST_ID, "gemini-2.5-pro"), (SECOND_ID, "house-model-7")):
        file = write_session(tmp_path, native_id, prompt="words " * 4000)
        without_tokens(file)
        file.write_text(file.read_text().replace("gemini-3-pro", model))
    printed = geminids("stats", "--home", tmp_path, "--estimate").out
    assert ", ~$0.01 at list price. They are not included in any total." in printed
    assert printed.count("~$0.01*") == 2
    assert "* without 1 estimated request that cannot be priced." in printed
    assert "* without 1 request " not in printed


def test_one_reason_for_several_models_is_told_once(geminids: Run, tmp_path: Path) -> None:
    for native_id, model in ((FIRST_ID, "house-model-7"), (SECOND_ID, "house-model-8")):
        file = write_session(tmp_path, native_id)
        file.write_text(file.read_text().replace("gemini-3-pro", model))
    printed = geminids("stats", "--home", tmp_path).out
    assert "No price for house-model-7 (1 request), house-model-8 (1 request): " in printed


def test_a_model_without_a_price_has_tokens_only_and_is_named(geminids: Run, tmp_path: Path) -> None:
    for model, native_id in (("house-model-7", FIRST_ID), ("gemini-2.5-pro", SECOND_ID)):
        file = write_session(tmp_path, native_id)
        file.write_text(file.read_text().replace("gemini-3-pro", model))
    outcome = geminids("stats", "--home", tmp_path, "--by", "model")
    groups, total = rows_of(outcome.out)
    costs = {group["model"]: (group["total"], group["cost"]) for group in groups}
    assert costs["house-model-7"] == ("12", "–")
    assert total["cost"] == "<$0.01*"
    assert "* without 1 request that cannot be priced." in outcome.out
    assert "No price for house-model-7 (1 request): " in outcome.out
    document = json.loads(geminids("stats", "--home", tmp_path, "--json").out)
    assert [(one["model"], one["requests"]) for one in document["unpriced"]] == [("house-model-7", 1)]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--project", "nowhere"], "No project matches 'nowhere'. Available: "),
        (["zeppelin"], "No match in 8 sessions, 1 subagent."),
        (["--since", "2027-01-01"], "No match in 8 sessions, 1 subagent."),
    ],
    ids=name_of_case,
)
def test_nothing_is_said_to_be_nothing(geminids: Run, options: list[str], said: str) -> None:
    outcome = geminids("stats", "--sample", *options)
    assert (outcome.code, outcome.out) == (1, "")
    assert said in outcome.err
    as_json = geminids("stats", "--sample", *options, "--json")
    assert (as_json.code, json.loads(as_json.out)["groups"]) == (1, [])
    explained = geminids("stats", "--sample", *options, "--explain")
    assert (explained.code, explained.out) == (1, "")


def test_a_machine_without_sessions_is_told_where_to_look(geminids: Run, tmp_path: Path) -> None:
    outcome = geminids("stats", "--home", tmp_path)
    assert (outcome.code, outcome.out) == (1, "")
    assert f"No session found in {tmp_path}. Use `--home DIR` to look elsewhere" in outcome.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--by", "hour"], "'hour' is not one of"),
        (["--since", "soon"], "soon"),
        (["is:nonsense"], "nonsense"),
        (["--csv", "--json"], "--csv and --json cannot be combined."),
        (["--csv", "--explain"], "--explain cannot be combined with --csv."),
        (["--by", "day", "--chart", "bars", "--estimate", "--explain"], "with --by, --estimate, --chart."),
        (["--subagents", "apart", "--explain", "--json"], "cannot be combined with --subagents."),
        (
            ["--explain", "d43a", "--since", "7d", "-n", "3"],
            "--explain ID cannot be combined with --since,",
        ),
        (["lentil", "--explain", "d43a"], "--explain ID cannot be combined with a QUERY."),
        (["--limti", "3"], "did you mean --limit"),
        (["--agent", "nobody"], "nobody"),
        (["--explain", "ffffffff"], "ffffffff"),
    ],
    ids=name_of_case,
)
def test_a_slip_is_told(geminids: Run, options: list[str], said: str) -> None:
    outcome = geminids("stats", "--sample", *options)
    assert (outcome.code > 0, outcome.out) == (True, "")
    assert said in outcome.err


# Where it goes


HOSTILE = (
    "\x1b]0;evil\x07\x1b[2J=cmd|'/c calc'!A1",
    "购物车里的商品数量在刷新页面之后变成零，请检查并修复这个问题，谢谢",
    "=1+1",
    "tab\tand\nline \u202eright to left",
    "👩‍👩‍👧 " * 20,
)


@pytest.fixture
def hostile_home(tmp_path: Path) -> Path:
    for number, prompt in enumerate(HOSTILE):
        write_session(tmp_path, f"{number:08}-a", day=number + 1, prompt=prompt, slug=f"pr{number}")
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("by", STATS_GROUPS)
def test_no_line_is_wider_than_the_terminal(by: str, hostile_home: Path) -> None:
    with Library([sample.home(), hostile_home]) as library:
        found = library.stats(StatsQuestion(by=by))
    for columns in range(30, 201):
        for chart in (None, "bars", "sparkline"):
            drawn = drawn_at(columns, View(found, 30, columns, is_drawn=True, chart=chart))
            assert max(map(cell_len, drawn)) <= columns, (columns, chart)
            assert any(line.startswith("total") for line in drawn)


@pytest.mark.parametrize("columns", range(20, 201, 3))
def test_no_calendar_is_wider_than_the_terminal(columns: int) -> None:
    with Library(sample=True) as library:
        found = library.stats(StatsQuestion())
    calendar_drawn = calendar(found.days, date(2026, 11, 15), columns)
    assert calendar_drawn is not None
    stream = io.StringIO()
    draw_calendar(DrawnPage(stream, Screen(True, False, columns)), calendar_drawn, columns)
    lines = stream.getvalue().splitlines()
    assert max(map(cell_len, lines)) <= columns
    assert "…" not in stream.getvalue()
    assert "".join(lines[1:8]).count("█") >= 2


def drawn_at(columns: int, view: View) -> list[str]:
    stream = io.StringIO()
    page = DrawnPage(stream, Screen(True, False, columns))
    draw_heading(page, view)
    draw_table(page, view)
    return stream.getvalue().splitlines()


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 150])
def test_a_real_terminal_shows_the_same(columns: int) -> None:
    for options in ([], ["--chart", "heatmap", "--by", "session"]):
        seen = plain(on_terminal("stats", "--sample", *options, columns=columns))
        assert all(cell_len(line) <= columns for line in seen)
        assert any(line.startswith("total") for line in seen)


@pytest.mark.slow
@pytest.mark.parametrize("columns", [30, 40, 60, 80, 140])
def test_explanations_fit_too(columns: int) -> None:
    for options in (["all"], ["d43a"]):
        seen = plain(on_terminal("stats", "--sample", "--explain", *options, columns=columns, PAGER="cat"))
        # A command is there to be copied, so it is not broken.
        assert all(cell_len(line) <= columns for line in seen if "geminids " not in line)


@pytest.mark.slow
def test_numbers_are_whole_where_they_fit_and_never_cut() -> None:
    wide = plain(on_terminal("stats", "--sample", columns=120))
    narrow = plain(on_terminal("stats", "--sample", columns=62))
    assert any(line.startswith("total") and SAMPLE_TOTAL in line for line in wide)
    (total,) = (line for line in narrow if line.startswith("total"))
    assert "1.19M" in total.split()
    assert "…" not in total


@pytest.mark.slow
def test_a_long_table_shows_the_last_days_and_still_adds_up(tmp_path: Path) -> None:
    home_with_days(tmp_path, 31)
    write_session(tmp_path, "99999999-b", day=1, slug="blog")
    seen = plain(on_terminal("stats", "--home", tmp_path))
    days = [line for line in seen if line.startswith("2026-05-")]
    assert (len(days), days[0].split()[0], days[-1].split()[0]) == (30, "2026-05-02", "2026-05-31")
    (earlier,) = (line.split() for line in seen if line.startswith("1 earlier"))
    assert (earlier[2], earlier[-2]) == ("2", "24")
    assert "1 more day; `geminids stats --limit 31 " in " ".join(seen[-3:]).replace("   ", " ")
    assert not any("earlier" in line for line in plain(on_terminal("stats", "--home", tmp_path, "-n", "31")))


def test_a_pipe_gets_all_of_it_without_colour_or_pictures(geminids: Run, tmp_path: Path) -> None:
    outcome = geminids("stats", "--home", home_with_days(tmp_path, 31))
    groups, _ = rows_of(outcome.out)
    assert len(groups) == 31
    assert not set(outcome.out) & set("\x1b─█▁▂▇")


@pytest.mark.slow
def test_colour_in_a_pipe_adds_nothing_but_colour() -> None:
    line = [sys.executable, "-m", "geminids", "stats", "--sample"]
    coloured = subprocess.run(
        line, check=True, capture_output=True, text=True, env=os.environ | {"FORCE_COLOR": "1"}
    )
    bare = subprocess.run(line, check=True, capture_output=True, text=True)
    assert "\x1b[" in coloured.stdout
    assert ESCAPES.sub("", coloured.stdout) == bare.stdout


@pytest.mark.slow
def test_colour_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[" in on_terminal("stats", "--sample", "--chart", "heatmap")
    assert "\x1b" not in on_terminal("stats", "--sample", "--chart", "heatmap", "--no-color")
    assert "\x1b" not in on_terminal("stats", "--sample", "--chart", "heatmap", NO_COLOR="1")


@pytest.mark.slow
@pytest.mark.parametrize("columns", [60, 80, 120])
def test_hostile_titles_are_harmless_and_stay_in_their_column(hostile_home: Path, columns: int) -> None:
    seen = on_terminal("stats", "--home", hostile_home, "--by", "session", "--no-color", columns=columns)
    assert not set(seen) & set("\x1b\x07\u202e\t")
    lines = [line for line in seen.splitlines() if re.match(r"\d{8} |total", line)]
    assert len(lines) == len(HOSTILE) + 1
    assert len({cell_len(line.rstrip()) for line in lines}) == 1


def test_no_spreadsheet_runs_a_title(geminids: Run, hostile_home: Path) -> None:
    printed = geminids("stats", "--home", hostile_home, "--by", "session", "--csv").out
    rows = csv_rows(printed)
    assert len(rows) == len(HOSTILE)
    assert "'=1+1" in {row["name"] for row in rows}
    assert not any(row["name"].startswith(("=", "+", "-", "@")) for row in rows)
    assert "\x1b" not in printed


@pytest.mark.parametrize("name", [" =1+1", "\u00a0@SUM(A1)", "\t-2", " ＝1"])
def test_no_spreadsheet_runs_what_stands_after_blanks(geminids: Run, tmp_path: Path, name: str) -> None:
    file = write_session(tmp_path)
    file.write_text(file.read_text().replace('"gemini-3-pro"', json.dumps(name)))
    (row,) = csv_rows(geminids("stats", "--home", tmp_path, "--by", "model", "--csv").out)
    assert row["key"].startswith("'")
    assert row["name"].startswith("'")


@pytest.mark.slow
def test_numbers_of_any_size_are_drawn(geminids: Run, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    file.write_text(file.read_text().replace('"input": 10', f'"input": {10**12}'))
    write_session(tmp_path, SECOND_ID, day=9)
    assert f"{10**12 + 2 + 12:,}" in geminids("stats", "--home", tmp_path).out
    seen = plain(on_terminal("stats", "--home", tmp_path, columns=60))
    assert any("1.00T" in line for line in seen)


# Pictures


@pytest.mark.slow
def test_a_calendar_has_a_row_for_each_weekday_and_says_what_its_shades_mean() -> None:
    seen = plain(on_terminal("stats", "--sample", "--chart", "heatmap", now="2026-11-15T12:00:00+00:00"))
    (monday,) = (number for number, line in enumerate(seen) if line.startswith("Mon  "))
    rows = seen[monday : monday + 7]
    assert [row[:5].strip() for row in rows] == ["Mon", "", "Wed", "", "Fri", "", "Sun"]
    marks = [row[5:].split() for row in rows]
    assert [len(row) for row in marks] == [37] * 7
    # 8 November 2026 is a Sunday, 5 November the Thursday before it, one week before the last.
    assert (marks[6][-2], marks[3][-2]) == ("█", "▓")
    assert "tokens a day:  · none  ░ from 97.8k" in "\n".join(seen)
    assert not any(line.startswith("total") for line in seen)


@pytest.mark.slow
def test_a_calendar_of_what_is_long_ago_ends_with_it() -> None:
    seen = plain(on_terminal("stats", "--sample", "--chart", "heatmap", now="2031-01-01T00:00:00+00:00"))
    assert any("█" in line for line in seen if line.startswith("Sun"))


def test_bars_are_as_long_as_what_they_tell(geminids: Run) -> None:
    lines = geminids("stats", "--sample", "--chart", "bars").out.splitlines()
    bars = {line.split()[0]: line.count("█") for line in lines if line.startswith("2026-")}
    assert bars["2026-11-08"] == 20
    assert bars["2026-01-17"] == 1
    assert max(bars.values()) == 20
    for options, heading in ((), "cost"), (("--by", "tool"), "calls"):
        heads = geminids("stats", "--sample", "--chart", "bars", *options).out.splitlines()[4]
        assert heads.split()[-1] == heading
    # Fewer tokens, at a higher price.
    drawn = {line.split()[0]: line.split()[-1] for line in lines if line.startswith("2026-")}
    assert len(drawn["2026-10-24"]) > len(drawn["2026-04-18"])


def test_a_line_of_days_is_drawn_where_it_is_asked_for(geminids: Run) -> None:
    first = geminids("stats", "--sample", "--chart", "sparkline").out.splitlines()[3]
    drawn, told = first.split("  ", 1)
    assert (len(drawn), drawn[-1], told) == (60, "█", "tokens a day, 10 Sep to 8 Nov")
    assert "▁" not in on_terminal("stats", "--sample", "--chart", "none")


# Where the numbers come from


@pytest.mark.parametrize("home", HOMES, ids=lambda home: f"{home.parent.parent.name}-{home.parent.name}")
def test_explanations_add_up(geminids: Run, home: Path) -> None:
    outcome = geminids("stats", "--home", home, "--explain", "--json")
    document = check_printed(outcome.out, "geminids/explain/1")
    sessions = document["sessions"]
    assert sum(line["requests"] for line in sessions) == document["tokens"]["requests"]
    assert sum(line["total"] or 0 for line in sessions) == (document["tokens"]["total"] or 0)
    assert sum(agent["total"] or 0 for agent in document["agents"]) == (document["tokens"]["total"] or 0)
    assert sum(line["cost"] or 0 for line in sessions) == pytest.approx(
        document["tokens"]["cost"] or 0, abs=1e-6 * len(sessions)
    )
    assert sum(line["unpriced"] for line in sessions) == document["tokens"]["unpriced"]
    for kind in ("copies", "taken_over"):
        assert sum(line[kind] for line in sessions) == sum(agent[kind] for agent in document["agents"])
    for line in sessions:
        options = ("stats", "--home", home, "--explain", line["id"])
        printed = geminids(*options, "--json")
        assert printed.code == 0 or line["verdict"] is None
        if printed.code == 0:
            explained = check_printed(printed.out, "geminids/explained-session/1")
            _check_session(explained, line)
            if line["verdict"] is not None:
                _check_comparison(explained["check"], geminids(*options).out)


def test_a_total_tells_costs_and_which_session_to_look_at(geminids: Run) -> None:
    seen = plain(on_terminal("stats", "--sample", "--explain", "--limit", 2))
    assert any(line.split()[-3:] == ["44", SAMPLE_TOTAL, "$0.59"] for line in seen)
    assert seen[-1] == "geminids: One session: `geminids stats --explain fd2a76ff --sample`."
    assert geminids("stats", "--sample", "--explain", "fd2a76ff").code == 0
    assert not geminids("stats", "--sample", "--explain").err


def _check_comparison(check: dict[str, Any], printed: str) -> None:
    besides = _besides(check)
    row = f"its files, with {' and '.join(besides)}  " if besides else "its files  "
    assert sum(line.startswith(row) for line in printed.splitlines()) == 1


def _besides(check: dict[str, Any]) -> list[str]:
    """What is compared with an agent's own total beside the files of a session."""
    return [name for name in ("copies", "subagents") if check[f"with_{name}"]]


def _check_session(explained: dict[str, Any], line: dict[str, Any]) -> None:
    counted = [request for request in explained["requests"] if request["counted"]]
    assert explained["session"]["id"] == line["id"]
    assert sum(request["usage"]["total"] or 0 for request in counted) == (line["total"] or 0)
    assert len(explained["requests"]) - len(counted) == line["copies"] + line["taken_over"]
    for request in explained["requests"]:
        source = request["source"]
        assert Path(source["file"]).is_file()
        assert source["line"] >= 1
        assert request["counted"] or request["why"]


def test_each_request_has_its_file_and_line(geminids: Run) -> None:
    printed = geminids("stats", "--sample", "--explain", "d43a").out
    lines = [line for line in printed.splitlines() if ".jsonl:" in line]
    assert len(lines) == 2
    for line in lines:
        file, _, number = line.split()[-1].rpartition(":")
        record = json.loads(Path(file).read_text().splitlines()[int(number) - 1])
        tokens = record["tokens"]
        assert f"{tokens['total']:,}" in line
    assert "1 repeat of requests on other lines (again) not counted." in printed
    assert "Missing from the files: a title (1 request)." in printed
    assert "Subagents are counted separately." in printed


def test_a_fork_names_what_it_took_over_and_the_agents_own_total(geminids: Run) -> None:
    home = FIXTURES / "codex" / "fork" / "home"
    total = geminids("stats", "--home", home, "--explain").out
    assert "that a session took over from another." in total
    assert re.search(r"The agents' own totals: \d+ equal \(✓\)", total)
    (fork,) = (line.split()[0] for line in total.splitlines() if "Which bread?" in line)
    printed = geminids("stats", "--home", home, "--explain", fork).out
    assert sum(line.startswith("≡ ") and "  " in line for line in printed.splitlines()) == 3
    assert "≡ 3 requests not counted: copied from another session" in printed
    assert "✓ This matches the agent's own total." in printed


def test_what_is_compared_says_what_else_is_in_it(geminids: Run) -> None:
    for case, besides in (("fork", "copies"), ("nested-agents", "subagents"), ("plain", None)):
        options = ("stats", "--home", FIXTURES / "claude" / case / "home", "--explain")
        compared = [
            json.loads(geminids(*options, line["id"], "--json").out)["check"]
            for line in json.loads(geminids(*options, "--json").out)["sessions"]
            if line["verdict"] is not None
        ]
        assert {name for check in compared for name in _besides(check)} == ({besides} if besides else set())


def test_lines_that_repeat_a_request_are_in_order_and_whole(geminids: Run, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    *head, reply = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*head, *[reply] * 13]))
    (row,) = (line for line in geminids("stats", "--explain", file).out.splitlines() if f"{file}:" in line)
    repeats = re.search(r"–  (\d+(?:, \d+)*)  ", row)
    assert repeats is not None
    lines = [int(number) for number in repeats[1].split(", ")]
    assert (len(lines), lines) == (12, sorted(lines))
    drawn = plain(on_terminal("stats", "--explain", file, "--no-color", columns=90, PAGER="cat"))
    assert [line for line in drawn if line.endswith(f"  {lines[0]}, {lines[1]} and 10 more")]


@pytest.mark.parametrize("columns", [30, 47, 80])
def test_a_path_is_broken_between_its_names(columns: int) -> None:
    path = "/home/ada/some/where/deep/in/the woods/rollout-2026-11-15T21-14-35-01a1e10f.jsonl"
    lines = list(folded(path, columns))
    assert "".join(lines) == path
    assert all(cell_len(line) <= columns for line in lines)
    assert all(line.endswith(("/", "-")) for line in lines[:-1])
    assert [*folded("漢" * 20, 9)] == ["漢漢漢漢"] * 5


def test_sessions_without_a_total_of_the_agent_are_counted(geminids: Run, tmp_path: Path) -> None:
    write_session(tmp_path)
    codex = FIXTURES / "codex" / "fork" / "home"
    printed = geminids("stats", "--home", tmp_path, "--home", codex, "--explain").out
    assert "(✓); 1 session has none." in printed
    ids = [line.split()[0] for line in printed.splitlines() if line.startswith(("codex:", "gemini:"))]
    assert f"gemini:{FIRST_ID}" in ids
    assert len(ids) == 5


def test_a_file_can_be_explained(geminids: Run, tmp_path: Path) -> None:
    file = write_session(tmp_path)
    outcome = geminids("stats", "--explain", file)
    assert outcome.code == 0
    assert f"{file}:3" in outcome.out
    assert FIRST_ID in outcome.out


@pytest.mark.slow
def test_an_explanation_goes_through_the_pager(tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text("#!/bin/sh\necho PAGED\nhead -n 1\n")
    pager.chmod(0o755)
    explained = "stats", "--sample", "--explain", "all"
    assert on_terminal(*explained, PAGER=str(pager)).startswith("PAGED\n")
    assert "PAGED" not in on_terminal(*explained, "--no-pager", PAGER=str(pager))


LED = FIXTURES / "gemini" / "subagents-nested-jsonl" / "home"


@pytest.mark.parametrize("named", ["number", "beginning", "id", "name"])
def test_a_session_may_be_meant_by_all_that_other_commands_take(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    monkeypatch.setenv("GEMINIDS_HOMES", str(LED))
    listed = json.loads(geminids("list", "--json").out)["sessions"]
    leader = max(listed, key=lambda one: one["usage"]["total"] or 0)
    if named == "name":
        geminids("mark", leader["id"], "--name", "S3 ACL bug")
    line = str(1 + [one["id"] for one in listed].index(leader["id"]))
    typed = {
        "number": line,
        "beginning": leader["native_id"][:8],
        "id": leader["id"],
        "name": "S3 ACL bug",
    }[named]
    geminids("list")
    told = json.loads(geminids("stats", typed, "--json").out)
    # What it cost is told with the subagents that it led, here as in the rows of sessions.
    rows = csv_rows(geminids("stats", "--by", "session", "--csv").out)
    (row,) = [row for row in rows if row["key"] == leader["id"]]
    assert str(told["total"]["tokens"]["total"]) == row["total_tokens"]
    assert told["kinds"]["subagent"] >= 1
    assert f"with {told['kinds']['subagent']} subagent" in geminids("show", leader["id"]).out


def test_a_number_that_no_line_has_is_not_looked_for(geminids: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINIDS_HOMES", str(LED))
    geminids("list")
    outcome = geminids("stats", "77")
    assert (outcome.code, outcome.out) == (1, "")
    assert "No session '77'" in outcome.err
    assert "`geminids stats '\"77\"'`" in outcome.err


def test_words_that_look_like_ids_and_are_none_are_looked_for(
    geminids: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEMINIDS_HOMES", str(LED))
    assert "No match in" in geminids("stats", "deadbeef1").err


def test_a_year_and_a_month_are_times(geminids: Run) -> None:
    of_year = json.loads(geminids("stats", "--sample", "--json", "--since", "2026").out)
    assert of_year["total"] == json.loads(geminids("stats", "--sample", "--json").out)["total"]
    october = ("--since", "2026-10", "--until", "2026-10")
    days = json.loads(geminids("stats", "--sample", "--json", *october).out)["groups"]
    assert {day["group"][0]["key"][:7] for day in days} == {"2026-10"}
    assert "Cannot read the time '2026-13'" in geminids("stats", "--sample", "--since", "2026-13").err


def test_columns_for_which_there_is_no_room_are_named() -> None:
    seen = on_terminal("stats", "--sample", "--by", "model", columns=60)
    assert re.search(r"Left out at 60 columns: .*thoughts", seen)
    assert "Left out" not in on_terminal("stats", "--sample", "--by", "model", columns=140)
