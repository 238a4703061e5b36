"""What the human typed, tied to the sessions it was typed in; and the sessions of which nothing else is left.

The log names a session for each line, but goes on with the old name after `/clear` and `/resume`, and may
have one of its own where a session was resumed. So the lines under one name are cut into stretches where
these commands stand, and a stretch belongs to the session that holds its words. A stretch with prompts
that no session holds is a lost session.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from geminids.model import (
    Counts,
    LineKind,
    Message,
    Origin,
    Project,
    Role,
    Session,
    SessionFile,
    SessionKind,
    State,
    Status,
    Text,
    TypedLine,
    Usage,
)
from geminids.sources.base import FoundFile, Reading
from geminids.sources.gemini.prompt_log import PROMPT_LOG, PromptLog, read_prompt_log
from geminids.sources.gemini.records import Format
from geminids.sources.gemini.typed import Line, Spots, find_messages, kind_teller, lines_of
from geminids.sources.traces import Trace

LOST = "no session file has this id: it was deleted, or the release (before 0.4) kept none"
LOST_AFTER_CLEAR = "typed after /clear, which begins a session of its own; no file of it is left"
LOST_AFTER_RESUME = "typed after /resume, in a session of which no file is left"
NO_PROMPT = "its session left no file, and no prompt was typed in it"
NO_ID = "the log does not say in which session it was typed"
COMMAND_NOT_RECORDED = "commands to the agent itself are not recorded"
SHELL_NOT_RECORDED = "commands of shell mode are recorded since 0.44 only"
TAKEN_FOR_COMMAND = "it begins with a slash: the release took it for a command and did not send it"
TAKEN_BACK = "it was taken back, failed or was for the shell: releases before 0.39 keep none of that"
LOG_CUT_OFF = "the log is cut off in the middle of it, so it cannot be compared"
UNKNOWN = "the session does not hold it: it was for the shell (before 0.44), or it is not known why"

_CLEAR = re.compile(r"/(?:clear|new)\b")
_RESUME = re.compile(r"/resume\s*$")
_QUIT = re.compile(r"/(?:quit|exit)\b")
_SAVE = re.compile(r"/(?:chat|resume|checkpoints?)\s+save\s+(\S.*)", re.DOTALL)
_LONGEST_TITLE = 300
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


def read_lines(path: Path, content: bytes) -> Reading:
    """A prompt log that stands alone: what was typed, session by session, by the names in the log."""
    log = read_prompt_log(FoundFile(path, len(content), 0, 0))
    lines = lines_of([log])
    tell = kind_teller((), find_messages(lines, ()))
    for line in lines:
        line.kind = tell(line)
    owners = {id(line): _Owner(lost_id=line.native_id or "unknown") for line in lines}
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
    def has_prompts(self) -> bool:
        return any(line.kind is LineKind.PROMPT for line in self.lines)


class _Owner(msgspec.Struct, frozen=True):
    """The session of a line: one that is there, one that is lost, or neither."""

    trace: Trace | None = None
    lost_id: str | None = None
    reason: str | None = None

    @property
    def native_id(self) -> str | None:
        return self.trace.native_id if self.trace else self.lost_id

    @property
    def id(self) -> str | None:
        return self.trace.id if self.trace else f"gemini:{self.lost_id}" if self.lost_id else None


def join(
    logs: Sequence[PromptLog], traces: Sequence[Trace], shell_commands: Iterable[str], project: Project
) -> Joined:
    """Tie the lines of a project's logs to its sessions."""
    lines = lines_of(logs)
    if not lines:
        return Joined((), (), {})
    spots = find_messages(lines, traces)
    tell = kind_teller(shell_commands, spots)
    for line in lines:
        line.kind = tell(line)
    owners = _owners(lines, traces, spots, tell)
    return Joined(
        tuple(_typed(line, owners[id(line)]) for line in lines),
        tuple(_lost_sessions(lines, owners, _files(logs), project)),
        dict(_saved(lines, owners)),
    )


