"""The command `geminids`."""

from __future__ import annotations

import sys

from geminids import __version__
from geminids.core.signals import end_like_interrupt, told_to_end


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


if __name__ == "__main__":
    sys.exit(main())
