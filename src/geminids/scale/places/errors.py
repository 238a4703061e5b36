"""What keeps a place from being read or written: what, where, what to do."""

from __future__ import annotations

from shlex import quote

from geminids.core.errors import PARTLY_DONE, GeminidsError
from geminids.core.installation import who_adds


class ScaleNotInstalledError(GeminidsError):
    """The packages that write and read tables are missing."""

    def __init__(self, missing: str) -> None:
        super().__init__(f"Tables need {missing!r}; {who_adds('scale')} adds it.")


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


class NameTakenError(GeminidsError):
    """Another machine, or other homes of this machine, have tables of this name."""

    def __init__(self, uri: str, machine: str) -> None:
        super().__init__(
            f"Another machine, or other homes of this one, have tables named {machine!r} in {uri!r}. "
            "--machine gives these another name; "
            f"`geminids tables forget --machine {machine} --out {quote(uri)}` removes the others."
        )


class BusyPlaceError(GeminidsError):
    """Another process of this machine writes tables."""

    def __init__(self, uri: str) -> None:
        super().__init__(
            f"Another process of this machine writes tables to {uri!r}. Try again when it is done."
        )


class NoTablesFolderError(GeminidsError):
    """There is nowhere to keep tables of this machine."""

    def __init__(self) -> None:
        super().__init__("This user has no home directory; --data names a folder for tables.")


class NoMachineNameError(GeminidsError):
    """There is nowhere to keep a name for this machine."""

    def __init__(self) -> None:
        super().__init__("This user has no home directory; --machine names this machine.")
