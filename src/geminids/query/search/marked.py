"""What the user said of sessions, where words are looked for: names, tags and notes. They are few."""

from __future__ import annotations

from geminids.query.search.asked import Asked
from geminids.query.search.tree import And, Words, holds
from geminids.storage.durable.values import Marks
from geminids.storage.index import reader
from geminids.storage.index import search as searching
from geminids.storage.index.values import SessionRow
from geminids.storage.text.words import terms


def sessions_said(asked: Asked) -> list[tuple[SessionRow, str]]:
    """The sessions of which what was said has all the words, with what was said; the newest first."""
    tree = asked.query.tree
    parts = tree.parts if isinstance(tree, And) else (tree,)
    words = [part for part in parts if isinstance(part, Words)]
    if len(words) < len(parts):
        return []
    texts = {sid: _text(marks) for sid, marks in asked.query.marks.items()}
    there = {sid: terms(text) for sid, text in texts.items()}
    meant = [
        sid
        for sid, said in there.items()
        if all(any(holds(said, phrase) for phrase in word.phrases) for word in words)
    ]
    return [(row, texts[row.id]) for row in _rows(asked, meant)]


def texts_said(asked: Asked) -> dict[int, str]:
    """What was said of sessions, by their numbers."""
    marks = asked.query.marks
    return {row.number: _text(marks[row.id]) for row in _rows(asked, list(marks))} if marks else {}


def _rows(asked: Asked, session_ids: list[str]) -> list[SessionRow]:
    """Those of some sessions that the filters leave."""
    rows = reader.sessions(asked.index, [reader.among(session_ids)]) if session_ids else []
    conditions = asked.conditions()
    if not conditions or not rows:
        return rows
    left = searching.sessions_with(asked.index, [row.number for row in rows], conditions)
    return [row for row in rows if row.number in left]


def _text(marks: Marks) -> str:
    return " · ".join(
        [*([marks.name] if marks.name else []), *marks.tags, *(note.text for note in marks.notes)]
    )
