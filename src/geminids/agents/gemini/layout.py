"""Finding session files in a home, which of them belong together, and what lies beside them.

    tmp/<hash or slug>/chats/session-<minute>-<first 8 of id>.json[l]    main sessions
    tmp/<hash or slug>/chats/<session id>/<agent id>.json[l]             subagents, since 0.37
    ….jsonl.unreadable-<ms>, ….jsonl.tmp-<pid>                           left by a failed rewrite

Files of one project whose names share the first characters of a session id can be pieces of one
session (copies, splits, twins, subagents), so they form a bundle. Links are never followed, and
what is none of a project's is named, not walked through.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from geminids.agents.gemini.companion_files import (
    FILES_BEFORE,
    IN_HOME,
    IN_PROJECTS_FOLDER,
    place,
    why_left_alone,
)
from geminids.agents.gemini.file_names import ID_START, NAMED_AFTER, SESSION_FILE, start_of_id
from geminids.agents.gemini.homes import (
    AGENT,
    DEEPEST,
    HISTORY,
    MARKER,
    REGISTRIES,
    projects_folder,
    registry_folder,
)
from geminids.agents.gemini.read.projects import Registry, read_registry
from geminids.core.agents.base import Companions, Home, Scan
from geminids.core.disk import Disk, Entry
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import CompanionKind
from geminids.reading.bundles import better_known
from geminids.reading.companions import UNKNOWN, CompanionRole
from geminids.reading.scanner import (
    CLOSED_FILE,
    LINK,
    NO_FILE,
    NO_PROJECT,
    NO_SESSION,
    TOO_DEEP,
    Scanner,
    Shelf,
    entries_of,
)

_OF_PROJECT = frozenset({"chats", MARKER, "tool-outputs", "tool_output", "shell_history", "memory"})
TYPED_IN = frozenset({CompanionKind.PROMPT_LOG, CompanionKind.SHELL_HISTORY})
"""Where Gemini CLI notes what the human typed."""
_PEEK = 4096
_WRITTEN_HASH = lazy_pattern(rb'"projectHash"\s*:\s*"([0-9a-f]{64})"')


def scan(home: Home, only: Collection[str] | None = None) -> Scan:
    """Every session file of a home, in bundles; or of some folders of projects, given by their paths."""
    scanner = _Scanner(home)
    return scanner.scan() if only is None else scanner.scan_only(only)


class _Scanner(Scanner):
    def __init__(self, home: Home) -> None:
        super().__init__(home)
        self._root = Path(registry_folder(home))
        self._registry: Registry = read_registry(self._root, self._disk)
        self._problems = list(self._registry.problems)
        self._projects: dict[str, Shelf] = {}

    def scan(self) -> Scan:
        projects = Path(projects_folder(self._home))
        for entry in self._entries(projects):
            if entry.is_dir(follow_symlinks=False):
                self._scan_project(entry)
            else:
                why = why_left_alone(entry.name, IN_PROJECTS_FOLDER)
                self._skip(entry, NO_PROJECT if why is UNKNOWN else why)
        if any(Path(problem.file) == projects for problem in self._problems):
            # Then the registry beside it cannot be read either; one line says it all.
            self._problems = [p for p in self._problems if p not in self._registry.problems]
        elif projects.name == "tmp":
            self._name_the_rest(self._root)
        return self._found(self._unlisted())

    def scan_only(self, wanted: Collection[str]) -> Scan:
        """The same for some folders of projects alone; nothing is told of the others."""
        wanted, neighbours = frozenset(wanted), []
        for entry in self._entries(Path(projects_folder(self._home))):
            if entry.path not in wanted:
                neighbours.append(entry)
            elif entry.is_dir(follow_symlinks=False):
                self._scan_project(entry)
        return self._found(self._unlisted() | self._unlisted_among(neighbours))

    def _unlisted_among(self, neighbours: Sequence[Entry]) -> set[Path]:
        """Which of these may be folders of a scanned project, and could not be looked into either."""
        folders = self._projects.values()
        places = {str(path) for folder in folders for path in self._places_of_sessions(folder)}
        return {
            Path(entry.path) for entry in neighbours if entry.path in places and _is_closed(entry, self._disk)
        }

    def _found(self, unlisted: set[Path]) -> Scan:
        folders = self._projects.values()
        bundles = [bundle for folder in folders for bundle in folder.bundles(AGENT, ID_START, TYPED_IN)]
        companions = [self._companions(folder, unlisted) for folder in folders]
        self._take_notes()
        left = tuple(self._skipped), tuple(self._problems), tuple(self._notes)
        return Scan(tuple(bundles), tuple(companions), *left)

    def _take_notes(self) -> None:
        """What tells which folders the projects are; the markers beside their sessions are companions."""
        for name in REGISTRIES:
            self._add_note(self._root / name)
        for name in self._names_in_history():
            self._add_note(self._root / HISTORY / name / MARKER)

    def _names_in_history(self) -> list[str]:
        try:
            entries = entries_of(self._root / HISTORY, self._disk)
        except OSError:
            # What a scan of everything lists, it says.
            return []
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]

    def _companions(self, folder: Shelf, unlisted: set[Path]) -> Companions:
        is_complete = not unlisted or unlisted.isdisjoint(self._places_of_sessions(folder))
        return folder.companions(AGENT, complete=is_complete)

    def _unlisted(self) -> set[Path]:
        """What was not looked into: it may be a folder of sessions."""
        closed = {Path(problem.file) for problem in self._problems if problem.is_unreadable}
        return closed | {skipped.path for skipped in self._skipped if skipped.reason is LINK}

    def _places_of_sessions(self, folder: Shelf) -> Iterator[Path]:
        """Every folder that may hold sessions of a project, also where it could not be listed."""
        yield from (path / "chats" for path in folder.paths)
        project, projects = folder.project, Path(projects_folder(self._home))
        slugs = [slug for slug, path in self._registry.path_by_slug.items() if path == project.path]
        yield from (projects / name for name in (project.hash, project.slug, *slugs) if name)

    def _name_the_rest(self, home: Path) -> None:
        """What a home holds beside its projects: named, never opened."""
        for entry in self._listed(home):
            if entry.name == HISTORY and entry.is_dir(follow_symlinks=False):
                for project in self._listed(home / entry.name):
                    self._skip(project, FILES_BEFORE)
            elif entry.name != "tmp":
                self._skip(entry, why_left_alone(entry.name, IN_HOME))

    def _scan_project(self, found: Entry) -> None:
        path = Path(found.path)
        entries = self._entries(path)
        if not entries:
            # Empty, or unreadable and reported.
            return
        is_known = found.name in self._registry.path_by_slug
        if not (is_known or any(_is_of_project(entry.name) for entry in entries)):
            why = why_left_alone(found.name, IN_PROJECTS_FOLDER)
            self._skip(found, NO_PROJECT if why is UNKNOWN else why)
            return
        folder = self._folder(path)
        for entry in entries:
            if entry.name == "chats" and entry.is_dir(follow_symlinks=False):
                self._scan_chats(folder, Path(entry.path))
            else:
                self._scan_beside(folder, entry, entry.name)

    def _scan_beside(self, folder: Shelf, entry: Entry, inside: str) -> None:
        """What lies beside the sessions: a file, or all that a folder holds."""
        if entry.is_file(follow_symlinks=False):
            self._look_beside(folder, entry, inside)
        elif not entry.is_dir(follow_symlinks=False):
            self._skip(entry, NO_FILE)
        elif inside.count("/") < DEEPEST:
            for one in self._entries(entry.path):
                self._scan_beside(folder, one, f"{inside}/{one.name}")
        else:
            self._skip(entry, TOO_DEEP)

    def _look_beside(self, folder: Shelf, entry: Entry, inside: str) -> None:
        known = place(inside)
        if isinstance(known, CompanionRole):
            self._add_beside(folder, known, entry)
        else:
            self._skip(entry, known)

    def _folder(self, path: Path) -> Shelf:
        """The project of this folder; another folder of the same project may be known already."""
        project = self._registry.project(path, self._root, self._disk)
        if project.slug and (written := _peeked_hash(path, self._disk)):
            # On Windows the marker is in lower case, and its hash not that of the path.
            project = self._registry.with_hash(project, written)
        key = project.hash or str(path)
        known = self._projects.get(key)
        if known is None:
            known = self._projects[key] = Shelf(project, [], disk=self._disk)
        known.paths.append(path)
        known.project = better_known(known.project, project)
        return known

    def _scan_chats(self, folder: Shelf, chats: Path) -> None:
        for entry in self._entries(chats):
            if entry.is_dir(follow_symlinks=False):
                self._scan_subagents(folder, entry)
            elif (start := start_of_id(entry.name)) is None:
                self._skip(entry, NO_SESSION)
                if named := NAMED_AFTER.match(entry.name):
                    folder.left_alone.setdefault(named["start"], NO_SESSION)
            elif not self._add(folder, start, chats, entry):
                folder.left_alone[start[:ID_START]] = LINK if entry.is_symlink() else CLOSED_FILE

    def _scan_subagents(self, folder: Shelf, parent: Entry) -> None:
        path = Path(parent.path)
        for entry in self._entries(path):
            if entry.is_file(follow_symlinks=False) and SESSION_FILE.fullmatch(entry.name):
                self._add(folder, parent.name[:ID_START], path, entry)
            else:
                self._skip(entry, NO_SESSION)


def _is_closed(entry: Entry, disk: Disk) -> bool:
    """Whether sessions may lie there that no scan sees: a link, or a folder that cannot be listed."""
    if not entry.is_dir(follow_symlinks=False):
        return entry.is_symlink()
    try:
        entries_of(entry.path, disk)
    except OSError:
        return True
    return False


def _is_of_project(name: str) -> bool:
    """Whether only the folder of a project holds an entry of this name; others hold programs and notes."""
    return name in _OF_PROJECT or name.startswith(("logs.json", "checkpoint"))


def _peeked_hash(folder: Path, disk: Disk) -> str | None:
    """The project hash that a session in the folder was written with, where nothing else tells."""
    for file in _chat_files(folder, disk):
        try:
            with disk.opened(file) as opened:
                found = _WRITTEN_HASH.search(opened.read(_PEEK))
        except OSError:
            # The scan reports it; another file may tell.
            continue
        if found:
            return found[1].decode()
    return None


def _chat_files(folder: Path, disk: Disk) -> Iterator[str]:
    """The session files in the folder of a project, by name."""
    try:
        entries = entries_of(folder / "chats", disk)
    except OSError:
        return
    for entry in entries:
        if entry.is_file(follow_symlinks=False) and SESSION_FILE.fullmatch(entry.name):
            yield entry.path
