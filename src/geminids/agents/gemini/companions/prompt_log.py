"""What the human typed, as Gemini CLI logs it: `logs.json` and its `.bak` files.

    logs.json                           every line of all sessions of a project, since 0.1
    logs.json.<reason>.<ms>.bak         the same, set aside when the CLI could not read it

`logs.json` is a list of objects, indented by two, written anew for every line that is typed. Two CLIs
at once read each other's half-written files, so a `.bak` may also be whole. After one the numbers
(`messageId`) of a session begin again.

A long or damaged log is read line by line, and of one that memory may not hold the end: the newest lines
stand there. Refuses nothing. Checked against releases 0.1.22 to 0.61.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

import msgspec

from geminids.agents.gemini.companions.accounts import BesideLog
from geminids.agents.gemini.companions.spans import Span, elements, whole
from geminids.agents.gemini.read.records import printable
from geminids.core.agents.base import FoundFile
from geminids.core.agents.traces import key
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import FileAccount, Location, Problem, ProblemKind
from geminids.core.timestamps import parse_time
from geminids.reading.file_log import refused
from geminids.reading.jsonl import UndecodableError, decode, salvage
from geminids.reading.lines import LineNumbers

PROMPT_LOG = "gemini-prompt-log"
IGNORED = {
    "other-type": "a line of another type than user: not typed",
    "no-words": "a line without a word",
}
"""Lines that are left out, and why."""
_LINE = "line"
"""What a line is called in accounts."""
_USER = "user"
_FIELDS = frozenset({"sessionId", "messageId", "type", "message", "timestamp"})
_READ_AT_ONCE = 32_000_000
_MOST_READ = 128_000_000
"""Bytes of a log; of a longer one, those at its end. All its words are in memory together."""
_BLOCK = 4_000_000
_MOST_PROBLEMS = 1_000
_LAYOUT = b"\xef\xbb\xbf[], \t\r\n"
_BEGINNING = lazy_pattern(rb'\{\s*"(?:sessionId|messageId|type|message|timestamp)"\s*:')
_NEXT_LINE = lazy_pattern(rb"\n  \{")
"""How the CLI begins a line of its log; no text in JSON holds a line break as such."""
_ID = lazy_pattern(r"[^\s\x00-\x1f/\\]{1,200}")


class LoggedLine(msgspec.Struct, frozen=True, gc=False):
    """One line as it was logged."""

    native_id: str | None
    """The session that the CLI believed to be in: after `/clear` and on resume often another one."""
    message_id: int | None
    text: str
    """Its words, or the first of them if the line is cut off."""
    key: int | None
    """What the whole text is recognised by; None if not known."""
    at: datetime | None
    place: Location

    @property
    def size(self) -> int:
        """How many bytes it has in the log."""
        return self.place.end - self.place.start


class PromptLog(msgspec.Struct, frozen=True):
    """The lines of one log, in the order they were written."""

    lines: tuple[LoggedLine, ...]
    account: FileAccount
    problems: tuple[Problem, ...]


def read_prompt_log(file: FoundFile, limit: int | None = None, disk: Disk = REAL) -> PromptLog:
    """The lines of a log. With a limit, so many bytes at its end: the newest lines stand there."""
    log = _Log(str(file.path), PROMPT_LOG, file.size)
    try:
        with disk.opened(file.path) as stream:
            log.read(stream, limit)
    except OSError as error:
        account, problem = refused(file, error, PROMPT_LOG, "any")
        return PromptLog((), account, (problem,))
    return PromptLog(tuple(log.lines), log.account(), tuple(log.problems))


class _Piece(NamedTuple):
    """The bytes from the beginning of one line to that of the next."""

    start: int
    raw: bytes
    line: int | None
    """On which line of the file it begins, if that is known."""

    @property
    def end(self) -> int:
        """Where the next one begins."""
        return self.start + len(self.raw)


class _Log(BesideLog):
    """A log while it is read: its lines so far, and what became of each byte."""

    def __init__(self, path: str, file_format: str, size: int) -> None:
        super().__init__(path, file_format, size)
        self.lines: list[LoggedLine] = []

    def read(self, stream: BinaryIO, limit: int | None) -> None:
        """Every line of a log, or those in as many bytes at its end."""
        begin = self.seek_tail(stream, _MOST_READ if limit is None else min(limit, _MOST_READ))
        if begin or (self.size > _READ_AT_ONCE and _is_laid_out(stream)):
            self._read_pieces(stream, begin)
        else:
            self._read_content(stream.read(self.size))

    def remark(self, kind: ProblemKind, detail: str, line: int | None, start: int, end: int) -> None:
        """Note a problem, unless there are so many that one more would tell nothing."""
        if len(self.problems) < _MOST_PROBLEMS:
            super().remark(kind, detail, line, start, end)

    def _report_at(self, place: Location, kind: ProblemKind, detail: str) -> None:
        self.report(kind, detail, place.line or None, place.start, place.end)

    def _remark_at(self, place: Location, kind: ProblemKind, detail: str) -> None:
        self.remark(kind, detail, place.line or None, place.start, place.end)

    def _read_content(self, content: bytes) -> None:
        """A whole log: all at once if it is sound."""
        self.size = len(content)
        if not content or content.isspace():
            self.report(ProblemKind.EMPTY, "nothing was written, or it was lost", None, 0, self.size)
            return
        listed = elements(content, whole(content))
        if listed is not None:
            self._read_elements(content, listed)
        elif (other := _other_than_list(content)) is None:
            self._read_pieces(io.BytesIO(content), 0)
        else:
            self.report(ProblemKind.WRONG_TYPE, f"no list of lines but {other}", 1, 0, self.size)

    def _read_elements(self, content: bytes, spans: list[Span]) -> None:
        """The elements of a sound list."""
        lines = LineNumbers(content)
        for index, (start, end) in enumerate(spans):
            place = Location(self.path, lines.at(start), start, end, f"/{index}")
            self._read_element(content[start:end], place)
        self.count_layout(len(content) - sum(span.size for span in spans))

    def _read_element(self, raw: bytes, place: Location) -> None:
        try:
            value, _ = self.decode(raw, place)
        except UndecodableError as error:
            self._report_at(place, ProblemKind.BAD_JSON, str(error))
        else:
            self._take(value, place)

    def _read_pieces(self, stream: BinaryIO, begin: int) -> None:
        """A log that is long or damaged, or of which only the end is read."""
        pieces = _pieces(stream, begin)
        piece = next(pieces)
        if begin:
            self.leave_unread(piece.end)
        elif piece.raw.strip(_LAYOUT):
            self._read_piece(piece)
        else:
            self.count_layout(len(piece.raw))
        for piece in pieces:
            self._read_piece(piece)
        self.size = piece.end

    def _read_piece(self, piece: _Piece) -> None:
        raw = piece.raw.rstrip(_LAYOUT)
        place = Location(self.path, piece.line or 0, piece.start, piece.start + len(raw))
        try:
            value, _ = self.decode(raw, place)
        except UndecodableError as error:
            self._salvage(piece, str(error))
        else:
            self.count_layout(len(piece.raw) - len(raw))
            self._take(value, place)

    def _salvage(self, piece: _Piece, complaint: str) -> None:
        """What is whole in damaged bytes, and the beginning of what was cut off."""
        lines, end = LineNumbers(piece.raw), 0
        for found in salvage(piece.raw, _BEGINNING, _has_words):
            self._count_between(piece, end, found.start, complaint)
            end = found.end
            line = 0 if piece.line is None else piece.line - 1 + lines.at(found.start)
            place = Location(self.path, line, piece.start + found.start, piece.start + end)
            if not found.complete:
                self._remark_at(place, ProblemKind.BAD_JSON, f"cut off: {complaint}")
            self._take(found.value, place, is_whole=found.complete)
        self._count_between(piece, end, len(piece.raw), complaint)

    def _count_between(self, piece: _Piece, start: int, end: int, complaint: str) -> None:
        """Count bytes between lines: as damage, or as layout."""
        if piece.raw[start:end].strip(_LAYOUT):
            self.report(ProblemKind.BAD_JSON, complaint, None, piece.start + start, piece.start + end)
        else:
            self.count_layout(end - start)

    def _take(self, value: Any, place: Location, *, is_whole: bool = True) -> None:
        """Take a line in, or say why not."""
        # No `match`: on mappings it takes as long as all the rest, and there may be very many lines.
        text = value.get("message") if type(value) is dict else None
        if not isinstance(text, str):
            self._report_at(place, ProblemKind.WRONG_TYPE, f"a line that holds no words but {_shape(value)}")
            return
        kind = value.get("type")
        if isinstance(kind, str) and kind != _USER:
            self.ignore(IGNORED["other-type"], place.end - place.start)
        elif not text.strip():
            self.ignore(IGNORED["no-words"], place.end - place.start)
        else:
            self._note_fields(_LINE, _FIELDS, value)
            line = _logged_line(value, text, place, is_whole=is_whole)
            if is_whole:
                self._remark_wrong_fields(kind, line)
            self.count_use(_LINE, line.size)
            self.lines.append(line)

    def _remark_wrong_fields(self, kind: object, line: LoggedLine) -> None:
        values = {"sessionId": line.native_id, "messageId": line.message_id, "timestamp": line.at}
        wrong = [name for name, value in values.items() if value is None]
        wrong += ["type"] if kind != _USER else []
        if wrong:
            detail = f"a line in which these are missing or of another type: {', '.join(wrong)}"
            self._remark_at(line.place, ProblemKind.WRONG_TYPE, detail)


def _is_laid_out(stream: BinaryIO) -> bool:
    """Whether lines stand where the CLI puts them."""
    found = _NEXT_LINE.search(stream.read(_READ_AT_ONCE))
    stream.seek(0)
    return found is not None


def _pieces(stream: BinaryIO, begin: int) -> Iterator[_Piece]:
    """What is left of a stream, cut where lines begin; the first piece is what stands before them."""
    # Counting the lines of what is left unread would be to read it.
    start, line = begin, None if begin else 1
    held = b""
    # As much again as is held: a line of any length is looked through a few times only.
    while block := stream.read(max(_BLOCK, len(held))):
        held += block
        cut = 0
        for found in _NEXT_LINE.finditer(held):
            raw, cut = held[cut : found.end() - 1], found.end() - 1
            yield _Piece(start, raw, line)
            start, line = start + len(raw), None if line is None else line + raw.count(b"\n")
        held = held[cut:]
    yield _Piece(start, held, line)


def _logged_line(value: dict[str, Any], text: str, place: Location, *, is_whole: bool) -> LoggedLine:
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


def _other_than_list(content: bytes) -> str | None:
    """What a log is that is sound JSON, but no list."""
    try:
        value = decode(content).value
    except UndecodableError:
        return None
    return None if isinstance(value, list) else _shape(value)


def _shape(value: object) -> str:
    """What a value is, without what it says."""
    match value:
        case dict():
            return f"an object with {', '.join(sorted(map(printable, value))[:9]) or 'nothing'}"
        case list():
            return "a list"
        case None:
            return "null"
        case _:
            return f"a {type(value).__name__}"


def _has_words(value: dict[str, Any]) -> bool:
    return isinstance(value.get("message"), str)
