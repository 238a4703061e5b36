"""The browser without a terminal: keys go in, the words on its screen come out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from geminids.faces.tui.browser.app import Browser, Canvas
from geminids.faces.tui.browser.view import View
from geminids.library import Library
from tests.conftest import NOW

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from geminids.faces.tui.asker import OpenLibrary

PATIENCE = 3.0
"""Seconds until something must be seen."""
_BETWEEN = 0.01


class BrowserScreen:
    """What is seen, and who presses keys."""

    def __init__(self, app: Browser, pilot: Pilot[object]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        """The lines on it."""
        canvas = self.app.query_one(Canvas)
        return [canvas.render_line(at).text for at in range(self.app.size.height)]

    @property
    def text(self) -> str:
        """All of them."""
        return "\n".join(line.rstrip() for line in self.lines)

    async def press(self, *keys: str) -> None:
        """Press keys, as textual calls them."""
        await self.pilot.press(*keys)

    async def type(self, text: str) -> None:
        """Type some letters."""
        await self.pilot.press(*("space" if letter == " " else letter for letter in text))

    async def wait_for(self, *texts: str, but_not: str | None = None) -> str:
        """What is seen as soon as all these texts are, and another one is not."""
        until = monotonic() + PATIENCE
        while not all(text in self.text for text in texts) or (but_not is not None and but_not in self.text):
            assert monotonic() < until, f"{texts} without {but_not!r} are not seen:\n{self.text}"
            await self.pilot.pause(_BETWEEN)
        return self.text


Drive = Callable[[BrowserScreen], Awaitable[None]]


def opener(home: Path, data: Path) -> OpenLibrary:
    """What opens the sessions of a home."""

    def open_library(is_new: bool, tell: Callable[[str], None], progress: object) -> Library:
        return Library([home], data, sync=is_new, tell=tell)

    return open_library


def browse(
    open_library: OpenLibrary,
    first: Callable[[Browser], View],
    drive: Drive,
    size: tuple[int, int] = (80, 24),
) -> None:
    """Show a view, and do something with it."""

    async def run() -> None:
        app = Browser(open_library, first, now=NOW)
        async with app.run_test(size=size) as pilot:
            await drive(BrowserScreen(app, pilot))
        if app.error:
            raise app.error

    asyncio.run(run())
