"""What is left of a native record when all is taken out of it that a message tells.

A table says, for the records of an agent, which members a message may tell, and how. A member is taken out
only if the message really tells its value, so a table that is wrong leaves too much, never too little. What
is left is nested as the agent nests it: in a list, `null` stands for an element of which nothing is left; a
text that holds an object as JSON is taken apart like the object, if writing it again gives the same text.

A later version of a record differs in little. Of it the differences are kept, as operations of JSON Patch
(RFC 6902) that make it of the version that the message shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from geminids.core.model import (
    AgentProgress,
    AnyDisplay,
    AnyPart,
    Attachment,
    Diff,
    FileReference,
    Listing,
    Message,
    Plain,
    Screen,
    Session,
    Text,
    Thought,
    Todos,
    ToolCall,
    ToolResult,
    Unrecognised,
    UnrecognisedDisplay,
    Usage,
)
from geminids.core.timestamps import parse_time
from geminids.reading.shapes import texts_in
from geminids.sharing.records.leftovers import escaped

NOTHING: Any = msgspec.UNSET
"""What is left of a value that the message tells wholly."""
_SAY_NOTHING: tuple[Any, ...] = (None, "", [], {})
_SHORT = 16
"""A text of fewer characters is looked for as a whole: as a piece it would be found anywhere."""
_PATIENCE = 10_000_000
_PATIENCE_PER_CHARACTER = 64
"""How many characters are looked through for pieces: hostile records could ask for it without end."""
_FINEST = len("2026-01-01T00:00:00.000000+00:00")
"""How long the text of a time is that says no more than microseconds."""

Check = Callable[["MessageFacts", Any], bool]
"""Whether a message tells a value."""
Table = Any
"""What may be told: a check, an object by its members, a list by its elements, or several of these."""


class MessageFacts:
    """All that a session says in the messages that are read from one record, to be looked up."""

    def __init__(self, session: Session, messages: Sequence[Message]) -> None:
        self.session = session
        self.messages = messages
        """Nearly always one; but a record may hold several, as where an agent fuses turns."""
        self.texts: set[str] = set()
        self.times: set[datetime] = set()
        self.raws: list[Any] = []
        """Values that messages keep as they were."""
        self._patience = 0
        for message in messages:
            self._note(message.id, message.model, message.request_id)
            self._note_time(message.at)
            for part in message.parts:
                self._part(part)

    def holds(self, name: str, value: Any) -> bool:
        """Whether a member was kept as it was, under its own name."""
        return any(is_same(as_written, value) for as_written in self._members.get((name, _shape(value)), ()))

    def holds_as_written(self, value: Any) -> bool:
        """Whether a value was kept as it was."""
        return any(is_same(as_written, value) for as_written in self._by_shape.get(_shape(value), ()))

    def says(self, text: str) -> bool:
        """Whether a text stands in the message, whole or as a piece of a longer one."""
        if text in self.texts:
            return True
        if len(text) < _SHORT:
            return False
        return any(text in longer for longer in self._looked_through(len(text)))

    def _looked_through(self, length: int) -> Iterator[str]:
        """The texts that are longer, as long as looking for pieces does not take too long."""
        for longer in self._long_texts:
            if len(longer) > length and self._patience > 0:
                self._patience -= len(longer)
                yield longer

    @cached_property
    def _long_texts(self) -> list[str]:
        found = sorted(text for text in self.texts if len(text) > _SHORT)
        self._patience = _PATIENCE + _PATIENCE_PER_CHARACTER * sum(map(len, found))
        return found

    @cached_property
    def _members(self) -> dict[Any, list[Any]]:
        """The members of what was kept, by their names and shapes: there may be thousands of calls."""
        members: dict[Any, list[Any]] = {}
        for raw in self.raws:
            for name, value in raw.items() if type(raw) is dict else ():
                members.setdefault((name, _shape(value)), []).append(value)
        return members

    @cached_property
    def _by_shape(self) -> dict[Any, list[Any]]:
        """What was kept, and what is directly in it, by its shape."""
        as_written: dict[Any, list[Any]] = {}
        for raw in self.raws:
            inner = raw.values() if type(raw) is dict else raw if type(raw) is list else ()
            for value in (raw, *inner):
                as_written.setdefault(_shape(value), []).append(value)
        return as_written

    @cached_property
    def written(self) -> set[str]:
        """The objects that were kept, written as JSON without spaces."""
        as_written = (raw for raw in self.raws if type(raw) is dict)
        return {json.dumps(raw, separators=(",", ":"), ensure_ascii=False) for raw in as_written}

    def _note(self, *texts: str | None) -> None:
        self.texts.update(text for text in texts if text)

    def _note_time(self, at: datetime | None) -> None:
        if at is not None:
            self.times.add(at)

    def _part(self, part: AnyPart) -> None:
        match part:
            case Text(text=text):
                self.texts.add(text)
            case ToolCall():
                self._call(part)
            case Thought():
                # Some agents write the subject in bold above the text.
                self._note(part.text, part.subject, f"**{part.subject}**\n\n{part.text}")
                self._note_time(part.at)
            case ToolResult():
                self._note(part.call_id, part.name)
                for piece in part.parts:
                    self._part(piece)
            case Attachment():
                self._note(part.mime_type, part.data, part.uri)
            case FileReference():
                self._note(part.path, part.text)
            case Unrecognised(raw=raw):
                self._raw(raw)

    def _call(self, call: ToolCall) -> None:
        child = call.child_id.partition(":")[2] if call.child_id else None
        self._note(call.call_id, call.name, call.native_status, call.display_name, call.description, child)
        self._note_time(call.at)
        self._raw(call.arguments)
        if call.other:
            self._raw(call.other)
        for part in call.result:
            self._part(part)
        for change in call.changes:
            self._note(change.path, change.diff, change.before, change.after)
        if call.full_output is not None:
            self._note(call.full_output.text)
        if call.display is not None:
            self._display(call.display)

    def _display(self, display: AnyDisplay) -> None:
        match display:
            case Plain(text=text):
                self._note(text)
            case Diff(path=path, diff=diff):
                self._note(path, diff)
            case Screen(cells=cells):
                self.raws.append(cells)
            case Todos(todos=todos):
                for todo in todos:
                    self._note(todo.text, todo.status)
            case AgentProgress():
                self._note(display.agent, display.state, display.result, display.ended_because)
                self.raws.append(list(display.activity))
            case Listing():
                self._note(display.summary)
                self.raws += [list(display.items), display.other]
            case UnrecognisedDisplay(raw=raw):
                self._raw(raw)

    def _raw(self, raw: Any) -> None:
        """Note a value that is kept as it was, and the texts in it."""
        self.raws.append(raw)
        self.texts.update(texts_in(raw))


def _shape(value: Any) -> Any:
    """Something that equal values have in common, and few others."""
    match value:
        case dict():
            first, inner = next(iter(value.items()), (None, None))
            return dict, len(value), first, inner if type(inner) is str else None
        case list():
            return list, len(value)
        case _:
            return value


def is_same(one: Any, other: Any) -> bool:
    """Whether two values are the same JSON; to Python 1 and true are equal."""
    return type(one) is type(other) and bool(one == other)


# Checks


def text(facts: MessageFacts, value: Any) -> bool:
    """The words of the message, or a piece of them."""
    return type(value) is str and facts.says(value)


def name(facts: MessageFacts, value: Any) -> bool:
    """A name, an id, a path, a state: told as a whole."""
    return type(value) is str and value in facts.texts


def time(facts: MessageFacts, value: Any) -> bool:
    """A moment, however it is written; unless it is written more finely than we tell it."""
    if type(value) is str and len(value) > _FINEST:
        return False
    return parse_time(value) in facts.times


def as_written(facts: MessageFacts, value: Any) -> bool:
    """Arguments, and whatever else is kept as it was."""
    return facts.holds_as_written(value)


def own_session(facts: MessageFacts, value: Any) -> bool:
    """The id of the session."""
    return bool(value == facts.session.native_id)


def role(facts: MessageFacts, value: Any) -> bool:
    """On whose side the message stands, in our own words."""
    return any(value == message.role for message in facts.messages)


def one_of(*known: str) -> Check:
    """A word that only says what the members beside it are, which the kind of a part tells."""
    words = frozenset(known)
    return lambda facts, value: type(value) is str and value in words


def count(*fields: str) -> Check:
    """A count of tokens that is the sum of some of ours."""

    def is_counted(facts: MessageFacts, value: Any) -> bool:
        usages = [message.usage for message in facts.messages if message.usage is not None]
        return type(value) is int and any(_sum(usage, fields) == value for usage in usages)

    return is_counted


def _sum(usage: Usage, fields: Sequence[str]) -> int | None:
    """What some fields come to; None if the first of them is not known."""
    numbers = [getattr(usage, field) for field in fields]
    return None if numbers[0] is None else sum(number or 0 for number in numbers)


def picture(facts: MessageFacts, value: Any) -> bool:
    """A picture whose bytes stand in its address."""
    if type(value) is not str:
        return False
    kind, mark, data = value.removeprefix("data:").partition(";base64,")
    return value in facts.texts or (bool(mark) and kind in facts.texts and data in facts.texts)


def encoded(facts: MessageFacts, value: Any) -> bool:
    """Arguments that stand in a text, as JSON without spaces."""
    return type(value) is str and value in facts.written


# Taking out


class Written(NamedTuple):
    """A table for a text that holds an object as JSON."""

    object: dict[str, Table]


def remnant(value: Any, table: Table, facts: MessageFacts) -> Any:
    """What is left of a value; NOTHING if the message tells all of it."""
    if not value and value in _SAY_NOTHING:
        return NOTHING
    if type(table) is tuple:
        return _left_of_any(value, table, facts)
    if type(table) is Written:
        return _left_of_written(value, table.object, facts)
    if type(table) is dict:
        return _left_of_object(value, table, facts)
    if type(table) is list:
        return _left_of_list(value, table[0], facts)
    return NOTHING if table(facts, value) else value


def _left_of_any(value: Any, tables: tuple[Table, ...], facts: MessageFacts) -> Any:
    """What the table for values of this kind leaves; else any check that knows the value takes it out."""
    for table in tables:
        if type(table) is type(value):
            return remnant(value, table, facts)
    checks = (table for table in tables if callable(table))
    if any(check(facts, value) for check in checks):
        return NOTHING
    written = next((table for table in tables if type(table) is Written), None)
    return value if written is None else _left_of_written(value, written.object, facts)


def _left_of_written(value: Any, members: dict[str, Table], facts: MessageFacts) -> Any:
    if type(value) is not str or not value.startswith("{"):
        return value
    try:
        held = msgspec.json.decode(value)
        is_plain = msgspec.json.encode(held).decode() == value
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return value
    return _left_of_object(held, members, facts) if is_plain else value


def _left_of_object(value: Any, members: dict[str, Table], facts: MessageFacts) -> Any:
    if type(value) is not dict:
        return value
    left: dict[str, Any] = {}
    for member, inner in value.items():
        table = members.get(member)
        rest = inner if table is None else remnant(inner, table, facts)
        if rest is not NOTHING and not (facts.raws and facts.holds(member, inner)):
            left[member] = rest
    return left or NOTHING


def _left_of_list(value: Any, element: Table, facts: MessageFacts) -> Any:
    if type(value) is not list:
        return value
    rests = [remnant(inner, element, facts) for inner in value]
    if all(rest is NOTHING for rest in rests):
        return NOTHING
    return [None if rest is NOTHING else rest for rest in rests]


# Differences


def differences(shown: Any, other: Any) -> list[dict[str, Any]]:
    """The operations that make one version of a record of the one that is shown."""
    return list(_differences(shown, other, ""))


def _differences(shown: Any, other: Any, at: str) -> Iterable[dict[str, Any]]:
    if type(shown) is not type(other):
        yield {"op": "replace", "path": at, "value": other}
    elif shown == other:
        return
    elif type(shown) is dict:
        yield from _of_objects(shown, other, at)
    elif type(shown) is list:
        yield from _of_lists(shown, other, at)
    else:
        yield {"op": "replace", "path": at, "value": other}


def _of_objects(shown: dict[str, Any], other: dict[str, Any], at: str) -> Iterator[dict[str, Any]]:
    for member in shown:
        if member not in other:
            yield {"op": "remove", "path": f"{at}/{escaped(member)}"}
    for member, value in other.items():
        path = f"{at}/{escaped(member)}"
        if member in shown:
            yield from _differences(shown[member], value, path)
        else:
            yield {"op": "add", "path": path, "value": value}


def _of_lists(shown: list[Any], other: list[Any], at: str) -> Iterator[dict[str, Any]]:
    for index in reversed(range(len(other), len(shown))):
        yield {"op": "remove", "path": f"{at}/{index}"}
    for index, value in enumerate(other):
        if index < len(shown):
            yield from _differences(shown[index], value, f"{at}/{index}")
        else:
            yield {"op": "add", "path": f"{at}/{index}", "value": value}
