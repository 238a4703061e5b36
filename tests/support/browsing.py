"""The browser as a test uses it: real sessions, a real app, keys that are pressed and lines that are seen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.cells import cell_len
from textual import events
from textual.pilot import Pilot
from textual.strip import Strip

from geminids.faces.cli.choices import Choices
from geminids.faces.tui.browser.app import Browser, Canvas
from geminids.faces.tui.browser.sessions import Sessions
from geminids.faces.tui.browser.view import View
from geminids.faces.tui.matches import Scope
from tests.conftest import NOW

PATIENCE = 20.0
"""Seconds until something must be seen."""
_SETTLED = 0.4
"""Seconds in which nothing changed."""


class Browsing:
    """A browser that is open."""

    def __init__(self, app: Browser, pilot: Pilot[object]) -> None:
        self.app = app
        self._pilot = pilot

    @property
    def lines(self) -> list[str]:
        """What is seen now, in all columns."""
        canvas = self.app.query_one(Canvas)
        return [canvas.render_line(at).text for at in range(self.app.size.height)]

    @property
    def strips(self) -> list[Strip]:
        """The same with their colours."""
        canvas = self.app.query_one(Canvas)
        return [canvas.render_line(at) for at in range(self.app.size.height)]

    @property
    def screen(self) -> str:
        """The same as one text, without the blanks at the ends of lines."""
        return "\n".join(line.rstrip() for line in self.lines)

    @property
    def chosen(self) -> str:
        """What the session is called that is chosen in the list."""
        view = self.app.views[-1]
        assert isinstance(view, Sessions)
        assert view.chosen
        return view.chosen.name

    async def press(self, *keys: str) -> None:
        """Press keys, by the names that textual has for them."""
        await self._pilot.press(*keys)
        await self._pilot.pause()

    async def type(self, text: str) -> None:
        """Type some letters."""
        await self.press(*(_NAMES.get(one, one) for one in text))

    async def paste(self, text: str) -> None:
        """Paste words, which is quicker than typing them."""
        self.app.post_message(events.Paste(text))
        await self._pilot.pause()

    async def click(self, column: int, line: int) -> None:
        """Click somewhere."""
        await self._pilot.click(offset=(column, line))
        await self._pilot.pause()

    async def click_on(self, text: str) -> None:
        """Click on some words."""
        line = next(at for at, one in enumerate(self.lines) if text in one)
        await self.click(cell_len(self.lines[line].partition(text)[0]), line)

    async def resize(self, columns: int, height: int) -> None:
        """Make the screen larger or smaller."""
        await self._pilot.resize_terminal(columns, height)
        await self._pilot.pause()

    async def wait_for(self, *texts: str, but_not: str = "\0") -> str:
        """What is seen as soon as all these texts are, and another one is not."""
        until = time.monotonic() + PATIENCE
        while not all(text in self.screen for text in texts) or but_not in self.screen:
            assert time.monotonic() < until, f"{texts} without {but_not!r} are not seen:\n{self.screen}"
            await self.pause(0.01)
        return self.screen

    async def until_closed(self) -> None:
        """Wait until the browser is left."""
        until = time.monotonic() + PATIENCE
        while self.app.is_running and not self.app._exit:
            assert time.monotonic() < until, f"the browser is still there:\n{self.screen}"
            await asyncio.sleep(0.01)

    async def settle(self) -> None:
        """Wait until nothing changes any more."""
        before, since = self.lines, time.monotonic()
        while time.monotonic() - since < _SETTLED:
            await self.pause(0.02)
            if self.lines != before:
                before, since = self.lines, time.monotonic()

    async def pause(self, seconds: float | None = None) -> None:
        """Let the browser do what it has to do."""
        await self._pilot.pause(seconds)


_NAMES = {" ": "space", ":": "colon", '"': "quotation_mark", "-": "minus", "/": "slash", ".": "full_stop"}
Script = Callable[[Browsing], Awaitable[None]]


def choices_of(homes: Sequence[Path], data: Path, *, sample: bool = False, now: datetime = NOW) -> Choices:
    """What somebody chose who looks at these homes."""
    choices = Choices(now)
    choices.home, choices.data, choices.sample = [str(home) for home in homes], str(data), sample
    return choices


def wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for what threads do."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until
        time.sleep(0.01)


def browse(
    homes: Sequence[Path],
    data: Path,
    script: Script,
    *,
    size: tuple[int, int] = (80, 24),
    typed: str = "",
    scopes: Sequence[Scope] = (Scope(), Scope(project="."), Scope(kept=True)),
    sample: bool = False,
    has_colour: bool = True,
    now: datetime = NOW,
    first: Callable[[Browser], View] | None = None,
    **options: Any,
) -> object:
    """Run a script in a browser of some homes; what the browser was left with.

    It begins with the list unless `first` makes another view.
    """
    choices = choices_of(homes, data, sample=sample, now=now)

    def listed(stage: Browser) -> Sessions:
        return Sessions(
            stage, choices.open_behind, scopes, typed, completions=choices.completions(), **options
        )

    app = Browser(
        choices.open_behind, first or listed, now=now, has_colour=has_colour, spelled=choices.spelled
    )

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            await script(Browsing(app, pilot))

    asyncio.run(run())
    if app.error:
        raise app.error
    return app.return_value
