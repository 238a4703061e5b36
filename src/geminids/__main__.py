"""The command `geminids`."""

from __future__ import annotations

import sys

from geminids import __version__
from geminids.core.signals import end_like_interrupt, told_to_end

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

_OBJECTS = 20_000
"""So many are made before Python looks for rings of them that nobody uses; by itself it does after 700, and
dozens of times before a list is there."""


def command() -> NoReturn:
    """What is installed: run the command line and end the process."""
    import gc

    gc.set_threshold(_OBJECTS)
    _end(main())


def main() -> int:
    """Run the command line; the version is told without loading any of it."""
    try:
        if sys.argv[1:] == ["--version"] and _could_print(f"geminids {__version__}"):
            return 0
        if sys.argv[1:3] == ["keep", "hook"]:
            # An agent waits for it.
            from geminids.faces.cli.hook_answer import answer

            if answer(sys.argv[3:]):
                return 0
        end_like_interrupt()
        from geminids.faces.cli.main import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        # Only while modules are loaded; afterwards `run` answers it.
        return told_to_end() or 130


def _could_print(line: str) -> bool:
    try:
        print(line, flush=True)
    except OSError:
        # A closed or full stdout: the whole command line knows what to say about it.
        return False
    return True


def _end(code: int) -> NoReturn:
    """End without taking modules and values apart one by one, where nobody waits to be told of the end.

    That takes an eighth of the time of a list. What was opened is closed by then.
    """
    import atexit
    import os

    if "threading" not in sys.modules and not atexit._ncallbacks():  # noqa: SLF001
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except (OSError, ValueError, AttributeError):
            # Closed, or gone; Python itself knows what is to be said about it.
            sys.exit(code)
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    sys.exit(main())
