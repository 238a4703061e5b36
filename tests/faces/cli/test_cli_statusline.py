"""`geminids statusline`: one line, in time, whatever an agent says on stdin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from geminids.library import Library
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import FIXTURES, NOW, Run
from tests.support.claude_lines import SESSION, Line, reply, user, words, write
from tests.support.terminal import RUN, on_terminal

MODEL = "claude-opus-5-5"
LONGEST = 3.0
"""Seconds in which it must be there on a machine that does other things too; 0.1 on an idle one."""


def said(number: int, minutes_ago: int, tokens: int = 49_000) -> Line:
    usage = {"input_tokens": tokens, "output_tokens": 1_000}
    when = f"{NOW - timedelta(minutes=minutes_ago):%Y-%m-%dT%H:%M:%S.000Z}"
    before, name = f"m{number - 1}" if number else "u", f"m{number}"
    return reply(name, before, words("Done."), reply_id=name, timestamp=when, usage=usage, model=MODEL)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A session with a request yesterday and two today, in a window that began at ten; it is noon."""
    home = tmp_path / "home"
    first = user("u", None, "Go on", timestamp="2026-06-14T08:00:00.000Z")
    write(home, first, said(0, 27 * 60), said(1, 100), said(2, 10, 79_000))
    known(home)
    return home


def known(home: Path) -> None:
    """What a user has who has listed sessions before: an index, and prices that were looked up."""
    with Library([home]) as library:
        assert library.stats(StatsQuestion()).total.tokens.cost


def line(home: Path, stdin: object = b"", *options: object, **environment: str) -> str:
    """What a process prints for what an agent says."""
    words = stdin if isinstance(stdin, bytes) else json.dumps(stdin).encode()
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RUN, NOW.isoformat(), "statusline", "--home", home, *map(str, options)],
        input=words,
        env=os.environ | environment,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert time.monotonic() - began < LONGEST
    printed = done.stdout.decode()
    assert printed.endswith("\n")
    assert printed.count("\n") == 1
    return printed.removesuffix("\n")


def test_the_newest_session_is_told_where_nobody_says_which(home: Path) -> None:
    assert line(home) == (
        "claude-opus-5-5 · $0.77 session · $0.55 today · 3 h left · 1,300 tokens/min · $0.33/h"
        " · 79.0k context (8 %)"
    )


def test_figures_are_those_of_list_and_stats(home: Path, geminids: Run) -> None:
    told = line(home)
    (session,) = json.loads(geminids("list", "--json", "--home", home).out)["sessions"]
    today = json.loads(geminids("stats", "--json", "--since", "today", "--home", home).out)["total"]
    (*_, block) = json.loads(geminids("stats", "--blocks", "--json", "--home", home).out)["blocks"]
    assert f"${session['cost']:.2f} session" in told
    assert f"${today['tokens']['cost']:.2f} today" in told
    assert f"{block['burn']['tokens_per_minute']:,.0f} tokens/min" in told
    assert f"${block['burn']['cost_per_hour']:.2f}/h" in told


@pytest.mark.parametrize("key", ["session_id", "transcript_path"])
def test_the_session_that_is_named_is_told_though_another_is_newer(home: Path, key: str) -> None:
    other = "9f9c9a2b-0000-4000-8000-000000000009"
    when = f"{NOW - timedelta(minutes=5):%Y-%m-%dT%H:%M:%S.000Z}"
    more: dict[str, Any] = {"sessionId": other, "timestamp": when}
    write(
        home,
        user("x", None, "Another", **more),
        reply(
            "y", "x", words("Yes."), reply_id="other", usage={"input_tokens": 7, "output_tokens": 1}, **more
        ),
        name=f"{other}.jsonl",
    )
    known(home)
    file = next(home.rglob(f"{SESSION}.jsonl"))
    assert "7 context" in line(home)
    assert "79.0k context" in line(home, {key: SESSION if key == "session_id" else str(file)})


def test_what_the_agent_knows_better_is_taken_from_it(home: Path) -> None:
    told = line(
        home,
        {
            "session_id": SESSION,
            "model": {"id": "x", "display_name": "Opus 5.5"},
            "context_window": {"context_window_size": 200_000},
            "rate_limits": {"five_hour": {"used_percentage": 41.3, "resets_at": NOW.timestamp() + 1800}},
        },
    )
    assert told.startswith("Opus 5.5 · $0.77 session")
    assert " · 30 min left, 41 % used · " in told
    assert told.endswith("79.0k context (40 %)")


def test_a_session_that_has_not_been_written_costs_what_the_agent_says(home: Path) -> None:
    told = line(home, {"session_id": "new", "model": {"id": "m"}, "cost": {"total_cost_usd": 0.25}})
    assert told.startswith("m · $0.25 session · $0.55 today · 3 h left · ")
    assert "context" not in told


@pytest.mark.parametrize(
    "stdin",
    [b"x{", b"[]", b'"words"', b"\xff\xfe", b"[" * 100_000, b'{"session_id":', b"12"],
    ids=lambda value: repr(value[:12]),
)
def test_words_that_make_no_sense_are_named_in_the_line(home: Path, stdin: bytes) -> None:
    assert line(home, stdin) == "geminids: stdin is not JSON of a status line"


