"""What a format does with the values of a session, found out by trying.

Words, numbers and times are replaced by marks, and the bytes are searched for them. What cannot be marked, or
was not seen, is changed: if another value gives the same bytes, the format does not carry it.

    carried    the value itself is there, or every change of it shows
    cut        a piece of it is there: a text without its end, a number that was rounded or added to others,
               a time without its seconds
    lost       no change of it shows

Changing takes a file for each value, so in a long session only some messages are changed; marks are looked
for in all.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from enum import Enum, IntEnum
from functools import cached_property
from itertools import chain, islice, zip_longest
from typing import Any, NamedTuple, cast

import msgspec

from geminids.core.model import Message, Session, State, ToolCall
from geminids.sharing.export.base import Format, Manner
from geminids.sharing.export.kinds import Steps
from geminids.sharing.records.encoding import decode, encode_json
from geminids.sharing.transcript.entries import Detail
from tests.support.probe_words import SIGNATURE, Seen, count_number, number_mark, time_mark
from tests.support.probing import Marked, Value, ValueKind, marked, replaced, values

MOST_MESSAGES = 24
"""So many messages are changed one by one."""
MOST_OF_A_KIND = 24
LONG = 4096
"""Longer texts are shortened while other values are changed; a multiple of four keeps base64 whole."""

MEASURES = (ValueKind.NUMBER, ValueKind.TIME)

VOCABULARY = {
    "mime_type": ("image/png", "image/jpeg"),
    "native_status": ("success", "error", "cancelled"),
    "status": ("completed", "in_progress", "pending"),
}
"""Names that formats know, by field."""
PLACES = {"line", "start", "end"}
"""Numbers that nobody rounds: seen or lost. Changed, they put records into another order, and that shows."""


class Outcome(IntEnum):
    """What becomes of a value, the worst first."""

    LOST = 0
    CUT = 1
    CARRIED = 2


class Trial:
    """A session and a format in which it is written again and again."""

    def __init__(self, session: Session, chosen: Format, manner: Manner) -> None:
        self.values = values(session)
        self._session = session
        self._format = chosen
        self._manner = manner

    def outcomes(self, detail: Detail, settled: Set[Steps] = frozenset()) -> dict[Steps, Outcome]:
        """What becomes of every value that was tried at a level of detail, by its steps.

        What is settled is not changed again.
        """
        found = {
            **self._seen_words(self._marked_names, detail),
            **self._seen_words(self._marked_agent_words, detail),
            **self._seen_words(self._marked_words, detail),
            **self._seen_numbers(detail),
        }
        changes = Changes(self._near, self._format, self._at(detail))
        return found | changes.outcomes([v for v in self._open_values(found) if v.steps not in settled])

    @cached_property
    def _near(self) -> Near:
        return _near(self._session, self.values)

    # Apart, since a format may treat words in another way if it does not know what is beside them.

    @cached_property
    def _marked_words(self) -> Marked:
        return marked(self._session, self._of_kind(ValueKind.WORDS))

    @cached_property
    def _marked_agent_words(self) -> Marked:
        return marked(self._session, self._of_kind(ValueKind.AGENT_WORDS))

    @cached_property
    def _marked_names(self) -> Marked:
        return marked(self._session, self._of_kind(ValueKind.NAME))

    @cached_property
    def _number_marks(self) -> dict[Steps, int]:
        """Other numbers, each once, in the same order."""
        ordered = sorted(self._of_kind(ValueKind.NUMBER), key=_value_itself)
        return {value.steps: number_mark(place) for place, value in enumerate(ordered)}

    @cached_property
    def _time_marks(self) -> dict[Steps, datetime]:
        """Other times, each once, in the same order."""
        ordered = sorted(self._of_kind(ValueKind.TIME), key=_value_itself)
        return {value.steps: time_mark(place, value.value) for place, value in enumerate(ordered)}

    def _of_kind(self, kind: ValueKind) -> list[Value]:
        return [value for value in self.values if value.kind is kind]

    def _seen_words(self, words: Marked, detail: Detail) -> dict[Steps, Outcome]:
        if not words.marks:
            return {}
        seen = Seen(self._written(words.session, detail)).marks
        return {
            steps: _outcome(sum(mark in seen for mark in marks), len(marks))
            for steps, marks in words.marks.items()
        }

    def _seen_numbers(self, detail: Detail) -> dict[Steps, Outcome]:
        """Looked for where most words are marks already, which hold no digit."""
        session = replaced(self._marked_words.session, {**self._number_marks, **self._time_marks})
        seen = Seen(self._written(session, detail))
        found: dict[Steps, Outcome] = {}
        for steps, number in self._number_marks.items():
            if number in seen.numbers:
                found[steps] = Outcome.CARRIED
            elif steps[-1] in PLACES:
                found[steps] = Outcome.LOST
        for steps, at in self._time_marks.items():
            if seen.has_moment(at):
                found[steps] = Outcome.CARRIED
            elif seen.has_minute(at, len(self._time_marks)):
                found[steps] = Outcome.CUT
        return found

    def _open_values(self, found: Mapping[Steps, Outcome]) -> list[Value]:
        """Values of which marks did not tell what becomes of them."""
        unseen = [value for value in self.values if not found.get(value.steps)]
        return [value for value in unseen if self._can_show_unseen(value)]

    def _can_show_unseen(self, value: Value) -> bool:
        """Whether it may be there although its mark is not: in other words, or in a file beside."""
        if value.kind in (ValueKind.WORDS, ValueKind.AGENT_WORDS):
            return self._manner.files_folder is not None and value.steps[-1] == "data"
        return value.steps[-1] not in PLACES

    def _at(self, detail: Detail) -> Manner:
        return msgspec.structs.replace(self._manner, detail=detail)

    def _written(self, session: Session, detail: Detail) -> bytes:
        written = b"".join(self._format.write([session], self._at(detail)))
        return encode_json(decode(written)[0]) if self._format.is_binary else written


class Near(NamedTuple):
    """A session with those messages in which values are changed one by one."""

    session: Session
    places: Mapping[int, int]
    """The place of each of them, by its place in the whole session."""


class Changes:
    """A session of which one value after the other is changed, to see whether the bytes change too."""

    def __init__(self, near: Near, chosen: Format, manner: Manner) -> None:
        self._format = chosen
        self._manner = manner
        self._session, self._places = near
        self._before = self._written({})

    def outcomes(self, tried: Iterable[Value]) -> dict[Steps, Outcome]:
        """What becomes of those values that are near enough to be tried."""
        by_path: dict[str, list[Value]] = defaultdict(list)
        for value in tried:
            if value.message is None or value.message in self._places:
                by_path[value.path].append(value)
        measured: list[Sequence[Value]] = []
        found: dict[Steps, Outcome] = {}
        for of_a_path in by_path.values():
            if of_a_path[0].kind in MEASURES:
                measured.append(of_a_path[:MOST_OF_A_KIND])
            else:
                found |= self._of_a_path(of_a_path[:MOST_OF_A_KIND])
        return found | self._of_paths(measured)

    def _of_paths(self, paths: Sequence[Sequence[Value]]) -> dict[Steps, Outcome]:
        """What becomes of numbers and times, most of which are lost wherever their marks are not seen."""
        if len(paths) <= 1:
            return self._of_a_path(paths[0]) if paths else {}
        together = [value for of_a_path in paths for value in of_a_path]
        slightly = {value.steps: _slightly(value) for value in together}
        # Each by another length: what is told of two of them, as the time between, changes too.
        apart = {value.steps: _apart(value, place) for place, value in enumerate(together)}
        if self._written(slightly) == self._before == self._written(apart):
            return {value.steps: Outcome.LOST for value in together}
        middle = len(paths) // 2
        return self._of_paths(paths[:middle]) | self._of_paths(paths[middle:])

    def _of_a_path(self, tried: Sequence[Value]) -> dict[Steps, Outcome]:
        found = {value.steps: Outcome.LOST for value in tried}
        for value, content in self._showing(tried, _slightly):
            found[value.steps] = Outcome.CARRIED if _is_exact(value, self._before, content) else Outcome.CUT
        for value, _ in self._showing([value for value in tried if not found[value.steps]], _largely):
            found[value.steps] = Outcome.CUT
        return found

    def _showing(self, tried: Sequence[Value], change: Change) -> Iterator[tuple[Value, bytes]]:
        """Those whose change shows, each with the bytes that it gives.

        Many are tried at once, then fewer; beside one that shows the next one is likely to.
        """
        changed = [(value, other) for value in tried if (other := change(value)) is not None]
        together, size = deque(changed), len(changed)
        while together:
            size = min(size, len(together))
            content = self._written({value.steps: other for value, other in islice(together, size)})
            if content == self._before:
                for _ in range(size):
                    together.popleft()
                size = len(together)
            elif size > 1:
                size = 1 if size == len(together) else size // 2
            else:
                yield together.popleft()[0], content

    def _written(self, changes: Mapping[Steps, Any]) -> bytes:
        session = replaced(self._session, {self._moved(steps): other for steps, other in changes.items()})
        return b"".join(self._format.write([session], self._manner))

    def _moved(self, steps: Steps) -> Steps:
        match steps:
            case ("messages", int(place), *rest):
                return ("messages", self._places[place], *rest)
            case _:
                return steps


Change = Callable[[Value], Any]
"""Another value of the same kind; None if there is none."""


def _slightly(value: Value) -> Any:
    """The nearest other value."""
    match value.value:
        case State() as state:
            others = [other for other in State if other is not State.CURRENT]
            return _next(state, others)
        case Enum() as member:
            return _next(member, list(type(member)))
        case bool() as answer:
            return not answer
        case int() | float() as number:
            return number + 1
        case datetime() as at:
            return at + timedelta(milliseconds=1)
        case str() as name:
            known = VOCABULARY.get(str(value.steps[-1]), ())
            return _next(name, known) if known else _other_words(name)


def _largely(value: Value) -> Any:
    """A value so far away that it shows where values are rounded, or only move others."""
    match value.value:
        case int() as number if value.kind is ValueKind.NUMBER:
            return number * 3 + 1000
        case datetime() as at:
            return at + timedelta(days=1, hours=1, minutes=1, seconds=1)
        case _:
            return None


def _apart(value: Value, place: int) -> Any:
    """A value so far away that it shows, and for each place by another length."""
    if isinstance(value.value, datetime):
        return value.value + timedelta(days=1 + place % 7, seconds=3661 + 7919 * place * place)
    return value.value * 3 + 1000 + 7919 * place * place


def _is_exact(value: Value, before: bytes, after: bytes) -> bool:
    """Whether a change that shows is one of the value itself and not of a sum that it is part of."""
    if value.kind is not ValueKind.NUMBER:
        return True
    changed = _slightly(value)
    return count_number(changed, after) > count_number(changed, before)


def _next(member: Any, members: Sequence[Any]) -> Any:
    place = members.index(member) if member in members else -1
    return members[(place + 1) % len(members)]


def _other_words(words: str) -> str:
    """Other words of the same kind; what says which kind of file encoded bytes are stays."""
    for other in (words[:SIGNATURE] + words[SIGNATURE:].swapcase(), words.swapcase()):
        if other != words:
            return other
    return f"{words}x"


def _outcome(seen: int, of: int) -> Outcome:
    if seen == of:
        return Outcome.CARRIED
    return Outcome.CUT if seen else Outcome.LOST


def _value_itself(value: Value) -> Any:
    return value.value


def _near(session: Session, held: Sequence[Value]) -> Near:
    chosen = _with_every_path(_chosen_messages(session.messages), held)
    messages = tuple(session.messages[place] for place in chosen)
    shortened = _shortened(msgspec.structs.replace(session, messages=messages))
    return Near(shortened, {place: number for number, place in enumerate(chosen)})


def _chosen_messages(messages: Sequence[Message]) -> list[int]:
    """The places of some messages, so that every kind of message is among them."""
    if len(messages) <= MOST_MESSAGES:
        return list(range(len(messages)))
    by_kind: dict[Hashable, list[int]] = defaultdict(list)
    for place, message in enumerate(messages):
        by_kind[_message_kind(message)].append(place)
    in_turn = chain.from_iterable(zip_longest(*by_kind.values()))
    return sorted(islice((place for place in in_turn if place is not None), MOST_MESSAGES))


def _with_every_path(places: Sequence[int], held: Sequence[Value]) -> list[int]:
    """These messages, and others that hold what none of them does."""
    chosen = set(places)
    tried = {value.path for value in held if value.message in chosen}
    for value in held:
        if value.message is not None and value.path not in tried:
            tried.add(value.path)
            chosen.add(value.message)
    return sorted(chosen)


def _message_kind(message: Message) -> Hashable:
    parts = {(type(part), part.kind if isinstance(part, ToolCall) else None) for part in message.parts}
    return message.role, message.origin, message.state, frozenset(parts)


def _shortened(session: Session) -> Session:
    words = [value for value in values(session) if isinstance(value.value, str)]
    changes = {value.steps: value.value[:LONG] for value in words if len(value.value) > LONG}
    return cast("Session", replaced(session, changes))
