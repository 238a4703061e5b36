"""What tables are written of: all that is known, in parts that are written anew by themselves."""

from __future__ import annotations

import os
from contextlib import suppress

from geminids.library.context import LibraryPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from geminids.query.sessions.by_month import Parts

MACHINE_FILE = "machine"
HOST_FILES = ("/etc/machine-id", "/var/lib/dbus/machine-id")
"""Files in which Linux stores the name of the machine; a new machine has another name on a copied disk."""
_DIGITS = "0123456789abcdef"


class TableMethods(LibraryPart):
    """What a library tells those who write tables."""

    def parts(self, is_left_out: Callable[[str], bool] | None = None) -> Parts:
        """Return all that there is, by agent and month, without the sessions whose ids are left out."""
        from geminids.query.sessions.by_month import Parts

        return self._context.ask(lambda index: Parts(index, self._context.homes, is_left_out))

    def forgotten_ids(self) -> list[str]:
        """Return the ids of the sessions that are forgotten for good."""
        return [
            stone.session for stone in self._context.notes.forgotten().values() if not stone.until_changed
        ]

    @property
    def jobs(self) -> int | None:
        """How many processes read where there is much to read; None is one for each core."""
        return self._context.settings.jobs

    @property
    def data_folder(self) -> str | None:
        """Our own folder; None for a user without a home."""
        return self._context.data_folder

    @property
    def agents_folders(self) -> list[str]:
        """The folders of agents, in which nothing is written."""
        return self._context.agents_folders()

    @property
    def homes_digest(self) -> str:
        """The homes that were chosen, in letters that tell nothing of them; empty for the user's own."""
        from geminids.core.hashes import blake2b

        chosen = "\0".join(sorted(self._context.chosen))
        return blake2b(chosen.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest() if chosen else ""

    def machine(self) -> str | None:
        """Return the id of this machine, made by chance once; None for a user without a data directory.

        A data directory that was copied to another machine, or is used by several, has an id for each.
        """
        from geminids.core import small_files

        folder = self._context.data_folder
        if folder is None:
            return None
        host = _host()
        file = f"{MACHINE_FILE}-{host}" if host else MACHINE_FILE
        known = _noted_id(folder, file)
        if known is not None:
            return known
        # The id of a release that noted no host is that of the first host that asks.
        is_first = not any(name.startswith(f"{MACHINE_FILE}-") for name in _names_in(folder))
        made = (_noted_id(folder, MACHINE_FILE) if is_first else None) or os.urandom(6).hex()
        if is_first:
            small_files.write(folder, MACHINE_FILE, f"{made}\n".encode())
        small_files.write(folder, file, f"{made}\n".encode())
        return made


def _names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except FileNotFoundError:
        return []


def _noted_id(folder: str, file: str) -> str | None:
    from geminids.core import small_files

    try:
        noted = small_files.read(folder, file).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return None
    return noted if len(noted) == 12 and not set(noted) - set(_DIGITS) else None


def _host() -> str | None:
    """Return a digest of the name that the system gave this machine; None where it gives none."""
    from geminids.core.hashes import blake2b

    for path in HOST_FILES:
        # Not on this system: the next file may name the machine.
        with suppress(OSError), open(path, "rb") as file:  # noqa: PTH123
            if called := file.read(64).strip():
                return blake2b(b"geminids machine\0" + called, digest_size=6).hexdigest()
    return None
