"""What the picker looks like: lines of words with styles, for a screen of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.cells import cell_len

from geminids.core.values import NamedTuple
from geminids.faces.tui.lines import Piece, fitted
from geminids.faces.tui.picker import Picker
from geminids.faces.tui.rows import Told, box_row, cells_for, cursor_column, found_in, how_many, session_row
from geminids.sharing.transcript import words

_SMALLEST = (20, 4)


class Screen(NamedTuple):
    """What is drawn."""

    lines: Sequence[Sequence[Piece]]
    chosen: int | None
    """Which of the lines is the chosen session."""
    cursor: tuple[int, int]
    """Column and line of the place at which is typed."""


def screen_of(picker: Picker, verb: str, now: datetime, said: str = "") -> Screen:
    """What is seen now; `verb` says what Enter does, `said` what a person should know."""
    columns, height = picker.columns, picker.height
    if columns < _SMALLEST[0] or height < _SMALLEST[1]:
        return Screen([fitted([Piece("Too small")], columns)], None, (0, 0))
    rows = _rows(picker, now)
    box = box_row(picker.box, columns, how_many(picker.listed, picker.scope))
    lines = [box, *rows, *[[Piece("")]] * (picker.rows - len(rows))]
    if picker.has_about:
        lines += [[Piece("─" * columns, "quiet")], *_about(picker, now)]
    lines.append(_footer(picker, verb, said))
    at = cursor_column(picker.box, columns)
    return Screen(lines, 1 + picker.cursor.seen if picker.chosen else None, (at, 0))


def _rows(picker: Picker, now: datetime) -> list[list[Piece]]:
    listed = picker.listed
    if listed is None:
        return []
    if not listed.lines:
        sentence = listed.note or ("Nothing found." if picker.box.text.strip() else "No session found.")
        return [fitted([Piece(f"  {sentence}", "warning")], picker.columns)]
    told = (Told(line, picker.projects[line.session.project], now) for line in picker.seen)
    cells = cells_for(picker.projects.values())
    return [session_row(one, picker.columns, cells) for one in told]


def _about(picker: Picker, now: datetime) -> list[list[Piece]]:
    """What is known of the chosen session, in three lines."""
    line, columns = picker.chosen, picker.columns
    if line is None:
        return [[Piece("")]] * 3
    session = line.session
    facts = (
        session.agent,
        words.count(session.counts.prompts, "prompt"),
        words.count(session.counts.tool_calls, "call"),
        words.when(session.last_at, now),
        "its file is gone; read from a copy" if session.kept else "",
        words.path(session.project.path) if session.project.path else session.project.name,
    )
    told: Iterable[Sequence[Piece]] = (
        [Piece(f" {line.name}", "title")],
        [Piece(" " + " · ".join(filter(None, facts)), "quiet")],
        [Piece(" "), *found_in(line, columns - 1)],
    )
    return [fitted(pieces, columns) for pieces in told]


def _footer(picker: Picker, verb: str, said: str) -> list[Piece]:
    """The keys, as far as there is room for them, and what a person should know."""
    note = said or (picker.listed.note if picker.listed and picker.listed.lines else "")
    pieces = [Piece(f" {note} ", "warning")] if note else []
    keys = [f"Enter {verb}", "Esc " + ("clear" if picker.box.text else "quit"), "Tab agent"]
    if other := picker.next_scope:
        keys.append("Ctrl-T " + ("this project" if other.project else "all projects"))
    told = ""
    for key in keys:
        longer = f"{told} · {key}" if told else f" {key}"
        if cell_len(longer) + sum(cell_len(piece.text) for piece in pieces) <= picker.columns:
            told = longer
    return fitted([*pieces, Piece(told, "quiet")], picker.columns)