@pytest.mark.parametrize(
    "stdin",
    [
        {"session_id": 7, "transcript_path": [], "model": "m", "cost": None, "context_window": True},
        {"model": {"display_name": None}, "cost": {"total_cost_usd": "1"}, "rate_limits": {"five_hour": 5}},
        {"rate_limits": {"five_hour": {"resets_at": -1e300, "used_percentage": True}}},
        {"rate_limits": {"five_hour": {"resets_at": float("nan"), "used_percentage": float("inf")}}},
        {"cost": {"total_cost_usd": 10**400}, "context_window": {"context_window_size": 10**400}},
        {},
    ],
    ids=str,
)
def test_values_of_another_kind_are_passed_over(home: Path, stdin: object) -> None:
    assert "$0.77 session · $0.55 today · 3 h left" in line(home, stdin)


def test_a_name_cannot_do_anything_to_a_terminal(home: Path) -> None:
    told = line(home, {"model": {"display_name": "Opus\x1b[31m\r\n" + "x" * 400}})
    assert "\x1b" not in told
    assert len(told) < 200


def test_it_waits_for_nobody_who_does_not_close_stdin(home: Path) -> None:
    reading, writing = os.pipe()
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", RUN, NOW.isoformat(), "statusline", "--home", home],
        stdin=reading,
        capture_output=True,
        check=True,
        timeout=30,
    )
    os.close(reading)
    os.close(writing)
    assert time.monotonic() - began < LONGEST
    assert b"$0.77 session" in done.stdout


@pytest.mark.parametrize("columns", [1, 2, 12, 24, 40, 60, 80, 100])
def test_a_narrow_line_leaves_out_what_matters_least(home: Path, columns: int) -> None:
    told = line(home, b"", COLUMNS=str(columns))
    whole = line(home)
    assert len(told) <= columns
    pieces = told.split(" · ")
    if columns >= 24:
        assert pieces == [piece for piece in whole.split(" · ") if piece in pieces]
        assert pieces[0] == MODEL
    assert ("tokens/min" in told) <= ("left" in told) <= ("context" in told) <= ("today" in told)


def test_a_terminal_is_told_what_to_put_into_the_settings(home: Path) -> None:
    seen = on_terminal("statusline", "--home", home, columns=200)
    assert "$0.77 session" in seen
    assert re.search(r"To set it up, use `.+ statusline` as the status line command", seen)


@pytest.mark.parametrize("home", ["missing", "empty"])
def test_without_a_session_the_line_says_so(tmp_path: Path, home: str) -> None:
    folder = tmp_path / home
    if home == "empty":
        (folder / ".claude" / "projects").mkdir(parents=True)
    told = line(folder)
    assert told == "geminids: no sessions yet" if home == "empty" else told.startswith("geminids: No folder")


def test_wrong_options_are_wrong_usage(geminids: Run) -> None:
    outcome = geminids("statusline", "--bogus")
    assert outcome.code == 2
    assert "See `geminids statusline --help`." in outcome.err


def test_every_fixture_has_a_line(geminids: Run) -> None:
    homes = sorted(FIXTURES.glob("*/*/home"))
    for home in homes[::5]:
        outcome = geminids("statusline", "--home", home)
        assert (outcome.code, outcome.out.count("\n"), outcome.err) == (0, 1, ""), home


@pytest.mark.slow
def test_what_takes_too_long_is_read_by_a_process_that_goes_on(home: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    with Library([home], data) as library:
        assert len(library.sessions()) == 1
        place = library._context.place()
    assert place is not None
    with (home / ".claude/projects/-home-ada-dev-shop" / f"{SESSION}.jsonl").open("a") as file:
        file.write(json.dumps(said(3, 1, 99_000)) + "\n")
    with place.alone(patience=1):
        # Somebody writes: the line shows what is known, however often it is asked for.
        for _ in range(3):
            assert "79.0k context" in line(home, b"", "--data", data)
        assert len(processes(data)) == 1
    until = time.monotonic() + 30
    while processes(data):
        assert time.monotonic() < until
        time.sleep(0.1)
    assert "99.0k context" in line(home, b"", "--data", data, "--no-sync")


def processes(data: Path) -> list[str]:
    """Those that were started with a data directory and have not ended."""
    listed = subprocess.run(["ps", "-wwAo", "stat=,args="], capture_output=True, text=True, check=True)
    return [one for one in listed.stdout.splitlines() if str(data) in one and not one.startswith("Z")]


@pytest.mark.parametrize("stdin", [{"session_id": "\ud800"}, {"transcript_path": "/x/\ud800"}])
def test_odd_names_damage_no_index(home: Path, machine: Path, stdin: object) -> None:
    for _ in range(2):
        assert "geminids:" not in line(home, stdin)
    assert not list(machine.rglob("*.damaged"))


def test_where_no_index_can_be_written_the_line_says_so(home: Path) -> None:
    for _ in range(2):
        assert "no index can be written" in line(home, b"", "--data", "/dev/null/x")
