"""What the part of Claude Code that deletes sees of a session file, noted while the file is read anyway.

It goes by the time of the file on the disk. A session that began or ended in the desktop app is spared, and
so is an empty file that has no folder of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote, unquote

from geminids.agents.claude.read.records import FileLog, Record
from geminids.core.agents.base import FoundFile
from geminids.core.agents.fates import Fate
from geminids.core.timestamps import disk_time

DESKTOP = "desktop"
EMPTY = "empty"

_IN = "in:"
_A_FEW = 50
"""So many records are looked at, at both ends; Claude Code itself looks at so many bytes."""
_DESKTOP_NAMES = ("claude-desktop", "claude-desktop-3p", "local-agent", "local_agent")


def fates_of(file: FoundFile, log: FileLog | None = None) -> tuple[Fate, ...]:
    """What Claude Code would see of a file; nothing of one that is gone."""
    if file.is_kept:
        return ()
    traits = _traits(log.records) if log and log.records else () if file.size else (EMPTY,)
    return (Fate(str(file.path), disk_time(file.mtime_ns / 1e9), tuple(traits)),)


def folder_of(traits: Iterable[str]) -> str | None:
    """The folder that a session began in."""
    return next((unquote(trait.removeprefix(_IN)) for trait in traits if trait.startswith(_IN)), None)


def _traits(records: Sequence[Record]) -> Iterator[str]:
    beginning, end = records[:_A_FEW], records[: -_A_FEW - 1 : -1]
    if any(_first("entrypoint", some) in _DESKTOP_NAMES for some in (beginning, end)):
        yield DESKTOP
    folder = _first("cwd", beginning)
    if isinstance(folder, str):
        yield _IN + quote(folder, errors="replace")


def _first(name: str, records: Iterable[Record]) -> Any:
    return next((record.value[name] for record in records if name in record.value), None)
