"""`search_history`: messages of past sessions, those of the current project before all others.

Half of a secret cannot be recognised, so where secrets are hidden no snippet is told as the search has cut
it: it is cut anew from the session after everything in it is hidden.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta

from geminids.core.errors import GeminidsError
from geminids.core.model import Message
from geminids.faces.documents.recalled import HISTORY, FoundMessage, FoundSession, SearchAnswer
from geminids.faces.mcp import told
from geminids.faces.mcp.asked import MOST_WORDS, Asked
from geminids.faces.mcp.desk import Desk, show_command
from geminids.faces.mcp.errors import BadPlaceError, CancelledError
from geminids.faces.mcp.room import fitting, size
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.query.search.cursors import BadCursorError
from geminids.query.search.found import Found, Hit, SessionHits
from geminids.query.search.in_session import SnippetCutter, texts_of
from geminids.query.search.question import Question
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.brief import last_reply
from geminids.storage.index.values import SessionRow
from geminids.storage.text.values import Snippet

HERE, EVERYWHERE = "here", "all"
"""Where a page is of; stands before its cursor."""
WIDTH = 240
"""Characters of a snippet."""
BUDGET = 1.0
"""Seconds for the snippets of an answer; what is left then is told without."""
PATIENCE = 3.0
"""Seconds after which a search that must read texts gives what it has."""
MOST_PAGES = 5
"""Pages of a search that are looked through for sessions that are not listed yet."""


class AskedForWords(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is looked for, and where."""

    query: Annotated[
        str,
        Meta(
            description='Words, "a phrase", -without; filters such as tool:edit file:app.py since:7d '
            "status:failure in:human.",
            min_length=1,
            max_length=MOST_WORDS,
        ),
    ]
    project: Annotated[
        str,
        Meta(
            description="Only this project: its folder or name; `all` for no order by project. Default: "
            "the current project first, then all.",
            max_length=MOST_WORDS,
        ),
    ] = ""
    agent: Annotated[str, Meta(description="Only sessions of this agent.", max_length=100)] = ""
    since: Annotated[str, Meta(description="Only after this time: 12h, 7d, 2026-05-01.", max_length=100)] = ""
    sessions: Annotated[int, Meta(description="Sessions in the answer at most.", ge=1, le=20)] = 4
    messages: Annotated[int, Meta(description="Messages of each session at most.", ge=1, le=20)] = 2
    with_own: Annotated[bool, Meta(description="Also search the session that asks.")] = False


class _Place(NamedTuple):
    """Where a session stands in the pages of a search."""

    scope: str
    after: str | None
    """Where its page begins."""
    number: int
    """On its page, from 0."""


class _Group(NamedTuple):
    place: _Place
    hits: SessionHits


def search_history(desk: Desk, asked: AskedForWords, room: int) -> SearchAnswer:
    """Messages that hold what is looked for."""
    search = _Search(desk, asked)
    groups, following = search.groups()
    desk.note_keys([group.hits.session for group in groups])
    with SnippetCutter(BUDGET) as cutter:
        end = time.monotonic() + BUDGET
        sessions = [_session(desk, group.hits, cutter, end) for group in groups]
    answer = SearchAnswer(
        note=search.note(sessions, following),
        project=None if asked.project == "all" else asked.project or desk.here,
        sessions=(),
        next=following,
    )
    left = room - size(answer, told.search(answer))
    shown = fitting(sessions, left, told.found_session, _with_less)
    if len(shown) < len(sessions):
        following = search.after(groups[len(shown) - 1].place)
    return msgspec.structs.replace(answer, sessions=shown, next=following)


def _with_less(session: FoundSession) -> FoundSession | None:
    """Return a session with one message less, then without its outcome; None if it has neither."""
    if session.messages:
        return msgspec.structs.replace(session, messages=session.messages[:-1])
    return msgspec.structs.replace(session, outcome=None) if session.outcome else None


