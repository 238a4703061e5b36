"""What is said on stderr of a terminal: broken between words, and never in a command that may be copied."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from geminids.faces.cli.talk import cut, wrapped

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
