"""Sessions that Gemini CLI can no longer show or resume, though what was said is on the disk.

What the CLI would list and load (`rescuing_view`) is compared with what we read. Prompts of a human and
answers of a model that it would not send to the model again are hidden, unless they were dropped knowingly
(`rescuing_accidents`). `rescuing_causes` says why, `rescuing_mending` how the session is to look. Where
nothing is hidden but a mistyped command, that is told on request only (`rescuing_commands`).

A repaired session has the id of the broken one: of files with the same id the CLI shows the one that was used
last. It has another name, since the CLI deletes files together whose names end in the same 8 characters.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import msgspec

from geminids.agents.gemini.custody.installed import PROGRAM, Installed, find_installed
from geminids.agents.gemini.custody.lookup import looked_into
from geminids.agents.gemini.custody.releases import Program
from geminids.agents.gemini.custody.rescue_accidents import Accident, accidents
from geminids.agents.gemini.custody.rescue_causes import FUSED, Causes, no_title
from geminids.agents.gemini.custody.rescue_commands import mistyped
from geminids.agents.gemini.custody.rescue_result import Repair, has_no_title
from geminids.agents.gemini.custody.rescue_view import View, is_of_human, is_reply, view_of
from geminids.agents.gemini.file_names import ID_START
from geminids.agents.gemini.homes import registry_folder
from geminids.agents.gemini.layout import scan
from geminids.agents.gemini.read.files import RESCUED
from geminids.agents.gemini.reader import read
from geminids.core.agents.homes import Home
from geminids.core.agents.rescue import Progress, Severity, Stranded
from geminids.core.agents.resume import Circumstances
from geminids.core.disk import REAL
from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Message, Project, Session, SessionKind, State
from geminids.core.timestamps import parse_time

_NEWEST_TRIED = "0.61.0"
_UNSAFE = lazy_pattern(r"[^A-Za-z0-9_-]")
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_HASH = lazy_pattern(r"[0-9a-f]{64}")


def stranded(
    home: Home, circumstances: Circumstances, progress: Progress | None = None
) -> Iterator[Stranded]:
    """The sessions of a home that the CLI cannot show or resume, or not all of them."""
    installed = Program(find_installed(circumstances.environment))
    # Releases before 0.39 would hide all that later ones wrote, and what is repaired too.
    is_usable = installed.release is not None and installed.reads_logs
    program = installed if is_usable else Program(Installed(PROGRAM, _NEWEST_TRIED))
    refusal = _refusal(home, installed)
    data = Path(registry_folder(home))
    taken_names: set[str] = set()
    bundles = scan(home._replace(disk=REAL)).bundles
    for number, bundle in enumerate(bundles, 1):
        if progress:
            progress(number, len(bundles))
        for session in read(bundle).sessions:
            if session.kind is SessionKind.MAIN:
                found = _Rescue(session, bundle.project, data, program).answer(refusal, taken_names)
                if found is not None:
                    yield found


def _refusal(home: Home, installed: Program) -> str | None:
    """Why the CLI would not read what is written to a home; None if it would."""
    data = registry_folder(home)
    if Path(data).name != ".gemini":
        return f"It is in {data!r}, where Gemini CLI does not look: its folder is named .gemini."
    if not installed.reads_logs:
        return f"{installed.name} does not read repaired files (.jsonl); 0.39.0 and later do."
    return None


class _Rescue(msgspec.Struct, frozen=True):
    """One session, and the CLI that is to show it."""

    session: Session
    project: Project
    """Whose folder it lies in; the session may have been written for another."""
    data: Path
    program: Program

    def answer(self, refusal: str | None, taken_names: set[str]) -> Stranded | None:
        """What the CLI hides of it; None if that is nothing."""
        folders = self._folders()
        view = view_of(self.session, folders, self.program)
        lost = accidents(self.session)
        hidden = [message for message in self.session.messages if _is_hidden(message, view, lost)]
        causes = Causes(self.session, view, folders, lost)
        found = dict.fromkeys(map(causes.of, hidden))
        obstacles = list(map(causes.obstacle, found))
        if view.taken and has_no_title(self.session, view.taken.record):
            obstacles.append(no_title(str(view.taken.file)))
        if not obstacles:
            return None
        has_fused = any(cause.kind == FUSED for cause in found)
        repair = Repair(self.session, lost, frozenset(message.id for message in hidden), has_fused)
        wanted = [message for message in self.session.messages if _is_wanted(message, lost)]
        return Stranded(
            session=self.session,
            obstacles=tuple(obstacles),
            severity=self._severity(view, wanted, hidden),
            hidden=sum(map(is_of_human, hidden)),
            hidden_replies=sum(map(is_reply, hidden)),
            mended=repair.session(),
            last_used=_last_used(view),
            target=None if refusal else self._target(folders, repair.native_id, taken_names),
            changes=tuple(repair.changes()),
            refusal=refusal,
        )

    def _severity(self, view: View, wanted: Sequence[Message], hidden: Sequence[Message]) -> Severity:
        if not hidden:
            return Severity.TITLE
        missed = {message.id for message in hidden}
        if missed == mistyped(self.session.messages, missed):
            return Severity.SLIGHT
        is_lost = view.taken is None or all(message.id in missed for message in wanted)
        return Severity.LOST if is_lost else Severity.PARTLY

    def _target(self, folders: Sequence[Path], native_id: str, taken_names: set[str]) -> str:
        """Where the CLI finds what is written: in its folder, under a name that is not taken."""
        there = [folder for folder in folders if folder.is_dir()]
        chats = (there or list(folders))[0] / "chats"
        began = self.session.started_at or self.session.ended_at or _LONG_AGO
        minute = began.astimezone(UTC).strftime("%Y-%m-%dT%H-%M")
        stem = f"session-{minute}-{_UNSAFE.sub('_', native_id)[:ID_START]}-{RESCUED}"
        names = (f"{stem}{'' if number == 1 else f'-{number}'}.jsonl" for number in count(1))
        path = next(str(chats / name) for name in names if not self._is_taken(chats / name, taken_names))
        taken_names.add(path)
        return path

    def _is_taken(self, path: Path, taken_names: set[str]) -> bool:
        return str(path) in taken_names or os.path.lexists(path)

    def _folders(self) -> list[Path]:
        """The folders that the CLI looks into, started in the folder of the project."""
        own = list(dict.fromkeys(Path(file.path).parent.parent for file in self.session.files))
        path = self.project.path or self.session.project.path
        projects = own[0].parent
        if path is None or projects != self.data / "tmp":
            # It cannot be told, or nothing here is where the CLI looks: then it is as if it looked here.
            return own
        names = looked_into(self.data, Path(os.path.realpath(path)), self.program.release)
        return [projects / name for name in sorted(names, key=_by_age)]


def _last_used(view: View) -> datetime | None:
    """When the files that the CLI loads were used last, as they say."""
    moments = (parse_time(one.last_used) for one in view.loaded)
    return max(filter(None, moments), default=None)


def _by_age(name: str) -> tuple[bool, str]:
    """Folders of now before those of older releases."""
    return _HASH.fullmatch(name) is not None, name


def _is_hidden(message: Message, view: View, lost: Mapping[str, Accident]) -> bool:
    """Whether the CLI does not send something that it should."""
    is_missed = view.seen_as(message) is None or view.leaves_out(message)
    return _is_wanted(message, lost) and is_missed


def _is_wanted(message: Message, lost: Mapping[str, Accident]) -> bool:
    """Whether a message is part of the talk, and nobody took it back."""
    is_talk = is_of_human(message) or is_reply(message)
    return is_talk and (message.state is State.CURRENT or message.id in lost)
