"""The beginning of a large session, or some messages in its midst, read without the rest of it.

The index knows which messages come first and where they stand. So the head of the log is read that holds
them, and each message is compared with its row. As long as all of a row is the same (its words, its calls,
its state, all places in the files that tell of it), the message is what reading everything would give. Where
one differs, something further on in the file changed it: there the beginning ends.

Messages in the midst are read the same way, from nothing but their own records and those that begin the log.
What stands between is blank then, so that everything keeps its bytes; only numbers of lines are others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from itertools import chain, repeat
from typing import BinaryIO, NamedTuple

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

_LARGEST = 200_000_000
"""Bytes of a log of which a part in its midst is read: as many are in memory, most of them blank."""
_BLANK_LINE = 1 << 20
_LOG = ".jsonl"
"""How the names of files end of which a part can be read: a record a line, the later ones below."""


Pieces = Mapping[int, Sequence[tuple[int, int]]]
"""Files by their numbers, and from where to where something stands in each."""


class Beginning(NamedTuple):
    """A session with its first messages, or some in its midst."""

    session: Session
    """All that is known of it, but no more than these messages."""
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
        if (found := self._large(wanted, large)) is None:
            return None
        row, summary = found
        first = first_messages(self._index, row.number, most)
        ends = _ends(first, sum(file.size for file in summary.files) // 2)
        bundle = self._with_pieces(row, summary, {file: [(0, end)] for file, end in ends.items()})
        messages = self._same(row, summary, bundle, first) if bundle else ()
        return self._made(row, summary, messages)

    def in_midst(self, wanted: str, first: int, most: int, large: int) -> Beginning | None:
        """At most so many messages of a session from one on, by its number; None as above.

        The numbers of lines in their places are not those of the file.
        """
        if (found := self._large(wanted, large)) is None:
            return None
        row, summary = found
        known = first_messages(self._index, row.number, most, first - 1)
        if not known or max(file.size for file in summary.files) > _LARGEST:
            return None
        pieces = _pieces(first_messages(self._index, row.number, 1), known)
        bundle = self._with_pieces(row, summary, pieces)
        messages = self._same(row, summary, bundle, known, is_begun=False) if bundle else ()
        return self._made(row, summary, messages)

    def _large(self, wanted: str, large: int) -> tuple[SessionRow, SessionSummary] | None:
        """The session that is meant, if it is large."""
        row = ids.pick(reader.sessions_meant(self._index, wanted), wanted)
        if row is None:
            return None
        (packed,) = reader.summaries(self._index, [row.number])
        summary = unpacked(packed, SessionSummary)
        return (row, summary) if sum(file.size for file in summary.files) >= large else None

    def _made(
        self, row: SessionRow, summary: SessionSummary, messages: tuple[Message, ...]
    ) -> Beginning | None:
        """The session with these messages alone; None without any."""
        if not messages:
            return None
        facts = {name: getattr(summary, name) for name in SessionSummary.__struct_fields__}
        begun = Session(**facts, messages=messages)
        project, disk = projects_known(self._index)(begun.project), disk_of(self._homes, row.file or "")
        return Beginning(assembled(begun, project, disk), message_count(self._index, row.number))

    def _with_pieces(self, row: SessionRow, summary: SessionSummary, pieces: Pieces) -> Bundle | None:
        """The files that hold some messages, with only these pieces; None where that would not help."""
        paths = search.file_paths(self._index, pieces)
        if not pieces or not all(path.endswith(_LOG) for path in paths.values()):
            return None
        place = numbered_place(self._index, row.number)
        bundle = self._reader.bundle(place) if place else None
        if bundle is None or not _is_as_it_was(bundle, summary):
            return None
        return _in_pieces(bundle, {paths[number]: spans for number, spans in pieces.items()})

    def _same(
        self,
        row: SessionRow,
        summary: SessionSummary,
        bundle: Bundle,
        first: Sequence[FirstMessage],
        *,
        is_begun: bool = True,
    ) -> tuple[Message, ...]:
        """The messages that are read from a bundle as the index knows them, up to the first that is not.

        Unless it `is_begun` with the first of them, others may be read before.
        """
        read = agents.load(bundle.agent).read(bundle).sessions
        session = next((one for one in read if storable(one.id) == row.id), None)
        if session is None:
            return ()
        numbers, everything = KnownNumbers(self._index), reader.holds_every_word(self._index)
        folder = summary.project.path or ""
        copied = copied_messages(self._index, row.id, row.file)

        titles = chain([own_titles(summary, session.messages)] if is_begun else (), repeat(""))
        read_messages = session.messages if is_begun else _from(session.messages, first[0].mid)
        # A later file may go on from before the record that dropped a message, and drop it again.
        has_all_droppers = {file.path for file in summary.files} <= {str(file.path) for file in bundle.files}

        def same() -> Iterator[Message]:
            marked = copies_marked(read_messages, copied)
            for message, title, known in zip(marked, titles, first, strict=False):
                facts = message_facts(message, folder, title=title, everything=everything)
                made = message_row(facts, numbers)
                if message.dropped_by and not has_all_droppers:
                    return
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


def _pieces(heading: Sequence[FirstMessage], known: Sequence[FirstMessage]) -> Pieces:
    """Where some messages stand, and where the files begin that hold them."""
    pieces: dict[int, list[tuple[int, int]]] = {}
    for message in known:
        for file, start, end in file_spans(message.spans):
            pieces.setdefault(file, []).append((start, end))
    for message in heading:
        for file, _, end in file_spans(message.spans)[:1]:
            pieces.setdefault(file, []).append((0, end))
    return {file: sorted(spans) for file, spans in pieces.items()}


def _from(messages: tuple[Message, ...], wanted: str) -> tuple[Message, ...]:
    """Messages from the one with this id on."""
    at = next((at for at, message in enumerate(messages) if message.id == wanted), len(messages))
    return messages[at:]


def _starts_an_agent(message: Message) -> bool:
    """Whether a session may hang on a message, which only all files together tell."""
    return any(call.kind is ToolKind.AGENT for call in message.tool_calls)


def _is_as_it_was(bundle: Bundle, summary: SessionSummary) -> bool:
    """Whether the files of a session are as large as they were when they were taken in."""
    sizes = {str(file.path): file.size for file in bundle.files}
    return all(sizes.get(file.path) == file.size for file in summary.files)


def _in_pieces(bundle: Bundle, pieces: Mapping[str, Sequence[tuple[int, int]]]) -> Bundle | None:
    """A bundle of nothing but pieces of some files; None if one of them cannot be read."""
    contents: dict[str, bytes] = {}
    for path, spans in pieces.items():
        try:
            with bundle.disk.opened(path) as opened:
                contents[path] = b"".join(_with_blanks_between(opened, spans))
        except OSError:
            return None
    return msgspec.structs.replace(
        bundle,
        files=tuple(file for file in bundle.files if str(file.path) in contents),
        disk=EarlierDisk(bundle.disk, {path: partial(BytesIO, one) for path, one in contents.items()}),
    )


def _with_blanks_between(opened: BinaryIO, spans: Sequence[tuple[int, int]]) -> Iterator[bytes]:
    """Pieces of a file in their places, with blank lines in place of all else."""
    at = 0
    for start, end in spans:
        if end <= at:
            continue
        while at < start:
            length = min(start - at, _BLANK_LINE)
            yield b" " * (length - 1) + b"\n"
            at += length
        opened.seek(at)
        yield opened.read(end - at)
        at = end
    yield b"\n"
