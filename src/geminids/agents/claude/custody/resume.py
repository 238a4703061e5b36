"""Going on with a session in Claude Code: `claude --resume <id>` in the folder of its project.

It looks into one home, and there into the folder that is named after the folder it is started in. What was
not used for `cleanupPeriodDays` (30, unless its settings say otherwise) it deletes when it starts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import msgspec

from geminids.agents.claude.custody.forecast import USUAL_REST, rule_in, usual_home
from geminids.agents.claude.homes import HOME_VARIABLE, PROJECTS, slug_of
from geminids.core.agents.resume import Circumstances, NotResumable, Offer, Resumable, Resuming, resume_option
from geminids.core.model import Session, SessionKind
from geminids.core.timestamps import disk_time

PROGRAM = "claude"
_SOON = timedelta(days=5)
_LONGEST_NAME = 200
"""Names of folders that would be longer are cut, and end with a digest."""


def resuming(session: Session, circumstances: Circumstances) -> Resuming:
    """How Claude Code would go on with a session, or why it cannot."""
    return _Resumption(session, circumstances).answer()


class _Resumption(msgspec.Struct, frozen=True):
    """One session, and where somebody wants to go on with it."""

    session: Session
    circumstances: Circumstances

    def answer(self) -> Resuming:
        folder = self.session.project.path
        if self.session.kind is not SessionKind.MAIN:
            return self._cannot("It is the session of a subagent, which ended with its task.")
        if self.circumstances.given:
            return self._cannot(
                "Claude Code only resumes sessions in its own home, not a file given by path."
            )
        if folder is None:
            return self._cannot(
                "Claude Code finds sessions by their folder. The folder of this one is not known."
            )
        if not os.path.isdir(folder):  # noqa: PTH112 - pathlib raises for what cannot be a name
            return self._cannot(f"Claude Code finds sessions by their folder. {folder!r} does not exist.")
        return self._in_folder(folder)

    def _cannot(self, reason: str) -> NotResumable:
        meant = self.circumstances.given or self.session.id
        return NotResumable(reason, (Offer("It can be read:", (("geminids", "show", meant),)),))

    def _in_folder(self, folder: str) -> Resuming:
        usual = usual_home(self.circumstances)
        files = [Path(file.path) for file in self.session.files]
        in_homes = [file for file in files if file.parent.parent.name == PROJECTS]
        in_homes.sort(key=lambda file: os.path.realpath(_home_of(file)) != usual)
        if not in_homes:
            return self._cannot("It is not where Claude Code keeps its sessions.")
        file = next((one for one in in_homes if _is_folder_of(one.parent.name, folder)), None)
        if file is None:
            other = str(in_homes[0].parent)
            return self._cannot(
                f"In {folder!r}, Claude Code does not look into {other!r}: the session was started in "
                "another folder, or the folder was moved."
            )
        home = _home_of(file)
        environment = {} if os.path.realpath(home) == usual else {HOME_VARIABLE: str(home)}
        return self._resumable(file, folder, environment)

    def _resumable(self, file: Path, folder: str, environment: dict[str, str]) -> Resumable:
        program = shutil.which(PROGRAM, path=self.circumstances.environment.get("PATH") or "")
        missing = () if program else (f"`{PROGRAM}` is not on the PATH.",)
        # It deletes nothing by settings that it does not understand; but they may be mended.
        rest = rule_in(str(_home_of(file)), folder).rest or USUAL_REST
        # What is not installed deletes nothing.
        expiring = _expiring(file, rest, self.circumstances.now) if program else None
        is_expired = expiring is not None and expiring <= self.circumstances.now
        return Resumable(
            command=(PROGRAM, *resume_option(self.session.native_id)),
            folder=folder,
            environment=environment,
            program=program,
            warnings=(*missing, *_deletion_warning(expiring, rest, self.circumstances.now)),
            may_lose=is_expired,
            offers=(self._save_copy(),) if is_expired else (),
        )

    def _save_copy(self) -> Offer:
        copy = f"session-{self.session.native_id[:8]}.json"
        return Offer(
            "Save a copy first:", (("geminids", "export", self.session.id, "-f", "json", "-o", copy),)
        )


def _home_of(file: Path) -> Path:
    return file.parent.parent.parent


def _is_folder_of(name: str, folder: str) -> bool:
    """Whether sessions of a folder lie under this name; it is that of the real folder."""
    spelled = {slug_of(path) for path in (folder, os.path.realpath(folder))}
    return name in spelled or any(
        len(one) > _LONGEST_NAME and name.startswith(one[:_LONGEST_NAME]) for one in spelled
    )


def _expiring(file: Path, rest: timedelta, now: datetime) -> datetime | None:
    """When the CLI would delete a file; None if that is far off, or not known."""
    try:
        used = disk_time(file.stat().st_mtime)
    except OSError:
        return None
    return used + rest if used and used + rest - now < _SOON else None


def _deletion_warning(expiring: datetime | None, rest: timedelta, now: datetime) -> Iterator[str]:
    if expiring is None:
        return
    period = f"{rest.days:,} day{'' if rest.days == 1 else 's'}"
    if expiring <= now:
        yield f"It has not been used for more than {period}: Claude Code may delete it when it starts."
    else:
        on = f"{expiring:%Y-%m-%d}"
        yield f"Claude Code deletes sessions that have not been used for {period}; this one on {on}."
