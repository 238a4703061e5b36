"""How it is noticed that something was written: the operating system tells, or one looks again and again.

Events come from `watchfiles`, where that is installed and works. They may get lost, and none come from
a disk on another machine, so whoever waits for them looks at everything now and then as well.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Generator, Mapping, Sequence
from threading import Event
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from watchfiles.main import FileChange

    Changes = Generator[set[FileChange], None, None]

TICK = 0.1
"""Seconds after which a wait for events comes back, so that other things fall due in time."""
BURST = 0.2
"""Seconds for which changes that follow one another closely are taken for one."""
GAP = 0.02
"""Seconds without a change after which a burst is over."""


ATTEMPTS = 3


class NoEventsError(Exception):
    """The operating system does not tell of changes; the message says why."""


class Noticing(Protocol):
    """Something that wakes us."""

    def watch(self, folders: Collection[str]) -> None:
        """From now on notice changes in these folders, not in those below. Raises NoEventsError."""
        ...

    def wait(self, seconds: float) -> set[str]:
        """The paths at which something has changed; comes back at once then, else after a while."""
        ...

    def close(self) -> None:
        """Watch nothing any more."""
        ...


class Polling:
    """Only time wakes us."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop

    def watch(self, folders: Collection[str]) -> None:
        """Nothing to do."""

    def wait(self, seconds: float) -> set[str]:
        """Sleep, unless we are stopped."""
        self._stop.wait(max(seconds, 0))
        return set()

    def close(self) -> None:
        """Nothing to do."""


class Events:
    """The operating system wakes us."""

    def __init__(self, stop: Event, environment: Mapping[str, str] = os.environ) -> None:
        try:
            import watchfiles
        except ImportError:
            from geminids.core.installation import who_adds

            raise NoEventsError(f"watchfiles is not installed; {who_adds('watch')} adds it") from None
        if _is_wished(environment.get("WATCHFILES_FORCE_POLLING", "")):
            raise NoEventsError("WATCHFILES_FORCE_POLLING is set")
        self._stop = stop
        self._watch = watchfiles.watch
        self._changes: Changes | None = None
        self._pending: set[str] = set()

    def watch(self, folders: Collection[str]) -> None:
        """Notice changes in these folders. Raises NoEventsError."""
        for _ in range(ATTEMPTS):
            self.close()
            self._changes = self._registered([folder for folder in folders if os.path.isdir(folder)])  # noqa: PTH112
            try:
                # Nothing is registered before the first step.
                self._pending |= self._next()
            except FileNotFoundError:
                # A folder went away between two lines of this; without it, it will do.
                continue
            return
        raise NoEventsError("the folders change too often")

    def wait(self, seconds: float) -> set[str]:
        """The paths of changed files, at the latest after a tick."""
        if self._pending:
            changed, self._pending = self._pending, set()
            return changed
        if self._changes is None:
            # There is no folder yet that could tell anything.
            self._stop.wait(max(0.0, min(seconds, TICK)))
        return self._next() if seconds > 0 else set()

    def close(self) -> None:
        """Let go of all folders."""
        if self._changes is not None:
            self._changes.close()
            self._changes = None

    def _registered(self, folders: Sequence[str]) -> Changes:
        return self._watch(
            *folders,
            watch_filter=None,
            debounce=int(BURST * 1000),
            step=int(GAP * 1000),
            rust_timeout=int(TICK * 1000),
            yield_on_timeout=True,
            stop_event=self._stop,
            recursive=False,
            ignore_permission_denied=True,
        )

    def _next(self) -> set[str]:
        """The next changes; none if a tick passes or we are stopped."""
        if self._changes is None:
            return set()
        try:
            return {path for _, path in next(self._changes, ())}
        except FileNotFoundError:
            raise
        except UnicodeEncodeError as error:
            raise NoEventsError("a folder has a name that is no text") from error
        except (OSError, RuntimeError) as error:
            # There is a limit to how many folders a user may watch; some file systems tell nothing.
            raise NoEventsError(str(error)) from error


def _is_wished(written: str) -> bool:
    """Whether a variable is set to something that means yes, as watchfiles reads it."""
    return bool(written) and written.lower() not in {"false", "disable", "disabled"}
