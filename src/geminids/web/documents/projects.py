"""Projects."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from geminids.web.documents.base import Document
from geminids.web.documents.sessions import ProjectName


class ProjectLine(Document, frozen=True, kw_only=True):
    """A project and how much there is of it."""

    project: ProjectName
    also: Sequence[ProjectName]
    certain: bool
    agents: Sequence[str]
    sessions: int
    subagents: int
    checkpoints: int
    lost: int
    first: datetime | None
    last: datetime | None
    bytes: int


class Projects(Document, frozen=True, kw_only=True):
    """The projects there are, the last used first."""

    total: int
    projects: Sequence[ProjectLine]
