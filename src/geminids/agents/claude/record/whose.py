"""Whose a record is in a file of Claude Code: of its session, or of a subagent that shares the file."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from geminids.core.agents.records import Belongs, NativeFile
from geminids.core.model import Session, SessionKind
from geminids.sharing.records.plain import always


def belonging(session: Session, file: NativeFile) -> Belongs:
    """Subagents of the first releases stand in the file of their session, marked as such."""
    if session.kind is not SessionKind.SUBAGENT:
        return lambda value: not _is_sidechain(value)
    path = PurePath(file.path)
    if path.name.startswith("agent-") or "subagents" in path.parts:
        return always
    records = (file.value_of(*span) for span in file.lines(0, len(file.content)))
    return _Chain(session, has_main=any(map(_is_of_main, records)))


def _is_sidechain(value: Any) -> bool:
    return type(value) is dict and value.get("isSidechain") is True


def _is_of_main(value: Any) -> bool:
    return type(value) is dict and "parentUuid" in value and not _is_sidechain(value)


class _Chain:
    """The records of one subagent among those of others: by its id, or by the root that they hang on."""

    def __init__(self, session: Session, *, has_main: bool) -> None:
        self._own = session.native_id.partition("#")[2]
        self._has_main = has_main
        self._chain_of: dict[Any, Any] = {}
        self._last: Any = None

    def __call__(self, value: Any) -> bool:
        if not _is_sidechain(value):
            return not self._has_main
        parent, uuid = value.get("parentUuid"), value.get("uuid")
        known = self._chain_of.get(parent) if isinstance(parent, str) else None
        begins = uuid if parent is None or self._last is None else self._last
        self._last = value.get("agentId") or known or begins
        if isinstance(uuid, str):
            self._chain_of[uuid] = self._last
        return bool(self._last == self._own)
