"""What drops messages: they stay, with their state and the record that dropped them.

a rollback      the human took back the newest turns
a revert        a rollout goes on from an earlier place of another
a compaction    a summary stands for what was said so far
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geminids.model import Origin, Role, Source, State
from geminids.sources.codex.drafts import Draft
from geminids.sources.codex.summaries import Kept, is_summary


def roll_back(drafts: Sequence[Draft], turns: int, by: Source, *, of_subagent: bool) -> None:
    """Drop the newest turns of those that the agent sees."""
    events_tell = any(draft.is_confirmed for draft in drafts)
    seen = [draft for draft in drafts if draft.state is State.CURRENT]
    starts = [
        at
        for at, draft in enumerate(seen)
        if _begins_turn(draft, events_tell=events_tell, of_subagent=of_subagent)
    ]
    first = starts[-min(turns, len(starts))] if starts else len(seen)
    for draft in seen[first:]:
        draft.drop(State.REWOUND, by)


def _begins_turn(draft: Draft, *, events_tell: bool, of_subagent: bool) -> bool:
    """Whether a message in the human's place is a prompt; that of a subagent comes from its parent."""
    if draft.origin is Origin.HUMAN:
        return draft.is_confirmed or draft.is_typed or not events_tell
    return of_subagent and draft.role is Role.USER and draft.origin is Origin.SYNTHETIC


def take_back(drafts: Sequence[Draft], seen: Mapping[str, int | None], by: Source) -> None:
    """Keep of each rollout what stands before an ordinal; the rest was taken back."""
    for draft in drafts:
        limit = seen.get(draft.rollout, 0)
        if limit is not None and (draft.ordinal is None or draft.ordinal >= limit):
            draft.drop(State.REWOUND, by)


def taken_as_summary(drafts: list[Draft], summary: str) -> Draft | None:
    """The newest message, taken away, if it is the summary as the model said it."""
    spoken = drafts[-1] if drafts else None
    return drafts.pop() if spoken is not None and summary and is_summary(spoken, summary) else None


def compress(drafts: Sequence[Draft], history: object, by: Source) -> None:
    """Drop what a history that replaces all messages does not hold any more."""
    kept = Kept(history)
    for draft in reversed(drafts):
        if draft.state is State.CURRENT and not kept.holds(draft):
            draft.drop(State.COMPRESSED, by)
