"""`stats --live`: today, the present windows and the running sessions, drawn as sessions are written."""

from __future__ import annotations

import io
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from geminids.core.names import project_names
from geminids.faces.cli.choices import WrongUsageError
from geminids.faces.cli.session_table import COLUMNS, Row
from geminids.faces.cli.stats_blocks import present_window
from geminids.faces.documents.sessions import RUNNING
from geminids.faces.drawing.amounts import at_least, dollars, short
from geminids.faces.drawing.number_tables import flow
from geminids.faces.drawing.page import Column, DrawnPage, open_page
from geminids.faces.drawing.screen import find_screen
from geminids.faces.drawing.stats_tables import LABEL
from geminids.faces.tui.keys import Typed
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.faces.cli.choices import Choices
    from geminids.faces.drawing.page import Page, Span
    from geminids.faces.tui.terminal import Terminal
    from geminids.library import Library
    from geminids.query.usage.blocks import Block
    from geminids.query.usage.figures import Tokens
    from geminids.query.usage.present import OpenSession, Present

HEARTBEAT = 0.1
"""Seconds between two looks at the keys."""
BETWEEN_FRAMES = 1.0
"""Seconds at least from one picture to the next: a session that is being written changes all the time."""
MOST_SESSIONS = 20
KEYS_TO_END = frozenset({"q", "Q"})
_SHOWN = ("agent", "project", "title", "tokens", "cost", "model")
_CONTEXT = Column("context", is_number=True, leaves=4)


def show_live(choices: Choices) -> int:
    """Draw until q or Ctrl-C; the exit code."""
    from geminids.faces.tui.terminal import Terminal, has_terminal
    from geminids.sync.watch import Pace, Quiet

    if not has_terminal():
        raise WrongUsageError("stats", "--live needs a terminal; use `geminids watch --json` in programs.")
    began, clock = choices.now, time.monotonic()
    library = choices.open_library()
    library.to_come()
    is_new, drawn_at = False, float("-inf")
    with Terminal() as terminal:
        _draw(terminal, _picture(choices, library, began))
        for event in library.watch(pace=Pace(None, HEARTBEAT)):
            # When watching begins, too: what was written until then is told by nobody.
            is_new = is_new or not isinstance(event, Quiet)
            if not _goes_on(terminal):
                return 0
            if time.monotonic() < drawn_at + BETWEEN_FRAMES:
                continue
            if is_new:
                library.sync()
                is_new = False
            now = began + timedelta(seconds=time.monotonic() - clock)
            _draw(terminal, _picture(choices, library, now))
            drawn_at = time.monotonic()
    return 0


def _draw(terminal: Terminal, picture: str) -> None:
    """Show as many lines as there is room for."""
    _, height = terminal.size
    terminal.draw(picture.splitlines()[:height])


def _goes_on(terminal: Terminal) -> bool:
    """Whether nobody pressed a key that ends it. Raises KeyboardInterrupt."""
    for key in terminal.keys(0):
        if key == "interrupt":
            raise KeyboardInterrupt
        if key == "escape" or (isinstance(key, Typed) and KEYS_TO_END.intersection(key.text)):
            return False
    return True


def _picture(choices: Choices, library: Library, now: datetime) -> str:
    """All of it, as wide as the terminal is at this moment."""
    found = library.running(now, RUNNING, MOST_SESSIONS)
    drawn = io.StringIO()
    screen = find_screen(no_color=choices.no_color)
    page = open_page(screen, drawn)
    page.line((f"{now.astimezone():%a %d %b %H:%M}", "title"), ("  q to quit", "quiet"))
    page.line()
    for line in flow(_today(found) if found.today.requests else ["Today: nothing yet"], screen.width):
        page.line(line)
    for block in found.blocks:
        page.line()
        _draw_window(page, block, now, screen.width)
    page.line()
    _draw_sessions(page, found, now)
    return drawn.getvalue()


def _today(found: Present) -> list[str]:
    label = f" {LABEL}" if found.today.cost is not None else ""
    requests = words.count(found.today.requests, "request")
    counted = [at_least(told, is_bound=found.is_incomplete) for told in (requests, _spent(found.today))]
    return [f"Today: {counted[0]}", f"{counted[1]}{label}"]


def _spent(used: Tokens) -> str:
    """Tokens and what they cost."""
    cost = f", {dollars(used.cost)}" if used.cost is not None else ""
    return f"{short(used.total)} tokens{cost}"


def _draw_window(page: Page, block: Block, now: datetime, width: int | None) -> None:
    """A present window: how far it is, what was used in it, what it comes to."""
    span = f"  {words.clock(block.start)} to {words.clock(block.end)}  "
    page.line((_far(block, now), "tool"), (span, "quiet"), _spent(block.tokens))
    for line in flow(present_window(block, now), width):
        page.line(line)


def _far(block: Block, now: datetime, width: int = 30) -> str:
    """A bar of the time that is gone."""
    gone = round(width * ((now - block.start) / (block.end - block.start)))
    return "█" * gone + "░" * (width - gone)


def _draw_sessions(page: Page, found: Present, now: datetime) -> None:
    if not found.sessions:
        page.line(("No session is running.", "quiet"))
        return
    page.line((f"{words.count(len(found.sessions), 'session')} running", "title"))
    names = project_names(session.row.project for session in found.sessions)
    rows = [_row(session, names[session.row.project], now) for session in found.sessions]
    if isinstance(page, DrawnPage):
        page.table([*(COLUMNS[name].layout for name in _SHOWN), _CONTEXT], rows)


def _row(session: OpenSession, project: str, now: datetime) -> list[Span]:
    row = Row(session.row, project, now, None, session.used, "")
    context = "" if session.context is None else short(session.context)
    return [*(COLUMNS[name].drawn(row) for name in _SHOWN), context]
