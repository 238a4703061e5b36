"""Keeping the index in step with the agents' files: the only place where sources meet the store.

Nearly always nothing has changed, so this looks first, and loads what it takes to read sessions only if it
must. Whoever finds that another process is at it already waits, or reads what is there.

Where there is no index yet, the newest sessions are read first, and stand in an index that everybody can read
within two seconds. The rest follows from there, step by step and the newest first: in the same call if it may
take as long as it takes, else in the next one. How much is still to come stands in the index, in the same
transaction as what is in it. An index that takes the place of one that can be read is made whole first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress

from geminids.core.agents import load as load_agent
from geminids.core.agents.homes import IMPORTED, Home, may_exist
from geminids.core.collecting import without_collecting
from geminids.core.errors import GeminidsError
from geminids.core.names import storable
from geminids.core.values import NamedTuple
from geminids.storage.index.database import (
    BusyIndexError,
    DamagedIndexError,
    FullDiskError,
    Index,
    IndexFile,
    StrangeRowsError,
    closed_on_error,
    in_memory,
    naming_damage,
    naming_strange_rows,
)
from geminids.storage.index.folders import GONE, folders, footprints, unproven_hashes
from geminids.storage.index.schema import EVERY_WORD, VERSION
from geminids.storage.index.to_come import to_come
from geminids.sync.seen import Seen
from geminids.sync.values import Outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.settings import KeepRules
    from geminids.storage.archive.archive import Archive
    from geminids.storage.durable.values import Tombstone
    from geminids.sync.forgotten_filter import Graves
    from geminids.sync.intake import Progress, TakenIn
    from geminids.sync.kept_copies import Keeping
    from geminids.sync.projects.knowledge import Folders

MOST_DEAD = 0.25
"""An index in which a larger share of the rows is of messages that are gone is made anew."""
FEW_DEAD = 1_000
"""So many are never too many."""
FIRST_PATIENCE = 600.0
"""Seconds to wait for another process that makes the first index: there is nothing else to read."""
PATIENCE = 10.0
"""The same where there is one."""
FIRST_STEP = 16_000_000
"""Bytes of the newest session files that are read before anything can be asked."""
NEXT_STEP = 0.5
"""Seconds that a question takes for going on with an index which holds a part, if nobody else does."""


class Keep(NamedTuple):
    """The kept copies, and what the user has settled about them."""

    archive: Archive
    rules: KeepRules
    forgotten: Callable[[], Mapping[str, Tombstone]]
    lift: Callable[[Collection[str]], None]
    """Called with sessions that were forgotten until they changed, and have."""
    generation: Callable[[], int]
    """Another number whenever sessions were forgotten, or may come back."""

    def state(self) -> str:
        """Another text whenever there may be other copies than those that an index was made with."""
        others, agents, folders = self.rules
        return ascii((others, sorted(agents.items()), sorted(folders.items()), *self.archive.identity()))

    def take_out_forgotten(self) -> None:
        """Remove copies of forgotten sessions that are still there: whoever forgot them was killed."""
        if not self.archive.exists():
            return
        paths = [path for stone in self.forgotten().values() for path in stone.copies]
        numbers = [version.number for path in paths for version in self.archive.versions(path)]
        if numbers:
            from geminids.storage.archive.rewrite import remove

            with self.archive.writing() as writer:
                remove(writer, numbers)


class Sync:
    """The index of some homes, and how it is brought up to date."""

    def __init__(
        self,
        homes: Sequence[Home],
        place: Callable[[], IndexFile | None],
        folders: Callable[[], Folders],
        generation: Callable[[], int],
        here: Callable[[], str | None],
        *,
        everything: Callable[[], bool],
        jobs: Callable[[], int | None] = lambda: 1,
        tell: Callable[[str], None],
        keep: Callable[[], Keep | None] = lambda: None,
        learns: bool = True,
    ) -> None:
        self._homes = homes
        self._find_place = place
        self.folders = folders
        self.generation = generation
        self.here = here
        self.everything = everything
        self.jobs = jobs
        self.tell = tell
        self.keep = keep
        self.learns = learns

    def up_to_date(
        self, *, full: bool = False, budget: float | None = None, progress: Progress | None = None
    ) -> tuple[Index, Outcome]:
        """The index with what is new, as far as a budget of seconds allows; from nothing if `full`.

        With a budget, a first index holds the newest sessions, and the outcome tells what is left.
        """
        began = time.monotonic()
        run = _Run(self, self._find_place(), self._look(), full=full, budget=budget, progress=progress)
        index, outcome = run.index()
        return index, outcome._replace(seconds=time.monotonic() - began)

    def is_current(self) -> bool:
        """Whether there is an index, and nothing that is not in it. Nothing is read and nothing written."""
        run = _Run(self, self._find_place(), self._look(), full=False, budget=None, progress=None)
        return run.is_current()

    def _look(self) -> list[Seen]:
        """What the homes look like, those that are there, and those that there may be copies of."""
        keep = self.keep()
        has_copies = keep is not None and keep.archive.exists()
        there = (home for home in self._homes if has_copies or may_exist(home.folder))
        return [Seen(home, _footprint(home)) for home in there]

    def basis(self) -> str:
        """What an index must have been made with to be of use."""
        agents = sorted({home.agent for home in self._homes})
        revisions = [(agent, load_agent(agent).revision) for agent in agents]
        homes = [storable(home.folder) for home in self._homes]
        return ascii((VERSION, revisions, homes, self.everything()))


class _Run:
    """One attempt at an index that is up to date."""

    def __init__(
        self,
        sync: Sync,
        place: IndexFile | None,
        seen: list[Seen],
        *,
        full: bool,
        budget: float | None,
        progress: Progress | None,
    ) -> None:
        self._sync = sync
        self._place = place
        self._seen = seen
        self._full = full
        self._budget = budget
        self._progress = progress
        self._said: list[str] = []
        self._forgotten = 0
        """What was forgotten when this began, as a number."""

    def index(self) -> tuple[Index, Outcome]:
        """The index, and what became of it."""
        if self._place is None:
            return self._in_memory("there is no folder for it")
        try:
            return self._kept(self._place)
        except StrangeRowsError as error:
            return self._in_place_of_strange(self._place, error)
        except DamagedIndexError as error:
            return self._in_place_of_damaged(self._place, error)

    def is_current(self) -> bool:
        """Whether there is nothing to be done."""
        index = self._open(self._place) if self._place else None
        if index is None:
            return False
        with naming_damage(index.path), closed_on_error(index):
            is_current = self._is_current(index)
        index.close()
        return is_current

    def _in_place_of_damaged(self, place: IndexFile, error: DamagedIndexError) -> tuple[Index, Outcome]:
        """The index made anew; a file can be opened long before its damage is met."""
        try:
            self._said.append(f"{error} It is now {place.move_aside(error.path)!r}; the index is made again.")
        except OSError as refused:
            return self._without_writing(None, refused)
        return self._kept(place)

    def _in_place_of_strange(self, place: IndexFile, error: StrangeRowsError) -> tuple[Index, Outcome]:
        """The index made anew. Until that is done the old one stays: it may be a bug that is met again."""
        self._said.append(f"{error} The index is made again.")
        try:
            with place.alone(PATIENCE, self._tell_who):
                return self._built(place)
        except (BusyIndexError, FullDiskError, OSError) as refused:
            return self._without_writing(None, refused)

    def _kept(self, place: IndexFile) -> tuple[Index, Outcome]:
        """The index that is kept for the next time, or the best there is instead."""
        index = None if self._full else self._open(place)
        if index and self._is_current(index):
            self._tidy(place)
            return index, self._outcome()
        try:
            written = self._written(place, index)
        except BusyIndexError as error:
            return self._while_others_write(index or self._open(place), error)
        except (FullDiskError, OSError) as error:
            return self._without_writing(index or self._open(place), error)
        except BaseException:
            if index:
                index.close()
            raise
        if index:
            index.close()
        return written

    def _open(self, place: IndexFile) -> Index | None:
        """The index that is there, if it was made as we would make it and we may read it."""
        try:
            index = place.open()
        except OSError:
            # Whoever writes will hear about it.
            return None
        if index is None:
            return None
        with naming_damage(index.path), closed_on_error(index):
            if index.meta("basis") == self._sync.basis():
                return index
        index.close()
        return None

    def _tidy(self, place: IndexFile) -> None:
        """Remove what others left behind, unless somebody is at work."""
        if not place.is_tidy():
            # It is only for the sake of room; the next one tries again.
            with suppress(BusyIndexError, OSError), place.alone(patience=0):
                place.tidy()

    def _tell_who(self, writer: str) -> None:
        self._sync.tell(f"Waiting for {writer}, which is writing the index.")

    def _written(self, place: IndexFile, before: Index | None) -> tuple[Index, Outcome]:
        """The index brought up to date by us, or by whoever was quicker."""
        # Whoever may answer early waits for no more than the newest sessions.
        is_early = before is None and self._budget is not None
        is_enough = (lambda: self._can_be_read(place)) if is_early else None
        with place.alone(self._patience(before), self._tell_who, is_enough):
            place.tidy()
            index = None if self._full else place.open_to_write()
            if index is None:
                return self._built(place, in_steps=not self._full)
            with naming_damage(index.path), closed_on_error(index):
                if self._can_go_on(index):
                    return self._gone_on(place, index)
                is_of_use = index.meta("basis") == self._sync.basis()
            index.close()
            return self._built(place, in_steps=not is_of_use)

    def _can_be_read(self, place: IndexFile) -> bool:
        """Whether another process has made an index that we can use."""
        index = self._open(place)
        if index is not None:
            index.close()
        return index is not None

    def _patience(self, before: Index | None) -> float:
        """Seconds to wait for another process that writes."""
        if before is None or (self._budget is None and to_come(before)):
            return PATIENCE if self._full else FIRST_PATIENCE
        if self._budget is None:
            return PATIENCE
        return 0.0 if to_come(before) else self._budget

    def _gone_on(self, place: IndexFile, index: Index) -> tuple[Index, Outcome]:
        """An index that is there, with what is new."""
        with naming_strange_rows(index.path):
            outcome = self._brought_up_to_date(index)
        place.seal(index)
        return index, outcome

    def _while_others_write(self, index: Index | None, error: BusyIndexError) -> tuple[Index, Outcome]:
        """What there is already of an index that another process is at."""
        if index is not None and self._budget is not None:
            with naming_damage(index.path), closed_on_error(index):
                if left := to_come(index):
                    return index, self._outcome()._replace(left=left.bundles, others_write=True)
        return self._without_writing(index, error)

    def _can_go_on(self, index: Index) -> bool:
        """Whether the index that is there is worth bringing up to date."""
        if index.meta("basis") != self._sync.basis():
            return False
        keep = self._sync.keep()
        if keep and (index.meta("forgotten") or 0) != keep.generation():
            # Somebody was killed while sessions were forgotten or came back: their files are as they were.
            return False
        dead = int(index.meta("dead") or 0)
        return dead <= max(FEW_DEAD, MOST_DEAD * int(index.meta("numbered") or 0))

    def _brought_up_to_date(self, index: Index) -> Outcome:
        taken = None
        is_part = to_come(index) is not None
        changed = self._changed(index) if self._has_all_copies(index) and not is_part else None
        if changed is None or changed:
            # Whatever stops us now: whose these sessions are must still be found out.
            index.note("generation", None)
            taken = self._take(index, only=changed)
        self._identify(index)
        return self._outcome(taken)

    def _take(self, index: Index, only: set[str] | None) -> TakenIn:
        from geminids.sync.intake import Taking

        until = self._end_of_budget(index)
        graves = self._graves()
        taking = Taking(
            index,
            everything=self._sync.everything(),
            jobs=self._sync.jobs(),
            progress=self._progress,
            until=until,
            keeping=self._keeping(until),
            graves=graves,
        )
        with without_collecting():
            taken = taking.take_in(self._seen, only)
        self._note_copies(index, taken, graves)
        return taken

    def _end_of_budget(self, index: Index) -> float | None:
        if self._budget is None:
            return None
        return time.monotonic() + (min(self._budget, NEXT_STEP) if to_come(index) else self._budget)

    def _graves(self) -> Graves:
        from geminids.sync.forgotten_filter import Graves

        keep = self._sync.keep()
        # First: whatever is forgotten from now on makes it another number.
        self._forgotten = keep.generation() if keep else 0
        return Graves(keep.forgotten() if keep else {})

    def _keeping(self, until: float | None = None) -> Keeping | None:
        keep = self._sync.keep()
        if keep is None or keep.rules.is_off:
            return None
        from geminids.sync.kept_copies import Keeping

        try:
            return Keeping(keep.archive, keep.rules, [seen.home for seen in self._seen], until)
        except (GeminidsError, OSError) as error:
            # Reading goes on; `keep verify` says more.
            self._said.append(f"Copies could not be kept: {error}")
            return None

    def _note_copies(self, index: Index, taken: TakenIn, graves: Graves) -> None:
        """Note which copies there were, if all is kept that should be."""
        keep = self._sync.keep()
        if keep is None:
            return
        is_settled = taken.kept.is_settled and not taken.left
        index.note("kept", keep.state() if is_settled else None)
        self._said += taken.kept.troubles
        if graves.lifted:
            keep.lift(graves.lifted)
            # That was one change; if there were others, they are taken in the next time.
            self._forgotten += 1
        index.note("forgotten", self._forgotten)

    def _has_all_copies(self, index: Index) -> bool:
        keep = self._sync.keep()
        return keep is None or index.meta("kept") == keep.state()

    def _built(self, place: IndexFile, *, in_steps: bool = False) -> tuple[Index, Outcome]:
        """A new index, in the place of the old one when it is whole; in steps, when it has the newest."""
        self._take_out_forgotten()
        index = place.start()
        try:
            with naming_damage(index.path):
                taken = self._fill(index, FIRST_STEP if in_steps else None)
                done = place.finish(index, is_whole=not taken.left)
        except BaseException:
            place.discard(index)
            raise
        outcome = self._outcome(taken, built=True)
        if not taken.left or self._budget is not None:
            place.seal(done)
            return done, outcome
        with naming_damage(done.path), closed_on_error(done):
            index, rest = self._gone_on(place, done)
        return index, rest._replace(
            built=True, bundles=outcome.bundles + rest.bundles, bytes=outcome.bytes + rest.bytes
        )

    def _take_out_forgotten(self) -> None:
        keep = self._sync.keep()
        try:
            if keep:
                keep.take_out_forgotten()
        except (GeminidsError, OSError) as error:
            self._said.append(f"Copies of forgotten sessions could not be removed: {error}")

    def _fill(self, index: Index, most: int | None = None) -> TakenIn:
        from geminids.sync.intake import Taking

        graves = self._graves()
        taking = Taking(
            index,
            everything=self._sync.everything(),
            jobs=self._sync.jobs(),
            progress=self._progress,
            most=most,
            commits=False,
            keeping=self._keeping() if self._place else None,
            graves=graves,
        )
        with without_collecting():
            taken = taking.take_in(self._seen)
        self._note_copies(index, taken, graves)
        index.note("basis", self._sync.basis())
        index.note(EVERY_WORD, self._sync.everything())
        self._identify(index)
        return taken

    def _identify(self, index: Index) -> None:
        from geminids.sync.project_identity import identify

        identify(index, self._sync.folders(), learns=self._sync.learns)
        index.note("generation", self._sync.generation())

    def _without_writing(self, index: Index | None, error: Exception) -> tuple[Index, Outcome]:
        """What there is where nothing can be written: an index that is behind, or one that is not kept."""
        reason = str(error) if isinstance(error, GeminidsError) else f"The index cannot be written ({error})."
        if index is None:
            self._said.append(f"{reason} This command uses a temporary index.")
            return self._in_memory()
        self._said.append(f"{reason} Shown is the state of the last sync.")
        return index, self._outcome()._replace(failed=True)

    def _in_memory(self, why: str | None = None) -> tuple[Index, Outcome]:
        if why:
            self._said.append(f"The index cannot be stored: {why}.")
        index = in_memory()
        with closed_on_error(index):
            taken = self._fill(index)
            return index, self._outcome(taken, built=True)._replace(failed=True)

    # What has changed

    def _is_current(self, index: Index) -> bool:
        with naming_damage(index.path), naming_strange_rows(index.path), closed_on_error(index):
            if footprints(index) != self._footprints() or not self._has_all_copies(index):
                return False
            if index.meta("generation") != self._sync.generation() or self._proves_anything(index):
                return False
            # Words of what was deleted must not lie about for long.
            return self._can_go_on(index)

    def _footprints(self) -> dict[str, str]:
        return {path: text for home in self._seen for path, text in home.footprints.items()}

    def _changed(self, index: Index) -> set[str] | None:
        """The folders to look into: those of projects in which something changed; None means all."""
        known = folders(index)
        seen = self._footprints()
        if {path for path, folder in known.items() if folder.footprint != GONE} != seen.keys():
            return None
        changed = {known[path].shelf for path, text in seen.items() if known[path].footprint != text}
        if None in changed:
            # What the agent knows of all projects, or a folder that was none.
            return None
        return {path for path, folder in known.items() if folder.shelf in changed}

    def _proves_anything(self, index: Index) -> bool:
        """Whether the folder that we are in is that of a project nobody knows for certain."""
        unknown = unproven_hashes(index)
        here = self._sync.here() if unknown else None
        return bool(here) and not unknown.isdisjoint(_hashes(here or ""))

    def _outcome(self, taken: TakenIn | None = None, *, built: bool = False) -> Outcome:
        said = tuple(self._said)
        if taken is None:
            return Outcome(built=built, said=said)
        failed = bool(taken.kept.troubles)
        return Outcome(
            built, taken.bundles, taken.bytes, taken.left, said=said, failed=failed, kept=taken.kept.files
        )


def _footprint(home: Home) -> dict[str, str]:
    """What a home looks like. Of one of another machine there are copies alone, whatever lies there here."""
    return {} if home.known_by == IMPORTED else load_agent(home.agent).footprint(home)


def _hashes(folder: str) -> Iterator[str]:
    """The hashes by which agents would name a folder and those above it."""
    from geminids.core.hashes import sha256

    while True:
        yield sha256(folder.encode(errors="surrogatepass")).hexdigest()
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder:
            return
        folder = above
