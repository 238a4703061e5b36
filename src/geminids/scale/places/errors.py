"""What keeps a place from being read or written: what, where, what to do."""

from __future__ import annotations

from geminids.core.errors import PARTLY_DONE, GeminidsError


class PlaceError(GeminidsError):
    """A place that cannot be used as it was given."""

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(f"Cannot use {uri!r}: {reason}.")


class StoreFailedError(GeminidsError):
    """A place that was fine and failed meanwhile; what was written whole is there."""

    exit_code = PARTLY_DONE

    def __init__(self, uri: str, reason: str) -> None:
        super().__init__(
            f"Stopped at {uri!r}: {reason}. What was written whole stays; run it again to go on."
        )
