"""Homes of agents below a folder, and what is read of them together: what engines divide among themselves.

A place is a folder on a disk or in object storage that holds homes of users, one or many, each with the
folders that agents have in it:

    place/.agent           the home of one user, with the folder of one agent
    place/laptop/.agent    one of many; `laptop` is the machine

A *piece* is a part of the work of about equal size. Files that belong to one session stand in one bundle, and
a bundle is never divided. What lies beside the sessions of a project (saved chats, logs of what was typed) is
tied to all of them, so it is read where they are; where a project is larger than a piece, its sessions are
read once more for that, and told once.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from geminids.core import agents
from geminids.core.agents.base import Bundle, Companions, Home, Reading
from geminids.core.agents.traces import Trace, trace
from geminids.core.disk import Disk, Entry
from geminids.core.model import CompanionKind, Problem, ProblemKind
from geminids.reading.bundles import LISTED, Shelf, read_beside, read_bundle, shelves
from geminids.scale.places.disks import Place

BYTES = 32_000_000
"""Of session files in a piece."""
_LEAST = 32_000
"""So many bytes take as long to read as it takes to begin with a bundle."""
_DEEPEST = 8
"""Folders between a place and a home."""
BESIDE_LIMIT = 8_000_000
"""So many bytes beside the sessions of a project are read."""


class Wanted(NamedTuple):
    """What is to be read at all, as far as that can be told before reading."""

    agents: Collection[str] | None = None
    since_ns: int | None = None
    """Files that were not written since then hold nothing that happened later."""
    until_ns: int | None = None
    """Of those that were written until then only: what streams takes in what is new."""


EVERYTHING = Wanted()


class Part(NamedTuple):
    """Some bundles of a project, and what lies beside its sessions."""

    bundles: Sequence[Bundle] = ()
    beside: Companions | None = None
    tied: Sequence[Bundle] = ()
    """Bundles that are read for what lies beside them, and told elsewhere."""


class Piece(NamedTuple):
    """What one process reads at once."""

    machine: str
    parts: Sequence[Part] = ()
    agent: str = ""
    problems: Sequence[Problem] = ()
    """What stood in the way of finding files at all."""


def pieces_of(
    place: Place, wanted: Wanted = EVERYTHING, most: int = BYTES, machine: str | None = None
) -> Iterator[Piece]:
    """All that is in a place, in pieces of about so many bytes."""
    if place.homes is None:
        yield from pieces(place.disk, place.root, wanted, most, machine)
        return
    homes = [
        Home(agent, folder, "given", place.disk)
        for agent, folder in place.homes
        if wanted.agents is None or agent in wanted.agents
    ]
    yield from _pieces_of(machine or place.machine or "unknown", homes, wanted, most)


def pieces(
    disk: Disk, root: str, wanted: Wanted = EVERYTHING, most: int = BYTES, machine: str | None = None
) -> Iterator[Piece]:
    """All that is below a folder, in pieces of about so many bytes.

    Without a machine, folders of homes below the root say which machine they are of.
    """
    by_machine: dict[str, list[Home]] = {}
    problems: list[Problem] = []
    for owner, home in homes_below(disk, root, wanted.agents, problems):
        by_machine.setdefault(machine or owner, []).append(home)
    if problems:
        yield Piece(machine or _machine_of(Path(root)), (), "unknown", tuple(problems))
    for name, homes in sorted(by_machine.items()):
        yield from _pieces_of(name, homes, wanted, most)


def homes_below(
    disk: Disk, root: str, wanted: Collection[str] | None = None, problems: list[Problem] | None = None
) -> Iterator[tuple[str, Home]]:
    """The homes below a folder, each with the machine that it is of; folders that are closed are problems."""
    names = {
        name: source.name
        for source in agents.every()
        if wanted is None or source.name in wanted
        for name in source.projects().data_folders
    }
    place = Path(root)
    if place.name in names:
        yield _machine_of(place.parent), Home(names[place.name], root, "given", disk)
        return
    for folder, agent in _found(disk, root, names, _DEEPEST, [] if problems is None else problems):
        owner = Path(folder).parent.relative_to(place)
        yield str(owner) if owner.parts else _machine_of(place), Home(agent, folder, "given", disk)


def _machine_of(folder: Path) -> str:
    """What a machine is called whose homes lie right in a folder."""
    return folder.name or "root"


def readings(piece: Piece) -> Iterator[tuple[str, Reading]]:
    """What a piece holds, bundle by bundle, each with its agent; memory never holds more than one."""
    if piece.problems:
        yield piece.agent, Reading((), (), tuple(piece.problems))
    for part in piece.parts:
        yield from _readings_of(part)


def _found(
    disk: Disk, folder: str, names: dict[str, str], depth: int, problems: list[Problem]
) -> Iterator[tuple[str, str]]:
    """The folders of agents below a folder."""
    for entry in _folders(disk, folder, problems):
        if entry.name in names:
            yield entry.path, names[entry.name]
        elif depth:
            yield from _found(disk, entry.path, names, depth - 1, problems)


def _folders(disk: Disk, folder: str, problems: list[Problem]) -> Sequence[Entry]:
    try:
        return [entry for entry in disk.entries(folder) if entry.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        # Somebody removed it meanwhile.
        return ()
    except OSError as error:
        problems.append(Problem(folder, ProblemKind.UNREADABLE, error.strerror or str(error)))
        return ()


def _pieces_of(machine: str, homes: Sequence[Home], wanted: Wanted, most: int) -> Iterator[Piece]:
    scans = [agents.load(home.agent).scan(home) for home in homes]
    for home, scan in zip(homes, scans, strict=True):
        if scan.problems:
            yield Piece(machine, (), home.agent, scan.problems)
    gathered: list[Part] = []
    room = most
    for part in (part for shelf in shelves(scans) for part in _parts(shelf, wanted, most)):
        weight = _weight(part)
        if gathered and weight > room:
            yield Piece(machine, tuple(gathered))
            gathered, room = [], most
        gathered.append(part)
        room -= weight
    if gathered:
        yield Piece(machine, tuple(gathered))


def _parts(shelf: Shelf, wanted: Wanted, most: int) -> Iterator[Part]:
    """A project in parts: whole, if it is not larger than a piece."""
    told = [bundle for bundle in shelf.bundles if _is_wanted(bundle, wanted)]
    beside = shelf.companions if _is_listed(shelf.companions, wanted) else None
    rest = [bundle for bundle in shelf.bundles if bundle not in told] if beside else []
    if sum(map(_weight_of, (*told, *rest))) <= most:
        if told or beside:
            yield Part(tuple(told), beside, tuple(rest))
        return
    gathered: list[Bundle] = []
    room = most
    for bundle in told:
        weight = _weight_of(bundle)
        if gathered and weight > room:
            yield Part(tuple(gathered))
            gathered, room = [], most
        gathered.append(bundle)
        room -= weight
    if gathered:
        yield Part(tuple(gathered))
    if beside:
        yield Part((), beside, shelf.bundles)


def _is_wanted(bundle: Bundle, wanted: Wanted) -> bool:
    newest = max(file.mtime_ns for file in bundle.files)
    return _is_in_time(newest, wanted)


def _is_listed(companions: Companions, wanted: Wanted) -> bool:
    """Whether anything lies beside the sessions that is listed among them, and was written in time."""
    listed = [file.mtime_ns for file in companions.files if file.kind in LISTED]
    return bool(listed) and _is_in_time(max(listed), wanted)


def _is_in_time(newest: int, wanted: Wanted) -> bool:
    return (wanted.since_ns is None or newest >= wanted.since_ns) and (
        wanted.until_ns is None or newest < wanted.until_ns
    )


def _weight(part: Part) -> int:
    return sum(map(_weight_of, (*part.bundles, *part.tied)))


def _weight_of(bundle: Bundle) -> int:
    return max(sum(file.size for file in bundle.files), _LEAST)


def _readings_of(part: Part) -> Iterator[tuple[str, Reading]]:
    kinds = {file.kind for file in part.beside.files} if part.beside else set()
    # Only what is listed among the sessions is compared with them, and only saved chats hold replies.
    traced = partial(trace, replies=CompanionKind.SAVED_CHAT in kinds) if part.beside else None
    traces: list[Trace] = []
    for bundle in part.bundles:
        yield bundle.agent, _read(bundle, traced, traces)
    if part.beside is not None:
        for bundle in part.tied:
            _read(bundle, traced, traces)
        yield part.beside.agent, read_beside(part.beside, traces, BESIDE_LIMIT)


def _read(bundle: Bundle, traced: Callable[..., Trace] | None, traces: list[Trace]) -> Reading:
    reading = read_bundle(bundle)
    if traced is not None:
        traces.extend(map(traced, reading.sessions))
    return reading
