"""Markdown that a model wrote, as a piece of a larger document that it can neither break nor make dangerous.

It stays Markdown, but
- its headings stand below ours, and a line of dashes below a text is a line, not a heading;
- fences are closed before the document goes on, and none is open that we do not know of;
- tags are words; pictures are links, since a reader's browser must not fetch them; links lead to the web or
  to files; names for addresses (`[name]: address`), which would reach over the whole document, are words;
- what a forge would take for a person or an issue (`@name`, `#12`) is code.

Code is left as it is where it is certain that every reader of Markdown takes it for code: in fences, and
between backticks if all backticks of a paragraph pair up line by line. Where that is in doubt, tags in code
are written as entities too, which looks odd there but does no harm; and no word is made code, since more
backticks would make another paragraph of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from geminids.sharing.export.references import as_code, may_refer

LOWERED = 2
"""Levels by which headings are lowered: ours are the first two."""
DEEPEST = 6

_MARKERS = r"(?:(?:[-+*]|\d{1,9}[.)])[ \t>]+)*"
# Patterns that begin with a line end are found much faster than those that begin with ^.
_HEADING = re.compile(rf"(\n[ \t>]*{_MARKERS})(#{{1,6}})(?=\s|\Z)")
_UNDERLINE = re.compile(r"\n([ \t>]*)(=+|-+)[ \t]*(?=\n|\Z)")
_LONG_QUOTE = re.compile(r"^([ \t]*)(?=>{3,}[ \t]*$)", re.MULTILINE)

_INLINE = re.compile(r"<[A-Za-z/!?]|!\[|\]\(|\]:")
_ADDRESS = re.compile(r"<(https?://[^\s<>`]+)>")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_PICTURE = re.compile(r"(?<!!)!+\[([^\[\]\n]*)\](?=\()")
# As long as addresses are; without a limit, a text full of brackets would take hours.
_REST = r"[^\s`<>()\\]{0,2000}(?:\([^\s`<>()\\]{0,200}\)[^\s`<>()\\]{0,200}){0,3}"
_TARGET = rf"(?:(?:https?://|mailto:){_REST}|[\w.@%~+-]*(?:[/?#]{_REST})?)"
_UNSAFE_LINK = re.compile(rf'\](?=\()(?!\( *{_TARGET}(?: +"[^"\n`<\\]*")? *\))')
_BACKTICKS = re.compile("`+")
_CODE_BY_INDENT = re.compile(r"(?: {4}|\t)\s*(?![-+*>\d\s])")
"""A paragraph that may be code, since it stands to the right and is no item of a list."""

_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_FENCE_IN_DISGUISE = re.compile(rf"^([ \t>]*{_MARKERS})(?=`{{3,}}[^`]*$|~{{3,}})")
_ITEM = re.compile(r"([-+*]|(\d{1,9})[.)])( +|$)")
_RULE = re.compile(r"([-_*])(?: *\1){2,} *$")


def contained(words: str) -> str:
    """The same Markdown, harmless."""
    if "```" not in words and "~~~" not in words:
        return _prose(words)
    pieces = _pieces(words.split("\n"))
    return "\n".join(text if is_code else _prose(text) for text, is_code in pieces)


def _prose(words: str) -> str:
    """Markdown without fences."""
    if "#" in words:
        words = _HEADING.sub(_lowered, f"\n{words}")[1:]
    words = _UNDERLINE.sub(_no_underline, words)
    if ">>>" in words:
        # To GitLab such a line begins a quote that another one ends, or the end of the document.
        words = _LONG_QUOTE.sub(r"\1\\", words)
    if not (_INLINE.search(words) or may_refer(words)):
        return words
    paragraphs = words.split("\n\n")
    return "\n\n".join(
        _paragraph(text) if _INLINE.search(text) or may_refer(text) else text for text in paragraphs
    )


def _lowered(heading: re.Match[str]) -> str:
    return heading[1] + "#" * min(len(heading[2]) + LOWERED, DEEPEST)


def _no_underline(line: re.Match[str]) -> str:
    prefix, signs = line[1], line[2]
    if signs.startswith("="):
        return f"\n{prefix}\\{signs}"
    is_below_text = line.start() and line.string[line.start() - 1] != "\n"
    return f"\n{line[0]}" if is_below_text else line[0]


def _paragraph(text: str) -> str:
    code = _certain_code(text)
    if code is None or _CODE_BY_INDENT.match(text):
        return _words(text)
    pieces: list[str] = []
    done = 0
    for start, end in code:
        pieces += (_unlinked(_words(text[done:start]), done > 0, True), text[start:end])
        done = end
    return "".join((*pieces, _unlinked(_words(text[done:]), done > 0, False)))


def _unlinked(text: str, is_after_code: bool, is_before_code: bool) -> str:
    """Words with references as code, unless that would join the code beside them."""
    if not may_refer(text):
        return text
    marked = as_code(text)
    joins = (is_after_code and marked.startswith("`")) or (is_before_code and marked.endswith("`"))
    return text if joins else marked


def _words(text: str) -> str:
    """What is no code. The order matters: what is taken out must not join the rest to something new."""
    if "<" in text:
        text = _TAG.sub("&lt;", _ADDRESS.sub(r"\1", text))
    if "![" in text:
        text = _PICTURE.sub(lambda picture: f"[{picture[1] or 'picture'}]", text).replace("![", "!\\[")
    if "](" in text:
        text = _UNSAFE_LINK.sub("]\\\\", text)
    return text.replace("]:", "]\\:")


def _certain_code(text: str) -> list[tuple[int, int]] | None:
    """Where code stands between backticks; None if somebody could read them in another way.

    A backslash before one, one without its other, and the end of a cell in between make that possible.
    """
    if "`" not in text:
        return []
    if "\\`" in text:
        return None
    spans: list[tuple[int, int]] = []
    begin = 0
    for line in text.split("\n"):
        found = _paired(line)
        if found is None:
            return None
        spans += [(begin + start, begin + end) for start, end in found]
        begin += len(line) + 1
    return spans


def _paired(line: str) -> list[tuple[int, int]] | None:
    runs = [run.span() for run in _BACKTICKS.finditer(line)]
    spans: list[tuple[int, int]] = []
    place = 0
    while place < len(runs):
        start, end = runs[place]
        others = range(place + 1, len(runs))
        other = next((one for one in others if runs[one][1] - runs[one][0] == end - start), None)
        if other is None or "|" in line[start : runs[other][1]]:
            return None
        spans.append((start, runs[other][1]))
        place = other + 1
    return spans


class _Fence(NamedTuple):
    """An open fence: its signs, and the column in which it stands."""

    signs: str
    indent: int

    @property
    def line(self) -> str:
        return " " * self.indent + self.signs

    def is_closed_by(self, line: str) -> bool:
        signs = line.strip(" \t")
        is_long_enough = signs.startswith(self.signs) and not signs.strip(self.signs[0])
        return is_long_enough and _column(line) <= self.indent + 3

    def is_left_by(self, line: str) -> bool:
        """Whether a line may stand outside of the list that the fence stands in."""
        return bool(self.indent and line.strip(" \t") and _column(line) < self.indent)


def _pieces(lines: list[str]) -> Iterator[tuple[str, bool]]:
    """Prose and blocks of code in turn; every block is closed."""
    prose: list[str] = []
    block: list[str] = []
    fence: _Fence | None = None
    lists = _Lists()
    for line in lines:
        if fence is not None:
            is_closed = fence.is_closed_by(line)
            if not is_closed and not fence.is_left_by(line):
                block.append(line)
                continue
            yield "\n".join((*block, fence.line)), True
            lists.leave_fence()
            fence = None
            if is_closed:
                continue
        fence = lists.fence_at(line)
        if fence is None:
            prose.append(_FENCE_IN_DISGUISE.sub(r"\1\\", line) if "```" in line or "~~~" in line else line)
            continue
        if prose:
            yield "\n".join(prose), False
        # Some take a fence with such a sign for the head of a table.
        prose, block = [], [line.expandtabs(4).replace("|", " ")]
    if fence is not None:
        yield "\n".join((*block, fence.line)), True
    elif prose:
        yield "\n".join(prose), False


class _Lists:
    """The items of lists that are open for certain, by the columns in which their content stands.

    There may be more that are open. It does not matter: a fence is closed before the first line that could
    be outside of its item.
    """

    def __init__(self) -> None:
        self._columns: list[int] = []
        self._goes_on = False
        """Whether the line before may be one of a paragraph."""
        self._is_empty_item = False

    def leave_fence(self) -> None:
        """Note that a fence ended."""
        self._goes_on = False

    def fence_at(self, written: str) -> _Fence | None:
        """The fence that a line opens, if it is one for certain; else the line is a piece of prose."""
        text = written.strip(" \t")
        if not text:
            self._blank()
            return None
        column = _column(written)
        self._leave_items(column)
        while item := self._item(text, column):
            column, text = item
        self._goes_on = True
        found = _FENCE.match(text) if column - self._inner <= 3 else None
        return _Fence(found[1] or found[2], column) if found else None

    @property
    def _inner(self) -> int:
        return self._columns[-1] if self._columns else 0

    def _blank(self) -> None:
        if self._is_empty_item:
            # An item may begin with one empty line only: its own.
            self._columns.pop()
        self._goes_on = self._is_empty_item = False

    def _leave_items(self, column: int) -> None:
        self._is_empty_item = False
        while self._columns and column < self._columns[-1]:
            self._columns.pop()
            self._goes_on = False

    def _item(self, text: str, column: int) -> tuple[int, str] | None:
        """Where the content of an item stands, and what it is, if a line begins one."""
        marker = _ITEM.match(text)
        if marker is None or column - self._inner > 3 or _RULE.match(text):
            return None
        signs, number, blanks = marker.groups()
        content = text[marker.end() :]
        if self._goes_on and (not content or number not in (None, "1")):
            # This is how a paragraph goes on, not how a list begins.
            return None
        is_code = len(blanks) > 4
        column += len(signs) + (1 if is_code or not content else len(blanks))
        self._columns.append(column)
        self._goes_on, self._is_empty_item = False, not content
        return column, "" if is_code else content


def _column(line: str) -> int:
    """The column in which the text of a line begins."""
    expanded = line.expandtabs(4)
    return len(expanded) - len(expanded.lstrip(" "))
