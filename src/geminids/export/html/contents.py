"""The page that lists the sessions of a folder, newest first, with a box to filter them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from urllib.parse import quote

from geminids.export.base import Entry, Manner
from geminids.export.html.document import THEME_BUTTON, closing, opening
from geminids.export.html.markup import NOTHING, Markup, attribute, filled, joined, line, number
from geminids.export.html.telling import moment, time
from geminids.transcript import words

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
<td><a href="{}">{}</a></td><td>{}</td><td class="less">{}</td>
<td class="number least">{}</td><td class="number less">{}</td>
<td class="less"><span class="{}">{} {}</span></td></tr>
"""
_BOTTOM = """</tbody>
</table></div>
</main>
<footer><p>Times are UTC. Written by geminids; this page loads nothing from anywhere.</p></footer>
"""
_COLUMNS = (
    ("Last", ""),
    ("Title", ""),
    ("Project", ""),
    ("Agent", "less"),
    ("Prompts", "number least"),
    ("Tool calls", "number less"),
    ("Status", "less"),
)
_BEGINNING = datetime.min.replace(tzinfo=UTC)


def contents_page(entries: Iterable[Entry], manner: Manner) -> Iterator[Markup]:
    """The page, piece by piece."""
    ordered = sorted(entries, key=lambda entry: (_last(entry), entry.file), reverse=True)
    yield opening(Markup("Sessions"), "contents")
    note = (
        filled('<p class="notice info">Redacted: {}</p>\n', line(manner.redacted))
        if manner.redacted
        else NOTHING
    )
    headings = joined(
        filled('<th scope="col" class="{}">{}</th>', Markup(style), Markup(name)) for name, style in _COLUMNS
    )
    yield filled(_TOP, Markup("geminids"), THEME_BUTTON, Markup(_summary(ordered)), note, headings)
    for entry in ordered:
        yield _row(entry, manner)
    yield Markup(_BOTTOM)
    yield closing("contents")


def _last(entry: Entry) -> datetime:
    return entry.ended_at or entry.started_at or _BEGINNING


def _summary(entries: Sequence[Entry]) -> str:
    projects = len({entry.project for entry in entries})
    prompts = sum(entry.prompts for entry in entries)
    return ", ".join(
        (
            words.count(len(entries), "session"),
            words.count(projects, "project"),
            words.count(prompts, "prompt"),
            words.count(sum(entry.tool_calls for entry in entries), "tool call"),
        )
    )


def _row(entry: Entry, manner: Manner) -> Markup:
    at = entry.ended_at or entry.started_at
    mark, style = words.STATUS_MARKS.get(entry.status, ("", "quiet"))
    return filled(
        _ROW,
        Markup(f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}" if at else ""),
        time(at, moment(at).removesuffix(" UTC")) if at else Markup("no time"),
        attribute(quote(entry.file.encode("utf-8", "replace"))),
        line(manner.names.get(entry.id) or entry.title or "untitled"),
        line(entry.project),
        line(manner.agent_titles.get(entry.agent, entry.agent)),
        number(entry.prompts),
        number(entry.tool_calls),
        Markup(style),
        Markup(mark),
        line(entry.status),
    )
