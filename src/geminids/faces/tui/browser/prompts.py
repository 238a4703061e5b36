"""The outline of the session that is read: its prompts, and what came of each."""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple

from geminids.faces.drawing.amounts import dollars, short
from geminids.faces.tui.browser.told import Told
from geminids.sharing.transcript import words
from geminids.sharing.transcript.outline import PromptTurn, prompt_turns


class ToldPrompt(NamedTuple):
    """A prompt as it is told in a line."""

    number: int
    """Of its message, from 1."""
    name: str
    came_of_it: str


def prompts_of(told: Told) -> list[ToldPrompt]:
    """All prompts of a session."""
    turns = prompt_turns(told.session.messages)
    return [ToldPrompt(turn.number, f"#{turn.number}  {turn.text}", _came_of(turn, told)) for turn in turns]


def _came_of(turn: PromptTurn, told: Told) -> str:
    costs = [told.costing.of(answer) for answer in turn.answers if not answer.imported]
    known = [cost for cost in costs if cost is not None]
    facts = (
        words.count(turn.errors, "error") if turn.errors else "",
        f"{short(turn.tokens)} tokens" if turn.tokens else "",
        dollars(sum(known, Decimal(0))) if known else "",
    )
    return " · ".join(filter(None, facts))
