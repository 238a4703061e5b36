"""The folders that sessions were worked in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from geminids.faces.documents.base import Document, Handle, Printed, filled
from geminids.faces.documents.sessions import ProjectName, project_key, project_name
from geminids.faces.documents.tokens import UsedTokens, used_tokens
from geminids.query.projects import report
from geminids.query.projects.timeline import ProjectStory

if TYPE_CHECKING:
    from geminids.query.usage.figures import Tokens


class ProjectsDocument(report.Projects, Printed, frozen=True, kw_only=True, tag="geminids/projects/1"):
    """The projects there are, the last used first."""


class ProjectDocument(ProjectStory, Printed, frozen=True, kw_only=True, tag="geminids/project/1"):
    """One project and everything it holds, the oldest first."""


class ResolvedDocument(report.Resolved, Printed, frozen=True, kw_only=True, tag="geminids/resolved/1"):
    """What a search for folders has found."""


class ProjectLine(Document, frozen=True, kw_only=True):
    """A project and how much there is of it."""

    project: ProjectName
    key: Handle
    """What to give as `project` wherever sessions are narrowed."""
    also: Sequence[ProjectName]
    """What else agents know it as: other folders, hashes and slugs."""
    certain: bool
    agents: Sequence[str]
    sessions: int
    subagents: int
    checkpoints: int
    lost: int
    first: datetime | None
    last: datetime | None
    bytes: int
    tokens: UsedTokens
    """With their cost, its subagents included."""


class Projects(Document, frozen=True, kw_only=True):
    """The projects there are, the last used first."""

    total: int
    projects: Sequence[ProjectLine]


def project_line(found: report.ProjectReport, used: Tokens) -> ProjectLine:
    """A project and what was used for it."""
    return filled(
        ProjectLine,
        found,
        project=project_name(found.project),
        key=project_key(found.project),
        also=[project_name(project) for project in found.also],
        certain=found.project.certain,
        tokens=used_tokens(used),
    )
