"""What the picker looks like: lines of words with styles, for a screen of any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from rich.cells import cell_len

from geminids.core.names import project_names
from geminids.core.values import NamedTuple
from geminids.faces.tui.lines import Piece, cut, fitted
from geminids.faces.tui.matches import Line, Listed, Scope
from geminids.faces.tui.picker import Picker
from geminids.sharing.transcript import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.storage.text.values import Snippet

_SMALLEST = (20, 4)
_PROMPT = "> "
_AGENT, _PROJECT, _WHEN, _MARK = 7, 15, 13, 2
"""Columns of what stands beside a title, with the blank that parts them."""
_AGENT_FROM, _WHEN_FROM, _PROJECT_FROM = 40, 50, 66
"""From how many columns on there is room for it."""


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
    lines = [_box(picker), *rows, *[[Piece("")]] * (picker.rows - len(rows))]
    if picker.has_about:
        lines += [[Piece("─" * columns, "quiet")], *_about(picker, now)]
    lines.append(_footer(picker, verb, said))
    at = min(cell_len(_PROMPT + picker.box.before_cursor), columns - 1)
    return Screen(lines, 1 + picker.seen_number if picker.chosen else None, (at, 0))


def _box(picker: Picker) -> list[Piece]:
    """What was typed, and how much fits it."""
    told = _told(picker.listed, picker.scope)
    room = picker.columns - cell_len(_PROMPT) - cell_len(told) - 2
    if room < cell_len(picker.box.text):
        before, widest = picker.box.before_cursor, picker.columns - cell_len(_PROMPT) - 1
        if cell_len(before) > widest:
            before = cut(before, widest, keeps_end=True)
        after = picker.box.text[picker.box.cursor :]
        return fitted([Piece(_PROMPT, "title"), Piece(before), Piece(after)], picker.columns)
    return [Piece(_PROMPT, "title"), Piece(cut(picker.box.text, room)), Piece(f" {told} ", "quiet")]


def _told(listed: Listed | None, scope: Scope) -> str:
    if listed is None:
        return ""
    if listed.kinds is None:
        number = words.count(listed.total, "session") + ("" if listed.is_exact else "+")
    else:
        number = words.sessions(listed.kinds)
    where = (scope.agent, "this project" if scope.project else "", "deleted" if scope.kept else "")
    return " · ".join(filter(None, (number, *where)))


def _rows(picker: Picker, now: datetime) -> list[list[Piece]]:
    listed = picker.listed
    if listed is None:
        return []
    if not listed.lines:
        sentence = listed.note or ("Nothing found." if picker.box.text.strip() else "No session found.")
        return [fitted([Piece(f"  {sentence}", "warning")], picker.columns)]
    names = project_names(line.session.project for line in listed.lines)
    return [_row(line, names[line.session.project], now, picker.columns) for line in picker.seen]


def _row(line: Line, project: str, now: datetime, columns: int) -> list[Piece]:
    session = line.session
    before, after = [Piece("  ")], [Piece("")]
    if columns >= _AGENT_FROM:
        before.append(Piece(_cell(session.agent, _AGENT), f"agent {session.agent}"))
    if columns >= _PROJECT_FROM:
        after.append(Piece(" " + cut(project, _PROJECT - 1, keeps_end=True), "quiet"))
    if columns >= _WHEN_FROM:
        after.append(Piece(" " + cut(words.when(session.last_at, now), _WHEN - 1), "quiet"))
    mark, style = ("✝", "warning") if session.kept else words.STATUS_MARKS.get(session.status, ("", ""))
    after.append(Piece(" " + cut(mark, _MARK - 1), style))
    room = columns - sum(cell_len(piece.text) for piece in (*before, *after))
    return [*before, Piece(cut(_title(line), room)), *after]


def _cell(text: str, width: int) -> str:
    return cut(text, width - 1) + " "


def _title(line: Line) -> str:
    mark = words.KIND_MARKS.get(line.session.kind, "")
    return " ".join(filter(None, (mark, line.name, words.tags(line.tags))))


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
        [Piece(" "), *_found(line)],
    )
    return [fitted(pieces, columns) for pieces in told]


def _found(line: Line) -> list[Piece]:
    """The words that it does not have, and a piece in which the others stand."""
    missing = [Piece(f"without {', '.join(line.missing)}  ", "warning")] if line.missing else []
    return [*missing, *(_highlighted(line.snippets[0]) if line.snippets else [])]


def _highlighted(snippet: Snippet) -> list[Piece]:
    pieces, done = [], 0
    for start, end in snippet.spans:
        pieces += [Piece(snippet.text[done:start]), Piece(snippet.text[start:end], "match")]
        done = end
    return [*pieces, Piece(snippet.text[done:])]


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
