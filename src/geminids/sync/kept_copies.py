"""Keeping copies of what is read, in a thread of its own: packing and hashing leave this one free to read.

What is kept already, by size, time and inode, is not looked at again. A file that could not be kept is no
reason to read less: it is said, and tried again the next time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from geminids.core import agents
from geminids.core.agents.base import CompanionFile, FoundFile
from geminids.core.agents.homes import Home
from geminids.core.errors import GeminidsError
from geminids.core.model import Project, folder_hash
from geminids.core.settings import KeepRules
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.failures import BusyArchiveError
from geminids.storage.archive.keeper import LARGEST
from geminids.storage.archive.values import Version
from geminids.sync.values import Kept

if TYPE_CHECKING:
    from geminids.storage.archive.keeper import Writer

ENOUGH = 64_000_000
"""Bytes after which what was kept so far is made durable."""
PATIENCE = 30.0
"""Seconds to wait for another process that keeps copies; it may be at its first ones."""

AnyFile = FoundFile | CompanionFile


class _Wish(NamedTuple):
    agent: str
    home: str
    path: str


class Keeping:
    """Keeps copies of files of some homes; a context in which that is done beside other work."""

    def __init__(
        self, archive: Archive, rules: KeepRules, homes: Sequence[Home], until: float | None = None
    ) -> None:
        self._archive = archive
        self._rules = rules
        # The innermost first: a home may lie in another.
        self._homes = sorted(homes, key=lambda home: len(home.folder), reverse=True)
        self._until = until
        self._known: Mapping[str, Version] = archive.newest([home.folder for home in homes])
        self._hashes = {folder_hash(folder): folder for folder in rules.folders}
        self._wishes: SimpleQueue[_Wish | None] = SimpleQueue()
        self._stop = Event()
        self._thread: Thread | None = None
        self._failure: BaseException | None = None
        """What ended the thread, if anything did that nobody expects."""
        self._kept = Kept()
        self._withheld: set[str] = set()

    def __enter__(self) -> Keeping:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is not None:
            self._stop.set()
        self._end()

    def withhold(self, paths: Iterable[str], among: Iterable[str] = ()) -> None:
        """Never keep these files; of those `among` which they are, only these."""
        self._withheld.difference_update(among)
        self._withheld.update(paths)

    def offer(self, agent: str, files: Iterable[AnyFile], projects: Iterable[Project] = ()) -> None:
        """Keep what is new of these files, unless the user does not want that for one of the projects."""
        new = [str(file.path) for file in files if self._is_new(file)]
        if not new or not self._is_wanted(agent, projects):
            return
        for path in new:
            if path not in self._withheld:
                self._wishes.put(_Wish(agent, self._home_of(agent, path), path))
        if self._thread is None:
            self._thread = Thread(target=self._work, name="keeping")
            self._thread.start()

    def finish(self) -> Kept:
        """Wait until all that was offered is kept."""
        self._end()
        return self._kept

    def _end(self) -> None:
        if self._thread is None:
            return
        self._wishes.put(None)
        # Who was interrupted while it started cannot wait for it; it finds that it is to end.
        with suppress(RuntimeError):
            self._thread.join()
        self._thread = None
        if self._failure is not None:
            raise self._failure

    def _is_new(self, file: AnyFile) -> bool:
        if file.is_kept or file.size > LARGEST:
            return False
        known = self._known.get(str(file.path))
        is_same = known is not None and (known.size, known.mtime_ns, known.inode) == (
            file.size,
            file.mtime_ns,
            file.inode,
        )
        return not is_same

    def _is_wanted(self, agent: str, projects: Iterable[Project]) -> bool:
        folders = [project.path or self._hashes.get(project.hash or "") for project in projects]
        known = [folder for folder in folders if folder]
        if not known:
            return self._rules.wanted(agent, None)
        return all(self._rules.wanted(agent, folder) for folder in known)

    def _home_of(self, agent: str, path: str) -> str:
        above = (home.folder for home in self._homes if home.agent == agent)
        return next((folder for folder in above if path.startswith(folder + os.sep)), os.path.dirname(path))  # noqa: PTH120

    # In the thread

    def _work(self) -> None:
        try:
            with self._archive.writing(PATIENCE if self._until is None else 1.0) as writer:
                self._keep_all(writer)
        except BusyArchiveError as error:
            self._trouble(f"{error} Until then, no more copies are kept.")
        except GeminidsError as error:
            self._trouble(str(error))
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits for the end
            self._failure = error
        finally:
            self._drain()

    def _keep_all(self, writer: Writer) -> None:
        done = 0
        while (wish := self._wishes.get()) is not None:
            if self._stop.is_set():
                return
            if self._until is not None and time.monotonic() > self._until:
                self._kept = self._kept._replace(is_settled=False)
                return
            if agents.load(wish.agent).files().keeps_secrets(Path(wish.path)):
                # It is listed by its place, and never opened.
                continue
            try:
                version = writer.keep(*wish)
            except OSError:
                # It went since it was found, or cannot be read, which whoever reads it reports.
                continue
            if version is None:
                # It is being written. Then it looks different the next time.
                continue
            self._kept = self._kept._replace(
                files=self._kept.files + 1, bytes=self._kept.bytes + version.size
            )
            done += version.size
            if done >= ENOUGH:
                writer.commit()
                done = 0

    def _trouble(self, sentence: str) -> None:
        self._kept = self._kept._replace(troubles=(*self._kept.troubles, sentence), is_settled=False)

    def _drain(self) -> None:
        """Nobody keeps what is still offered."""
        while not self._wishes.empty():
            self._wishes.get()
