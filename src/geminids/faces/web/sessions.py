"""Lists of sessions: by filters, or by words in the language of searches; and what they have in common."""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Callable, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Annotated, Literal, NamedTuple

import msgspec

from geminids.core.names import project_names
from geminids.faces.documents.base import harmless_all
from geminids.faces.documents.sessions import Facets, FacetValue, Sessions, project_key
from geminids.faces.serving.session_lines import session_lines
from geminids.faces.web.endpoints import AskedOfSessions, Desk, Endpoint, Page, SomeWords, Words
from geminids.faces.web.errors import BadParameterError
from geminids.faces.web.search import SEARCH_PATIENCE, near_words
from geminids.query.search.facets import Facet
from geminids.query.search.found_sessions import FoundInOrder
from geminids.query.search.moments import parse_moment
from geminids.query.search.question import Question
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter
from geminids.sharing.transcript import safe
from geminids.storage.index.values import SessionRow

Order = Literal["date", "started", "messages", "title", "project"]
Kind = Literal["main", "subagent", "checkpoint", "copy", "lost"]
MOST_FACETS = 100
_NO_SEARCH_KNOWS = "copy"
"""Searches tell sessions by what they are but for this one."""


class AskedOfMany(AskedOfSessions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions are listed."""

    kind: Annotated[tuple[Kind, ...], msgspec.Meta(max_length=5)] = ()
    """None means those that a human led; where words are looked for, all."""
    tag: SomeWords = ()
    kept: bool = False
    """Only those whose files are gone."""


class AskedForList(AskedOfMany, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions are shown, in which order, from where on."""

    order: Order | None = None
    """None means by date; where words are looked for, the best first."""
    reverse: bool = False
    limit: Page = 50
    after: Words | None = None
    """Where the page before ended."""


def sessions(desk: Desk, asked: AskedForList) -> Sessions:
    """A page of sessions: newest first, or the best first where words are looked for."""
    if not asked.q.strip():
        return _listed(desk, asked)
    is_by_rank = asked.order is None and not asked.reverse and not asked.tag
    return _found(desk, asked) if is_by_rank else _found_in_order(desk, asked)


def facets(desk: Desk, asked: AskedOfMany) -> Facets:
    """What the sessions of a question have in common, with counts."""
    found = (
        desk.library.found_facets(_all_words(asked), desk.now, tags=asked.tag)
        if asked.q.strip()
        else desk.library.facets(_filter(desk, asked))
    )
    rows = found.facets
    return Facets(
        total=sum(row.sessions for row in rows),
        is_exact=found.is_exact,
        agents=_counted(rows, lambda row: row.agent, desk.library.agent_title),
        projects=_projects(rows),
        kinds=_counted(rows, lambda row: row.kind),
        statuses=_counted(rows, lambda row: row.status),
        months=sorted(_counted(rows, lambda row: row.month), key=lambda value: value.key),
        tags=[
            FacetValue(key=tag, name=tag, sessions=number)
            for tag, number in islice(found.tags.items(), MOST_FACETS)
        ],
    )


ENDPOINTS = (
    Endpoint("/api/sessions", AskedForList, Sessions, sessions, is_cached=True),
    Endpoint("/api/facets", AskedOfMany, Facets, facets, is_cached=True),
)


# By filters


class _After(msgspec.Struct, frozen=True, array_like=True):
    """Where a page of a list ended."""

    shown: int
    last: str
    """A digest of the id of the last one."""


def _listed(desk: Desk, asked: AskedForList) -> Sessions:
    after = _after(asked.after) if asked.after else None
    begin = after.shown if after else 0
    wanted = _filter(desk, asked, order=asked.order or "date", reverse=asked.reverse)
    found = desk.library.listing(wanted, begin + asked.limit + 1)
    page = _page(found.sessions, asked.limit, found.total, after)
    near = found.nearest_projects(asked.project) if asked.project and not found.matched else []
    return Sessions(
        sessions=session_lines(desk.library, page.rows),
        total=found.total,
        is_exact=True,
        next=page.next,
        hidden=found.hidden,
        near={asked.project: harmless_all(near)} if asked.project and near else {},
    )


def _filter(desk: Desk, asked: AskedOfMany, *, order: str = "date", reverse: bool = False) -> Filter:
    now = desk.now
    return Filter(
        project=asked.project or None,
        since=parse_moment(asked.since, now) if asked.since else None,
        until=parse_moment(asked.until, now, end=True) if asked.until else None,
        kinds=frozenset(asked.kind) or LED_BY_HUMANS,
        tags=asked.tag,
        order=order,
        reverse=reverse,
        agents=asked.agent,
        kept=asked.kept,
    )


class _Page(NamedTuple):
    """Some rows, and where the next ones begin."""

    rows: Sequence[SessionRow]
    next: str | None


def _page(rows: Sequence[SessionRow], limit: int, total: int, after: _After | None) -> _Page:
    begin = _place_after(rows, after) if after else 0
    page = rows[begin : begin + limit]
    end = begin + len(page)
    return _Page(page, _written(_After(end, _digest(page[-1].id))) if page and end < total else None)


def _place_after(rows: Sequence[SessionRow], after: _After) -> int:
    """Where to go on: sessions may have come or gone above since the page before."""
    places = (place for place in range(len(rows) - 1, -1, -1) if _digest(rows[place].id) == after.last)
    return next(places, min(after.shown, len(rows)) - 1) + 1


def _digest(session_id: str) -> str:
    """An id may be a secret, and whoever has a cursor could read it there."""
    return blake2b(session_id.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _written(after: _After) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(after)).decode()


def _after(written: str) -> _After:
    try:
        after = msgspec.json.decode(base64.urlsafe_b64decode(written.encode()), type=_After)
    except (binascii.Error, ValueError, msgspec.DecodeError) as error:
        raise BadParameterError(
            "This page of the list no longer exists. Start again from the first page."
        ) from error
    if not 0 <= after.shown < 10_000_000:
        raise BadParameterError("This page of the list no longer exists. Start again from the first page.")
    return after


# By words


def _found(desk: Desk, asked: AskedForList) -> Sessions:
    """The best first, as far as they are ranked."""
    found = desk.library.search(_question(asked, asked.limit)._replace(after=asked.after or None), desk.now)
    found.check_whole()
    return Sessions(
        sessions=session_lines(desk.library, [hits.session for hits in found.sessions]),
        total=found.total.sessions,
        is_exact=found.total.are_all_sessions,
        next=found.next,
        hidden=found.hidden,
        near=near_words(desk, found),
    )


def _found_in_order(desk: Desk, asked: AskedForList) -> Sessions:
    """All that are found, in one of the orders of a list."""
    after = _after(asked.after) if asked.after else None
    found = _in_order(desk, asked, (after.shown if after else 0) + asked.limit + 1)
    page = _page(found.sessions, asked.limit, found.total, after)
    beside = desk.library.search(_question(asked, 1), desk.now)
    return Sessions(
        sessions=session_lines(desk.library, page.rows),
        total=found.total,
        is_exact=found.is_exact,
        next=page.next,
        hidden=beside.hidden,
        near=near_words(desk, beside),
    )


def _in_order(desk: Desk, asked: AskedForList, limit: int) -> FoundInOrder:
    if asked.order is not None:
        return desk.library.found_in_order(
            _all_words(asked), asked.order, limit, desk.now, reverse=asked.reverse, tags=asked.tag
        )
    rows = _all_found(desk, asked)
    return FoundInOrder(rows[::-1] if asked.reverse else rows, len(rows))


def _question(asked: AskedForList, limit: int) -> Question:
    return Question(
        _words(asked),
        project=asked.project or None,
        since=asked.since or None,
        until=asked.until or None,
        limit=limit,
        per_session=0,
        agents=asked.agent,
        patience=SEARCH_PATIENCE,
        hidden_sessions=True,
    )


def _all_found(desk: Desk, asked: AskedOfMany) -> Sequence[SessionRow]:
    rows = desk.library.found_sessions(_all_words(asked), desk.now)
    if not asked.tag:
        return rows
    tagged = {row.number for row in desk.library.listing(Filter(tags=asked.tag)).sessions}
    return [row for row in rows if row.number in tagged]


def _all_words(asked: AskedOfMany) -> str:
    """The words with all that narrows them."""
    options = {"project": asked.project, "since": asked.since, "before": asked.until}
    quoted = (f'{name}:"{value.replace(chr(34), "")}"' for name, value in options.items() if value)
    agents = [f"agent:{','.join(asked.agent)}"] if asked.agent else []
    return " ".join([_words(asked), *agents, *quoted])


def _words(asked: AskedOfMany) -> str:
    """The words, with what only the language of searches can say."""
    if _NO_SEARCH_KNOWS in asked.kind:
        raise BadParameterError("Copies cannot be searched. Leave out the words, or this kind.")
    kinds = [f"is:{','.join(asked.kind)}"] if asked.kind else []
    return " ".join([asked.q, *kinds, *(["is:kept"] if asked.kept else [])])


# Counting


def _counted(
    rows: Sequence[Facet], key: Callable[[Facet], str], name: Callable[[str], str] = str
) -> list[FacetValue]:
    counts: Counter[str] = Counter()
    for row in rows:
        counts[key(row)] += row.sessions
    most = counts.most_common(MOST_FACETS)
    return [FacetValue(key=value, name=safe.line(name(value)), sessions=number) for value, number in most]


def _projects(rows: Sequence[Facet]) -> list[FacetValue]:
    """The folders, each once: agents may know one by different names."""
    known = {project_key(row.project): row.project for row in rows}
    names = project_names(known.values())
    return _counted(rows, lambda row: project_key(row.project), lambda key: names[known[key]])
