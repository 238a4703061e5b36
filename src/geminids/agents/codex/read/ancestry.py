"""Where the history of a thread lies: in its own rollouts, in those of others, or copied into its own.

    history_base    the child holds nothing of the parent: what stands before an ordinal is read there
    a copy          the child begins with the parent's records, the parent's first record among them

Parents are looked for in the home of the child, and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from geminids.agents.codex.read.content import text_or_none, texts_of
from geminids.agents.codex.read.log import read_log
from geminids.agents.codex.read.records import EVENT, ITEM, META, Record, RolloutLog
from geminids.agents.codex.read.rollouts import HomeFolders, rollout_name, tells_time
from geminids.core.disk import REAL, Disk
from geminids.core.model import Problem, ProblemKind

_MOST = 1_000
"""Generations that are followed: a chain that is longer was made by nobody."""
_MOST_KEPT = 4_000_000
"""Bytes of the parents that are kept between readings."""
_OF_TURNS = frozenset({"turn_context", EVENT + "task_started", EVENT + "turn_started"})


class Rollout(msgspec.Struct):
    """A rollout that was read, and what its first record says."""

    log: RolloutLog
    id: str
    """Its own, by its name."""
    meta: dict[str, Any]
    first: Record | None

    @classmethod
    def of(cls, log: RolloutLog) -> Rollout:
        """The rollout in a log."""
        first = next((record for record in log.records if record.kind == META), None)
        meta = first.payload if first else {}
        said = rollout_name(Path(log.path).name)
        named = said.rollout if said else text_or_none(meta.get("id")) or Path(log.path).stem
        return cls(log, named, meta, first)

    @property
    def thread(self) -> str:
        """The thread that it is of."""
        return text_or_none(self.meta.get("id")) or self.id

    @property
    def base(self) -> tuple[str, int | None] | None:
        """The rollout that it goes on from, and the ordinal before which that counts."""
        match self.meta.get("history_base"):
            case {"thread_id": str(rollout), **about}:
                end = about.get("end_ordinal_exclusive")
                return rollout, end if type(end) is int else None
            case _:
                return None

    @property
    def forked_from(self) -> str | None:
        """The thread that it was forked from. The first releases say it only by copying its first record."""
        named = text_or_none(self.meta.get("forked_from_id"))
        second = self.log.records[1:2]
        other = text_or_none(second[0].payload.get("id")) if second and second[0].kind == META else None
        # A thread is no fork of itself, whatever its file says.
        return next((fork for fork in (named, other) if fork and fork != self.thread), None)


class Ancestor(msgspec.Struct, frozen=True):
    """A rollout that a history begins in, as far as it counts."""

    rollout: Rollout
    end: int | None

    @property
    def records(self) -> list[Record]:
        """The records that count."""
        return before(self.rollout.log.records, self.end)


def before(records: Sequence[Record], end: int | None) -> list[Record]:
    """The records before an ordinal; those without one count if the ones around them do."""
    if end is None:
        return list(records)
    past = next(
        (at for at, record in enumerate(records) if record.ordinal is not None and record.ordinal >= end),
        None,
    )
    return list(records[:past])


class _CachedRollout(NamedTuple):
    """A parent that was read, and the state of its file then."""

    state: tuple[int, int, int]
    rollout: Rollout


class _Parents:
    """Parents that were read lately: a session that was forked often is asked for by every fork.

    Each fork is read by itself, so this outlives one reading; it holds as much as a few rollouts take.
    """

    def __init__(self) -> None:
        self._cached: dict[Path, _CachedRollout] = {}
        self._size = 0

    def read(self, path: Path, disk: Disk) -> Rollout:
        """The rollout in a file. Raises OSError."""
        facts = disk.facts(path)
        state = facts.st_size, facts.st_mtime_ns, facts.st_ino
        cached = self._forget(path)
        rollout = cached.rollout if cached and cached.state == state else Rollout.of(read_log(path, disk))
        if rollout.log.length <= _MOST_KEPT:
            self._cached[path] = _CachedRollout(state, rollout)
            self._size += rollout.log.length
        while self._size > _MOST_KEPT:
            self._forget(next(iter(self._cached)))
        return rollout

    def _forget(self, path: Path) -> _CachedRollout | None:
        cached = self._cached.pop(path, None)
        if cached is not None:
            self._size -= cached.rollout.log.length
        return cached


_PARENTS = _Parents()


class Ancestry:
    """Finds the history that rollouts go on from; each file is read once."""

    def __init__(self, own: Iterable[Rollout], disk: Disk = REAL, *, alone: bool = False) -> None:
        self._disk = disk
        self._alone = alone
        self._own = {rollout.id: rollout for rollout in own}
        self._read: dict[str, Rollout | None] = {}
        self._homes: dict[str, HomeFolders] = {}
        self.problems: list[Problem] = []

    def is_own(self, rollout: Rollout) -> bool:
        """Whether a rollout is of the session itself."""
        return self._own.get(rollout.id) is rollout

    def of(self, rollout: Rollout) -> list[Ancestor]:
        """What a rollout goes on from, the oldest first."""
        found: list[Ancestor] = []
        seen = {rollout.id}
        base = rollout.base
        asking = rollout
        while base is not None and len(found) < _MOST:
            named, end = base
            if named in seen:
                self._missing(asking, f"its history goes round in a circle at {named!r}")
                break
            seen.add(named)
            parent = self.find(named, asking)
            if parent is None:
                where = "in another file" if self._alone else "not there"
                self._missing(asking, f"it goes on from {named!r}, whose rollout is {where}")
                break
            found.append(Ancestor(parent, end))
            asking, base = parent, parent.base
        return found[::-1]

    def find(self, named: str, asking: Rollout) -> Rollout | None:
        """The rollout of an id in the home of another."""
        if named in self._own:
            return self._own[named]
        if self._alone:
            return None
        if named not in self._read:
            path = self._home_of(asking).find(named)
            try:
                self._read[named] = _PARENTS.read(path, self._disk) if path else None
            except OSError as error:
                self._read[named] = None
                reason = error.strerror or "cannot be read"
                self.problems.append(Problem(str(path), ProblemKind.UNREADABLE, reason))
        return self._read[named]

    def _home_of(self, asking: Rollout) -> HomeFolders:
        """The home that a rollout lies in; its folders are listed once for all generations."""
        folder = os.path.dirname(asking.log.path)  # noqa: PTH120 - asked for every generation
        if folder not in self._homes:
            found = HomeFolders.around(Path(asking.log.path), self._disk)
            known = (home for home in self._homes.values() if home.is_same(found))
            self._homes[folder] = next(known, found)
        return self._homes[folder]

    def _missing(self, asking: Rollout, detail: str) -> None:
        line = asking.first.place.line if asking.first else None
        self.problems.append(Problem(asking.log.path, ProblemKind.NOT_A_SESSION, detail, line))


def copied_records(rollout: Rollout) -> int | None:
    """How many records of a rollout are copies of its parent's, if it tells by itself.

    Turns have ids that grow with time, and so do threads: what was begun before the fork is not its own.
    """
    records = rollout.log.records
    start = rollout.meta.get("subagent_history_start_ordinal")
    if type(start) is int:
        return len(before(records, start))
    if rollout.base is not None or rollout.forked_from is None or not _begins_with_copy(rollout):
        return 0
    turns = [(at, turn) for at, record in enumerate(records) if (turn := _turn_of(record)) is not None]
    if not turns or not tells_time(rollout.thread):
        return None
    return next((at for at, turn in turns if turn > rollout.thread), len(records))


def _begins_with_copy(rollout: Rollout) -> bool:
    return any(record.kind == META for record in rollout.log.records[1:2])


def _turn_of(record: Record) -> str | None:
    """The turn that begins or goes on with a record, if its id tells when."""
    turn = record.payload.get("turn_id") if record.kind in _OF_TURNS else None
    return turn if type(turn) is str and tells_time(turn) else None


def copied(rollout: Rollout, parent: Rollout | None) -> int:
    """How many records are copies of the parent's, by comparison; 0 also if it is not there to tell."""
    records = rollout.log.records
    if parent is None or not _begins_with_copy(rollout):
        return 0
    marks = [mark for record in parent.log.records if (mark := _mark(record)) is not None]
    position, last = 0, 1
    for at, record in enumerate(records[1:], 1):
        mark = _mark(record)
        if mark is None:
            continue
        try:
            position = marks.index(mark, position) + 1
        except ValueError:
            return last + 1
        last = at
    return len(records)


def _mark(record: Record) -> tuple[Any, ...] | None:
    """What a copy of a record is recognised by: ids and times may be new; None if it says too little."""
    kind, payload = record.kind, record.payload
    if kind.startswith(ITEM):
        if type(call_id := payload.get("call_id")) is str:
            return kind, call_id
        if kind == ITEM + "message":
            return kind, str(payload.get("role")), *texts_of(payload.get("content"))
    elif kind.startswith(EVENT + "t") and type(turn_id := payload.get("turn_id")) is str:
        return kind, turn_id
    elif kind == "token_usage_record":
        return kind, str(payload.get("response_id"))
    return None


def limits(ancestors: Sequence[Ancestor]) -> Mapping[str, int | None]:
    """Up to which ordinal each rollout of a history counts."""
    return {ancestor.rollout.id: ancestor.end for ancestor in ancestors}
