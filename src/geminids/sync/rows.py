"""Sessions as rows of the index."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from zlib import adler32, crc32

from geminids.model import Message, Project, Session, Source, ToolCall
from geminids.sources.traces import Trace, trace
from geminids.store.times import microseconds
from geminids.store.words import indexed_together
from geminids.store.writing import (
    MessageFacts,
    SessionFacts,
    SessionRows,
    Writer,
)
from geminids.sync.packing import packed, project_row, unpacked
from geminids.sync.texts import words

_MOST_SPANS = 4
"""Versions and copies of a message whose places are kept: its first one, and the last."""


class Traced:
    """How much the traces of the sessions of a shelf tell, in the order of their size."""

    NOT, PROMPTS, REPLIES = range(3)


class Rows:
    """Makes rows of sessions, with the numbers that a writer gives."""

    def __init__(self, writer: Writer, *, everything: bool) -> None:
        self._writer = writer
        self._everything = everything
        self._projects: dict[Project, int] = {}

    def session(self, session: Session, traced: int) -> SessionRows:
        """A session and its messages."""
        return SessionRows(
            self._facts(session, traced), [self._message(message) for message in session.messages]
        )

    def project(self, project: Project) -> int:
        """The number of a project as its files tell it."""
        number = self._projects.get(project)
        if number is None:
            number = self._projects[project] = self._writer.project(project_row(project))
        return number

    def _facts(self, session: Session, traced: int) -> SessionFacts:
        counts = session.counts
        return SessionFacts(
            sid=session.id,
            agent=session.agent,
            native_id=session.native_id,
            kind=session.kind.value,
            parent_id=session.parent_id,
            project=self.project(session.project),
            title=session.title,
            status=session.status.value,
            started=microseconds(session.started_at),
            ended=microseconds(session.ended_at),
            last=microseconds(session.last_at),
            prompts=counts.prompts,
            replies=counts.replies,
            tool_calls=counts.tool_calls,
            tool_errors=counts.tool_errors,
            dropped=counts.dropped,
            file=session.file,
            problems=len(session.problems),
            summary=packed(session.without_messages()),
            trace=packed(trace(session, replies=traced == Traced.REPLIES)) if traced else None,
        )

    def _message(self, message: Message) -> MessageFacts:
        texts = indexed_together(words(message, everything=self._everything))
        calls = [self._call(part) for part in message.parts if isinstance(part, ToolCall)]
        # By place and not by name, as there are so many.
        return MessageFacts(
            message.id,
            message.role.value,
            message.origin.value,
            message.state.value,
            message.imported,
            microseconds(message.at),
            self._writer.name(message.model),
            self._spans(message),
            _digest(texts, calls),
            texts,
            calls,
        )

    def _call(self, call: ToolCall) -> tuple[int, str]:
        return self._writer.name(call.name) or 0, call.status.value

    def _spans(self, message: Message) -> str:
        if not message.also_at:
            return self._span(message.source)
        last = islice(reversed(message.also_at), _MOST_SPANS - 1)
        return " ".join(map(self._span, dict.fromkeys((message.source, *last))))

    def _span(self, source: Source) -> str:
        return f"{self._writer.file(source.file)}:{source.start}:{source.end}"


def traces(kept: Iterable[bytes]) -> list[Trace]:
    """Traces as the store kept them."""
    return [unpacked(one, Trace) for one in kept]


def _digest(texts: Sequence[str], calls: Sequence[tuple[int, str]]) -> bytes:
    told = "\0".join(texts)
    if calls:
        told += repr(calls)
    written = told.encode("utf-8", "surrogatepass")
    # Only a message is compared with its own next version: two plain sums are enough, and take no time.
    return crc32(written).to_bytes(4) + adler32(written).to_bytes(4)
