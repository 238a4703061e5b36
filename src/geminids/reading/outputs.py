"""Outputs too long for a session: read where the agent moved them, and put back into their calls.

A list needs none of this, so it is done for sessions that are shown whole. Links are never followed, pipes
never waited for, and of all outputs of one session only so much is read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import msgspec

from geminids.core.disk import Disk
from geminids.core.model import AnyPart, Message, MovedOutput, Problem, ProblemKind, Session, ToolCall
from geminids.reading.texts import LONGEST, bounded_text, unreadable

MOST = 128_000_000
"""Bytes of all outputs of one session."""


class Outputs(ABC):
    """What was moved out of one session. Which file belongs to a call, the reader of the agent says."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._left = MOST
        self._count = 0
        self._problems: list[Problem] = []

    @abstractmethod
    def moved(self, call: ToolCall) -> MovedOutput | None:
        """The output of a call that was moved and still exists."""

    def put_back(self, session: Session) -> Session:
        """The session with the whole text of every output that was moved out of it and still exists."""
        messages = tuple(map(self._filled, session.messages))
        if not self._count:
            return session
        problems = (*session.problems, *self._problems)
        return msgspec.structs.replace(session, messages=messages, problems=problems)

    def _filled(self, message: Message) -> Message:
        before = self._count
        parts = tuple(map(self._whole, message.parts))
        return message if self._count == before else msgspec.structs.replace(message, parts=parts)

    def _whole(self, part: AnyPart) -> AnyPart:
        moved = self.moved(part) if isinstance(part, ToolCall) else None
        if moved is None:
            return part
        self._count += 1
        return msgspec.structs.replace(part, full_output=moved)

    def _read(self, path: str) -> MovedOutput:
        """What a file holds; no text where it cannot be read."""
        try:
            size = self._disk.facts(path).st_size
            if min(size, LONGEST) > self._left:
                problem = Problem(path, ProblemKind.LEFT_UNREAD, "more outputs than are read of one session")
                self._problems.append(problem)
                return MovedOutput(path, size, None)
            read = bounded_text(path, self._disk)
        except OSError as error:
            self._problems.append(unreadable(path, error))
            return MovedOutput(path, 0, None)
        self._left -= min(read.size, LONGEST)
        return MovedOutput(path, read.size, read.text, read.left_out)
