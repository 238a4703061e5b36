"""A line and a table more in a TOML text that somebody wrote by hand: all else stays, and goes back."""

from __future__ import annotations

import tomllib
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from geminids.core.edits.errors import UneditableError
from geminids.core.edits.toml_text import (
    with_element,
    with_key,
    with_table,
    without_element,
    without_key,
    without_table,
)
from tests.support.examples import examples

TABLE = ("mcp_servers", "geminids")
HOOK = ("hooks", "Stop")
SERVER = {"command": "/opt/a b/geminids", "args": ["mcp"]}
WRITTEN = """\
# my settings
model = "gpt-5.5"   # best
instructions = '''
[mcp_servers.geminids]
is not a table here
'''

[mcp_servers.other]  # mine
command = "other"
"""
ENDS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "of Windows": lambda text: text.replace("\n", "\r\n"),
    "no end": lambda text: text.rstrip("\n"),
    "with a mark": lambda text: f"\ufeff{text}",
    "empty": lambda _: "",
    "nothing but a comment": lambda _: "# nothing yet",
}


def is_ours(value: object) -> bool:
    """Return whether a value of the settings calls a command of ours."""
    return "ours" in repr(value) or "geminids" in repr(value)


@pytest.mark.parametrize("ends", ENDS)
def test_what_is_written_by_hand_stays_as_it_is(ends: str) -> None:
    before = ENDS[ends](WRITTEN).encode()
    with_both = with_key(with_table(before, TABLE, SERVER), "notify", ["geminids", "keep", "hook"])
    assert before.removeprefix("\ufeff".encode()) in with_both
    said = tomllib.loads(with_both.decode("utf-8-sig"))
    assert said["mcp_servers"]["geminids"] == SERVER
    assert said["notify"] == ["geminids", "keep", "hook"]
    left = without_key(without_table(with_both, TABLE), "notify", is_ours)
    # The end that the last line was given is all that may stay where nobody knows how it was.
    assert left.removesuffix(b"\n") == before.removesuffix(b"\n")


def test_it_ends_like_this() -> None:
    text = with_table(
        b'a = 1\n\n[mcp_servers.other]\ncommand = "x"\n', TABLE, {**SERVER, "env": {"A B": "1"}}
    )
    assert text.decode() == (
        'a = 1\n\n[mcp_servers.other]\ncommand = "x"\n\n'
        '[mcp_servers.geminids]\ncommand = "/opt/a b/geminids"\nargs = ["mcp"]\nenv = { "A B" = "1" }\n'
    )


def test_what_the_agent_noted_below_goes_too_and_what_came_behind_stays() -> None:
    text = with_table(b"a = 1\n", TABLE, SERVER)
    text += b'[mcp_servers.geminids.tools.usage]\napproval_mode = "approve"\n# mine\n\n[other]\nb = 2\n'
    assert without_table(text, TABLE) == b"a = 1\n# mine\n\n[other]\nb = 2\n"


@pytest.mark.parametrize("before", [b"[mcp_servers]\n", b"[mcp_servers]\n# none yet\n"])
def test_a_table_above_that_was_there_stays(before: bytes) -> None:
    assert without_table(with_table(before, TABLE, SERVER), TABLE) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"[mcp_servers.geminids]\n", b"[mcp_servers.geminids]\n# moved\n"),
        (b"args =", b"\nargs ="),
        (b'["mcp"]', b'[\n  "mcp",\n]'),
        (b"\n[mcp", b"\n\n[mcp"),
    ],
)
def test_what_a_formatter_has_made_of_it_goes_too(old: bytes, new: bytes) -> None:
    text = with_table(b"a = 1\n", TABLE, SERVER) + b"# mine\n\n[other]\n"
    assert old in text
    assert without_table(text.replace(old, new), TABLE).replace(b"\n\n", b"\n") == b"a = 1\n# mine\n[other]\n"


@pytest.mark.parametrize("line", [b'notify = ["ours"] # geminids', b'notify = [\n  "ours",\n]  # geminids'])
def test_a_line_that_a_formatter_has_changed_goes_too(line: bytes) -> None:
    assert without_key(line + b"\na = 1\n", "notify", is_ours) == b"a = 1\n"


