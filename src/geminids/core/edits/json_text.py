"""One member more or less in a JSON text, which may have comments and commas too many.

Indents, line ends, the order of members and the end of the file stay as they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from geminids.core.edits.errors import UneditableError
from geminids.core.edits.nested import nested, value_at, with_value

Path = Sequence[str]

_BLANK = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
"""What may stand between two tokens."""
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"-?\d[-+.eE0-9]*|true|false|null")
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"
_USUAL_INDENT = "  "
_DEEPEST = 200


class _Value(NamedTuple):
    """Where a value stands."""

    start: int
    end: int
    members: list[_Member] | None
    """Those of an object."""
    meaning: Any


class _Member(NamedTuple):
    """Where a member of an object stands."""

    name: str
    start: int
    value: _Value


def with_member(text: bytes, path: Path, value: Any) -> bytes:
    """The text with a member at a path, and the objects on the way to it. Raises UneditableError.

    An empty text becomes an object. What stands at the path must not be there yet.
    """
    if not text.strip(b" \t\r\n"):
        return _checked(json.dumps(nested(path, value), indent=2).encode() + b"\n", nested(path, value))
    words = _decoded(text)
    root = _read(words)
    place, rest = _deepest(root, path)
    if not rest:
        raise UneditableError(f"already has {_spelled(path)}")
    if place.members is None:
        raise UneditableError(f"has something other than an object at {_spelled(path[: -len(rest)])}")
    added = _inserted(words, place, rest[0], nested(rest[1:], value))
    return _checked(added.encode("utf-8", "surrogatepass"), with_value(root.meaning, path, value))


def without_member(text: bytes, path: Path, before: bytes | None = None) -> bytes:
    """The text without the member at a path, and without objects on the way that are empty then.

    Those that `before` has stay. The same text if there is no such member. Raises UneditableError.
    """
    if not text.strip(b" \t\r\n"):
        return text
    words = _decoded(text)
    root = _read(words)
    if _deepest(root, path)[1]:
        return text
    there = _meaning(before)
    while len(path) > 1 and _is_alone(root, path) and value_at(there, path[:-1]) is None:
        path = path[:-1]
    above, _ = _deepest(root, path[:-1])
    return _checked(_removed(words, above, path[-1]).encode(), _reduced(root.meaning, path))


def member(text: bytes, path: Path) -> Any:
    """What stands at a path; None if nothing does. Raises UneditableError."""
    return value_at(_meaning(text), path)


def _decoded(text: bytes) -> str:
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UneditableError(f"is not UTF-8 (byte {error.start})") from error


def _meaning(text: bytes | None) -> Any:
    return _read(_decoded(text)).meaning if text and text.strip(b" \t\r\n") else None


def _reduced(base: Any, path: Path) -> Any:
    others = {name: value for name, value in base.items() if name != path[0]}
    if len(path) == 1:
        return others
    return {name: _reduced(value, path[1:]) if name == path[0] else value for name, value in base.items()}


def _spelled(path: Path) -> str:
    return ".".join(path) or "its top"


def _checked(text: bytes, meaning: Any) -> bytes:
    """The text, if it means what it should."""
    if _read(_decoded(text)).meaning != meaning:
        raise UneditableError("is written in a way that geminids cannot change safely")
    return text


# Reading


def _read(words: str) -> _Value:
    """Where everything stands. Raises UneditableError for what is no JSON object."""
    at = _skip(words, len(_MARK) if words.startswith(_MARK) else 0)
    root = _value(words, at, 0)
    end = _skip(words, root.end)
    if end < len(words):
        raise _unexpected(words, end)
    if root.members is None:
        raise UneditableError("does not hold a JSON object")
    return root


def _skip(words: str, at: int) -> int:
    found = _BLANK.match(words, at)
    return found.end() if found else at


def _unexpected(words: str, at: int) -> UneditableError:
    line = words.count("\n", 0, at) + 1
    what = f"unexpected {words[at]!r}" if at < len(words) else "it ends too early"
    return UneditableError(f"is not valid JSON (line {line}: {what})")


def _value(words: str, at: int, depth: int) -> _Value:
    if depth > _DEEPEST:
        raise UneditableError("is nested too deeply")
    match words[at : at + 1]:
        case "{":
            return _object(words, at, depth)
        case "[":
            return _list(words, at, depth)
        case '"':
            text, end = _string(words, at)
            return _Value(at, end, None, text)
    if (found := _ATOM.match(words, at)) is None:
        raise _unexpected(words, at)
    try:
        return _Value(at, found.end(), None, json.loads(found[0]))
    except ValueError as error:
        raise _unexpected(words, at) from error


def _string(words: str, at: int) -> tuple[str, int]:
    if (found := _STRING.match(words, at)) is None:
        raise _unexpected(words, at)
    try:
        return str(json.loads(found[0])), found.end()
    except ValueError as error:
        raise _unexpected(words, at) from error


def _object(words: str, start: int, depth: int) -> _Value:
    members: list[_Member] = []
    meanings: dict[str, Any] = {}
    at = _skip(words, start + 1)
    while words[at : at + 1] != "}":
        name, end = _string(words, at)
        colon = _skip(words, end)
        if words[colon : colon + 1] != ":":
            raise _unexpected(words, colon)
        value = _value(words, _skip(words, colon + 1), depth + 1)
        if name in meanings:
            raise UneditableError(f"has {name!r} twice")
        members.append(_Member(name, at, value))
        meanings[name] = value.meaning
        at = _after_comma(words, value.end, "}")
    return _Value(start, at + 1, members, meanings)


def _list(words: str, start: int, depth: int) -> _Value:
    meanings: list[Any] = []
    at = _skip(words, start + 1)
    while words[at : at + 1] != "]":
        value = _value(words, at, depth + 1)
        meanings.append(value.meaning)
        at = _after_comma(words, value.end, "]")
    return _Value(start, at + 1, None, meanings)


def _after_comma(words: str, at: int, closing: str) -> int:
    """Where the next value begins, or the end of what holds it."""
    at = _skip(words, at)
    if words[at : at + 1] == ",":
        return _skip(words, at + 1)
    if words[at : at + 1] != closing:
        raise _unexpected(words, at)
    return at


def _deepest(value: _Value, path: Path) -> tuple[_Value, Path]:
    """The last value that is there on a path, and what of the path is not."""
    for place, name in enumerate(path):
        found = next((one.value for one in value.members or () if one.name == name), None)
        if found is None:
            return value, path[place:]
        value = found
    return value, ()


def _is_alone(root: _Value, path: Path) -> bool:
    above, _ = _deepest(root, path[:-1])
    return len(above.members or ()) == 1


# Writing


def _inserted(words: str, place: _Value, name: str, value: Any) -> str:
    """The text with one member more at the end of an object."""
    members = place.members or []
    last = members[-1].value.end if members else place.start + 1
    close = place.end - 1
    after = _skip(words, last)
    has_comma = words[after : after + 1] == ","
    tail = after + 1 if has_comma else last
    indent, line_end = _indent(words, place), "\r\n" if "\r\n" in words else "\n"
    closing = ""
    if indent is None:
        written = f"{json.dumps(name)}: {json.dumps(value)}"
        lead = "" if not members else " "
    else:
        own, step = indent
        # Behind whatever comment belongs to the last member.
        tail = _end_of_comments(words, tail, close)
        shown = json.dumps({name: value}, indent=step).split("\n")[1:-1]
        written = line_end.join(f"{own}{line.removeprefix(step)}" for line in shown)
        lead = line_end
        if "\n" not in words[tail:close]:
            closing = line_end + _line_indent(words, place.start)
    comma = "," if members and not has_comma else ""
    # Who ends the last line with a comma finds one there again.
    written += "," if has_comma else ""
    return f"{words[:last]}{comma}{words[last:tail]}{lead}{written}{closing}{words[tail:]}"


def _end_of_comments(words: str, start: int, close: int) -> int:
    """Where the last comment between two places ends; the first of them if there is none."""
    end = start
    for found in re.finditer(r"//[^\n]*|/\*.*?\*/", words[start:close], re.DOTALL):
        end = start + found.end()
    return end - 1 if words[end - 1 : end] == "\r" else end


def _indent(words: str, place: _Value) -> tuple[str, str] | None:
    """How far members of an object are indented, and by how much more each; None if all are on one line."""
    outer, end = _line_indent(words, place.start), place.start
    for one in place.members or ():
        line = words.rfind("\n", end, one.start)
        end = one.value.end
        if line >= 0 and not words[line + 1 : one.start].strip(" \t"):
            own = words[line + 1 : one.start]
            step = own.removeprefix(outer) if own.startswith(outer) else ""
            return own, step or _USUAL_INDENT
    if place.members:
        return None
    return outer + _USUAL_INDENT, _USUAL_INDENT


def _line_indent(words: str, at: int) -> str:
    line = words[words.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _removed(words: str, above: _Value, name: str) -> str:
    """The text without a member of an object, and without the comma that it needed."""
    members = above.members or []
    place = next(number for number, one in enumerate(members) if one.name == name)
    gone = members[place]
    start = _start_of_blank(words, gone.start)
    comma = _skip(words, gone.value.end)
    before = members[place - 1].value.end if place else above.start + 1
    if words[comma : comma + 1] == ",":
        left, rest = words[:start], words[gone.value.end : comma] + words[comma + 1 :]
    elif not place:
        end = gone.value.end
        is_all = not words[above.start + 1 : start] and not words[end : above.end - 1].strip(" \t\r\n")
        left, rest = words[:start], words[above.end - 1 if is_all else end :]
    else:
        found = next(_commas(words, before, start))
        left, rest = words[:found] + words[found + 1 : start], words[gone.value.end :]
    # What stood in a line of its own below a comment does not become part of it.
    is_open = _ends_in_comment(words[before:start]) and not re.match(r"[ \t]*\r?\n", rest)
    return left + ("\n" if is_open else "") + rest


def _ends_in_comment(blank: str) -> bool:
    """Whether what stands between two tokens ends in a comment that goes on to the end of its line."""
    ends = [(found.end(), found[0]) for found in re.finditer(r"//[^\n]*|/\*.*?\*/", blank, re.DOTALL)]
    return bool(ends) and ends[-1][0] == len(blank) and ends[-1][1].startswith("//")


def _start_of_blank(words: str, at: int) -> int:
    return len(words[:at].rstrip(" \t\r\n"))


def _commas(words: str, start: int, end: int) -> Iterator[int]:
    """Where commas stand outside comments."""
    at = start
    while at < end:
        at = _skip(words, at)
        if words[at : at + 1] == ",":
            yield at
        at += 1
