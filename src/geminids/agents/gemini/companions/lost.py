"""What the human typed, tied to the sessions it was typed in; and the sessions of which nothing else is left.

The log names a session for each line, but goes on with the old name after `/clear` and `/resume`, and may
have one of its own where a session was resumed. So the lines under one name are cut into stretches where
these commands stand, and a stretch belongs to the session that holds its words. A stretch with prompts
that no session holds is a lost session. One line may be a neighbour's by chance: where the log names
another session, more than that is wanted before the lines around it are given to the neighbour too.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

import msgspec

from geminids.agents.gemini.companions.absence import Absence
from geminids.agents.gemini.companions.prompt_log import PROMPT_LOG, PromptLog, read_prompt_log
from geminids.agents.gemini.companions.typed import AT_ONCE, Line, Spots, find_messages, kind_teller, lines_of
from geminids.agents.gemini.read.records import Format
from geminids.core.agents.base import FoundFile, Reading
from geminids.core.agents.traces import Trace
from geminids.core.disk import GIVEN
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import (
    Counts,
    FileAccount,
    LineKind,
    Location,
    Message,
    Origin,
    Project,
    Role,
    Session,
    SessionFile,
    SessionKind,
    State,
    Status,
    Tally,
    Text,
    TypedLine,
    Usage,
)
from geminids.core.model.summary import first_sentence

LOST = "no session file has this id: it was deleted, or the release (before 0.4) kept none"
LOST_AFTER_CLEAR = "typed after /clear, which starts a new session; no file of it is left"
LOST_AFTER_RESUME = "typed after /resume, in a session of which no file is left"
_BEFORE_REASON = {
    LOST: "",
    LOST_AFTER_CLEAR: "typed after /clear, which starts a new session; ",
    LOST_AFTER_RESUME: "typed after /resume, in another session; ",
}
"""What is known of a session all the same that may be there, by what is said of one that is gone."""
NO_PROMPT = "its session left no file, and no prompt was typed in it"
NO_ID = "the log does not say in which session it was typed"
COMMAND_NOT_RECORDED = "commands to the agent itself are not recorded"
SHELL_NOT_RECORDED = "commands of shell mode are recorded since 0.44 only"
TAKEN_FOR_COMMAND = "it begins with a slash: the release took it for a command and did not send it"
TAKEN_BACK = "it was undone, failed or was a shell command: releases before 0.39 do not record these"
LOG_CUT_OFF = "the log is cut off in the middle of it, so it cannot be compared"
UNKNOWN = "the session does not have it: it was a shell command (before 0.44), or the reason is unknown"

_CLEAR = lazy_pattern(r"/(?:clear|new)\b")
_RESUME = lazy_pattern(r"/resume\s*$")
_QUIT = lazy_pattern(r"/(?:quit|exit)\b")
_SAVE = lazy_pattern(r"/(?:chat|resume|checkpoints?)\s+save\s+(\S.*)", re.DOTALL)
_NEW_SESSION = timedelta(seconds=2)
"""How soon after `/clear` the next session begins."""
_ORIGINS = {
    LineKind.PROMPT: Origin.HUMAN,
    LineKind.COMMAND: Origin.COMMAND,
    LineKind.SHELL: Origin.SHELL,
}


class Joined(msgspec.Struct, frozen=True):
    """What logs and sessions say together."""

    typed: tuple[TypedLine, ...]
    """Every line in order of time."""
    lost: tuple[Session, ...]
    saved_in: dict[str, str]
    """The agent's own id of the session in which a conversation was last saved, by its tag."""
    whereabouts: dict[tuple[str, int], Whereabouts] = {}
    """Where each line is told, by its file and where it begins there."""


def read_lines(path: Path, content: bytes) -> Reading:
    """A prompt log that stands alone, and was read already to see what it is."""
    return read_log(path, len(content))


def read_log(path: Path, size: int) -> Reading:
    """A prompt log that stands alone: what was typed, session by session, by the names in the log."""
    log = read_prompt_log(FoundFile(path, size, 0, 0), disk=GIVEN)
    lines = lines_of([log])
    tell = kind_teller((), find_messages(lines, ()))
    for line in lines:
        line.kind = tell(line)
    owners = {id(line): Owner(lost_id=line.native_id or "unknown") for line in lines}
    named = _lost_sessions(lines, owners, _files([log]), Project(None, None, None, None))
    sessions = (msgspec.structs.replace(session, kind=SessionKind.COPY, summary=None) for session in named)
    return Reading(tuple(sessions), (log.account,), log.problems)


