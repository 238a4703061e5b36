"""The kept files of one session, and what Gemini CLI would take each of them for.

What the CLI would not show it deletes when it starts, whatever its age, and with it all outputs, plans and
subagents of the same id. A log that has but lost its first line is shown again once it has one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from geminids.agents.gemini.custody.loaded_files import Loaded, shown_as
from geminids.agents.gemini.custody.lookup import SESSION_SUFFIXES
from geminids.agents.gemini.custody.new_dates import redated, view_of, with_header, written
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.file_names import start_of_id
from geminids.agents.gemini.homes import projects_folder, registry_folder
from geminids.agents.gemini.read.files import read_file, segments
from geminids.agents.gemini.read.projects import read_plain, read_registry
from geminids.core.agents.homes import Home
from geminids.core.agents.restore import Copy, is_below
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import folder_hash
from geminids.core.timestamps import parse_time

HASH = lazy_pattern(r"[0-9a-f]{64}")
_WHOLE_ID = lazy_pattern(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PROMPT_LOG = "logs.json"
_LARGEST_PROMPT_LOG = 64_000_000
_LOGGED_ID = lazy_pattern(rb'"sessionId"\s*:\s*"([\w-]+)"')


class KeptFile(NamedTuple):
    """A copy of a file, by the place that it has in the folder of its project."""

    copy: Copy
    folder: str
    """The name of the project's folder."""
    inside: tuple[str, ...]
    """The names below it."""

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.inside[-1]

    @property
    def is_session(self) -> bool:
        """Whether the CLI would look at it when it looks for sessions."""
        match self.inside:
            case ("chats", name):
                return name.startswith("session-") and name.endswith(SESSION_SUFFIXES)
            case _:
                return False


class MainFile(msgspec.Struct, frozen=True):
    """The file of a session that the CLI would show, or would with a first line."""

    kept: KeptFile
    native_id: str
    used: datetime | None
    header: dict[str, str] | None = None
    """The first line that it is to be given."""

    def content(self) -> bytes:
        """What goes into it."""
        whole = self.kept.copy.read()
        return with_header(whole, self.header) if self.header else whole

    def dated(self, moment: datetime) -> bytes:
        """The same, last used at that moment."""
        return redated(self.kept.name, self.content(), moment) or self.content()

    def continues(self, other: MainFile) -> bool:
        """Return whether this file is a later state of the other: the same bytes and more, or a new date."""
        if self.kept.copy.path == other.kept.copy.path or self.native_id != other.native_id:
            return False
        content, earlier = self.content(), other.content()
        if content == earlier:
            return self.kept.name > other.kept.name
        if content.startswith(earlier):
            return True
        if self.used is None or other.used is None or self.used <= other.used:
            return False
        return content == other.dated(self.used)

    def session_ids(self) -> set[str]:
        """Whose messages are in it: ids that begin alike may share a file."""
        found = segments(read_file(Path(self.kept.copy.path), self.content()))
        return {one.session_id for one in found if one.session_id and one.times}


class SubagentFile(msgspec.Struct, frozen=True):
    """What a subagent of 0.31 to 0.36 wrote beside the session that started it."""

    kept: KeptFile
    parent_id: str


class Rubbish(msgspec.Struct, frozen=True):
    """What the CLI would delete at its next start, and why."""

    kept: KeptFile
    reason: str


