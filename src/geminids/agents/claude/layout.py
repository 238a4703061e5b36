"""Finding session files in a home, which of them belong together, and what lies beside them.

    projects/<folder>/<session id>.jsonl                            main sessions
    projects/<folder>/<session id>/subagents/agent-<id>.jsonl       subagents, since 2.1
    projects/<folder>/<session id>/subagents/agent-<id>.meta.json   which call started them
    projects/<folder>/agent-<id>.jsonl                              subagents of 2.0

A session and all that lies in the folder of its name form a bundle. The name of a project's folder is its
path with a hyphen for every other character, so it cannot be read back: the sessions tell the path. Nothing
is opened here, and links are never followed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from geminids.agents.claude.companion_files import place, why_left_alone
from geminids.agents.claude.homes import AGENT, DEEPEST, PROJECTS, projects_folder
from geminids.core.agents.base import Home, Scan
from geminids.core.disk import Entry
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Project
from geminids.reading.companions import CompanionRole
from geminids.reading.scanner import (
    CLOSED_FILE,
    LINK,
    NO_FILE,
    NO_PROJECT,
    NO_SESSION,
    TOO_DEEP,
    Scanner,
    Shelf,
)

SUFFIX = ".jsonl"
META_SUFFIX = ".meta.json"
SUBAGENTS = "subagents"
_NAMED_AFTER = lazy_pattern(r"(?P<id>[0-9a-f]{8}-[0-9a-f-]{27})\.jsonl.+")


def scan(home: Home, only: Collection[str] | None = None) -> Scan:
    """Every session file of a home, in bundles; or of some folders of projects, given by their paths."""
    scanner = _Scanner(home)
    return scanner.scan() if only is None else scanner.scan_only(only)


class _Shelf(Shelf):
    """The folder of a project."""

    complete: bool = True


class _Scanner(Scanner):
    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._shelves: list[_Shelf] = []

    def scan(self) -> Scan:
        projects = projects_folder(self._home)
        for entry in self._entries(projects):
            if entry.is_dir(follow_symlinks=False):
                self._scan_project(entry)
            else:
                self._skip(entry, NO_PROJECT)
        if projects != self._home.folder and not self._problems:
            self._name_the_rest()
        return self._found()

    def scan_only(self, wanted: Collection[str]) -> Scan:
        """The same for some folders of projects alone; nothing is told of the others."""
        wanted = frozenset(wanted)
        for entry in self._entries(projects_folder(self._home)):
            if entry.path in wanted and entry.is_dir(follow_symlinks=False):
                self._scan_project(entry)
        return self._found()

    def _found(self) -> Scan:
        bundles = [bundle for shelf in self._shelves for bundle in shelf.bundles(AGENT)]
        companions = [shelf.companions(AGENT, complete=shelf.complete) for shelf in self._shelves]
        return Scan(tuple(bundles), tuple(companions), tuple(self._skipped), tuple(self._problems))

    def _name_the_rest(self) -> None:
        """What a home holds beside its projects: named, never opened."""
        for entry in self._listed(self._home.path):
            if entry.name != PROJECTS:
                self._skip(entry, why_left_alone(entry.name))

    def _scan_project(self, found: Entry) -> None:
        before = len(self._problems)
        entries = self._entries(found.path)
        if not entries:
            # Empty, or unreadable and reported.
            return
        path = Path(found.path)
        shelf = _Shelf(Project(None, None, found.name, None), [path], disk=self._disk)
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                self._scan_folder(shelf, entry, path / entry.name, [entry.name])
            elif entry.name.endswith(SUFFIX):
                key = entry.name.removesuffix(SUFFIX)
                if not self._add(shelf, key, path, entry):
                    shelf.left_alone[key] = LINK if entry.is_symlink() else CLOSED_FILE
            else:
                self._look_beside(shelf, entry, [entry.name])
        shelf.complete = len(self._problems) == before and LINK not in shelf.left_alone.values()
        self._shelves.append(shelf)

    def _scan_folder(self, shelf: _Shelf, found: Entry, path: Path, inside: list[str]) -> None:
        """What a folder inside a project's holds; that of a session has the files of its subagents."""
        if len(inside) > DEEPEST:
            self._skip(found, TOO_DEEP)
            return
        is_of_agents = len(inside) > 1 and inside[1] == SUBAGENTS
        for entry in self._entries(path):
            if entry.is_dir(follow_symlinks=False):
                self._scan_folder(shelf, entry, path / entry.name, [*inside, entry.name])
            elif is_of_agents and entry.name.endswith((SUFFIX, META_SUFFIX)):
                self._add(shelf, inside[0], path, entry)
            else:
                self._look_beside(shelf, entry, [*inside, entry.name])

    def _look_beside(self, shelf: _Shelf, entry: Entry, inside: Sequence[str]) -> None:
        known = place(inside)
        if not entry.is_file(follow_symlinks=False):
            self._skip(entry, NO_FILE)
        elif not isinstance(known, CompanionRole):
            self._skip(entry, known)
            if named := _NAMED_AFTER.fullmatch(entry.name):
                shelf.left_alone.setdefault(named["id"], NO_SESSION)
        else:
            self._add_beside(shelf, known, entry)
