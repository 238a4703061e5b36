"""Our index of a home, as the benchmarks make it and ask it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from measuring import COMMAND, Spent, environment, spend


class Place(NamedTuple):
    """An index of a home, of one scope."""

    home: Path
    data: Path
    scope: str
    every_word: bool = False
    keeps: bool = False
    """Whether copies are kept too, which `keep.py` measures."""

    def command(self, *words: str) -> list[str]:
        """A command of ours on this index."""
        return [str(COMMAND), *words, "--home", str(self.home), "--data", str(self.data)]

    @property
    def environment(self) -> dict[str, str]:
        """What a command must know to keep to the scope."""
        every_word = {"GEMINIDS_EVERY_WORD": "1"} if self.every_word else {}
        return environment(GEMINIDS_KEEP="1" if self.keeps else "0", **every_word)

    def spend(self, *words: str) -> Spent:
        """What a command takes on this index."""
        return spend(self.command(*words), self.environment)

    def built(self) -> Spent:
        """What it takes to make the index where there is none."""
        shutil.rmtree(self.data, ignore_errors=True)
        return self.spend("sync", "--full")

    def size(self) -> int:
        """Bytes of all that we keep."""
        return sum(file.stat().st_size for file in self.data.rglob("*") if file.is_file())


def both_scopes(home: Path, bench: Path) -> tuple[Place, Place]:
    """The index as it is by default, and with every word."""
    default = Place(home, bench / "default", "default scope")
    return default, Place(home, bench / "every-word", "every word", every_word=True)


def write_bytecode(bench: Path) -> None:
    """Start once as an installer would have done, so that no measure pays for it."""
    spend([COMMAND, "sync", "--sample", "--data", bench / "sample"])
