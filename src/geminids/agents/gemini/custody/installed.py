"""Which Gemini CLI is installed, told by its files: it is never started, since a start deletes sessions.

    …/bin/gemini → …/node_modules/@google/gemini-cli/{bundle/gemini.js,dist/index.js}    npm, npx, Homebrew
    …/npm/gemini.cmd beside …/npm/node_modules/@google/gemini-cli                        npm on Windows
    …/bin/gemini, a script, and …/libexec/lib/node_modules/@google/gemini-cli            Homebrew, at times

A script that lies elsewhere tells nothing: then the release is not known.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from geminids.agents.gemini.read.projects import read_plain
from geminids.core.lazy_patterns import lazy_pattern
from geminids.reading.jsonl import UndecodableError, decode

PROGRAM = "gemini"
Release = tuple[int, int, int]

_PACKAGE = "@google/gemini-cli"
_LARGEST_DESCRIPTION = 1_000_000
_NUMBERS = lazy_pattern(r"(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?!\d)")
_BESIDE = ("node_modules", "lib/node_modules", "libexec/lib/node_modules")
"""Where a script has its package, seen from its own folder or from the one above."""


class Installed(msgspec.Struct, frozen=True):
    """The program that a shell would start."""

    path: str
    version: str | None
    """As its package spells it; None where that could not be found."""

    @property
    def release(self) -> Release | None:
        """The version in numbers; those of a nightly are those of the release it is to become."""
        found = _NUMBERS.match(self.version or "")
        return (int(found[1]), int(found[2]), int(found[3])) if found else None

    @property
    def name(self) -> str:
        """What to call it."""
        return f"Gemini CLI {self.version}" if self.version else "Gemini CLI"


def find_installed(environment: Mapping[str, str]) -> Installed | None:
    """The Gemini CLI that a shell would start; None if it is not there."""
    found = shutil.which(PROGRAM, path=environment.get("PATH") or "")
    if found is None:
        return None
    program = Path(found).absolute()
    versions = (version for file in _descriptions(program) if (version := _version(file)))
    return Installed(str(program), next(versions, None))


def _descriptions(program: Path) -> Iterator[Path]:
    """The files that may describe the package of a program, the likeliest first."""
    try:
        real = program.resolve()
    except (OSError, RuntimeError):
        return
    yield from (folder / "package.json" for folder in real.parents)
    for folder in real.parents[:2]:
        yield from (folder / beside / _PACKAGE / "package.json" for beside in _BESIDE)


def _version(file: Path) -> str | None:
    """The version in a description of this package and of no other."""
    try:
        described = decode(read_plain(file, _LARGEST_DESCRIPTION)).value
    except (OSError, UndecodableError):
        return None
    match described:
        case {"name": "@google/gemini-cli", "version": str(version)}:
            return version
        case _:
            return None
