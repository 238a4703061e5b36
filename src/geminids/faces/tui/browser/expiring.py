"""Which sessions their agents will soon delete: a mark in the list, and one sentence."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from geminids.core.values import NamedTuple

if TYPE_CHECKING:
    from geminids.faces.tui.browser.view import Stage
    from geminids.library import Library

EVERY = timedelta(minutes=1)
"""After which agents may be going to delete something else."""


class Soon(NamedTuple):
    """What will soon be deleted."""

    ids: Collection[str]
    told: str
    """How many sessions; nothing if there are none."""


class ExpiringSessions:
    """What is known of it, as the list needs it."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.ids: Collection[str] = frozenset()
        self.note = ""
        """What is to be said of it now."""
        self._was_told = False
        self._asked_at: datetime | None = None

    def renew(self) -> None:
        """Have it asked, unless it was a moment ago."""
        now = self._stage.now
        if self._asked_at is None or now - self._asked_at >= EVERY:
            self._asked_at = now
            self._stage.ask(
                "expiring", lambda library: soon(library, now), self._take, self._failed, is_slow=True
            )

    def silence(self) -> None:
        """What was to be said has been seen."""
        self.note = ""

    def _take(self, found: Soon) -> None:
        self.ids = found.ids
        if found.told and not self._was_told:
            self._was_told = True
            self.note = f"{found.told} (F5)"

    def _failed(self, _: Exception) -> None:
        """Nothing is marked; the view of what is kept, which asks the same, tells why."""
        self._asked_at = None


def soon(library: Library, now: datetime) -> Soon:
    """The sessions that will soon be deleted."""
    from geminids.faces.drawing.keeping import expiring_soon
    from geminids.query.health.forecast import SOON

    found = library.kept.forecast(now).sessions(now + SOON)
    ids = frozenset(one.first.session_id for one in found if one.first.session_id)
    return Soon(ids, expiring_soon(found) if found else "")
