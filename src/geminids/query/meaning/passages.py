"""What of a session tells what it is about: its title, its prompts, its last answer, and all of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

LONGEST = 2_000
"""Characters of a passage: what is about one thing says so in the beginning."""
MOST_PROMPTS = 40
_ABOUT_ALL = 4 * LONGEST

Passage = tuple[int, str]
"""The place of the message that it is shown with, and its text."""


def passages(title: str | None, texts: Iterable[tuple[int, Mapping[str, str]]]) -> list[Passage]:
    """The passages of a session whose messages have these words by column; the last is all of them in one."""
    prompts: list[Passage] = []
    answer: Passage | None = None
    for place, by_column in texts:
        if by_column["human"].strip() and len(prompts) < MOST_PROMPTS:
            prompts.append((place, by_column["human"][:LONGEST]))
        if by_column["model"].strip():
            answer = place, by_column["model"][:LONGEST]
    told = [*prompts, *([answer] if answer else [])]
    if not told:
        return []
    first = told[0][0]
    if title and not told[0][1].startswith(title):
        told.insert(0, (first, title))
    return [*told, (first, "\n".join(text for _, text in told)[:_ABOUT_ALL])]
