"""Projects."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from geminids.faces.web.documents.base import Document, Handle
from geminids.faces.web.documents.sessions import ProjectName
from geminids.faces.web.documents.usage import UsedTokens


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
