"""The names of rollouts: when they were begun, whose they are, and where one of an id may lie.

rollout-2026-05-01T10-20-30-<thread>.jsonl              a thread
rollout-2026-05-02T11-00-00-<thread>_<rollout>.jsonl    the same thread after it was taken back to an
earlier turn ….jsonl.zst                                             compressed, when it was not used for a
week
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import MAXYEAR, UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from geminids.agents.codex.homes import ARCHIVED
from geminids.core.disk import REAL, Disk
from geminids.core.lazy_patterns import lazy_pattern

PACKED = ".zst"
_NAME = lazy_pattern(
    r"rollout-(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(?P<thread>[^_]+?)(?:_(?P<rollout>.+?))?\.jsonl(?P<packed>\.zst)?"
)
_DAY = lazy_pattern(r"\d{4}/\d\d/\d\d")
_SEVENTH = lazy_pattern(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
"""A UUID that begins with the milliseconds since 1970."""


class RolloutName(NamedTuple):
    """What the name of a rollout says."""

    began: str
    """In local time, as written."""
    thread: str
    rollout: str
    """Its own id, which is that of the thread unless the thread was taken back."""
    is_packed: bool


def rollout_name(name: str) -> RolloutName | None:
    """What the name of a file says; None if it is no rollout's."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    thread = found["thread"]
    return RolloutName(
        found["time"], thread, found["rollout"] or thread, is_packed=found["packed"] is not None
    )


def name_for_good(path: str) -> str | None:
    """The name that a rollout has wherever it is moved to, packed or not; None if it is no rollout."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return name.removesuffix(PACKED) if rollout_name(name) else None


class HomeFolders:
    """The folders in which the rollouts of one home lie; each is listed once."""

    def __init__(self, sessions: Path | None, archive: Path | None, disk: Disk = REAL) -> None:
        self.sessions = sessions
        self.archive = archive
        self._disk = disk
        self._listed: dict[Path, dict[str, str]] = {}
        self._near: dict[date, list[Path]] = {}

    @classmethod
    def around(cls, file: Path, disk: Disk = REAL) -> HomeFolders:
        """The folders of the home that a rollout lies in; none if it does not lie where Codex puts them."""
        above = file.absolute().parents
        if len(above) > 3 and _DAY.fullmatch("/".join(folder.name for folder in reversed(above[:3]))):
            return cls(above[3], above[4] / ARCHIVED if len(above) > 4 else None, disk)
        if above[0].name == ARCHIVED:
            return cls(above[1] / "sessions", above[0], disk)
        return cls(None, None, disk)

    def is_same(self, other: HomeFolders) -> bool:
        """Whether these are the folders of the same home."""
        return (self.sessions, self.archive) == (other.sessions, other.archive)

    def find(self, rollout: str) -> Path | None:
        """The rollout of an id: first around the day on which the id was made, then everywhere."""
        for folder in self._likely(rollout):
            if folder not in self._listed:
                self._listed[folder] = _by_rollout(_names(folder, self._disk))
            if name := self._listed[folder].get(rollout):
                return folder / name
        return None

    def _likely(self, rollout: str) -> Iterator[Path]:
        day = _made_on(rollout)
        if day is not None and self.sessions is not None:
            if day not in self._near:
                self._near[day] = [self.sessions / f"{near:%Y/%m/%d}" for near in _days_around(day)]
            yield from self._near[day]
        if self.archive is not None:
            yield self.archive
        if self.sessions is not None:
            yield from _days(self.sessions, self._disk)


def _by_rollout(names: Iterable[str]) -> dict[str, str]:
    """The names of rollouts by their ids; of a plain file and a packed one, the plain one counts."""
    known = [(said, name) for name in names if (said := rollout_name(name)) is not None]
    known.sort(key=lambda one: (not one[0].is_packed, one[1]))
    return {said.rollout: name for said, name in known}


def tells_time(written: str) -> bool:
    """Whether an id begins with the time when it was made, so that ids are in order of time."""
    return _SEVENTH.fullmatch(written) is not None


def _made_on(rollout: str) -> date | None:
    """The day on which an id was made, if it tells."""
    found = _SEVENTH.fullmatch(rollout)
    if found is None:
        return None
    try:
        made = datetime.fromtimestamp(int(found[1] + found[2], 16) / 1000, UTC)
        return made.date() if made.year < MAXYEAR else None
    except (ValueError, OverflowError, OSError):
        return None


def _days_around(day: date) -> list[date]:
    """The days that a moment of this one may be of, in the zones of the world."""
    return [day + timedelta(days=days) for days in (0, -1, 1)]


def _days(folder: Path, disk: Disk, levels: int = 2) -> Iterator[Path]:
    """The folders of all days, the latest first."""
    for name in reversed(_names(folder, disk)):
        path = folder / name
        if name.isdecimal() and disk.is_folder(path):
            if levels:
                yield from _days(path, disk, levels - 1)
            else:
                yield path


def _names(folder: Path, disk: Disk) -> list[str]:
    """The names of what a folder holds, in order."""
    try:
        return [entry.name for entry in disk.entries(folder)]
    except OSError:
        # Not there, or closed: then what is looked for is missing, and that is said.
        return []
