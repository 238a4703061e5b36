"""Where words stand in one session."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.faces.web.documents.base import Document


class SnippetPiece(Document, frozen=True, kw_only=True):
    """Words of a snippet."""

    text: str
    is_match: bool


class FoundPlace(Document, frozen=True, kw_only=True):
    """One place where the words stand."""

    number: int
    """Of the message, from 1."""
    entry: int | None
    """Its place in the story at this level of detail; null if it is not told there."""
    part: int
    """The index of the part that holds them."""
    where: str
    """human, model, thoughts, arguments, output or other"""
    argument: str | None
    """Of a call: the argument that holds them; null if it is its name or what came back."""
    nth: int
    """Which of the places in this text it is, from 0."""
    pieces: Sequence[SnippetPiece]


class FoundInSession(Document, frozen=True, kw_only=True):
    """Where words stand in a session: a window of all places, in order."""

    total: int
    """Places, listed or not."""
    messages: int
    """How many messages hold them."""
    start: int
    """Which of the places is the first of these, from 0."""
    places: Sequence[FoundPlace]
