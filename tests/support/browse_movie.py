"""The moving picture of the browser that the README begins with: type, see, Enter.

python -m tests.support.browse_movie docs/pictures/browse.svg
"""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from geminids import sample
from tests.support import fake_agents
from tests.support.browsing import Browsing, browse
from tests.support.fake_agents import path_with
from tests.support.terminal_pictures import DARK, Frame, moving_picture

NOW = datetime(2026, 11, 9, 19, 30, tzinfo=UTC)
SIZE = (100, 26)
TYPED = "stale forcast"
DEMO = (Path("/tmp/demo/recipes"), Path("/tmp/demo/skycast"))
"""Where the sample was recorded."""


def frames_of(home: Path, data: Path) -> list[Frame]:
    """What is seen while somebody finds a session by a few words, one of them misspelt, and reads it."""
    frames: list[Frame] = []

    async def script(seen: Browsing) -> None:
        def take(seconds: float) -> None:
            frames.append(Frame([list(strip) for strip in seen.strips], seconds))

        await seen.wait_for("8 sessions", "You  #")
        take(1.6)
        for letter in TYPED:
            await seen.type(letter)
            await seen.settle()
            take(0.12)
        await seen.wait_for("forecast instead of forcast", "match in #")
        take(2.6)
        await seen.press("enter")
        await seen.wait_for("conversation · #", "match")
        await seen.settle()
        take(2.4)
        await seen.press("n")
        await seen.settle()
        take(1.6)
        await seen.press("escape")
        await seen.settle()
        await seen.press("ctrl+p")
        await seen.wait_for("Resume in its agent")
        take(2.8)

    browse([home], data, script, size=SIZE, now=NOW)
    return frames


def _taken(scratch: Path) -> list[Frame]:
    """The frames, on a machine that has the agent and the folders of the sample."""
    os.environ["PATH"] = path_with(fake_agents.install(scratch / "agent"))
    home = Path(sample.home())
    made = [folder for folder in DEMO if not folder.exists()]
    for folder in made:
        folder.mkdir(parents=True)
    try:
        return frames_of(home, scratch / "data")
    finally:
        for folder in made:
            folder.rmdir()


def main(path: Path) -> None:
    """Write it."""
    with tempfile.TemporaryDirectory() as scratch:
        path.write_text(moving_picture(_taken(Path(scratch)), SIZE[0], DARK))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
