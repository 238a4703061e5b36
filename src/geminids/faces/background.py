"""A sync that nobody waits for: what hooks of agents start after a turn and when a session ends.

    <data folder>/hook.log            what became of the last runs, and what went wrong
    <data folder>/hook-waiting.lock   held by the one that waits for its turn
    <data folder>/hook-running.lock   held by the one that syncs

Whoever finds that another is waiting already ends at once: that one has yet to look at the disk, so it will
see all that there is now. However many hooks are called at the same time, one syncs and one waits.

Nobody looks at this process. All that it would say goes into the log; where not even that can be written,
nothing could be kept either.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from geminids.core import config
from geminids.core.errors import INTERRUPTED, AgentFolderError, GeminidsError
from geminids.core.locks import locked
from geminids.core.signals import end_like_interrupt, told_to_end

if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.sync.values import Outcome

LOG_FILE = "hook.log"
WAITING_LOCK, RUNNING_LOCK = "hook-waiting.lock", "hook-running.lock"
LARGEST_LOG = 64_000
"""Bytes after which only the last half of the log stays."""
SETTLING = 1.0
"""Seconds that an agent is given to write its last words and to end."""
LOOKS_AGAIN = 0.2
"""Seconds between two looks whether it is our turn."""
PATIENCE = 600.0
"""Seconds to wait for it. What is left then, the next hook or the next list takes in."""
NICENESS = 10


class Chosen(NamedTuple):
    """Where to look and where to keep, as the hook was told."""

    homes: Sequence[str]
    data: str | None
    sample: bool


def main(options: Sequence[str]) -> None:
    """Sync once, in our turn, out of everybody's way."""
    end_like_interrupt()
    try:
        _sync_in_turn(options)
    except KeyboardInterrupt:
        sys.exit(told_to_end() or INTERRUPTED)


def _sync_in_turn(options: Sequence[str]) -> None:
    _step_aside()
    chosen = _parsed(options)
    folder = config.data_folder(chosen.data, os.environ)
    if folder is None:
        return
    library: Library | GeminidsError
    try:
        library = _opened(chosen._replace(data=folder))
    except AgentFolderError:
        # Nothing is written there, not even a log.
        return
    except GeminidsError as error:
        library = error
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103
        with _turn(folder) as is_ours:
            if is_ours:
                _speak_into_log(f"{folder}/{LOG_FILE}")
                _say(_synced(library))
    except OSError:
        # A folder that cannot be written: there is nothing that could be kept, and no place to say so.
        return


def _step_aside() -> None:
    """Let everything else go first. We stay in the agent's folder: old sessions hold only its hash."""
    if sys.platform != "win32":
        os.nice(NICENESS)
    try:
        os.getcwd()  # noqa: PTH109
    except OSError:
        # It was removed; no name can be made absolute there.
        os.chdir("/")


def _parsed(options: Sequence[str]) -> Chosen:
    from argparse import ArgumentParser

    parser = ArgumentParser(allow_abbrev=False)
    parser.add_argument("--home", action="append", default=[])
    parser.add_argument("--data")
    parser.add_argument("--sample", action="store_true")
    parsed = parser.parse_args(options)
    return Chosen(parsed.home, parsed.data, parsed.sample)


def _opened(chosen: Chosen) -> Library:
    from geminids.library import open_library

    return open_library(chosen.homes, chosen.data, sample=chosen.sample, tell=_say)


@contextmanager
def _turn(folder: str) -> Iterator[bool]:
    """A while in which we sync and no other hook does; not ours if another waits for it already."""
    running = _lock_file(f"{folder}/{RUNNING_LOCK}")
    try:
        yield _has_come(folder, running)
    finally:
        os.close(running)


def _has_come(folder: str, running: int) -> bool:
    """Wait for our turn, alone. Those that come after we stopped waiting may wait for theirs."""
    waiting = _lock_file(f"{folder}/{WAITING_LOCK}")
    try:
        if not locked(waiting):
            return False
        time.sleep(SETTLING)
        until = time.monotonic() + PATIENCE
        while not locked(running):
            if time.monotonic() >= until:
                return False
            time.sleep(LOOKS_AGAIN)
        return True
    finally:
        os.close(waiting)


def _lock_file(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def _speak_into_log(path: str) -> None:
    """Whatever this process says from now on, also when it falls over, is in the log."""
    _shorten(path)
    log = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)


def _shorten(path: str) -> None:
    try:
        with open(path, "r+b") as log:  # noqa: PTH123
            size = log.seek(0, os.SEEK_END)
            if size > LARGEST_LOG:
                log.seek(size - LARGEST_LOG // 2)
                log.readline()
                end = log.read()
                log.seek(0)
                log.truncate()
                log.write(end)
    except FileNotFoundError:
        return


def _say(message: str) -> None:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    sys.stderr.write(f"{moment} {message}\n")
    sys.stderr.flush()


def _synced(library: Library | GeminidsError) -> str:
    """Sync, and what became of it."""
    if isinstance(library, GeminidsError):
        return str(library)
    try:
        with library:
            outcome = library.sync()
            vectors = _vectors_renewed(library)
    except (GeminidsError, OSError) as error:
        return str(error)
    return "\n".join([*outcome.said, f"{_sentence(outcome)}{vectors}"])


def _vectors_renewed(library: Library) -> str:
    """Bring up to date what searches by meaning compare, and say so; the index is up to date in any case."""
    from geminids.sharing.transcript import words

    try:
        made = library.renew_vectors()
    except (GeminidsError, OSError) as error:
        return f" The vectors for `search --like` are not up to date. {error}"
    return f" Updated the vectors of {words.count(made, 'session')}." if made else ""


def _sentence(outcome: Outcome) -> str:
    from geminids.sharing.transcript import words

    if outcome.failed:
        return "The index was not updated."
    if not outcome.bundles:
        return "Nothing is new."
    groups, size = words.count(outcome.bundles, "group"), words.size(outcome.bytes)
    return f"Taken in: {groups} of files, {size} in {outcome.seconds:.1f} s."


if __name__ == "__main__":
    main(sys.argv[1:])
