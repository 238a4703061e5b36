"""What tables are written of: all that is known, in parts that are written anew by themselves."""

from __future__ import annotations

import os

from geminids.library.context import LibraryPart

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.sessions.by_month import Parts

MACHINE_FILE = "machine"
_DIGITS = "0123456789abcdef"


class TableMethods(LibraryPart):
    """What a library tells those who write tables."""

    def parts(self) -> Parts:
        """All that there is, by agent and month, and the files that it is read from."""
        from geminids.query.sessions.by_month import Parts

        return self._context.ask(lambda index: Parts(index, self._context.homes))

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
        """A name for this machine that no other has: made by chance once, so it tells nothing of anybody.

        None where there is nowhere to note it.
        """
        from geminids.core import small_files

        folder = self._context.data_folder
        if folder is None:
            return None
        try:
            written = small_files.read(folder, MACHINE_FILE).decode("ascii", "replace").strip()
        except FileNotFoundError:
            written = ""
        if len(written) == 12 and not set(written) - set(_DIGITS):
            return written
        name = os.urandom(6).hex()
        small_files.write(folder, MACHINE_FILE, f"{name}\n".encode())
        return name
