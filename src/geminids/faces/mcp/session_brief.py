"""`session_brief`: a session in brief, from its records."""

from __future__ import annotations

from collections import Counter

import msgspec

from geminids.faces.documents.recalled import HISTORY, BriefAnswer, BriefItem, CitedSession
from geminids.faces.mcp import told
from geminids.faces.mcp.asked import AskedOfSession
from geminids.faces.mcp.desk import Desk, show_command
from geminids.faces.mcp.pages import next_of, start_of
from geminids.faces.mcp.room import size, that_fit
from geminids.faces.serving.opened_sessions import OpenedSession
from geminids.sharing.transcript.brief import BriefLine, brief


def session_brief(desk: Desk, asked: AskedOfSession, room: int) -> BriefAnswer:
    """What was asked, changed and run in a session, and what was open at its end."""
    start = start_of(asked.after)
    opened = desk.session(asked.id)
    lines = opened.once(_lines)
    answer = _answer(desk, opened, lines)
    items = [_item(answer.session.id, line) for line in lines[start:]]
    number = max(1, that_fit(items, room - size(answer, told.brief(answer)), told.brief_item))
    following = next_of(start, number, len(lines))
    return msgspec.structs.replace(answer, items=items[:number], next=following)


def _lines(opened: OpenedSession) -> list[BriefLine]:
    return brief(opened.session)


def _answer(desk: Desk, opened: OpenedSession, lines: list[BriefLine]) -> BriefAnswer:
    """The answer without its items."""
    return BriefAnswer(
        note=HISTORY,
        session=desk.cited(CitedSession, desk.known(opened)),
        total=len(opened.session.messages),
        counts=dict(Counter(str(line.kind) for line in lines)),
        items=(),
    )


def _item(key: str, line: BriefLine) -> BriefItem:
    return BriefItem(
        kind=line.kind,
        message=line.number,
        at=line.at,
        text=line.text,
        show=show_command(key, line.number),
    )
