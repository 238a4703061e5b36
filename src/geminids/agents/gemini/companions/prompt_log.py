"""What the human typed, as Gemini CLI logs it: `logs.json` and its `.bak` files.

    logs.json                           every line of all sessions of a project, since 0.1
    logs.json.<reason>.<ms>.bak         the same, set aside when the CLI could not read it

`logs.json` is a list of objects, indented by two, written anew for every line that is typed. Two CLIs
at once read each other's half-written files, so a `.bak` may also be whole. After one the numbers
(`messageId`) of a session begin again.

A log can be of any size: a large or damaged one is read line by line. Where not all of it can be kept,
old lines are shortened first, then let go. Refuses nothing. Checked against releases 0.1.22 to 0.61.
"""

from __future__ import annotations

import io
import re
from typing import Any, BinaryIO

import msgspec

from geminids.agents.gemini.companions.accounts import BesideLog
from geminids.agents.gemini.companions.log_pieces import Piece, is_laid_out, leave_unread, pieces, seek_tail
from geminids.agents.gemini.companions.logged_lines import SHORTENED, LoggedLine, NewestLines, logged_line
from geminids.agents.gemini.companions.spans import BETWEEN, Lines, Span, sound
from geminids.agents.gemini.read.records import printable
from geminids.core.agents.base import FoundFile
from geminids.core.disk import REAL, Disk
from geminids.core.model import FileAccount, Location, Problem, ProblemKind
from geminids.reading.file_log import refused
from geminids.reading.jsonl import UndecodableError, complete_truncated, decode, salvage

PROMPT_LOG = "gemini-prompt-log"
IGNORED = {
    "other-type": "a line of another type than user: not typed by the human",
    "no-words": "a line without a word",
}
"""Lines that are left out, and why."""
_LINE = "line"
"""What a line is called in accounts."""
_USER = "user"
_FIELDS = frozenset({"sessionId", "messageId", "type", "message", "timestamp"})
_READ_AT_ONCE = 16_000_000
_LARGEST_UNLAID = 256_000_000
_MOST_PROBLEMS = 1_000
_LAYOUT = b"\xef\xbb\xbf[], \t\r\n"
_BEGINNING = re.compile(rb'\{\s*"(?:sessionId|messageId|type|message|timestamp)"\s*:')
_TIME_AT_END = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{1,40})"\s*\}[\s,\]]*\Z')
_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


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


