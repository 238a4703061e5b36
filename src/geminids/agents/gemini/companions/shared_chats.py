"""Conversations shared as Markdown (/chat share FILE.md).

    ## USER 🧑‍💻                  before 0.24 "🧑‍💻 ## USER", at first (0.6) "**user**:" and no tools at all

    <the text parts of the turn, put together without anything between them>

    ---

    ## MODEL ✨

    Let me look.**Tool Command**:
    ```json
    {…}
    ```

Nothing in a text is escaped. A divider with a whole heading behind it is therefore taken for the CLI's,
also where somebody quoted such a file: that cannot be told. Dividers, headings and fences that are not
exactly as the CLI writes them stay text. Two texts of one turn cannot be told apart, except where the
CLI's own texts end (its opening, the output of a shell command). Thoughts are written as text, and
pictures not at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.api_turns import Written, messages_of, use_turn
from geminids.agents.gemini.companions.copy_sessions import modified, reading_of, session_of
from geminids.core.agents.base import Reading
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Location, ProblemKind, SessionKind
from geminids.reading.jsonl import UndecodableError, complete_truncated, decode
from geminids.reading.lines import LineNumbers

FORMAT = "gemini-shared-markdown"
_HEADINGS = (
    "## (?:USER 🧑‍💻|MODEL ✨)",
    "(?:🧑‍💻 ## USER|✨ ## MODEL)",
    r"\*\*(?:user|model)\*\*:",
    # The first without the pictures, which other programs lose.
    r"## (?:USER|MODEL)\b[^\w\n]{0,24}",
)
"""How turns are headed; a file has headings of one kind only."""
_STYLES = [
    (
        re.compile(f"(?:\ufeff)?{heading}(?:\r?\n){{2}}".encode()),
        re.compile(f"(?:\r?\n){{2}}---(?:\r?\n){{2}}(?={heading}(?:(?:\r?\n){{2}}|\\Z))".encode()),
    )
    for heading in _HEADINGS
]
_HEADING = lazy_pattern(rb"[^\n]*(?:\r?\n){0,2}")
_TOOL = lazy_pattern(rb"\*\*Tool (Command|Response)\*\*:\n```json\n(?=\{\n  \")")
_FENCE = b"\n```"
_OPENING = lazy_pattern(r"\s*<session_context>.*?\n</session_context>", re.DOTALL)
_SHELL = lazy_pattern(
    r"I ran the following shell command:\n```sh\n.*?\n```\n\n"
    r"This produced the following result:\n```\n.*?\n```",
    re.DOTALL,
)
"""The CLI takes the meaning from backticks in commands and outputs, so the first fence is the end."""


def is_shared(content: bytes) -> bool:
    """Whether a file begins as a shared conversation does."""
    return _divider(content) is not None


def _divider(content: bytes) -> re.Pattern[bytes] | None:
    """What divides the turns of a file, by how it begins."""
    return next((divider for start, divider in _STYLES if start.match(content)), None)


def read_shared(path: Path, content: bytes) -> Reading:
    """A conversation shared as Markdown."""
    log = CopyLog(str(path), FORMAT, len(content))
    divider = _divider(content)
    turns = list(_turns(log, content, divider)) if divider else []
    name = path.name.removesuffix(".md")
    session = session_of(log, name, SessionKind.COPY, messages_of(log, turns), modified(path))
    return reading_of(log, [session])


def _turns(log: CopyLog, content: bytes, divider: re.Pattern[bytes]) -> Iterator[Written]:
    lines = LineNumbers(content)
    starts = [0, *(found.end() for found in divider.finditer(content))]
    ends = [*(found.start() for found in divider.finditer(content)), len(content)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        place = Location(log.path, lines.at(start), start, end)
        heading = _HEADING.match(content, start, end)
        begin = heading.end() if heading else start
        is_user = b"USER" in content[start:begin].upper()
        is_last = number == len(starts) - 1
        parts = list(_parts(log, content[begin:end], place, is_user=is_user, is_last=is_last))
        turn = {"role": "user" if is_user else "model", "parts": parts}
        use_turn(log, turn, place)
        yield Written(turn, place)


def _parts(
    log: CopyLog, text: bytes, place: Location, *, is_user: bool, is_last: bool
) -> Iterator[dict[str, Any]]:
    """The parts of a turn: tools' blocks where they stand on the right side, and texts between them."""
    wanted, member = (b"Response", "functionResponse") if is_user else (b"Command", "functionCall")
    done = 0
    for found in _TOOL.finditer(text):
        # JSON has no line that begins with a fence, so the first one ends the block, or it is none.
        fence = text.find(_FENCE, found.end())
        end = len(text) if fence < 0 else fence
        is_cut = fence < 0 and is_last
        value = _object(text[found.end() : end], is_cut=is_cut) if found[1] == wanted else None
        if value is None or "name" not in value:
            continue
        yield from _texts(log, text[done : found.start()], place)
        yield {member: value}
        done = min(end + len(_FENCE), len(text))
        if is_cut:
            detail = "cut off inside a tool's block"
            log.remark(ProblemKind.BAD_JSON, detail, place.line, place.start, place.end)
    yield from _texts(log, text[done:], place)


def _object(raw: bytes, *, is_cut: bool) -> dict[str, Any] | None:
    if is_cut:
        return complete_truncated(raw)
    try:
        value = decode(raw).value if raw.endswith(b"\n}") else None
    except UndecodableError:
        return None
    return value if isinstance(value, dict) else None


def _texts(log: CopyLog, raw: bytes, place: Location) -> Iterator[dict[str, Any]]:
    """A stretch of text as the parts that the CLI put together, as far as its own texts tell."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        text = raw.decode(errors="replace")
        log.remark(ProblemKind.BAD_TEXT, "bytes that are no UTF-8", place.line, place.start, place.end)
    while own := _OPENING.match(text) or _SHELL.match(text):
        yield {"text": own[0]}
        text = text[own.end() :]
    if text:
        yield {"text": text}
