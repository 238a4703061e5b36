"""Which Claude Code is installed, told by where it lies. It is never started: a start may delete sessions.

…/bin/claude → ~/.local/share/claude/versions/2.1.325        its own installer
…/bin/claude → …/node_modules/@anthropic-ai/claude-code/…    npm
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from geminids.core.lazy_patterns import lazy_pattern
from geminids.reading.jsonl import UndecodableError, decode

PROGRAM = "claude"
Release = tuple[int, int, int]

_PACKAGE = "@anthropic-ai/claude-code"
"""How the names of its packages begin: there is one for each kind of machine."""
_VERSION = lazy_pattern(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})")
_LARGEST_DESCRIPTION = 1_000_000


class Installed(msgspec.Struct, frozen=True):
    """The program that a shell would start."""

    path: str
    version: str | None
    """None where its place does not tell it."""

    @property
    def release(self) -> Release | None:
        """The version in numbers."""
        found = _VERSION.fullmatch(self.version or "")
        return (int(found[1]), int(found[2]), int(found[3])) if found else None

    @property
    def name(self) -> str:
        """What to call it."""
        return f"Claude Code {self.version}" if self.version else "Claude Code"


def find_installed(environment: Mapping[str, str]) -> Installed | None:
    """The Claude Code that a shell would start; None if it is not there."""
    found = shutil.which(PROGRAM, path=environment.get("PATH") or "")
    if found is None:
        return None
    real = Path(os.path.realpath(found))
    version = next(filter(_VERSION.fullmatch, reversed(real.parts)), None)
    described = (told for folder in real.parents if (told := _described(folder / "package.json")))
    return Installed(found, version or next(described, None))


def _described(file: Path) -> str | None:
    """The version in a description of this package and of no other."""
    try:
        with file.open("rb") as opened:
            described = decode(opened.read(_LARGEST_DESCRIPTION)).value
    except (OSError, UndecodableError):
        return None
    match described:
        case {"name": str(name), "version": str(version)} if name.startswith(_PACKAGE):
            return version
    return None
