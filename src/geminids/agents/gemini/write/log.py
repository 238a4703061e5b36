"""The records of a session file: what the agent sees now, and what it dropped, in one log.

A dropped message stands where it stood, and behind it the record that took it away, as the agent writes it:

    rewound       $rewindTo
    failed        a list ($set.messages) without it, while it is the last
    cancelled     the same, behind the notice that says so
    compressed    a list that begins with the summary
    superseded    a list behind another header, as when a session is begun again

What no record takes away for the right reason is left out: the agent would see it again, or a reader would
tell it wrongly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from geminids.agents.gemini.phrases import (
    REQUEST_CANCELLED,
    SESSION_CONTEXT,
    STATE_SNAPSHOT,
    SUMMARY_RECEIVED,
)
from geminids.agents.gemini.write.messages import MessageWriter
from geminids.core.model import Level, Message, Origin, Role, Session, SessionKind, State, Text

Record = dict[str, Any]


class _List(NamedTuple):
    """The agent's list as a whole, and the messages in it that stand nowhere else."""

    messages: list[Record]
    born: frozenset[str]


class Log:
    """Writes the records of one session, of which all messages can be told."""

    def __init__(self, session: Session, header: Record) -> None:
        self._messages = session.messages
        self._header = header
        self._writer = MessageWriter(self._messages, of_subagent=session.kind is SessionKind.SUBAGENT)
        self._records: list[Record | _List] = [header]
        self._seen_by_agent: dict[str, Record] = {}
        self._compressed: set[str] = set()
        """What the agent sees until the next summary."""
        self._cancelled: set[str] = set()
        """What the agent sees until the human is told that it was cancelled."""

    def records(self) -> Iterator[Record]:
        """All records in order. Only the last list is what the agent loads: others name their messages."""
        index = 0
        while index < len(self._messages):
            index = self._write_from(index)
        lists = [index for index, record in enumerate(self._records) if isinstance(record, _List)]
        for index, record in enumerate(self._records):
            if isinstance(record, _List):
                yield _as_record(record, whole=index == lists[-1])
            else:
                yield record

    def _write_from(self, index: int) -> int:
        """Write the messages from here on that belong together; tells where they end."""
        message = self._messages[index]
        if _stands_for_others(message):
            return self._compress(index)
        if message.state is State.CURRENT:
            self._put(message)
            if self._cancelled and _says_cancelled(message):
                self._drop(self._cancelled)
                self._cancelled = set()
            return index + 1
        end = _end_of_state(self._messages, index)
        ids = [self._put(dropped) for dropped in self._messages[index:end]]
        match message.state:
            case State.COMPRESSED:
                self._compressed.update(ids)
            case State.CANCELLED:
                self._cancelled.update(ids)
            case State.REWOUND:
                self._records.append({"$rewindTo": ids[0]})
                self._forget(ids)
            case State.SUPERSEDED:
                self._records.append(self._header)
                self._drop(ids)
            case State.FAILED:
                self._drop(ids)
        return end

    def _put(self, message: Message) -> str:
        """Write a message at the end of the agent's list; tells its id."""
        record = self._writer.record(message)
        self._records.append(record)
        self._seen_by_agent[record["id"]] = record
        return str(record["id"])

    def _forget(self, ids: Collection[str]) -> None:
        for dropped in ids:
            del self._seen_by_agent[dropped]

    def _drop(self, ids: Collection[str]) -> None:
        """Take messages out of the agent's list by writing it without them."""
        self._forget(ids)
        self._restate(list(self._seen_by_agent.values()))

    def _restate(self, messages: list[Record], born: Sequence[Record] = ()) -> None:
        """Write the agent's list as a whole. The id before it says that no history is written anew here."""
        if self._records[-1] is not self._header:
            self._records.append({"$set": {"sessionId": self._header["sessionId"]}})
        self._records.append(_List(messages, frozenset(record["id"] for record in born)))
        self._seen_by_agent = {record["id"]: record for record in messages}

    def _compress(self, index: int) -> int:
        """Write a summary, and the thanks for it: they stand before all that the agent still sees."""
        end = index + 2 if _is_thanks(self._messages[index + 1 : index + 2]) else index + 1
        summary = [self._writer.record(message) for message in self._messages[index:end]]
        seen = list(self._seen_by_agent.values())
        opening = list(takewhile(_is_context, seen))
        later = [record for record in seen[len(opening) :] if record["id"] not in self._compressed]
        opening = [record for record in opening if record["id"] not in self._compressed]
        self._restate([*opening, *summary, *later], born=summary)
        states = (message.state for message in self._messages[index:end])
        written = zip(summary, states, strict=True)
        self._compressed = {record["id"] for record, state in written if state is State.COMPRESSED}
        return end


def _as_record(stated: _List, *, whole: bool) -> Record:
    messages = [
        message if whole or message["id"] in stated.born else {"id": message["id"]}
        for message in stated.messages
    ]
    return {"$set": {"messages": messages}}


def writable_messages(messages: Sequence[Message]) -> Iterator[Message]:
    """The messages that a record takes away for the right reason, if anything did."""
    summaries = (i for i, m in enumerate(messages) if m.state is State.CURRENT and _stands_for_others(m))
    cancels = (i for i, m in enumerate(messages) if m.state is State.CURRENT and _says_cancelled(m))
    last_summary, last_cancel = max(summaries, default=-1), max(cancels, default=-1)
    for index, message in enumerate(messages):
        match message.state:
            case State.UNRECORDED:
                # What the agent never recorded, or holds no more, is none of what it loads.
                is_written = False
            case State.CURRENT | State.REWOUND:
                is_written = True
            case _ if message.role is Role.SYSTEM:
                # Notices are not in the agent's lists, so no list takes one away.
                is_written = False
            case State.COMPRESSED:
                is_written = index < last_summary
            case State.CANCELLED:
                is_written = index < last_cancel
            case State.FAILED | State.SUPERSEDED:
                is_written = True
        if is_written:
            yield message


def _end_of_state(messages: Sequence[Message], index: int) -> int:
    """Where the messages end that were dropped together with this one."""
    end = index + 1
    while end < len(messages) and _is_dropped_with(messages[end], messages[index]):
        end += 1
    return end


def _is_dropped_with(message: Message, other: Message) -> bool:
    return message.state is other.state and not _stands_for_others(message)


def _says_cancelled(message: Message) -> bool:
    return message.level in (Level.INFO, None) and message.parts == (Text(REQUEST_CANCELLED, Origin.NOTICE),)


def _stands_for_others(message: Message) -> bool:
    """Whether a message is the summary of a history that was compressed, and was not taken back itself."""
    is_seen = message.state in (State.CURRENT, State.COMPRESSED)
    match message.parts:
        case (Text(text=text), *_) if is_seen and message.role is Role.USER:
            return text.lstrip().startswith(STATE_SNAPSHOT)
        case _:
            return False


def _is_thanks(messages: Sequence[Message]) -> bool:
    match messages:
        case [Message(role=Role.ASSISTANT, model=None, state=state, parts=(Text(text=text),))]:
            return text == SUMMARY_RECEIVED and state in (State.CURRENT, State.COMPRESSED)
        case _:
            return False


def _is_context(record: Record) -> bool:
    """Whether a record is the agent's own opening."""
    match record:
        case {"type": "user", "content": [{"text": str(text)}, *_]}:
            return text.lstrip().startswith(SESSION_CONTEXT)
        case _:
            return False
