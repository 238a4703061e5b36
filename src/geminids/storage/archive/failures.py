"""What can go wrong with kept copies, in words a user can act on."""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from geminids.core.errors import PARTLY_DONE, STORE_DAMAGED, GeminidsError


class DamagedCopyError(GeminidsError):
    """A kept copy that no longer is what was kept."""

    exit_code = STORE_DAMAGED

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(
            f"The kept copy of {path!r} is damaged: {reason}. `geminids keep verify` repairs it if the "
            "original file still exists; all other copies can be read."
        )


class DamagedArchiveError(GeminidsError):
    """The list of the kept copies is damaged and could not be made anew."""

    exit_code = STORE_DAMAGED

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"The list of the kept copies in {folder!r} is damaged and cannot be made again ({reason}). "
            "The copies themselves are in its folder 'packs'; leave them there, and try again when this is "
            "repaired."
        )


class NewerArchiveError(GeminidsError):
    """Kept copies that a newer geminids has written."""

    exit_code = STORE_DAMAGED

    def __init__(self, folder: str, version: int, known: int) -> None:
        super().__init__(
            f"The kept copies in {folder!r} were written by a newer geminids (version {version} of their "
            f"list; this one supports {known}). Nothing was changed. Upgrade geminids, or use another "
            "--data."
        )


class BusyArchiveError(GeminidsError):
    """Another process has been keeping copies for too long."""

    exit_code = PARTLY_DONE

    def __init__(self, who: str) -> None:
        super().__init__(f"{who} is writing copies. Try again when it is done.")


class FailedToKeepError(GeminidsError):
    """Copies cannot be written; those that were there before are as they were."""

    exit_code = PARTLY_DONE

    def __init__(self, folder: str, reason: str) -> None:
        super().__init__(
            f"Cannot keep copies in {folder!r}: {reason}. No partial copy was left, and all earlier copies "
            "can be read."
        )


class ArchiveFullError(FailedToKeepError):
    """There is no room for more copies."""

    def __init__(self, folder: str) -> None:
        super().__init__(folder, "the disk is full; make room, or choose another folder with --data")


class NotAnArchiveError(GeminidsError):
    """A file given by hand that holds no exported copies, or not all of them."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(
            f"Cannot import {path!r}: {reason}. Nothing was imported. It must be a file written by "
            "`geminids keep export`."
        )
