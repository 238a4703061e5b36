"""Bundles as the index keeps them: where their files lie, and what these looked like when they were read."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from geminids.core.agents.base import Bundle, CompanionFile, FoundFile
from geminids.core.disk import Disk
from geminids.core.model import Project
from geminids.storage.codec.packed import packed, unpacked


class _File(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file of a session, its path as text."""

    path: str
    size: int
    mtime_ns: int
    inode: int


class _Bundle(msgspec.Struct, frozen=True, array_like=True):
    """All of a bundle but the disk, which is not the same for everybody who opens it."""

    agent: str
    key: str
    project: Project
    folders: tuple[str, ...]
    files: tuple[_File, ...]
    beside: tuple[CompanionFile, ...]
    title: str | None
    logs: tuple[CompanionFile, ...]


def packed_bundle(bundle: Bundle) -> bytes:
    """A bundle as the index keeps it."""
    folders = tuple(map(str, bundle.folders))
    files = tuple(_File(str(file.path), file.size, file.mtime_ns, file.inode) for file in bundle.files)
    return packed(
        _Bundle(
            bundle.agent, bundle.key, bundle.project, folders, files, bundle.beside, bundle.title, bundle.logs
        )
    )


def unpacked_bundle(kept: bytes, disk: Disk) -> Bundle | None:
    """The bundle that was packed; None if it is another one on this disk by now. Raises DamagedValueError.

    What was typed is noted in the logs of a project for all its sessions: these may have grown.
    """
    known = unpacked(kept, _Bundle)
    files = tuple(FoundFile(Path(file.path), file.size, file.mtime_ns, file.inode) for file in known.files)
    try:
        if any(FoundFile.at(file.path, disk) != file for file in files):
            return None
        if _as_they_are(known.beside, disk) != known.beside:
            return None
        logs = _as_they_are(known.logs, disk)
    except OSError:
        return None
    of, folders = known, tuple(map(Path, known.folders))
    return Bundle(of.agent, of.key, of.project, folders, files, of.beside, of.title, disk, logs)


def _as_they_are(companions: Iterable[CompanionFile], disk: Disk) -> tuple[CompanionFile, ...]:
    found = ((companion, disk.facts(companion.path)) for companion in companions)
    return tuple(
        msgspec.structs.replace(one, size=facts.st_size, mtime_ns=facts.st_mtime_ns, inode=facts.st_ino)
        for one, facts in found
    )
