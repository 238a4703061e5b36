"""`Archive`: the kept copies in a folder, opened when they are asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager

from geminids.storage.archive.failures import DamagedCopyError
from geminids.storage.archive.values import (
    MANIFEST_FILE,
    MANIFEST_VERSION,
    PATIENCE,
    KeptHome,
    Totals,
    Version,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from geminids.storage.archive.keeper import Writer
    from geminids.storage.archive.manifest import Manifest
    from geminids.storage.archive.manifest_rows import SegmentAddress
    from geminids.storage.archive.records import Segment

    Answer = TypeVar("Answer")


class Archive:
    """The kept copies in a folder, whether there are any or not. Nothing is opened before it is asked for."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.said: list[str] = []
        """What the user should hear of: a list that was damaged and made anew."""
        self._manifest: Manifest | None = None
        self._is_checked = False

    def exists(self) -> bool:
        """Whether copies were ever kept here."""
        # Without its packs there still is a list, which says what is lost.
        names = ("packs", MANIFEST_FILE)
        return any(os.path.exists(f"{self.folder}/{name}") for name in names)  # noqa: PTH110

    def identity(self) -> tuple[str, int]:
        """The archive's own id, and a number that is raised when copies were removed, imported or healed."""
        if not self.exists():
            return "", 0
        match dict(self._at_once("SELECT name, value, sum FROM meta") or ()):
            case {"id": str(archive), "changes": int(changes)}:
                return archive, changes
            case _:
                return self._asked(lambda manifest: manifest.identity())

    def _at_once(self, question: str) -> list[tuple[Any, ...]] | None:
        """Rows of the manifest without loading anything; None if there is any trouble. `sum` comes last."""
        # Every command asks, and to load all that knows a manifest takes longer than a list may.
        import sqlite3
        from contextlib import closing

        from geminids.storage.checksums import is_whole
        from geminids.storage.paths import uri_of

        file = f"{self.folder}/{MANIFEST_FILE}"
        if not os.path.isfile(file):  # noqa: PTH113
            # SQLite would wait for a pipe.
            return None
        try:
            with closing(sqlite3.connect(uri_of(file, "mode=ro"), uri=True)) as connection:
                (version,) = connection.execute("PRAGMA user_version").fetchone()
                rows = connection.execute(question).fetchall() if version == MANIFEST_VERSION else []
        except sqlite3.Error:
            return None
        # Every archive has an id, and home to its copies: no rows are trouble too.
        return [row[:-1] for row in rows] if rows and all(map(is_whole, rows)) else None

    def newest(self, homes: Collection[str] | None = None) -> dict[str, Version]:
        """The newest version of every path, of some homes or of all."""
        return self._asked(lambda manifest: manifest.newest(homes)) if self.exists() else {}

    def versions(self, path: str) -> list[Version]:
        """The versions of a path, the oldest first."""
        return self._asked(lambda manifest: manifest.versions(path)) if self.exists() else []

    def all_versions(self) -> list[Version]:
        """All versions of all paths, the oldest first."""
        return self._asked(lambda manifest: manifest.all_versions()) if self.exists() else []

    def content(self, version: Version) -> bytes:
        """What a version holds, compared with its digest. Raises DamagedCopyError."""
        places = self._places(version)
        while True:
            try:
                return b"".join(self._pieces(version, places))
            except DamagedCopyError:
                before, places = places, self._places(version)
                if places == before:
                    raise
                # It has grown while it was read, or its packs were written anew: it lies elsewhere now.

    def part(self, version: Version, start: int, end: int) -> bytes:
        """The bytes of a version between two places. Raises DamagedCopyError."""
        from geminids.storage.archive.reader import part

        return part(self.folder, version, self._places(version), self._place, range(start, end))

    def pieces(self, version: Version) -> Iterator[bytes]:
        """The same piece by piece; they count for nothing until the last one came without an error."""
        return self._pieces(version, self._places(version))

    def packed(self, version: Version) -> Iterator[bytes]:
        """The same as frames of zstd, which one after another are a file that `zstd -d` reads."""
        from geminids.storage.archive.reader import packed_pieces

        return packed_pieces(self.folder, version, self._places(version), self._place)

    def _places(self, version: Version) -> Sequence[SegmentAddress] | None:
        if not self.exists():
            return None
        places = self._asked(lambda manifest: manifest.places(version))
        if places is None and not self._is_checked:
            # It may only be that the list does not find a row of its own: all of it is looked at, once.
            self._is_checked = True
            self._mend("it does not know where a copy lies")
            places = self._asked(lambda manifest: manifest.places(version))
        return places

    def _place(self, segment: Segment) -> SegmentAddress | None:
        return self._asked(lambda manifest: manifest.place(segment))

    def _pieces(self, version: Version, places: Sequence[SegmentAddress] | None) -> Iterator[bytes]:
        from geminids.storage.archive.reader import pieces

        return pieces(self.folder, version, places, self._place)

    def homes(self) -> list[KeptHome]:
        """The folders of agents of which there are copies."""
        return self._asked(lambda manifest: manifest.homes()) if self.exists() else []

    def folders(self) -> list[tuple[str, str, bool]]:
        """The same in little, and at once: agent, folder, whether all of its copies came from elsewhere."""
        if not self.exists():
            return []
        rows = self._at_once("SELECT agent, home, is_imported, sum FROM homes")
        if rows is None:
            return self._asked(lambda manifest: manifest.folders())
        return [(agent, os.fsdecode(home), bool(is_imported)) for agent, home, is_imported in rows]

    def totals(self) -> Totals:
        """How much there is."""
        return self._asked(lambda manifest: manifest.totals()) if self.exists() else Totals(0, 0, 0, 0, 0, 0)

    def writing(
        self, patience: float = PATIENCE, tell: Callable[[str], None] | None = None
    ) -> AbstractContextManager[Writer]:
        """A while in which copies can be kept; no other process keeps any. Raises BusyArchiveError.

        All of it is durable when it ends. Whom we wait for is told once. What it gives may only be used in
        the thread that began it; this archive may meanwhile be read in another one.
        """
        from geminids.storage.archive.exclusive import writing

        return writing(self.folder, self.said, patience, tell)

    def close(self) -> None:
        """Let go of all files. What is asked later opens them again."""
        if self._manifest is not None:
            self._manifest.close()
            self._manifest = None

    def _asked(self, question: Callable[[Manifest], Answer]) -> Answer:
        from geminids.storage.archive.manifest import naming_damage
        from geminids.storage.archive.manifest_rows import DamagedManifestError

        try:
            with naming_damage(self.folder):
                return question(self._opened())
        except DamagedManifestError as error:
            manifest = self._mend(str(error))
        with naming_damage(self.folder):
            return question(manifest)

    def _mend(self, reason: str) -> Manifest:
        """The manifest, made anew if anything is wrong with it."""
        from geminids.storage.archive.rebuild import mended

        self.close()
        self._manifest = mended(self.folder, reason, self.said)
        return self._manifest

    def _opened(self) -> Manifest:
        from geminids.storage.archive.manifest import open_manifest

        if self._manifest is not None and not self._manifest.is_current():
            self.close()
        if self._manifest is None:
            self._manifest = open_manifest(self.folder)
        return self._manifest
