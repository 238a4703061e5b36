"""Lines of a prompt log, and how many of them are kept: a log can be of any size, memory is not."""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import msgspec

from geminids.core.agents.traces import key
from geminids.core.model import Location
from geminids.core.timestamps import parse_time

SHORTENED = 65_536
"""So many characters are left of a line that is shortened."""
_MOST_KEPT = 128_000_000
"""About so many bytes of memory the kept lines may take."""
_WEIGHT_OF_A_LINE = 600
"""About so many bytes a line takes beside its words."""
_ID = re.compile(r"[^\s\x00-\x1f/\\]{1,200}")


class LoggedLine(msgspec.Struct, frozen=True, gc=False):
    """One line as it was logged."""

    native_id: str | None
    """The session that the CLI believed to be in: after `/clear` and on resume often another one."""
    message_id: int | None
    text: str
    """Its words, or the first of them if not all could be kept."""
    key: int | None
    """What the whole text is recognised by; None if not known."""
    at: datetime | None
    place: Location
    left_out: str = ""
    """How much is not kept, in words."""
    unread: int = 0
    """How many bytes of it are not kept."""

    @property
    def marked_text(self) -> str:
        """Its words for people: what is left out is named in its place."""
        return f"{self.text} [… {self.left_out} are left out …]" if self.left_out else self.text

    @property
    def size(self) -> int:
        """How many bytes it has in the log."""
        return self.place.end - self.place.start

    def shortened(self) -> LoggedLine:
        """The same line with its first words only."""
        dropped = self.text[SHORTENED:]
        return msgspec.structs.replace(
            self,
            text=self.text[:SHORTENED],
            left_out=f"{len(dropped):,} characters",
            unread=min(_written_size(dropped), self.size),
        )

    def cut(self) -> LoggedLine:
        """The same if only its beginning was looked at: how many characters the rest has is not known."""
        text = self.text[:SHORTENED]
        unread = max(0, self.size - _written_size(text))
        return msgspec.structs.replace(self, text=text, left_out=f"{unread:,} bytes", unread=unread)


def logged_line(value: dict[str, Any], text: str, place: Location, *, is_whole: bool) -> LoggedLine:
    """The line that an object of the log holds; what is of another type is unknown."""
    native_id, message_id, at = value.get("sessionId"), value.get("messageId"), value.get("timestamp")
    return LoggedLine(
        native_id if isinstance(native_id, str) and _ID.fullmatch(native_id) else None,
        message_id if type(message_id) is int else None,
        text,
        key(text) if is_whole else None,
        parse_time(at) if isinstance(at, str) else None,
        place,
    )


def _written_size(text: str) -> int:
    """How many bytes a text takes in a log."""
    return len(msgspec.json.encode(text)) - 2


class NewestLines:
    """The newest lines, as many as memory may hold: old ones are shortened first, then let go."""

    def __init__(self) -> None:
        self.let_go = 0
        """How many lines are no longer kept, which is the number of the oldest that is."""
        self._by_number: dict[int, LoggedLine] = {}
        self._long: deque[int] = deque()
        """The numbers of lines that can be shortened, the oldest first."""
        self._weight = 0

    def __iter__(self) -> Iterator[LoggedLine]:
        return iter(self._by_number.values())

    def add(self, line: LoggedLine) -> list[LoggedLine]:
        """Keep a line; what is returned had to be let go for it."""
        number = self.let_go + len(self._by_number)
        self._by_number[number] = line
        self._weight += _weight(line)
        if len(line.text) > SHORTENED:
            self._long.append(number)
        let_go = []
        while self._weight > _MOST_KEPT:
            if self._long:
                self._shorten(self._long.popleft())
            else:
                let_go.append(self._let_oldest_go())
        return let_go

    def _shorten(self, number: int) -> None:
        line = self._by_number[number]
        shortened = self._by_number[number] = line.shortened()
        self._weight -= _weight(line) - _weight(shortened)

    def _let_oldest_go(self) -> LoggedLine:
        line = self._by_number.pop(self.let_go)
        self.let_go += 1
        self._weight -= _weight(line)
        return line


def _weight(line: LoggedLine) -> int:
    return _WEIGHT_OF_A_LINE + sys.getsizeof(line.text)
