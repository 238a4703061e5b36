"""A line at the top and tables at the end of a TOML text; all that stands between stays as it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from geminids.core.edits.errors import UneditableError
from geminids.core.edits.nested import value_at, with_value

OURS = "# geminids"
"""Stands behind the line that is added at the top, so that it is known again."""
_MARK = b"\xef\xbb\xbf"
_HEADER = re.compile(rb"[ \t]*\[")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def meaning(text: bytes) -> dict[str, Any]:
    """What a text says. Raises UneditableError."""
    try:
        return tomllib.loads(text.removeprefix(_MARK).decode("utf-8"))
    except UnicodeDecodeError as error:
        raise UneditableError(f"is not UTF-8 (byte {error.start})") from error
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UneditableError(f"is not valid TOML ({error})") from error


def with_key(text: bytes, key: str, value: Any) -> bytes:
    """The text with a key at its top. Raises UneditableError."""
    said = meaning(text)
    line = f"{key} = {_spelled(value)}  {OURS}".encode() + _line_end(text)
    mark = _MARK if text.startswith(_MARK) else b""
    return _checked(mark + line + text.removeprefix(mark), {**said, key: value})


def without_key(text: bytes, key: str, is_ours: Callable[[Any], bool]) -> bytes:
    """Return the text without the line that was added for a key, also if a formatter made several of it.

    A line stays if its value is not ours. Raises UneditableError.
    """
    said = meaning(text)
    if not is_ours(said.pop(key, None)):
        return text
    value = rb"(?:[^\r\n]*?|\[[^\]]*\])"
    line = rb"(?m)(?:^|(?<=\A\xef\xbb\xbf))%s[ \t]*=[ \t]*%s[ \t]*%s[ \t]*\r?(?:\n|\Z)"
    strings = list(_strings_of_several_lines(text))
    for found in re.finditer(line % (key.encode(), value, OURS.encode()), text):
        if not any(start < found.start() < end for start, end in strings):
            return _checked(text[: found.start()] + text[found.end() :], said)
    return text


def with_table(text: bytes, path: Sequence[str], values: Mapping[str, Any]) -> bytes:
    """The text with a table at its end, after an empty line. Raises UneditableError."""
    said, end = meaning(text), _line_end(text)
    if value_at(said, path) is not None:
        raise UneditableError(f"already has {'.'.join(path)}")
    lines = [f"[{'.'.join(path)}]", *(f"{name} = {_spelled(value)}" for name, value in values.items())]
    gap = end if text.removeprefix(_MARK).strip() else b""
    begin = b"" if not text.removeprefix(_MARK) or text.endswith(b"\n") else end
    table = b"".join(line.encode() + end for line in lines)
    try:
        return _checked(text + begin + gap + table, with_value(said, path, dict(values)))
    except UneditableError as error:
        raise UneditableError(
            f"cannot be given a table [{'.'.join(path)}]: {path[0]} is written in one line there"
        ) from error


def without_table(text: bytes, path: Sequence[str]) -> bytes:
    """The text without a table and those below it, and without an empty line in front of it."""
    said = meaning(text)
    if value_at(said, path) is None:
        return text
    lines = text.splitlines(keepends=True)
    places = [place for place, line in _lines_outside_strings(text) if _names(line, path)]
    left = _without_blocks(lines, places)
    if not any(_says(left, wanted) for wanted in _without(said, path)):
        raise UneditableError(f"has {'.'.join(path)} in a way that geminids cannot remove safely")
    return left


def _without_blocks(lines: Sequence[bytes], places: Sequence[int]) -> bytes:
    """The lines without tables that begin there, and without an empty line in front of each."""
    kept: list[bytes] = []
    behind: list[bytes] = []
    is_ours = False
    for place, line in enumerate(lines):
        if place in places:
            is_ours = True
            kept += behind
            if kept and not kept[-1].strip():
                kept.pop()
            behind = []
        elif is_ours and _HEADER.match(line):
            is_ours = False
            kept += behind
            behind = []
        if not is_ours:
            kept.append(line)
        elif not line.strip() or line.lstrip().startswith(b"#"):
            # Comments and empty lines behind it are somebody else's.
            behind.append(line)
        else:
            behind = []
    return b"".join([*kept, *behind])


def _says(text: bytes, said: Mapping[str, Any]) -> bool:
    try:
        return meaning(text) == said
    except UneditableError:
        return False


def with_element(text: bytes, path: Sequence[str], value: Mapping[str, Any]) -> bytes:
    """The text with one more element of an array of tables, on a line of its own at the end.

    Raises UneditableError.
    """
    said, end = meaning(text), _line_end(text)
    there = value_at(said, path) or []
    begin = b"" if not text or text.endswith(b"\n") else end
    lines = [f"[[{'.'.join(path)}]]  {OURS}", *(f"{name} = {_spelled(one)}" for name, one in value.items())]
    element = b"".join(line.encode() + end for line in lines)
    try:
        return _checked(text + begin + end + element, with_value(said, path, [*there, dict(value)]))
    except UneditableError as error:
        raise UneditableError(f"cannot be given an element of {'.'.join(path)}") from error


def without_element(text: bytes, path: Sequence[str], is_ours: Callable[[Any], bool]) -> bytes:
    """Return the text without the element that was added to an array of tables, and the empty line before it.

    An element stays if its value is not ours. Raises UneditableError.
    """
    said = meaning(text)
    header = re.compile(rb"[ \t]*\[\[%s\]\][ \t]*(%s)?" % (re.escape(".".join(path)).encode(), OURS.encode()))
    found = [(place, match) for place, line in _lines_outside_strings(text) if (match := header.match(line))]
    elements = value_at(said, path) or []
    for (place, match), element in reversed(list(zip(found, elements, strict=False))):
        if match[1] and is_ours(element):
            rest = [other for other in elements if other is not element]
            wanted = [with_value(said, path, rest)] if rest else _without(said, path)
            left = _without_blocks(text.splitlines(keepends=True), [place])
            if any(_says(left, one) for one in wanted):
                return left
            raise UneditableError(f"has {'.'.join(path)} in a way that geminids cannot remove safely")
    return text


_STRINGS = re.compile(
    rb'#[^\n]*|"""(?:\\.|[^\\])*?"{3,5}|\x27{3}.*?\x27{3,5}|"(?:\\.|[^"\\\n])*"|\x27[^\x27\n]*\x27', re.DOTALL
)
"""Comments and strings, in which quotes and brackets have no meaning."""


def _strings_of_several_lines(text: bytes) -> Iterator[tuple[int, int]]:
    """Yield the spans of strings that have line breaks; the text is valid TOML."""
    return (found.span() for found in _STRINGS.finditer(text) if b"\n" in found[0])


def _lines_outside_strings(text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the number and the text of each line that does not begin inside a string."""
    strings, at = list(_strings_of_several_lines(text)), 0
    for place, line in enumerate(text.splitlines(keepends=True)):
        while strings and strings[0][1] <= at:
            strings.pop(0)
        if not (strings and strings[0][0] < at):
            yield place, line
        at += len(line)


def _names(header: bytes, path: Sequence[str]) -> bool:
    """Whether a line begins this table, or one below it."""
    name = "|".join((re.escape(".".join(path)), r"\.".join(rf'"?{re.escape(one)}"?' for one in path)))
    return re.match(rf"[ \t]*\[\[?[ \t]*(?:{name})[ \t]*[\].]", header.decode()) is not None


def _line_end(text: bytes) -> bytes:
    return b"\r\n" if b"\r\n" in text else b"\n"


def _spelled(value: Any) -> str:
    """A value as TOML has it: what JSON writes of texts, numbers and lists is the same."""
    if isinstance(value, dict):
        inner = ", ".join(f"{_key(str(name))} = {_spelled(one)}" for name, one in value.items())
        return f"{{ {inner} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_spelled, value))}]"
    # TOML knows no halves of what is beyond 16 bits, and no DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else _spelled(name)


def _checked(text: bytes, said: Mapping[str, Any]) -> bytes:
    """The text, if it says what it should."""
    if not _says(text, said):
        raise UneditableError("is written in a way that geminids cannot change safely")
    return text


def _without(said: Mapping[str, Any], path: Sequence[str]) -> list[dict[str, Any]]:
    """What may be said without something: the table above it has a header of its own, or is gone with it."""
    above = value_at(said, path[:-1])
    others = {name: value for name, value in above.items() if name != path[-1]}
    return [with_value(said, path[:-1], others), _reduced(said, path)]


def _reduced(said: Mapping[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """What is said without something, and without the tables above it that are empty then."""
    first, rest = path[0], path[1:]
    below = _reduced(said[first], rest) if rest else {}
    others = {name: value for name, value in said.items() if name != first}
    return {**others, first: below} if below else others
