"""The kept states of the files of a session, and the session as it was in one of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from io import BytesIO
from typing import BinaryIO

from geminids.core.errors import NothingKeptError
from geminids.core.model import Session, SessionSummary
from geminids.library.context import LibraryContext
from geminids.query.health.kept_copies import FileVersion
from geminids.query.sessions.session_files import paths_of
from geminids.query.sessions.session_reader import SessionReader
from geminids.query.sessions.session_ref import SessionRef
from geminids.reading.bundles import EarlierDisk
from geminids.storage.archive.archive import Archive
from geminids.storage.archive.values import Version
from geminids.storage.times import moment


class KeptVersions:
    """All states that are kept of sessions."""

    def __init__(self, context: LibraryContext) -> None:
        self._context = context

    def paths_of(self, session: Session | SessionSummary) -> list[str]:
        """All files that belong to a session."""
        return self._context.ask(lambda index: paths_of(index, session))

    def archive(self) -> Archive:
        """The kept copies. Raises NothingKeptError if there is none."""
        archive = self._context.archive
        if archive is None or not archive.exists():
            raise NothingKeptError
        return archive

    def of(self, session: SessionSummary) -> Iterator[FileVersion]:
        """All states of the files of a session that are kept, the oldest first."""
        archive = self.archive()
        newest = {file.path: archive.versions(file.path) for file in session.files}
        every = sorted((version for kept in newest.values() for version in kept), key=lambda one: one.number)
        for number, version in enumerate(every, 1):
            yield FileVersion(
                number=number,
                file=version.path,
                size=version.size,
                modified_at=moment(version.mtime_ns // 1_000),
                kept_at=moment(version.kept_at) or datetime.fromtimestamp(0, UTC),
                digest=version.digest,
                is_newest=version == newest[version.path][-1],
            )

    def speaking(self, session: Session) -> dict[str, Version]:
        """The copies of all that belongs to a session: of its files, the last state that tells of it."""
        archive = self.archive()
        newest = archive.newest()
        kept = {path: newest[path] for path in self.paths_of(session) if path in newest}
        if not kept:
            raise NothingKeptError(session.id)
        for path in (file.path for file in session.files if file.path in kept):
            versions = archive.versions(path)
            if len(versions) > 1:
                speaking = (one for one in reversed(versions) if self._tells_of(session, one))
                kept[path] = next(speaking, newest[path])
        return kept

    def as_it_was(self, session: Session, version: Version) -> Session | None:
        """A session with one of its files in an earlier state; None if nothing is told of it then."""
        disk = EarlierDisk(self._context.homes[0].disk, {version.path: partial(self._opened, version)})
        homes = [home._replace(disk=disk) for home in self._context.homes]
        wanted = SessionRef.of(session)
        return self._context.ask(
            lambda index: SessionReader(index, homes, with_outputs=False).read(wanted)
        ).session

    def _tells_of(self, session: Session, version: Version) -> bool:
        """Whether a session says anything if one of its files is in an earlier state."""
        earlier = self.as_it_was(session, version)
        return earlier is not None and any(
            place.file == version.path
            for message in earlier.messages
            for place in (message.source, *message.also_at)
        )

    def _opened(self, version: Version) -> BinaryIO:
        return BytesIO(self.archive().content(version))
