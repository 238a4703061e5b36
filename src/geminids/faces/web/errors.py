"""What can go wrong between a browser and a library, in sentences for whoever asked."""

from __future__ import annotations

from geminids.core.errors import NOTHING_FOUND, PARTLY_DONE, GeminidsError
from geminids.core.installation import who_adds


class WebNotInstalledError(GeminidsError):
    """The packages of the web app are missing."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"The web app needs {missing!r}; {who_adds('web')} adds it.")


class PortTakenError(GeminidsError):
    """Somebody else listens there, or nobody may."""

    def __init__(self, port: int, reason: str) -> None:
        super().__init__(f"Cannot listen on port {port} ({reason}). Without --port a free port is used.")


class BadParameterError(GeminidsError):
    """A parameter of a request that is not to be understood."""


class NoSuchMessageError(GeminidsError):
    """A number that no message of a session has."""

    exit_code = NOTHING_FOUND

    def __init__(self, number: int, messages: int) -> None:
        super().__init__(f"There is no message {number}: the session has {messages:,}, counted from 1.")


class NoSuchPieceError(GeminidsError):
    """A piece of a message that is not there, or is something else."""

    exit_code = NOTHING_FOUND

    def __init__(self, what: str) -> None:
        super().__init__(f"There is no {what} at this place of the session.")


class OneAtATimeError(GeminidsError):
    """Something that takes long is being done already."""

    exit_code = PARTLY_DONE

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} is already running. Try again when it is done.")
