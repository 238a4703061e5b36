"""Searching the texts themselves, for what the index alone cannot decide: substrings and regular expressions.

Sessions are looked through in the order in which they are shown, the newest first, until the page is full:

1. The words of the index tell which messages may match (`literals.py`); what came after these words were
   gathered may.
2. The bytes of their records tell of most of them that they do not (`record_filter.py`).
3. The others are read as sessions, and what is indexed of them decides; with `scan`, all of their texts do.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from itertools import islice
from math import inf
from time import monotonic

from geminids.core import agents
from geminids.core.names import UNNAMED_TOOL
from geminids.core.values import NamedTuple, Value
from geminids.query.search.asked import Asked, Page, hit_of, shown_message
from geminids.query.search.found import FoundMessage, Hit, SessionHits, Stopped, Total, Unsearched
from geminids.query.search.record_files import RecordFiles
from geminids.query.search.record_filter import MayHold, record_filter, whole_record_filter
from geminids.query.search.snippets import Cut
from geminids.storage.index import reader
from geminids.storage.index import search as searching
from geminids.storage.index import texts as indexed
from geminids.storage.index.texts import Place
from geminids.storage.index.values import MOST_SPANS, file_spans
from geminids.storage.text import patterns as looking
from geminids.storage.text import snippets
from geminids.storage.text.patterns import Patterns, TooSlowError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.search.language import Query

SECONDS_OF_SCAN = 120.0
"""Seconds that regular expressions may take where everything is read: whoever asks for that has time."""
MOST_NUMBERS = 20_000
"""Messages that are looked up one by one; of more, all sessions are gone through."""
FIRST_BATCH, LARGEST_BATCH = 16, 128
"""Sessions that are looked at together: few at first, as the page may be full soon."""
LARGEST_BLOCK = 16_000_000
"""Bytes of a file that are read at once."""
DENSE = 0.8
"""The share of records in what is read at once from which on all of it is looked through together."""

Texts = Mapping[str, str]
"""The words of a message by column."""
TextsOf = Callable[[int], Iterable[tuple[int, Texts]]]
"""Reads the messages of a session from its files: the place of each, and its words."""


class Reading(Value):
    """How texts are read."""

    texts_of: TextsOf
    after: int | None
    """The last session that was looked through for the page before."""
    progress: Callable[[int, int], None] | None


def search_texts(asked: Asked, how: Reading) -> Page:
    """A page of what is found in the texts of sessions, the newest first."""
    candidates = _Candidates(asked, how.after)
    seconds = SECONDS_OF_SCAN if asked.question.scan else looking.FOR_ALL
    with Patterns(seconds) as patterns, closing(candidates.by_session()) as by_session:
        return _Search(asked, how, patterns).page(by_session, len(candidates.sessions))


class _Verified(Value):
    """A message in whose texts it was found."""

    place: int
    texts: Texts


class _Search:
    """One page while it is filled."""

    def __init__(self, asked: Asked, how: Reading, patterns: Patterns) -> None:
        self._asked = asked
        self._how = how
        self._patterns = patterns
        self._found: list[SessionHits] = []
        self._unsearched: list[Unsearched] = []

    def page(self, candidates: Iterator[tuple[int, Collection[int]]], sessions: int) -> Page:
        """The first sessions that hold what is looked for."""
        limit, patience = self._asked.question.limit, self._asked.question.patience
        until = inf if patience is None else monotonic() + patience
        read, last = 0, None
        for last, places in candidates:
            if places:
                self._look_through(last, places)
            read += 1
            if self._how.progress:
                self._how.progress(read, sessions)
            if len(self._found) == limit or self._patterns.is_spent or monotonic() > until:
                break
        if self._how.progress:
            self._how.progress(1, 1)
        left = sessions - read
        is_whole = not left and self._how.after is None and not self._unsearched
        return Page(
            self._found,
            Total(
                sum(hits.matches for hits in self._found),
                len(self._found),
                is_exact=is_whole,
                are_all_sessions=is_whole,
            ),
            last if left else None,
            Stopped(read, left) if left and len(self._found) < limit else None,
            self._unsearched,
        )

    def _look_through(self, number: int, places: Collection[int]) -> None:
        verified, too_slow = self._verified(self._how.texts_of(number), places)
        if verified:
            self._found.append(self._hits(number, verified))
        if too_slow:
            session = reader.sessions_numbered(self._asked.index, [number])[number]
            self._unsearched.append(Unsearched(session.id, tuple(too_slow)))

    def _verified(
        self, texts: Iterable[tuple[int, Texts]], places: Collection[int]
    ) -> tuple[list[_Verified], list[int]]:
        """The messages that match, and the places of those of which there was no time to tell."""
        verified: list[_Verified] = []
        too_slow: list[int] = []
        for place, by_column in texts:
            if place in places:
                try:
                    if self._asked.query.matches(by_column, self._patterns):
                        verified.append(_Verified(place, by_column))
                except TooSlowError:
                    too_slow.append(place)
        return verified, too_slow

    def _hits(self, number: int, verified: Sequence[_Verified]) -> SessionHits:
        """What is shown of a session that was read; the first of its messages that match."""
        index = self._asked.index
        texts = {one.place: one.texts for one in islice(verified, self._asked.question.per_session)}
        rows = searching.messages_at(index, number, texts)
        tools = searching.tools_of(index, rows)
        hits = [
            self._hit(shown_message(row, tools.get(row.number, ())), texts[row.place])
            for row in sorted(rows.values(), key=lambda row: row.place)
        ]
        return SessionHits(reader.sessions_numbered(index, [number])[number], hits, len(verified))

    def _hit(self, message: FoundMessage, texts: Texts) -> Hit:
        query, width = self._asked.query, self._asked.question.width
        cuts = {
            column: snippets.cut(texts[column], query.positive, width, self._patterns)
            for column in query.columns
            if texts.get(column)
        }
        there = [Cut(cut, (column,)) for column, cut in cuts.items() if cut]
        best = max(there, key=lambda cut: len(cut.snippet.spans), default=None)
        return hit_of(message, [column for cut in there for column in cut.columns], best, 0.0)


class _Candidates:
    """Sessions that may hold what is looked for, in their order, and the messages that may."""

    def __init__(self, asked: Asked, after: int | None) -> None:
        self._asked = asked
        self._is_scan = asked.question.scan
        self._conditions = [narrowing.condition for narrowing in asked.narrowed]
        # In a scan everything is a candidate.
        self._numbers = None if self._is_scan else _numbers(asked)
        self._may_hold = _filter(asked.query, is_scan=self._is_scan)
        self._unnamed = indexed.calling(asked.index, UNNAMED_TOOL) if self._may_hold else frozenset[int]()
        self._reworded: dict[str, Collection[str] | None] = {}
        is_few = self._numbers is not None and len(self._numbers) <= MOST_NUMBERS
        self._by_session = indexed.by_session(asked.index, self._numbers or ()) if is_few else None
        self.sessions = indexed.newest_first(asked.index, self._by_session, after)

    def by_session(self) -> Generator[tuple[int, Collection[int]], None, None]:
        """Each session with the places of the messages that may match; there may be none."""
        for batch in _batches(self.sessions):
            likely: dict[int, set[int]] = {session: set() for session in batch}
            told_by_records: dict[int, list[Place]] = {}
            for row in self._places(batch):
                if self._is_told_by_records(row):
                    told_by_records.setdefault(row.session, []).append(row)
                else:
                    likely[row.session].add(row.place)
            yield from self._filtered(likely, told_by_records)

    def _is_told_by_records(self, row: Place) -> bool:
        """Whether the bytes of its records tell what a message does not hold."""
        # What is read from a copy may be of an earlier state of a file that is there.
        if self._may_hold is None or row.is_kept or row.number in self._unnamed:
            return False
        if row.agent not in self._reworded:
            known = row.agent in agents.available()
            self._reworded[row.agent] = agents.load(row.agent).reworded if known else None
        reworded = self._reworded[row.agent]
        return reworded is not None and row.origin not in reworded

    def _places(self, sessions: Sequence[int]) -> Iterable[Place]:
        """Where the messages of sessions stand that may match."""
        index, numbers = self._asked.index, self._numbers
        if self._by_session is not None:
            messages = [number for session in sessions for number in self._by_session[session]]
            return indexed.places(index, messages, self._conditions)
        found = indexed.places_in(index, sessions, self._conditions)
        return found if numbers is None else (place for place in found if place.number in numbers)

    def _filtered(
        self, likely: Mapping[int, set[int]], rows: Mapping[int, Sequence[Place]]
    ) -> Iterator[tuple[int, Collection[int]]]:
        """Sessions with what is likely in them, and those of other messages whose records may match."""
        messages = [place.number for places in rows.values() for place in places]
        changed = indexed.changed_paths(self._asked.index, messages)
        records = {number: _Records(places, changed) for number, places in rows.items()}
        files = {file for one in records.values() for file in one.files}
        paths = searching.file_paths(self._asked.index, files)
        with RecordFiles(paths, self._asked.disk) as opened:
            for session, places in likely.items():
                if session in records and self._may_hold is not None:
                    yield session, places.union(records[session].places(opened, self._may_hold))
                else:
                    yield session, places


def _numbers(asked: Asked) -> set[int] | None:
    """The numbers of the messages that may match, by the words of the index; None if any may."""
    from geminids.storage.index.terms import terms_of

    terms = terms_of(asked.index)
    match = asked.query.fts(terms=terms)
    if match.is_complement:
        # Few ask for what is not there, and nothing is won by knowing what is.
        return None
    found = indexed.matching(asked.index, match.expression) if match.expression else set()
    return found | indexed.numbered_after(asked.index, terms.covered)


def _filter(query: Query, *, is_scan: bool) -> MayHold | None:
    if query.tree is None:
        return None
    if not is_scan:
        return record_filter(query.tree)
    marks = {mark for source in agents.every() for mark in source.companions().moved_marks()}
    return whole_record_filter(query.tree, marks)


def _batches(sessions: Sequence[int]) -> Iterator[Sequence[int]]:
    start, size = 0, FIRST_BATCH
    while start < len(sessions):
        yield sessions[start : start + size]
        start, size = start + size, min(size * 2, LARGEST_BATCH)


class _Block(NamedTuple):
    """Bytes of a file that were read at once."""

    start: int
    content: bytes
    is_dense: bool
    """Whether there is little but records in it."""


class _Records:
    """The records of messages of one session, read together where they lie close."""

    def __init__(self, rows: Sequence[Place], changed: Mapping[int, Sequence[str]]) -> None:
        self._spans = {row.place: file_spans(row.spans) for row in rows}
        paths = {row.place: changed[row.number] for row in rows if row.number in changed}
        # Of these, a record may hold but the end.
        self._paths = {place: os.fsencode("\n".join(found)) for place, found in paths.items()}
        self.files: dict[int, list[tuple[int, int]]] = {}
        for spans in self._spans.values():
            for file, start, end in spans:
                self.files.setdefault(file, []).append((start, end))

    def places(self, opened: RecordFiles, may_hold: MayHold) -> Collection[int]:
        """The places of the messages that may hold something."""
        blocks = {file: block for file in self.files if (block := self._block(opened, file))}

        def record(file: int, start: int, end: int) -> bytes | None:
            if file not in blocks:
                return opened.read(file, start, end)
            first, content, _ = blocks[file]
            return content[start - first : end - first]

        # Nearly always they hold nothing, which all of them together tell soonest.
        together = self._together(blocks, record)
        if together is not None and not may_hold(together):
            return ()
        return [
            place
            for place, spans in self._spans.items()
            if _may_hold(may_hold, [record(*span) for span in spans], self._paths.get(place))
        ]

    def _together(
        self, blocks: Mapping[int, _Block], record: Callable[[int, int, int], bytes | None]
    ) -> bytes | None:
        """All records at once; None if that is too much, one is gone, or some stand where nobody noted."""
        is_one_block = len(self.files) == 1 == sum(block.is_dense for block in blocks.values())
        if not is_one_block and any(len(spans) >= MOST_SPANS - 1 for spans in self._spans.values()):
            return None
        pieces: list[bytes | None] = [*self._paths.values()]
        for file, places in self.files.items():
            if file in blocks and blocks[file].is_dense:
                pieces.append(blocks[file].content)
            elif sum(end - start for start, end in places) <= LARGEST_BLOCK:
                pieces += [record(file, start, end) for start, end in places]
            else:
                return None
        there = [piece for piece in pieces if piece is not None]
        return b"\n".join(there) if len(there) == len(pieces) else None

    def _block(self, opened: RecordFiles, file: int) -> _Block | None:
        """All from the first to the last record of a file, if that is not too much."""
        places = self.files[file]
        first, last = min(start for start, _ in places), max(end for _, end in places)
        wanted = sum(end - start for start, end in places)
        if last - first > min(2 * wanted, LARGEST_BLOCK):
            return None
        block = opened.read(file, first, last)
        return None if block is None else _Block(first, block, wanted >= DENSE * (last - first))


def _may_hold(may_hold: MayHold, records: Sequence[bytes | None], paths: bytes | None) -> bool:
    """Whether a message may hold something whose records these are, and which changed some files."""
    there = [record for record in records if record is not None]
    # It may stand at more places than are noted, one of which may have been noted twice.
    if len(there) < len(records) or len(records) >= MOST_SPANS - 1:
        return True
    if paths is not None:
        there.append(paths)
    # What is needed may stand in several of them.
    return may_hold(there[0] if len(there) == 1 else b"\n".join(there))
