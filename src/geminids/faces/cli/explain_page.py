"""`stats --explain`: where numbers come from, drawn or as a document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from geminids.core.errors import NOTHING_FOUND
from geminids.faces.cli.amounts import exact
from geminids.faces.cli.fitting import Field, Row, draw, fit
from geminids.faces.cli.sessions import tell_unreadable
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.core.model import Unrecorded
    from geminids.faces.cli.options import Choices
    from geminids.faces.cli.page import Page
    from geminids.faces.cli.screen import Screen
    from geminids.faces.cli.stats_command import Asked
    from geminids.library import Library
    from geminids.query.usage.explanation import ExplainedSession, UnrecordedSum

VERDICTS = {
    "agrees": ("✓", "good"),
    "explained": ("≈", "warning"),
    "behind": ("<", "warning"),
    "differs": ("✗", "bad"),
}
"""What a comparison with the agent's own total gave, in a mark."""


def explained(choices: Choices, library: Library, asked: Asked, wanted: str, *, no_pager: bool) -> int:
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
        from geminids.faces.cli.explain_total import draw_total

        _on_page(choices, no_pager, lambda page, screen: draw_total(page, screen, found, asked.limit))
    code = tell_unreadable(library.unreadable())
    if found.sessions:
        return code
    from geminids.faces.cli.stats_command import tell_nothing

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


def _on_page(choices: Choices, no_pager: bool, draw_it: Callable[[Page, Screen], None]) -> None:
    from geminids.faces.cli.page import open_page
    from geminids.faces.cli.paging import paged
    from geminids.faces.cli.screen import find_screen

    screen = find_screen(no_color=choices.no_color)
    with paged(wanted=screen.is_terminal and not no_pager) as stream:
        draw_it(open_page(screen, stream), screen)


def draw_rows(page: Page, screen: Screen, fields: Sequence[Field], rows: Sequence[Row]) -> None:
    """A table with a blank line before it."""
    page.line()
    draw(page, fit(fields, rows, screen.width), is_drawn=screen.is_terminal)


def missing(part: Unrecorded | UnrecordedSum) -> str:
    """What is missing from the files of an agent, and how we know."""
    requests = "" if part.requests is None else words.count(part.requests, "request")
    total = part.usage.total if part.usage else None
    tokens = "" if total is None else f"{exact(total)} tokens"
    known = ", ".join(piece for piece in (requests, tokens) if piece)
    return f"{part.what}{f' ({known})' if known else ''}. {words.capital(part.reason.rstrip('.'))}."
