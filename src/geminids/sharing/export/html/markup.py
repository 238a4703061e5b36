"""HTML that is safe by its type: words of a session become `Markup` here, and nothing else may be filled in.

A template takes `Markup` only, so a type checker finds the place where somebody forgot to escape.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import NewType

from geminids.sharing.transcript import safe

Markup = NewType("Markup", str)
"""Text in which every letter of a session is escaped."""

NOTHING = Markup("")


def escaped(words: str) -> Markup:
    """Words that are harmless already."""
    return Markup(words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;"))


def text(words: str) -> Markup:
    """Words of several lines."""
    return escaped(safe.text(words))


def line(words: str) -> Markup:
    """Words as one line."""
    return escaped(safe.line(words))


def attribute(words: str) -> Markup:
    """Words as the value of an attribute; templates set the double quotes around it."""
    return Markup(line(words).replace('"', "&quot;"))


def number(amount: int) -> Markup:
    """A number without anything that would make it easier to read."""
    return Markup(str(amount))


def filled(template: str, *pieces: Markup) -> Markup:
    """A template of ours with a piece for each `{}`."""
    # `str.format` takes many times as long where a piece is large.
    written = _with_holes(template).copy()
    written[1::2] = pieces
    return Markup("".join(written))


@cache
def _with_holes(template: str) -> list[str]:
    between = template.split("{}")
    written = [""] * (2 * len(between) - 1)
    written[::2] = between
    return written


def joined(pieces: Iterable[Markup]) -> Markup:
    """Pieces one after another."""
    return Markup("".join(pieces))
