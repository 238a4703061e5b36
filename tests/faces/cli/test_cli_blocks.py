"""`geminids stats --blocks`: windows of five hours."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from tests.conftest import FIXTURES, Run
from tests.support.claude_lines import reply, user, words, write
from tests.support.documents import check_printed
from tests.support.homes import write_session
from tests.support.terminal import on_terminal


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A window two days ago, and the present one: it is noon."""
    usage = {"input_tokens": 59_000, "output_tokens": 1_000}

    def said(name: str, before: str, at: str) -> dict[str, object]:
        when = f"2026-06-{at}:00.000Z"
        return reply(name, before, words("Done."), reply_id=name, timestamp=when, usage=usage)

    write(
        tmp_path,
        user("u", None, "Go on", timestamp="2026-06-13T09:10:00.000Z"),
        said("a", "u", "13T09:10"),
        said("b", "a", "15T10:00"),
        said("c", "b", "15T11:30"),
    )
    return tmp_path


def test_a_terminal_shows_windows_and_the_pauses_between_them(home: Path) -> None:
    seen = on_terminal("stats", "--blocks", "--home", home, NO_COLOR="1").splitlines()
    table = [line.rstrip() for line in seen if line.startswith(("2026", "total", "    "))]
    assert [re.sub(r"\s{2,}", "  ", line.strip()) for line in table] == [
        "2026-06-13 09:00  1  59,000  –  1,000  60,000  $0.26",
        "2 d 50 min without a request",
        "2026-06-15 10:00 now  2  118,000  –  2,000  120,000  $0.51",
        "total  3  177,000  –  3,000  180,000  $0.77",
    ]
    assert (
        " ".join(seen)
        .split("claude until ")[1]
        .startswith("15:00 · 3 h left · 1,000 tokens/min · $0.26/h projected: 300k tokens, $1.28")
    )


def test_of_several_agents_no_pauses_are_shown(home: Path) -> None:
    write_session(home, day=1)
    seen = on_terminal("stats", "--blocks", "--home", home, NO_COLOR="1")
    assert re.search(r"^2026-06-13 09:00 +claude ", seen, re.MULTILINE)
    assert re.search(r"^2026-05-01 10:00 +gemini ", seen, re.MULTILINE)
    assert "without a request" not in seen


def test_json_has_a_rate_of_the_present_window_alone(geminids: Run, home: Path) -> None:
    printed = geminids("stats", "--blocks", "--json", "--home", home).out
    document = check_printed(printed, "geminids/blocks/1")
    before, present = document["blocks"]
    assert before["burn"] is None
    assert present["start"] == "2026-06-15T10:00:00Z"
    assert present["idle"] == 2 * 86_400 + 50 * 60
    assert present["burn"] == {
        "tokens_per_minute": 1000.0,
        "cost_per_hour": 0.256,
        "left": 3 * 3600,
        "projected_tokens": 300_000,
        "projected_cost": 1.28,
    }


def test_a_limit_leaves_out_the_earlier_windows_and_the_total_stays(geminids: Run, home: Path) -> None:
    whole = json.loads(geminids("stats", "--blocks", "--json", "--home", home).out)
    last = json.loads(geminids("stats", "--blocks", "--json", "-n", "1", "--home", home).out)
    assert last["blocks"] == whole["blocks"][1:]
    assert last["total"] == whole["total"]
    shown = geminids("stats", "--blocks", "-n", "1", "--home", home)
    assert "1 earlier" in shown.out
    assert "1 more window; `geminids stats --limit 2 --blocks" in shown.err


@pytest.mark.parametrize("case", ["claude/subagent", "gemini/tool-calls-jsonl-2", "codex/subagents"])
def test_csv_adds_up_to_the_figures_of_stats(geminids: Run, case: str) -> None:
    home = FIXTURES / case / "home"
    if not home.exists():
        pytest.skip(case)
    rows = list(csv.DictReader(io.StringIO(geminids("stats", "--blocks", "--csv", "--home", home).out)))
    total = json.loads(geminids("stats", "--json", "--home", home).out)["total"]["tokens"]
    assert sum(int(row["total_tokens"]) for row in rows) == total["total"] > 0
    assert sum(int(row["requests"]) for row in rows) == total["requests"]


def test_several_agents_have_windows_of_their_own(geminids: Run) -> None:
    homes = [FIXTURES / "claude" / "plain" / "home", FIXTURES / "gemini" / "at-files-strings" / "home"]
    options = [word for home in homes for word in ("--home", home)]
    shown = geminids("stats", "--blocks", *options).out
    assert re.search(r"^window +agent +requests", shown, re.MULTILINE)
    blocks = json.loads(geminids("stats", "--blocks", "--json", *options).out)["blocks"]
    assert {block["agent"] for block in blocks} == {"claude", "gemini"}
    own = json.loads(geminids("stats", "--blocks", "--json", "--agent", "claude", *options).out)["blocks"]
    assert own == [block for block in blocks if block["agent"] == "claude"]


@pytest.mark.parametrize(
    "other",
    ["--by day", "--chart bars", "--estimate", "--subagents apart", "--explain"],
)
def test_what_says_that_rows_are_something_else_is_refused(geminids: Run, home: Path, other: str) -> None:
    outcome = geminids("stats", "--blocks", "--home", home, *other.split())
    assert outcome.code == 2
    assert f"--blocks cannot be combined with {other.split(maxsplit=1)[0]}." in outcome.err


def test_where_nothing_was_used_it_says_so(geminids: Run, home: Path) -> None:
    outcome = geminids("stats", "--blocks", "--since", "2026-06-15T11:45", "--home", home)
    assert (outcome.code, outcome.out) == (1, "")
    assert "No match in 1 session." in outcome.err