class _Log(BesideLog):
    """A log while it is read: its lines so far, and what became of each byte."""

    def __init__(self, path: str, file_format: str, size: int) -> None:
        super().__init__(path, file_format, size)
        self.lines = NewestLines()

    def read(self, stream: BinaryIO, limit: int | None) -> None:
        """Every line of a log, or those in as many bytes at its end."""
        begin = seek_tail(self, stream, limit)
        is_large = self.size > _READ_AT_ONCE
        if is_large and not is_laid_out(stream, begin):
            self._read_unlaid(stream, begin)
        elif is_large or begin:
            self._read_pieces(stream, begin)
        else:
            self._read_content(stream.read(self.size))
        self._account_for_lines()

    def remark(self, kind: ProblemKind, detail: str, line: int | None, start: int, end: int) -> None:
        """Note a problem, unless there are so many that one more would tell nothing."""
        if len(self.problems) < _MOST_PROBLEMS:
            super().remark(kind, detail, line, start, end)

    def _report_at(self, place: Location, kind: ProblemKind, detail: str) -> None:
        self.report(kind, detail, place.line or None, place.start, place.end)

    def _remark_at(self, place: Location, kind: ProblemKind, detail: str) -> None:
        self.remark(kind, detail, place.line or None, place.start, place.end)

    def _read_unlaid(self, stream: BinaryIO, begin: int) -> None:
        """A large log that somebody else has written again: it is read at once, or not at all."""
        if begin or self.size > _LARGEST_UNLAID:
            detail = "none of it was read: it is large and not laid out as Gemini CLI writes it"
            self.report(ProblemKind.LEFT_UNREAD, detail, None, 0, self.size)
        else:
            self._read_content(stream.read(self.size))

    def _read_content(self, content: bytes) -> None:
        """A log of ordinary size: all at once if it is sound."""
        self.size = len(content)
        if not content or content.isspace():
            self.report(ProblemKind.EMPTY, "nothing was written, or it was lost", None, 0, self.size)
            return
        array = sound(content, Span(0, self.size), _array)
        if array is None:
            if (other := _other_than_list(content)) is None:
                self._read_pieces(io.BytesIO(content), 0)
            else:
                self.report(ProblemKind.WRONG_TYPE, f"no list of lines but {other}", 1, 0, self.size)
            return
        self._read_elements(content, array[1])

    def _read_elements(self, content: bytes, elements: list[msgspec.Raw]) -> None:
        """The elements of a sound list; their bytes follow one another with commas between."""
        layout = len(content)
        start, line, end = 0, 1, content.index(b"[") + 1
        for index, element in enumerate(elements):
            before, between = start, BETWEEN.match(content, end)
            start = between.end() if between else end
            end = start + len(element)
            line += content.count(b"\n", before, start)
            self._read_element(content[start:end], Location(self.path, line, start, end, f"/{index}"))
            layout -= len(element)
        self.count_layout(layout)

    def _read_element(self, raw: bytes, place: Location) -> None:
        try:
            value, _ = self.decode(raw, place)
        except UndecodableError as error:
            self._report_at(place, ProblemKind.BAD_JSON, str(error))
        else:
            self._take(value, place)

    def _read_pieces(self, stream: BinaryIO, begin: int) -> None:
        """A log that is damaged, or too large to be held."""
        found = pieces(stream, begin)
        piece = next(found)
        if begin:
            leave_unread(self, piece.end)
        elif not piece.left_out and not piece.raw.strip(_LAYOUT):
            self.count_layout(len(piece.raw))
        else:
            self._read_piece(piece)
        for piece in found:
            self._read_piece(piece)
        self.size = piece.end

    def _read_piece(self, piece: Piece) -> None:
        if piece.left_out:
            self._read_long(piece)
            return
        raw = piece.raw.rstrip(_LAYOUT)
        place = Location(self.path, piece.line or 0, piece.start, piece.start + len(raw))
        try:
            value, _ = self.decode(raw, place)
        except UndecodableError as error:
            self._salvage(piece, str(error))
        else:
            self.count_layout(len(piece.raw) - len(raw))
            self._take(value, place)

    def _read_long(self, piece: Piece) -> None:
        """A line of which only beginning and end are looked at."""
        place = Location(self.path, piece.line or 0, piece.start, piece.end)
        value = complete_truncated(piece.raw[: 2 * SHORTENED])
        if value is None or not _has_words(value):
            detail = "too long to be read at once, and not as Gemini CLI writes it"
            self._report_at(place, ProblemKind.LEFT_UNREAD, detail)
            return
        if time := _TIME_AT_END.search(piece.last_bytes):
            value["timestamp"] = time[1].decode(errors="replace")
        self._take(value, place, is_whole=False, has_middle=False)

    def _salvage(self, piece: Piece, complaint: str) -> None:
        """What is whole in damaged bytes, and the beginning of what was cut off."""
        lines, end = Lines(piece.raw), 0
        for found in salvage(piece.raw, _BEGINNING, _has_words):
            self._count_between(piece, end, found.start, complaint)
            end = found.end
            line = 0 if piece.line is None else piece.line - 1 + lines.at(found.start)
            place = Location(self.path, line, piece.start + found.start, piece.start + end)
            if not found.complete:
                self._remark_at(place, ProblemKind.BAD_JSON, f"cut off: {complaint}")
            self._take(found.value, place, is_whole=found.complete)
        self._count_between(piece, end, len(piece.raw), complaint)

    def _count_between(self, piece: Piece, start: int, end: int, complaint: str) -> None:
        """Count bytes between lines: as damage, or as layout."""
        if piece.raw[start:end].strip(_LAYOUT):
            self.report(ProblemKind.BAD_JSON, complaint, None, piece.start + start, piece.start + end)
        else:
            self.count_layout(end - start)

    def _take(self, value: Any, place: Location, *, is_whole: bool = True, has_middle: bool = True) -> None:
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
            line = logged_line(value, text, place, is_whole=is_whole)
            if is_whole:
                self._remark_wrong_fields(kind, line)
            for let_go in self.lines.add(line if has_middle else line.cut()):
                self._count_unread(let_go.size)

    def _remark_wrong_fields(self, kind: object, line: LoggedLine) -> None:
        values = {"sessionId": line.native_id, "messageId": line.message_id, "timestamp": line.at}
        wrong = [name for name, value in values.items() if value is None]
        wrong += ["type"] if kind != _USER else []
        if wrong:
            detail = f"a line in which these are missing or of another type: {', '.join(wrong)}"
            self._remark_at(line.place, ProblemKind.WRONG_TYPE, detail)

    def _account_for_lines(self) -> None:
        """Count what is kept of each line, and tell of the rest."""
        shortened = 0
        for line in self.lines:
            self.count_use(_LINE, line.size - line.unread)
            if line.unread:
                shortened += 1
                self._count_unread(line.unread)
        if self.lines.let_go:
            self._tell_unread(f"{self.lines.let_go} older lines are more than can be kept at once")
        if shortened:
            self._tell_unread(f"of {shortened} long lines only the beginning is kept")

    def _count_unread(self, size: int) -> None:
        """Count a line that is not kept, or not all of it. All such lines are told as one problem."""
        counted = self._problem.setdefault(ProblemKind.LEFT_UNREAD, [0, 0])
        counted[0] += 1
        counted[1] += size

    def _tell_unread(self, detail: str) -> None:
        self.problems.append(Problem(self.path, ProblemKind.LEFT_UNREAD, detail))


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
