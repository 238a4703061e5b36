"""Talks of the toy agent, as it writes them, and a while in which it is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from geminids.core import agents, plugins
from geminids.faces.cli.commands import COMMANDS
from tests.support.toy_agent import FOLDER, ToySource
from tests.support.toy_offers import OfferingSource

__all__ = ["FOLDER", "ToySource", "installed", "write_talk"]


def write_talk(
    home: Path,
    native_id: str = "7c1d0001",
    *,
    folder: str = "/home/ada/dev/shop",
    day: int = 2,
    prompt: str = "Paint the shop window",
    answer: str = "It is blue now.",
    branch: str | None = "window",
) -> Path:
    """A talk of one prompt and one answer, as the agent writes it; the path of its file."""
    path = home / FOLDER / "talks" / "2026" / "05" / f"{native_id}.talk"
    path.parent.mkdir(parents=True, exist_ok=True)
    date = f"2026-05-{day:02}T10"
    lines = [
        f"talk {native_id} in {folder}" + (f" on {branch}" if branch else ""),
        f"you {date}:00:00Z {prompt}",
        f"toy {date}:01:00Z 20 {answer}",
        f"run {date}:02:00Z paint --colour blue window.png",
    ]
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


def install(folder: Path, source: type[ToySource] = OfferingSource) -> None:
    """Write down in a folder of modules what an installer would: that there is one more source."""
    notes = folder / "toy_agent-1.0.dist-info"
    notes.mkdir(parents=True, exist_ok=True)
    (notes / "entry_points.txt").write_text(
        f"[{agents.GROUP}]\ntoy = {source.__module__}:{source.__name__}\n"
    )


@contextmanager
def installed(folder: Path, source: type[ToySource] = OfferingSource) -> Iterator[None]:
    """A while in which the toy agent can be read in this process."""
    install(folder, source)
    sys.path.append(str(folder))
    _forget_what_is_installed()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        _forget_what_is_installed()


def _forget_what_is_installed() -> None:
    plugins.registered.cache_clear()
    agents.load.cache_clear()
    # What a command's help says of agents is written when it is loaded.
    for place, *_ in COMMANDS.values():
        sys.modules.pop(place.partition(":")[0], None)
