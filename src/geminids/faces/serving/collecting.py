"""How often Python looks for rings of values that nobody uses, in a process that reads sessions.

A large session is a million values that stay; going through them while it is read takes a third of it.
"""

from __future__ import annotations

import gc

COLLECTING = (100_000, 20, 50)
"""After how many new values the collector looks at the youngest, the young and all of them."""


def collect_seldom() -> None:
    """From now on."""
    gc.set_threshold(*COLLECTING)
