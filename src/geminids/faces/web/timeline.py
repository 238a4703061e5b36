"""Inside one session: what happened when, how the context filled."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from typing import Annotated

import msgspec

from geminids.core.model import Message, ToolCall
from geminids.faces.documents.base import harmless
from geminids.faces.documents.timeline import (
    ContextFill,
    ContextMark,
    ContextPoint,
    Timeline,
    TimelineCall,
    TimelineTurn,
)
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint, Index
from geminids.faces.web.times import seconds_between
from geminids.faces.web.transcript import turns_led
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.call_summary import main_argument
from geminids.sharing.transcript.labels import call_outcome
from geminids.sharing.transcript.limits import LONGEST_ARGUMENT, cut
from geminids.sharing.transcript.outline import PromptTurn, left_context

MOST_POINTS = 2_000
MOST_CALLS = 200
"""Calls of a turn on the time line."""


class AskedForTimeline(AskedOfSession, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which turns."""

    start: Index = 0
    count: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 300


def timeline(desk: Desk, asked: AskedForTimeline) -> Timeline:
    """Turns and calls of a session with their beginnings and ends."""
    opened = desk.session(asked.id)
    led = turns_led(opened)
    chosen = range(asked.start, min(len(led), asked.start + asked.count))
    session = opened.session
    return Timeline(
        id=session.id,
        title=harmless(session.title),
        agent=session.agent,
        project=harmless(session.project.name),
        total=len(led),
        turns=[_turn(opened, led[at], led[at + 1] if at + 1 < len(led) else None) for at in chosen],
    )


def context(desk: Desk, asked: AskedOfSession) -> ContextFill:
    """How the context of a session filled, and where something was taken out of it."""
    opened = desk.session(asked.id)
    points = list(_points(opened))
    step = -(-len(points) // MOST_POINTS) or 1
    marks = list(_marks(opened, points))
    models = {point.model for point in points if point.model}
    known = desk.library.context_windows(models).items()
    return ContextFill(
        windows={model: window for model, window in known if window is not None},
        total=len(points),
        points=points[::step],
        marks=marks[:MOST_POINTS],
    )


ENDPOINTS = (
    Endpoint("/api/session/timeline", AskedForTimeline, Timeline, timeline, hides_itself=True),
    Endpoint("/api/session/context", AskedOfSession, ContextFill, context, hides_itself=True),
)


# Time


def _turn(opened: OpenedSession, led: PromptTurn, following: PromptTurn | None) -> TimelineTurn:
    begin, end = led.prompt.at, led.completed_at or led.prompt.at
    return TimelineTurn(
        number=led.number,
        text=led.text,
        start=begin,
        end=end,
        idle=seconds_between(end, following.prompt.at) if following else None,
        tokens=led.tokens,
        calls=[_call(opened, one, call) for one in led.answers for call in one.tool_calls][:MOST_CALLS],
    )


def _call(opened: OpenedSession, message: Message, call: ToolCall) -> TimelineCall:
    argument = main_argument(call, opened.session.project.path)
    return TimelineCall(
        number=opened.number_of(message),
        name=safe.line(call.name),
        kind=call.kind,
        status=call_outcome(call),
        start=message.at,
        end=call.at,
        argument=cut(safe.line(argument), LONGEST_ARGUMENT),
    )


# Context


def _points(opened: OpenedSession) -> Iterator[ContextPoint]:
    for number, message in enumerate(opened.session.messages, 1):
        usage = message.usage
        if usage is not None and usage.input is not None and not message.imported:
            yield ContextPoint(
                number=number,
                at=message.at,
                model=safe.line(message.model) if message.model else None,
                tokens=usage.input,
                cached=usage.cached,
                output=usage.output,
            )


def _marks(opened: OpenedSession, points: list[ContextPoint]) -> Iterator[ContextMark]:
    """The last message of each run that left the view at once."""
    messages = opened.session.messages
    for numbers in left_context(messages):
        last = numbers[-1]
        following = bisect_right(points, last, key=lambda point: point.number)
        yield ContextMark(
            number=last,
            state=messages[last - 1].state,
            messages=len(numbers),
            before=points[following - 1].tokens if following else None,
            after=points[following].tokens if following < len(points) else None,
        )
