"""What the page shows of a search: sessions with their best hits, and every place inside one session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from geminids.core.model import Origin, Role, State
from geminids.faces.documents.base import Document, filled, harmless
from geminids.faces.documents.search import found_message, numbers_unsearched
from geminids.faces.documents.sessions import SessionLine
from geminids.sharing.transcript import safe

if TYPE_CHECKING:
    from geminids.query.search.found import Found, Hit
    from geminids.query.search.in_session import FoundWords
    from geminids.storage.text.values import Snippet

AROUND = 60
"""Letters before and after what was found in a session."""


class SnippetPiece(Document, frozen=True, kw_only=True):
    """Words of a snippet."""

    text: str
    is_match: bool


class SearchHit(Document, frozen=True, kw_only=True):
    """A message that was found."""

    number: int
    id: str
    role: Role
    origin: Origin
    state: State
    at: datetime | None
    model: str | None
    tools: Sequence[str]
    where: Sequence[str]
    pieces: Sequence[SnippetPiece]
    """Empty if the file has changed or is gone, and where secrets are hidden and what was found is one."""
    is_cut_before: bool
    is_cut_after: bool


class SearchSession(Document, frozen=True, kw_only=True):
    """A session in which something was found, with the best of it."""

    session: SessionLine
    matches: int
    hits: Sequence[SearchHit]


class Unsearched(Document, frozen=True, kw_only=True):
    """Messages of a session that may match or not: a regular expression took too long in them."""

    id: str
    """Of the session."""
    messages: Sequence[int]
    """Their numbers."""


class Search(Document, frozen=True, kw_only=True):
    """A page of what was found, the best session first."""

    sessions: Sequence[SearchSession]
    matches: int
    total: int
    """Sessions."""
    is_exact: bool
    are_all_sessions: bool
    searched_sessions: int
    left_out: str | None
    """What the index does not hold, in words."""
    hidden: Mapping[str, int]
    near: Mapping[str, Sequence[str]]
    is_spread: bool
    """No message has all the words; these sessions have each of them somewhere."""
    unsearched: Sequence[Unsearched]
    left: int
    """Sessions that may hold more and were not read yet; `next` goes on with them."""
    next: str | None


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


def search_page(found: Found, sessions: Sequence[SearchSession], near: Mapping[str, Sequence[str]]) -> Search:
    """A page of what was found."""
    return filled(
        Search,
        found,
        sessions=sessions,
        matches=found.total.matches,
        total=found.total.sessions,
        is_exact=found.total.is_exact,
        are_all_sessions=found.total.are_all_sessions,
        searched_sessions=found.searched.sessions,
        left_out=found.searched.left_out,
        near=near,
        unsearched=[Unsearched(id=one.session, messages=numbers_unsearched(one)) for one in found.unsearched],
        left=found.stopped.left if found.stopped else 0,
    )


def search_hit(hit: Hit, snippet: Snippet | None) -> SearchHit:
    """A message that was found; its snippet may be another one, without secrets."""
    return found_message(
        SearchHit,
        hit.message,
        where=hit.where,
        pieces=_pieces(snippet.text, snippet.spans) if snippet else (),
        is_cut_before=snippet is not None and snippet.is_cut_before,
        is_cut_after=snippet is not None and snippet.is_cut_after,
    )


def found_place(found: FoundWords, entry: int | None) -> FoundPlace:
    """One place in a session; `entry` is where its message stands in the story."""
    words, (start, end) = found.words, found.span
    begin = max(0, start - AROUND)
    return FoundPlace(
        number=found.holding.number,
        entry=entry,
        part=found.holding.part,
        where=words.where,
        argument=harmless(words.argument),
        nth=found.nth,
        pieces=_pieces(words.text[begin : end + AROUND], [(start - begin, end - begin)]),
    )


def _pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[SnippetPiece]:
    """Words in pieces: browsers count letters in another way than we do, so no numbers are given."""
    pieces: list[SnippetPiece] = []
    begin = 0
    for start, end in spans:
        pieces += [_piece(text[begin:start], is_match=False), _piece(text[start:end], is_match=True)]
        begin = end
    pieces.append(_piece(text[begin:], is_match=False))
    return [piece for piece in pieces if piece.text]


def _piece(words: str, *, is_match: bool) -> SnippetPiece:
    return SnippetPiece(text=safe.line(words), is_match=is_match)
