"""A session as it opens: what a page shows first, in one answer.

A large one takes seconds to read. Until then its beginning is shown, which is read alone.
"""

from __future__ import annotations

import msgspec

from geminids.faces.documents.transcript import Opening
from geminids.faces.serving.opened_sessions import BegunSession
from geminids.faces.serving.session_lines import session_lines
from geminids.faces.web.endpoints import AskedOfSession, Desk, Endpoint
from geminids.faces.web.transcript import (
    AskedAtLevel,
    AskedForOutline,
    AskedForWindow,
    branches,
    outline,
    session,
    window_of,
)

FIRST_PROMPTS = 500
"""Of the outline."""


class AskedForOpening(AskedForWindow, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which window is shown first, and whether to wait for all of a large session."""

    whole: bool = False


def opening(desk: Desk, asked: AskedForOpening) -> Opening:
    """A session as it opens: its first window, and all else as soon as all of it is read."""
    # A secret may be known by what is said of it further on.
    may_begin = not (asked.whole or asked.around or desk.is_redacted)
    begun = desk.opened.begun(desk.library, asked.id) if may_begin else None
    if begun and begun.story(asked.detail):
        return _beginning(desk, asked, begun)
    return _whole(desk, asked)


ENDPOINTS = (Endpoint("/api/session/opening", AskedForOpening, Opening, opening, hides_itself=True),)


def _beginning(desk: Desk, asked: AskedForOpening, begun: BegunSession) -> Opening:
    (line,) = session_lines(desk.library, [begun.session])
    story = window_of(desk, begun, asked)
    return Opening(
        line=line,
        messages=begun.messages,
        story=msgspec.structs.replace(story, total=begun.likely_entries(asked.detail)),
        is_whole=False,
        facts=None,
        outline=None,
        branches=None,
    )


def _whole(desk: Desk, asked: AskedForOpening) -> Opening:
    story = window_of(desk, desk.session(asked.id), asked)
    facts = session(desk, AskedAtLevel(id=asked.id, detail=asked.detail))
    return Opening(
        line=facts.line,
        messages=facts.messages,
        story=story,
        is_whole=True,
        facts=facts,
        outline=outline(desk, AskedForOutline(id=asked.id, detail=asked.detail, count=FIRST_PROMPTS)),
        branches=branches(desk, AskedOfSession(id=asked.id)).branches,
    )
