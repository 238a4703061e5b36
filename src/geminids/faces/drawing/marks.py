"""What the user said of sessions, drawn and in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from geminids.faces.drawing.page import Column, DrawnPage, Page, Span
from geminids.query.sessions.ids import short_ids
from geminids.sharing.transcript import words

if TYPE_CHECKING:
    from geminids.query.sessions.marked import Marked, MarkedSessions
    from geminids.storage.durable.values import Marks

INDENT = 2
NOT_HERE = "not here"
COLUMNS = (
    Column("id"),
    Column("name", least=12),
    Column("tags", most=30, leaves=2),
    Column("notes", is_number=True, leaves=1),
    Column(""),
)


def draw_marks(page: Page, said: Marks) -> None:
    """Draw tags and notes below whatever names the session."""
    if said.tags:
        page.words(words.tags(said.tags), "tool")
    for note in said.notes:
        page.line((f"note {note.id}  {words.moment(note.at)}", "quiet"))
        page.words(note.text, indent=INDENT)


def draw_marked(page: Page, session: Marked) -> None:
    """Draw one session with all that was said of it."""
    page.line(_name(session, "title"))
    page.line((session.id, "quiet"), ("" if session.is_here else f"  {NOT_HERE}", "warning"))
    draw_marks(page, session.marks)


def draw_all_marked(page: Page, found: MarkedSessions) -> None:
    """Draw the tags, then a row for each session; in a pipe one line each, those of tags with a `#`."""
    if isinstance(page, DrawnPage) and page.is_terminal:
        if found.tags:
            page.words("  ".join(f"#{tag} {number}" for tag, number in found.tags.items()), "tool")
            page.line()
        page.table(COLUMNS, _rows(found.sessions))
        return
    for tag, number in found.tags.items():
        page.fields(f"#{tag}", str(number))
    for session in found.sessions:
        page.fields(*_line(session))


def in_words(session: Marked) -> str:
    """What is true of a session now, in one line."""
    return f"{session.id}: {marks_in_words(session.marks)}."


def marks_in_words(said: Marks) -> str:
    """The name, the tags and the notes, in one line."""
    name = f'named "{said.name}"' if said.name else "no name"
    tags = f"tagged {words.tags(said.tags)}" if said.tags else "no tags"
    numbers = ", ".join(str(note.id) for note in said.notes)
    notes = f"note{'' if len(said.notes) == 1 else 's'} {numbers}" if said.notes else "no notes"
    return f"{name}, {tags}, {notes}"


def _rows(sessions: Sequence[Marked]) -> list[list[Span]]:
    shorts = short_ids(_native_id(session) for session in sessions)
    return [
        [
            (shorts[_native_id(session)], "quiet"),
            _name(session),
            (words.tags(session.marks.tags), "tool"),
            str(len(session.marks.notes) or ""),
            ("" if session.is_here else NOT_HERE, "warning"),
        ]
        for session in sessions
    ]


def _line(session: Marked) -> list[Span]:
    return [
        (session.id, "quiet"),
        "here" if session.is_here else NOT_HERE,
        str(len(session.marks.notes)),
        (words.tags(session.marks.tags), "tool"),
        session.marks.name or session.title or "",
    ]


def _native_id(session: Marked) -> str:
    return session.id.partition(":")[2]


def _name(session: Marked, style: str = "") -> Span:
    """Its name, else its title."""
    name = session.marks.name or session.title
    return (name, style) if name else ("untitled", "quiet")