def _owners(
    lines: Sequence[Line], traces: Sequence[Trace], spots: Spots, tell: Callable[[Line], LineKind]
) -> dict[int, _Owner]:
    """The session of each line, by the line's `id()`."""
    mains = {trace.native_id: trace for trace in traces if trace.kind is SessionKind.MAIN}
    owners = {id(line): _Owner(line.holder, reason=NO_ID) for line in lines if line.native_id is None}
    by_name: dict[str, list[Line]] = {}
    for line in lines:
        if line.native_id is not None:
            by_name.setdefault(line.native_id, []).append(line)
    begun = _Begun(mains.values())
    for name, named in by_name.items():
        before = _Owner()
        for stretch in _stretches(name, named):
            before = _settle(stretch, before, mains, begun, owners)
    for line in lines:
        if trace := owners[id(line)].trace:
            spots.find_changed(line, trace)
            line.kind = tell(line)
    return owners


class _Begun:
    """When sessions began."""

    def __init__(self, traces: Iterable[Trace]) -> None:
        began = ((trace.started_at, trace) for trace in traces)
        self._began = sorted(((at, trace) for at, trace in began if at), key=lambda pair: pair[0])

    def at(self, moment: datetime | None) -> Trace | None:
        """The session that began at once after a moment."""
        if moment is None:
            return None
        index = bisect_left(self._began, moment, key=lambda pair: pair[0])
        for started_at, trace in self._began[index : index + 1]:
            return trace if started_at - moment <= _NEW_SESSION else None
        return None


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


def _settle(
    stretch: _Stretch, before: _Owner, mains: dict[str, Trace], begun: _Begun, owners: dict[int, _Owner]
) -> _Owner:
    """Give each line of a stretch its session; returns that of the last."""
    owner = _first_owner(stretch, before, mains, begun)
    for line in stretch.lines:
        owner = _Owner(line.holder) if line.holder else owner
        owners[id(line)] = owner
    return owner


def _first_owner(stretch: _Stretch, before: _Owner, mains: dict[str, Trace], begun: _Begun) -> _Owner:
    """The session that a stretch begins in."""
    own = mains.get(stretch.native_id) if not stretch.suffix else None
    holder = own or next((line.holder for line in stretch.lines if line.holder), None)
    if holder is None and stretch.reason is LOST_AFTER_CLEAR:
        holder = begun.at(stretch.began_at)
    if holder:
        return _Owner(holder)
    if stretch.has_prompts:
        return _Owner(None, stretch.native_id + stretch.suffix, stretch.reason)
    # Who leaves the list of sessions without a choice is where he was.
    return before if stretch.reason is LOST_AFTER_RESUME else _Owner(reason=NO_PROMPT)


def _typed(line: Line, owner: _Owner) -> TypedLine:
    missing = None if line.spot else owner.reason or _why_missing(line, owner)
    return TypedLine(line.logged.text, line.logged.at, line.kind, owner.id, missing)


def _why_missing(line: Line, owner: _Owner) -> str:
    """Why a session does not hold a line that was typed in it."""
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


def _saved(lines: Iterable[Line], owners: dict[int, _Owner]) -> Iterator[tuple[str, str]]:
    for line in lines:
        save = _SAVE.fullmatch(line.logged.text) if line.kind is LineKind.COMMAND else None
        native_id = owners[id(line)].native_id
        if save and native_id:
            yield save[1].strip(), native_id


def _files(logs: Iterable[PromptLog]) -> dict[str, SessionFile]:
    accounts = (log.account for log in logs)
    return {account.path: SessionFile(account.path, PROMPT_LOG, account.size) for account in accounts}


def _lost_sessions(
    lines: Iterable[Line], owners: dict[int, _Owner], files: dict[str, SessionFile], project: Project
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
        title=_one_line(prompts[0].logged.text) if prompts else None,
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


def _one_line(text: str) -> str:
    return " ".join(text[: 4 * _LONGEST_TITLE].split())[:_LONGEST_TITLE]


def _messages(lines: Iterable[Line]) -> Iterator[Message]:
    numbers: dict[str, int] = {}
    for line in lines:
        logged = line.logged
        name = f"line-{'x' if logged.message_id is None else logged.message_id}"
        # After a .bak file the CLI counts from 0 again.
        numbers[name] = numbers.get(name, 0) + 1
        yield Message(
            id=name if numbers[name] == 1 else f"{name}-{numbers[name]}",
            role=Role.USER,
            origin=_ORIGINS[line.kind],
            state=State.CURRENT,
            at=logged.at,
            model=None,
            parts=(Text(logged.text, Origin.HUMAN),),
            usage=None,
            source=logged.place,
            also_at=tuple(line.also_at),
        )
