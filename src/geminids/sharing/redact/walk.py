"""Going through a session, whatever it holds: first to gather its strings, then to write it anew.

A field that is added to the model is gone through too: only of those that say what something is, such as
the name of a tool, this has to know, since the names of people do not stand there. Three things are more than
their strings: what a terminal shows (a line is cut into cells wherever its colour changes), what is attached
(base64), and values that stand under a key.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Generic, Self, TypeVar

import msgspec

from geminids.core.model import (
    AgentProgress,
    AnyPart,
    Attachment,
    Companion,
    Message,
    Origin,
    Plain,
    Role,
    Screen,
    Session,
    SessionFile,
    Text,
    Todo,
    ToolCall,
    ToolResult,
    Unrecorded,
)
from geminids.sharing.redact.answers import LONGEST_ANSWER, PRINTED, asked_for
from geminids.sharing.redact.commands import prints_secret
from geminids.sharing.redact.names import LONGEST, Trust, in_list, inside, named
from geminids.sharing.redact.pieces import decode, encode
from geminids.sharing.redact.replacement import Change, Changes, Hidden

DEEPEST = 150
"""Levels of nesting; what lies deeper is replaced by a word: nobody reads it, and Python could not follow."""
TOO_DEEP = "[REDACTED:too-deep]"
LEFT_OUT = "(left out)"

_STRUCTURE: dict[type, frozenset[str]] = {
    Session: frozenset(("agent", "models")),
    SessionFile: frozenset(("format",)),
    Message: frozenset(("model", "request_id")),
    ToolCall: frozenset(("name", "display_name", "native_status")),
    ToolResult: frozenset(("name",)),
    AgentProgress: frozenset(("agent", "state")),
    Todo: frozenset(("status",)),
    Unrecorded: frozenset(("what", "reason")),
}
"""Fields that say what something is. A user may be called like a tool; only secrets are hidden in them."""
_IDS: dict[type, frozenset[str]] = {
    Session: frozenset(("id", "parent_id")),
    ToolCall: frozenset(("child_id",)),
    Companion: frozenset(("session_id",)),
}
"""Ids of sessions: what stands before the colon is the name of the agent."""
_NO_FIELDS: frozenset[str] = frozenset()

_DATA_URI = re.compile(r"data:[^,]{0,200}(?=,)")
_IS_TEXT = re.compile(
    r"(?i)text/|(?:application|image)/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|toml|javascript|x-sh|sql|x-ndjson)\b"
)
_IS_BASE64 = re.compile(r"(?i)data:[^,]*;base64\Z")
_MEDIA_TYPE = re.compile(r"[a-z]{1,20}/[\w.+-]{1,80}")
_LEAST_NUMBER = 1000
"""Smaller numbers under the name of a password are a length, a count or a flag."""
_TOO_LARGE = 10**40
"""Nobody has such a password, and Python refuses to write the largest numbers out."""
_NUMBERED = frozenset(("password", "secret", "pin"))
_MOST_INSIDE = 8
"""Levels of objects under a key that names a secret."""


class FoundAt(msgspec.Struct, frozen=True, gc=False):
    """A place in a session: the number of the message as `show --at` counts it, and what in it."""

    message: int | None
    field: str


class Gathered:
    """The strings of a session, each once, and what stands under keys that may name secrets."""

    def __init__(self, *, keep_attachments: bool) -> None:
        self.strings: dict[str, None] = {}
        self.named: dict[tuple[str, str], None] = {}
        self.answers: dict[str, str] = {}
        """Texts that answer a question for a secret, and what was asked for."""
        self.named_tools: dict[str, str] = {}
        """The same where a tool put the question."""
        self.has_closed = False
        """Whether there is something that cannot be looked into."""
        self._keep_attachments = keep_attachments
        self._without_text: set[type] = set()
        """Types of values that hold no texts: most that are met."""
        self._is_secret_key: dict[str, bool] = {}

    @classmethod
    def of_strings(cls, strings: dict[str, None], named: dict[tuple[str, str], None] | None = None) -> Self:
        """Strings that belong to no session, and values with their keys."""
        gathered = cls(keep_attachments=True)
        gathered.strings, gathered.named = strings, named or {}
        return gathered

    def add(self, value: Any, depth: int = 0) -> None:
        """Gather all that a value holds."""
        kind = type(value)
        if kind is str:
            self.strings[value] = None
        elif depth > DEEPEST:
            self.has_closed |= isinstance(value, dict | list | tuple | msgspec.Struct)
        elif kind is dict:
            self._add_object(value, depth)
        elif kind is list or kind is tuple:
            self._add_each(value, depth + 1)
            for _, name, text in _names_in_list(value):
                self.named[name, text] = None
        elif kind is Screen:
            self.strings[_text_of(value.cells)] = None
            self.add(value.cells, depth + 1)
        elif kind is Attachment:
            self._add_attachment(value)
        elif isinstance(value, msgspec.Struct):
            self._add_each(msgspec.structs.astuple(value), depth + 1)
            if isinstance(value, Session):
                self._add_answers(value)
            for name in _IDS.get(kind, _NO_FIELDS):
                if written := getattr(value, name):
                    self.strings[written.partition(":")[2]] = None
        else:
            self._without_text.add(kind)

    def _add_each(self, values: Iterable[Any], depth: int) -> None:
        for value in values:
            kind = type(value)
            # Most are nothing, or a text: no call is needed to tell.
            if kind is str:
                self.strings[value] = None
            elif kind not in self._without_text:
                self.add(value, depth)

    def _add_answers(self, session: Session) -> None:
        """What people said who were asked for a secret, by the agent or through one of its tools."""
        before: list[Text] = []
        for message in session.messages:
            texts = [part for part in message.parts if isinstance(part, Text)]
            if message.role is Role.USER and message.origin is Origin.HUMAN:
                self._add_answer(before, [part.text for part in texts if len(part.text) < LONGEST_ANSWER])
                before = []
            elif texts:
                before = texts
            for call in message.tool_calls:
                before = [part for part in call.result or () if isinstance(part, Text)] or before
                if (question := _question(call)) and (wanted := asked_for(question)):
                    self.named_tools |= dict.fromkeys(_result_texts(call), wanted)
                if type(command := call.arguments.get("command")) is str and prints_secret(command):
                    self.answers |= {
                        text: PRINTED for text in _result_texts(call) if len(text) < LONGEST_ANSWER
                    }

    def _add_answer(self, before: list[Text], answer: list[str]) -> None:
        if (
            before
            and answer
            and (asked := asked_for("\n".join(part.text[-LONGEST_ANSWER:] for part in before[-3:])))
        ):
            self.answers |= dict.fromkeys(answer, asked)

    def _add_object(self, value: dict[Any, Any], depth: int) -> None:
        if media := _media(value):
            self._add_attachment(media)
        for key, item in value.items():
            if type(key) is str:
                self.strings[key] = None
                if media and key == "data":
                    continue
                if self._names_secret(key):
                    self.named |= dict.fromkeys(_under(key, item))
            self.add(item, depth + 1)
        if (pair := _name_and_value(value)) and self._names_secret(pair[0]):
            self.named[pair] = None

    def _names_secret(self, key: str) -> bool:
        is_secret = self._is_secret_key.get(key)
        if is_secret is None:
            is_secret = self._is_secret_key[key] = named(key) is not None
        return is_secret

    def _add_attachment(self, attachment: Attachment) -> None:
        for text in (attachment.mime_type, _without_payload(attachment.uri)):
            if text:
                self.strings[text] = None
        if self._keep_attachments or not _has_payload(attachment):
            return
        text = _text_inside(attachment)
        if text is None:
            self.has_closed = True
        else:
            self.strings[text] = None


def _question(call: ToolCall) -> str:
    """The question that a tool puts to the user; none of what other tools are told is one."""
    match call.arguments:
        case {"questions": [*questions]}:
            return "\n".join(str(each.get("question")) for each in questions if isinstance(each, dict))
        case {"question": str(question)}:
            return question
        case _:
            return ""


def _result_texts(call: ToolCall) -> Iterator[str]:
    yield from (part.text for part in call.result or () if isinstance(part, Text))
    if isinstance(call.display, Plain):
        yield call.display.text


Whole = TypeVar("Whole")


class Rewriter(Generic[Whole]):
    """Writes a session or any other value anew, and notes what was hidden where."""

    def __init__(self, whole: Whole, changes: Changes, *, keep_attachments: bool) -> None:
        self.hidden: Counter[Hidden] = Counter()
        self.places: dict[Hidden, dict[FoundAt, None]] = {}
        self._whole = whole
        self._agent = whole.agent if isinstance(whole, Session) else None
        self._changes = changes
        self._keep_attachments = keep_attachments
        self._path: list[str | int] = []
        self._outer: list[str] = []
        """The keys of the objects that are being written, from the outermost on."""

    def written(self) -> Whole:
        """The same without what is hidden."""
        written: Whole = self._value(self._whole)
        return written

    def _value(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._string(value)
        if kind is dict:
            return self._object(value) if len(self._path) <= DEEPEST else self._too_deep()
        if kind is list or kind is tuple:
            return self._items(value) if len(self._path) <= DEEPEST else self._too_deep()
        if kind is Screen:
            return self._screen(value)
        if kind is Attachment:
            return self._attachment(value)
        if isinstance(value, msgspec.Struct):
            return self._struct(value) if len(self._path) <= DEEPEST else self._too_deep()
        return value

    def _string(self, value: str) -> str:
        change = self._changes.strings.get(value)
        return self._changed(change) if change else value

    def _structural(self, value: str | tuple[str, ...] | None) -> str | tuple[str, ...] | None:
        """What says what something is: only secrets are hidden in it."""
        if value is None:
            return None
        if isinstance(value, str):
            change = self._changes.structure.get(value)
            return self._changed(change) if change else value
        written = tuple(str(self._structural(item)) for item in value)
        return value if written == value else written

    def _id(self, value: str | None) -> str | None:
        """An id, of which the name of the agent stays, unless a secret goes through it."""
        if value is None or value in self._changes.structure:
            return value and self._string(value)
        agent, colon, rest = value.partition(":")
        if not colon or agent != self._agent:
            return self._string(value)
        written = self._string(rest)
        return value if written is rest else f"{agent}:{written}"

    def _changed(self, change: Change) -> str:
        for hidden in change.hidden:
            self._note(hidden)
        return change.text

    def _note(self, hidden: Hidden) -> None:
        self.hidden[hidden] += 1
        self.places.setdefault(hidden, {})[self._where()] = None

    def _too_deep(self) -> str:
        self._note(Hidden("too-deep", b""))
        return TOO_DEEP

    def _at(self, step: str | int, value: Any, write: Callable[[Any], Any]) -> Any:
        self._path.append(step)
        written = write(value)
        self._path.pop()
        return written

    def _struct(self, value: msgspec.Struct) -> msgspec.Struct:
        written = {}
        structure, ids = _STRUCTURE.get(type(value), _NO_FIELDS), _IDS.get(type(value), _NO_FIELDS)
        for name in value.__struct_fields__:
            old = getattr(value, name)
            write = self._structural if name in structure else self._id if name in ids else self._value
            new = self._at(name, old, write)
            if new is not old:
                written[name] = new
        return msgspec.structs.replace(value, **written) if written else value

    def _items(
        self, value: list[Any] | tuple[Any, ...], key: str | None = None
    ) -> list[Any] | tuple[Any, ...]:
        """The items of a list, which may stand under a key."""
        by_name = {number: (name, text) for number, name, text in _names_in_list(value)}
        written = []
        for number, item in enumerate(value):
            self._path.append(number)
            if change := self._changes.named.get(by_name.get(number, ("", ""))):
                written.append(self._changed(change))
            else:
                written.append(self._value(item) if key is None else self._named(key, item))
            self._path.pop()
        if all(new is old for new, old in zip(written, value, strict=True)):
            return value
        return type(value)(written)

    def _object(self, value: dict[Any, Any]) -> dict[Any, Any]:
        media, pair = _media(value), _name_and_value(value)
        written: dict[Any, Any] = {}
        is_changed = False
        for key, item in value.items():
            name = self._key(key, value, written) if type(key) is str else key
            self._path.append(str(name))
            if media and key == "data":
                new = self._payload(media, item)
            else:
                new = self._named(pair[0] if pair and key == "value" else key, item)
            self._path.pop()
            written[name] = new
            is_changed |= new is not item or name is not key
        return written if is_changed else value

    def _key(self, key: str, others: Container[str], written: Container[str]) -> str:
        """A key; two that become the same get numbers, so that both keep what stands under them."""
        name = self._string(key)
        if name is key:
            return key
        distinct, number = name, 1
        while distinct in written or distinct in others:
            number += 1
            distinct = f"{name}-{number}"
        return distinct

    def _payload(self, media: Attachment, data: str) -> str:
        attached = self._attachment(media)
        return data if attached is media else attached.data or ""

    def _named(self, key: Any, item: Any) -> Any:
        """What stands under a key: hidden because of it, or looked at as everything else."""
        if (text := _word(item)) is not None:
            change = self._change_by_name(key, text)
            return self._changed(change) if change else self._value(item)
        if type(key) is not str:
            return self._value(item)
        self._outer.append(key)
        is_list = type(item) is list and len(self._path) <= DEEPEST
        written = self._items(item, key) if is_list else self._value(item)
        self._outer.pop()
        return written

    def _change_by_name(self, key: Any, text: str) -> Change | None:
        names = self._changes.named
        outside = (names.get((inside(outer, str(key)), text)) for outer in self._outer)
        return names.get((key, text)) or next(filter(None, outside), None)

    def _screen(self, screen: Screen) -> Screen:
        """A terminal; a line in which something is hidden becomes one cell."""
        change = self._changes.strings.get(_text_of(screen.cells))
        if change is None:
            cells = self._at("cells", screen.cells, self._value)
            return screen if cells is screen.cells else Screen(cells)
        return Screen([self._value(line) for line in _redrawn(screen.cells, self._changed(change))])

    def _attachment(self, attachment: Attachment) -> Attachment:
        """Something attached: text is looked into, anything else is left out unless it is to be kept."""
        uri = self._uri(attachment.uri)
        mime_type = self._mime_type(attachment.mime_type)
        data = attachment.data
        if not self._keep_attachments and _has_payload(attachment):
            text = _text_inside(attachment)
            if text is None:
                self._note(Hidden("attachment", _media_type(mime_type)))
                uri, data = _without_payload(uri), None
            elif change := self._changes.strings.get(text):
                inside = base64.b64encode(encode(self._changed(change))).decode()
                uri, data = (uri, inside) if data else (_with_payload(uri or "", inside), None)
        written = Attachment(mime_type, data, uri, attachment.origin)
        return attachment if written == attachment else written

    def _mime_type(self, written: str | None) -> str | None:
        change = self._changes.structure.get(written or "")
        return self._changed(change) if change else written

    def _uri(self, uri: str | None) -> str | None:
        if uri is None or (shown := _without_payload(uri)) is None:
            return uri
        return self._string(shown) + uri[len(shown) :]

    def _where(self) -> FoundAt:
        match self._whole, self._path:
            case Session() as session, ["messages", int(number), "parts", int(part), *inside]:
                return FoundAt(number + 1, self._field(session.messages[number].parts[part], inside))
            case Session(), ["messages", int(number), *inside]:
                return FoundAt(number + 1, _dotted(inside))
            case _:
                return FoundAt(None, _dotted(self._path))

    def _field(self, part: AnyPart, inside: list[str | int]) -> str:
        steps = [step for step in inside if isinstance(step, str)]
        if not isinstance(part, ToolCall):
            kind = str(part.__struct_config__.tag).replace("-", " ")
            return kind if steps in (["text"], ["raw"], []) else f"{kind} {'.'.join(steps)}"
        name = change.text if (change := self._changes.structure.get(part.name)) else part.name
        match steps:
            case ["arguments", *keys]:
                return f"{name} argument {'.'.join(keys)}".strip()
            case ["changes", *keys]:
                return f"{name} change {'.'.join(keys)}".strip()
            case ["full_output", *_]:
                return f"{name} whole output"
            case [field, *_]:
                return f"{name} {field.replace('_', ' ')}"
            case _:
                return name


def _dotted(path: list[str | int]) -> str:
    return ".".join(step for step in path if isinstance(step, str)) or "session"


def _under(key: str, item: Any, outer: str | None = None, depth: int = 0) -> Iterator[tuple[str, str]]:
    """All that stands under a key that names a secret, each with its name."""
    name = key if outer is None else inside(outer, key)
    if (text := _word(item)) is not None:
        said = named(name)
        if type(item) is str or (said and said.label in _NUMBERED):
            yield name, text
    elif type(item) is list:
        for each in item if depth < _MOST_INSIDE else ():
            yield from _under(key, each, outer, depth + 1)
    elif type(item) is dict and depth < _MOST_INSIDE:
        for inner, each in item.items():
            if type(inner) is str:
                yield from _under(inner, each, outer or key, depth + 1)


def _word(item: Any) -> str | None:
    """A text, or a number as one if it could be a password; None if it is neither."""
    if type(item) is str:
        return item
    return str(item) if type(item) is int and _LEAST_NUMBER <= item < _TOO_LARGE else None


def _names_in_list(items: Sequence[Any]) -> Iterator[tuple[int, str, str]]:
    """What stands behind a name in a list: where, under which name, and what.

    A list of two may be a name and its value; in a longer one, what follows an option is meant by it.
    """
    if type(items) is not list:
        return
    for number, (first, second) in enumerate(pairwise(items)):
        if type(first) is not str or type(second) is not str or len(first) > LONGEST:
            continue
        if (len(items) == 2 or first.startswith("-")) and not second.startswith("-"):
            said = named(first.lstrip("-"))
            if said and said.trust is Trust.SURE:
                yield number + 1, in_list(first.lstrip("-")), second


def _name_and_value(value: dict[Any, Any]) -> tuple[str, str] | None:
    """The pair in an object that says name and value apart, as headers and variables often stand."""
    match value:
        case {"value": str(text), "name": str(name)} | {"value": str(text), "key": str(name)}:
            return name, text
        case _:
            return None


# -- attachments -------------------------------------------------------------


def _media(value: dict[Any, Any]) -> Attachment | None:
    """An attachment as agents write it inside of what we cannot name."""
    match value:
        case {"data": str(data), "mimeType": str(mime_type)} if len(data) >= 32:
            return Attachment(mime_type, data)
        case {"data": str(data), "mime_type": str(mime_type)} if len(data) >= 32:
            return Attachment(mime_type, data)
        case {"data": str(data), "media_type": str(mime_type)} if len(data) >= 32:
            return Attachment(mime_type, data)
        case _:
            return None


def _media_type(written: str | None) -> bytes:
    """What something is; whatever else stands there may be anything."""
    found = _MEDIA_TYPE.match(written) if written else None
    return encode(found[0]) if found else b"?"


def _has_payload(attachment: Attachment) -> bool:
    return bool(attachment.data or (attachment.uri and _DATA_URI.match(attachment.uri)))


def _text_inside(attachment: Attachment) -> str | None:
    """The words of an attachment; None if it has none that could be looked at."""
    if not (attachment.mime_type and _IS_TEXT.match(attachment.mime_type)):
        return None
    before, _, payload = (attachment.uri or "").partition(",")
    if not attachment.data and not _IS_BASE64.match(before):
        return None
    try:
        text = decode(base64.b64decode(attachment.data or payload, validate=True))
    except (binascii.Error, ValueError):
        return None
    # Zeros mean a wide encoding, in which a search would find nothing.
    return None if "\0" in text else text


def _without_payload(uri: str | None) -> str | None:
    """An address without the bytes that it may carry itself."""
    found = _DATA_URI.match(uri) if uri else None
    return found[0] if found else uri


def _with_payload(uri: str, payload: str) -> str:
    found = _DATA_URI.match(uri)
    return f"{found[0]},{payload}" if found else uri


# -- terminals ---------------------------------------------------------------


def _text_of(cells: list[list[Any]]) -> str:
    return "\n".join(_line_text(line) for line in cells)


def _line_text(line: Any) -> str:
    text = "".join(_cell_text(cell) for cell in line) if isinstance(line, list) else ""
    return text.replace("\n", " ")


def _cell_text(cell: Any) -> str:
    match cell:
        case {"text": str(text)} | str(text):
            return text
        case _:
            return ""


def _redrawn(cells: list[list[Any]], after: str) -> Iterator[list[Any]]:
    """The lines of a terminal after something was hidden: as they were, or of one cell."""
    before, lines = [_line_text(line) for line in cells], after.split("\n")
    start = 0 if len(before) == len(lines) else _same(before, lines)
    end = 0 if len(before) == len(lines) else _same(before[start:][::-1], lines[start:][::-1])
    yield from cells[:start]
    for number, line in enumerate(lines[start : len(lines) - end], start):
        if number < len(before) and before[number] == line:
            yield cells[number]
        else:
            yield [_restyled(cells[min(number, len(cells) - 1)], line)]
    yield from cells[len(cells) - end :]


def _same(lines: list[str], others: list[str]) -> int:
    """How many lines are the same from the beginning."""
    different = (
        place for place, (line, other) in enumerate(zip(lines, others, strict=False)) if line != other
    )
    return next(different, min(len(lines), len(others)))


def _restyled(line: list[Any], text: str) -> Any:
    style = next((cell for cell in line if isinstance(cell, dict)), None)
    return style | {"text": text} if style is not None else text
