"""`stats --explain`: where numbers come from, drawn or as a document."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.sessions import tell_unreadable
from geminids.faces.cli.stats_options import StatsOptions, tell_nothing
from geminids.faces.cli.talk import say

if TYPE_CHECKING:
    from geminids.faces.cli.options import Choices
    from geminids.faces.drawing.page import Page
    from geminids.faces.drawing.screen import Screen
    from geminids.library import Library
    from geminids.query.usage.explanation import ExplainedSession


def explained(choices: Choices, library: Library, asked: StatsOptions, wanted: str, *, no_pager: bool) -> int:
    """Explain a session if one is named, else all that is asked for; the exit code."""
    if wanted:
        _explain_session(choices, library.explain_session(wanted), no_pager=no_pager)
        return 0
    found = library.explain(asked.question(), choices.now)
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.explanation import explain_document

        print_json(explain_document(found))
    elif found.sessions:
        from geminids.faces.cli.explain_total import draw_total, most_expensive

        _on_page(choices, no_pager, lambda page, screen: draw_total(page, screen, found, asked.limit))
        if sys.stdout.isatty():
            say(f"One session: `{choices.spelled('stats', '--explain', most_expensive(found))}`.")
    code = tell_unreadable(library.unreadable())
    if found.sessions:
        return code
    tell_nothing(library, asked)
    return code or NOTHING_FOUND


def _explain_session(choices: Choices, found: ExplainedSession, *, no_pager: bool) -> None:
    if choices.json:
        from geminids.faces.cli.json_output import print_json
        from geminids.faces.documents.explanation import explained_session_document

        print_json(explained_session_document(found))
        return
    from geminids.faces.cli.explain_session import draw_session

    _on_page(choices, no_pager, lambda page, screen: draw_session(page, screen, found))


def _on_page(choices: Choices, no_pager: bool, draw: Callable[[Page, Screen], None]) -> None:
    from geminids.faces.cli.pager import draw_paged
    from geminids.faces.drawing.screen import find_screen

    screen = find_screen(no_color=choices.no_color)
    draw_paged(screen, lambda page: draw(page, screen), no_pager=no_pager)
