"""One session: what is known of it, the outline of its prompts, windows of its story, dropped branches."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from geminids.core.model import Message, Session
from geminids.faces.documents.base import harmless, harmless_all
from geminids.faces.documents.sessions import SessionLine
from geminids.faces.documents.tokens import dollars
from geminids.faces.documents.transcript import (
    Beside,
    Branch,
    Branches,
    NoteLine,
    Outline,
    OutlineLine,
    SessionFacts,
    Story,
    TurnEntry,
)
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.faces.serving.session_lines import session_lines
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint, Index, Number
from geminids.faces.web.errors import NoSuchMessageError, NoSuchPieceError
from geminids.faces.web.story import Names, StoryWindows
from geminids.faces.web.times import seconds_between
from geminids.query.usage.costs import Costing, Sums
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.entries import Speaker, Turn
from geminids.sharing.transcript.labels import kind_sentence
from geminids.sharing.transcript.outline import (
    DroppedBranch,
    PromptTurn,
    dropped_branches,
    kinds_of_prompts,
    prompt_turns,
)

Level = Literal["prompts", "conversation", "tools", "thoughts", "everything"]
MOST_CHILDREN = 1_000
MOST_LISTED = 200
"""Files, problems and the like that are named."""


class AskedAtLevel(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """In how much detail a session is told."""

    detail: Level = "conversation"


class AskedForOutline(AskedAtLevel, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which prompts."""

    start: Index = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=5000)] = 1000


