"""What the index knows of, in parts by agent and month: what tables are written of, and written anew.

A part is told by a digest of all that it is made of: where that is the same, nothing of it need be opened.
Much of a month is divided further, in the order of time. Where one part ends and the next begins is settled
by the names of what is read, so that a session that is new, or grew, changes the part it is in and no other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from geminids.core.agents.base import Bundle, Companions, Home
from geminids.core.hashes import blake2b
from geminids.core.model import Problem, Project
from geminids.query.projects.known_projects import identity_of
from geminids.query.sessions.companion_readings import CompanionReadings
from geminids.query.sessions.session_reader import SessionReader
from geminids.storage.codec.known_bundles import unpacked_bundle
from geminids.storage.codec.packed import problem_of
from geminids.storage.index.bundles import (
    BundleFacts,
    Known,
    ToldOfSession,
    bundle_facts,
    numbered_place,
    packed_bundle_of,
    told_of_sessions,
)
from geminids.storage.index.database import Index
from geminids.storage.index.reader import problems_of_bundle, problems_of_finding
from geminids.storage.index.schema import BESIDE

UNKNOWN_MONTH = "unknown"
USUAL_PART = 256
"""Sessions in a part, where there are more in a month: enough for engines, and soon written anew."""
LARGEST_PART = 128_000_000
"""Bytes of session files in a part: where large ones meet, it ends sooner."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Part(NamedTuple):
    """All that the sessions of an agent in a month are read from."""

    agent: str
    month: str
    group: str
    """Which of several of a month; empty for the first one."""
    digest: str
    """Another one as soon as anything in it is."""
    sessions: int
    bundles: Sequence[BundleFacts]
    """Those first whose sessions began first."""
    problems: Sequence[Problem]
    """What stood in the way of finding files at all, and of reading what gave no session."""

    @property
    def name(self) -> str:
        """What it is called."""
        return "/".join(filter(None, (self.agent, self.month, self.group)))

    @property
    def has_files(self) -> bool:
        """Whether files are read for it that may hold sessions, or something wrong."""
        return any(bundle.key != BESIDE for bundle in self.bundles)


class FoundBundle(NamedTuple):
    """A bundle, and which of its sessions are told: others are forgotten."""

    bundle: Bundle
    ids: frozenset[str]


class FoundBeside(NamedTuple):
    """What lies beside the sessions of a project, with what ties it to them."""

    companions: Companions
    traces: Sequence[bytes]
    ids: frozenset[str]


class Missing(NamedTuple):
    """A bundle that is not where the index knows it: it is gone, or has changed this moment."""

    key: str
    ids: frozenset[str]


Found = FoundBundle | FoundBeside | Missing


