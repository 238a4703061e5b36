"""The outline of a session: its prompts with what came of each, and what was dropped of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from geminids.core.model import Message, Origin, State, ToolCall, ToolStatus
from geminids.sharing.transcript import safe
from geminids.sharing.transcript.entries import PROMPT_ORIGINS, completed_at, is_prompt
from geminids.sharing.transcript.labels import call_outcome
from geminids.sharing.transcript.limits import LONGEST_PROMPT, cut

_OUT_OF_CONTEXT = frozenset({State.COMPRESSED, State.REWOUND})


class PromptTurn(NamedTuple):
    """A prompt, and the messages until the next one."""

    number: int
    """Of the prompt among all messages, from 1."""
    prompt: Message
    answers: Sequence[Message]

    @property
    def text(self) -> str:
        """What was typed, in a line."""
        return prompt_line(self.prompt)

    @property
    def calls(self) -> list[ToolCall]:
        """The tool calls of the answers."""
        return [call for one in self.answers for call in one.tool_calls]

    @property
    def errors(self) -> int:
        """How many of these did not end well."""
        return sum(call_outcome(call) is ToolStatus.ERROR for call in self.calls)

    @property
    def tokens(self) -> int | None:
        """What the answers used; None if no answer says so."""
        known = [one.usage.total for one in self.answers if one.usage and one.usage.total is not None]
        return sum(known) if known else None

    @property
    def completed_at(self) -> datetime | None:
        """When the last of the answers was complete."""
        return max(filter(None, map(completed_at, self.answers)), default=None)


def kinds_of_prompts(turns: Iterable[PromptTurn], told: Container[int]) -> dict[str, int]:
    """How many lines of an outline are what, and how many prompts are left out for what became of them.

    With these the prompts add up to those that the session counts, which has neither copies nor commands.
    """
    found: Counter[str] = Counter()
    for turn in turns:
        is_told, prompt = turn.number in told, turn.prompt
        if prompt.imported or prompt.origin is not Origin.HUMAN:
            found["copied" if prompt.imported else "command"] += is_told
        elif is_told:
            found["prompt"] += 1
        else:
            found["hidden" if prompt.state is State.CURRENT else prompt.state] += 1
    return {kind: number for kind, number in found.items() if number}


class DroppedBranch(NamedTuple):
    """Messages that stand together and were dropped by one record."""

    first: int
    """The number of the first of them among all messages, from 1."""
    messages: Sequence[Message]
    forked_after: int | None
    """The last message before them that stayed."""

    @property
    def last(self) -> int:
        """The number of the last of them."""
        return self.first + len(self.messages) - 1

    @property
    def text(self) -> str:
        """What was typed first in it, in a line."""
        typed = filter(is_prompt, self.messages)
        return prompt_line(next(typed, self.messages[0]))


def prompt_turns(messages: Sequence[Message]) -> list[PromptTurn]:
    """The prompts among messages with what followed each; what comes before the first belongs to none."""
    begins = [place for place, one in enumerate(messages) if is_prompt(one)]
    ends = [*begins[1:], len(messages)]
    return [
        PromptTurn(begin + 1, messages[begin], messages[begin + 1 : end])
        for begin, end in zip(begins, ends, strict=False)
    ]


def dropped_branches(messages: Sequence[Message]) -> list[DroppedBranch]:
    """What was taken out of the agent's view, and where it forked."""
    found: list[DroppedBranch] = []
    forked_after: int | None = None
    first = 1
    for (state, _), run in groupby(messages, key=lambda one: (one.state, one.dropped_by)):
        together = list(run)
        if state is State.CURRENT:
            forked_after = first + len(together) - 1
        else:
            found.append(DroppedBranch(first, together, forked_after))
        first += len(together)
    return found


def left_context(messages: Sequence[Message]) -> list[list[int]]:
    """The numbers of the messages that one record took out of the agent's context, for each such record."""
    numbers: dict[object, list[int]] = {}
    for number, message in enumerate(messages, 1):
        if message.state in _OUT_OF_CONTEXT and message.dropped_by:
            numbers.setdefault((message.state, message.dropped_by), []).append(number)
    return list(numbers.values())


def prompt_line(message: Message) -> str:
    """What was typed in a message, in a line."""
    words = "".join(message.text(origin) for origin in PROMPT_ORIGINS)
    return cut(safe.line(words[: 4 * LONGEST_PROMPT]).strip(), LONGEST_PROMPT)
