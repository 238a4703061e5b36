"""What is said on stderr of a terminal: broken between words, and never in a command that may be copied."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.core.errors import AgentNotFoundError
from geminids.faces.cli.talk import cut
from geminids.faces.drawing.page import DrawnPage
from geminids.faces.drawing.screen import Screen
from geminids.faces.drawing.wrapping import wrapped

COMMAND = "`geminids show 1 --at 2 --data /a/long/folder`"


@pytest.mark.parametrize(
    ("message", "width", "lines"),
    [
        ("geminids: short", 80, ["geminids: short"]),
        ("geminids: one two three", 17, ["geminids: one two", "  three"]),
        (f"Read one: {COMMAND}.", 30, ["Read one:", f"  {COMMAND}."]),
        (f"Either {COMMAND} or {COMMAND}", 60, [f"Either {COMMAND} or", f"  {COMMAND}"]),
        ("one two\n  kept as it is, however long\nthree four", 8, None),
        ("an odd ` in it is no command", 12, ["an odd", "  ` in it is no command"]),
    ],
)
def test_lines_are_broken_between_words(message: str, width: int, lines: list[str] | None) -> None:
    told = wrapped(message, width).split("\n")
    assert told == (lines or ["one two", "  kept as it is, however long", "three", "  four"])


@given(st.text(alphabet="ab `\n", max_size=60), st.integers(1, 40))
def test_nothing_is_lost_or_added_but_breaks(message: str, width: int) -> None:
    assert wrapped(message, width).split() == message.split()


def test_a_line_that_is_cut_says_so() -> None:
    assert cut("abcdef", 4) == "abc…"
    assert cut("abcd", 4) == "abcd"


def test_a_sentence_of_a_page_breaks_no_command() -> None:
    stream = io.StringIO()
    screen = Screen(is_terminal=True, has_colour=False, width=40)
    DrawnPage(stream, screen).sentence(f"No price for it; {COMMAND} adds it. You can also set a price.")
    assert stream.getvalue().splitlines() == [
        "No price for it;",
        COMMAND,
        "adds it. You can also set a price.",
    ]


def test_a_command_on_a_line_of_its_own_is_never_broken() -> None:
    line = f"cd /home/ada/dev/shop && gemini --resume {'1f0c9a2b' * 6}"
    told = wrapped(f"geminids: {AgentNotFoundError('gemini', line)}", 40)
    assert told.splitlines()[-1] == f"  {line}"
