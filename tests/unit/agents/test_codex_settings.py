"""What is added to `config.toml` goes again, whatever stood there and whatever Codex CLI adds to it."""

from __future__ import annotations

import tomllib

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from geminids.agents.codex.install.installer import CodexInstaller
from geminids.core.agents.homes import Home
from geminids.core.agents.install import Edit, Launch
from tests.support.examples import examples

LAUNCH = Launch(
    command=("/opt/a b/é'\"x/geminids",), version="1", environment={"CODEX_HOME": "/x y", "A": '\\n"'}
)
LATER = Launch(command=("/v/geminids",), options=("--home", "/é"), version="2")

pieces = st.sampled_from(
    [
        "a = 1",
        "# [mcp_servers.geminids]",
        "",
        'b = """\n[x]\n"""',
        "c = [\n  1, # one\n]",
        "[mcp_servers]",
        "[mcp_servers.other]",
        'mcp_servers.dotted.command = "x"',
        "[ mcp_servers . spaced ]",
        'notify = ["x"]',
        'notify = [\n  "x",\n  "y" # c\n]',
        "notify = ['x']  # mine",
        "[hooks]",
        "[[hooks.Stop]]\nhooks = []",
        '[[hooks.Stop]]\nhooks = [{ type = "command", command = "mine" }]',
        "[[hooks.Start]]\nx = 1",
        'hooks.state.x = "# geminids"',
        '[projects."/a [b]"]',
        "[tui]",
    ]
)
OF_THE_SERVER = '[mcp_servers.geminids.tools.usage]\napproval_mode = "approve"\n'
others = st.sampled_from(
    [
        '\n[projects."/new"]\ntrust_level = "trusted"\n',
        '\n[hooks.state."/y"]\nh = "z"\n',
        "# end\n",
        "\n[zz]\nq = [\n 1,\n]\n",
        OF_THE_SERVER,
    ]
)


def edit_of(launch: Launch) -> Edit:
    (edit,) = CodexInstaller().places(Home("codex", "/nowhere", "default"), launch).edits
    return edit


@settings(max_examples=examples(300), deadline=None)
@given(
    st.lists(pieces, max_size=6, unique=True),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.lists(others, max_size=2, unique=True),
)
def test_what_is_added_goes_and_all_else_stays(
    written: list[str], end: str, is_ended: bool, added: list[str]
) -> None:
    text = "\n".join(written).replace("\n", end) + end * (is_ended and bool(written))
    theirs = "".join(added).replace("\n", end)
    alone = text + end * (not text.endswith("\n")) + theirs.replace(OF_THE_SERVER.replace("\n", end), "")
    try:
        before, after = tomllib.loads(text), tomllib.loads(alone)
    except tomllib.TOMLDecodeError:
        assume(False)
    installed = edit_of(LAUNCH).add(text.encode())
    assert tomllib.loads(installed.decode())["mcp_servers"]["geminids"]["env"] == LAUNCH.environment
    untouched = edit_of(LAUNCH).remove(installed, None)
    assert untouched.strip() == text.encode().strip()
    left = edit_of(LATER).remove(installed + theirs.encode(), None)
    assert tomllib.loads(left.decode()) == (after if added else before)
    again = edit_of(LATER).add(left)
    assert edit_of(LAUNCH).remove(again, None).strip() == left.strip()
