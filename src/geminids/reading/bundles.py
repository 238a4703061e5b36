"""Bundles of several homes: a session and its backup are one session, and are read together."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import islice
from typing import BinaryIO

import msgspec

from geminids.core import agents
from geminids.core.agents.base import Bundle, CompanionFile, Companions, FoundFile, Reading, Scan
from geminids.core.agents.traces import Trace
from geminids.core.disk import REAL, AnyPath, Disk, Entry, Facts
from geminids.core.model import Project, Session

MOST_EARLIER = 8
"""So many states of a file are looked at for a session that it no longer holds."""


class Shelf(msgspec.Struct, frozen=True):
    """All there is of one project: its sessions in bundles, and what lies beside them."""

    companions: Companions
    bundles: tuple[Bundle, ...]


def read_bundle(bundle: Bundle, *, with_fates: bool = False) -> Reading:
    """The sessions of a bundle; those that are read from kept copies are marked.

    A file that was emptied, cut or overwritten holds nothing any more. If an earlier state of it was kept
    that does, the sessions of that state are among the answer.
    """
    source = agents.load(bundle.agent)
    reading = source.read_with_fates(bundle) if with_fates else source.read(bundle)
    kept = {str(file.path) for file in bundle.files if file.is_kept}
    marked = _marked(reading, kept)
    wiped = [file for file in bundle.files if not _says_anything(marked, str(file.path))]
    for file in wiped:
        marked = _with_earlier(bundle, str(file.path), marked)
    return marked


def _says_anything(reading: Reading, path: str) -> bool:
    """Whether a session with any message was read from a file."""
    return any(
        session.messages and any(file.path == path for file in session.files) for session in reading.sessions
    )


def _with_earlier(bundle: Bundle, path: str, reading: Reading) -> Reading:
    """What was read, with the sessions that a file held in the last state that held any."""
    for content in islice(bundle.disk.earlier(path), MOST_EARLIER):
        # A copy that is damaged cannot be opened, and tells nothing; `keep verify` tells of it.
        disk = EarlierDisk(bundle.disk, {path: content})
        earlier = agents.load(bundle.agent).read(msgspec.structs.replace(bundle, disk=disk))
        if _says_anything(earlier, path):
            spoken = {session.id for session in reading.sessions if session.messages}
            back = [session for session in earlier.sessions if session.messages and session.id not in spoken]
            new = {session.id for session in back}
            staying = [s for s in reading.sessions if s.id not in new and not _is_rest_of(s, path)]
            kept = (_as_kept(session, {path}) for session in back)
            return msgspec.structs.replace(reading, sessions=(*staying, *kept))
    return reading


def _is_rest_of(session: Session, path: str) -> bool:
    """Whether a session is but what a damaged file still says of its own name."""
    return not session.messages and all(file.path == path for file in session.files)


class EarlierDisk(Disk):
    """A disk on which some files are as they once were."""

    def __init__(self, disk: Disk, contents: Mapping[str, Callable[[], BinaryIO]]) -> None:
        super().__init__(disk.largest)
        self._disk = disk
        self._contents = contents

    def entries(self, folder: AnyPath) -> Sequence[Entry]:
        """What a folder holds now."""
        return self._disk.entries(folder)

    def facts(self, path: AnyPath) -> Facts:
        """What a file looks like now."""
        return self._disk.facts(path)

    def opened(self, path: AnyPath) -> BinaryIO:
        """What was in a file then, to be read piece by piece."""
        content = self._contents.get(os.fspath(path))
        return self._disk.opened(path) if content is None else content()

    def is_there(self, path: AnyPath) -> bool:
        """Whether something is there now."""
        return self._disk.is_there(path)

    def has_copies_below(self, folder: AnyPath) -> bool:
        """Whether there are kept copies of what lay in a folder."""
        return self._disk.has_copies_below(folder)


def read_beside(companions: Companions, traces: Sequence[Trace], limit: int | None) -> Reading:
    """The sessions that lie beside those of a project; those that are read from kept copies are marked."""
    reading = agents.load(companions.agent).companions().read_beside(companions, traces, limit)
    return _marked(reading, {file.path for file in companions.files if file.is_kept})


def _marked(reading: Reading, kept: Collection[str]) -> Reading:
    if not kept:
        return reading
    return msgspec.structs.replace(reading, sessions=tuple(_as_kept(one, kept) for one in reading.sessions))


def _as_kept(session: Session, kept: Collection[str]) -> Session:
    """A session with the files marked that are gone, and itself if a part of it is known by copies alone."""
    files = tuple(
        msgspec.structs.replace(file, kept=True) if file.path in kept else file for file in session.files
    )
    return msgspec.structs.replace(session, files=files, kept=_needs_copies(session, kept))


def _needs_copies(session: Session, kept: Collection[str]) -> bool:
    """Whether a message is in no file of the session that is there.

    One that was put back under another name is in one. Logs of what was typed are none of its files: a
    session that the agent can still open is not gone with them, nor still there because they are.
    """
    own = {file.path for file in session.files}
    places = (
        {message.source.file, *(place.file for place in message.also_at)} for message in session.messages
    )
    held = [where & own for where in places if not where.isdisjoint(own)]
    gone = own.intersection(kept)
    return any(where <= gone for where in held or [own])


def shelves(scans: Sequence[Scan]) -> list[Shelf]:
    """The projects of all homes; what several homes hold of one stands together."""
    bundles = [bundle for scan in scans for bundle in scan.bundles]
    by_project: dict[tuple[str, str], list[Bundle]] = {}
    for bundle in joined(bundles) if len(scans) > 1 else bundles:
        by_project.setdefault((bundle.agent, project_key(bundle)), []).append(bundle)
    companions = [beside for scan in scans for beside in scan.companions]
    if len(scans) > 1:
        companions = joined_companions(companions)
        if any(scan.is_closed for scan in scans):
            companions = [msgspec.structs.replace(beside, complete=False) for beside in companions]
    beside_by_project = {(beside.agent, project_key(beside)): beside for beside in companions}
    return [
        Shelf(
            beside_by_project.get(key) or _nothing_beside(by_project[key][0]), tuple(by_project.get(key, ()))
        )
        for key in by_project | beside_by_project
    ]


def _nothing_beside(bundle: Bundle) -> Companions:
    return Companions(bundle.agent, bundle.project, bundle.folders, (), disk=bundle.disk)


def joined(bundles: Iterable[Bundle]) -> list[Bundle]:
    """The bundles of all homes, those of one agent, project and key as one, each file in it once."""
    together: dict[tuple[str, str, str], list[Bundle]] = {}
    for bundle in bundles:
        together.setdefault((bundle.agent, project_key(bundle), bundle.key), []).append(bundle)
    seen: set[str] = set()
    read = [_as_one(same, tuple(_unseen(same, seen))) for same in together.values()]
    return [bundle for bundle in read if bundle.files]


def joined_companions(companions: Iterable[Companions]) -> list[Companions]:
    """What lies beside the sessions of all homes, that of one agent and project as one, each file once."""
    together: dict[tuple[str, str], list[Companions]] = {}
    for beside in companions:
        together.setdefault((beside.agent, project_key(beside)), []).append(beside)
    return [_beside_as_one(same) for same in together.values()]


def _beside_as_one(companions: Sequence[Companions]) -> Companions:
    first = companions[0]
    folders = dict.fromkeys(folder for beside in companions for folder in beside.folders)
    project = reduce(better_known, (beside.project for beside in companions))
    session_files: dict[str, tuple[FoundFile, ...]] = {}
    left_alone: dict[str, str] = {}
    for beside in companions:
        for key, found in beside.session_files.items():
            session_files[key] = session_files.get(key, ()) + found
        left_alone.update(beside.left_alone)
    complete = all(beside.complete for beside in companions)
    disk = _disk_of(companions)
    files = _each_once(companions)
    return Companions(first.agent, project, tuple(folders), files, session_files, left_alone, complete, disk)


def _each_once(companions: Iterable[Companions | Bundle]) -> tuple[CompanionFile, ...]:
    found = (file for group in companions for file in _beside(group))
    return tuple(sorted({os.path.realpath(beside.path): beside for beside in found}.values()))


def _beside(group: Companions | Bundle) -> tuple[CompanionFile, ...]:
    return group.beside if isinstance(group, Bundle) else group.files


def _as_one(bundles: Sequence[Bundle], files: tuple[FoundFile, ...]) -> Bundle:
    first = bundles[0]
    folders = dict.fromkeys(folder for bundle in bundles for folder in bundle.folders)
    project = reduce(better_known, (bundle.project for bundle in bundles))
    title = next((bundle.title for bundle in bundles if bundle.title), None)
    beside = _each_once(bundles)
    held, disk = tuple(sorted(files)), _disk_of(bundles)
    logs = tuple(dict.fromkeys(log for bundle in bundles for log in bundle.logs))
    return Bundle(first.agent, first.key, project, tuple(folders), held, beside, title, disk, logs)


def _disk_of(found: Iterable[Bundle | Companions]) -> Disk:
    """How files of several homes are opened: all homes of an agent that have copies have the same."""
    return next((one.disk for one in found if one.disk is not REAL), REAL)


def better_known(one: Project, other: Project) -> Project:
    """What two places know of one project: the path by the surer way, hash and slug from either."""
    surer = one if one.path and (one.certain or not other.certain) else other
    return Project(surer.path, one.hash or other.hash, one.slug or other.slug, surer.known_by, surer.certain)


def project_key(found: Bundle | Companions) -> str:
    """What is the same for everything that lies in the folders of one project."""
    project = found.project
    return project.hash or project.path or project.slug or os.path.realpath(found.folders[0])


def _unseen(bundles: Sequence[Bundle], seen: set[str]) -> Iterator[FoundFile]:
    """The files that no path has led to yet."""
    for file in (file for bundle in bundles for file in bundle.files):
        real = os.path.realpath(file.path)
        if real not in seen:
            seen.add(real)
            yield file