class _Stretch(msgspec.Struct):
    """Lines under one name that can belong to one session."""

    native_id: str
    suffix: str
    """What tells it from the stretch that the name stands for."""
    reason: str
    """Why its session is lost, if it is."""
    began_at: datetime | None
    lines: list[Line]

    @property
    def has_unheld_prompts(self) -> bool:
        """Whether prompts were typed that no session holds."""
        return any(line.kind is LineKind.PROMPT and line.holder is None for line in self.lines)

    def proven(self) -> dict[str, Trace]:
        """The sessions that these lines were typed in, beyond doubt, by their ids."""
        held = [line.holder for line in self.lines if line.holder]
        times = Counter(trace.native_id for trace in held)
        return {t.native_id: t for t in held if times[t.native_id] > 1 or self._is_expected(t)}

    def _is_expected(self, trace: Trace) -> bool:
        """Whether a session is the one that the log names, or there when one of another name had to be."""
        if trace.native_id == self.native_id:
            return True
        if self.reason is LOST_AFTER_CLEAR:
            return _begins_at(trace, self.began_at)
        # Who goes on under another name has resumed what was there before.
        first = next((line.logged.at for line in self.lines if line.logged.at), None)
        return first is not None and any(said.at and first - said.at > AT_ONCE for said in trace.said)


class Owner(msgspec.Struct, frozen=True):
    """The session of a line: one that is there, one that is lost, or neither."""

    trace: Trace | None = None
    lost_id: str | None = None
    reason: str | None = None

    @property
    def native_id(self) -> str | None:
        """The agent's own id of it."""
        return self.trace.native_id if self.trace else self.lost_id

    @property
    def id(self) -> str | None:
        """Its id."""
        return self.trace.id if self.trace else f"gemini:{self.lost_id}" if self.lost_id else None


def join(
    logs: Sequence[PromptLog],
    traces: Sequence[Trace],
    shell_commands: Iterable[str],
    project: Project,
    absence: Absence,
) -> Joined:
    """Tie the lines of a project's logs to its sessions."""
    lines = lines_of(logs)
    if not lines:
        return Joined((), (), {})
    owners = tie(lines, traces, shell_commands, absence)
    return Joined(
        tuple(_typed(line, owners[id(line)]) for line in lines),
        tuple(_lost_sessions(lines, owners, _files(logs), project)),
        dict(_saved(lines, owners)),
        {logged_at(place): _whereabouts(line, owners[id(line)]) for line in lines for place in line.places},
    )


def tie(
    lines: Sequence[Line], traces: Sequence[Trace], shell_commands: Iterable[str], absence: Absence | None
) -> dict[int, Owner]:
    """Find the session of each line, by the line's `id()`, and the message that holds it."""
    spots = find_messages(lines, traces)
    tell = kind_teller(shell_commands, spots)
    for line in lines:
        line.kind = tell(line)
    return _owners(lines, traces, spots, tell, absence)


def _owners(
    lines: Sequence[Line],
    traces: Sequence[Trace],
    spots: Spots,
    tell: Callable[[Line], LineKind],
    absence: Absence | None,
) -> dict[int, Owner]:
    """The session of each line, by the line's `id()`."""
    mains = {trace.native_id: trace for trace in traces if trace.kind is SessionKind.MAIN}
    owners = {id(line): Owner(line.holder, reason=NO_ID) for line in lines if line.native_id is None}
    by_name: dict[str, list[Line]] = {}
    for line in lines:
        if line.native_id is not None:
            by_name.setdefault(line.native_id, []).append(line)
    there = _There(mains, absence)
    for name, named in by_name.items():
        before = Owner()
        for stretch in _stretches(name, named):
            before = _settle(stretch, before, there, owners)
    for line in lines:
        if trace := owners[id(line)].trace:
            spots.find_changed(line, trace)
            line.kind = tell(line)
    return owners


class _There:
    """The sessions that are there, and why others are not."""

    def __init__(self, mains: dict[str, Trace], absence: Absence | None) -> None:
        self._by_id = mains
        self._absence = absence
        began = ((trace.started_at, trace) for trace in mains.values())
        self._began = sorted(((at, trace) for at, trace in began if at), key=lambda pair: pair[0])

    def named(self, stretch: _Stretch) -> Trace | None:
        """The session that the log names for a stretch, if it can be the one."""
        return self._by_id.get(stretch.native_id) if not stretch.suffix else None

    def begun_with(self, stretch: _Stretch) -> Trace | None:
        """The session that began at once after the `/clear` before a stretch, and in which it was typed."""
        if stretch.reason is not LOST_AFTER_CLEAR or stretch.began_at is None:
            return None
        index = bisect_left(self._began, stretch.began_at, key=lambda pair: pair[0])
        trace = next((trace for _, trace in self._began[index : index + 1]), None)
        is_next = trace and _begins_at(trace, stretch.began_at) and _can_hold(trace, stretch)
        return trace if is_next else None

    def why_lost(self, stretch: _Stretch) -> str:
        """Why the session of a stretch is not there."""
        if self._absence is None:
            return stretch.reason
        is_named = not stretch.suffix
        why = self._absence.of_named(stretch.native_id) if is_named else self._absence.of_unnamed()
        return f"{_BEFORE_REASON[stretch.reason]}{why}" if why else stretch.reason


