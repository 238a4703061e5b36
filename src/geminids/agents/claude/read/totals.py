"""The CLI's own total for a session, and what it says about requests that no line tells of.

`cost-state` (since 2.1) goes on through resumes and holds what subagents used too; a run that is killed
writes none, and the next one begins anew. The total of a fork goes on from that of the session it was forked
from. The request for the summary of a compaction has no line anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from geminids.agents.claude.read.conversations import Conversation
from geminids.agents.claude.read.records import COST_STATE, SYSTEM
from geminids.agents.claude.read.tokens import difference, reported_total
from geminids.core.model import Message, Origin, Session, Unrecorded, Usage
from geminids.core.model.summary import usage_of

_FOR_COMPACTION = "summary for a compaction"
_BESIDE = "requests beside the conversation"
_BY_TOTAL = "the CLI's own total is larger by this; such requests are in no record"
_NO_RECORD = "the CLI asked the model for it and recorded the summary, but not the request"


class Totals(NamedTuple):
    """What the CLI says that a session used, and what its records do not tell of."""

    reported: Usage | None
    """With what its subagents used, and what was copied from the session it is a fork of."""
    unrecorded: tuple[Unrecorded, ...]


def totals_of(
    conversation: Conversation, messages: Sequence[Message], children: Sequence[Session], *, is_fork: bool
) -> Totals:
    """What the CLI's own total tells, as far as it can be compared."""
    compactions = _compactions(conversation)
    states = [record for record in conversation.facts if record.kind == COST_STATE]
    reported = reported_total(states[-1].value) if states else None
    if reported is None or _was_left_behind(messages, states[-1].place.start):
        return Totals(None if is_fork else reported, _without_total(0 if is_fork else compactions))
    counted = Usage.sum([usage_of(messages), *(child.usage for child in children)])
    more = difference(reported, counted)
    if is_fork:
        # What the first session used before that is not in this file is not missing from it.
        return Totals(None if more else reported, ())
    if more is None:
        return Totals(reported, _without_total(compactions))
    what, requests = (_FOR_COMPACTION, compactions) if compactions else (_BESIDE, None)
    return Totals(reported, (Unrecorded(what, _BY_TOTAL, requests, more),))


def _compactions(conversation: Conversation) -> int:
    """How often a summary was made of what came before."""
    boundaries = [
        record
        for record in conversation.records
        if record.kind == SYSTEM and record.value.get("subtype") == "compact_boundary"
    ]
    return len(boundaries)


def _was_left_behind(messages: Sequence[Message], written: int) -> bool:
    """Whether the model answered after the total was written: a run that is killed writes none."""
    return any(message.origin is Origin.MODEL and message.source.start > written for message in messages)


def _without_total(compactions: int) -> tuple[Unrecorded, ...]:
    return (Unrecorded(_FOR_COMPACTION, _NO_RECORD, compactions),) if compactions else ()
