"""Whose a record is in a file of Gemini CLI, which subagents and other sessions may share."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from geminids.core.agents.records import Belongs, NativeFile
from geminids.core.model import Session, SessionKind
from geminids.sharing.records.plain import never


def belonging(session: Session, file: NativeFile) -> Belongs:
    """How records of other sessions in a file are known."""
    if session.kind is SessionKind.LOST:
        return lambda value: type(value) is not dict or value.get("sessionId") in (None, session.native_id)
    if session.kind is SessionKind.SUBAGENT and _is_inside_parent(session, file):
        return never
    has_inner = any(
        call.child_id == f"{session.id}#{call.call_id}"
        for message in session.messages
        for call in message.tool_calls
    )
    return _Segment(session, is_shared=_names_several(file), has_inner=has_inner)


def _is_inside_parent(session: Session, file: NativeFile) -> bool:
    """Whether the turns of a subagent stand among those of its parent, which all else in the file is of."""
    _, mark, own = session.native_id.partition("#")
    return bool(mark) and own != PurePath(file.path).name.split(".", 1)[0]


def _names_several(file: NativeFile) -> bool:
    """Whether headers of several sessions stand in a log."""
    if file.is_document:
        return False
    values = (file.value_of(*span) for span in file.lines(0, len(file.content)))
    return len({named for value in values if (named := _named(value))}) > 1


def _named(value: Any) -> str | None:
    """The session that a header names."""
    named = value.get("sessionId") if type(value) is dict and "id" not in value else None
    return named if isinstance(named, str) else None


class _Segment:
    """The records of one session in a file that may hold several, and turns of subagents."""

    def __init__(self, session: Session, *, is_shared: bool, has_inner: bool) -> None:
        self._own = session.native_id.partition("#")[0]
        self._is_shared = is_shared
        self._has_inner = has_inner
        self._current: str | None = None
        self._begun: set[str] = set()

    def __call__(self, value: Any) -> bool:
        if type(value) is not dict:
            return True
        if self._is_shared:
            self._follow(value)
            if self._current not in (None, self._own):
                return False
        is_turn = isinstance(value.get("id"), str) and isinstance(value.get("type"), str)
        # What no place names are the turns of subagents, if there are any.
        return not (is_turn and self._has_inner)

    def _follow(self, value: dict[str, Any]) -> None:
        if named := _named(value):
            self._current = named
            self._begun.add(named)
            return
        changes = value.get("$set")
        restated = changes.get("sessionId") if type(changes) is dict else None
        if isinstance(restated, str) and restated in self._begun:
            self._current = restated