class Parts:
    """All that an index knows of, by agent and month."""

    def __init__(
        self, index: Index, homes: Sequence[Home], is_left_out: Callable[[str], bool] | None = None
    ) -> None:
        self._index = index
        self._homes = homes
        self._told: defaultdict[int, list[ToldOfSession]] = defaultdict(list)
        for session in told_of_sessions(index):
            if is_left_out is None or not is_left_out(session.sid):
                self._told[session.bundle].append(session)
        recorded, identity = identity_of(index)
        self._names = {number: _name(identity.get(told, told)) for number, told in recorded.items()}
        self.projects: Mapping[Project, str] = {recorded[n]: name for n, name in self._names.items()}
        """The best name that is known of each project that sessions tell of."""
        self._finding = list(map(problem_of, problems_of_finding(index)))

    @property
    def complete(self) -> bool:
        """Whether every folder could be looked into; else nothing is gone for certain."""
        return not any(problem.is_unreadable for problem in self._finding)

    def every(self) -> list[Part]:
        """All of them, in the order of time."""
        gathered: defaultdict[tuple[str, str], list[tuple[int, BundleFacts]]] = defaultdict(list)
        for bundle in bundle_facts(self._index):
            began = min(
                (one.began for one in self._told[bundle.number] if one.began is not None), default=None
            )
            gathered[_month(began), bundle.agent].append((began or 0, bundle))
        problems = self._problems_by_agent()
        for agent in problems:
            gathered.setdefault((UNKNOWN_MONTH, agent), [])
        parts = (
            self._part(agent, month, group, problems.get(agent, ()) if month == UNKNOWN_MONTH else ())
            for (month, agent), found in sorted(gathered.items())
            for group in _groups([bundle for _, bundle in sorted(found, key=lambda one: one[0])])
        )
        return [part for part in parts if part.sessions or part.problems or part.has_files]

    def found(self, part: Part) -> Iterator[Found]:
        """What a part is read from, as it lies on the disk."""
        for bundle in part.bundles:
            ids = frozenset(one.sid for one in self._told[bundle.number])
            if bundle.key != BESIDE:
                there = self._bundle(bundle)
                yield FoundBundle(there, ids) if there else Missing(bundle.key, ids)
            elif ids:
                beside = self._companions.found(bundle.shelf)
                traces = list(Known.traces(self._index, bundle.shelf))
                yield FoundBeside(beside, traces, ids) if beside else Missing(bundle.project, ids)

    def _part(
        self,
        agent: str,
        month: str,
        bundles: _Group,
        problems: Sequence[Problem],
    ) -> Part:
        ordered = bundles.bundles
        problems = [
            *(() if bundles.name else problems),
            *(problem for bundle in ordered for problem in self._beside(bundle)),
        ]
        facts = [fact for bundle in ordered for fact in self._facts(bundle)]
        digest = blake2b(
            "\0".join([*facts, *map(repr, problems)]).encode("utf-8", "surrogatepass"), digest_size=16
        )
        sessions = sum(len(self._told[bundle.number]) for bundle in ordered)
        return Part(agent, month, bundles.name, digest.hexdigest(), sessions, ordered, problems)

    def _facts(self, bundle: BundleFacts) -> Iterator[str]:
        yield from (bundle.project, bundle.key, bundle.stamp.hex())
        for session in self._told[bundle.number]:
            yield from (session.sid, self._names[session.project])

    def _beside(self, bundle: BundleFacts) -> list[Problem]:
        """What was found wrong beside sessions where nothing is read again, since it gave no session."""
        if bundle.key != BESIDE or self._told[bundle.number]:
            return []
        return list(map(problem_of, problems_of_bundle(self._index, bundle.number)))

    def _bundle(self, bundle: BundleFacts) -> Bundle | None:
        disk = next((home.disk for home in self._homes if home.agent == bundle.agent), None)
        found = packed_bundle_of(self._index, bundle.number)
        known = unpacked_bundle(found, disk) if disk and found else None
        told = self._told[bundle.number]
        if known is not None or not told:
            return known
        place = numbered_place(self._index, told[0].number)
        return self._reader.bundle(place) if place else None

    def _problems_by_agent(self) -> dict[str, list[Problem]]:
        gathered: defaultdict[str, list[Problem]] = defaultdict(list)
        for problem in self._finding:
            holding = (home.agent for home in self._homes if problem.file.startswith(home.folder))
            gathered[next(holding, "unknown")].append(problem)
        return dict(gathered)

    @cached_property
    def _reader(self) -> SessionReader:
        return SessionReader(self._index, self._homes, with_outputs=False)

    @cached_property
    def _companions(self) -> CompanionReadings:
        # None of them is read here: where they lie is what is asked for.
        return CompanionReadings(self._index, self._homes, 0)


class _Group(NamedTuple):
    """Some bundles of a month that follow one another."""

    name: str
    bundles: Sequence[BundleFacts]


def _groups(bundles: Sequence[BundleFacts]) -> Iterator[_Group]:
    """The bundles of a month in groups, each called after its first bundle; at least one."""
    gathered: list[BundleFacts] = []
    name, size = "", 0
    is_divided = len(bundles) > USUAL_PART
    for bundle in bundles:
        mark = _digest(bundle.project, bundle.key)
        is_first = is_divided and int(mark, 16) % USUAL_PART == 0
        if gathered and (is_first or size + bundle.size > LARGEST_PART):
            yield _Group(name, gathered)
            gathered, name, size = [], mark, 0
        gathered.append(bundle)
        size += bundle.size
    yield _Group(name, gathered)


def _digest(*texts: str) -> str:
    return blake2b("\0".join(texts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _month(began: int | None) -> str:
    """The month of a moment, as the index stores it."""
    return UNKNOWN_MONTH if began is None else f"{_EPOCH + timedelta(microseconds=began):%Y-%m}"


def _name(project: Project) -> str:
    return project.path or project.hash or project.slug or ""
