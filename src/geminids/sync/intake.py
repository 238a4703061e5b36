"""Taking into the index what changed in the agents' files: bundle by bundle, then what lies beside them.

A bundle is read again if its files are others than those it was read from. What lies beside the sessions of a
project is tied to them, so it is read again whenever one of them was. A folder counts as taken in only when
all of its project is; whatever stops this in the middle, the next time goes on from there.

The newest come first, in steps that count one by one: whoever reads meanwhile sees the newest sessions, and
how much is still to come. Within a step the older come first, and each step has smaller numbers than the one
before it. So what is newer has the larger number in the index, and FTS5, which writes out all that it has
gathered as soon as a number is smaller than the last one, is disturbed once a step.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

from geminids.core import agents
from geminids.core.agents.base import Bundle, CompanionFile, Companions, Scan
from geminids.core.model import CompanionKind, ProblemKind, Project, SessionSummary
from geminids.core.names import storable
from geminids.reading.bundles import LISTED, Shelf, project_key, read_beside, shelves
from geminids.storage.codec.known_bundles import packed_bundle
from geminids.storage.codec.packed import packed, problem_rows, project_of, project_row, unpacked
from geminids.storage.codec.rows import Traced, session_rows, traces
from geminids.storage.index.bundles import Known
from geminids.storage.index.database import Index, merge_from_now_on, merge_pieces
from geminids.storage.index.folders import GONE, folders, shelf_of
from geminids.storage.index.reader import problems_of_finding
from geminids.storage.index.schema import BESIDE
from geminids.storage.index.to_come import ToCome, note_to_come, to_come
from geminids.storage.index.writer import Writer
from geminids.sync.bundle_rows import (
    BundleRows,
    Look,
    Task,
    bundle_rows,
    digest,
    fact,
    look_of,
    refused_files,
    weight,
)
from geminids.sync.cross_session import settle
from geminids.sync.forgotten_filter import Graves
from geminids.sync.seen import Seen
from geminids.sync.values import Kept

if TYPE_CHECKING:
    from geminids.sync.kept_copies import Keeping

BESIDE_LIMIT = 8_000_000
"""So many bytes beside the sessions of a project are read; the rest is left to commands that show it."""

STEP = 128_000_000
"""Bytes of session files that count together: the full text is smaller and quicker in few large pieces."""
STEP_IN_TIME = 4_000_000
"""The same where time is short."""
MUCH = 50_000_000
"""Bytes of session files from which on it is worth while that several processes read."""
_BYTES_A_MESSAGE = 1_024
_MESSAGES_A_BUNDLE = 4
"""For how many messages numbers are left free: some times as many as there usually are."""

Progress = Callable[[int, int], None]
"""Told how many bytes of how many are read."""
ReadAll = Callable[[Iterable[Task]], Iterator[BundleRows]]
"""Reads bundles and gives their rows, in the same order."""


class TakenIn(NamedTuple):
    """What was read, and what there was no time for."""

    bundles: int = 0
    bytes: int = 0
    left: int = 0
    """Bundles that are still to be read."""
    kept: Kept = Kept()
    """What became of the copies."""


class _Job(NamedTuple):
    """A bundle to be read."""

    shelf: _OnShelf
    bundle: Bundle


class _Step(NamedTuple):
    """Bundles that come into the index together, the oldest first."""

    jobs: Sequence[_Job]
    bytes: int

    @property
    def room(self) -> int:
        """How many numbers are left free for its messages."""
        return self.bytes // _BYTES_A_MESSAGE + _MESSAGES_A_BUNDLE * len(self.jobs)


class _OnShelf:
    """A project on its way into the index."""

    def __init__(self, shelf: Shelf, number: int, known: Mapping[str, Known]) -> None:
        self.shelf = shelf
        self.number = number
        self.known = known
        self.traced = _traced(shelf.companions.files)
        self.is_settled = True
        """Whether all of it is taken in, as far as we are."""
        self._logs = _facts_of_logs(shelf.companions.files)

    def with_logs(self, stamp: bytes) -> bytes:
        """The stamp of a bundle of which a part may be known from the prompt logs beside it."""
        return digest([stamp.hex(), *self._logs])


class Taking:
    """Takes what changed into an index, inside transactions of its own."""

    def __init__(
        self,
        index: Index,
        *,
        everything: bool,
        jobs: int | None = 1,
        progress: Progress | None = None,
        until: float | None = None,
        most: int | None = None,
        commits: bool = True,
        keeping: Keeping | None = None,
        graves: Graves | None = None,
    ) -> None:
        self._index = index
        self._writer = Writer(index)
        self._everything = everything
        self._jobs_at_once = jobs
        self._progress = progress
        self._until = until
        self._most = most
        """How many bytes of the newest bundles are read; None means all."""
        self._commits = commits
        """Whether each piece is kept as it comes; a new index is kept when it is whole, or not at all."""
        self._keeping = keeping
        self._graves = graves or Graves({})
        self._to_come: ToCome | None = None

    def take_in(self, seen: Sequence[Seen], only: Collection[str] | None = None) -> TakenIn:
        """Take in all that changed, or what changed in some folders, which are all of their projects."""
        with self._keeping or nullcontext():
            taken = self._take_in(seen, only)
            return taken._replace(kept=self._keeping.finish()) if self._keeping else taken

    def _take_in(self, seen: Sequence[Seen], only: Collection[str] | None) -> TakenIn:
        scans = [_scan(one, only) for one in seen]
        if only is not None and not self._is_enough(scans, only):
            only, scans = None, [_scan(one, None) for one in seen]
        self._writer.begin()
        standing = [self._on_shelf(shelf) for shelf in shelves(scans)]
        jobs = sorted((job for shelf in standing for job in self._jobs(shelf)), key=_age, reverse=True)
        steps = _steps(jobs, self._size_of_steps())
        if self._most is not None and len(steps) > 1:
            # The newest are waited for: copies are kept with the rest.
            self._keeping = None
        if self._keeping:
            self._keep_unread(seen, scans, standing, jobs)
        taken = self._read(steps)
        may_forget = not _hides_something(scans)
        for shelf in standing:
            self._tidy(shelf, may_forget=may_forget)
        if only is None and may_forget:
            self._writer.forget_other_shelves([shelf.number for shelf in standing])
        self._note_problems(scans, only)
        self._note_folders(seen, standing, only)
        was_part = to_come(self._index) is not None
        self._settle()
        is_whole_now = was_part and not taken.left
        if is_whole_now:
            merge_from_now_on(self._index)
        self._writer.commit()
        if is_whole_now:
            merge_pieces(self._index)
        return taken

    # Reading

    def _on_shelf(self, shelf: Shelf) -> _OnShelf:
        beside = shelf.companions
        project = self._writer.project(project_row(beside.project))
        number = self._writer.shelf(
            beside.agent, storable(project_key(beside)), project, packed(beside.files)
        )
        return _OnShelf(shelf, number, Known.of_shelf(self._index, number))

    def _jobs(self, shelf: _OnShelf) -> Iterator[_Job]:
        for bundle in shelf.shelf.bundles:
            known = shelf.known.get(storable(bundle.key))
            if known is None or not _is_same(known.stamp, shelf, look_of(bundle, shelf.traced)):
                yield _Job(shelf, bundle)

    def _read(self, steps: Sequence[_Step]) -> TakenIn:
        """Read bundles step by step as far as we may."""
        total, free = sum(step.bytes for step in steps), self._free_numbers(steps)
        taken = TakenIn(left=sum(len(step.jobs) for step in steps))
        with self._reading(total) as read:
            for number, step in enumerate(steps):
                if number:
                    if self._has_to_stop():
                        _unsettle(steps[number:])
                        break
                    self._pause()
                start = max(free.start, free.stop - step.room)
                self._writer.number_from(range(start, free.stop))
                free = range(free.start, start)
                taken = self._read_step(step, taken, total, read)
                left = ToCome(taken.left, total - taken.bytes, free.start, free.stop)
                self._to_come = left if taken.left else None
        self._writer.number_after_all()
        if self._progress and taken.left:
            # Who draws it is done for now.
            self._progress(total, total)
        return taken

    @contextmanager
    def _reading(self, total: int) -> Iterator[ReadAll]:
        """How so many bytes are read: by workers where there is much and time, else by this process.

        Which sessions are forgotten may change as they are read, one by one.
        """
        is_soon_done = total < MUCH or self._most is not None or self._until is not None
        if is_soon_done or self._graves.any:
            yield self._read_here
            return
        from geminids.core.workers import wanted_workers
        from geminids.sync.workers import Workers

        with Workers(wanted_workers(self._jobs_at_once)) as processes:
            yield processes.read

    def _read_here(self, tasks: Iterable[Task]) -> Iterator[BundleRows]:
        return (bundle_rows(task, self._graves) for task in tasks)

    def _read_step(self, step: _Step, taken: TakenIn, total: int, read: ReadAll) -> TakenIn:
        bundles, done = taken.bundles, taken.bytes
        for job, rows in zip(step.jobs, read(map(self._task, step.jobs)), strict=True):
            self._take(job, rows)
            bundles, done = bundles + 1, done + _size(job)
            if self._progress:
                self._progress(done, total)
        return taken._replace(bundles=bundles, bytes=done, left=taken.left - len(step.jobs))

    def _size_of_steps(self) -> int | None:
        """Bytes of session files; None where nothing counts before all is read."""
        if self._most is not None or not self._commits:
            return self._most
        return STEP if self._until is None else STEP_IN_TIME

    def _has_to_stop(self) -> bool:
        return self._most is not None or (self._until is not None and time.monotonic() > self._until)

    def _free_numbers(self, steps: Sequence[_Step]) -> range:
        """The numbers for what is read in several steps; none if it is read in one."""
        if before := to_come(self._index):
            return range(before.free_from, before.free_to)
        return self._writer.leave_free(sum(step.room for step in steps) if len(steps) > 1 else 0)

    def _task(self, job: _Job) -> Task:
        return Task(job.bundle, job.shelf.traced, self._everything)

    def _take(self, job: _Job, rows: BundleRows) -> None:
        shelf, key = job.shelf, storable(job.bundle.key)
        if rows.refused:
            shelf.is_settled = False
            if (known := shelf.known.get(key)) and self._holds(known.id, rows.refused):
                # All that was read before is better than the part that we may read now.
                self._writer.problems(known.id, rows.problems)
                self._writer.unsettle(shelf.number, key)
                return
        if self._keeping:
            self._keep_read(job.bundle, rows)
        number = self._writer.bundle(shelf.number, key, rows.sessions, rows.problems, fates=rows.fates)
        if BESIDE in shelf.known:
            self._writer.unsettle(shelf.number, BESIDE)
        if not rows.refused:
            look = rows.look
            stamp = shelf.with_logs(look.stamp) if rows.lacks_a_header else look.stamp
            found = packed_bundle(job.bundle)
            self._writer.stamp(number, stamp + digest([look.mark or ""]), _size(job), found)

    def _holds(self, bundle: int, files: Collection[str]) -> bool:
        """Whether sessions of a bundle were read from some of these files."""
        summaries = (unpacked(kept, SessionSummary) for kept in Known.summaries(self._index, bundle))
        return any(file.path in files for summary in summaries for file in summary.files)

    # Copies

    def _keep_unread(
        self, seen: Sequence[Seen], scans: Sequence[Scan], standing: Sequence[_OnShelf], jobs: Sequence[_Job]
    ) -> None:
        """Have copies kept of what is not read now: it may have been read before there were any."""
        keeping = self._keeping
        assert keeping is not None
        keeping.withhold(self._graves.files)
        for one, scan in zip(seen, scans, strict=True):
            keeping.offer(one.home.agent, scan.notes)
        to_read = {(job.shelf.number, job.bundle.key) for job in jobs}
        for on_shelf in standing:
            beside = on_shelf.shelf.companions
            staying = [file for file in beside.files if not self._graves.holds(beside.agent, file.native_id)]
            keeping.offer(beside.agent, staying, [beside.project])
            for bundle in on_shelf.shelf.bundles:
                if (on_shelf.number, bundle.key) not in to_read:
                    projects = self._projects_of(on_shelf.known[storable(bundle.key)].id)
                    keeping.offer(bundle.agent, bundle.files, [bundle.project, *projects])

    def _keep_read(self, bundle: Bundle, rows: BundleRows) -> None:
        """Have copies kept of what was just read."""
        assert self._keeping is not None
        self._keeping.withhold(rows.withheld, among=[str(file.path) for file in bundle.files])
        self._keeping.offer(bundle.agent, bundle.files, [bundle.project, *rows.projects])

    def _projects_of(self, bundle: int) -> list[Project]:
        return [project_of(row) for row in Known.projects(self._index, bundle)]

    # What lies beside

    def _tidy(self, shelf: _OnShelf, *, may_forget: bool) -> None:
        """Bring what lies beside up to date, and take out what is gone."""
        there = {storable(bundle.key) for bundle in shelf.shelf.bundles} | {BESIDE}
        for key, known in shelf.known.items():
            if may_forget and key not in there:
                self._writer.forget_bundle(known.id)
                self._writer.unsettle(shelf.number, BESIDE)
        if shelf.is_settled:
            self._take_beside(shelf)

    def _take_beside(self, shelf: _OnShelf) -> None:
        beside = shelf.shelf.companions
        known = Known.of_shelf(self._index, shelf.number).get(BESIDE)
        stamp = _stamp_beside(beside)
        if not beside.files:
            if known is not None:
                self._writer.forget_bundle(known.id)
            return
        if known is not None and known.stamp == stamp:
            return
        self._writer.flush()
        kept = traces(Known.traces(self._index, shelf.number)) if shelf.traced else []
        reading, _ = self._graves.without_forgotten(read_beside(beside, kept, BESIDE_LIMIT))
        everything = self._everything
        rows = [session_rows(session, Traced.NOT, everything=everything) for session in reading.sessions]
        refused = refused_files(reading)
        number = self._writer.bundle(
            shelf.number, BESIDE, rows, problem_rows(reading.problems), staying=refused
        )
        if refused:
            shelf.is_settled = False
            self._writer.unsettle(shelf.number, BESIDE)
        else:
            self._writer.stamp(number, stamp)

    # Notes

    def _is_enough(self, scans: Sequence[Scan], only: Collection[str]) -> bool:
        """Whether scanning some folders alone tells all that there is of their projects."""
        if _hides_something(scans) or self._hid_something():
            # What is closed may be of any project, and so may be what was closed the last time.
            return False
        found = {
            str(folder): (shelf.companions.agent, storable(project_key(shelf.companions)))
            for shelf in shelves(scans)
            for folder in shelf.companions.folders
        }
        # Folders may have come to other projects, of which these are not all, or to none.
        return all(found.get(folder) == shelf_of(self._index, folder) for folder in only)

    def _hid_something(self) -> bool:
        found = problems_of_finding(self._index)
        return any(problem.kind == ProblemKind.UNREADABLE.value for problem in found)

    def _note_problems(self, scans: Sequence[Scan], only: Collection[str] | None) -> None:
        found = problem_rows(dict.fromkeys(problem for scan in scans for problem in scan.problems))
        if only is not None:
            others = problems_of_finding(self._index)
            found += [other for other in others if other not in found and not _lies_in(other.file, only)]
        self._writer.problems(None, found)

    def _note_folders(
        self, seen: Sequence[Seen], standing: Sequence[_OnShelf], only: Collection[str] | None
    ) -> None:
        """Note what was taken in; a folder that is not all taken in is looked at again the next time."""
        shelves_of = {str(path): shelf for shelf in standing for path in shelf.shelf.companions.folders}
        there: set[str] = set()
        for home, footprints in seen:
            for path, footprint in footprints.items():
                there.add(path)
                if only is None or path in only:
                    shelf = shelves_of.get(path)
                    is_settled = shelf is None or shelf.is_settled
                    number = shelf.number if shelf else None
                    self._writer.folder(path, home.agent, footprint if is_settled else "", number)
        for path, shelf in shelves_of.items():
            if path not in there:
                self._writer.folder(path, shelf.shelf.companions.agent, GONE, shelf.number)
        if only is not None:
            there.update(path for path, folder in folders(self._index).items() if folder.footprint == GONE)
        self._writer.forget_other_folders(there | shelves_of.keys())

    def _pause(self) -> None:
        """Keep what was written so far, if that is of use to anybody."""
        if self._commits:
            self._index.move_journal_as_it_grows()
            self._settle()
            self._writer.commit()
            self._writer.begin()

    def _settle(self) -> None:
        """Settle what only all sessions together can tell, of those that were written since the last time."""
        self._writer.flush()
        note_to_come(self._index, self._to_come)
        settle(self._index, self._writer.touched if self._commits else None, self._writer.lost_their_copy)
        self._writer.touched.clear()
        self._writer.lost_their_copy.clear()


def _is_same(known: bytes, shelf: _OnShelf, look: Look) -> bool:
    """Whether a bundle was read from the same files, with the same said of it in logs.

    What is in logs that are closed now was read better before.
    """
    size = len(look.stamp)
    if known[:size] not in (look.stamp, shelf.with_logs(look.stamp)):
        return False
    return look.mark is None or known[size:] == digest([look.mark])


def _steps(jobs: Sequence[_Job], size: int | None) -> list[_Step]:
    """Jobs, of which the newest is the first, in steps of some size, or in one."""
    steps: list[_Step] = []
    gathered: list[_Job] = []
    gathered_weight = 0
    for job in jobs:
        gathered.append(job)
        gathered_weight += weight(job.bundle)
        if size is not None and gathered_weight >= size:
            steps.append(_step(gathered))
            gathered, gathered_weight = [], 0
    return [*steps, _step(gathered)] if gathered else steps


def _unsettle(steps: Sequence[_Step]) -> None:
    for job in (job for step in steps for job in step.jobs):
        job.shelf.is_settled = False


def _step(jobs: Sequence[_Job]) -> _Step:
    return _Step(jobs[::-1], sum(map(_size, jobs)))


def _scan(seen: Seen, only: Collection[str] | None) -> Scan:
    source = agents.load(seen.home.agent)
    if only is None:
        return source.scan(seen.home)
    inside = seen.home.folder + os.sep
    return source.scan(
        seen.home, [path for path in only if path in seen.footprints or path.startswith(inside)]
    )


def _hides_something(scans: Sequence[Scan]) -> bool:
    """Whether something could not be looked into: then nothing is gone for certain."""
    return any(problem.is_unreadable for scan in scans for problem in scan.problems)


def _traced(files: Sequence[CompanionFile]) -> int:
    """How much of the sessions is needed to tie to them what lies beside."""
    kinds = {file.kind for file in files}
    if LISTED.isdisjoint(kinds):
        return Traced.NOT
    # Only saved chats hold replies.
    return Traced.REPLIES if CompanionKind.SAVED_CHAT in kinds else Traced.PROMPTS


def _facts_of_logs(files: Sequence[CompanionFile]) -> list[str]:
    logs = (file for file in files if file.kind is CompanionKind.PROMPT_LOG)
    by_whom_we_are_now = os.access in os.supports_effective_ids
    return [f"{fact(log)} {os.access(log.path, os.R_OK, effective_ids=by_whom_we_are_now)}" for log in logs]


def _age(job: _Job) -> tuple[int, str]:
    """The order of time, as far as files tell it before they are read."""
    return max((file.mtime_ns for file in job.bundle.files), default=0), job.bundle.key


def _size(job: _Job) -> int:
    return sum(file.size for file in job.bundle.files)


def _stamp_beside(beside: Companions) -> bytes:
    facts = [repr(beside.project), repr(beside.left_alone), str(beside.complete)]
    facts += [*map(str, beside.folders), *map(fact, beside.files)]
    facts += [f"{key} {fact(file)}" for key, files in beside.session_files.items() for file in files]
    return digest(facts)


def _lies_in(file: str, folders: Collection[str]) -> bool:
    return any(file == folder or file.startswith(folder + "/") for folder in folders)
