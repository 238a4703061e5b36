"""The folders that sessions were worked in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

from geminids.faces.documents.projects import Projects, project_line
from geminids.faces.documents.sessions import project_key
from geminids.faces.web.endpoints import Asked, Desk, Endpoint, SomeWords
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
    lines = [project_line(report, _used(report, tokens)) for report in found[: asked.limit]]
    return Projects(total=len(found), projects=lines)


ENDPOINTS = (Endpoint("/api/projects", AskedForProjects, Projects, projects, is_cached=True),)


def _used(report: ProjectReport, tokens: Mapping[str, Tokens]) -> Tokens:
    """What was used for a project, by all the names that agents have for it."""
    keys = dict.fromkeys(map(project_key, (report.project, *report.also)))
    return Tokens.sum(tokens[key] for key in keys if key in tokens)
