"""Finding rollouts in a home, and which of them belong together.

    sessions/YYYY/MM/DD/rollout-<local time>-<thread>[_<rollout>].jsonl[.zst]
    archived_sessions/rollout-….jsonl[.zst]

A day is a shelf, and so is the archive; the files of one thread in it are a bundle. No rollout is opened
here, so the folder that a session was worked in is not known yet: its own records say it. Links are never
followed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from geminids.agents.codex.folders import Shelf, Walk, beside_sessions
from geminids.agents.codex.homes import AGENT, ARCHIVED, NAMES_FILE, SESSIONS, SESSIONS_VARIABLE
from geminids.agents.codex.read.rollouts import name_for_good, rollout_name
from geminids.agents.codex.read.titles import names_of_sessions
from geminids.core.agents.base import Bundle, Companions, FoundFile, Home, Scan
from geminids.core.model import Project
from geminids.reading.companions import CREDENTIALS, SETTINGS, STATE, TAUGHT, UNKNOWN
from geminids.reading.scanner import LINK, Scanner, entries_of
from geminids.reading.texts import unreadable

NO_FILE = "a pipe, a socket, a device or a folder"
NO_ROLLOUT = "not named like a rollout"
NO_DAY = "not in the folder of a day"
IN_HOME = {
    NAMES_FILE: "names of sessions: read for their titles",
    "history.jsonl": "prompts that were typed: the sessions hold them",
    "AGENTS.md": "what the CLI is told in every session",
    **dict.fromkeys(("auth.json", ".credentials.json", ".env"), CREDENTIALS),
    **dict.fromkeys(("config.toml", "managed_config.toml", "themes", "rules"), SETTINGS),
    **dict.fromkeys(("prompts", "skills", "agents", "memories", "plugins", "hooks.json", "hooks"), TAUGHT),
    **dict.fromkeys(("version.json", "installation_id", "internal_storage.json", "models_cache.json"), STATE),
    **dict.fromkeys(
        ("log", "tmp", ".tmp", "cache", "shell_snapshots", "worktrees", "bin", "packages"), STATE
    ),
}
"""What a home holds beside its sessions, and why it is left alone. Folders are not looked into."""


def scan(home: Home, only: Collection[str] | None = None) -> Scan:
    """Every rollout of a home, in bundles; or those in the folders of some days, given by their paths."""
    return _Scanner(home).scan(only)


class _Scanner(Scanner):
    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._walk = Walk(home, self._disk)
        index = beside_sessions(home, NAMES_FILE)
        names = names_of_sessions(index, os.path.dirname(index), self._disk)  # noqa: PTH120
        self._names, self._problems = names.by_thread, names.problems
        for path in names.files:
            self._add_note(Path(path))

    def scan(self, only: Collection[str] | None) -> Scan:
        wanted = (shelf for shelf in self._walk.shelves() if only is None or shelf.path in only)
        companions = _each_once(map(self._on_shelf, wanted))
        bundles = [bundle for beside in companions for bundle in self._bundles(beside)]
        if only is None:
            for entry in self._walk.others:
                self._skip(entry, NO_DAY)
            self._name_the_rest()
        problems = [*self._problems, *(unreadable(path, error) for path, error in self._walk.closed)]
        left = tuple(self._skipped), tuple(problems), tuple(self._notes)
        return Scan(tuple(bundles), tuple(companions), *left)

    def _on_shelf(self, shelf: Shelf) -> Companions:
        files: dict[str, list[FoundFile]] = {}
        left_alone: dict[str, str] = {}
        folder = Path(shelf.path)
        closed_before = len(self._walk.closed)
        for entry in self._walk.entries(shelf.path):
            said = rollout_name(entry.name)
            if said is None:
                self._skip(entry, NO_ROLLOUT)
            elif not entry.is_file(follow_symlinks=False):
                self._skip(entry, NO_FILE)
                left_alone[said.thread] = LINK if entry.is_symlink() else NO_FILE
            elif found := self._found_file(folder, entry):
                files.setdefault(said.thread, []).append(found)
        project = Project(None, None, shelf.name, None)
        held: Mapping[str, tuple[FoundFile, ...]] = {thread: tuple(found) for thread, found in files.items()}
        is_complete = len(self._walk.closed) == closed_before
        return Companions(AGENT, project, (folder,), (), held, left_alone, is_complete, self._disk)

    def _bundles(self, beside: Companions) -> Iterator[Bundle]:
        for thread, found in sorted(beside.session_files.items()):
            title = self._names.get(thread)
            yield Bundle(AGENT, thread, beside.project, beside.folders, found, (), title, self._disk)

    def _name_the_rest(self) -> None:
        """What a home holds beside its sessions: named, never opened."""
        if self._home.known_by == SESSIONS_VARIABLE:
            return
        try:
            others = entries_of(self._home.folder, self._disk)
        except OSError:
            # If it is there, its sessions could not be listed either, which is reported.
            return
        for entry in others:
            if entry.name not in (SESSIONS, ARCHIVED):
                self._skip(entry, _why_left_alone(entry.name))


def _each_once(shelves: Iterable[Companions]) -> list[Companions]:
    """What lies on the shelves, but no copy of a rollout that was only archived or packed."""
    found = list(shelves)
    files = [file for beside in found for held in beside.session_files.values() for file in held]
    if any(file.is_kept for file in files):
        there = {name_for_good(file.path.name) for file in files if not file.is_kept}
        found = [_without_moved(beside, there) for beside in found]
    return [beside for beside in found if beside.session_files or beside.left_alone]


def _without_moved(beside: Companions, there: Collection[str | None]) -> Companions:
    held = {
        thread: tuple(file for file in files if not (file.is_kept and name_for_good(file.path.name) in there))
        for thread, files in beside.session_files.items()
    }
    return msgspec.structs.replace(
        beside, session_files={thread: files for thread, files in held.items() if files}
    )


def _why_left_alone(name: str) -> str:
    if ".sqlite" in name:
        return "a database of the CLI: the rollouts hold the sessions"
    return IN_HOME.get(name, UNKNOWN)
