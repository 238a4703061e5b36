"""The browser, from its start to what becomes of it."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import textual.screen

from geminids.faces.tui.browser.app import Browser
from geminids.faces.tui.browser.sessions import Sessions
from geminids.faces.tui.matches import Scope

if TYPE_CHECKING:
    from geminids.faces.tui.asker import OpenLibrary
    from geminids.faces.tui.browser.view import Stage
    from geminids.library.completions import Completions

_RATE = 250
"""How many moments a second has at which textual draws; by itself it has 60, and a key waits for the next."""
_GIVES_WAY = 0.0005
"""Seconds until a thread that computes lets another one go on; Python's own are ten times as many."""


def browse(
    open_library: OpenLibrary,
    scopes: Sequence[Scope],
    typed: str = "",
    *,
    completions: Completions,
    spelled: Callable[..., str],
    has_colour: bool = True,
    enter_resumes: bool = False,
) -> object:
    """Let somebody look around; what is to be done afterwards, if anything is (`results.py`)."""

    def first(stage: Stage) -> Sessions:
        return Sessions(
            stage, open_library, scopes, typed, completions=completions, enter_resumes=enter_resumes
        )

    app = Browser(open_library, first, has_colour=has_colour, spelled=spelled)
    textual.screen.UPDATE_PERIOD = 1 / _RATE  # type: ignore[misc]
    sys.setswitchinterval(_GIVES_WAY)
    # All that was loaded stays; rings of objects that nobody uses are looked for among others.
    gc.freeze()
    gc.enable()
    for name in ("COLUMNS", "LINES"):
        # Whoever exported them means the size at that time, and textual would believe it for ever.
        os.environ.pop(name, None)
    with _signals_given_back(), _drawn_on_stdout():
        result = app.run()
    if app.error:
        raise app.error
    return result


@contextmanager
def _drawn_on_stdout() -> Iterator[None]:
    """Have textual draw where the terminal is: it draws on stderr, also where that goes into a file."""
    before = sys.__stderr__
    if before is None or not before.isatty():
        sys.__stderr__ = sys.__stdout__  # type: ignore[misc]
    try:
        yield
    finally:
        sys.__stderr__ = before  # type: ignore[misc]


@contextmanager
def _signals_given_back() -> Iterator[None]:
    """Give back what textual leaves in place: its handlers would draw over whoever goes on."""
    names = ("SIGTSTP", "SIGCONT", "SIGWINCH")
    before = {name: signal.getsignal(getattr(signal, name)) for name in names if hasattr(signal, name)}
    try:
        yield
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
