"""What was written into the settings and folders of agents, so that it can be taken away again."""

from __future__ import annotations

import os
from collections.abc import Iterable
from hashlib import sha256

import msgspec

from geminids.core import small_files
from geminids.core.errors import GeminidsError

FOLDER = "installed"
RECORD_FILE = "record.json"


class DamagedRecordError(GeminidsError):
    """The list of what was installed cannot be read."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"{path!r} is damaged. Move it away and run the command again: geminids then goes by names."
        )


class Written(msgspec.Struct, frozen=True):
    """A package as it was written."""

    folder: str
    files: dict[str, str]
    """Digests by the paths in it."""


class Edited(msgspec.Struct, frozen=True):
    """A file of settings that was added to."""

    path: str
    after: str
    """The digest of what it held then."""
    before: str | None = None
    """The digest of what it held before, by which the backup is called; None if there was no file."""


class Installed(msgspec.Struct, frozen=True):
    """What was written for one home."""

    agent: str
    home: str
    version: str
    packages: tuple[Written, ...] = ()
    edits: tuple[Edited, ...] = ()
    made: tuple[str, ...] = ()
    """Folders that were made for it, the outer ones first."""

    def edited(self, path: str) -> Edited | None:
        """What became of a file of settings."""
        return next((one for one in self.edits if one.path == path), None)

    def written(self, folder: str) -> Written | None:
        """What was written into a folder."""
        return next((one for one in self.packages if one.folder == folder), None)


class Record(msgspec.Struct, frozen=True):
    """All that is installed."""

    agents: tuple[Installed, ...] = ()
    version: int = 1


class InstallRecord:
    """The list in our own folder, and the backups beside it."""

    def __init__(self, data_folder: str) -> None:
        self._folder = os.path.join(data_folder, FOLDER)  # noqa: PTH118

    def entries(self) -> tuple[Installed, ...]:
        """What is installed. Raises DamagedRecordError."""
        try:
            return msgspec.json.decode(small_files.read(self._folder, RECORD_FILE), type=Record).agents
        except FileNotFoundError:
            return ()
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise DamagedRecordError(f"{self._folder}/{RECORD_FILE}") from error

    def entry(self, agent: str, home: str) -> Installed | None:
        """What is installed for a home."""
        return next((one for one in self.entries() if (one.agent, one.home) == (agent, home)), None)

    def put(self, agent: str, home: str, entry: Installed | None) -> None:
        """Note what is installed for a home from now on; backups that nothing needs any more go."""
        others = [one for one in self.entries() if (one.agent, one.home) != (agent, home)]
        entries = [*others, *([entry] if entry else [])]
        content = msgspec.json.format(msgspec.json.encode(Record(tuple(entries))), indent=2)
        small_files.write(self._folder, RECORD_FILE, content + b"\n")
        self._tidy(entries)

    def keep(self, content: bytes) -> str:
        """Keep settings as they were: the digest that they are called by."""
        digest = digest_of(content)
        small_files.write(self._folder, digest, content)
        return digest

    def kept(self, digest: str) -> bytes | None:
        """Settings as they were; None if the backup is gone or damaged."""
        try:
            content = small_files.read(self._folder, digest)
        except OSError:
            return None
        return content if digest_of(content) == digest else None

    def _tidy(self, entries: Iterable[Installed]) -> None:
        needed = {one.before for entry in entries for one in entry.edits} | {RECORD_FILE}
        for name in os.listdir(self._folder):  # noqa: PTH208
            if name not in needed and len(name) == len(digest_of(b"")):
                os.remove(os.path.join(self._folder, name))  # noqa: PTH107, PTH118


def digest_of(content: bytes) -> str:
    """What a content is known by."""
    return sha256(content).hexdigest()
