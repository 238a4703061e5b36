"""A bundle on its way from the agent's files into the index: read once, and made into rows.

All of it depends on nothing but the bundle, so any process can do it (`workers.py`); what needs the index is
done by whoever writes (`intake.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from geminids.core import agents
from geminids.core.agents.base import Bundle, CompanionFile, FoundFile, Reading
from geminids.core.hashes import blake2b
from geminids.core.model import ProblemKind, Project
from geminids.reading.bundles import read_bundle
from geminids.storage.codec.packed import problem_rows
from geminids.storage.codec.rows import fate_rows, session_rows
from geminids.storage.index.values import ProblemRow
from geminids.storage.index.writer import FateFacts, SessionRows
from geminids.sync.forgotten_filter import Graves

_LEAST = 32_000
"""So many bytes take as long to read as it takes to begin with a bundle."""


class Task(NamedTuple):
    """A bundle to be read."""

    bundle: Bundle
    traced: int
    """How much of its sessions is noted for what lies beside them."""
    everything: bool
    """Whether every word of outputs is indexed."""


class Look(NamedTuple):
    """What a bundle looked like before it was read."""

    stamp: bytes
    mark: str | None
    """What its logs say of it, in little; None if they are closed."""


class BundleRows(NamedTuple):
    """What a bundle holds."""

    look: Look
    sessions: Sequence[SessionRows]
    problems: Sequence[ProblemRow]
    fates: Sequence[FateFacts]
    refused: set[str]
    """The files that we were not allowed to read."""
    lacks_a_header: bool
    """Whether a file did not say whose session it is: then what lies beside it may."""
    projects: Sequence[Project]
    withheld: set[str]
    """Files that hold nothing but what the user has forgotten."""


def bundle_rows(task: Task, graves: Graves) -> BundleRows:
    """Read a bundle, but for what the user has forgotten."""
    # First: if it changes while it is read, it is read again the next time.
    look = look_of(task.bundle, task.traced)
    reading, withheld = graves.without_forgotten(read_bundle(task.bundle, with_fates=True), task.bundle)
    return BundleRows(
        look,
        [session_rows(session, task.traced, everything=task.everything) for session in reading.sessions],
        problem_rows(reading.problems),
        fate_rows(reading.fates),
        refused_files(reading),
        any(problem.kind is ProblemKind.NO_HEADER for problem in reading.problems),
        list(dict.fromkeys(session.project for session in reading.sessions)),
        withheld,
    )


def look_of(bundle: Bundle, traced: int) -> Look:
    """What a bundle looks like, of which so much is noted for what lies beside."""
    mark = agents.load(bundle.agent).companions().typed_mark(bundle) if bundle.logs else ""
    return Look(_stamp(bundle, traced), mark)


def weight(bundle: Bundle) -> int:
    """How much work it is to read a bundle, in bytes."""
    return max(sum(file.size for file in bundle.files), _LEAST)


def refused_files(reading: Reading) -> set[str]:
    """The files that we were not allowed to read."""
    return {problem.file for problem in reading.problems if problem.is_unreadable}


def digest(facts: Iterable[str]) -> bytes:
    """What stands for facts in a stamp."""
    return blake2b("\0".join(facts).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def fact(file: FoundFile | CompanionFile) -> str:
    """A file as it is now, for a stamp."""
    return f"{file.path} {file.size} {file.mtime_ns} {file.inode}"


def _stamp(bundle: Bundle, traced: int) -> bytes:
    files = [*map(fact, bundle.files), *map(fact, bundle.beside)]
    facts = [str(traced), repr(bundle.project), bundle.title or ""]
    return digest([*facts, *map(str, bundle.folders), *files])
