"""Snippets: words around what was found, in pieces."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.faces.web.documents.finding import SnippetPiece
from geminids.sharing.transcript import safe


def pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[SnippetPiece]:
    """Words in pieces: browsers count letters in another way than we do, so no numbers are given."""
    told: list[SnippetPiece] = []
    begin = 0
    for start, end in spans:
        told += [_piece(text[begin:start], is_match=False), _piece(text[start:end], is_match=True)]
        begin = end
    told.append(_piece(text[begin:], is_match=False))
    return [piece for piece in told if piece.text]


def _piece(words: str, *, is_match: bool) -> SnippetPiece:
    return SnippetPiece(text=safe.line(words), is_match=is_match)
