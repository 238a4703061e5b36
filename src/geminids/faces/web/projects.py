"""The folders that sessions were worked in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from geminids.faces.web.documents.projects import ProjectLine, Projects
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, SomeWords
from geminids.faces.web.lines import project_key, project_name
from geminids.faces.web.usage import used_tokens
from geminids.query.projects.report import ProjectReport
from geminids.query.usage.figures import Tokens
from geminids.query.usage.stats import StatsQuestion


class AskedForProjects(Asked, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whose projects, and how many."""

    agent: SomeWords = ()
    limit: Annotated[int, msgspec.Meta(ge=1, le=5000)] = 1000


def projects(desk: Desk, asked: AskedForProjects) -> Projects:
    """The projects there are, the last used first, with what was used for each."""
    library = desk.library
    found = library.projects(agents=asked.agent).projects
    used = library.stats(StatsQuestion(by="project", agents=asked.agent), desk.now).groups
    tokens = {group.key: group.figures.tokens for group in used}
    return Projects(total=len(found), projects=[_line(report, tokens) for report in found[: asked.limit]])


ENDPOINTS = (Endpoint("/api/projects", AskedForProjects, Projects, projects, is_kept=True),)


def _line(report: ProjectReport, tokens: Mapping[str, Tokens]) -> ProjectLine:
    keys = dict.fromkeys(map(project_key, (report.project, *report.also)))
    return ProjectLine(
        project=project_name(report.project),
        key=project_key(report.project),
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
        tokens=used_tokens(Tokens.sum(tokens[key] for key in keys if key in tokens)),
    )
