"""What stands in the agent's files where a session was read, and what of it the session does not tell.

A session carries what all agents have in common. The rest of each native record, the hashes of its
bytes and the records of no message are the evidence: with it, nothing of what the agent wrote is lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from geminids.core.agents.records import Recorder
from geminids.core.model import Location, Message, Session
from geminids.sharing.records.natives import NativeFile, Natives
from geminids.sharing.records.others import others_in
from geminids.sharing.records.plain import recorder_of
from geminids.sharing.records.remnants import NOTHING, MessageFacts, differences, remnant


class FileEvidence(msgspec.Struct, frozen=True):
    """The bytes that a session was read from: unpacked, where the agent packs its files.

    The file may have grown since: these are its first `size` bytes.
    """

    path: str
    size: int
    sha256: str


class NativeEvidence(msgspec.Struct, frozen=True):
    """One native record, or a piece of one: where it stands, its hash, and what the session leaves of it."""

    source: Location
    sha256: str
    native: Any = None
    """Members that the session does not carry, nested as the agent nests them; None if nothing is left.

    Of another version of a record, a list of operations (JSON Patch) that make it of the one that is shown.
    """


class Evidence(msgspec.Struct, frozen=True):
    """What the files of one session say beside the session itself."""

    files: tuple[FileEvidence, ...]
    messages: tuple[tuple[NativeEvidence, ...], ...]
    """For each message, in order, its places: where it was read, then its later versions and copies."""
    others: tuple[NativeEvidence, ...]
    """Records of no message (headers, notes, snapshots), whole, in the order of the files."""
    agent_version: str | None = None
    """The release of the agent that wrote it, where it says so."""


def evidence_of(session: Session, natives: Natives) -> Evidence:
    """What the files of a session say beside the session. Places whose bytes are gone are left out."""
    files = natives.files.values()
    messages = tuple(_by_message(session, natives))
    by_file: dict[str, list[Location]] = {}
    for places in messages:
        for place in places:
            by_file.setdefault(place.source.file, []).append(place.source)
    others = tuple(
        NativeEvidence(source, file.hash_of(source), native)
        for file in files
        if file.is_own
        for source, native in others_in(session, file, by_file.get(file.path, ()))
    )
    return Evidence(
        tuple(FileEvidence(file.path, len(file.content), file.sha256) for file in files),
        messages,
        others,
        recorder_of(session.agent).release(session, natives, [place.native for place in others]),
    )


def _by_message(session: Session, natives: Natives) -> Iterator[tuple[NativeEvidence, ...]]:
    """The places of each message, with what is left there."""
    recorder = recorder_of(session.agent)
    remains = None if recorder.table is None else _Remains(session, recorder)
    for message in session.messages:
        found = [
            _Found(place, file, file.value_at(place))
            for place in message.places
            if (file := natives.file_of(place)) is not None
        ]
        left = remains.of(message, found) if remains else [one.value for one in found]
        yield tuple(
            NativeEvidence(one.source, one.file.hash_of(one.source), native)
            for one, native in zip(found, left, strict=True)
        )


class _Found(NamedTuple):
    """A record that a message is read from."""

    source: Location
    file: NativeFile
    value: Any


class _Remains:
    """What a session leaves of its records, asked for from the first message to the last.

    Several messages may be read from one record, as where an agent fuses turns. What none of them tells of it
    is kept with the first of them.
    """

    def __init__(self, session: Session, recorder: Recorder) -> None:
        self._session = session
        self._recorder = recorder
        self._together = _messages_together(session)
        self._done: set[Location] = set()

    def of(self, message: Message, found: Sequence[_Found]) -> list[Any]:
        """What is left of each record that a message is read from."""
        shown = _shown_versions(found, self._recorder) if len(found) > 1 else {}
        facts = MessageFacts(self._session, [message])
        return [self._native(one, shown.get(index), facts) for index, one in enumerate(found)]

    def _native(self, one: _Found, shown: Any, facts: MessageFacts) -> Any:
        together = self._together.get(one.source)
        if together is not None and one.source in self._done:
            return None
        self._done.add(one.source)
        if type(one.value) is not dict:
            return one.value
        try:
            if shown is not None:
                return differences(shown, one.value) or None
            facts = facts if together is None else MessageFacts(self._session, together)
            left = remnant(one.value, self._recorder.table, facts)
        except RecursionError:
            # Nested as deep as nobody does; then all of it is kept.
            return one.value
        return None if left is NOTHING else left


def _messages_together(session: Session) -> dict[Location, list[Message]]:
    """The messages that are read from one place, where they are several."""
    read: dict[Location, list[Message]] = {}
    for message in session.messages:
        for place in dict.fromkeys(message.places):
            read.setdefault(place, []).append(message)
    return {place: messages for place, messages in read.items() if len(messages) > 1}


def _shown_versions(found: Sequence[_Found], recorder: Recorder) -> dict[int, Any]:
    """For the places of versions that are not shown themselves, the version that is.

    The last one that was written for its own sake holds the most; a checkpoint only repeats.
    """
    versions: dict[str, list[int]] = {}
    for index, one in enumerate(found):
        same = recorder.identity(one.value) if type(one.value) is dict else None
        if same is not None:
            versions.setdefault(same, []).append(index)
    shown: dict[int, Any] = {}
    for indexes in versions.values():
        written = [index for index in indexes if not (found[index].source.pointer or "").startswith("/$set/")]
        last = written[-1] if written else indexes[0]
        shown |= {index: found[last].value for index in indexes if index != last}
    return shown
