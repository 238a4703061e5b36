"""What is kept, and what became of it: answers about kept copies, for the faces."""

from __future__ import annotations

from datetime import datetime

import msgspec

from geminids.core.model import SessionSummary
from geminids.query.health.forecast import ForecastReport


class KeptHome(msgspec.Struct, frozen=True, kw_only=True):
    """Of what homes copies are kept."""

    agent: str
    folder: str
    files: int
    bytes: int
    is_there: bool
    """Whether the home itself is on this disk."""
    imported: bool
    """Whether the copies came from another archive."""


class KeepStatus(msgspec.Struct, frozen=True, kw_only=True):
    """How things stand with the kept copies."""

    folder: str | None
    """Where they are; None for a user without a home."""
    is_on: bool
    """Whether copies are kept of anything."""
    left_out: tuple[str, ...]
    """Agents and folders of which the user wants no copies; `*` stands for all that is not named."""
    settings: str | None
    """The file in which that can be settled."""
    files: int
    versions: int
    """All states of them; a file that only grew has one."""
    bytes: int
    """Of the files as they are now."""
    bytes_on_disk: int
    """That the copies take."""
    last_kept_at: datetime | None
    homes: tuple[KeptHome, ...]
    sessions: int
    """How many sessions there are."""
    sessions_gone: int
    """How many of them are known by their copies alone."""
    forgotten: int
    """Sessions that are not to come back."""
    troubles: tuple[str, ...]
    """What keeps copies from being kept."""
    forecast: ForecastReport


class FileVersion(msgspec.Struct, frozen=True, kw_only=True):
    """A state of a file of a session."""

    number: int
    """From 1, the oldest first, among all states of the session's files."""
    file: str
    size: int
    modified_at: datetime | None
    kept_at: datetime
    digest: str
    """SHA-256 of what was in it."""
    is_newest: bool
    """Whether no later state of the file is kept."""


class SessionVersions(msgspec.Struct, frozen=True, kw_only=True):
    """All states of a session's files that are kept. Growth alone makes no new one."""

    session: SessionSummary
    versions: tuple[FileVersion, ...]


class Forgettable(msgspec.Struct, frozen=True, kw_only=True):
    """A session that is to be forgotten, with all that it led."""

    session: SessionSummary
    subagents: tuple[SessionSummary, ...]
    going: tuple[str, ...]
    """Files of which all copies go: they hold nothing else."""
    copies: int
    bytes: int
    shared: tuple[str, ...]
    """Kept files that also hold another session, and stay."""
    remaining: tuple[str, ...]
    """Files of it that lie in the agent's own folder, where geminids deletes nothing."""


class Forgotten(msgspec.Struct, frozen=True, kw_only=True):
    """What was forgotten."""

    sessions: tuple[Forgettable, ...]
    until_changed: bool
    freed: int
    """Bytes."""
