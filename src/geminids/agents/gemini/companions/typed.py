"""Which message of which session a logged line stands in.

The log is written when a line is sent, the session a moment later: by 15 to 450 milliseconds in the
recorded corpus, by a second where a picture was read first. The same words at the same moment are the
same line, whatever session the log names; each message answers for one line. Words that were changed on
the way (a command expanded, a path rewritten) are recognised by the moment alone, in their own session.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from geminids.agents.gemini.companions.prompt_log import LoggedLine, PromptLog
from geminids.core.agents.traces import Said, Trace, key
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import LineKind, Location, Origin, SessionKind

_BEFORE = timedelta(seconds=2)
_AFTER_IN_ITS_SESSION = timedelta(seconds=60)
"""How far a message may be from its line, in the session that the log names."""
AT_ONCE = timedelta(seconds=3)
"""How soon a message comes in another session, or with other words than its line."""
_MOST_AROUND = 100
"""So many messages of one moment are looked at: hostile files could ask for it without end."""
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_KINDS = {
    Origin.HUMAN: LineKind.PROMPT,
    Origin.COMMAND: LineKind.COMMAND,
    Origin.SHELL: LineKind.SHELL,
}
OWN_COMMANDS = lazy_pattern(
    r"/(?:about|agents|auth|bashes|bug|chat|checkpoints?|clear|commands|compact|compress|copy|corgi|dir|directory"
    r"|docs|editor|exit|export-session|extensions|footer|gemma|help|hooks|ide|mcp|memory|model|new|permissions"
    r"|plan|policies|privacy|profile|quit|restore|resume|rewind|settings|setup-github|shells|shortcuts|skills"
    r"|stats|summarize|tasks|terminal-setup|theme|tools|upgrade|usage|vim|voice)(?!\S)|\?\s*$"
)
"""Commands of releases 0.1 to 0.61; `/init` is none of these, since it is sent as a prompt."""
_LONGEST_COMMAND = 10_000
_COMMENTS = ("//", "/*")


class Spot(msgspec.Struct):
    """Something the human said in a session, and whether a line is known to be it."""

    trace: Trace
    said: Said
    taken: bool = False

    @property
    def at(self) -> datetime:
        """When it was said."""
        return self.said.at or _NO_TIME


class Line(msgspec.Struct):
    """A logged line, and what was found out about it."""

    logged: LoggedLine
    also_at: list[Location]
    kind: LineKind = LineKind.PROMPT
    spot: Spot | None = None
    """The message that holds it."""

    @property
    def places(self) -> tuple[Location, ...]:
        """Where it stands in the logs."""
        return (self.logged.place, *self.also_at)

    @property
    def native_id(self) -> str | None:
        """The session that the log names."""
        return self.logged.native_id

    @property
    def holder(self) -> Trace | None:
        """The session that holds it."""
        return self.spot.trace if self.spot else None


def lines_of(logs: Iterable[PromptLog]) -> list[Line]:
    """The lines of all logs in order of time; what several copies of a log hold is one line."""
    found: dict[object, Line] = {}
    moments: dict[int, datetime] = {}
    for log in logs:
        last = _NO_TIME
        for identity, logged in _identified(log):
            # A line without a time stays where it stands among the others.
            last = logged.at or last
            line = found.setdefault(identity, Line(logged, []))
            if line.logged is logged:
                moments[id(line)] = last
            else:
                line.also_at.append(logged.place)
    return sorted(_without_beginnings(found.values()), key=lambda line: moments[id(line)])


def _identified(log: PromptLog) -> Iterator[tuple[object, LoggedLine]]:
    """The lines of a log, each with what is the same in every copy of it."""
    repeated: Counter[object] = Counter()
    for logged in log.lines:
        words = logged.native_id, logged.message_id, logged.key or logged.text
        if logged.at is None:
            # Nothing but their order tells apart what one log holds twice.
            repeated[words] += 1
            yield (*words, repeated[words]), logged
        else:
            yield (*words, logged.at), logged


def _without_beginnings(lines: Collection[Line]) -> list[Line]:
    """Lines, without those that are only the beginning of another: one copy of the log was cut off there."""
    cut = [line for line in lines if _is_cut(line.logged)]
    if not cut:
        return list(lines)
    longer = _by_number(line for line in lines if not _is_cut(line.logged))
    beginnings: set[int] = set()
    # The longest first: of two beginnings the shorter is that of the longer.
    for line in sorted(cut, key=lambda line: -len(line.logged.text)):
        same_number = longer.setdefault(_number(line), [])
        if whole := next((one for one in same_number[:_MOST_AROUND] if _begins(line, one)), None):
            whole.also_at += [line.logged.place, *line.also_at]
            beginnings.add(id(line))
        else:
            same_number.append(line)
    return [line for line in lines if id(line) not in beginnings]


def _is_cut(logged: LoggedLine) -> bool:
    """Whether a line is cut off in the middle of its words, which come before its time."""
    return (
        logged.key is None
        and logged.at is None
        and logged.native_id is not None
        and logged.message_id is not None
    )


def _by_number(lines: Iterable[Line]) -> dict[object, list[Line]]:
    found: dict[object, list[Line]] = {}
    for line in lines:
        found.setdefault(_number(line), []).append(line)
    return found


def _number(line: Line) -> object:
    return line.native_id, line.logged.message_id


def _begins(line: Line, longer: Line) -> bool:
    """Whether a line is the beginning of a longer one. A cut may have split its last character."""
    return longer.logged.text.startswith(line.logged.text.rstrip("\ufffd"))


def find_messages(lines: Sequence[Line], traces: Iterable[Trace]) -> Spots:
    """Find the message of each line by its words: at the same moment, else in the session it names."""
    spots = Spots(traces)
    fitting = sorted(spots.fitting(lines), key=lambda pair: pair[0])
    for _, line, spot in fitting:
        if line.spot is None and not spot.taken:
            _settle(line, spot)
    for line in lines:
        if line.spot is None and (left := spots.with_words(line)):
            _settle(line, left)
    return spots


def _settle(line: Line, spot: Spot) -> None:
    line.spot = spot
    spot.taken = True


class Spots:
    """All that the human said in some sessions."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        self._by_words: dict[int, list[Spot]] = {}
        self._by_session: dict[str, list[Spot]] = {}
        self._left: dict[tuple[str, int], deque[Spot]] = {}
        for trace in traces:
            if trace.kind is SessionKind.MAIN:
                self._by_session[trace.native_id] = list(self._spots(trace))
        for spots in (*self._by_words.values(), *self._by_session.values()):
            spots.sort(key=_moment)

    def _spots(self, trace: Trace) -> Iterator[Spot]:
        for said in trace.said:
            if said.origin is not Origin.MODEL and not said.imported:
                spot = Spot(trace, said)
                self._by_words.setdefault(said.key, []).append(spot)
                self._left.setdefault((trace.native_id, said.key), deque()).append(spot)
                yield spot

    def fitting(self, lines: Iterable[Line]) -> Iterator[tuple[tuple[bool, timedelta], Line, Spot]]:
        """Pairs of the same words at the same moment; those of the session that the log names come first."""
        for line in lines:
            logged = line.logged
            if logged.key is None or logged.at is None:
                continue
            for spot in _around(self._by_words.get(logged.key, ()), logged.at, _AFTER_IN_ITS_SESSION):
                elsewhere = spot.trace.native_id != logged.native_id
                if not elsewhere or spot.at - logged.at <= AT_ONCE:
                    yield (elsewhere, abs(spot.at - logged.at)), line, spot

    def with_words(self, line: Line) -> Spot | None:
        """The next message with the words of a line in the session it names."""
        if line.native_id is None or line.logged.key is None:
            return None
        left = self._left.get((line.native_id, line.logged.key))
        while left:
            spot = left.popleft()
            if not spot.taken:
                return spot
        return None

    def shell_keys(self) -> set[int]:
        """What the commands are recognised by that sessions know as commands of the shell."""
        by_words = self._by_words.items()
        return {words for words, spots in by_words if any(s.said.origin is Origin.SHELL for s in spots)}

    def find_changed(self, line: Line, trace: Trace) -> None:
        """Find the message in a session that has other words than a line and was there at once."""
        if line.spot is None and line.logged.at is not None and not OWN_COMMANDS.match(line.logged.text):
            near = _around(self._by_session.get(trace.native_id, ()), line.logged.at, AT_ONCE)
            if spot := next((spot for spot in near if not spot.taken and spot.at >= line.logged.at), None):
                _settle(line, spot)


