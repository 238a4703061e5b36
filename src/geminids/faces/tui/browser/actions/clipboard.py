"""The clipboard of the system, where a program for it is installed."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from shutil import which
from typing import NamedTuple

_PATIENCE = 2.0
"""Seconds that a program has: one that waits for a screen far away may never end."""


class _Program(NamedTuple):
    command: tuple[str, ...]
    variable: str | None = None
    """What is set in the environment where it works; None: it works wherever it is."""
    encoding: str = "utf-8"


_PROGRAMS = (
    _Program(("wl-copy",), "WAYLAND_DISPLAY"),
    _Program(("xclip", "-selection", "clipboard"), "DISPLAY"),
    _Program(("xsel", "--clipboard", "--input"), "DISPLAY"),
    _Program(("pbcopy",)),
    _Program(("clip.exe",), None, "utf-16-le"),
)


def put_on_clipboard(text: str, environment: Mapping[str, str] = os.environ) -> str | None:
    """The program that took the words; None if there is none, or none took them."""
    for program in _PROGRAMS:
        if program.variable is None or environment.get(program.variable):
            found = which(program.command[0], path=environment.get("PATH") or "")
            if found and _takes(found, program, text):
                return program.command[0]
    return None


def _takes(found: str, program: _Program, text: str) -> bool:
    try:
        done = subprocess.run(
            [found, *program.command[1:]],
            input=text.encode(program.encoding, "replace"),
            # Some stay behind to hand the words on, and would hold on to what they are given.
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            timeout=_PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0
