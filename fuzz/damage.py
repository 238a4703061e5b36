"""Ways in which a session file can be damaged or odd."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Protocol


class Choices(Protocol):
    """Where decisions come from: a random generator, or a fuzzer that learns from them."""

    def below(self, bound: int) -> int:
        """A number from 0 up to, not including, the bound; 0 if the bound is."""
        ...


Damage = Callable[[bytes, Choices], bytes]

NOISE = (
    b"",
    b"null",
    b"[]",
    b"{}",
    b'"words"',
    b"NaN",
    b"-Infinity",
    b"1e999",
    b"\xef\xbb\xbf{}",
    b"\xff\xfe\x00",
    b"\x00\x00\x00",
    b'{"$set":null}',
    b'{"$set":{"messages":null}}',
    b'{"$set":{"messages":[]}}',
    b'{"$set":{"messages":[null,1,{}]}}',
    b'{"$rewindTo":null}',
    b'{"$rewindTo":"nobody"}',
    b'{"sessionId":5}',
    b'{"sessionId":"another","projectHash":null,"startTime":"yesterday"}',
    b'{"id":"x","type":"user"}',
    b'{"id":"x","type":"gemini","content":{"text":"half an emoji \\ud83d"},"toolCalls":5}',
    b'{"id":["x"],"timestamp":1e400,"type":"user","content":NaN}',
    b'{"id":"\\ud800","type":"\\u0000","content":[[[[]]]]}',
    b"[" * 3000,
    b'{"a":' * 3000,
    b'{"id":"deep","type":"user","content":' + b"[" * 2000 + b"]" * 2000 + b"}",
)

ODD_VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    10**400,
    1.5,
    float("nan"),
    float("inf"),
    "",
    "words",
    "\ud83d",
    "\x00\x1b[31m",
    "2026-13-45T99:99:99Z",
    [],
    [None],
    [[]],
    ["words", 5],
    {},
    {"text": 5},
    {"text": "words"},
    {"functionResponse": None},
    {"functionCall": {"name": None, "args": []}},
    [{"functionResponse": {"id": 5, "response": "words"}}],
)


def cut(raw: bytes, choices: Choices) -> bytes:
    """The file ends anywhere."""
    return raw[: choices.below(len(raw) + 1)]


def cut_at_line(raw: bytes, choices: Choices) -> bytes:
    """The file ends with a line."""
    lines = raw.splitlines(keepends=True)
    return b"".join(lines[: choices.below(len(lines) + 1)])


def flip(raw: bytes, choices: Choices) -> bytes:
    """One byte is another."""
    if not raw:
        return raw
    place = choices.below(len(raw))
    return raw[:place] + bytes([choices.below(256)]) + raw[place + 1 :]


def lose(raw: bytes, choices: Choices) -> bytes:
    """A stretch is missing."""
    start = choices.below(len(raw) + 1)
    return raw[:start] + raw[start + choices.below(300) :]


def repeat(raw: bytes, choices: Choices) -> bytes:
    """A stretch is there twice."""
    start = choices.below(len(raw) + 1)
    end = start + choices.below(300)
    return raw[:end] + raw[start:]


def glue(raw: bytes, choices: Choices) -> bytes:
    """Two lines have become one."""
    lines = raw.splitlines(keepends=True)
    place = choices.below(len(lines))
    return b"".join(line.rstrip(b"\n") if number == place else line for number, line in enumerate(lines))


def swap(raw: bytes, choices: Choices) -> bytes:
    """Two lines stand in each other's place."""
    lines = raw.splitlines(keepends=True)
    if not lines:
        return raw
    one, other = choices.below(len(lines)), choices.below(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def add_noise(raw: bytes, choices: Choices) -> bytes:
    """A line that nobody expects."""
    lines = raw.splitlines(keepends=True)
    lines.insert(choices.below(len(lines) + 1), NOISE[choices.below(len(NOISE))] + b"\n")
    return b"".join(lines)


def add_noise_anywhere(raw: bytes, choices: Choices) -> bytes:
    """Bytes that nobody expects, in the middle of something."""
    place = choices.below(len(raw) + 1)
    return raw[:place] + NOISE[choices.below(len(NOISE))] + raw[place:]


def mark_byte_order(raw: bytes, choices: Choices) -> bytes:
    """An editor has put its mark in front."""
    del choices
    return b"\xef\xbb\xbf" + raw


def change_type(raw: bytes, choices: Choices) -> bytes:
    """A field holds another kind of value than it should, in one line or in the document."""
    lines = raw.splitlines(keepends=True)
    if not lines:
        return raw
    number = choices.below(len(lines))
    for start, end in ((number, number + 1), (0, len(lines))):
        try:
            record = json.loads(b"".join(lines[start:end]))
        except (ValueError, RecursionError):
            continue
        odd = json.dumps(_with_odd_value(record, choices)).encode()
        return b"".join(lines[:start]) + odd + b"\n" + b"".join(lines[end:])
    return raw


def _with_odd_value(value: Any, choices: Choices) -> Any:
    """Walk down by chance, and put an odd value where the walk ends."""
    if not isinstance(value, dict | list) or not value or choices.below(5) == 0:
        return ODD_VALUES[choices.below(len(ODD_VALUES))]
    if isinstance(value, list):
        place = choices.below(len(value))
        return [_with_odd_value(item, choices) if n == place else item for n, item in enumerate(value)]
    name = list(value)[choices.below(len(value))]
    return {**value, name: _with_odd_value(value[name], choices)}


KINDS: tuple[Damage, ...] = (
    cut,
    cut_at_line,
    flip,
    lose,
    repeat,
    glue,
    swap,
    add_noise,
    add_noise_anywhere,
    mark_byte_order,
    change_type,
)


def damaged(raw: bytes, choices: Choices) -> bytes:
    """The file after one to three accidents."""
    for _ in range(1 + choices.below(3)):
        raw = KINDS[choices.below(len(KINDS))](raw, choices)
    return raw
