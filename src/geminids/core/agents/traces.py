"""Traces of sessions: what is needed to tell whether words that stand elsewhere are theirs.

They can be stored (with `msgspec.msgpack`) and compared with those that another process makes.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

import msgspec

from geminids.core.hashes import blake2b
from geminids.core.model import Message, Origin, Session, SessionKind, State, Text, ToolCall

_OF_HUMAN = frozenset({Origin.HUMAN, Origin.COMMAND, Origin.SHELL})
_OF_BOTH = _OF_HUMAN | {Origin.MODEL}

_LONG = 65_536
"""From here on, taking a text apart would cost more than reading it."""


class Said(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Words of the human or of the model, by their key, and what kind of message they stood in."""

    origin: Origin
    key: int
    at: datetime | None
    imported: bool = False
    """Taken over from another session."""


class Trace(msgspec.Struct, frozen=True, array_like=True):
    """A session in so little that the traces of all sessions of a project fit into memory."""

    id: str
    native_id: str
    kind: SessionKind
    started_at: datetime | None
    ended_at: datetime | None
    said: tuple[Said, ...]
    calls: frozenset[str]
    """The ids of its tool calls."""
    formats: frozenset[str] = frozenset()
    """How its files are written."""


def trace(session: Session, *, replies: bool = True) -> Trace:
    """The trace of a session; without replies, only of what the human said."""
    calls: set[str] = set()
    for message in session.messages if replies else ():
        if message.origin is Origin.MODEL:
            calls.update(p.call_id for p in message.parts if type(p) is ToolCall and p.call_id)
    said = [words for _, words in said_in(session, _OF_BOTH if replies else _OF_HUMAN)]
    return Trace(
        session.id,
        session.native_id,
        session.kind,
        session.started_at,
        session.ended_at,
        tuple(said),
        frozenset(calls),
        frozenset(file.format for file in session.files),
    )


def said_in(session: Session, wanted: frozenset[Origin] = _OF_HUMAN) -> Iterator[tuple[Message, Said]]:
    """The messages of a session that its files hold and in which somebody says something."""
    for message, texts in words_in(session, wanted):
        yield message, Said(message.origin, key("\n\n".join(texts)), message.at, message.imported)


def words_in(session: Session, wanted: frozenset[Origin] = _OF_HUMAN) -> Iterator[tuple[Message, list[str]]]:
    """The same messages, and what is said in them."""
    for message in session.messages:
        origin = message.origin
        if origin in wanted and message.state is not State.UNRECORDED:
            whose = origin if origin is Origin.MODEL else Origin.HUMAN
            texts = [p.text for p in message.parts if type(p) is Text and p.origin is whose]
            if texts:
                yield message, texts


def key(text: str) -> int:
    """What words are recognised by, however they are broken into lines; what is very long, as it stands.

    The same in every process, and no longer than SQLite can store.
    """
    words = " ".join(text.split()) if len(text) < _LONG else text.strip()
    digest = blake2b(words.encode(errors="surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
