"""What a library has opened, lent to each of its subjects: homes, our own folder, the index, kept copies."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial

from geminids.core import config
from geminids.core.agents import available as available_agents
from geminids.core.agents import load as load_agent
from geminids.core.agents.homes import IMPORTED, Home, may_be_folder, may_exist
from geminids.core.disk import REAL, Disk, heed
from geminids.core.errors import AgentFolderError, GeminidsError, HomeNotFoundError, NotInstalledError
from geminids.library.agent_homes import AgentHomes, chosen_folders
from geminids.library.current_index import CopiesInUse, CurrentIndex, IndexManner, Progress, Tell
from geminids.library.durable_notes import DurableNotes
from geminids.storage.index.database import Index, IndexFile

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.agents.resume import Circumstances
    from geminids.core.model import Session
    from geminids.core.settings import Settings
    from geminids.library.current_index import Answer
    from geminids.query.projects.report import Contents
    from geminids.query.sessions.homes_reader import HomesReader
    from geminids.storage.archive.archive import Archive
    from geminids.sync import Keep, Sync
    from geminids.sync.projects.knowledge import Folders


class LibraryContext:
    """All that is opened of the sessions in some homes."""

    def __init__(
        self,
        homes: Sequence[str | os.PathLike[str]],
        data: str | os.PathLike[str] | None,
        *,
        sample: bool,
        sync: bool,
        tell: Tell,
        progress: Progress | None,
        behind: Callable[[], None] | None,
        environment: Mapping[str, str],
        terminal: str | None,
        changes: bool,
    ) -> None:
        """Find the homes; nothing is read yet. Raises GeminidsError for what cannot be looked at."""
        self.terminal = terminal
        """The terminal whose lists numbers mean; None without one."""
        self.changes = changes
        """Whether sessions are to be changed, so that a number must be beyond doubt."""
        self.agents = available_agents()
        if not self.agents:
            raise NotInstalledError
        self.environment = environment
        self.sample = sample
        self.chosen = [_home_of_sample()] if sample else chosen_folders(homes, environment)
        for folder in self.chosen:
            if not may_be_folder(folder):
                raise HomeNotFoundError(folder)
        named = os.fspath(data) if data is not None else None
        self.data_folder = config.data_folder(named, environment)
        """Our own folder; None for a user without a home."""
        self.notes = DurableNotes(self.data_folder, tell)
        self.finder = AgentHomes(self.agents, self.chosen, environment)
        self._found = self.finder.found()
        self._gone = self._homes_gone()
        """Homes as they are found, and those that are known by copies alone."""
        copies = CopiesInUse(self._look_again, self._said_of_copies, self._let_go_of_copies)
        self.index = CurrentIndex(
            IndexManner(self.place, lambda: self.sync, sync, behind, copies, tell, progress)
        )
        self._tell = tell
        wished = named or environment.get(config.DATA_VARIABLE)
        if wished and config.is_below(config.absolute(wished), self.agents_folders()):
            self.index.close()
            raise AgentFolderError(wished)
        heed(partial(_largest_file, self.data_folder, environment))

    def ask(self, question: Callable[[Index], Answer]) -> Answer:
        """The answer of the index, which is brought up to date first."""
        return self.index.ask(question)

    # Where everything is

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that are looked at, as far as they exist."""
        own = (home.folder for home in (*self._found, *self._gone) if home.known_by != IMPORTED)
        return tuple(folder for folder in own if may_exist(folder))

    @property
    def searched_places(self) -> tuple[str, ...]:
        """The same; where none of them exists, those in which somebody would have looked."""
        return self.places or tuple(self.chosen or [home.folder for home in self._found])

    def agents_folders(self) -> list[str]:
        """The folders of agents here and in the homes that are looked at: nothing is written there."""
        return [home.folder for home in (*self._found, *self._gone, *self.finder.usual())]

    def agent_title(self, name: str) -> str:
        """The agent as people call it; one that we cannot read, as it calls itself."""
        return load_agent(name).title if name in self.agents else name

    def agent_titles(self) -> dict[str, str]:
        """All agents that we can read, as people call them."""
        return {name: load_agent(name).title for name in self.agents}

    def circumstances(self, now: datetime, given: str | None = None) -> Circumstances:
        """All that an agent's own program would see; `given` is the file of a session that is meant."""
        from geminids.core.agents.resume import Circumstances

        user_home = config.expanded("~")
        return Circumstances(
            environment=self.environment,
            user_home=user_home,
            here=self._here() or user_home,
            now=now,
            given=given,
        )

    @cached_property
    def settings(self) -> Settings:
        """What the user settled."""
        from geminids.core.settings import read_settings

        return read_settings(self.data_folder, self.environment)

    # What is known beside the index

    @cached_property
    def folders(self) -> Folders:
        """What is known of the folders of projects."""
        from pathlib import Path

        from geminids.sync.projects.knowledge import Folders

        data, here = self.data_folder, self._here()
        folders = Folders(
            lambda: Path(data) if data else None,
            Path(config.expanded("~")),
            self.environment,
            Path(here) if here else None,
            map(Path, self.chosen),
        )
        if folders.is_damaged:
            # What cannot be mended is said by `memory_is_damaged`.
            with suppress(GeminidsError, OSError):
                self.notes.mend()
            folders.recall()
        return folders

    @cached_property
    def homes_reader(self) -> HomesReader:
        """Reads all files of all homes."""
        from geminids.query.sessions.homes_reader import HomesReader

        return HomesReader(self.homes)

    def contents(self) -> Contents:
        """All there is, without messages, and whose it is."""
        from geminids.query.sessions.contents import contents

        return self.ask(lambda index: contents(index, self.folders.repositories))

    def content(self, session: Session, path: str) -> bytes:
        """The bytes of a file of a session as they were when it was read, unpacked where its agent packs."""
        from pathlib import Path

        from geminids.reading.bounded import read_whole

        known = session.agent in self.agents
        unpacked = load_agent(session.agent).files().unpacked(Path(path), self.disk) if known else None
        if unpacked is not None:
            return unpacked
        sizes = {file.path: file.size for file in session.files}
        # It may have grown since.
        return read_whole(path, self.disk)[: sizes.get(path)]

    # What the index is made of

    @cached_property
    def homes(self) -> list[Home]:
        """The homes that are looked at, each with the disk to look through."""
        return [home._replace(disk=self.disk) for home in (*self._found, *self._gone)]

    @cached_property
    def disk(self) -> Disk:
        """The disk with kept copies of what is gone from it."""
        archive = self.archive
        if archive is None:
            return REAL
        from geminids.library.archive_disk import ArchiveDisk

        return ArchiveDisk(
            archive,
            [home.folder for home in self._found],
            [home.folder for home in self._gone if home.known_by == IMPORTED],
        )

    @cached_property
    def archive(self) -> Archive | None:
        """The kept copies; none of the sample, and none for a user without a home."""
        if self.sample or not self.data_folder:
            return None
        from geminids.storage.archive.archive import Archive

        return Archive(f"{self.data_folder}/{config.KEPT_FOLDER}")

    def _homes_gone(self) -> list[Home]:
        """Homes that are known by copies alone; where there never were any, nothing is loaded to ask."""
        if self.sample or not os.path.lexists(f"{self.data_folder}/{config.KEPT_FOLDER}"):
            return []
        return self.finder.gone(self._found, self.archive)

    def _look_again(self) -> None:
        if "disk" in vars(self):
            self.disk.look_again()

    def _said_of_copies(self) -> Sequence[str]:
        return self.archive.said if "archive" in vars(self) and self.archive else ()

    def _let_go_of_copies(self) -> None:
        if "archive" in vars(self) and self.archive:
            self.archive.close()

    def place(self) -> IndexFile | None:
        """Where the index is kept; None for a user without a home."""
        folder = self.data_folder
        return IndexFile(folder, [home.folder for home in (*self._found, *self._gone)]) if folder else None

    def _here(self) -> str | None:
        return config.current_folder(self.environment)

    @cached_property
    def sync(self) -> Sync:
        """Brings the index up to date."""
        from geminids.sync import Sync

        return Sync(
            self.homes,
            self.place,
            lambda: self.folders,
            self.notes.generation,
            self._here,
            everything=lambda: self.settings.every_word,
            jobs=lambda: self.settings.jobs,
            tell=self._tell,
            keep=self._keep,
            learns=not self.sample,
        )

    def _keep(self) -> Keep | None:
        if self.archive is None:
            return None
        from geminids.core.settings import BadSettingsError
        from geminids.sync import Keep

        rules = self.settings.keep
        if unknown := sorted(rules.agents.keys() - set(self.agents)):
            raise BadSettingsError(
                self.settings.file,
                f"[keep] names {unknown[0]!r}, which is no agent; there are {', '.join(self.agents)}, and "
                "folders begin with / or ~",
            )
        notes = self.notes
        return Keep(self.archive, rules, notes.forgotten, notes.lift, notes.generation_of_forgotten)


class LibraryPart:
    """One subject of a library: its methods, over what the library has opened."""

    def __init__(self, context: LibraryContext) -> None:
        self._context = context


def _home_of_sample() -> str:
    from geminids import sample

    return sample.home()


def _largest_file(folder: str | None, environment: Mapping[str, str]) -> int:
    """How much is read of one session file; asked only where one is large."""
    from geminids.core.settings import read_settings

    return read_settings(folder, environment).largest_file
