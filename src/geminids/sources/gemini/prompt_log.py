"""What the human typed, as Gemini CLI logs it: `logs.json`, its `.bak` files, and `shell_history`.

    logs.json                           every line of all sessions of a project, since 0.1
    logs.json.<reason>.<ms>.bak         the same, set aside when the CLI could not read it
    shell_history                       the last hundred commands of shell mode, oldest first

`logs.json` is a list of objects, indented by two, written anew for every line that is typed. Two CLIs
at once read each other's half-written files, so a `.bak` may also be whole. After one the numbers
(`messageId`) of a session begin again.

A log can be of any size, and is read while it may be written (so it is never mapped into memory): line
by line. Where not all of it can be kept, old lines are shortened first, then let go. Refuses nothing.
Checked against releases 0.1.22 to 0.61.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, BinaryIO, NamedTuple

import msgspec

from geminids.model import FileAccount, Problem, ProblemKind, Source, Tally
from geminids.sources.base import FoundFile
from geminids.sources.gemini.records import FileLog, Format, printable
from geminids.sources.jsonl import REFUSED, Salvaged, UndecodableError, complete_truncated, decode, salvage
from geminids.sources.timestamps import parse_time
from geminids.sources.traces import key

PROMPT_LOG = "gemini-prompt-log"
SHELL_HISTORY = "gemini-shell-history"
_LINE = "line"
_USER = "user"
_FIELDS = frozenset({"sessionId", "messageId", "type", "message", "timestamp"})
IGNORED = {
    "other-type": "a line of another type than user: not typed by the human",
    "no-words": "a line without a word",
}
"""Lines that are left out, and why."""

_SHORTENED = 65_536
"""So many characters are left of a line that is shortened."""
_LONGEST_READ = 16_000_000
"""So many bytes of a line are looked at; of a longer one, its beginning and its end."""
_END = 4_096
_READ_AT_ONCE = 16_000_000
_LARGEST_UNLAID = 256_000_000
_CHUNK = 1_000_000
_MOST_KEPT = 128_000_000
"""About so many bytes of memory the kept lines may take."""
_WEIGHT_OF_A_LINE = 600
_MOST_PROBLEMS = 1_000

_BETWEEN = re.compile(rb"[\s,]*")
_LAYOUT = b"\xef\xbb\xbf[], \t\r\n"
_NEXT_LINE = b"\n  {"
_BEGINNING = re.compile(rb'\{\s*"(?:sessionId|messageId|type|message|timestamp)"\s*:')
_TIME_AT_END = re.compile(rb'"timestamp"\s*:\s*"([^"\\]{1,40})"\s*\}[\s,\]]*\Z')
_ID = re.compile(r"[^\s\x00-\x1f/\\]{1,200}")
_CONTINUED = re.compile(r"(?<!\\)(?:\\\\)*\\$")
_array = msgspec.json.Decoder(list[msgspec.Raw]).decode


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
    place: Source
    left_out: str = ""
    """How much is not kept, in words."""
    unread: int = 0
    """How many bytes of it are not kept."""

    @property
    def told(self) -> str:
        """Its words for people: what is left out is named in its place."""
        return f"{self.text} [… {self.left_out} are left out …]" if self.left_out else self.text

    def shortened(self) -> LoggedLine:
        """The same line with its first words only."""
        dropped = self.text[_SHORTENED:]
        return msgspec.structs.replace(
            self,
            text=self.text[:_SHORTENED],
            left_out=f"{len(dropped):,} characters",
            unread=min(_written_size(dropped), self.place.end - self.place.start),
        )


class PromptLog(msgspec.Struct, frozen=True):
    """The lines of one log, in the order they were written."""

    lines: tuple[LoggedLine, ...]
    account: FileAccount
    problems: tuple[Problem, ...]


class ShellHistory(msgspec.Struct, frozen=True):
    """The commands of one history, oldest first."""

    commands: tuple[str, ...]
    account: FileAccount
    problems: tuple[Problem, ...]


def read_prompt_log(file: FoundFile, limit: int | None = None) -> PromptLog:
    """The lines of a log. With a limit, so many bytes at its end: the newest lines stand there."""
    log = _Log(str(file.path), file.size)
    try:
        with file.path.open("rb") as stream:
            log.read(stream, limit)
    except OSError as error:
        return PromptLog((), *_refused(file, PROMPT_LOG, error))
    account = msgspec.structs.replace(log.account(), format=PROMPT_LOG, era="any")
    return PromptLog(tuple(log.lines), account, tuple(log.problems))


def read_shell_history(file: FoundFile, limit: int | None = None) -> ShellHistory:
    """The commands of a shell history. With a limit, so many bytes at its end."""
    log = _Log(str(file.path), file.size)
    limit = _READ_AT_ONCE if limit is None else min(limit, _READ_AT_ONCE)
    try:
        with file.path.open("rb") as stream:
            raw = log.tail(stream, limit)
    except OSError as error:
        return ShellHistory((), *_refused(file, SHELL_HISTORY, error))
    text = raw.decode(errors="replace")
    if "\ufffd" in text and text.encode() != raw:
        log.remark(ProblemKind.BAD_TEXT, "bytes that are no UTF-8", None, log.size - len(raw), log.size)
    commands = tuple(_commands(text))
    account = log.account()
    used = {"command": Tally(len(commands), len(raw))} if raw else {}
    account = msgspec.structs.replace(account, format=SHELL_HISTORY, era="any", used=used)
    return ShellHistory(commands, account, tuple(log.problems))


def _refused(file: FoundFile, file_format: str, error: OSError) -> tuple[FileAccount, tuple[Problem, ...]]:
    kind = ProblemKind.UNREADABLE
    problem = Problem(str(file.path), kind, error.strerror or "cannot be read")
    tally = {str(kind): Tally(1, file.size)}
    return FileAccount(str(file.path), file_format, "any", file.size, {}, {}, tally, {}), (problem,)


def _is_laid_out(stream: BinaryIO, begin: int) -> bool:
    """Whether lines stand where the CLI puts them; hardly any is longer than what is looked at here."""
    found = _NEXT_LINE in stream.read(16 * _CHUNK)
    stream.seek(begin)
    return found


def _commands(text: str) -> Iterator[str]:
    """The commands, as the CLI reads them: a backslash at the end of a line joins it with the next."""
    command = ""
    for line in filter(str.strip, text.replace("\r\n", "\n").split("\n")):
        if _CONTINUED.search(command):
            command = f"{command[:-1]} {line}"
            continue
        if command:
            yield command
        command = line
    if command:
        yield command


class _Piece(NamedTuple):
    """The bytes from the beginning of one line to that of the next; of a long one, without the middle."""

    start: int
    raw: bytes
    left_out: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.raw) + self.left_out


def _pieces(stream: BinaryIO, begin: int) -> Iterator[_Piece]:
    """What is left of a stream, cut where lines begin; the first piece is what stands before them."""
    held, start, left_out, searched = bytearray(), begin, 0, 0
    while chunk := stream.read(_CHUNK):
        held += chunk
        while (found := held.find(_NEXT_LINE, searched)) >= 0:
            cut = found + len(_NEXT_LINE) - 1
            yield _Piece(start, bytes(held[:cut]), left_out)
            start += cut + left_out
            del held[:cut]
            left_out = searched = 0
        if (too_much := len(held) - _LONGEST_READ - _END) > 0:
            del held[_LONGEST_READ : _LONGEST_READ + too_much]
            left_out += too_much
        searched = max(0, len(held) - len(_NEXT_LINE) + 1)
    yield _Piece(start, bytes(held), left_out)


class _Log(FileLog):
    """A log while it is read: its lines so far, and what became of each byte."""

    def __init__(self, path: str, size: int) -> None:
        super().__init__(path, Format.DOCUMENT, size)
        self._kept: dict[int, LoggedLine] = {}
        self._long: deque[int] = deque()
        self._oldest = self._next = 0
        self._weight = 0
        self._line: int | None = 1

    @property
    def lines(self) -> Iterable[LoggedLine]:
        """The lines that are kept, the oldest first."""
        return self._kept.values()

    def remark(self, kind: ProblemKind, detail: str, line: int | None, start: int, end: int) -> None:
        """Note a problem, unless there are so many that one more would tell nothing."""
        if len(self.problems) < _MOST_PROBLEMS:
            super().remark(kind, detail, line, start, end)

    def tail(self, stream: BinaryIO, limit: int) -> bytes:
        """The bytes at the end of a file; what stands before them is left unread."""
        begin = self._skip(stream, limit)
        raw = stream.read(limit)
        self.size = begin + len(raw)
        if begin:
            self._leave(begin)
        return raw

    def read(self, stream: BinaryIO, limit: int | None) -> None:
        """Every line of a log, or those in as many bytes at its end."""
        begin = self._skip(stream, limit)
        if self.size > _READ_AT_ONCE and not _is_laid_out(stream, begin):
            self._read_unlaid(stream, begin)
        elif begin:
            # Counting the lines of what is left unread would be to read it.
            self._line = None
            self._read_pieces(stream, begin)
        elif self.size > _READ_AT_ONCE:
            self._read_pieces(stream, 0)
        else:
            self._read_content(stream.read(self.size))
        self._close()

    def _read_unlaid(self, stream: BinaryIO, begin: int) -> None:
        """A large log that somebody else has written again: it is read at once, or not at all."""
        if begin or self.size > _LARGEST_UNLAID:
            detail = "none of it was read: it is large and not laid out as Gemini CLI writes it"
            self.report(ProblemKind.LEFT_UNREAD, detail, None, 0, self.size)
        else:
            self._read_content(stream.read(self.size))

    def _skip(self, stream: BinaryIO, limit: int | None) -> int:
        self.size = os.fstat(stream.fileno()).st_size
        begin = 0 if limit is None else max(0, self.size - max(limit, 0))
        stream.seek(begin)
        return begin

    def _leave(self, end: int) -> None:
        detail = "longer than what this command reads: only the end was read"
        self.report(ProblemKind.LEFT_UNREAD, detail, None, 0, end)

    def _read_content(self, content: bytes) -> None:
        """A log of ordinary size: all at once if it is sound."""
        self.size = len(content)
        if not content or content.isspace():
            self.report(ProblemKind.EMPTY, "nothing was written, or it was lost", None, 0, self.size)
            return
        try:
            elements = _array(content)
        except REFUSED:
            if (other := _other_than_list(content)) is None:
                self._read_pieces(io.BytesIO(content), 0)
            else:
                self.report(ProblemKind.WRONG_TYPE, f"no list of lines but {other}", 1, 0, self.size)
            return
        self._read_elements(content, elements)

    def _read_elements(self, content: bytes, elements: list[msgspec.Raw]) -> None:
        """The elements of a sound list; their bytes follow one another with commas between."""
        begin = content.index(b"[") + 1
        done, line, laid_out = begin, 1 + content.count(b"\n", 0, begin), begin
        for index, element in enumerate(elements):
            between = _BETWEEN.match(content, done)
            start = between.end() if between else done
            line += content.count(b"\n", done, start)
            laid_out += start - done
            done = start + len(element)
            self._read_element(content[start:done], Source(self.path, line, start, done, f"/{index}"))
            line += content.count(b"\n", start, done)
        self.count_layout(laid_out + len(content) - done)

    def _read_element(self, raw: bytes, place: Source) -> None:
        try:
            value, _ = self.decode(raw, place)
        except UndecodableError as error:
            self.report(ProblemKind.BAD_JSON, str(error), place.line or None, place.start, place.end)
            return
        self._take(value, place)

    def _read_pieces(self, stream: BinaryIO, begin: int) -> None:
        """A log that is damaged, or too large to be held."""
        pieces = _pieces(stream, begin)
        first = next(pieces)
        end = first.end
        if begin:
            self._leave(end)
        elif not first.raw.strip(_LAYOUT):
            self.count_layout(len(first.raw))
        else:
            self._read_piece(first)
        self._count_lines(first.raw)
        for piece in pieces:
            self._read_piece(piece)
            self._count_lines(piece.raw)
            end = piece.end
        self.size = end

    def _count_lines(self, raw: bytes) -> None:
        if self._line is not None:
            self._line += raw.count(b"\n")

    def _read_piece(self, piece: _Piece) -> None:
        if piece.left_out:
            self._read_long(piece)
            return
        raw = piece.raw.rstrip(_LAYOUT)
        place = Source(self.path, self._line or 0, piece.start, piece.start + len(raw))
        try:
            value, _ = self.decode(raw, place)
        except UndecodableError as error:
            self._salvage(piece, str(error))
            return
        self.count_layout(len(piece.raw) - len(raw))
        self._take(value, place)

    def _salvage(self, piece: _Piece, complaint: str) -> None:
        """What is whole in damaged bytes, and the beginning of what was cut off."""
        done, line, counted_to = 0, self._line, 0
        for found in salvage(piece.raw, _BEGINNING, _has_words):
            self._lost(piece, done, found.start, complaint)
            if line is not None:
                line += piece.raw.count(b"\n", counted_to, found.start)
                counted_to = found.start
            self._take_salvaged(piece, found, line, complaint)
            done = found.end
        self._lost(piece, done, len(piece.raw), complaint)

    def _take_salvaged(self, piece: _Piece, found: Salvaged, line: int | None, complaint: str) -> None:
        place = Source(self.path, line or 0, piece.start + found.start, piece.start + found.end)
        if not found.complete:
            self.remark(ProblemKind.BAD_JSON, f"cut off: {complaint}", line, place.start, place.end)
        self._take(found.value, place, complete=found.complete)

    def _lost(self, piece: _Piece, start: int, end: int, complaint: str) -> None:
        """Count bytes between lines: as layout, or as damage."""
        if piece.raw[start:end].strip(_LAYOUT):
            self.report(ProblemKind.BAD_JSON, complaint, None, piece.start + start, piece.start + end)
        else:
            self.count_layout(end - start)

    def _read_long(self, piece: _Piece) -> None:
        """A line of which only beginning and end are looked at."""
        value = complete_truncated(piece.raw[: 2 * _SHORTENED])
        if value is None or not _has_words(value):
            detail = "too long to be read at once, and not as Gemini CLI writes it"
            self.report(ProblemKind.LEFT_UNREAD, detail, self._line, piece.start, piece.end)
            return
        if time := _TIME_AT_END.search(piece.raw[-_END:]):
            value["timestamp"] = time[1].decode(errors="replace")
        self._take(
            value, Source(self.path, self._line or 0, piece.start, piece.end), complete=False, cut=True
        )

    def _take(self, value: Any, place: Source, *, complete: bool = True, cut: bool = False) -> None:
        """Take a line in, or say why not."""
        # No `match`: on mappings it takes as long as all the rest, and there may be very many lines.
        text = value.get("message") if type(value) is dict else None
        if not isinstance(text, str):
            detail = f"a line that holds no words but {_shape(value)}"
            self.report(ProblemKind.WRONG_TYPE, detail, place.line or None, place.start, place.end)
            return
        kind = value.get("type")
        if isinstance(kind, str) and kind != _USER:
            self.ignore(IGNORED["other-type"], place.end - place.start)
        elif not text.strip():
            self.ignore(IGNORED["no-words"], place.end - place.start)
        else:
            self._note_fields(_LINE, _FIELDS, value)
            line = _logged(value, text, place, whole=complete)
            if complete:
                self._remark_wrong_fields(kind, line)
            self._keep(_cut(line) if cut else line)

    def _remark_wrong_fields(self, kind: object, line: LoggedLine) -> None:
        values = {"sessionId": line.native_id, "messageId": line.message_id, "timestamp": line.at}
        wrong = [name for name, value in values.items() if value is None]
        wrong += ["type"] if kind != _USER else []
        if wrong:
            detail = f"a line in which these are missing or of another type: {', '.join(wrong)}"
            place = line.place
            self.remark(ProblemKind.WRONG_TYPE, detail, place.line or None, place.start, place.end)

    def _keep(self, line: LoggedLine) -> None:
        self._kept[self._next] = line
        if len(line.text) > _SHORTENED:
            self._long.append(self._next)
        self._next += 1
        self._weight += _weight(line)
        while self._weight > _MOST_KEPT:
            self._make_room()

    def _make_room(self) -> None:
        """Shorten the oldest line that is long; where none is, let the oldest go."""
        if self._long:
            number = self._long.popleft()
            line = self._kept[number]
            self._kept[number] = line.shortened()
            self._weight -= _weight(line) - _weight(self._kept[number])
            return
        line = self._kept.pop(self._oldest)
        self._oldest += 1
        self._weight -= _weight(line)
        self._count_unread(line.place.end - line.place.start)

    def _close(self) -> None:
        shortened = 0
        for line in self.lines:
            self.count_use(_LINE, line.place.end - line.place.start - line.unread)
            if line.unread:
                shortened += 1
                self._count_unread(line.unread)
        if self._oldest:
            self._tell_unread(f"{self._oldest} older lines are more than can be kept at once")
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


def _logged(value: dict[str, Any], text: str, place: Source, *, whole: bool) -> LoggedLine:
    message_id = value.get("messageId")
    return LoggedLine(
        _id(value),
        message_id if type(message_id) is int else None,
        text,
        key(text) if whole else None,
        _time(value),
        place,
    )


def _cut(line: LoggedLine) -> LoggedLine:
    """A line of which only the beginning was looked at; how many characters the rest has is not known."""
    text = line.text[:_SHORTENED]
    unread = max(0, line.place.end - line.place.start - _written_size(text))
    return msgspec.structs.replace(line, text=text, left_out=f"{unread:,} bytes", unread=unread)


def _written_size(text: str) -> int:
    """How many bytes a text takes in a log."""
    return len(msgspec.json.encode(text)) - 2


def _id(value: dict[str, Any]) -> str | None:
    """The id of the session, if it can be one."""
    native_id = value.get("sessionId")
    return native_id if isinstance(native_id, str) and _ID.fullmatch(native_id) else None


def _time(value: dict[str, Any]) -> datetime | None:
    written = value.get("timestamp")
    return parse_time(written) if isinstance(written, str) else None


def _weight(line: LoggedLine) -> int:
    return _WEIGHT_OF_A_LINE + sys.getsizeof(line.text)
