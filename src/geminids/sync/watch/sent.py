"""What was told of some sessions: ids and digests, never the messages themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from geminids.core.agents.base import Reading
from geminids.core.model import AnyPart, Location, Message, Problem, Session, State, Text, Thought
from geminids.sync.watch.events import Happened, News, SessionGone, SessionNews


class _PartMark(NamedTuple):
    """A part in so little that it is known again, also when words were added to it."""

    kind: str
    length: int
    """Of its words; 0 for a part that is told anew as a whole."""
    digest: int


class _MessageMark(NamedTuple):
    """A message in so little that it is known what is new of it."""

    state: State
    parts: tuple[_PartMark, ...]
    rest: int
    place: int


class Unsettled(NamedTuple):
    """What a reading of files that are just being written leaves in doubt."""

    torn: Sequence[Problem] = ()
    """Records that end where the file ends: the rest of them will come."""
    absences: bool = False
    """Whether a session or message may be missing only because a file could not be read."""

    def touches(self, message: Message) -> bool:
        """Whether a message was read from a record that is not finished."""
        places = message.places
        return any(_overlap(place, problem) for place in places for problem in self.torn)

    def __bool__(self) -> bool:
        """Whether anything is in doubt."""
        return bool(self.torn) or self.absences


SETTLED = Unsettled()


class Sent:
    """What was told of the sessions in some files that are read together."""

    def __init__(self) -> None:
        self._sessions: dict[str, dict[str, _MessageMark]] = {}

    def note(self, session: Session, is_known: Callable[[Message], bool] = lambda _: True) -> None:
        """Take messages for told."""
        marks = self._sessions.setdefault(session.id, {})
        marks.update((message.id, _mark(message)) for message in session.messages if is_known(message))

    def news(
        self, reading: Reading, wanted: Callable[[Session], bool], unsettled: Unsettled
    ) -> Iterator[SessionNews | SessionGone]:
        """What is new in a reading; from then on it is told. What is in doubt is left for a later one."""
        for session in filter(wanted, reading.sessions):
            if news := tuple(self._news_of(session, unsettled)):
                yield SessionNews(session.without_messages(), news)
        if not unsettled:
            yield from self._gone({session.id for session in reading.sessions})

    def all_gone(self) -> Iterator[SessionGone]:
        """Forget everything, since there is no file any more."""
        yield from self._gone(set())

    def _gone(self, there: set[str]) -> Iterator[SessionGone]:
        for session_id in self._sessions.keys() - there:
            if self._sessions.pop(session_id):
                yield SessionGone(session_id)

    def _news_of(self, session: Session, unsettled: Unsettled) -> Iterator[News]:
        marks = self._sessions.setdefault(session.id, {})
        if not unsettled:
            yield from _vanished(marks, session.messages)
        for message in session.messages:
            before = marks.get(message.id)
            # A torn record may change any message, but it adds only those that it holds itself.
            if unsettled.torn and (before or unsettled.touches(message)):
                continue
            now = _mark(message)
            marks[message.id] = now
            if news := _news(message, before, now):
                yield news


def torn_records(reading: Reading) -> list[Problem]:
    """The problems that reach to the end of a file which may just be in the middle of being written."""
    sizes = {account.path: account.size for account in reading.accounts}
    return [problem for problem in reading.problems if _reaches(problem, sizes.get(problem.file))]


def _reaches(problem: Problem, size: int | None) -> bool:
    # A file of no bytes was emptied to be written anew.
    return size == 0 or (size is not None and problem.end is not None and problem.end >= size)


def _news(message: Message, before: _MessageMark | None, now: _MessageMark) -> News | None:
    """What is new of a message that stands in the files."""
    if before is None:
        return News(Happened.ADDED, message.id, message, message.parts, None)
    parts = tuple(_new_parts(message.parts, now.parts, before.parts))
    if now.state is not before.state and now.state is not State.CURRENT:
        return News(Happened.DROPPED, message.id, message, parts, before.state)
    if parts or now.state is not before.state or now.rest != before.rest:
        return News(Happened.CHANGED, message.id, message, parts, before.state)
    return None


def _vanished(marks: dict[str, _MessageMark], messages: Sequence[Message]) -> Iterator[News]:
    """Messages that were told and are in no file any more."""
    if not (gone := marks.keys() - {message.id for message in messages}):
        return
    standing = {_digest_of_place(place): message.id for message in messages for place in message.places}
    for message_id in [name for name in marks if name in gone]:
        before = marks.pop(message_id)
        yield News(Happened.DROPPED, message_id, None, (), before.state, standing.get(before.place))


def _new_parts(
    parts: Iterable[AnyPart], marks: Iterable[_PartMark], before: Iterable[_PartMark]
) -> Iterator[AnyPart]:
    """The parts that were not told, wherever they stand; of those that grew, what is new."""
    sent = Counter(before)
    unknown = []
    for part, mark in zip(parts, marks, strict=True):
        if sent[mark]:
            sent[mark] -= 1
        else:
            unknown.append(part)
    for part in unknown:
        yield _rest(part, list(sent.elements()))


def _rest(part: AnyPart, sent: Iterable[_PartMark]) -> AnyPart:
    """What was added to a part that was told; all of it if none of the told ones is its beginning."""
    if not isinstance(part, Text | Thought):
        return part
    kind = _kind(part)
    for mark in sent:
        begins = mark.kind == kind and 0 < mark.length < len(part.text)
        if begins and hash(part.text[: mark.length]) == mark.digest:
            return msgspec.structs.replace(part, text=part.text[mark.length :])
    return part


def _mark(message: Message) -> _MessageMark:
    rest = (message.role, message.origin, message.model, message.level, message.imported, message.usage)
    parts = tuple(map(_part_mark, message.parts))
    return _MessageMark(message.state, parts, _digest(rest), _digest_of_place(message.source))


def _part_mark(part: AnyPart) -> _PartMark:
    if isinstance(part, Text | Thought):
        return _PartMark(_kind(part), len(part.text), hash(part.text))
    return _PartMark(type(part).__name__, 0, _digest(part))


def _kind(part: Text | Thought) -> str:
    return f"text {part.origin}" if isinstance(part, Text) else f"thought {part.subject}"


def _digest(value: object) -> int:
    try:
        return hash(msgspec.json.encode(value))
    except UnicodeEncodeError:
        # Half characters, which agents do write, have no bytes.
        return hash(repr(value))


def _digest_of_place(place: Location) -> int:
    return hash((place.file, place.start, place.pointer))


def _overlap(place: Location, problem: Problem) -> bool:
    if place.file != problem.file:
        return False
    # Of half a record those inside it may be found whole, which stand before the damage in the same line.
    return place.end > (problem.start or 0) or (problem.line is not None and place.line >= problem.line)
