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

from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from geminids.core import agents
from geminids.core.agents.base import Bundle, CompanionFile, Companions, FoundFile, Home, Reading, Scan
from geminids.core.agents.traces import Trace, trace
from geminids.core.disk import Disk, Entry
from geminids.core.grouping import grouped
from geminids.core.model import CompanionKind, Problem, ProblemKind, Project
from geminids.reading.bundles import LISTED, Shelf, project_key, read_beside, read_bundle, shelves
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
    """What is to be read at all, as far as that can be told before reading. None is everything."""

    agents: Container[str] | None = None
    machines: Container[str] | None = None
    projects: Container[str] | None = None
    """By their names; those of which the name is not certain are read."""
    since_ns: int | None = None
    """Files that were not written since then hold nothing that happened later."""
    units: Container[str] | None = None
    """The names of units: who takes in what is new names those."""


EVERYTHING = Wanted()


class Part(NamedTuple):
    """Some bundles of a project, and what lies beside its sessions."""

    bundles: Sequence[Bundle] = ()
    beside: Companions | None = None
    tied: Sequence[Bundle] = ()
    """Bundles that are read for what lies beside them, and told elsewhere."""


class Unit(NamedTuple):
    """The least that is read by itself: a bundle, what lies beside a project, or something in the way."""

    name: str
    """The same as long as it is there."""
    stamp: str
    """Another one as soon as there is anything new in it."""


class Piece(NamedTuple):
    """What one process reads at once."""

    machine: str
    parts: Sequence[Part] = ()
    agent: str = ""
    problems: Sequence[Problem] = ()
    """What stood in the way of finding files at all."""

    @property
    def weight(self) -> int:
        """How much work it is, in bytes."""
        return sum(map(_weight, self.parts))


def pieces_of(
    place: Place, wanted: Wanted = EVERYTHING, most: int = BYTES, machine: str | None = None
) -> Iterator[Piece]:
    """All that is in a place, in pieces of about so many bytes.

    Without a machine, folders of homes below the root say which machine they are of.
    """
    for listed in _machines(place, wanted, machine):
        yield from _pieces_of(listed, wanted, most)


def pieces(
    disk: Disk, root: str, wanted: Wanted = EVERYTHING, most: int = BYTES, machine: str | None = None
) -> Iterator[Piece]:
    """The same of all that is below a folder."""
    yield from pieces_of(Place(disk, root), wanted, most, machine)


def units_of(place: Place, wanted: Wanted = EVERYTHING, machine: str | None = None) -> Iterator[Unit]:
    """All that is in a place, as it is told apart from what was there before."""
    for listed in _machines(place, wanted, machine):
        yield from listed.units()


def _machines(place: Place, wanted: Wanted, machine: str | None) -> Iterator[_Listed]:
    """What lies in a place, by machines: memory holds the files of one."""
    by_machine: dict[str, list[Home]] = {}
    problems: list[Problem] = []
    for owner, home in _homes_in(place, wanted.agents, problems):
        by_machine.setdefault(machine or place.machine or owner, []).append(home)
    if problems:
        yield _Listed(machine or _machine_of(Path(place.root)), (), problems)
    for name, homes in sorted(by_machine.items()):
        if wanted.machines is None or name in wanted.machines:
            yield _Listed(name, homes)


def _homes_in(
    place: Place, wanted: Container[str] | None, problems: list[Problem]
) -> Iterator[tuple[str, Home]]:
    if place.homes is None:
        yield from homes_below(place.disk, place.root, wanted, problems)
        return
    for agent, folder in place.homes:
        if wanted is None or agent in wanted:
            yield "unknown", Home(agent, folder, "given", place.disk)


