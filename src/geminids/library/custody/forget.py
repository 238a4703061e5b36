"""Forgetting sessions: out of the index, out of the kept copies and out of what was said of them, for good.

Only in the agents' own folders nothing is deleted. What remains there, and copies that also hold other
sessions, are named before anybody is asked.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from geminids.core.config import DURABLE_FILE, TABLES_FOLDER
from geminids.core.disk import REAL
from geminids.core.model import SessionSummary
from geminids.core.names import storable
from geminids.library.context import LibraryContext
from geminids.query.health.kept_copies import Forgettable, Forgotten
from geminids.query.sessions.contents import summaries
from geminids.query.sessions.session_files import held_by_others, led_by, logs_beside, paths_of
from geminids.storage.archive.rewrite import remove
from geminids.storage.archive.values import Version
from geminids.storage.durable.tombstones import bury, lift
from geminids.storage.durable.values import Tombstone
from geminids.storage.index.database import FOLDER as INDEX_FOLDER
from geminids.storage.index.values import SessionRow

_PIECE = 1 << 20


class Forgetter:
    """Takes sessions out for good, and lets them come back."""

    def __init__(self, context: LibraryContext) -> None:
        self._context = context

    def would_take(self, sessions: Sequence[SessionRow]) -> list[Forgettable]:
        """What would be forgotten of some sessions, and what would remain."""
        archive = self._context.archive
        newest = archive.newest() if archive and archive.exists() else {}
        found = self._context.ask(lambda index: summaries(index, sessions))
        return [self._forgettable(summary, newest) for summary in found]

    def forget(
        self, wanted: Sequence[Forgettable], *, until_changed: bool = False, now: datetime | None = None
    ) -> Forgotten:
        """Take sessions out of the index and of the kept copies, and do not let them come back."""
        data = self._data()
        at = (now or datetime.now(UTC)).isoformat()
        stones = [
            Tombstone(
                *(storable(led.id), at, until_changed, _facts_of(led), storable(one.session.id)),
                copies=one.going if led is one.session else (),
            )
            for one in wanted
            for led in (one.session, *one.subagents)
        ]
        bury(data, stones)
        freed = self._remove_copies([path for one in wanted for path in one.going])
        self._drop_other_indexes(data)
        # Words of what was deleted stay in an index until it is made anew.
        self._context.index.sync(full=True)
        return Forgotten(sessions=tuple(wanted), until_changed=until_changed, freed=freed)

    def tombstones(self) -> list[Tombstone]:
        """The sessions that are not to come back."""
        return list(self._context.notes.forgotten().values())

    def recall(self, session_ids: Collection[str]) -> None:
        """Let forgotten sessions come back with all that they led, as far as their files are there."""
        lift(self._data(), session_ids)
        # Their files are the same as when they were left out.
        self._context.index.sync(full=True)

    def take_out_again(self) -> None:
        """Remove copies of forgotten sessions that came back with those of another machine."""
        self._remove_copies([path for stone in self.tombstones() for path in stone.copies or stone.files])

    def _forgettable(self, summary: SessionSummary, newest: Mapping[str, Version]) -> Forgettable:
        led = self._context.ask(lambda index: led_by(index, summary.id))
        own = {summary.id, *(one.id for one in led)}
        paths = self._context.ask(lambda index: paths_of(index, summary))
        shared = self._context.ask(lambda index: held_by_others(index, paths, own))
        named_after = _named_after(summary, paths, newest)
        everywhere = list(dict.fromkeys([*(path for path in paths if path in newest), *named_after]))
        going = [path for path in everywhere if path not in shared]
        staying = [path for path in everywhere if path in shared]
        logs = [path for path in self._prompt_logs(summary) if path in newest]
        return Forgettable(
            session=summary,
            subagents=tuple(led),
            going=tuple(going),
            copies=len(going),
            bytes=sum(newest[path].size for path in going),
            shared=(*staying, *logs),
            remaining=tuple(path for path in paths if os.path.lexists(path)),
        )

    def _prompt_logs(self, summary: SessionSummary) -> Iterator[str]:
        """The logs of all that is typed in a project which also tell of this session."""
        for path in self._context.ask(lambda index: logs_beside(index, summary)):
            # One that is gone tells of nothing, and one that cannot be read is reported by whoever reads it.
            with suppress(OSError), self._context.homes[0].disk.opened(path) as opened:
                if _holds(opened, summary.native_id.encode("utf-8", "surrogatepass")):
                    yield path

    def _remove_copies(self, paths: Sequence[str]) -> int:
        archive = self._context.archive
        if archive is None or not archive.exists():
            return 0
        numbers = [version.number for path in paths for version in archive.versions(path)]
        with archive.writing() as writer:
            return remove(writer, numbers)

    def _drop_other_indexes(self, data: Path) -> None:
        """Throw away all that is made of sessions: indexes of other homes may hold the same words."""
        for file in (data / INDEX_FOLDER).glob("*.db*"):
            if file.suffix != ".lock":
                file.unlink(missing_ok=True)
        # So do tables, which are made again by who asks them.
        if (data / TABLES_FOLDER).exists():
            shutil.rmtree(data / TABLES_FOLDER)

    def _data(self) -> Path:
        if self._context.data_folder is None:
            raise FileNotFoundError(errno.ENOENT, "this user has no home directory", DURABLE_FILE)
        return Path(self._context.data_folder)


def _named_after(
    summary: SessionSummary, paths: Sequence[str], newest: Mapping[str, Version]
) -> Iterator[str]:
    """Copies that belong to a session by their names: in a folder called like it, or of another home."""
    files = {os.path.basename(file.path) for file in summary.files}  # noqa: PTH119
    known = set(paths)
    called = {summary.native_id, f"session-{summary.native_id}"}
    for path, version in newest.items():
        if version.agent != summary.agent or path in known:
            continue
        folders, name = os.path.split(path)
        if name in files or not called.isdisjoint(Path(folders).parts):
            yield path


def _holds(opened: BinaryIO, wanted: bytes) -> bool:
    """Whether bytes stand anywhere in a file of any size."""
    end = b""
    while piece := opened.read(_PIECE):
        if wanted in end + piece:
            return True
        end = (end + piece)[-len(wanted) :]
    return False


def _facts_of(summary: SessionSummary) -> dict[str, tuple[int, int]]:
    """Size and time of change of the files of a session, as far as they are there."""
    facts: dict[str, tuple[int, int]] = {}
    for file in summary.files:
        # What is gone needs no facts: a file that comes back is another one.
        with suppress(OSError):
            now = REAL.facts(file.path)
            facts[storable(file.path)] = (now.st_size, now.st_mtime_ns)
    return facts
