"""Errors with messages a user can act on: what, where, what to do.

Only `cli/main.py` turns them into a line on stderr and an exit code.
"""

from __future__ import annotations

from collections.abc import Sequence


class GeminidsError(Exception):
    """Something a user can understand and mend."""

    exit_code = 2


class HomeNotFoundError(GeminidsError):
    """A home given by hand is not there."""

    def __init__(self, path: str) -> None:
        super().__init__(f"No folder {path!r}. --home takes a folder that stands for a user's home.")


class NothingToReadError(GeminidsError):
    """A file or folder given by hand cannot be opened."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"Cannot read {path!r}: {reason}.")


class NotASessionError(GeminidsError):
    """A file given by hand is no session of any agent we know."""

    exit_code = 1

    def __init__(self, path: str, looks_like: str) -> None:
        super().__init__(
            f"{path!r} is no session: it looks like {looks_like}. `geminids list` shows what there is."
        )


class NotLoadedByAgentError(GeminidsError):
    """A file that the agent itself would not load."""

    exit_code = 1

    def __init__(self, path: str, looks_like: str) -> None:
        super().__init__(
            f"The agent itself would not load {path!r} (it looks like {looks_like}). "
            "Without --agent-view all that is in it is shown."
        )


class SessionNotFoundError(GeminidsError):
    """No session has this id."""

    exit_code = 1

    def __init__(self, wanted: str, near: Sequence[str]) -> None:
        lines = "".join(f"\n  {session}" for session in near)
        hint = f"Nearest:{lines}" if near else "`geminids list` shows what there is."
        super().__init__(f"No session {wanted!r}. {hint}")


class AmbiguousIdError(GeminidsError):
    """Several sessions begin with these letters."""

    def __init__(self, wanted: str, candidates: Sequence[str]) -> None:
        lines = "".join(f"\n  {candidate}" for candidate in candidates)
        super().__init__(
            f"{wanted!r} could be any of {len(candidates)} sessions; type more of the id:{lines}"
        )


class ShortIdError(GeminidsError):
    """So few letters could mean anything."""

    def __init__(self, wanted: str, least: int) -> None:
        super().__init__(f"{wanted!r} is too short for an id; type at least {least} characters of it.")


class UnknownAgentError(GeminidsError):
    """No reader is installed for this agent."""

    def __init__(self, wanted: str, known: Sequence[str]) -> None:
        there = (
            f"There are: {', '.join(known)}." if known else "None is: geminids is not installed as a package."
        )
        super().__init__(f"No reader for {wanted!r}. {there}")


class BadTimeError(GeminidsError):
    """A moment we cannot read."""

    def __init__(self, written: str) -> None:
        super().__init__(
            f"Cannot read the time {written!r}. "
            "Use 7d, 12h, today, yesterday, 2026-05-01 or 2026-05-01T14:00."
        )
