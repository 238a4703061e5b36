"""Where the files of a session lie, and whether Gemini CLI would look there.

It looks into one home, and there into the folder of the project that it is started in.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from geminids.agents.gemini.custody.lookup import SINCE_SLUGS, looked_into
from geminids.agents.gemini.custody.releases import Program
from geminids.core.agents.resume import Circumstances
from geminids.core.model import Session, SessionKind, folder_hash

HOME_VARIABLE = "GEMINI_CLI_HOME"


class ProjectFiles(NamedTuple):
    """The folder of a project in one home of the CLI, and the files of the session in it."""

    data: Path
    """Nearly always `.gemini`."""
    folder: Path
    files: tuple[Path, ...]
    is_usual: bool
    """Whether the CLI uses this home without being told."""

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which the CLI is told to use this home."""
        return {} if self.is_usual else {HOME_VARIABLE: str(self.data.parent)}


def places_of(session: Session, circumstances: Circumstances, program: Program) -> list[ProjectFiles]:
    """Where the files of a session lie, the home that the CLI uses anyway first."""
    usual = os.path.realpath(usual_home(circumstances, program) / ".gemini")
    found: dict[Path, list[Path]] = {}
    for file in session.files:
        path = Path(file.path)
        folder = path.parent if session.kind is SessionKind.CHECKPOINT else path.parent.parent
        if folder.parent.name == "tmp":
            found.setdefault(folder, []).append(path)
    places = [
        ProjectFiles(data, folder, tuple(files), is_usual=os.path.realpath(data) == usual)
        for folder, files in found.items()
        for data in [folder.parent.parent]
    ]
    return sorted(places, key=lambda place: not place.is_usual)


def usual_home(circumstances: Circumstances, program: Program) -> Path:
    """The folder that holds the home which the CLI uses without being told."""
    named = circumstances.environment.get(HOME_VARIABLE)
    return Path(named if named and program.heeds_home_variable else circumstances.user_home)


def why_not_found(place: ProjectFiles, project: Path, program: Program) -> str | None:
    """Why the CLI does not find what is in a place; None if it does."""
    return _why_unusable(place, program) or _why_overlooked(place, project, program)


def _why_unusable(place: ProjectFiles, program: Program) -> str | None:
    """Why the CLI cannot be told to use a home; None if it can, or need not be told."""
    home = str(place.data)
    if place.data.name != ".gemini":
        return f"It is in {home!r}, where Gemini CLI does not look: its folder is named .gemini."
    if place.data.parent.name == ".cache":
        return (
            f"It was written in the sandbox of macOS, to {home!r}. Told to resume a session, Gemini CLI "
            "looks outside of the sandbox first, and does not find it."
        )
    if not place.is_usual and not program.heeds_home_variable:
        return f"It is in {home!r}, and {program.name} only knows the home of the user."
    return None


def _why_overlooked(place: ProjectFiles, project: Path, program: Program) -> str | None:
    """Why the CLI would look elsewhere when it is started in the project; None if it would not."""
    # The system tells a program the real name of the folder it is in, whatever links lead there.
    real = Path(os.path.realpath(project))
    if place.folder.name in looked_into(place.data, real, program.release):
        return None
    if real != project:
        return f"{str(project)!r} links to {str(real)!r}, which is another project to Gemini CLI."
    folder = str(place.folder)
    if place.folder.name == folder_hash(str(real)):
        return (
            f"It is in {folder!r}, which releases before 0.29 used. Gemini CLI now uses another folder for "
            "this project."
        )
    if program.release is not None and program.release < SINCE_SLUGS:
        return f"A later release wrote it to {folder!r}, where {program.name} does not look."
    return (
        f"In {str(project)!r}, Gemini CLI does not look into {folder!r}: the session is of another folder, "
        "or the folder was moved."
    )
