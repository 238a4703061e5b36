"""What the user said of sessions, where words are looked for: names, tags and notes. They are few.

All that was said of a session is taken for a message by itself.
"""

from __future__ import annotations

from geminids.query.search.asked import Asked
from geminids.query.search.tree import is_everything_else, matches
from geminids.storage.durable.values import Marks
from geminids.storage.index import reader
from geminids.storage.index import search as searching
from geminids.storage.index.values import SessionRow
from geminids.storage.text.patterns import Patterns


def sessions_said(asked: Asked) -> dict[int, str]:
    """What was said of sessions and has what is looked for, by their numbers; the newest first."""
    tree = asked.query.tree
    if tree is None or is_everything_else(tree):
        return {}
    texts = {sid: _text(marks) for sid, marks in asked.query.marks.items()}
    with Patterns() as patterns:
        meant = [sid for sid, text in texts.items() if matches(tree, {"said": text}, patterns)]
    return {row.number: texts[row.id] for row in _rows(asked, meant)}


def texts_said(asked: Asked) -> dict[int, str]:
    """What was said of sessions, by their numbers."""
    marks = asked.query.marks
    return {row.number: _text(marks[row.id]) for row in _rows(asked, list(marks))} if marks else {}


def _rows(asked: Asked, session_ids: list[str]) -> list[SessionRow]:
    """Those of some sessions that the filters leave."""
    rows = reader.sessions(asked.index, [reader.among(session_ids)]) if session_ids else []
    conditions = [narrowing.condition for narrowing in asked.narrowed]
    if not conditions or not rows:
        return rows
    left = searching.sessions_with(asked.index, [row.number for row in rows], conditions)
    return [row for row in rows if row.number in left]


def _text(marks: Marks) -> str:
    name = [marks.name] if marks.name else []
    return " · ".join([*name, *marks.tags, *(note.text for note in marks.notes)])
