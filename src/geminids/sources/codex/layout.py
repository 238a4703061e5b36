"""Finding rollouts in a home, and which of them belong together.

    sessions/YYYY/MM/DD/rollout-<local time>-<thread>[_<rollout>].jsonl[.zst]
    archived_sessions/rollout-….jsonl[.zst]

A day is a shelf, and so is the archive; the files of one thread in it are a bundle. No rollout is opened
here, so the folder that a session was worked in is not known yet: its own records say it. Links are never
followed.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

from geminids.model import Project
from geminids.sources.base import Bundle, Companions, FoundFile, Home, Scan
from geminids.sources.codex.folders import Shelf, Walk, beside_sessions
from geminids.sources.codex.homes import AGENT, ARCHIVED, NAMES_FILE, SESSIONS, SESSIONS_VARIABLE
from geminids.sources.codex.rollouts import rollout_name
from geminids.sources.codex.titles import names_of_sessions
from geminids.sources.companions import CREDENTIALS, SETTINGS, STATE, TAUGHT, UNKNOWN
from geminids.sources.scanning import LINK, Scanner, entries_of
from geminids.sources.texts import unreadable

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
        self._walk = Walk(home)
        index = beside_sessions(home, NAMES_FILE)
        self._names, self._problems = names_of_sessions(index, os.path.dirname(index))  # noqa: PTH120

    def scan(self, only: Collection[str] | None) -> Scan:
        bundles: list[Bundle] = []
        companions: list[Companions] = []
        for shelf in self._walk.shelves():
            if only is None or shelf.path in only:
                beside, own = self._on_shelf(shelf)
                if beside.session_files or beside.left_alone:
                    companions.append(beside)
                    bundles += own
        if only is None:
            for entry in self._walk.others:
                self._skip(entry, NO_DAY)
            self._name_the_rest()
        problems = [*self._problems, *(unreadable(path, error) for path, error in self._walk.closed)]
        return Scan(tuple(bundles), tuple(companions), tuple(self._skipped), tuple(problems))

    def _on_shelf(self, shelf: Shelf) -> tuple[Companions, list[Bundle]]:
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
        beside = Companions(AGENT, project, (folder,), (), held, left_alone, complete=is_complete)
        bundles = [
            Bundle(AGENT, thread, project, (folder,), found, title=self._names.get(thread))
            for thread, found in sorted(held.items())
        ]
        return beside, bundles

    def _name_the_rest(self) -> None:
        """What a home holds beside its sessions: named, never opened."""
        if self._home.known_by == SESSIONS_VARIABLE:
            return
        try:
            others = entries_of(self._home.folder)
        except OSError:
            # If it is there, its sessions could not be listed either, which is reported.
            return
        for entry in others:
            if entry.name not in (SESSIONS, ARCHIVED):
                self._skip(entry, _why_left_alone(entry.name))


def _why_left_alone(name: str) -> str:
    if ".sqlite" in name:
        return "a database of the CLI: the rollouts hold the sessions"
    return IN_HOME.get(name, UNKNOWN)