def test_a_hook_goes_where_its_table_has_a_header() -> None:
    before = b"[hooks]\n"
    hook = {"hooks": [{"type": "command", "command": "geminids keep hook"}]}
    after = with_element(before, HOOK, hook)
    assert without_element(after, HOOK, is_ours) == before
    assert without_element(after.replace(b"[{", b"[\n  {").replace(b"}]", b"}\n]"), HOOK, is_ours) == before


def test_a_hook_beside_those_of_the_user() -> None:
    before = b'[[hooks.Stop]]\nhooks = [{ type = "command", command = "mine" }]\n'
    hook = {"hooks": [{"type": "command", "command": "geminids keep hook"}]}
    after = with_element(before, HOOK, hook)
    assert [one["hooks"][0]["command"] for one in tomllib.loads(after.decode())["hooks"]["Stop"]] == [
        "mine",
        "geminids keep hook",
    ]
    assert without_element(after, HOOK, is_ours) == before
    assert without_element(with_element(b"", HOOK, hook), HOOK, is_ours) == b""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"a = \n", "is not valid TOML"),
        (b"a = '\xff'\n", "is not UTF-8"),
        (b"mcp_servers = {}\n", "mcp_servers is written in one line there"),
        (b'[mcp_servers.geminids]\ncommand = "mine"\n', "already has mcp_servers.geminids"),
        (b'[mcp_servers]\ngeminids = {command = "mine"}\n', "already has mcp_servers.geminids"),
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: bytes, why: str) -> None:
    with pytest.raises(UneditableError) as refused:
        with_table(text, TABLE, SERVER)
    assert why in str(refused.value)


def test_nothing_is_removed_that_only_looks_like_ours() -> None:
    text = b'[mcp_servers]\ngeminids = {command = "mine"}\n'
    with pytest.raises(UneditableError):
        without_table(text, TABLE)
    assert without_key(b'notify = ["ours"]\n', "notify", is_ours) == b'notify = ["ours"]\n'


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_lines_of_ours_in_a_string_stay_and_do_not_hinder(quotes: str) -> None:
    ours = (
        with_table(b"", TABLE, SERVER).decode()
        + 'notify = ["ours"]  # geminids\n[[hooks.Stop]]  # geminids\n'
    )
    before = f"note = {quotes}\n{ours}{quotes}\n".encode()
    hook = {"hooks": [{"type": "command", "command": "ours"}]}
    after = with_key(with_element(with_table(before, TABLE, SERVER), HOOK, hook), "notify", ["ours"])
    for text in (after, after.replace(b"note", b"# new\nnote")):
        without = without_key(without_element(text, HOOK, is_ours), "notify", is_ours)
        assert without_table(without, TABLE) == text[text.index(b"\n") + 1 : text.rindex(quotes.encode()) + 4]


def test_lines_of_the_user_with_the_same_comment_stay() -> None:
    text = b'notify = ["mine"]  # geminids\n\n[[hooks.Stop]]  # geminids\nhooks = [{ command = "mine" }]\n'
    assert without_key(text, "notify", is_ours) == text
    assert without_element(text, HOOK, is_ours) == text


lines = st.sampled_from(
    [
        "a = 1",
        "# [mcp_servers.geminids]",
        "",
        "   ",
        'b = """\n[x]\n"""',
        "[t]",
        "c = [\n  1, # one\n]",
        "[[list]]",
        "[mcp_servers]",
        "[mcp_servers.other]",
        'd = { e = "f" }',
    ]
)


@settings(max_examples=examples(300))
@given(
    st.lists(lines, max_size=8, unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.dictionaries(
        st.text("ab cé\"'\\\x7f\U0001f600", min_size=1, max_size=4), st.text(max_size=4), max_size=2
    ),
)
def test_any_text_goes_back(written: list[str], end: str, is_ended: bool, env: dict[str, str]) -> None:
    text = "\n".join(written).replace("\n", end) + (end if is_ended else "")
    before = text.encode()
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    after = with_key(with_table(before, TABLE, {"command": "x", "env": env}), "notify", ["ours"])
    assert tomllib.loads(after.decode())["mcp_servers"]["geminids"]["env"] == env
    left = without_key(without_table(after, TABLE), "notify", is_ours)
    assert left.strip() == before.strip()
