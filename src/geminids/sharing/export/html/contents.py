"""The page that lists the sessions of a folder, newest first, with a box to filter them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC
from urllib.parse import quote

from geminids.sharing.export.base import Entry, Manner
from geminids.sharing.export.html.document import THEME_BUTTON, closing, opening
from geminids.sharing.export.html.markup import NOTHING, Markup, attribute, filled, joined, line, number
from geminids.sharing.export.html.pieces import time
from geminids.sharing.export.table import COLUMNS, is_mixed, last_moment, newest_first, note, row, summary
from geminids.sharing.transcript import words

_TOP = """<header class="top"><p class="brand">{}</p>
<div class="tools" hidden>
<label class="search"><span>Filter</span>
<input type="search" id="filter" autocomplete="off" spellcheck="false" placeholder="Filter: press /"></label>
<output id="count" for="filter"></output>
{}</div></header>
<main class="contents">
<h1>Sessions</h1>
<p class="quiet">{}</p>
{}<div class="wide" tabindex="0" role="group" aria-label="Sessions">
<table id="sessions">
<thead><tr>{}</tr></thead>
<tbody>
"""
_ROW = """<tr><td data-key="{}">{}</td>
<td><a href="{}">{}</a>{}</td><td>{}</td><td class="less">{}</td>
<td class="number least">{}</td><td class="number less">{}</td>
<td class="less"><span class="{}">{}</span></td></tr>
"""
_BOTTOM = """</tbody>
</table></div>
</main>
<footer><p>Times are UTC. Written by geminids; this page loads nothing from anywhere.</p></footer>
"""
_STYLES = ("", "", "", "less", "number least", "number less", "less")
"""Of the columns: which are numbers, and which are left out where there is little room."""


def contents_page(entries: Iterable[Entry], manner: Manner) -> Iterator[Markup]:
    """The page, piece by piece."""
    ordered = newest_first(entries)
    shows_redaction = is_mixed(ordered)
    yield opening(Markup("Sessions"), "contents")
    redacted = note(ordered, manner)
    notice = filled('<p class="notice info">{}</p>\n', line(redacted)) if redacted else NOTHING
    headings = joined(
        filled('<th scope="col" class="{}">{}</th>', Markup(style), Markup(name))
        for name, style in zip(COLUMNS, _STYLES, strict=True)
    )
    yield filled(_TOP, Markup("geminids"), THEME_BUTTON, Markup(summary(ordered)), notice, headings)
    for entry in ordered:
        yield _row(entry, manner, shows_redaction=shows_redaction)
    yield Markup(_BOTTOM)
    yield closing("contents")


def _row(entry: Entry, manner: Manner, *, shows_redaction: bool) -> Markup:
    cells = row(entry, manner, shows_redaction=shows_redaction)
    at = last_moment(entry)
    return filled(
        _ROW,
        Markup(f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if at else ""),
        time(at, cells.last) if at else Markup(cells.last),
        attribute(quote(entry.file.encode("utf-8", "replace"))),
        line(cells.title),
        filled(' <span class="quiet">{}</span>', Markup(cells.note)) if cells.note else NOTHING,
        line(cells.project),
        line(cells.agent),
        number(cells.prompts),
        number(cells.tool_calls),
        Markup(words.STATUS_MARKS.get(entry.status, ("", "quiet"))[1]),
        line(cells.status),
    )
