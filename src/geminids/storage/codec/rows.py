"""Sessions as rows of the index. Names and files stand in them as they are; whoever writes gives numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice, repeat
from operator import attrgetter
from zlib import adler32, crc32

from geminids.core.agents.fates import Fate
from geminids.core.agents.traces import Trace, key, trace
from geminids.core.model import (
    FileChange,
    Location,
    Message,
    Session,
    SessionKind,
    SessionSummary,
    ToolCall,
    ToolStatus,
)
from geminids.core.model.summary import one_line, says_something, title_of
from geminids.core.names import storable
from geminids.storage.codec.estimates import estimates
from geminids.storage.codec.packed import packed, project_row, unpacked
from geminids.storage.codec.texts import words
from geminids.storage.index.schema import USAGE
from geminids.storage.index.values import MOST_SPANS
from geminids.storage.index.writer import (
    FateFacts,
    MessageFacts,
    SessionFacts,
    SessionRows,
)
from geminids.storage.text.words import indexed_together
from geminids.storage.times import microseconds

DONE = frozenset({ToolStatus.SUCCESS, ToolStatus.UNKNOWN})
"""How calls end whose changes count: what failed or was declined changed nothing."""
_used = attrgetter("requests", *USAGE)


class Traced:
    """How much the traces of the sessions of a shelf tell, in the order of their size."""

    NOT, PROMPTS, REPLIES = range(3)


def session_rows(session: Session, traced: int, *, everything: bool) -> SessionRows:
    """A session and its messages."""
    guessed = estimates(session)
    folder = session.project.path or ""
    titles = chain([own_titles(session, session.messages)], repeat(""))
    return SessionRows(
        _session_facts(session, traced),
        [
            message_facts(message, folder, guessed.get(message.id), title, everything=everything)
            for message, title in zip(session.messages, titles, strict=False)
        ],
    )


def own_titles(session: SessionSummary, messages: Sequence[Message]) -> str:
    """The title of a session, and the one that its agent made, as far as they are not what was typed first.

    They are indexed with the first message: nothing else in the session need have their words.
    """
    titles = [session.title]
    # Of a subagent it stands in its answer; of a lost session it is our own words.
    if session.kind is SessionKind.MAIN and one_line(session.summary or "") != session.title:
        titles.append(session.summary)
    return "\n".join(title for title in titles if title and title != title_of(None, messages))


def _session_facts(session: Session, traced: int) -> SessionFacts:
    counts = session.counts
    return SessionFacts(
        sid=session.id,
        agent=session.agent,
        native_id=session.native_id,
        kind=session.kind.value,
        parent_id=session.parent_id,
        project=project_row(session.project),
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
        kept=session.kept,
        folders=_other_folders(session),
        is_incomplete=session.is_incomplete,
        summary=packed(session.without_messages()),
        trace=_packed_trace(session, traced) if traced else None,
    )


def _other_folders(session: Session) -> str | None:
    """Return the folders of a session other than that of its project, as JSON."""
    others = [folder for folder in session.directories if folder != session.project.path]
    return json.dumps(others) if others else None


def message_facts(
    message: Message,
    folder: str,
    estimate: tuple[int, int] | None = None,
    title: str = "",
    *,
    everything: bool,
) -> MessageFacts:
    """A message of a session whose project is a folder; with a title that is to stand here."""
    texts = indexed_together(words(message, title, everything=everything))
    called = [part for part in message.parts if type(part) is ToolCall]
    calls = _calls(called) if called else ()
    changes = _changes(called, folder) if called else ()
    # By place and not by name, as there are so many.
    return MessageFacts(
        message.id,
        message.role.value,
        message.origin.value,
        message.state.value,
        message.imported,
        microseconds(message.at),
        message.model,
        says_something(message),
        _spans(message),
        _digest(texts, calls, changes),
        texts,
        calls,
        changes,
        _request(message) if message.usage is not None else None,
        estimate,
    )


def _calls(calls: Sequence[ToolCall]) -> list[tuple[str, str, int]]:
    if len(calls) == 1:
        (call,) = calls
        return [(_name(call.name), call.status.value, 1)]
    ends = [(_name(call.name), call.status.value) for call in calls]
    return [(*end, ends.count(end)) for end in dict.fromkeys(ends)]


def _changes(calls: Sequence[ToolCall], folder: str) -> list[tuple[str, str, int | None, int | None]]:
    lines: dict[tuple[str, str], tuple[int | None, int | None]] = {}
    for call in calls:
        if call.changes and call.status in DONE:
            for change in call.changes:
                path = os.path.join(folder, change.path)  # noqa: PTH118 - may be no path of ours
                where = path, _name(call.name)
                lines[where] = _plus(lines.get(where), lines_of_change(change))
    return [(*where, *changed) for where, changed in lines.items()]


_name = lru_cache(maxsize=1_024)(storable)
"""The name of a tool as it can be kept; there are few of them."""


def _spans(message: Message) -> list[tuple[str, str]]:
    if not message.also_at:
        return [_span(message.source)]
    last = islice(reversed(message.also_at), MOST_SPANS - 1)
    return list(map(_span, dict.fromkeys((message.source, *last))))


def _span(source: Location) -> tuple[str, str]:
    return source.file, f":{source.start}:{source.end}"


def fate_rows(fates: Iterable[Fate]) -> list[FateFacts]:
    """What an agent's own cleaning would see of files, as rows."""
    return [FateFacts(fate.file, microseconds(fate.last_used), " ".join(fate.traits)) for fate in fates]


def _packed_trace(session: Session, traced: int) -> bytes:
    return packed(trace(session, replies=traced == Traced.REPLIES), has_sets=True)


def traces(kept: Iterable[bytes]) -> list[Trace]:
    """Traces as the store kept them."""
    return [unpacked(one, Trace) for one in kept]


def _request(message: Message) -> tuple[int | None, ...]:
    """What a message used, as a row of `requests` tells it."""
    same = key(message.request_id) if message.request_id else None
    return same, *_used(message.usage)


def lines_of_change(change: FileChange) -> tuple[int | None, int | None]:
    """Lines added and removed, as they were counted or as the diff shows them."""
    if change.added is not None or change.removed is not None or not change.diff:
        return change.added, change.removed
    lines = [line[:3] for line in change.diff.split("\n")]
    added = sum(line.startswith("+") and line != "+++" for line in lines)
    return added, sum(line.startswith("-") and line != "---" for line in lines)


def _plus(
    one: tuple[int | None, int | None] | None, other: tuple[int | None, int | None]
) -> tuple[int | None, int | None]:
    """Two changes of a file as one; what nobody counted adds nothing."""
    if one is None:
        return other
    added, removed = (
        None if a is b is None else (a or 0) + (b or 0) for a, b in zip(one, other, strict=True)
    )
    return added, removed


def _digest(texts: Sequence[str], *hanging: Sequence[object]) -> bytes:
    joined = "\0".join(texts)
    if any(hanging):
        joined += repr(hanging)
    written = joined.encode("utf-8", "surrogatepass")
    # Only a message is compared with its own next version: two plain sums are enough, and take no time.
    return crc32(written).to_bytes(4) + adler32(written).to_bytes(4)