class AskedForWindow(AskedAtLevel, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which entries of the story: from one on, or around a message."""

    start: Index = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50
    around: Number | None = None
    """The number of a message that is to stand in the middle; then `start` does not count."""


class AskedForMessage(AskedAtLevel, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which message."""

    number: Number


class AskedForBranch(AskedAtLevel, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which branch, and which of its messages."""

    index: Index
    start: Index = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=200)] = 50


def session(desk: Desk, asked: AskedAtLevel) -> SessionFacts:
    """What is known of a session, without its messages."""
    opened = desk.session(asked.id)
    found = opened.session
    said = desk.library.marks([opened.own.id]).get(opened.own.id)
    cost = desk.library.costing(found.models).total(opened.once(_sums))
    return SessionFacts(
        line=desk.hidden(_line(desk, opened)),
        native_id=found.native_id,
        summary=safe.text(found.summary) if found.summary else None,
        kind_sentence=safe.line(kind_sentence(found, found.parent_id)),
        branch=harmless(found.branch),
        models=harmless_all(found.models),
        usage=found.usage,
        cost=dollars(cost.amount),
        unpriced=cost.unpriced,
        messages=len(found.messages),
        entries={asked.detail: len(opened.story(asked.detail))},
        children=opened.once(_children)[:MOST_CHILDREN],
        files=found.files[:MOST_LISTED],
        beside=[
            Beside(kind=str(one.kind), path=safe.line(one.path), size=one.size)
            for one in found.companions[:MOST_LISTED]
        ],
        problems=found.problems[:MOST_LISTED],
        notes=[NoteLine(at=note.at, text=_noted(desk, note.text)) for note in (said.notes if said else ())],
        redacted=desk.redaction.describe(desk.library) if desk.is_redacted else None,
    )


def outline(desk: Desk, asked: AskedForOutline) -> Outline:
    """The prompts of a session, each with what came of it."""
    opened = desk.session(asked.id)
    places = opened.places(asked.detail)
    turns = opened.once(turns_led)
    prompts = [turn for turn in turns if turn.number in places]
    chosen = prompts[asked.start : asked.start + asked.count]
    return Outline(
        detail=asked.detail,
        total=len(prompts),
        kinds=kinds_of_prompts(turns, places),
        prompts=[_outline_line(turn, places[turn.number]) for turn in chosen],
    )


def messages(desk: Desk, asked: AskedForWindow) -> Story:
    """A window of the story of a session."""
    return window_of(desk, desk.session(asked.id), asked)


def window_of(desk: Desk, opened: OpenedSession, asked: AskedForWindow) -> Story:
    """The same of a session that was read."""
    start = asked.start if asked.around is None else _around(opened, asked, asked.around)
    return Story(
        id=opened.session.id,
        detail=asked.detail,
        start=start,
        total=len(opened.story(asked.detail)),
        entries=_windows(desk, opened, asked.detail).window(start, asked.count),
        stamp=opened.version,
    )


def message(desk: Desk, asked: AskedForMessage) -> TurnEntry:
    """One message at any level of detail, also where the story at that level leaves it out."""
    opened = desk.session(asked.id)
    turn = turn_of(opened, message_numbered(opened.session, asked.number), asked.detail)
    (entry,) = _windows(desk, opened, asked.detail).turns([turn])
    return entry


def branches(desk: Desk, asked: AskedOfSession) -> Branches:
    """What was taken out of the agent's view, and where it forked."""
    opened = desk.session(asked.id)
    return Branches(branches=[_branch_line(*numbered) for numbered in enumerate(opened.once(_dropped))])


def branch(desk: Desk, asked: AskedForBranch) -> Story:
    """The messages of a dropped branch, told as if they had stayed."""
    opened = desk.session(asked.id)
    found = opened.once(_dropped)
    if asked.index >= len(found):
        raise NoSuchPieceError("dropped branch")
    turns = [_whole(opened, one) for one in found[asked.index].messages if one.parts]
    return Story(
        id=opened.session.id,
        detail=asked.detail,
        start=asked.start,
        total=len(turns),
        entries=_windows(desk, opened, asked.detail).turns(turns[asked.start : asked.start + asked.count]),
        stamp=opened.version,
    )


ENDPOINTS = (
    Endpoint("/api/session", AskedAtLevel, SessionFacts, session, hides_itself=True),
    Endpoint("/api/session/outline", AskedForOutline, Outline, outline, hides_itself=True),
    Endpoint("/api/session/messages", AskedForWindow, Story, messages, hides_itself=True),
    Endpoint("/api/session/message", AskedForMessage, TurnEntry, message, hides_itself=True),
    Endpoint("/api/session/branches", AskedOfSession, Branches, branches, hides_itself=True),
    Endpoint("/api/session/branch", AskedForBranch, Story, branch, hides_itself=True),
)


def message_numbered(found: Session, number: int) -> Message:
    """The message of a number, from 1. Raises NoSuchMessageError."""
    if number > len(found.messages):
        raise NoSuchMessageError(number, len(found.messages))
    return found.messages[number - 1]


def turn_of(opened: OpenedSession, one: Message, level: str) -> Turn:
    """A message as a level of detail tells it; whole where that level leaves it out."""
    place = opened.places(level).get(opened.number_of(one))
    turn = opened.story(level)[place] if place is not None else None
    return turn if isinstance(turn, Turn) else _whole(opened, one)


def _windows(desk: Desk, opened: OpenedSession, level: str) -> StoryWindows:
    (key,) = desk.library.keys([opened.session])
    names = Names(key, desk.library.agent_title(opened.session.agent))
    costing = desk.library.costing(opened.session.models)
    return StoryWindows(opened, level, costing, names, desk.writer.piece, is_redacted=desk.is_redacted)


def _around(opened: OpenedSession, asked: AskedForWindow, number: int) -> int:
    """Where a window begins that has a message in its middle, or the next one that is told."""
    message_numbered(opened.session, number)
    places = opened.places(asked.detail)
    later = (places[n] for n in range(number, len(opened.session.messages) + 1) if n in places)
    total = len(opened.story(asked.detail))
    return max(0, min(next(later, total) - asked.count // 2, total - asked.count))


def _sums(opened: OpenedSession) -> Sums:
    return Costing.sums(opened.session.messages)


def _line(desk: Desk, opened: OpenedSession) -> SessionLine:
    """A session in a line: its words without secrets, and what it is known by as it is."""
    line, own = session_lines(desk.library, [opened.session, opened.own])
    project = msgspec.structs.replace(line.project, key=own.project.key)
    known_by = {name: getattr(own, name) for name in ("id", "parent_id", "name", "tags")}
    return msgspec.structs.replace(line, project=project, **known_by)


def _noted(desk: Desk, text: str) -> str:
    harmless_text = safe.text(text)
    return desk.redaction.text(desk.library, harmless_text) if desk.is_redacted else harmless_text


def _children(opened: OpenedSession) -> list[str]:
    called = (call.child_id for one in opened.session.messages for call in one.tool_calls)
    return list(dict.fromkeys(filter(None, called)))


# Prompts and what came of them, and what was dropped


def turns_led(opened: OpenedSession) -> list[PromptTurn]:
    """The prompts of a session with what followed each."""
    return prompt_turns(opened.session.messages)


def _outline_line(turn: PromptTurn, entry: int) -> OutlineLine:
    """A prompt in an outline; `entry` is its place in the story."""
    return OutlineLine(
        number=turn.number,
        entry=entry,
        text=turn.text,
        at=turn.prompt.at,
        state=turn.prompt.state,
        replies=len(turn.answers),
        calls=len(turn.calls),
        errors=turn.errors,
        tokens=turn.tokens,
        seconds=seconds_between(turn.prompt.at, turn.completed_at),
    )


def _dropped(opened: OpenedSession) -> list[DroppedBranch]:
    return dropped_branches(opened.session.messages)


def _branch_line(index: int, found: DroppedBranch) -> Branch:
    return Branch(
        index=index,
        state=found.messages[0].state,
        first=found.first,
        last=found.last,
        messages=len(found.messages),
        forked_after=found.forked_after,
        prompt=found.text,
        at=found.messages[0].at,
    )


def _whole(opened: OpenedSession, one: Message) -> Turn:
    """A message with all its parts, wherever the story leaves it out."""
    number = opened.number_of(one)
    place = opened.places("everything").get(number)
    turn = opened.story("everything")[place] if place is not None else None
    if isinstance(turn, Turn):
        return turn
    return Turn(Speaker.AGENT, one, one.parts, continues=False, place=number - 1)
