"""A session down to its requests, each with the line of its file, and the agent's own total beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from geminids.faces.cli.explain_tables import VERDICTS, draw_rows, missing
from geminids.faces.drawing.amounts import UNKNOWN, dollars
from geminids.faces.drawing.number_tables import EMPTY, RULE, Cell, Field, Row, flow, number
from geminids.faces.drawing.stats_tables import LABEL, draw_notes, id_cells, incomplete_note
from geminids.sharing.transcript import safe, words

if TYPE_CHECKING:
    from geminids.core.model import SessionSummary, Usage
    from geminids.faces.drawing.page import Page
    from geminids.faces.drawing.screen import Screen
    from geminids.query.usage.explanation import Check, ExplainedRequest, ExplainedSession

_NOT_COUNTED = "≡"
_MOST_PLACES = 3
"""So many lines that repeat a request are named on a terminal."""
_TOLD = {
    "agrees": "This matches the agent's own total.",
    "explained": "The agent's own total is higher by the requests that its files do not have.",
    "behind": "The agent's own total is older than its last requests.",
    "differs": "The agent's own total differs, and known missing requests do not explain it.",
}


class Kind(NamedTuple):
    """A kind of token, and when it leaves a narrow table."""

    name: str
    of: Callable[[Usage], int | None]
    leaves: int | None


KINDS = (
    Kind("fresh", lambda usage: usage.fresh, 5),
    Kind("cached", lambda usage: usage.cached, 4),
    Kind("written", lambda usage: usage.cache_write, 2),
    Kind("output", lambda usage: usage.output, 6),
    Kind("thoughts", lambda usage: usage.thoughts, 3),
    Kind("tool", lambda usage: usage.tool, 1),
    Kind("total", lambda usage: usage.total, None),
)
_RARE = ("written", "thoughts", "tool")
"""Kinds that many agents do not have."""


def draw_session(page: Page, screen: Screen, found: ExplainedSession) -> None:
    """Its requests, what was not counted, what is missing, and the comparison."""
    _draw_heading(page, screen, found)
    if found.requests:
        draw_rows(page, screen, *_requests(found, is_drawn=screen.is_terminal))
    draw_notes(page, _notes(found))
    if found.check:
        _draw_check(page, screen, found.check)
    if found.subagents:
        _draw_subagents(page, screen, found.subagents)


def _draw_heading(page: Page, screen: Screen, found: ExplainedSession) -> None:
    session = found.session
    page.line((session.title or "untitled", "title"))
    pieces = (
        session.id,
        words.path(session.project.path or session.project.slug or ""),
        words.time_span(session.started_at, session.ended_at),
        *([] if _has_several_models(found) else found.session.models),
    )
    for line in flow((safe.line(piece) for piece in pieces if piece), screen.width):
        page.line((line, "quiet"))


def _has_several_models(found: ExplainedSession) -> bool:
    return len({request.model for request in found.requests}) > 1


# Requests


def _requests(found: ExplainedSession, *, is_drawn: bool) -> tuple[list[Field], list[Row]]:
    """A row each; the name of a file stands above its rows, in a pipe at the end of each."""
    kinds = _kinds([request.usage for request in found.requests])
    shown = _shown_beside(found, is_drawn=is_drawn)
    rows: list[Row] = []
    for file, requests in groupby(found.requests, key=lambda request: request.source.file):
        rows += [Row((), "quiet", words.path(file))] if is_drawn else []
        rows += [_row(request, kinds, is_drawn=is_drawn) for request in requests]
    fields = _fields(kinds)
    places = [place for place, field in enumerate(fields) if shown.get(field.heading, True)]
    chosen = [
        row._replace(cells=[row.cells[place] for place in places]) if row.cells else row
        for row in [*rows, RULE, _total(found, kinds)]
    ]
    return [fields[place] for place in places], chosen


def _shown_beside(found: ExplainedSession, *, is_drawn: bool) -> dict[str, bool]:
    """Columns that would say nothing take no room."""
    return {
        "": any(not request.counted for request in found.requests),
        "model": _has_several_models(found) or not is_drawn,
        "again": any(request.copies for request in found.requests),
        "file": not is_drawn,
    }


def _fields(kinds: Sequence[Kind]) -> list[Field]:
    return [
        Field("", is_number=False),
        Field("line"),
        Field("time", is_number=False, leaves=8),
        Field("model", is_number=False, least=8, wishes=24, leaves=7),
        *(Field(kind.name, leaves=kind.leaves) for kind in kinds),
        Field("cost"),
        Field("again", is_number=False, leaves=0),
        Field("file", is_number=False, is_free=True),
    ]


def _kinds(usages: Sequence[Usage]) -> list[Kind]:
    """The kinds of tokens that occur."""
    return [kind for kind in KINDS if kind.name not in _RARE or any(kind.of(usage) for usage in usages)]


def _row(request: ExplainedRequest, kinds: Sequence[Kind], *, is_drawn: bool) -> Row:
    at = request.at.astimezone() if request.at else None
    cells = [
        Cell("" if request.counted else _NOT_COUNTED),
        Cell(str(request.source.line or "?")),
        Cell(f"{at:%Y-%m-%d %H:%M:%S}", f"{at:%H:%M:%S}") if at else Cell(UNKNOWN),
        Cell(safe.line(request.model or UNKNOWN)),
        *(number(kind.of(request.usage)) for kind in kinds),
        Cell(dollars(request.cost)),
        Cell(safe.line(_places(request, most=_MOST_PLACES if is_drawn else None))),
        Cell(safe.line(f"{request.source.file}:{request.source.line or '?'}")),
    ]
    return Row(cells, "" if request.counted else "quiet")


def _places(request: ExplainedRequest, most: int | None) -> str:
    """Where the same request stands again: lines of the same file, and of others."""
    own = sorted({copy.line for copy in request.copies if copy.file == request.source.file})
    others = sorted({(copy.file, copy.line) for copy in request.copies if copy.file != request.source.file})
    if most is None:
        return ", ".join([*map(str, own), *(f"{file}:{line}" for file, line in others)])
    lines = own if len(own) + len(others) <= most else own[: most - 1]
    shown = ", ".join(map(str, lines))
    if more := len(own) + len(others) - len(lines):
        return f"{shown} and {more:,} more" if shown else f"{more:,} elsewhere"
    return shown


def _total(found: ExplainedSession, kinds: Sequence[Kind]) -> Row:
    costs = [request.cost for request in found.requests if request.counted and request.cost is not None]
    used = (number(kind.of(found.usage)) for kind in kinds)
    cost = Cell(dollars(sum(costs[1:], costs[0]) if costs else None))
    return Row([EMPTY, Cell("sum"), EMPTY, EMPTY, *used, cost, EMPTY, EMPTY], "title")


# What is to be known of them


def _notes(found: ExplainedSession) -> Iterator[str]:
    yield from incomplete_note(int(found.session.is_incomplete))
    reasons = Counter(request.why for request in found.requests if not request.counted)
    for why, requests in reasons.items():
        yield f"{_NOT_COUNTED} {words.count(requests, 'request')} not counted: {why}."
    if repeats := sum(len(request.copies) for request in found.requests):
        yield f"{words.count(repeats, 'repeat')} of requests on other lines (again) not counted."
    if any(request.cost is not None for request in found.requests):
        yield f"Costs are a {LABEL}."
    if not found.requests:
        yield "No request of this session is recorded."
    for part in found.unrecorded:
        yield f"Missing from the files: {missing(part)}"
    if found.check is None:
        yield "The agent recorded no total to compare with."


def _draw_check(page: Page, screen: Screen, check: Check) -> None:
    usages = {"the agent's total": check.reported, _files_with(check): check.ours}
    usages |= {"difference": check.difference} if check.difference else {}
    kinds = _kinds(list(usages.values()))
    fields = [Field("", is_number=False), *(Field(kind.name, leaves=kind.leaves) for kind in kinds)]
    rows = [Row([Cell(name), *(number(kind.of(usage)) for kind in kinds)]) for name, usage in usages.items()]
    draw_rows(page, screen, fields, rows)
    mark, style = VERDICTS[check.verdict]
    page.words(f"{mark} {_TOLD[check.verdict]}", style)


def _files_with(check: Check) -> str:
    """What is compared: some agents count in what counts elsewhere here."""
    besides = ["copies"] if check.with_copies else []
    besides += ["subagents"] if check.with_subagents else []
    return f"its files, with {' and '.join(besides)}" if besides else "its files"


def _draw_subagents(page: Page, screen: Screen, subagents: Sequence[SessionSummary]) -> None:
    fields = [
        Field("subagent", is_number=False, least=8),
        Field("title", is_number=False, least=12, wishes=30, is_free=True),
        Field("requests", leaves=1),
        Field("tokens"),
    ]
    ids = id_cells((child.id for child in subagents), is_whole=screen.width is None)
    rows = [
        Row(
            [
                ids[child.id],
                Cell(safe.line(child.title or "untitled")),
                *map(number, (child.usage.requests, child.usage.total)),
            ]
        )
        for child in subagents
    ]
    draw_rows(page, screen, fields, rows)
    page.line(("Subagents are counted separately.", "quiet"))
