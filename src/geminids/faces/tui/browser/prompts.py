"""The outline of the session that is read: its prompts, and what came of each."""

from __future__ import annotations

from typing import NamedTuple

from geminids.faces.tui.browser.told import Told, together
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
    used = together(told.used[turn.number : turn.number + len(turn.answers)])
    errors = words.count(turn.errors, "error") if turn.errors else ""
    return " · ".join(filter(None, (errors, used.words if used else "")))