def _begins_at(trace: Trace, moment: datetime | None) -> bool:
    """Whether a session began at once after a moment."""
    if trace.started_at is None or moment is None:
        return False
    return timedelta(0) <= trace.started_at - moment <= _NEW_SESSION


def _can_hold(trace: Trace, stretch: _Stretch) -> bool:
    """Whether a session without the words of a stretch can be the one they were typed in.

    It can if it has no words at all, or words of the same moment: some are changed on the way.
    """
    own = [said for said in trace.said if said.origin is not Origin.MODEL and not said.imported]
    moments = sorted(said.at for said in own if said.at)
    typed = (line.logged.at for line in stretch.lines)
    return not own or any(at is not None and _follows_at_once(moments, at) for at in typed)


def _follows_at_once(moments: Sequence[datetime], at: datetime) -> bool:
    """Whether one of the moments, in their order, comes at once after another moment."""
    index = bisect_left(moments, at)
    return index < len(moments) and moments[index] - at <= AT_ONCE


def _stretches(name: str, lines: Iterable[Line]) -> Iterator[_Stretch]:
    """The lines under one name, cut after each command that may change the session."""
    stretch = _Stretch(name, "", LOST, None, [])
    clears = resumes = 0
    for line in lines:
        stretch.lines.append(line)
        if line.kind is not LineKind.COMMAND:
            continue
        text, at = line.logged.text, line.logged.at
        if _CLEAR.match(text):
            yield stretch
            clears += 1
            stretch = _Stretch(name, f"#after-clear-{clears}", LOST_AFTER_CLEAR, at, [])
        elif _RESUME.match(text):
            yield stretch
            resumes += 1
            stretch = _Stretch(name, f"#after-resume-{resumes}", LOST_AFTER_RESUME, None, [])
        elif _QUIT.match(text):
            # Who comes back to a session finds it under its own name.
            yield stretch
            stretch = _Stretch(name, "", LOST, None, [])
    if stretch.lines:
        yield stretch


def _settle(stretch: _Stretch, before: Owner, there: _There, owners: dict[int, Owner]) -> Owner:
    """Give each line of a stretch its session; returns that of the last."""
    proven = stretch.proven()
    owner = _first_owner(stretch, proven, before, there)
    for line in stretch.lines:
        holder = line.holder
        if holder and holder.native_id in proven:
            owner = Owner(holder)
        owners[id(line)] = Owner(holder) if holder else owner
    return owner


def _first_owner(stretch: _Stretch, proven: dict[str, Trace], before: Owner, there: _There) -> Owner:
    """The session that a stretch begins in."""
    holder = there.named(stretch) or next(iter(proven.values()), None) or there.begun_with(stretch)
    if holder:
        return Owner(holder)
    if stretch.has_unheld_prompts:
        return Owner(None, stretch.native_id + stretch.suffix, there.why_lost(stretch))
    # Commands alone make no session: they are with the one prompt there is.
    if held := next((line.holder for line in stretch.lines if line.holder), None):
        return Owner(held)
    if stretch.reason is LOST_AFTER_RESUME:
        # Who leaves the list of sessions without a choice is where he was.
        return before
    why = there.why_lost(stretch)
    return Owner(reason=NO_PROMPT if why is stretch.reason else why)


class Whereabouts(StrEnum):
    """Where a line is told, as accounts call it."""

    HELD = "line"
    """It stands in a message of its session, as it is or beside what was sent for it."""
    UNRECORDED = "line that its session lacks"
    """Its session is told with it."""
    LOST = "line of a lost session"
    OF_NO_SESSION = "line of no session"
    """Which session it was typed in cannot be told; `projects show --prompts` lists it."""
    BARE_COMMAND = "a command to the agent itself, without a word besides its name"


def _whereabouts(line: Line, owner: Owner) -> Whereabouts:
    if line.spot:
        return Whereabouts.HELD
    if owner.lost_id is not None:
        return Whereabouts.LOST
    if is_bare_command(line):
        return Whereabouts.BARE_COMMAND
    return Whereabouts.UNRECORDED if owner.trace else Whereabouts.OF_NO_SESSION


def is_bare_command(line: Line) -> bool:
    """Whether a line only names a command: nothing in it is anybody's words."""
    return line.kind is LineKind.COMMAND and len(line.logged.text.split()) == 1


