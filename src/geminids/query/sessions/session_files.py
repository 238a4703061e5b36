"""What belongs to a session: those that it led, files, and what others share with it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from geminids.core.agents.base import CompanionFile
from geminids.core.model import CompanionKind, Session, SessionSummary
from geminids.query.sessions.contents import summaries
from geminids.storage.codec.packed import unpacked
from geminids.storage.index import reader as rows
from geminids.storage.index.contents import shelves
from geminids.storage.index.database import Index
from geminids.storage.index.folders import folders_of_session


def paths_of(index: Index, session: Session | SessionSummary) -> list[str]:
    """The files of a session, of those that it led, and what lies beside them."""
    every = [session, *led_by(index, session.id)]
    files = [file.path for one in every for file in one.files]
    beside = [companion.path for one in every for companion in one.companions]
    return list(dict.fromkeys([*files, *beside]))


def led_by(index: Index, session_id: str) -> list[SessionSummary]:
    """The sessions that a session led, and those that they led."""
    led: list[SessionSummary] = []
    above = [session_id]
    known = {session_id}
    while above:
        found = rows.sessions(index, [rows.one_of("parent_id", above), rows.one_of("kind", ["subagent"])])
        new = [row for row in found if row.id not in known]
        led += summaries(index, new)
        above = [row.id for row in new]
        known.update(above)
    return led


def logs_beside(index: Index, summary: SessionSummary) -> list[str]:
    """The logs of typed lines in the folders of a session's project."""
    folders = tuple(folder + os.sep for folder in folders_of_session(index, summary.id))
    packed = (shelf.companions for shelf in shelves(index))
    beside = (file for companions in packed for file in unpacked(companions, tuple[CompanionFile, ...]))
    logs = (file.path for file in beside if file.kind is CompanionKind.PROMPT_LOG)
    return [path for path in logs if path.startswith(folders)]


def held_by_others(index: Index, paths: Iterable[str], own: Collection[str]) -> set[str]:
    """Which of some files also hold sessions that are not among these."""
    wanted = set(paths)
    neighbours = [row for row in rows.sharing_bundles(index, own) if row.id not in own]
    return {file.path for one in summaries(index, neighbours) for file in one.files if file.path in wanted}
