"""What is written for agents so that they can use geminids, and what is taken away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from geminids.faces.documents.base import Document, Printed


class FileChange(Document, frozen=True, kw_only=True):
    """A file that is written, changed or removed."""

    path: str
    action: Literal["create", "edit", "replace", "remove"]
    """`edit` adds to a file of yours, or removes from it what was added."""
    what: str | None = None
    """What is added to a file of yours, or removed from it."""


class AgentChanges(Document, frozen=True, kw_only=True):
    """What is done in the home of one agent."""

    agent: str
    home: str
    changes: Sequence[FileChange]
    """Empty if everything is as it should be."""
    done: bool
    """Whether the changes were made; false for a dry run, or if something was in the way."""
    notes: Sequence[str] = ()
    failure: str | None = None
    """Why nothing was changed."""


class InstallDocument(Printed, frozen=True, kw_only=True, tag="geminids/install/1"):
    """What is written so that agents can use geminids."""

    server: Sequence[str]
    """What agents start."""
    dry_run: bool
    agents: Sequence[AgentChanges]


class UninstallDocument(Printed, frozen=True, kw_only=True, tag="geminids/uninstall/1"):
    """What is removed from agents."""

    dry_run: bool
    agents: Sequence[AgentChanges]
