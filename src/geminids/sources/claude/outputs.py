"""Outputs too long for a session: found where Claude Code put them, and put back into their calls.

    <session id>/tool-results/<any name>      the record holds the beginning, and says where the rest is

A list needs none of this, so it is done for sessions that are shown whole. The path in a record was written
by an agent and is data: its last piece is looked up in the folders of the session's own outputs and nowhere
else. Links are never followed, pipes never waited for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from geminids.model import Message, MovedOutput, Problem, ProblemKind, Session, Text, ToolCall
from geminids.sources.claude.homes import PROJECTS
from geminids.sources.claude.layout import SUBAGENTS
from geminids.sources.texts import LONGEST, bounded_text, unreadable

MOST = 128_000_000
"""Bytes of all outputs of one session."""

_FOLDER = "tool-results"
_MOVED = "<persisted-output>"
_MOVED_TO = re.compile(r"saved to: ([^\n]+)")
_OWNED = re.compile(r"[/\\]([\w-]+)[/\\]tool-results[/\\]([^/\\\n\0]+)$")


def with_outputs(session: Session) -> Session:
    """The session with the whole text of every output that was moved out of it and still exists."""
    outputs = _Outputs(session)
    messages = tuple(map(outputs.put_back, session.messages))
    if not outputs.count and not outputs.problems:
        return session
    problems = (*session.problems, *outputs.problems)
    return msgspec.structs.replace(session, messages=messages, problems=problems)


def named_ids(session: Session) -> set[str]:
    """The ids of the sessions in whose folders the session's own records say that outputs were put."""
    calls = (call for message in session.messages for call in message.tool_calls)
    paths = (path for call in calls if (path := _written_path(call)))
    return {found[1] for path in paths if (found := _OWNED.search(path))}


class _Outputs:
    """What was moved out of one session."""

    def __init__(self, session: Session) -> None:
        self._folders = list(dict.fromkeys(_folders_of_outputs(session)))
        self._left = MOST
        self.count = 0
        self.problems: list[Problem] = []

    def put_back(self, message: Message) -> Message:
        """The message with the whole outputs of its calls."""
        if not any(isinstance(part, ToolCall) and _written_path(part) for part in message.parts):
            return message
        parts = tuple(self._filled(part) if isinstance(part, ToolCall) else part for part in message.parts)
        return msgspec.structs.replace(message, parts=parts)

    def _filled(self, call: ToolCall) -> ToolCall:
        owned = _OWNED.search(_written_path(call) or "")
        path = next(self._at(owned[2]), None) if owned else None
        if path is None:
            return call
        self.count += 1
        return msgspec.structs.replace(call, full_output=self._read(path))

    def _at(self, name: str) -> Iterator[str]:
        """A name in each folder of outputs, unless a link leads there."""
        for folder in self._folders:
            path = folder / name
            try:
                is_there = os.path.realpath(path) == os.path.join(os.path.realpath(folder), name)  # noqa: PTH118
            except (OSError, ValueError):
                continue
            if is_there and name not in (".", "..") and os.path.lexists(path):
                yield str(path)

    def _read(self, path: str) -> MovedOutput:
        """What a file holds; no text where it cannot be read."""
        try:
            size = os.lstat(path).st_size
            if min(size, LONGEST) > self._left:
                problem = Problem(path, ProblemKind.LEFT_UNREAD, "more outputs than are read of one session")
                self.problems.append(problem)
                return MovedOutput(path, size, None)
            read = bounded_text(path)
        except OSError as error:
            self.problems.append(unreadable(path, error))
            return MovedOutput(path, 0, None)
        self._left -= min(read.size, LONGEST)
        return MovedOutput(path, read.size, read.text, read.left_out)


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
