"""Outputs too long for a session: found where Claude Code put them, and put back into their calls.

    <session id>/tool-results/<any name>      the record holds the beginning, and says where the rest is

The path in a record was written by an agent and is data: its last piece is looked up in the folders of the
session's own outputs and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from geminids.agents.claude.homes import PROJECTS
from geminids.agents.claude.layout import SUBAGENTS
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import MovedOutput, Session, Text, ToolCall
from geminids.reading.outputs import Outputs

_FOLDER = "tool-results"
_MOVED = "<persisted-output>"
MARKS = (_MOVED.strip("<>"),)
"""Words that stand wherever an output was moved away."""
_MOVED_TO = lazy_pattern(r"saved to: ([^\n]+)")
_OWNED = lazy_pattern(r"[/\\]([\w-]+)[/\\]tool-results[/\\]([^/\\\n\0]+)$")


def with_outputs(session: Session, disk: Disk = REAL) -> Session:
    """The session with the whole text of every output that was moved out of it and still exists."""
    return _Outputs(session, disk).put_back(session)


def named_ids(session: Session) -> set[str]:
    """The ids of the sessions in whose folders the session's own records say that outputs were put."""
    calls = (call for message in session.messages for call in message.tool_calls)
    paths = (path for call in calls if (path := _written_path(call)))
    return {found[1] for path in paths if (found := _OWNED.search(path))}


class _Outputs(Outputs):
    def __init__(self, session: Session, disk: Disk) -> None:
        super().__init__(disk)
        self._folders = list(dict.fromkeys(_folders_of_outputs(session)))

    def moved(self, call: ToolCall) -> MovedOutput | None:
        """The file that a record names, if it lies among the session's own outputs."""
        owned = _OWNED.search(_written_path(call) or "")
        path = next(self._at(owned[2]), None) if owned else None
        return None if path is None else self._read(path)

    def _at(self, name: str) -> Iterator[str]:
        """A name in each folder of outputs, unless a link leads there."""
        for folder in self._folders:
            path = folder / name
            try:
                is_there = os.path.realpath(path) == os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
            except (OSError, ValueError):
                # A name that no file can have, or a ring of links: what a record names need not be there.
                continue
            if is_there and name not in (".", "..") and self._disk.is_there(path):
                yield str(path)


def _written_path(call: ToolCall) -> str | None:
    """Where the record says that the whole output is; None if it has all of it."""
    for part in call.result:
        if isinstance(part, Text) and part.text.startswith(_MOVED):
            found = _MOVED_TO.search(part.text)
            return found[1].strip() if found else None
    return None


def _folders_of_outputs(session: Session) -> Iterator[Path]:
    """The folders of its outputs, by where its files lie; a subagent shares those of its session."""
    for file in session.files:
        path = Path(file.path).absolute()
        above = [folder.name for folder in path.parents]
        if SUBAGENTS in above:
            folder = path.parents[above.index(SUBAGENTS) + 1]
        else:
            folder = path.parent / session.native_id.partition("#")[0]
        # What lies beside a session that was copied anywhere is private.
        if folder.parent.parent.name == PROJECTS:
            yield folder / _FOLDER
