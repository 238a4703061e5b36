"""What drops messages: they stay, with their state and the record that dropped them.

a rollback      the human took back the newest turns
a revert        a rollout goes on from an earlier place of another
a compaction    a summary stands for what was said so far
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geminids.agents.codex.read.drafts import Draft, Dropper
from geminids.agents.codex.read.summaries import CompactedHistory
from geminids.core.model import Origin, Role, State


class View:
    """The messages that the agent sees. What is dropped is not looked at again: there may be very many."""

    def __init__(self, every: Sequence[Draft]) -> None:
        self._every = every
        """All messages, also those that the agent no longer sees."""
        self.drafts: list[Draft] = []
        self._judged = 0
        """So many were left by a compaction that keeps what the human said: the next one leaves them too."""
        self._compactions: list[Dropper] = []
        self._rewound = range(0)
        self.summary: Draft | None = None
        """The summary that the newest compaction left."""

    def forget(self, draft: Draft) -> None:
        """Take the newest message away, if it is this one."""
        if self.drafts and self.drafts[-1] is draft:
            self.drafts.pop()
            self._judged = min(self._judged, len(self.drafts))

    def roll_back(self, turns: int, by: Dropper, *, has_events: bool, of_subagent: bool) -> None:
        """Drop the newest turns."""
        first, found = len(self.drafts), 0
        for at in range(len(self.drafts) - 1, -1, -1):
            if found == turns:
                break
            draft = self.drafts[at]
            # Codex counts a summary as a prompt. Behind the first one it reads nothing at all.
            is_summary = draft is self.summary and len(self._compactions) > 1
            if is_summary or _begins_turn(draft, has_events=has_events, of_subagent=of_subagent):
                first, found = at, found + 1
        for draft in self.drafts[first:]:
            draft.drop(State.REWOUND, by)
        if self._compactions and first < len(self.drafts):
            first = self._undo_compaction(first, self._compactions[-1], by)
        del self.drafts[first:]
        self._judged = min(self._judged, first)

    def _undo_compaction(self, first: int, compaction: Dropper, by: Dropper) -> int:
        """Rewind what a compaction dropped of the turns that are taken back; return how many drafts are left.

        Codex undoes the compaction too. If it was the first one, what it replaced is not read again.
        """
        oldest = self.drafts[first]
        if oldest.source.file != compaction.place.file or oldest.source.start > compaction.place.start:
            return first
        self._rewind_compressed(oldest, by)
        if len(self._compactions) > 1:
            return first
        for draft in self.drafts[:first]:
            draft.drop(State.COMPRESSED, compaction)
        return 0

    def _rewind_compressed(self, oldest: Draft, by: Dropper) -> None:
        """Rewind all compressed drafts from one on; those of an earlier call are not looked at again."""
        at = len(self._every)
        draft = None
        while draft is not oldest:
            at = at - 1 if at - 1 not in self._rewound else self._rewound.start - 1
            draft = self._every[at]
            if draft.state is State.COMPRESSED:
                draft.state, draft.dropped_by = State.REWOUND, by
        self._rewound = range(at, len(self._every))

    def take_back(self, limits: Mapping[str, int | None], by: Dropper) -> None:
        """Restore the view that the records before the limit of each rollout gave, and rewind later drafts.

        A draft that a later record dropped, as a compaction does, is current again.
        """
        for draft in self._every:
            dropper = draft.dropped_by
            if draft.state is State.SUPERSEDED or (dropper is not None and _is_before(dropper, limits)):
                continue
            if _is_before(draft, limits):
                draft.state, draft.dropped_by = State.CURRENT, None
            elif draft.state is not State.REWOUND:
                draft.state, draft.dropped_by = State.REWOUND, by
        self.drafts = [draft for draft in self._every if draft.state is State.CURRENT]
        self._judged = 0

    def compress(self, history: object, summary: str, by: Dropper) -> None:
        """Drop what a history that replaces all messages does not hold any more."""
        compacted = CompactedHistory(history, summary)
        first = 0 if compacted.is_written else self._judged
        for draft in reversed(self.drafts[first:]):
            if not compacted.holds(draft):
                draft.drop(State.COMPRESSED, by)
        self._leave(first)
        self._compactions.append(by)
        self.summary = None
        self._judged = 0 if compacted.is_written else len(self.drafts)

    def _leave(self, first: int) -> None:
        """Look no longer at what was dropped, from one message on."""
        self.drafts[first:] = [draft for draft in self.drafts[first:] if draft.state is State.CURRENT]
        self._judged = min(self._judged, len(self.drafts))


def _is_before(record: Draft | Dropper, limits: Mapping[str, int | None]) -> bool:
    """Return whether a history that takes records of each rollout up to a limit holds this one."""
    limit = limits.get(record.rollout, 0)
    return limit is None or (record.ordinal is not None and record.ordinal < limit)


def _begins_turn(draft: Draft, *, has_events: bool, of_subagent: bool) -> bool:
    """Whether a message in the human's place is a prompt; that of a subagent comes from its parent."""
    if draft.origin is Origin.HUMAN:
        return draft.is_confirmed or draft.is_typed or not has_events
    return of_subagent and draft.role is Role.USER and draft.origin is Origin.SYNTHETIC
