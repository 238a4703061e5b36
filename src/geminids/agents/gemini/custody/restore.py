"""Putting sessions back so that Gemini CLI lists and resumes them, and does not delete them at once again.

Every session gets a name by which the CLI does not delete it together with others (`apart`), in the folder
that the CLI uses for the project now (`project_folder`). Age is told by `lastUpdated` in the file: one that
has less than half of its time left is dated anew (`new_dates`), else it might be deleted again the next day.
Of files with the same id the CLI opens the one that was used last, so if one of them has to be dated anew,
all are, in their order. What the CLI would delete at once (`kept_files`) is not put back, since all outputs
and subagents of the same id would go with it; the file of a subagent that lay beside its parent goes into
the folder that later releases have for it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from geminids.agents.gemini.custody.apart import name_apart
from geminids.agents.gemini.custody.installed import find_installed
from geminids.agents.gemini.custody.kept_files import (
    HASH,
    KeptFile,
    KeptFiles,
    MainFile,
    Rubbish,
    SubagentFile,
)
from geminids.agents.gemini.custody.loaded_files import Loaded, shown_as
from geminids.agents.gemini.custody.lookup import loaded_record, session_files
from geminids.agents.gemini.custody.project_folder import folder_used
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.retention import longest_rest, rule_of, spoken
from geminids.agents.gemini.custody.settings import Desk
from geminids.agents.gemini.file_names import ID_START
from geminids.agents.gemini.homes import MARKER, projects_folder, registry_folder
from geminids.core.agents.homes import Home
from geminids.core.agents.restore import (
    ELSEWHERE,
    Copy,
    Placement,
    Restoring,
    answer,
    is_held,
    taken,
    unchanged,
)
from geminids.core.agents.resume import Circumstances
from geminids.core.disk import REAL
from geminids.core.timestamps import parse_time

_TMP = "tmp"
_CHATS = "chats"
_NEW_NAME = (
    "Its name changes, since some releases of Gemini CLI delete a resumed session together with all files "
    "whose names end alike."
)
_NOT_DELETABLE = "Gemini CLI 0.36 and later cannot delete it by this name: to do so, delete the file itself."
_AT_ONCE = f"so it would not show it, and might delete it when it starts; it is not restored. {ELSEWHERE}"

Dated = tuple[MainFile, datetime | None]
"""A session file, and the date that it has to get; None if its own will do."""


def restoring(home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> Restoring:
    """Where every file of a session goes, and with which bytes."""
    return _Plan(home, copies, circumstances).answer()


class _Plan:
    """What becomes of the files of one session."""

    def __init__(self, home: Home, copies: Sequence[Copy], circumstances: Circumstances) -> None:
        self._projects = projects_folder(home)
        self._data = Path(registry_folder(home))
        self._now = circumstances.now
        self._program = Program(find_installed(circumstances.environment))
        self._files = KeptFiles(home, copies)
        self._project = self._files.project(os.path.realpath(circumstances.here))
        self._target = self._target_folder()
        looked_at = Path(self._project or circumstances.here)
        self._rest = longest_rest(self._data, looked_at, self._program.release)
        settings = Desk(self._data, circumstances.environment, self._program).settings(looked_at)
        self._most = rule_of(settings, self._program).most
        self._placements: dict[str, Placement] = {}
        self._copies: dict[str, Copy] = {}
        """What goes to a path, as it was."""
        self._warnings = [
            f"{path!r} is not in {self._projects!r}, and is not restored." for path in self._files.elsewhere
        ]

    def answer(self) -> Restoring:
        """All that is to be written."""
        mains = self._mains()
        if not mains and any(kept.is_session for kept in self._files.all):
            # Without its session, what lies beside would only be deleted again.
            return answer((), self._warnings)
        dated = list(self._dates(mains))
        for main, moment in dated:
            self._place_main(main, moment)
        for kept in self._files.all:
            self._place_beside(kept)
        if self._placements:
            self._place_marker()
            self._warn(dated)
        return answer(self._placements.values(), self._warnings)

    def _mains(self) -> list[MainFile]:
        mains = []
        for judged in self._files.judged(self._project, self._program, self._now):
            match judged:
                case MainFile():
                    mains.append(judged)
                case SubagentFile():
                    self._place_subagent(judged)
                case Rubbish(reason=reason):
                    self._warnings.append(f"{reason}, {_AT_ONCE}")
        return [main for main in mains if not any(other.continues(main) for other in mains)]

    # Where

    def _target_folder(self) -> str | None:
        """The name of the folder that the CLI uses now; None if every file has to go where it lay."""
        if self._project is None or Path(self._projects).name != _TMP:
            return None
        return folder_used(self._data, self._project, self._program.release)

    def _path(self, kept: KeptFile, *inside: str) -> str:
        """A path in the folder that the CLI uses for the project of a file."""
        return os.path.join(self._projects, self._target or kept.folder, *inside)  # noqa: PTH118

    def _moved(self, kept: KeptFile) -> tuple[str, ...]:
        if self._target in (None, kept.folder):
            return ()
        folder = os.path.join(self._projects, kept.folder)  # noqa: PTH118
        return (f"It was in {folder!r}, where {self._program.name} no longer looks for this project.",)

    def _free(self, kept: KeptFile, *folders: str, name: str) -> str | None:
        """A path at which nothing is; None if the copy is there already, or is going to be."""
        number, path = 0, self._path(kept, *folders, name)
        while REAL.is_there(path) or path in self._placements:
            if self._is_held(path, kept.copy):
                return None
            number += 1
            path = self._path(kept, *folders, name_apart(name, number))
        return path

    def _is_held(self, path: str, copy: Copy) -> bool:
        planned = self._copies.get(path)
        return planned.read().startswith(copy.read()) if planned else is_held(path, copy)

    def _place(self, placement: Placement, copy: Copy) -> None:
        self._placements[placement.path] = placement
        self._copies[placement.path] = copy

    # When

    def _dates(self, mains: list[MainFile]) -> Iterator[Dated]:
        """The session files, the one that was used last first."""
        has_to_be_new = any(self._goes_soon(main) for main in mains) or self._are_too_many(mains)
        in_order = sorted(mains, key=lambda main: (main.used is not None, main.used, main.kept.name))
        for earlier, main in enumerate(reversed(in_order)):
            yield main, self._now - timedelta(seconds=earlier) if has_to_be_new else None

    def _goes_soon(self, main: MainFile) -> bool:
        """Whether more than half of the time is over that it may lie unused, or all of it."""
        return self._rest is not None and main.used is not None and main.used < self._now - self._rest / 2

    def _are_too_many(self, mains: list[MainFile]) -> bool:
        """Whether so few sessions are kept that the oldest has to go; the next start needs a place, too."""
        if self._most is None or not mains:
            return False
        there = session_files(Path(self._path(mains[0].kept)))
        return len(there) + len(mains) >= self._most

    # What

    def _place_main(self, main: MainFile, moment: datetime | None) -> None:
        copy = main.kept.copy
        path = self._free(main.kept, _CHATS, name=name_apart(main.kept.name))
        if path is None or is_held(self._path(main.kept, _CHATS, main.kept.name), copy):
            return
        changes = tuple(self._changes(main, path, moment))
        if main.header is None and moment is None:
            self._place(unchanged(copy, path, *changes), copy)
            return
        read = main.content if moment is None else partial(main.dated, moment)
        size = len(read())
        self._place(Placement(path=path, read=read, size=size, origin=copy.path, changes=changes), copy)

    def _changes(self, main: MainFile, path: str, moment: datetime | None) -> Iterator[str]:
        yield from self._moved(main.kept)
        if not path.endswith(os.sep + main.kept.name):
            yield _NEW_NAME
            yield from [_NOT_DELETABLE] if path.endswith(".json") else ()
        if main.header:
            yield (
                "Its first line, which was lost, is added: without it, Gemini CLI does not recognise the "
                "file."
            )
        if moment is None:
            return
        is_log = main.kept.name.endswith(".jsonl")
        dated = "A line with today's date is added" if is_log else "Its date changes to today's"
        if self._rest and self._goes_soon(main):
            unused = f"not been used for {spoken(self._rest)}"
            yield f"{dated}, so that Gemini CLI does not delete it again: it deletes what has {unused}."
        else:
            yield f"{dated}, so that Gemini CLI does not delete it, or another file of it, for its age."

    def _place_beside(self, kept: KeptFile) -> None:
        path = self._path(kept, *kept.inside)
        if kept.is_session:
            return
        if not REAL.is_there(path) and path not in self._placements:
            self._place(unchanged(kept.copy, path, *self._moved(kept)), kept.copy)
        elif not self._is_held(path, kept.copy):
            self._warnings.append(taken(path))

    def _place_subagent(self, subagent: SubagentFile) -> None:
        kept = subagent.kept
        is_name = re.fullmatch(r"[\w-]+", subagent.parent_id) is not None
        folder = subagent.parent_id if is_name else kept.name[:ID_START]
        path = self._free(kept, _CHATS, folder, name=kept.name)
        if path is not None:
            why = (
                f"It was beside its session as {kept.name!r}, where Gemini CLI does not recognise it and "
                "deletes the session with it."
            )
            self._place(unchanged(kept.copy, path, *self._moved(kept), why), kept.copy)

    def _place_marker(self) -> None:
        """Say whose folder it is, as the CLI itself does, where that is not said."""
        if self._target is None or self._project is None or HASH.fullmatch(self._target):
            return
        path = os.path.join(self._projects, self._target, MARKER)  # noqa: PTH118
        if not REAL.is_there(path) and path not in self._placements:
            content = os.path.normcase(self._project).encode("utf-8", "surrogateescape")
            why = "It tells Gemini CLI which project the folder belongs to."
            self._placements[path] = Placement(
                path=path, read=lambda: content, size=len(content), origin=path, changes=(why,)
            )

    # What there is to know

    def _warn(self, dated: list[Dated]) -> None:
        mains = [main for main, _ in dated]
        self._warnings += [
            *self._of_folder(),
            *self._of_logs(mains),
            *self._of_shared(mains),
            *self._of_others(dated),
            *self._of_number(mains),
            *self._of_outputs(mains),
        ]

    def _of_folder(self) -> Iterator[str]:
        if self._project is None:
            yield "The folder of its project is not known: Gemini CLI may not find it there."
        elif not os.path.isdir(self._project):  # noqa: PTH112 - pathlib raises for what cannot be a name
            yield f"Gemini CLI finds sessions by their folder. {self._project!r} does not exist."

    def _of_logs(self, mains: list[MainFile]) -> Iterator[str]:
        if not self._program.reads_logs and any(main.kept.name.endswith(".jsonl") for main in mains):
            yield f"{self._program.name} does not read logs (.jsonl); 0.39.0 and later do."

    def _of_shared(self, mains: list[MainFile]) -> Iterator[str]:
        """Which files hold another session too, of whose messages the CLI shows nothing."""
        for main in mains:
            number = len(main.session_ids())
            if number > 1:
                yield (
                    f"{main.kept.name!r} holds {number} sessions, of which Gemini CLI shows only "
                    f"{main.native_id!r}. `geminids rescue` then writes the hidden one to a new file."
                )

    def _of_others(self, dated: list[Dated]) -> Iterator[str]:
        """Which file the CLI would open instead: it has the same id, and was used later."""
        newest = max((used for main, moment in dated if (used := moment or main.used)), default=None)
        if newest is None:
            return
        main = dated[0][0]
        files = session_files(Path(self._path(main.kept)))
        loaded = [Loaded(file, record) for file in files if (record := loaded_record(file))]
        for other in shown_as(main.native_id, loaded, self._program):
            used, path = parse_time(other.last_used), str(other.file)
            if used is not None and used > newest:
                yield f"{path!r} has the same id and was used later: Gemini CLI opens that one."

    def _of_number(self, mains: list[MainFile]) -> Iterator[str]:
        if self._most is not None and self._are_too_many(mains):
            yield (
                f"Gemini CLI is told to keep {self._most:g} sessions of a project: its next start deletes "
                "the oldest of the others instead."
            )

    def _of_outputs(self, mains: list[MainFile]) -> Iterator[str]:
        has_more = any(not kept.is_session for kept in self._files.all)
        if mains and has_more and self._program.deletes_resumed:
            yield (
                f"After {self._program.name} has resumed it, a later start deletes the files beside it, "
                "such as outputs and subagents. The session and the kept copies remain."
            )
