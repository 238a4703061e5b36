"""Going on with a session in Codex CLI: `codex resume <id>`, in the folder that it was worked in.

The CLI finds a session by its id in one home. What was archived has to be taken out of the archive before
(`codex unarchive <id>`). A subagent goes on with the session that started it, and not alone.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from geminids.agents.codex.homes import ARCHIVED, HOME_VARIABLE, SESSIONS
from geminids.agents.codex.read.rollouts import HomeFolders
from geminids.core.agents.resume import Circumstances, Command, NotResumable, Offer, Resumable, Resuming
from geminids.core.model import Session, SessionKind

PROGRAM = "codex"


class _RolloutHome(NamedTuple):
    """Where the newest rollout of a session lies."""

    home: Path
    is_archived: bool
    environment: dict[str, str]
    """The variables by which the CLI is told to use this home; none if it uses it anyway."""


def resuming(session: Session, circumstances: Circumstances) -> Resuming:
    """How Codex CLI would go on with a session, or why it cannot."""
    if circumstances.given:
        return NotResumable("Codex CLI only resumes sessions in its own home, not a file given by path.")
    if session.kind is SessionKind.SUBAGENT:
        return _of_parent(session)
    home = _home_of(session, circumstances)
    if home is None:
        return NotResumable("It is not where Codex CLI keeps its sessions.")
    thread = session.native_id.partition("_")[0]
    if _is_option(thread):
        return NotResumable("Codex CLI would take its id for an option; it creates no such ids itself.")
    if home.is_archived:
        return _archived(thread, home)
    return _resumable(session, thread, home, circumstances)


def _of_parent(session: Session) -> NotResumable:
    reason = "It is the session of a subagent, which can only be resumed with the session that started it."
    parent = (session.parent_id or "").partition(":")[2]
    if not parent or _is_option(parent):
        return NotResumable(reason)
    return NotResumable(reason, (Offer("Resume that one:", ((PROGRAM, "resume", parent),)),))


def _is_option(word: str) -> bool:
    """Whether a program would read a word as something to do, such as to ask no more for permission."""
    return word.startswith("-")


def _home_of(session: Session, circumstances: Circumstances) -> _RolloutHome | None:
    if not session.files:
        return None
    file = Path(session.files[-1].path)
    library = HomeFolders.around(file)
    if library.sessions is None or library.sessions.name != SESSIONS:
        return None
    home = library.sessions.parent
    usual = circumstances.environment.get(HOME_VARIABLE) or str(Path(circumstances.user_home) / ".codex")
    is_usual = os.path.realpath(home) == os.path.realpath(usual)
    return _RolloutHome(home, file.parent.name == ARCHIVED, {} if is_usual else {HOME_VARIABLE: str(home)})


def _archived(thread: str, home: _RolloutHome) -> NotResumable:
    settings = tuple(f"{name}={value}" for name, value in home.environment.items())
    start: Command = ("env", *settings, PROGRAM) if settings else (PROGRAM,)
    commands = ((*start, "unarchive", thread), (*start, "resume", thread))
    return NotResumable("It is archived.", (Offer("Unarchive it, then resume it:", commands),))


def _resumable(session: Session, thread: str, home: _RolloutHome, circumstances: Circumstances) -> Resumable:
    program = shutil.which(PROGRAM, path=circumstances.environment.get("PATH", ""))
    folder = session.project.path
    is_there = folder is not None and os.path.isdir(folder)  # noqa: PTH112 - pathlib raises for what cannot be a name
    warnings: list[str] = []
    if program is None:
        warnings.append(f"`{PROGRAM}` is not on the PATH.")
    if not is_there:
        gone = f"{folder!r} does not exist" if folder else "The folder of its project is not known"
        warnings.append(f"{gone}; Codex CLI would continue in the folder in which it is started.")
    return Resumable(
        command=(PROGRAM, "resume", thread),
        folder=folder if is_there and folder else circumstances.here,
        environment=home.environment,
        program=program,
        warnings=tuple(warnings),
    )
