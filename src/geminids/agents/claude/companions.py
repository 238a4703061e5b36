"""What lies beside the sessions of a project: listed and shown on request, and used as a whole."""

from __future__ import annotations

from geminids.core.agents.base import CompanionFile, Companions, Reading
from geminids.core.model import FileAccount, Tally


def read_beside(companions: Companions, limit: int | None) -> Reading:
    """An account of every file; only who reads everything accounts for everything."""
    if limit is not None:
        return Reading((), (), ())
    return Reading((), tuple(map(_account, companions.files)), ())


def _account(file: CompanionFile) -> FileAccount:
    used = {str(file.kind): Tally(1, file.size)}
    return FileAccount(file.path, f"claude-{file.kind}", "any", file.size, used, {}, {}, {})
