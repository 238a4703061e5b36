"""A session down to its requests, each with the line of its file, and the agent's own total beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from geminids.cli.amounts import UNKNOWN, dollars
from geminids.cli.explain_page import EMPTY, VERDICTS, draw_rows, missing, number
from geminids.cli.fitting import RULE, Cell, Field, Row, flow
from geminids.cli.stats_tables import LABEL, draw_notes
from geminids.transcript import safe, words

if TYPE_CHECKING:
    from geminids.cli.page import Page
    from geminids.cli.screen import Screen
    from geminids.library import Check, ExplainedRequest, ExplainedSession
    from geminids.model import SessionSummary, Source, Usage

_NOT_COUNTED = "≡"
_TOLD = {
    "agrees": "The agent's own total is the same.",
    "explained": "The agent's own total is higher by the requests that are missing from its files.",
    "behind": "The agent wrote its own total before its last requests, which its files hold.",
    "differs": "The agent's own total differs, and what is known to be missing does not explain it.",
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
        rows += [_row(request, kinds) for request in requests]
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
        Field("again", is_number=False, least=5, wishes=12, leaves=0),
        Field("file", is_number=False, is_free=True),
    ]


def _kinds(usages: Sequence[Usage]) -> list[Kind]:
    """The kinds of tokens that occur."""
    return [kind for kind in KINDS if kind.name not in _RARE or any(kind.of(usage) for usage in usages)]


def _row(request: ExplainedRequest, kinds: Sequence[Kind]) -> Row:
    at = request.at.astimezone() if request.at else None
    cells = [
        Cell("" if request.counted else _NOT_COUNTED),
        Cell(str(request.source.line)),
        Cell(f"{at:%Y-%m-%d %H:%M:%S}", f"{at:%H:%M:%S}") if at else Cell(UNKNOWN),
        Cell(safe.line(request.model or UNKNOWN)),
        *(number(kind.of(request.usage)) for kind in kinds),
        Cell(dollars(request.cost)),
        Cell(safe.line(_places(request.copies, request.source.file))),
        Cell(safe.line(f"{request.source.file}:{request.source.line}")),
    ]
    return Row(cells, "" if request.counted else "quiet")


def _places(copies: Sequence[Source], file: str) -> str:
    """Where the same request stands again: lines of the same file, and of others."""
    lines = [str(copy.line) for copy in copies if copy.file == file]
    others = [f"{words.path(copy.file)}:{copy.line}" for copy in copies if copy.file != file]
    return ", ".join(dict.fromkeys([*lines, *others]))


def _total(found: ExplainedSession, kinds: Sequence[Kind]) -> Row:
    costs = [request.cost for request in found.requests if request.counted and request.cost is not None]
    used = (number(kind.of(found.usage)) for kind in kinds)
    cost = Cell(dollars(sum(costs[1:], costs[0]) if costs else None))
    return Row([EMPTY, Cell("sum"), EMPTY, EMPTY, *used, cost, EMPTY, EMPTY], "title")


# What is to be known of them


def _notes(found: ExplainedSession) -> Iterator[str]:
    reasons = Counter(request.why for request in found.requests if not request.counted)
    for why, requests in reasons.items():
        yield f"{_NOT_COUNTED} {words.count(requests, 'request')} not counted: {why}."
    if repeats := sum(len(request.copies) for request in found.requests):
        yield f"{words.count(repeats, 'repeat')} of requests in other lines (again), not counted."
    if any(request.cost is not None for request in found.requests):
        yield f"Costs are a {LABEL}."
    if not found.requests:
        yield "No request of this session is recorded."
    for part in found.unrecorded:
        yield f"Missing from the files: {missing(part)}"
    if found.check is None:
        yield "The agent kept no total of its own to compare with."


def _draw_check(page: Page, screen: Screen, check: Check) -> None:
    usages = {"the agent's total": check.reported, "its files": check.ours}
    usages |= {"difference": check.difference} if check.difference else {}
    kinds = _kinds(list(usages.values()))
    fields = [Field("", is_number=False), *(Field(kind.name, leaves=kind.leaves) for kind in kinds)]
    rows = [Row([Cell(name), *(number(kind.of(usage)) for kind in kinds)]) for name, usage in usages.items()]
    draw_rows(page, screen, fields, rows)
    mark, style = VERDICTS[check.verdict]
    page.words(f"{mark} {_TOLD[check.verdict]}", style)


def _draw_subagents(page: Page, screen: Screen, subagents: Sequence[SessionSummary]) -> None:
    fields = [
        Field("subagent", is_number=False, least=8),
        Field("title", is_number=False, least=12, wishes=30, is_free=True),
        Field("requests", leaves=1),
        Field("tokens"),
    ]
    rows = [
        Row(
            [
                Cell(safe.line(child.native_id), child.native_id[:8], "quiet"),
                Cell(safe.line(child.title or "untitled")),
                *map(number, (child.usage.requests, child.usage.total)),
            ]
        )
        for child in subagents
    ]
    draw_rows(page, screen, fields, rows)
    page.line(("Subagents count for themselves.", "quiet"))
