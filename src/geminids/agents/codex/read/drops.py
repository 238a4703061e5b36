"""What drops messages: they stay, with their state and the record that dropped them.

a rollback      the human took back the newest turns
a revert        a rollout goes on from an earlier place of another
a compaction    a summary stands for what was said so far
"""

from __future__ import annotations

from collections.abc import Mapping

from geminids.agents.codex.read.drafts import Draft
from geminids.agents.codex.read.summaries import CompactedHistory
from geminids.core.model import Location, Origin, Role, State


class View:
    """The messages that the agent sees. What is dropped is not looked at again: there may be very many."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self._judged = 0
        """So many were left by a compaction that keeps what the human said: the next one leaves them too."""

    def forget(self, draft: Draft) -> None:
        """Take the newest message away, if it is this one."""
        if self.drafts and self.drafts[-1] is draft:
            self.drafts.pop()
            self._judged = min(self._judged, len(self.drafts))

    def roll_back(self, turns: int, by: Location, *, has_events: bool, of_subagent: bool) -> None:
        """Drop the newest turns."""
        first, found = len(self.drafts), 0
        for at in range(len(self.drafts) - 1, -1, -1):
            if found == turns:
                break
            if _begins_turn(self.drafts[at], has_events=has_events, of_subagent=of_subagent):
                first, found = at, found + 1
        for draft in self.drafts[first:]:
            draft.drop(State.REWOUND, by)
        del self.drafts[first:]
        self._judged = min(self._judged, first)

    def take_back(self, seen: Mapping[str, int | None], by: Location) -> None:
        """Keep of each rollout what stands before an ordinal; the rest was taken back."""
        for draft in self.drafts:
            limit = seen.get(draft.rollout, 0)
            if limit is not None and (draft.ordinal is None or draft.ordinal >= limit):
                draft.drop(State.REWOUND, by)
        self._leave(0)

    def compress(self, history: object, by: Location) -> None:
        """Drop what a history that replaces all messages does not hold any more."""
        compacted = CompactedHistory(history)
        first = 0 if compacted.is_written else self._judged
        for draft in reversed(self.drafts[first:]):
            if not compacted.holds(draft):
                draft.drop(State.COMPRESSED, by)
        self._leave(first)
        self._judged = 0 if compacted.is_written else len(self.drafts)

    def _leave(self, first: int) -> None:
        """Look no longer at what was dropped, from one message on."""
        self.drafts[first:] = [draft for draft in self.drafts[first:] if draft.state is State.CURRENT]
        self._judged = min(self._judged, len(self.drafts))


def _begins_turn(draft: Draft, *, has_events: bool, of_subagent: bool) -> bool:
    """Whether a message in the human's place is a prompt; that of a subagent comes from its parent."""
    if draft.origin is Origin.HUMAN:
        return draft.is_confirmed or draft.is_typed or not has_events
    return of_subagent and draft.role is Role.USER and draft.origin is Origin.SYNTHETIC
