"""`list_sessions`: sessions without their messages, the newest first."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from geminids.core.errors import BadTimeError
from geminids.faces.documents.recalled import ListAnswer, ListedSession
from geminids.faces.mcp import told
from geminids.faces.mcp.asked import MOST_WORDS, Asked
from geminids.faces.mcp.desk import Desk
from geminids.faces.mcp.errors import BadArgumentsError
from geminids.faces.mcp.pages import start_of
from geminids.faces.mcp.room import size, that_fit
from geminids.query.search.moments import parse_moment
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter, Listing
from geminids.storage.index.values import SessionRow

AT_ONCE = 200
"""Sessions that are looked through at a time for those that ended in some way."""
MORE = 5
"""Sessions that are asked for besides: one tells that more follow, and some may be left out."""


class AskedForSessions(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which sessions."""

    project: Annotated[
        str,
        Meta(
            description="A folder or name; `all` for every project. Default: the current one.",
            max_length=MOST_WORDS,
        ),
    ] = ""
    since: Annotated[str, Meta(description="Only after this time: 12h, 7d, 2026-05-01.", max_length=100)] = ""
    agent: Annotated[str, Meta(description="Only sessions of this agent.", max_length=100)] = ""
    status: Annotated[
        Literal["", "success", "failure", "interrupted", "cancelled", "error"],
        Meta(description="Only sessions that seem to have ended so."),
    ] = ""
    sessions: Annotated[int, Meta(description="Sessions at most.", ge=1, le=100)] = 20
    with_own: Annotated[bool, Meta(description="Also list the session that asks.")] = False


def list_sessions(desk: Desk, asked: AskedForSessions, room: int) -> ListAnswer:
    """Sessions in little."""
    wanted, start = _filter(desk, asked), start_of(asked.after)
    first = desk.library.listing(wanted, AT_ONCE if asked.status else asked.sessions + MORE, start)
    if wanted.project is not None and not first.matched:
        raise first.no_such_project(wanted.project)
    found = list(islice(_rows(desk, asked, wanted, first, start), asked.sessions + 1))
    answer = _answer(desk, asked, wanted, first)
    desk.note_keys([row for _, row in found])
    sessions = [_listed(desk, row) for _, row in found[: asked.sessions]]
    number = max(1, that_fit(sessions, room - size(answer, told.sessions(answer)), told.listed_session))
    following = str(found[number][0]) if number < len(found) else None
    return msgspec.structs.replace(answer, sessions=sessions[:number], next=following)


def _filter(desk: Desk, asked: AskedForSessions) -> Filter:
    try:
        since = parse_moment(asked.since, desk.now) if asked.since else None
    except BadTimeError as error:
        raise BadArgumentsError(f"since: {error}") from error
    project = None if asked.project == "all" else asked.project or desk.here
    agents = (asked.agent,) if asked.agent else ()
    return Filter(project=project, since=since, kinds=LED_BY_HUMANS, agents=agents)


def _rows(
    desk: Desk, asked: AskedForSessions, wanted: Filter, listing: Listing, start: int
) -> Iterator[tuple[int, SessionRow]]:
    """The sessions that are meant, from those of a listing on, each with its place among all."""
    rows = listing.sessions
    while rows:
        desk.go_on()
        for place, row in enumerate(rows, start):
            is_own = not asked.with_own and desk.is_asking(row)
            if not is_own and asked.status in {"", row.status}:
                yield place, row
        start += len(rows)
        rows = desk.library.listing(wanted, AT_ONCE, start).sessions


def _answer(desk: Desk, asked: AskedForSessions, wanted: Filter, found: Listing) -> ListAnswer:
    """The answer without its sessions."""
    return ListAnswer(
        note="Titles are quoted from sessions.",
        project=wanted.project,
        sessions=(),
        total=None if asked.status else found.total,
    )


def _listed(desk: Desk, row: SessionRow) -> ListedSession:
    return desk.cited(
        ListedSession,
        row,
        started=row.started_at,
        prompts=row.counts.prompts,
        calls=row.counts.tool_calls,
        errors=row.counts.tool_errors,
        incomplete=row.is_incomplete,
    )
