"""The words of a message, by where they stand: what is indexed, and what a search is checked against.

Usually prompts, answers, thoughts, names and arguments of tools and paths are indexed whole, and of outputs
and of what agents put in the beginning and the end, which is where errors are; on request, every word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from geminids.core.model import (
    AnyPart,
    Attachment,
    FileReference,
    Message,
    Origin,
    Plain,
    ResultPart,
    Text,
    Thought,
    ToolCall,
    ToolResult,
    Unrecognised,
)
from geminids.storage.index.schema import COLUMNS

MODEL, THOUGHT, OUTPUT, TOOL, HUMAN, PATH, OTHER = range(len(COLUMNS))
BEGINNING = 160
END = 240
"""So many characters of an output are indexed; the last ones more often say what went wrong."""
_NAMES_A_PATH = ("path", "paths", "file", "files", "filename", "dir", "directory", "folder")
_LONGEST_WORD = 40
_ALPHANUMERIC = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_DEEPEST = 20


def words(message: Message, title: str = "", *, everything: bool = False) -> tuple[str, ...]:
    """What is indexed of a message, by column; the first of a session may stand for its title."""
    gathered = _Gathered(everything)
    for part in message.parts:
        gathered.add(part)
    if title:
        gathered.columns[OTHER].append(title)
    return tuple(["\n".join(pieces) for pieces in gathered.columns])


class _Gathered:
    """The words of a message on their way to their columns. Every message of an index goes through here."""

    __slots__ = ("_everything", "columns")

    def __init__(self, everything: bool) -> None:
        self.columns: tuple[list[str], ...] = ([], [], [], [], [], [], [])
        self._everything = everything

    def add(self, part: AnyPart) -> None:
        # In the order of how many there are.
        if isinstance(part, ToolCall):
            self._add_call(part)
        elif isinstance(part, Thought):
            self.columns[THOUGHT].append(f"{part.subject}\n{part.text}" if part.subject else part.text)
        elif isinstance(part, Text):
            self._add_text(part)
        elif isinstance(part, ToolResult):
            self._add_answers(part.parts)
        elif isinstance(part, FileReference):
            self.columns[PATH].append(part.path)
            self._add_long(OTHER, part.text or "")
        elif isinstance(part, Attachment):
            self.columns[PATH].append(part.uri or "")
        else:
            self._add_long(OTHER, "\n".join(_strings(part.raw)))

    def _add_text(self, part: Text) -> None:
        # Asking an enumeration for its hash takes longer than these comparisons.
        if part.origin is Origin.MODEL:
            self.columns[MODEL].append(part.text)
        elif part.origin is Origin.HUMAN or part.origin is Origin.COMMAND:
            self.columns[HUMAN].append(part.text)
        else:
            self._add_long(OUTPUT if part.origin is Origin.TOOL else OTHER, part.text)

    def _add_call(self, call: ToolCall) -> None:
        tool, paths = self.columns[TOOL], self.columns[PATH]
        tool.append(call.name)
        for name, value in call.arguments.items():
            found = paths if _names_a_path(name) else tool
            if value.__class__ is str:
                found.append(value)
            elif value.__class__ in (dict, list):
                found.extend(_strings(value))
        if call.changes:
            paths.extend([change.path for change in call.changes])
        if call.result:
            self._add_answers(call.result)
        elif isinstance(call.display, Plain):
            self._add_long(OUTPUT, call.display.text)
        if call.full_output and call.full_output.text:
            self._add_long(OUTPUT, call.full_output.text)

    def _add_answers(self, parts: Iterable[ResultPart]) -> None:
        for part in parts:
            if isinstance(part, Text):
                self._add_long(OUTPUT, part.text)
            elif isinstance(part, Unrecognised):
                self._add_long(OUTPUT, "\n".join(_strings(part.raw)))

    def _add_long(self, place: int, text: str) -> None:
        if self._everything or len(text) <= BEGINNING + END:
            self.columns[place].append(text)
        else:
            self.columns[place].extend((_up_to_a_gap(text[:BEGINNING]), _from_a_gap(text[-END:])))


@lru_cache(maxsize=256)
def _names_a_path(argument: str) -> bool:
    """Whether the value of an argument is a path; there are few names of arguments."""
    return argument.lower().endswith(_NAMES_A_PATH)


def _up_to_a_gap(beginning: str) -> str:
    """Without the last word, which may be half of one."""
    if beginning.isascii():
        return beginning[: max(len(beginning.rstrip(_ALPHANUMERIC)), len(beginning) - _LONGEST_WORD)]
    end = len(beginning)
    while end and _is_inside_a_word(beginning[end - 1]) and len(beginning) - end < _LONGEST_WORD:
        end -= 1
    return beginning[:end]


def _from_a_gap(end: str) -> str:
    """Without the first word, which may be half of one."""
    if end.isascii():
        return end[min(len(end) - len(end.lstrip(_ALPHANUMERIC)), _LONGEST_WORD) :]
    start = 0
    while start < min(len(end), _LONGEST_WORD) and _is_inside_a_word(end[start]):
        start += 1
    return end[start:]


def _is_inside_a_word(character: str) -> bool:
    # From here on, characters stand for themselves.
    return character.isalnum() and character < "\u2e80"


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Every text in a JSON value, as deep as anybody writes."""
    match value:
        case str():
            yield value
        case dict() if depth < _DEEPEST:
            for inner in value.values():
                yield from _strings(inner, depth + 1)
        case list() | tuple() if depth < _DEEPEST:
            for inner in value:
                yield from _strings(inner, depth + 1)
