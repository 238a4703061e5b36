"""Reading the rollouts of a bundle, or one file given by hand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from geminids.agents.codex.homes import AGENT
from geminids.agents.codex.read.ancestry import Rollout
from geminids.agents.codex.read.log import read_log
from geminids.agents.codex.read.records import RolloutLog
from geminids.agents.codex.read.rollout_text import unpacked_size
from geminids.agents.codex.read.rollouts import rollout_name
from geminids.agents.codex.read.sessions import session_of
from geminids.core.agents.base import Bundle, FoundFile, Reading
from geminids.core.disk import GIVEN, Disk
from geminids.core.model import FileAccount, Problem, Project, Tally
from geminids.reading.file_log import given_file, reading_of, refused

_COPY = "another copy of a rollout that was read"


def read(bundle: Bundle, *, alone: bool = False) -> Reading:
    """The session of a thread, and where every byte of its rollouts went."""
    rollouts: list[Rollout] = []
    accounts: list[FileAccount] = []
    problems: list[Problem] = []
    for same in _copies_together(bundle.files):
        log = _whole_copy(same, accounts, problems, bundle.disk)
        if log is not None:
            accounts.append(log.account())
            problems += log.problems
            rollouts.append(Rollout.of(log))
    rollouts.sort(key=_order)
    session = session_of(bundle, rollouts, problems, alone=alone) if rollouts else None
    found = () if session is None else (session,)
    return reading_of(found, accounts, problems)


def _copies_together(files: Iterable[FoundFile]) -> list[list[FoundFile]]:
    """The files of each rollout, the one that counts first: what is plain, then what is longest."""
    together: dict[str, list[FoundFile]] = {}
    for file in files:
        said = rollout_name(file.path.name)
        together.setdefault(said.rollout if said else str(file.path), []).append(file)
    return [sorted(same, key=_rank) for same in together.values()]


def _rank(file: FoundFile) -> tuple[bool, int, Path]:
    said = rollout_name(file.path.name)
    return said is not None and said.is_packed, -file.size, file.path


def _whole_copy(
    files: Sequence[FoundFile], accounts: list[FileAccount], problems: list[Problem], disk: Disk
) -> RolloutLog | None:
    """Return the log of the first readable file; of copies that are as long, the one with fewest problems."""
    found: RolloutLog | None = None
    size = 0
    for file in files:
        if found is not None and (not found.problems or file.size != size):
            accounts.append(_left_alone(file, disk))
            continue
        try:
            log = read_log(file.path, disk)
        except OSError as error:
            account, problem = refused(file, error)
            accounts.append(account)
            problems.append(problem)
            continue
        if found is None:
            found, size = log, file.size
        elif len(log.problems) < len(found.problems):
            accounts.append(_left_alone(_file_of(found, files), disk))
            found = log
        else:
            accounts.append(_left_alone(file, disk))
    return found


def _file_of(log: RolloutLog, files: Sequence[FoundFile]) -> FoundFile:
    return next(file for file in files if str(file.path) == log.path)


def _left_alone(file: FoundFile, disk: Disk) -> FileAccount:
    inside = unpacked_size(file.path, disk)
    size = file.size if inside is None else inside
    return FileAccount(str(file.path), "unknown", "unknown", size, {}, {_COPY: Tally(1, size)}, {}, {})


def _order(rollout: Rollout) -> tuple[str, str, str]:
    """When a rollout was begun: by its first record, then by its name, whose ids grow with time."""
    return (
        str(rollout.meta.get("timestamp") or ""),
        str(rollout.first.time if rollout.first else ""),
        rollout.id,
    )


def read_alone(path: Path) -> Reading | None:
    """The session in one file given by hand; None if it is none of Codex's."""
    log = read_log(path, GIVEN)
    if not log.is_rollout:
        return None
    files, project = (given_file(path),), Project(None, None, None, None)
    return read(Bundle(AGENT, path.stem, project, (path.parent,), files, disk=GIVEN), alone=True)
