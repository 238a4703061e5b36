"""Columns of passwords: in tables of Markdown and of databases, in CSV, and in the rows that SQL inserts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from geminids.sharing.redact.assignments import Match, Secret
from geminids.sharing.redact.names import Trust, named
from geminids.sharing.redact.plausibility import is_chosen, is_likely, is_placeholder, is_random

_NAME = rb"(?:pass(?:w(?:or)?d|phrase|wort|code)?|pwd?|secret|token|key)[A-Za-z0-9_ -]{0,12}"
PATTERN = (
    rb"(?i)"
    + _NAME
    + rb"[*`\" ]{0,4}(?:\|[^\r\n\x1e]{0,400})?[ \t]{0,4}(?:\r?\n|\\n)[ \t]{0,8}\|?[ \t]{0,4}:?-{2,}[ \t:|+-]"
)
"""The head of a table with a column of that name, and the rule below it."""
CSV = rb"(?i)" + _NAME + rb"\"?(?:[,;\t][A-Za-z0-9_ .,;\t\"-]{1,300})?(?:\r?\n|\\n)[!-~\x80-\xff]"
INSERT = (
    rb"(?i)insert[ \t]{1,4}into[ \t]{1,4}[^\s(]{1,80}[ \t]{0,4}\((?P<columns>[^()\x1e]{3,600})\)["
    rb" \t\r\n]{0,8}values[ \t\r\n]{0,8}\("
)
_LINE = re.compile(rb"(?P<line>(?:[^\r\n\\\x1e]|\\[^n\r\n]){0,2000})(?P<end>\r?\n|\\n|\Z|\x1e)")
_CSV_NAME = re.compile(rb"\"?[A-Za-z0-9_.][A-Za-z0-9_ .-]{0,30}\"?[ \t]{0,2}")
_MOST_ROWS = 200
_VALUES = re.compile(
    rb"[ \t\r\n]*(?:'(?P<single>[^'\x1e]{0,400})'|\"(?P<double>[^\"\x1e]{0,400})\"|(?P<bare>[^,("
    rb")'\"\x1e]{1,200}))[ \t\r\n]*(?P<end>[,)])"
)


def columns(match: Match) -> Iterator[Secret]:
    """The cells below a head that names a secret, in tables with bars."""
    yield from _column(match, b"|", has_rule=True)


def csv_columns(match: Match) -> Iterator[Secret]:
    """The same in lines of values with commas, semicolons or tabs between them."""
    head = _line_at(match.string, match.start())
    for sign in (b",", b";", b"\t"):
        if sign in head:
            yield from _column(match, sign, has_rule=False)
            return


def _line_at(text: bytes, place: int) -> bytes:
    start = _line_start(text, place)
    line = _LINE.match(text, start)
    return line["line"] if line else b""


def _line_start(text: bytes, place: int) -> int:
    escaped = text.rfind(b"\\n", max(place - 2000, 0), place)
    return max(text.rfind(b"\n", 0, place) + 1, escaped + 2 if escaped != -1 else 0)


def _column(match: Match, sign: bytes, *, has_rule: bool) -> Iterator[Secret]:
    text = match.string
    start = _line_start(text, match.start())
    head = _LINE.match(text, start)
    if head is None:
        return
    names = [name.strip(b" \t*`\"'_").decode("utf-8", "replace") for name in head["line"].split(sign)]
    wanted = {number: said for number, name in enumerate(names) if (said := _said(name))}
    if (
        not wanted
        or len(names) < 2
        or not (has_rule or all(map(_CSV_NAME.fullmatch, head["line"].split(sign))))
    ):
        return
    place = head.end()
    for row in range(_MOST_ROWS + 1):
        line = _LINE.match(text, place)
        is_rule = has_rule and row == 0
        if line is None or not (is_rule or line["line"].count(sign) == len(names) - 1):
            return
        if not is_rule:
            yield from _cells(line, sign, wanted)
        if not line["end"].strip(b"\x1e") or line.end() == place:
            return
        place = line.end()


def _said(name: str) -> str | None:
    said = named(name)
    return said.label if said and said.trust is not Trust.KEY else None


def _cells(line: Match, sign: bytes, wanted: dict[int, str]) -> Iterator[Secret]:
    start = line.start("line")
    for number, cell in enumerate(line["line"].split(sign)):
        value = cell.strip(b" \t*`\"'")
        if number in wanted and _is_secret(value):
            begin = start + cell.find(value)
            yield Secret(begin, begin + len(value), wanted[number])
        start += len(cell) + 1


def _is_secret(value: bytes) -> bool:
    if len(value) < 4 or is_placeholder(value):
        return False
    return is_chosen(value) or is_likely(value) or is_random(value, hash_is_secret=True)


def inserted(match: Match) -> Iterator[Secret]:
    """The values of the columns that are named before them, in each of the rows."""
    names = [name.strip(b' \t\r\n`"[]').decode("utf-8", "replace") for name in match["columns"].split(b",")]
    wanted = {number: said for number, name in enumerate(names) if (said := _said(name))}
    place, number = match.end(), 0
    while wanted and number < _MOST_ROWS * len(names):
        value = _VALUES.match(match.string, place)
        if value is None:
            return
        group = next(group for group in ("single", "double", "bare") if value[group] is not None)
        if (label := wanted.get(number % len(names))) and _is_secret(value[group].strip()):
            yield Secret(*value.span(group), label)
        place, number = value.end(), number + 1
        if value["end"] == b")":
            more = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*\(").match(match.string, place)
            if more is None:
                return
            place = more.end()
