"""How much of a file is accounted for."""

from __future__ import annotations

from geminids.core.model import FileAccount


def accounted(account: FileAccount) -> int:
    """The bytes of a file of which it is known what became of them."""
    fates = (account.used, account.ignored, account.problem)
    return sum(tally.bytes for tallies in fates for tally in tallies.values())
