"""Library: the one door through which every face reads sessions.

    from geminids import Library

    with Library() as library:
        for session in library.sessions():
            print(session.title)

What there is comes from the index, which is brought up to date first; the words of a session are read from
the agents' files when it is shown. No session of an agent is ever changed. The methods stand in one module
for each subject, over what `context.py` has opened; most of what they need is loaded when they are called,
since a list of sessions has less time than it takes to load the model.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from geminids.core import config
from geminids.library.context import LibraryContext
from geminids.library.current_index import Progress, Tell
from geminids.library.health import HealthMethods
from geminids.library.projects import ProjectMethods
from geminids.library.sharing import SharingMethods
from geminids.library.tables import TableMethods
from geminids.library.usage import UsageMethods
from geminids.library.watch import WatchMethods
from geminids.storage.index.database import closed_on_error
from geminids.storage.paths import written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.sync.values import Outcome


def _nobody(_: str) -> None:
    """Says nothing to anybody."""


def open_library(
    homes: Sequence[str] = (),
    data: str | None = None,
    *,
    sample: bool = False,
    sample_if_empty: bool = False,
    sync: bool = True,
    tell: Tell = _nobody,
    progress: Progress | None = None,
    behind: Callable[[], None] | None = None,
    environment: Mapping[str, str] = os.environ,
    terminal: str | None = None,
    changes: bool = False,
) -> Library:
    """The sessions of the given homes, else of this machine, else (if wished) of the sample."""
    opened = partial(
        Library,
        data=data,
        sync=sync,
        tell=tell,
        progress=progress,
        behind=behind,
        environment=environment,
        terminal=terminal,
        changes=changes,
    )
    library = opened(homes, sample=sample)
    if not sample_if_empty or sample or are_chosen(homes, environment):
        return library
    with closed_on_error(library):
        if not library.is_empty():
            return library
    library.close()
    return opened(sample=True)


def are_chosen(homes: Sequence[str] = (), environment: Mapping[str, str] = os.environ) -> bool:
    """Whether somebody said which homes are meant: then no sample is shown in their place."""
    return bool(homes or config.home_folders((), environment))


class Library(UsageMethods, ProjectMethods, SharingMethods, HealthMethods, WatchMethods, TableMethods):
    """The sessions in some homes."""

    def __init__(
        self,
        homes: Sequence[str | os.PathLike[str]] = (),
        data: str | os.PathLike[str] | None = None,
        *,
        sample: bool = False,
        sync: bool = True,
        tell: Tell = _nobody,
        progress: Progress | None = None,
        behind: Callable[[], None] | None = None,
        environment: Mapping[str, str] = os.environ,
        terminal: str | None = None,
        changes: bool = False,
    ) -> None:
        """Open the sessions of some homes; without any, those of this machine.

        `homes` are folders that stand for a user's home, `data` is our own folder. Without `sync` the index
        is used as it is. `tell` hears what a person should know: that the index was damaged or is behind.

        Before the first question all that is new is read, however long that takes. With `behind` the newest
        sessions are, for some seconds at most: then `tell` hears how much is still to come, as `to_come`
        tells at any time, and `behind` is called to have that read elsewhere.

        `terminal` is a name for the terminal whose lists numbers mean, as in `show 3`. With `changes` what is
        asked for is going to be changed: a number that may mean another session than one thinks is refused.
        """
        super().__init__(
            LibraryContext(
                homes,
                data,
                sample=sample,
                sync=sync,
                tell=tell,
                progress=progress,
                behind=behind,
                environment=environment,
                terminal=terminal,
                changes=changes,
            )
        )

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the index and of the kept copies; what is asked later opens them again."""
        self._context.index.close()

    def sync(self, *, full: bool = False) -> Outcome:
        """Bring the index up to date, however long it takes; with `full`, make it from nothing."""
        return self._context.index.sync(full=full)

    def is_current(self) -> bool:
        """Whether there is an index that holds all that the agents' files do; none of them is read."""
        return self._context.sync.is_current()

    def to_come(self) -> int:
        """How many groups of files are known of and not read yet; nearly always each holds one session."""
        return self._context.index.to_come()

    def state(self) -> Sequence[object]:
        """Values that differ as soon as answers may: who looks again need not ask where they are the same."""
        folder = self._context.data_folder
        said = written(f"{folder}/{config.DURABLE_FILE}") if folder else ()
        return (*self._context.index.state(), *said)

    @property
    def sample(self) -> bool:
        """Whether these are the sessions that come with geminids."""
        return self._context.sample

    @property
    def places(self) -> tuple[str, ...]:
        """The folders that are looked at, as far as they exist."""
        return self._context.places

    @property
    def searched_places(self) -> tuple[str, ...]:
        """The same; where none of them exists, those in which somebody would have looked."""
        return self._context.searched_places

    def agent_title(self, name: str) -> str:
        """The agent as people call it; one that we cannot read, as it calls itself."""
        return self._context.agent_title(name)
