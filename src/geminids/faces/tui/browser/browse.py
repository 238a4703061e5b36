"""The browser, from its start to what becomes of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from geminids.faces.tui.browser.sessions import Sessions
from geminids.faces.tui.matches import Scope

if TYPE_CHECKING:
    from geminids.faces.tui.asker import OpenLibrary
    from geminids.faces.tui.browser.app import Browser
    from geminids.faces.tui.browser.view import Stage
    from geminids.library.completions import Completions


_RATE, _A_SECOND = "TEXTUAL_FPS", "250"
"""How many moments a second has at which textual draws, and what it is told that by; 60 are the default."""
_GIVES_WAY = 0.0005
"""Seconds after which a thread that computes lets another one go on."""


def browse(
    open_library: OpenLibrary,
    scopes: Sequence[Scope],
    typed: str = "",
    *,
    completions: Completions,
    has_colour: bool = True,
) -> object:
    """Let somebody look around; what is to be done afterwards, if anything is."""

    def first(stage: Stage) -> Sessions:
        return Sessions(stage, open_library, scopes, typed, completions=completions)

    # A thread that works gives way to a key soon; five milliseconds are the default.
    sys.setswitchinterval(_GIVES_WAY)
    app = _stage()(open_library, first, has_colour=has_colour)
    result = app.run()
    if app.error:
        raise app.error
    return result


def _stage() -> type[Browser]:
    """The app, of a textual that draws soon after a key."""
    is_told = _RATE in os.environ
    os.environ.setdefault(_RATE, _A_SECOND)
    from geminids.faces.tui.browser.app import Browser

    if not is_told:
        # What is started from the browser may be made with textual, too.
        del os.environ[_RATE]
    return Browser
