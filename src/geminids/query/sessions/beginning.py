"""The beginning of a large session, read without the rest of it.

The index knows which messages come first and where they stand. So the head of the log is read that holds
them, and each message is compared with its row. As long as all of a row is the same (its words, its calls,
its state, all places in the files that tell of it), the message is what reading everything would give. Where
one differs, something further on in the file changed it: there the beginning ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from io import BytesIO
from itertools import chain, repeat
from typing import NamedTuple

import msgspec

from geminids.core import agents
from geminids.core.agents.base import Bundle, Home
from geminids.core.agents.homes import disk_of
from geminids.core.model import Message, Session, SessionSummary, ToolKind
from geminids.core.names import storable
from geminids.query.projects.known_projects import projects_known
from geminids.query.sessions import ids
from geminids.query.sessions.assembly import assembled, copies_marked
from geminids.query.sessions.session_reader import SessionReader
from geminids.reading.bundles import EarlierDisk
from geminids.storage.codec.packed import unpacked
from geminids.storage.codec.rows import message_facts, own_titles
from geminids.storage.index import reader, search
from geminids.storage.index.beginnings import FirstMessage, KnownNumbers, first_messages, message_count
from geminids.storage.index.bundles import numbered_place
from geminids.storage.index.copies import copied_messages
from geminids.storage.index.database import Index
from geminids.storage.index.values import SessionRow, file_spans
from geminids.storage.index.writer import message_row

_LOG = ".jsonl"
"""How the names of files end of which a part can be read: a record a line, the later ones below."""


class Beginning(NamedTuple):
    """A session with its first messages."""

    session: Session
    """All that is known of it, but no more than the first messages."""
    messages: int
    """How many there are in all."""


class Beginnings:
    """The beginnings of the sessions of an index."""

    def __init__(self, index: Index, homes: Sequence[Home]) -> None:
        self._index = index
        self._homes = homes
        self._reader = SessionReader(index, homes)

    def of(self, wanted: str, most: int, large: int) -> Beginning | None:
        """At most so many messages of a session; None if it is not large, or its head does not tell them."""
        row = ids.pick(reader.sessions_called(self._index, wanted), wanted)
        if row is None:
            return None
        (packed,) = reader.summaries(self._index, [row.number])
        summary = unpacked(packed, SessionSummary)
        if sum(file.size for file in summary.files) < large:
            return None
        first = first_messages(self._index, row.number, most)
        bundle = self._cut(row, summary, first)
        if bundle is None:
            return None
        messages = self._same(row, summary, bundle, first)
        if not messages:
            return None
        facts = {name: getattr(summary, name) for name in SessionSummary.__struct_fields__}
        begun = Session(**facts, messages=messages)
        project, disk = projects_known(self._index)(begun.project), disk_of(self._homes, row.file or "")
        return Beginning(assembled(begun, project, disk), message_count(self._index, row.number))

    def _cut(self, row: SessionRow, summary: SessionSummary, first: Sequence[FirstMessage]) -> Bundle | None:
        """The files that hold the first messages, cut after these; None where that would not help."""
        ends = _ends(first, sum(file.size for file in summary.files) // 2)
        paths = search.file_paths(self._index, ends)
        if not ends or not all(path.endswith(_LOG) for path in paths.values()):
            return None
        place = numbered_place(self._index, row.number)
        bundle = self._reader.bundle(place) if place else None
        if bundle is None or not _is_as_it_was(bundle, summary):
            return None
        return _head(bundle, {paths[number]: end for number, end in ends.items()})

    def _same(
        self, row: SessionRow, summary: SessionSummary, bundle: Bundle, first: Sequence[FirstMessage]
    ) -> tuple[Message, ...]:
        """The messages that are read from a bundle as the index knows them, up to the first that is not."""
        read = agents.load(bundle.agent).read(bundle).sessions
        session = next((one for one in read if storable(one.id) == row.id), None)
        if session is None:
            return ()
        numbers, everything = KnownNumbers(self._index), reader.holds_every_word(self._index)
        folder = summary.project.path or ""
        copied = copied_messages(self._index, row.id, row.file)

        titles = chain([own_titles(summary, session.messages)], repeat(""))

        def same() -> Iterator[Message]:
            marked = copies_marked(session.messages, copied)
            for message, title, known in zip(marked, titles, first, strict=False):
                facts = message_facts(message, folder, title=title, everything=everything)
                made = message_row(facts, numbers)
                if made != known._replace(imported=bool(known.imported)) or _starts_an_agent(message):
                    return
                yield message

        return tuple(same())


def _ends(first: Sequence[FirstMessage], most: int) -> dict[int, int]:
    """Where the first messages end in which files; only as many count as stand in so many bytes."""
    ends: dict[int, int] = {}
    for message in first:
        further = dict(ends)
        for file, _, end in file_spans(message.spans):
            further[file] = max(end, further.get(file, 0))
        if sum(further.values()) > most:
            break
        ends = further
    return ends


def _starts_an_agent(message: Message) -> bool:
    """Whether a session may hang on a message, which only all files together tell."""
    return any(call.kind is ToolKind.AGENT for call in message.tool_calls)


def _is_as_it_was(bundle: Bundle, summary: SessionSummary) -> bool:
    """Whether the files of a session are as large as they were when they were taken in."""
    sizes = {str(file.path): file.size for file in bundle.files}
    return all(sizes.get(file.path) == file.size for file in summary.files)


def _head(bundle: Bundle, cuts: dict[str, int]) -> Bundle | None:
    """A bundle of nothing but the heads of some files; None if one of them cannot be read."""
    heads: dict[str, bytes] = {}
    for path, end in cuts.items():
        try:
            with bundle.disk.opened(path) as opened:
                heads[path] = opened.read(end) + b"\n"
        except OSError:
            return None
    return msgspec.structs.replace(
        bundle,
        files=tuple(file for file in bundle.files if str(file.path) in heads),
        disk=EarlierDisk(bundle.disk, {path: partial(BytesIO, head) for path, head in heads.items()}),
    )
