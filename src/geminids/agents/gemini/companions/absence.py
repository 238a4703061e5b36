"""Why a session that a log tells of is not among those that were read.

That it is gone may be said only where everything was read. A file named after it may be there and be
closed, empty, damaged, a link or renamed; a folder may be closed; and after `/clear`, where the log does
not tell the new name, any file that was not read may be the one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from geminids.agents.gemini.file_names import ID_START
from geminids.core.agents.base import Companions
from geminids.core.agents.traces import Trace
from geminids.core.disk import Disk
from geminids.reading.scanner import LINK, NO_SESSION

FILE_CLOSED = "its file is there, but cannot be read"
FILE_EMPTY = "its file is there, but is empty"
FILE_DAMAGED = "its file is there, but nothing in it can be read"
FILE_IS_LINK = "its file is a link, and links are not followed"
FILE_RENAMED = "a file named after it is there, but not named as sessions are, and is not read"
FILE_OF_OTHER = "a file named after it is there, but does not hold it"
NOT_ALL_LISTED = "no file of it was found, but part of the folder could not be read"
NOT_ALL_READ = "no file of it was found, but it may be in one of those that could not be read"

_LEFT_ALONE = {LINK: FILE_IS_LINK, NO_SESSION: FILE_RENAMED}
_MAY_HOLD_ANY = frozenset({FILE_CLOSED, FILE_IS_LINK})
"""Files that may hold another session than their names say, as where one was resumed."""
_PEEK = 65_536


class Absence:
    """What stands in the way of saying that a session of a project is gone."""

    def __init__(self, beside: Companions, traces: Iterable[Trace]) -> None:
        self._beside = beside
        self._read = {trace.native_id[:ID_START] for trace in traces}

    def of_named(self, native_id: str) -> str | None:
        """Why a session of this id was not read; None if it is gone."""
        own = self._trouble_with(native_id[:ID_START]) or self._trouble_with(native_id)
        return own or self._unlisted() or self._unread(_MAY_HOLD_ANY)

    def of_unnamed(self) -> str | None:
        """Why a session whose id is not known may be there all the same; None if it is gone."""
        return self._unlisted() or self._unread(self._troubles - {FILE_OF_OTHER})

    def _unlisted(self) -> str | None:
        return None if self._beside.complete else NOT_ALL_LISTED

    def _unread(self, telling: frozenset[str]) -> str | None:
        return None if self._troubles.isdisjoint(telling) else NOT_ALL_READ

    @cached_property
    def _troubles(self) -> frozenset[str]:
        """What is the matter with all the files from which no session came."""
        starts = self._beside.session_files.keys() | self._beside.left_alone.keys()
        troubles = (self._trouble_with(start) for start in starts if start[:ID_START] not in self._read)
        return frozenset(filter(None, troubles))

    def _trouble_with(self, start: str) -> str | None:
        """What is the matter with the files of a session that was not read; None if there are none."""
        for file in self._beside.session_files.get(start, ()):
            # Those of subagents lie in a folder of their own, and are not the session's.
            if file.path.parent.name == "chats":
                return _trouble(file.path, self._beside.disk)
        left_alone = self._beside.left_alone.get(start)
        return _LEFT_ALONE.get(left_alone, FILE_CLOSED) if left_alone else None


def _trouble(path: Path, disk: Disk) -> str:
    """What is the matter with a file from which no session came."""
    try:
        with disk.opened(path) as opened:
            beginning = opened.read(_PEEK)
    except OSError:
        return FILE_CLOSED
    if not beginning.strip():
        return FILE_EMPTY
    return FILE_OF_OTHER if b"{" in beginning else FILE_DAMAGED
