"""What can go wrong in a server that is asked while it syncs."""

from __future__ import annotations

from geminids.core.errors import PARTLY_DONE, GeminidsError


class IndexBeingMadeError(GeminidsError):
    """What there is, is being looked at for the first time."""

    exit_code = PARTLY_DONE

    def __init__(self) -> None:
        super().__init__("The index is being made for the first time. Try again in a moment.")


class EndingError(GeminidsError):
    """The server is being ended while something takes long."""

    exit_code = PARTLY_DONE

    def __init__(self) -> None:
        super().__init__("The server is shutting down.")