def homes_below(
    disk: Disk, root: str, wanted: Container[str] | None = None, problems: list[Problem] | None = None
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


def look_again(piece: Piece) -> None:
    """Forget what was known of the folders of a piece: others may have written since it was planned."""
    for part in piece.parts:
        for bundle in (*part.bundles, *part.tied):
            bundle.disk.look_again()
        if part.beside:
            part.beside.disk.look_again()


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


class _Listed:
    """The files of one machine."""

    def __init__(self, machine: str, homes: Sequence[Home], problems: Sequence[Problem] = ()) -> None:
        scans = list(map(_scanned, homes))
        self.machine = machine
        self.problems = [("unknown", problems)]
        self.problems += [(home.agent, scan.problems) for home, scan in zip(homes, scans, strict=True)]
        self.shelves = shelves(scans)

    def units(self) -> Iterator[Unit]:
        """All of them."""
        for _, problems in self.problems:
            for problem in problems:
                yield Unit(self.name_of(problem), problem.detail)
        for shelf in self.shelves:
            for bundle in shelf.bundles:
                yield Unit(self.name_of(bundle), _stamp(bundle))
            if _lying_beside(shelf.companions):
                yield Unit(self.name_of(shelf.companions), _stamp(shelf.companions))

    def name_of(self, of: Bundle | Companions | Problem) -> str:
        """What a unit is called."""
        match of:
            case Bundle():
                facts = ["bundle", of.agent, project_key(of), of.key]
            case Companions():
                facts = ["beside", of.agent, project_key(of)]
            case Problem():
                facts = ["problem", of.file, of.kind]
        return _digest([self.machine, *facts])

    def is_wanted(self, of: Bundle | Companions | Problem, wanted: Wanted) -> bool:
        """Whether somebody wants what is new in it, or all."""
        return wanted.units is None or self.name_of(of) in wanted.units


def _stamp(of: Bundle | Companions) -> str:
    """What is different as soon as one of its files is, or what is known of it beside them."""
    if isinstance(of, Companions):
        return _digest(map(_fact, _lying_beside(of)))
    return _digest([repr(of.project), of.title or "", *map(_fact, of.files), *map(_fact, of.beside)])


def _fact(file: FoundFile | CompanionFile) -> str:
    # Where storage is mounted anew, inodes are others.
    return f"{file.path} {file.size} {file.mtime_ns}"


def _digest(facts: Iterable[str]) -> str:
    return blake2b("\0".join(facts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _pieces_of(listed: _Listed, wanted: Wanted, most: int) -> Iterator[Piece]:
    for agent, problems in listed.problems:
        if told := [problem for problem in problems if listed.is_wanted(problem, wanted)]:
            yield Piece(listed.machine, (), agent, told)
    parts = (part for shelf in listed.shelves for part in _parts(listed, shelf, wanted, most))
    for some in grouped(parts, _weight, most):
        yield Piece(listed.machine, some)


def _parts(listed: _Listed, shelf: Shelf, wanted: Wanted, most: int) -> Iterator[Part]:
    """A project in parts: whole, if it is not larger than a piece."""
    if not _may_be_in(shelf.companions.project, wanted.projects):
        return
    told: list[Bundle] = []
    rest: list[Bundle] = []
    for bundle in shelf.bundles:
        is_told = listed.is_wanted(bundle, wanted) and _is_in_time(bundle.files, wanted)
        (told if is_told else rest).append(bundle)
    lying = _lying_beside(shelf.companions)
    is_told = bool(lying) and listed.is_wanted(shelf.companions, wanted) and _is_in_time(lying, wanted)
    beside = shelf.companions if is_told else None
    tied = rest if beside else []
    if sum(map(_weight_of, (*told, *tied))) <= most:
        if told or beside:
            yield Part(tuple(told), beside, tuple(tied))
        return
    for some in grouped(told, _weight_of, most):
        yield Part(some)
    if beside:
        yield Part((), beside, shelf.bundles)


def _may_be_in(project: Project, wanted: Container[str] | None) -> bool:
    """Whether sessions of a project may be of one that is wanted."""
    return wanted is None or not project.certain or project.path in wanted


def _lying_beside(companions: Companions) -> Sequence[CompanionFile]:
    """What lies beside the sessions of a project and is listed among them."""
    return [file for file in companions.files if file.kind in LISTED]


def _is_in_time(files: Iterable[FoundFile | CompanionFile], wanted: Wanted) -> bool:
    return wanted.since_ns is None or max(file.mtime_ns for file in files) >= wanted.since_ns


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
        beside = partial(read_beside, part.beside, traces, BESIDE_LIMIT)
        yield part.beside.agent, _whatever_comes(beside, _lying_beside(part.beside)[0].path)


def _read(bundle: Bundle, traced: Callable[..., Trace] | None, traces: list[Trace]) -> Reading:
    reading = _whatever_comes(partial(read_bundle, bundle), str(bundle.files[0].path))
    if traced is not None:
        traces.extend(map(traced, reading.sessions))
    return reading


def _scanned(home: Home) -> Scan:
    """What a home holds, whatever comes."""
    try:
        return agents.load(home.agent).scan(home)
    except Exception as error:  # noqa: BLE001 - see `_whatever_comes`
        return Scan((), (), (), (_unexpected(home.folder, error),))


def _whatever_comes(read: Callable[[], Reading], file: str) -> Reading:
    """What is read; of thousands of machines one file must not end the work on all others."""
    try:
        return read()
    except Exception as error:  # noqa: BLE001 - readers raise nothing, so nobody knows what this is
        return Reading((), (), (_unexpected(file, error),))


def _unexpected(file: str, error: Exception) -> Problem:
    detail = f"reading it ended with {type(error).__name__}; please report this"
    return Problem(file, ProblemKind.UNREADABLE, detail)