def _moment(spot: Spot) -> datetime:
    return spot.at


def _around(spots: Sequence[Spot], moment: datetime, after: timedelta) -> Iterator[Spot]:
    """Those of spots in order of time that were there around a moment."""
    try:
        first, last = moment - _BEFORE, moment + after
    except OverflowError:
        return
    begin = bisect_left(spots, first, key=_moment)
    for index in range(begin, min(begin + _MOST_AROUND, len(spots))):
        if spots[index].at > last:
            return
        yield spots[index]


def kind_teller(shell_commands: Iterable[str], spots: Spots) -> Callable[[Line], LineKind]:
    """Tells what a line is: by the message that holds it, else by its looks and the shell's history."""
    keys = {_shell_key(command) for command in shell_commands} | spots.shell_keys()

    def tell(line: Line) -> LineKind:
        text = line.logged.text
        if line.spot and not (looks_like_command(text) and line.logged.key != line.spot.said.key):
            return _KINDS[line.spot.said.origin]
        if looks_like_command(text):
            return LineKind.COMMAND
        return LineKind.SHELL if _is_known(text, keys) else LineKind.PROMPT

    return tell


def looks_like_command(text: str) -> bool:
    """Whether a line begins as a command to the agent does, and not as a path or a comment."""
    first = text.split(maxsplit=1)[0] if text.strip() else ""
    return first == "?" or (text.startswith("/") and not text.startswith(_COMMENTS) and "/" not in first[1:])


def _is_known(text: str, keys: set[int]) -> bool:
    """Whether the shell knows these words; its history breaks commands of several lines."""
    if not keys or len(text) > _LONGEST_COMMAND:
        return False
    if _shell_key(text) in keys:
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > 1 and all(_shell_key(line) in keys for line in lines)


def _shell_key(command: str) -> int:
    return key(command.replace("\\\n", " "))
