"""Reading what lies beside the sessions of a project: each kind of file by its own reader."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.model import FileAccount, Tally
from geminids.sources.base import CompanionFile, Companions, Reading
from geminids.sources.traces import Trace


def read_beside(companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
    """The sessions that lie beside those of a project, and an account of every file."""
    return Reading((), tuple(map(_unopened, companions.files)), ())


def _unopened(companion: CompanionFile) -> FileAccount:
    """The account of a file that is listed and shown on request: it is used as a whole."""
    file = companion.file
    used = {str(companion.kind): Tally(1, file.size)}
    return FileAccount(str(file.path), f"gemini-{companion.kind}", "any", file.size, used, {}, {}, {})
