"""What every piece of a session's page needs to know, and the boxes that they are put in."""

from __future__ import annotations

from datetime import UTC, datetime

import msgspec

from geminids.core.model import Session
from geminids.sharing.export.html.markup import NOTHING, Markup, filled
from geminids.sharing.transcript.entries import Detail


class PageFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A session, and how its page tells it."""

    session: Session
    detail: Detail
    agent_title: str
    numbers: dict[int, int]
    """The place of each message, from 1, by its identity: two messages may be equal."""
    most_tokens: int
    """Of the turn that used most; the bars of all others are measured by it."""


def fold(kind: str, summary: Markup, inside: Markup, *, is_open: bool = False) -> Markup:
    """Something that is shown on request."""
    return filled(
        '<details class="{}"{}><summary>{}</summary>{}</details>\n',
        Markup(kind),
        Markup(" open") if is_open else NOTHING,
        summary,
        inside,
    )


def box(inside: Markup, kind: str = "output") -> Markup:
    """Words with their lines and blanks."""
    # A line feed right after the tag is not shown, so that one that was written would be lost.
    return filled('<pre class="{}">\n{}</pre>\n', Markup(kind), inside)


def time(at: datetime, shown: str) -> Markup:
    """A moment, shown in some words."""
    stamp = at.astimezone(UTC).isoformat(timespec="seconds")[:19]
    return filled('<time datetime="{}Z">{}</time>', Markup(stamp), Markup(shown))
