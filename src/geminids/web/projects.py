"""The folders that sessions were worked in."""

from __future__ import annotations

from typing import Annotated

import msgspec

from geminids.library import ProjectReport
from geminids.web.documents.projects import ProjectLine, Projects
from geminids.web.endpoints import Asked, Desk, Endpoint, SomeWords
from geminids.web.lines import project_name


class AskedForProjects(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose projects, and how many."""

    agent: SomeWords = ()
    limit: Annotated[int, msgspec.Meta(ge=1, le=5000)] = 1000


def projects(desk: Desk, asked: AskedForProjects) -> Projects:
    """The projects there are, the last used first."""
    found = desk.library.projects(agents=asked.agent).projects
    return Projects(total=len(found), projects=[_line(report) for report in found[: asked.limit]])


ENDPOINTS = (Endpoint("/api/projects", AskedForProjects, Projects, projects, is_kept=True),)


def _line(report: ProjectReport) -> ProjectLine:
    return ProjectLine(
        project=project_name(report.project),
        also=[project_name(project) for project in report.also],
        certain=report.project.certain,
        agents=report.agents,
        sessions=report.sessions,
        subagents=report.subagents,
        checkpoints=report.checkpoints,
        lost=report.lost,
        first=report.first,
        last=report.last,
        bytes=report.bytes,
    )
