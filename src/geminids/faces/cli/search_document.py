"""`search --json`: messages that were found, each with its session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from geminids.core.model import KnownBy, Origin, Project, Role, SessionKind, State, Status

if TYPE_CHECKING:
    from geminids.query.search.found import Found
    from geminids.query.search.found import FoundMessage as Message
    from geminids.storage.index.values import SessionRow
    from geminids.storage.text.values import Snippet as Cut


class FoundSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session in which something was found, in little."""

    id: str
    agent: str
    native_id: str
    kind: SessionKind
    parent_id: str | None
    project: Project
    title: str | None
    started_at: datetime | None
    ended_at: datetime | None
    status: Status
    kept: bool
    """Whether its file is gone, and it is read from a kept copy."""
    matches: int
    """How many of its messages match, shown or not."""


class FoundMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was found, without its words."""

    id: str
    number: int
    """Its place in the session, from 1."""
    role: Role
    origin: Origin
    state: State
    imported: bool
    at: datetime | None
    model: str | None
    tools: tuple[str, ...]
    """The names of the tools that it calls."""


class Snippet(msgspec.Struct, frozen=True):
    """A piece of a message, on one line."""

    text: str
    spans: tuple[tuple[int, int], ...]
    """Start and end of what was looked for, in characters."""
    is_cut_before: bool
    is_cut_after: bool


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """A message that was found. `--jsonl` prints each on a line of its own."""

    session: FoundSession
    message: FoundMessage
    where: tuple[str, ...]
    """In which parts of the message: human, model, thoughts, arguments, paths, output, other."""
    snippet: Snippet | None
    """null if the file has changed or is gone."""
    score: float
    """The higher, the better; only to be compared within one search."""


class Total(msgspec.Struct, frozen=True):
    """How much was found in all."""

    matches: int
    sessions: int
    is_exact: bool
    """Else more messages may match."""
    are_all_sessions: bool
    """Else there are more sessions than were counted."""


class Searched(msgspec.Struct, frozen=True):
    """What was looked through."""

    sessions: int
    messages: int
    where: tuple[str, ...]
    left_out: str | None
    """What is not indexed, in words."""


class Stopped(msgspec.Struct, frozen=True):
    """Where reading texts came to its limit."""

    read: int
    left: int


class Unsearched(msgspec.Struct, frozen=True):
    """Messages of a session of which it is not known whether they match."""

    session_id: str
    messages: tuple[int, ...]
    """Their numbers."""


class SearchDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/search/1"):
    """What a search has found: messages, those of one session together, the best session first."""

    hits: Sequence[SearchHit]
    next: str | None
    """What to give to `--after` for the next page; null if this is the last one."""
    total: Total
    searched: Searched
    hidden: Mapping[str, int]
    """How many more messages would match without a filter, by the filter as it was typed."""
    near: Mapping[str, Sequence[str]]
    """What may have been meant by a word that does not occur, or by a value that nothing has."""
    is_spread: bool
    """No message has all the words; these sessions have each of them somewhere."""
    has_changed: bool
    """The index is no longer what it was when the page before was made."""
    stopped: Stopped | None
    """Not all texts were read; `next` goes on."""
    unsearched: Sequence[Unsearched]
    """Where a regular expression took too long."""


def search_document(found: Found) -> SearchDocument:
    """What was found as a document."""
    searched = found.searched
    return SearchDocument(
        hits=list(hits_of(found)),
        next=found.next,
        total=Total(*found.total),
        searched=Searched(searched.sessions, searched.messages, searched.columns, searched.left_out),
        hidden=found.hidden,
        near=found.near,
        is_spread=found.is_spread,
        has_changed=found.has_changed,
        stopped=Stopped(*found.stopped) if found.stopped else None,
        unsearched=[
            Unsearched(one.session, tuple(place + 1 for place in one.messages)) for one in found.unsearched
        ],
    )


def hits_of(found: Found) -> Iterator[SearchHit]:
    """Each message that was found, the best session first."""
    for group in found.sessions:
        session = _session(group.session, group.matches)
        for hit in group.hits:
            yield SearchHit(
                session=session,
                message=_message(hit.message),
                where=hit.where,
                snippet=_snippet(hit.snippet),
                score=hit.score,
            )


def _session(row: SessionRow, matches: int) -> FoundSession:
    project = row.project
    known_by = KnownBy(project.known_by) if project.known_by else None
    return FoundSession(
        id=row.id,
        agent=row.agent,
        native_id=row.native_id,
        kind=SessionKind(row.kind),
        parent_id=row.parent_id,
        project=Project(project.path, project.hash, project.slug, known_by, project.certain),
        title=row.title,
        started_at=row.started_at,
        ended_at=row.ended_at,
        status=Status(row.status),
        kept=row.kept,
        matches=matches,
    )


def _message(message: Message) -> FoundMessage:
    return FoundMessage(
        id=message.id,
        number=message.place + 1,
        role=Role(message.role),
        origin=Origin(message.origin),
        state=State(message.state),
        imported=message.imported,
        at=message.at,
        model=message.model,
        tools=message.tools,
    )


def _snippet(snippet: Cut | None) -> Snippet | None:
    return Snippet(*snippet) if snippet else None
