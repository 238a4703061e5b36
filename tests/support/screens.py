"""Screens that documents show."""

from __future__ import annotations

import re
import shlex

from tests.support.terminal import on_terminal

SCREEN = re.compile(r"```console\n\$ geminids (?P<arguments>[^\n]*)\n(?P<shown>.*?)```", re.DOTALL)
WHEN = "2026-11-15T12:00:00+00:00"


def shown_by(arguments: str) -> str:
    """What a command shows on a terminal of 80 columns."""
    seen = on_terminal(*shlex.split(arguments), now=WHEN, NO_COLOR="1", PAGER="cat")
    return "".join(f"{line.rstrip()}\n" for line in seen.strip("\n").splitlines())