class _Search:
    """A search in one or two scopes, page by page."""

    def __init__(self, desk: Desk, asked: AskedForWords) -> None:
        self._desk = desk
        self._asked = asked
        self._said: list[str] = []

    def groups(self) -> tuple[list[_Group], str | None]:
        """As many sessions as are asked for, and where the next ones begin."""
        scope, after = self._start()
        groups: list[_Group] = []
        for _ in range(MOST_PAGES):
            wanted = self._asked.sessions - len(groups)
            found, following = self._page(scope, after, wanted)
            groups += found
            if following is None and scope == HERE:
                scope, after = EVERYWHERE, None
            elif following is None:
                return groups, None
            else:
                after = following
            if len(groups) >= self._asked.sessions:
                break
        return groups, f"{scope}:{after or ''}"

    def after(self, place: _Place) -> str | None:
        """Where the sessions behind one begin."""
        found = self._found(place.scope, place.after, place.number + 1)
        if found.next is None and place.scope == EVERYWHERE:
            return None
        return f"{place.scope}:{found.next}" if found.next else f"{EVERYWHERE}:"

    def note(self, sessions: Sequence[FoundSession], following: str | None) -> str:
        """What is to be known of the answer as a whole."""
        if not sessions:
            return " ".join(
                self._said or ["Nothing was found so far." if following else "Nothing was found."]
            )
        messages = [one for session in sessions for one in session.messages]
        left_out = "Words that took too long to read are left out." if _are_missing(messages) else ""
        return " ".join(filter(None, [HISTORY, left_out, *self._said]))

    def _hear(self, question: Question, found: Found) -> None:
        """Note what else a search says: what was looked for instead, and what was not looked through."""
        desk = self._desk
        if found.is_spread:
            self._say("No message has all the words; these sessions have them in several.")
        if found.stopped:
            self._say(f"{found.stopped.left:,} more sessions may match; `next` continues with them.")
        if not found.sessions and (unknown := desk.library.no_such_project(question, desk.now)):
            self._say(str(unknown))
        for typed, read in found.respelt.items():
            self._say(f"{typed!r} stands nowhere; {', '.join(map(repr, read))} was looked for.")

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.append(sentence)

    def _start(self) -> tuple[str, str | None]:
        if not self._asked.after:
            in_order = not self._asked.project and self._desk.here is not None
            return HERE if in_order else EVERYWHERE, None
        scope, sign, after = self._asked.after.partition(":")
        if scope not in {HERE, EVERYWHERE} or not sign:
            raise BadPlaceError(self._asked.after)
        return scope, after or None

    def _page(self, scope: str, after: str | None, wanted: int) -> tuple[list[_Group], str | None]:
        found = self._found(scope, after, wanted)
        groups = [_Group(_Place(scope, after, n), hits) for n, hits in enumerate(found.sessions)]
        return [group for group in groups if self._is_wanted(scope, group.hits)], found.next

    def _is_wanted(self, scope: str, hits: SessionHits) -> bool:
        desk, asked = self._desk, self._asked
        if not asked.with_own and desk.is_asking(hits.session):
            return False
        was_before = scope == EVERYWHERE and not asked.project and desk.here is not None
        return not (was_before and desk.is_here(hits.session))

    def _found(self, scope: str, after: str | None, limit: int) -> Found:
        desk, asked = self._desk, self._asked
        desk.go_on()
        named = asked.project if asked.project != "all" else None
        question = Question(
            asked.query,
            project=(desk.here if scope == HERE else named) or None,
            since=asked.since or None,
            limit=limit,
            per_session=asked.messages,
            width=WIDTH,
            after=after,
            patience=PATIENCE,
            agents=(asked.agent,) if asked.agent else (),
            forgiving=True,
            with_names=True,
            is_bare=True,
        )
        try:
            found = desk.library.search(question, desk.now, progress=desk.go_on)
        except BadCursorError as error:
            raise BadPlaceError(asked.after) from error
        self._hear(question, found)
        return found


def _are_missing(messages: Sequence[FoundMessage]) -> bool:
    return any(one.text is None for one in messages)


def _session(desk: Desk, found: SessionHits, cutter: SnippetCutter, end: float) -> FoundSession:
    """Return a session with its messages and outcome; from the moment `end` on without their words."""
    session = desk.cited(
        FoundSession, found.session, matches=found.matches, missing=found.missing, outcome=None, messages=()
    )
    opened = _opened(desk, found.session, session.id, end)
    if opened:
        session = msgspec.structs.replace(
            session, title=opened.session.title, outcome=opened.once(_last_reply)
        )
    if desk.redaction is None:
        texts = [_cleaned(hit.snippet) for hit in found.hits]
    elif opened:
        texts = [_cut(opened.session.messages, hit, cutter) for hit in found.hits]
    else:
        texts = [None] * len(found.hits)
    messages = [_message(session.id, *one) for one in zip(found.hits, texts, strict=True)]
    return msgspec.structs.replace(session, messages=messages)


def _last_reply(opened: OpenedSession) -> str | None:
    return last_reply(opened.session)


def _opened(desk: Desk, row: SessionRow, key: str, end: float) -> OpenedSession | None:
    """Return a session, without its secrets where these are hidden; None if there is no time for it."""
    if time.monotonic() > end:
        return None
    try:
        return desk.listed(row, key)
    except CancelledError:
        raise
    except GeminidsError:
        # It is gone, or what is in it cannot be hidden: then nothing of it is told.
        return None


def _message(key: str, hit: Hit, text: str | None) -> FoundMessage:
    number = hit.message.place + 1
    return FoundMessage(
        message=number,
        at=hit.message.at,
        who=hit.message.origin,
        where=hit.where,
        text=text,
        show=show_command(key, number),
    )


def _cut(messages: Sequence[Message], hit: Hit, cutter: SnippetCutter) -> str | None:
    """The words around what was found; where nothing but filters was asked for, how the message begins."""
    found, place = hit.snippet, hit.message.place
    if found is None or place >= len(messages):
        return None
    if found.spans:
        return _cleaned(cutter.cut(messages[place], found, WIDTH))
    texts = (words.text.strip() for part in messages[place].parts for words in texts_of(part))
    begun = next(filter(None, texts), None)
    return None if begun is None else safe.line(begun[:WIDTH])


def _cleaned(snippet: Snippet | None) -> str | None:
    if snippet is None:
        return None
    before, after = "…" * snippet.is_cut_before, "…" * snippet.is_cut_after
    return f"{before}{safe.line(snippet.text).strip()}{after}"
