"""`geminids stats --live` on a real terminal, while another process writes."""

from __future__ import annotations

import json
import re
import signal
from datetime import timedelta
from pathlib import Path

import pytest

from tests.conftest import NOW, Run
from tests.support.claude_lines import SESSION, Line, reply, user, words, write
from tests.support.terminal import LiveScreen, on_terminal
from tests.support.watching import append_elsewhere

LEFT = "\x1b[?25h\x1b[?1049l"
"""The cursor, and the screen that was there before."""


def said(number: int, tokens: int, **ago: float) -> Line:
    when = f"{NOW - timedelta(**ago):%Y-%m-%dT%H:%M:%S.000Z}"
    usage = {"input_tokens": tokens - 1_000, "output_tokens": 1_000}
    before, name = f"m{number - 1}" if number else "u", f"m{number}"
    return reply(name, before, words("Done."), reply_id=name, timestamp=when, usage=usage)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A session in a window that began two hours ago; it is noon."""
    first = user("u", None, "Make the bread rise", timestamp="2026-06-15T10:00:00.000Z")
    return write(tmp_path, first, said(0, 60_000, hours=2), said(1, 60_000, minutes=1))


@pytest.mark.slow
def test_what_is_written_is_drawn_and_q_gives_the_terminal_back(file: Path, tmp_path: Path) -> None:
    with LiveScreen("stats", "--live", "--home", tmp_path) as terminal:
        picture = terminal.wait_for("1 session running", "Make the bread rise")
        assert not terminal.echoes()
        assert "Today: 2 requests · 120k tokens, $0.51 list-price estimate" in picture
        assert "10:00 to 15:00" in picture
        assert re.search(r"claude until 15:00 · (3 h|2 h 59 min) left · \d+", picture)
        assert "projected:" in picture
        append_elsewhere(file, json.dumps(said(2, 80_000, seconds=1)).encode() + b"\n")
        picture = terminal.wait_for("Today: 3 requests · 200k tokens, $0.85")
        assert "79.0k" in picture
        terminal.press("q")
        assert terminal.ended() == 0
        assert terminal.echoes()
        assert terminal.seen.endswith(LEFT)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["keys", "interrupt", "end"])
def test_however_it_ends_the_terminal_is_as_it_was(file: Path, tmp_path: Path, way: str) -> None:
    with LiveScreen("stats", "--live", "--home", tmp_path) as terminal:
        terminal.wait_for("1 session running")
        if way == "keys":
            terminal.press("\x03")
        else:
            terminal.child.send_signal(signal.SIGINT if way == "interrupt" else signal.SIGTERM)
        assert terminal.ended() == (143 if way == "end" else 130)
        assert terminal.echoes()
        assert LEFT in terminal.seen
        assert "Traceback" not in terminal.seen


@pytest.mark.slow
def test_it_is_as_wide_as_the_terminal_is_now(file: Path, tmp_path: Path) -> None:
    with LiveScreen("stats", "--live", "--home", tmp_path, columns=120) as terminal:
        terminal.wait_for("claude-opus-5-5")
        terminal.resize(50, 12)
        append_elsewhere(file, json.dumps(said(2, 80_000, seconds=1)).encode() + b"\n")
        picture = terminal.wait_for("Today: 3 requests")
        lines = picture.replace("\r", "").split("\n")
        assert max(map(len, lines)) <= 50
        assert len(lines) <= 12
        assert "claude-opus-5-5" not in picture


@pytest.mark.slow
def test_where_nothing_runs_it_says_so_and_waits(tmp_path: Path) -> None:
    first = user("u", None, "Long ago", timestamp="2026-06-01T10:00:00.000Z")
    file = write(tmp_path, first, said(0, 60_000, days=14))
    with LiveScreen("stats", "--live", "--home", tmp_path) as terminal:
        terminal.wait_for("Today: nothing yet", "No session is running.")
        append_elsewhere(file, json.dumps(said(1, 60_000, seconds=1)).encode() + b"\n")
        terminal.wait_for("1 session running", "Today: 1 request ")


def test_without_a_terminal_it_says_what_to_use(geminids: Run, file: Path, tmp_path: Path) -> None:
    outcome = geminids("stats", "--live", "--home", tmp_path)
    assert (outcome.code, outcome.out) == (2, "")
    assert "--live needs a terminal; use `geminids watch --json`" in outcome.err
    assert SESSION in file.name


def test_a_terminal_that_cannot_be_drawn_over_is_none(file: Path, tmp_path: Path) -> None:
    seen = on_terminal("stats", "--live", "--home", tmp_path, code=2, columns=200, TERM="dumb")
    assert "--live needs a terminal" in seen
    assert file.exists()


@pytest.mark.parametrize(
    "other",
    [
        "--by day",
        "--json",
        "--csv",
        "--since 7d",
        "--project x",
        "--agent claude",
        "-n 3",
        "word",
        "--blocks",
    ],
)
def test_nothing_can_be_chosen(geminids: Run, other: str) -> None:
    outcome = geminids("stats", "--live", *other.split())
    assert outcome.code == 2
    assert "--live cannot be combined with " in outcome.err
