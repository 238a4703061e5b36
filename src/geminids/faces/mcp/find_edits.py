"""`find_edits`: which sessions changed a file."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from geminids.faces.documents.recalled import EditingSession, EditsAnswer, FileEdit
from geminids.faces.mcp import told
from geminids.faces.mcp.asked import MOST_WORDS, Asked
from geminids.faces.mcp.desk import Desk, show_command
from geminids.faces.mcp.pages import next_of, start_of
from geminids.faces.mcp.room import fitting, size
from geminids.query.sessions.edits import Edit
from geminids.query.sessions.edits import EditingSession as Found

MOST_PATHS = 10
"""Files that are named, where a piece of a path means several."""


class AskedForEdits(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which file."""

    file: Annotated[
        str, Meta(description="A path, or how it ends: src/app.py.", min_length=1, max_length=MOST_WORDS)
    ]
    sessions: Annotated[int, Meta(description="Sessions at most.", ge=1, le=50)] = 8
    edits: Annotated[int, Meta(description="Edits of each session at most, the last ones.", ge=1, le=50)] = 4
    with_own: Annotated[bool, Meta(description="Also list the session that asks.")] = False


def find_edits(desk: Desk, asked: AskedForEdits, room: int) -> EditsAnswer:
    """The sessions that changed a file."""
    start = start_of(asked.after)
    found = desk.library.edits_of(asked.file.removeprefix("./"), asked.sessions, start)
    answer = EditsAnswer(
        note="Paths and titles are quoted from sessions." if found.sessions else "No session changed it.",
        paths=found.paths[:MOST_PATHS],
        sessions=(),
        total=found.total,
    )
    kept = [
        (place, one)
        for place, one in enumerate(found.sessions, 1)
        if asked.with_own or not desk.is_asking(one.session)
    ]
    sessions = [_session(desk, one, asked.edits) for _, one in kept]
    left = room - size(answer, told.edits(answer))
    fit = fitting(sessions, left, told.editing_session, _with_less)
    passed = kept[len(fit) - 1][0] if len(fit) < len(kept) else len(found.sessions)
    return msgspec.structs.replace(answer, sessions=fit, next=next_of(start, passed, found.total))


def _with_less(session: EditingSession) -> EditingSession | None:
    """A session without the first of its edits; None if it has none."""
    if not session.edits:
        return None
    return msgspec.structs.replace(session, edits=session.edits[1:], left=session.left + 1)


def _session(desk: Desk, found: Found, most: int) -> EditingSession:
    session = desk.cited(EditingSession, found.session, edits=(), left=max(0, len(found.edits) - most))
    edits = [_edit(session.id, edit) for edit in found.edits[-most:]]
    return msgspec.structs.replace(session, edits=edits)


def _edit(key: str, edit: Edit) -> FileEdit:
    return FileEdit(
        message=edit.number,
        at=edit.at,
        path=edit.path,
        tool=edit.tool,
        added=edit.added,
        removed=edit.removed,
        show=show_command(key, edit.number),
    )
