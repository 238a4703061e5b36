"""Screens that documents show."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.conftest import ROOT
from tests.support.terminal import CLEARED, ESCAPES, RUN, LiveScreen, on_terminal

SCREEN = re.compile(r"```console\n\$ (?P<line>[^\n]*)\n(?P<shown>.*?)```", re.DOTALL)
WIDTH = 80
WHEN = "2026-11-15T12:00:00+00:00"
RUNNING = "2026-11-08T17:47:00+00:00"
"""When a session of the sample is running."""
USER_HOME = "/home/ada"
OF_SAMPLE = (
    "README.md",
    *(f"docs/{name}.md" for name in ("projects", "resume", "search", "sql", "stats", "tour", "watch")),
)
"""Pages whose screens are of the sample."""
OF_OTHERS = ("docs/install.md", "docs/keeping.md", "docs/tables.md")
"""Pages whose screens a test of their subject runs."""


def check_screens(name: str, shown: Callable[[str], str]) -> int:
    """Compare all screens of a page with what is shown for their lines, or write them; how many there are."""
    page = ROOT / name
    text = page.read_text("utf-8")
    rewritten = SCREEN.sub(lambda screen: f"```console\n$ {screen['line']}\n{shown(screen['line'])}```", text)
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        page.write_text(rewritten, "utf-8")
    assert page.read_text("utf-8") == rewritten
    return len(SCREEN.findall(text))


def shown_for(line: str) -> str:
    """What a line shows on a terminal of 80 columns, without what depends on the machine."""
    words = shlex.split(line)
    assert words.pop(0) == "geminids", line
    match words:
        case ["stats", *_] if "--live" in words:
            with LiveScreen(*words, now=RUNNING) as screen:
                seen = screen.wait_for("running", "context")
        case ["watch", *_]:
            with LiveScreen(*words, now=RUNNING) as screen:
                seen = CLEARED.sub("", screen.wait_for_quiet().replace("\r\n", "\n"))
            # How it is watched depends on what is installed, and on where.
            seen = ESCAPES.sub("", re.sub(r"geminids: Watching\s[^─]*", "", seen))
        case [*words, "|", "cat"]:
            seen = _in_a_pipe(words)
        case _:
            code = 1 if words[0] == "resume" else 0
            seen = on_terminal(*words, now=WHEN, code=code, NO_COLOR="1", PAGER="cat")
    seen = seen.replace(str(Path.cwd()), USER_HOME)
    return "".join(f"{line.rstrip()}\n" for line in seen.strip("\n").splitlines())


def _in_a_pipe(words: list[str]) -> str:
    """What an agent gets that runs a command for its status line."""
    done = subprocess.run(
        [sys.executable, "-c", RUN, RUNNING, *words],
        stdin=subprocess.DEVNULL,
        env=os.environ | {"COLUMNS": str(WIDTH)},
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout.decode()
