"""The command `geminids`."""

from __future__ import annotations

import sys

from geminids import __version__


def main() -> int:
    """Run the command line; the version is told without loading any of it."""
    if sys.argv[1:] == ["--version"]:
        print(f"geminids {__version__}")
        return 0
    from geminids.cli.main import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