def account_of(log: PromptLog, whereabouts: Mapping[tuple[str, int], Whereabouts]) -> FileAccount:
    """The account of a log once it is known where its lines are told."""
    used = {kind: tally for kind, tally in log.account.used.items() if kind != Whereabouts.HELD}
    ignored = dict(log.account.ignored)
    for line in log.lines:
        where = whereabouts[logged_at(line.place)]
        tallies = ignored if where is Whereabouts.BARE_COMMAND else used
        known = tallies.get(where.value, Tally())
        tallies[where.value] = Tally(known.records + 1, known.bytes + line.size)
    return msgspec.structs.replace(log.account, used=used, ignored=ignored)


def logged_at(place: Location) -> tuple[str, int]:
    """What tells a line from all others."""
    return place.file, place.start


def _typed(line: Line, owner: Owner) -> TypedLine:
    missing = None if line.spot else why_missing(line, owner)
    return TypedLine(line.logged.text, line.logged.at, line.kind, owner.id, missing)


def why_missing(line: Line, owner: Owner) -> str:
    """Why a session does not hold a line that was typed in it."""
    if owner.reason:
        return owner.reason
    match line.kind:
        case LineKind.COMMAND:
            return COMMAND_NOT_RECORDED
        case LineKind.SHELL:
            return SHELL_NOT_RECORDED
    if line.logged.key is None:
        return LOG_CUT_OFF
    if line.logged.text.startswith("/"):
        return TAKEN_FOR_COMMAND
    was_rewritten = owner.trace is not None and Format.DOCUMENT in owner.trace.formats
    return TAKEN_BACK if was_rewritten else UNKNOWN


def _saved(lines: Iterable[Line], owners: dict[int, Owner]) -> Iterator[tuple[str, str]]:
    for line in lines:
        save = _SAVE.fullmatch(line.logged.text) if line.kind is LineKind.COMMAND else None
        native_id = owners[id(line)].native_id
        if save and native_id:
            yield save[1].strip(), native_id


def _files(logs: Iterable[PromptLog]) -> dict[str, SessionFile]:
    accounts = (log.account for log in logs)
    return {account.path: SessionFile(account.path, PROMPT_LOG, account.size) for account in accounts}


def _lost_sessions(
    lines: Iterable[Line], owners: dict[int, Owner], files: dict[str, SessionFile], project: Project
) -> Iterator[Session]:
    of_session: dict[str, list[Line]] = {}
    reasons: dict[str, str | None] = {}
    for line in lines:
        owner = owners[id(line)]
        if owner.lost_id is not None:
            of_session.setdefault(owner.lost_id, []).append(line)
            reasons[owner.lost_id] = owner.reason
    for native_id, left in of_session.items():
        yield _lost_session(native_id, left, reasons[native_id], files, project)


def _lost_session(
    native_id: str, lines: Sequence[Line], reason: str | None, files: dict[str, SessionFile], project: Project
) -> Session:
    times = [line.logged.at for line in lines if line.logged.at]
    prompts = [line for line in lines if line.kind is LineKind.PROMPT]
    paths = dict.fromkeys(p.file for line in lines for p in (line.logged.place, *line.also_at))
    return Session(
        id=f"gemini:{native_id}",
        agent="gemini",
        native_id=native_id,
        kind=SessionKind.LOST,
        parent_id=None,
        project=project,
        title=first_sentence(prompts[0].logged.text) if prompts else None,
        summary=reason,
        started_at=min(times, default=None),
        ended_at=max(times, default=None),
        # How it ended is not known; nothing that remains says that it came to an end.
        status=Status.INTERRUPTED,
        models=(),
        counts=Counts(prompts=len(prompts), replies=0, tool_calls=0, tool_errors=0, dropped=0),
        usage=Usage(0),
        files=tuple(files[path] for path in paths),
        messages=tuple(_messages(lines)),
    )


def _messages(lines: Iterable[Line]) -> Iterator[Message]:
    names = LineNames()
    for line in lines:
        yield message_of(line, names.of(line))


class LineNames:
    """Gives lines of one session names of their own."""

    def __init__(self) -> None:
        self._numbers: Counter[str] = Counter()

    def of(self, line: Line) -> str:
        """The name of a line. After a .bak file the CLI counts from 0 again."""
        logged = line.logged
        name = f"line-{'x' if logged.message_id is None else logged.message_id}"
        self._numbers[name] += 1
        return name if self._numbers[name] == 1 else f"{name}-{self._numbers[name]}"


def message_of(line: Line, name: str, missing: str | None = None) -> Message:
    """A line as a message: of a lost session, or of one whose files do not hold it, and why."""
    return Message(
        id=name,
        role=Role.USER,
        origin=_ORIGINS[line.kind],
        state=State.CURRENT if missing is None else State.UNRECORDED,
        at=line.logged.at,
        model=None,
        parts=(Text(line.logged.text, Origin.HUMAN),),
        usage=None,
        source=line.logged.place,
        also_at=tuple(line.also_at),
        missing=missing,
    )
