"""The browser, from its start to what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geminids.faces.tui.browser.app import Browser
from geminids.faces.tui.browser.sessions import Sessions
from geminids.faces.tui.matches import Scope

if TYPE_CHECKING:
    from geminids.faces.tui.asker import OpenLibrary
    from geminids.faces.tui.browser.view import Stage
    from geminids.library.completions import Completions


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

    app = Browser(open_library, first, has_colour=has_colour)
    result = app.run()
    if app.error:
        raise app.error
    return result
