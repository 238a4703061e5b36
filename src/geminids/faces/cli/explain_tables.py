"""What the explanations of a session and of a total share: marks of verdicts, tables, what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geminids.faces.drawing.amounts import exact
from geminids.faces.drawing.number_tables import Field, Row, draw, fit
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.core.model import Unrecorded
    from geminids.faces.drawing.page import Page
    from geminids.faces.drawing.screen import Screen
    from geminids.query.usage.explanation import UnrecordedSum

VERDICTS = {
    "agrees": ("✓", "good"),
    "explained": ("≈", "warning"),
    "behind": ("<", "warning"),
    "differs": ("✗", "bad"),
}
"""What a comparison with the agent's own total gave, in a mark."""


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
