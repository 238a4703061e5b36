"""What is said of a project in few words, wherever projects are listed."""

from __future__ import annotations

from geminids.core.model import KnownBy
from geminids.sharing.transcript import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.model import Project
    from geminids.query.projects.report import ProjectReport


def known_by(report: ProjectReport) -> str:
    """How its folder is known; a guess has a question mark."""
    if report.project.known_by is None:
        return "not known"
    return words.KNOWN_BY[report.project.known_by] + ("?" if is_guessed(report.project) else "")


def is_guessed(project: Project) -> bool:
    """Whether its folder is a guess."""
    return project.known_by is not None and not (project.certain or project.known_by is KnownBy.RECORDS)


def sessions_in(report: ProjectReport) -> str:
    """How many sessions there are of it."""
    return f"{report.sessions} + {report.lost} lost" if report.lost else str(report.sessions)
