"""`search --json`: messages that were found, each with its session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from geminids.core.model import KnownBy, Origin, Project, Role, SessionKind, State, Status
from geminids.faces.documents.base import Document, Filled, Printed, filled

if TYPE_CHECKING:
    from geminids.query.search import found as search


class FoundSession(Document, frozen=True, kw_only=True):
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
    missing: tuple[str, ...] = ()
    """Words that it does not have, where it is shown because it fits best."""


class FoundMessage(Document, frozen=True, kw_only=True):
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


class Snippet(Document, frozen=True, kw_only=True):
    """A piece of a message, on one line."""

    text: str
    spans: tuple[tuple[int, int], ...]
    """Start and end of what was looked for, in characters."""
    is_cut_before: bool
    is_cut_after: bool


class SearchHit(Document, frozen=True, kw_only=True):
    """A message that was found. `--jsonl` prints each on a line of its own."""

    session: FoundSession
    message: FoundMessage
    where: tuple[str, ...]
    """In which parts of the message: human, model, thoughts, arguments, paths, output, other; or in the title
    of the session, in the name of its project, or in its marks (name, tags and notes)."""
    snippet: Snippet | None
    """null if the file has changed or is gone."""
    score: float
    """The higher, the better; only to be compared within one search."""


class Total(Document, frozen=True, kw_only=True):
    """How much was found in all."""

    matches: int
    sessions: int
    is_exact: bool
    """Else more messages may match."""
    are_all_sessions: bool
    """Else there are more sessions than were counted."""


class Searched(Document, frozen=True, kw_only=True):
    """What was looked through."""

    sessions: int
    kinds: Mapping[str, int]
    """How many of these are of each kind: main, subagent, checkpoint, lost."""
    messages: int
    where: tuple[str, ...]
    left_out: str | None
    """What is not indexed, in words."""


class Stopped(Document, frozen=True, kw_only=True):
    """Where reading texts came to its limit."""

    read: int
    left: int


class Unsearched(Document, frozen=True, kw_only=True):
    """Messages of a session of which it is not known whether they match."""

    session_id: str
    messages: tuple[int, ...]
    """Their numbers."""


class SearchDocument(Printed, frozen=True, kw_only=True, omit_defaults=True, tag="geminids/search/1"):
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
    words: int = 0
    """Of how many words some of the sessions lack some; left out where none of them does."""
    respelt: Mapping[str, Sequence[str]] = {}
    """Words that stand nowhere, and which were looked for instead."""
    fillers: Mapping[str, str] = {}
    """Words that stand nowhere and were left out, and the filler, such as `something`, nearest to each."""
    is_spread: bool
    """No message has all the words; these sessions have each of them somewhere."""
    has_changed: bool
    """The index is no longer what it was when the page before was made."""
    stopped: Stopped | None
    """Not all texts were read; `next` goes on."""
    unsearched: Sequence[Unsearched]
    """Where a regular expression took too long."""
    like: str | None = None
    """What sessions are close to in meaning, the closest first: their words need not be those. Left out where
    words were looked for."""
    to_come: int = 0
    """Groups of files that are not read yet, since a first index is made: what they hold is missing here.
    Left out where there are none."""


def search_document(found: search.Found, to_come: int = 0, like: str | None = None) -> SearchDocument:
    """What was found, by words or as being `like` a text, and how many groups of files nobody knows yet."""
    return filled(
        SearchDocument,
        found,
        hits=list(hits_of(found)),
        total=filled(Total, found.total),
        searched=filled(Searched, found.searched, where=found.searched.columns),
        stopped=filled(Stopped, found.stopped) if found.stopped else None,
        unsearched=[
            Unsearched(session_id=one.session, messages=numbers_unsearched(one)) for one in found.unsearched
        ],
        like=like,
        to_come=to_come,
    )


def hits_of(found: search.Found) -> Iterator[SearchHit]:
    """Each message that was found, the best session first."""
    for group in found.sessions:
        session = _session(group)
        for hit in group.hits:
            message = found_message(FoundMessage, hit.message)
            snippet = filled(Snippet, hit.snippet) if hit.snippet else None
            yield filled(SearchHit, hit, session=session, message=message, snippet=snippet)


def found_message(kind: type[Filled], message: search.FoundMessage, /, **others: object) -> Filled:
    """A document with the facts of a message that was found, and with others."""
    role, origin, state = Role(message.role), Origin(message.origin), State(message.state)
    return filled(kind, message, number=message.place + 1, role=role, origin=origin, state=state, **others)


def numbers_unsearched(left: search.Unsearched) -> tuple[int, ...]:
    """The numbers of the messages that may match or not."""
    return tuple(place + 1 for place in left.messages)


def _session(group: search.SessionHits) -> FoundSession:
    row = group.session
    project = row.project
    known_by = KnownBy(project.known_by) if project.known_by else None
    return filled(
        FoundSession,
        row,
        kind=SessionKind(row.kind),
        status=Status(row.status),
        project=filled(Project, project, known_by=known_by),
        matches=group.matches,
        missing=group.missing,
    )
