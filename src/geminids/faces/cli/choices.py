"""What was chosen for the whole run, and what it opens; nothing here knows how a command line is parsed."""

from __future__ import annotations

from geminids.core.errors import GeminidsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.faces.drawing.page import Page
    from geminids.library import Library
    from geminids.library.completions import Completions
    from geminids.library.current_index import Progress, Tell


class WrongUsageError(GeminidsError):
    """A command line that a command finds wrong when it is already running."""

    def __init__(self, command: str, sentence: str) -> None:
        super().__init__(f"{sentence} See `geminids {command} --help`.")


class Choices:
    """What was chosen for the whole run."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now
        self.home: list[str] = []
        self.data: str | None = None
        self.sample = False
        self.no_color = False
        self.json = False
        self.no_sync = False
        self._opened: list[Library] = []

    @property
    def now(self) -> datetime:
        """The time of this run."""
        from datetime import UTC, datetime

        self._now = self._now or datetime.now(UTC)
        return self._now

    def open_library(
        self,
        *,
        sample_if_empty: bool = False,
        early: bool = False,
        changes: bool = False,
        is_quiet: bool = False,
    ) -> Library:
        """The library that was chosen. Programs never get the sample unless they ask for it.

        `early` is for what shows sessions: the newest may be told while others are still read, if that is
        said. What adds up, writes or checks waits until all are. `changes` is for what changes or signs the
        sessions that are meant: then a number of a list must be beyond doubt. Where it is to be quiet nothing
        is said beside the answer.
        """
        from geminids.faces.cli.progress import progress
        from geminids.faces.cli.talk import say
        from geminids.faces.drawing.screen import terminal
        from geminids.library import open_library

        library = open_library(
            self.home,
            self.data,
            sample=self.sample,
            sample_if_empty=sample_if_empty and not self.json,
            sync=not self.no_sync,
            tell=say if not is_quiet else lambda _: None,
            progress=progress("Reading sessions") if not is_quiet else None,
            behind=self.sync_behind if early else None,
            terminal=terminal(),
            changes=changes,
        )
        self._opened.append(library)
        if library.sample and not self.sample:
            say("No session on this machine; showing the sample sessions that come with geminids.")
        return library

    def open_behind(self, is_synced: bool, tell: Tell, progress: Progress) -> Library:
        """The library that was chosen, for who draws meanwhile; whoever opens it closes it."""
        from geminids.library import open_library

        return open_library(
            self.home,
            self.data,
            sample=self.sample,
            sync=is_synced and not self.no_sync,
            tell=tell,
            progress=progress,
            behind=self.sync_behind,
        )

    def completions(self) -> Completions:
        """What can be typed for the sessions that were chosen."""
        from geminids.faces.drawing.screen import terminal
        from geminids.library.completions import Completions

        return Completions(self.home, self.data, sample=self.sample, terminal=terminal())

    def close(self) -> None:
        """Let go of what was opened."""
        while self._opened:
            self._opened.pop().close()

    def sync_behind(self) -> None:
        """Have what is new read by a process that nobody waits for."""
        from contextlib import suppress

        from geminids.faces.cli.hook_answer import start_sync

        # No process to be had: the next command goes on.
        with suppress(OSError):
            start_sync(self.where())

    def where(self) -> list[str]:
        """The options that say where to look."""
        homes = [word for home in self.home for word in ("--home", home)]
        data = ["--data", self.data] if self.data else []
        return [*homes, *data, *(["--sample"] if self.sample else [])]

    def open_page(self) -> Page:
        """What is drawn on: stdout, as far as a terminal is there and colour is wished."""
        from geminids.faces.drawing.page import open_page
        from geminids.faces.drawing.screen import find_screen

        return open_page(find_screen(no_color=self.no_color))

    def spelled(self, *words: str) -> str:
        """A command to type that looks where this one did."""
        return _joined(["geminids", *words, *self.where()])

    def spelled_anywhere(self, *words: str) -> str:
        """Return a command to type that looks in all homes."""
        return _joined(["geminids", *words, *(["--data", self.data] if self.data else [])])


def _joined(words: list[str]) -> str:
    """Words as one types them in a shell."""
    if all(word.replace("-", "").replace("/", "").isalnum() and word.isascii() for word in words):
        # Nothing needs quotes, and every command would pay for loading what knows about them.
        return " ".join(words)
    from geminids.faces.shell_line import shell_words

    return shell_words(words)
