"""What events show of the model's thoughts and words: nearly always an item says the same.

An event may come long before its item, and in a damaged file the item may be missing. So what was shown is
kept until its item comes; what is left then stands for itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from geminids.agents.codex.read.records import Record
from geminids.core.model import Origin, Text, Thought

_SUBJECT = "**"


class Showing(NamedTuple):
    """A text that was shown, and the event."""

    text: str
    record: Record


class Shown:
    """What was shown, and has no item yet."""

    def __init__(self) -> None:
        self._thoughts: list[Showing] = []
        self._words: list[Showing] = []

    def thought(self, text: object, record: Record) -> None:
        """Note a thought that was shown."""
        if type(text) is str and text:
            self._thoughts.append(Showing(text, record))

    def words(self, text: str, record: Record) -> None:
        """Note words that were shown."""
        self._words.append(Showing(text, record))

    def forget_thoughts(self, recorded: Collection[str]) -> None:
        """An item holds these thoughts."""
        if self._thoughts:
            self._thoughts = [shown for shown in self._thoughts if shown.text not in recorded]

    def forget_words(self, recorded: Iterator[str]) -> None:
        """An item holds these words."""
        if self._words:
            text = "".join(recorded)
            self._words = [shown for shown in self._words if shown.text != text]

    def take(self) -> tuple[list[Thought | Text], list[Record], bool]:
        """What has no item, the events in order, and whether words are among it; all of it is forgotten."""
        thoughts, words = self._thoughts, self._words
        if not (thoughts or words):
            return [], [], False
        self._thoughts, self._words = [], []
        parts: list[Thought | Text] = [thought_of(text) for text, _ in thoughts]
        parts += [Text(text, Origin.MODEL) for text, _ in words]
        records = sorted(
            (shown.record for shown in (*thoughts, *words)), key=lambda record: record.place.start
        )
        return parts, records, bool(words)


def thought_of(text: str) -> Thought:
    """A piece of a summary; what stands in bold at its beginning is its subject."""
    if text.startswith(_SUBJECT):
        subject, found, rest = text[len(_SUBJECT) :].partition(_SUBJECT)
        if found and "\n" not in subject and (not rest or rest.startswith("\n")):
            return Thought(rest.strip(), subject)
    return Thought(text)
