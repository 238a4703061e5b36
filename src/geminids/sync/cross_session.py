"""What only all sessions together can tell: which messages are copies, and what there is of what by day.

Forks and resumed sessions may repeat what was said before, with the provider's names of the requests. Each
request counts in one session only, whichever file was read first.
"""

from __future__ import annotations

from collections.abc import Collection

import msgspec

from geminids.core.model import Counts, SessionSummary, Usage
from geminids.storage.codec.packed import packed, unpacked
from geminids.storage.index import copies
from geminids.storage.index.database import Index
from geminids.storage.index.usage import sum_up


def settle(index: Index, sessions: Collection[int] | None, lost_their_copy: Collection[int] = ()) -> None:
    """Settle some sessions, or all, and those that share requests with them."""
    some = None if sessions is None else {*sessions, *lost_their_copy}
    changed = copies.mark_copies(index, some)
    # What was just written has the counts that its file tells.
    for session in {*changed, *copies.with_copies(index, some)}:
        _correct(index, session)
    sum_up(index, None if some is None else some | changed)


def _correct(index: Index, session: int) -> None:
    """Write the counts of a session without what it took over."""
    written = copies.summary_of(index, session)
    if written is None:
        return
    own = copies.own_counts(index, session)
    summary = unpacked(written, SessionSummary)
    corrected = msgspec.structs.replace(
        summary, counts=Counts(*own[:5]), usage=Usage(own.requests, **own.tokens)
    )
    if corrected != summary:
        copies.correct(index, session, own, packed(corrected))
