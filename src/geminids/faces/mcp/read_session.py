"""`read_session`: some messages of a session, from one on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from textwrap import dedent
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta

from geminids.core.model import Session
from geminids.faces.documents.recalled import HISTORY, CitedSession, ReadAnswer, ReadMessage
from geminids.faces.mcp import told
from geminids.faces.mcp.asked import AskedOfSession
from geminids.faces.mcp.desk import Desk, show_command
from geminids.faces.mcp.errors import BadPlaceError, NoSuchMessageError
from geminids.faces.mcp.room import size, that_fit
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.entries import LEVELS, Turn

Level = Literal["prompts", "conversation", "tools", "thoughts", "everything"]
SHARE = 4
"""A message among others takes at most such a part of an answer."""
AROUND = 400
"""Bytes of a message beside its words."""
_PLACE = re.compile(r"(?P<message>[1-9]\d{0,7})(?:\+(?P<skipped>\d{1,9}))?")


class AskedForWindow(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which messages, and how much of them."""

    from_message: Annotated[
        int,
        Meta(description="Number of the first message; -5 for the last five.", ge=-10_000_000, le=10_000_000),
    ] = 1
    messages: Annotated[int, Meta(description="Messages at most; one alone is told whole.", ge=1, le=200)] = (
        20
    )
    detail: Annotated[
        Level,
        Meta(description="Each tells more; tools: also their outputs."),
    ] = "conversation"


class _Place(NamedTuple):
    """Where a window begins."""

    message: int
    skipped: int = 0
    """Characters of that message that were told before."""

    def __str__(self) -> str:
        return f"{self.message}+{self.skipped}" if self.skipped else str(self.message)


def read_session(desk: Desk, asked: AskedForWindow, room: int) -> ReadAnswer:
    """A window of a session."""
    opened = desk.session(asked.id)
    place = _place(asked, len(opened.session.messages))
    turns = _turns_from(opened, asked.detail, place.message)
    told_turns = list(islice(turns, asked.messages))
    answer = _answer(desk, opened, asked)
    left = room - size(answer, told.read(answer))
    longest = max(200, left - AROUND if asked.messages == 1 else left // SHARE)
    (key,) = desk.library.keys([opened.own])
    texts = [_text(desk, opened.session, turn, asked.detail) for turn in told_turns]
    if texts and told_turns[0].place + 1 == place.message:
        texts[0] = texts[0][place.skipped :]
    messages = [_message(key, turn, text, longest) for turn, text in zip(told_turns, texts, strict=True)]
    number = max(1, that_fit(messages, left, told.read_message))
    rest = (turn.place + 1 for turn in (*told_turns[number:], *islice(turns, 1)))
    following = _following(messages[:number], next(rest, None), place, asked)
    return msgspec.structs.replace(answer, messages=messages[:number], next=following)


def _place(asked: AskedForWindow, messages: int) -> _Place:
    if asked.after:
        found = _PLACE.fullmatch(asked.after)
        if not found:
            raise BadPlaceError(asked.after)
        place = _Place(int(found["message"]), int(found["skipped"] or 0))
    else:
        first = asked.from_message
        place = _Place(max(1, messages + 1 + first) if first < 0 else max(1, first))
    if place.message > max(1, messages):
        raise NoSuchMessageError(place.message, messages)
    return place


def _following(
    shown: Sequence[ReadMessage], rest: int | None, first: _Place, asked: AskedForWindow
) -> str | None:
    """Where what follows begins: in the middle of a message that is told alone, else at the next one."""
    if asked.messages == 1 and shown and shown[0].left:
        skipped = first.skipped if shown[0].message == first.message else 0
        return str(_Place(shown[0].message, skipped + len(shown[0].text)))
    return None if rest is None else str(_Place(rest))


def _turns_from(opened: OpenedSession, level: str, number: int) -> Iterator[Turn]:
    places, story = opened.places(level), opened.story(level)
    messages = len(opened.session.messages)
    start = next((places[n] for n in range(number, messages + 1) if n in places), len(story))
    return (entry for entry in islice(story, start, None) if isinstance(entry, Turn))


def _answer(desk: Desk, opened: OpenedSession, asked: AskedForWindow) -> ReadAnswer:
    """The answer without its messages."""
    return ReadAnswer(
        note=HISTORY,
        session=desk.cited(CitedSession, desk.known(opened)),
        total=len(opened.session.messages),
        detail=asked.detail,
        messages=(),
    )


def _message(key: str, turn: Turn, text: str, longest: int) -> ReadMessage:
    """A message with as much of its words as there is room for."""
    shown = _beginning(text, longest)
    return ReadMessage(
        message=turn.place + 1,
        at=turn.message.at,
        who=turn.speaker,
        text=shown,
        left=len(text) - len(shown),
        show=show_command(key, turn.place + 1),
    )


def _text(desk: Desk, session: Session, turn: Turn, level: str) -> str:
    desk.go_on()
    return dedent(safe.text(desk.library.as_text(session, turn, LEVELS[level]))).strip("\n")


def _beginning(text: str, longest: int) -> str:
    """So much of a text as JSON and text of an answer have so many bytes for."""
    shown = text[:longest]
    while len(encoded := msgspec.json.encode(shown)) > longest:
        shown = shown[: max(1, len(shown) * longest // len(encoded) - 1)]
    return shown
