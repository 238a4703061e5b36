"""Projects: the folders that sessions were worked in, and how they are known."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from geminids.core.hashes import sha256
from geminids.core.names import project_name


class KnownBy(StrEnum):
    """How the folder of a project is known, the best way first."""

    LINK = "link"
    """The user said so."""
    RECORDS = "records"
    """The agent wrote it into the session's own records."""
    MARKER = "marker"
    """The agent's own note beside the sessions."""
    REGISTRY = "registry"
    """The agent's own list of projects."""
    TRUSTED = "trusted"
    """The folders that the user told the agent to trust."""
    CONTEXT = "context"
    """What a session says: what the agent told the model about the folder it works in, or any word."""
    DIRECTORIES = "directories"
    """The folders that a session was given."""
    ARGUMENTS = "arguments"
    """The paths that tools were called with."""
    CURRENT_FOLDER = "current-folder"
    """A folder that geminids was started in, or one above it."""
    OTHER_AGENT = "other-agent"
    """The projects of another agent on this machine."""
    WORKTREE = "worktree"
    """A work tree of a git repository that is known."""
    SHELL_HISTORY = "shell-history"
    """A folder that the user went to in a shell."""
    SEARCH = "search"
    """A folder that was found by looking where people keep their projects."""


class Project(msgspec.Struct, frozen=True, gc=False):
    """The folder a session was worked in, as far as it is known."""

    path: str | None
    hash: str | None
    slug: str | None
    known_by: KnownBy | None
    certain: bool = False
    """Whether the hash that the agent wrote is the hash of the path; else the path is a guess."""

    @property
    def name(self) -> str:
        """What people call it."""
        return project_name(self.path, self.hash, self.slug)


def folder_hash(path: str) -> str:
    """The SHA-256 by which agents name a folder: of the path as it is spelled."""
    return sha256(path.encode(errors="surrogatepass")).hexdigest()
