"""What we say beside the data: on stderr, one message at a time."""

from __future__ import annotations

import sys


def say(message: str) -> None:
    """Tell the person something; if nobody can hear it, go on."""
    from geminids.sharing.transcript import safe

    try:
        print(f"geminids: {safe.text(message)}", file=sys.stderr, flush=True)
    except OSError:
        # A closed or full stderr is no reason to stop giving out data.
        return