class KeptFiles:
    """The files of one session."""

    def __init__(self, home: Home, copies: Sequence[Copy]) -> None:
        self._home = home
        self._projects = projects_folder(home)
        self.elsewhere: list[str] = []
        """Paths of copies of files that did not lie in the folder of a project."""
        self.all = list(self._placed(copies))
        self._views: Mapping[str, dict[str, Any] | None] = {
            kept.copy.path: view_of(kept.copy.path, kept.copy.read()) for kept in self.all if kept.is_session
        }

    def _placed(self, copies: Sequence[Copy]) -> Iterator[KeptFile]:
        for copy in copies:
            is_inside = is_below(copy.path, self._projects)
            folder, *inside = Path(copy.path).relative_to(self._projects).parts if is_inside else ("",)
            if inside:
                yield KeptFile(copy, folder, tuple(inside))
            else:
                self.elsewhere.append(copy.path)

    def project(self, here: str) -> str | None:
        """The folder that was worked in; None if nothing tells it."""
        hashes = {str(view.get("projectHash")) for view in self._views.values() if view}
        hashes |= {kept.folder for kept in self.all if HASH.fullmatch(kept.folder)}
        if folder_hash(here) in hashes:
            return here
        # What is gone from the disk may tell it too.
        data = Path(registry_folder(self._home))
        registry = read_registry(data, self._home.disk)
        known = [registry.by_hash[one][0] for one in hashes if one in registry.by_hash]
        for folder in self._folders():
            path = registry.project(Path(self._projects) / folder, data, self._home.disk).path
            known += [path] if path else []
        return next((path for path in known if folder_hash(path) in hashes), next(iter(known), None))

    def judged(
        self, project: str | None, program: Program, now: datetime
    ) -> Iterator[MainFile | SubagentFile | Rubbish]:
        """What the CLI would take each file for that is named like a session."""
        for kept in self.all:
            if kept.is_session:
                yield self._judged(kept, project, program, now)

    def _judged(
        self, kept: KeptFile, project: str | None, program: Program, now: datetime
    ) -> MainFile | SubagentFile | Rubbish:
        view = self._views[kept.copy.path]
        if view is None:
            return self._without_header(kept, project, program, now)
        native_id = str(view["sessionId"])
        if view.get("kind") == "subagent":
            return SubagentFile(kept, native_id)
        if _is_shown(kept, view, program):
            return MainFile(kept, native_id, parse_time(view.get("lastUpdated") or view.get("startTime")))
        return Rubbish(kept, f"Gemini CLI finds nothing in {kept.name!r} to resume")

    def _without_header(
        self, kept: KeptFile, project: str | None, program: Program, now: datetime
    ) -> MainFile | Rubbish:
        """A log that has lost its first line, with one."""
        project_hash = folder_hash(project) if project else kept.folder
        header = {"sessionId": self._whole_id(start_of_id(kept.name) or ""), "projectHash": project_hash}
        view = view_of(kept.copy.path, with_header(kept.copy.read(), header))
        if view is None or not _is_shown(kept, view, program):
            return Rubbish(kept, f"Gemini CLI cannot load {kept.name!r}")
        times = [time for turn in view["messages"] if (time := parse_time(turn.get("timestamp")))]
        moments = sorted(times) or [now]
        header |= {"startTime": written(moments[0]), "lastUpdated": written(moments[-1]), "kind": "main"}
        return MainFile(kept, header["sessionId"], moments[-1], header)

    def _whole_id(self, start: str) -> str:
        """An id that begins so: other files of the session, or what lies beside them, may know it."""
        views = [str(view["sessionId"]) for view in self._views.values() if view]
        names = [name for kept in self.all for name in kept.inside]
        named = [match[0] for name in names for match in _WHOLE_ID.finditer(name)]
        made_up = sha256(start.encode()).hexdigest()
        otherwise = f"{start}-{made_up[:4]}-4{made_up[4:7]}-8{made_up[7:10]}-{made_up[10:22]}"
        known = (*views, *named, *self._ids_in_prompt_logs())
        return next((one for one in known if one.startswith(start)), otherwise)

    def _ids_in_prompt_logs(self) -> Iterator[str]:
        for folder in self._folders():
            log = Path(self._projects) / folder / _PROMPT_LOG
            # Only a hint is looked for: without the log, another id does as well.
            with contextlib.suppress(OSError):
                content = read_plain(log, _LARGEST_PROMPT_LOG, self._home.disk)
                yield from (logged[1].decode() for logged in _LOGGED_ID.finditer(content))

    def _folders(self) -> list[str]:
        return list(dict.fromkeys(kept.folder for kept in self.all))


def _is_shown(kept: KeptFile, view: dict[str, Any], program: Program) -> bool:
    return bool(shown_as(str(view["sessionId"]), [Loaded(Path(kept.copy.path), view)], program))
