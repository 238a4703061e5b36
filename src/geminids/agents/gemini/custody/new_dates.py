"""Session files of Gemini CLI with another date or a first line, and no other byte changed.

The CLI deletes by the date in a file, not by that of the disk. In a log the last `$set` counts, so a line is
added; in a document the value itself is replaced. A log without its first line is rubbish to the CLI, and is
given one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from geminids.agents.gemini.read.agent_view import agent_view
from geminids.agents.gemini.read.files import read_file
from geminids.core.lazy_patterns import lazy_pattern

_KEY = "lastUpdated"
_BLANK = lazy_pattern(r"[ \t\r\n]*")


def view_of(path: str, content: bytes) -> dict[str, Any] | None:
    """What the CLI loads from these bytes in a file of this name."""
    return agent_view(read_file(Path(path), content), content)


def written(moment: datetime) -> str:
    """A moment as the CLI writes it."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def redated(path: str, content: bytes, moment: datetime) -> bytes | None:
    """The same session, last used at that moment; None if the CLI would not take the date from it."""
    for changed in (_with_line(content, moment), _with_value(content, moment)):
        view = view_of(path, changed) if changed else None
        if view is not None and view.get(_KEY) == written(moment):
            return changed
    return None


def with_header(content: bytes, header: Mapping[str, str]) -> bytes:
    """A log with a first line of its own."""
    return _line(header) + content


def _with_line(content: bytes, moment: datetime) -> bytes:
    # A line that was cut stays as it is, and does not swallow ours.
    end = b"" if content.endswith(b"\n") or not content else b"\n"
    return content + end + _line({"$set": {_KEY: written(moment)}})


def _line(record: Mapping[str, object]) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _with_value(content: bytes, moment: datetime) -> bytes | None:
    """A document with another value; None if it is no document that says when it was last used."""
    text = content.decode("utf-8", "surrogateescape")
    try:
        span = _span_of_value(text)
    except (ValueError, RecursionError):
        return None
    if span is None:
        return None
    changed = text[: span.start] + json.dumps(written(moment)) + text[span.stop :]
    return changed.encode("utf-8", "surrogateescape")


def _span_of_value(text: str) -> slice | None:
    """Where the value of the date stands in the object itself, not in what is in it. Raises ValueError."""
    decoder = json.JSONDecoder(strict=False)
    at, found = _behind(text, 0, "{"), None
    while not text.startswith("}", at):
        key, at = decoder.raw_decode(text, at)
        start = _behind(text, at, ":")
        _, end = decoder.raw_decode(text, start)
        # Of two values the last one counts.
        found = slice(start, end) if key == _KEY else found
        at = _skipped(text, end)
        if not text.startswith("}", at):
            at = _behind(text, at, ",")
    return found


def _behind(text: str, at: int, sign: str) -> int:
    at = _skipped(text, at)
    if not text.startswith(sign, at):
        raise ValueError(f"there is no {sign!r} at character {at}")
    return _skipped(text, at + 1)


def _skipped(text: str, at: int) -> int:
    blank = _BLANK.match(text, at)
    return blank.end() if blank else at
