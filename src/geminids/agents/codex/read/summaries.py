"""Compaction: which words are a summary, and which messages the history after it still holds."""

from __future__ import annotations

from geminids.agents.codex.read.content import texts_of
from geminids.agents.codex.read.drafts import Draft
from geminids.core.model import Origin, Role, Text, Thought


def is_summary(spoken: Draft, summary: str) -> bool:
    """Whether the model said the summary, and nothing else; a prefix stands before it in the record."""
    if spoken.origin is not Origin.MODEL:
        return False
    match [part for part in spoken.parts if not isinstance(part, Thought)]:
        case [Text(text=text)]:
            return bool(text.strip()) and summary.endswith(text)
        case _:
            return False


class CompactedHistory:
    """What the history that replaces another still holds of it.

    Releases up to 0.63 do not write it down: what the human said is kept, the summary stands for the rest.
    """

    def __init__(self, history: object, summary: str) -> None:
        self.is_written = type(history) is list
        items = [item for item in history if type(item) is dict] if type(history) is list else []
        named = (item.get(field) for item in items for field in ("id", "call_id"))
        self._ids = {name for name in named if type(name) is str}
        texts = ("".join(texts_of(item.get("content"))) for item in items if item.get("role") == "user")
        self._texts = [text for text in texts if text != summary]
        """What is kept of the messages before: an earlier summary is not, even one in the same words."""

    def holds(self, draft: Draft) -> bool:
        """Whether it holds a message. To be asked from the newest on: each text stands for one."""
        if not self.is_written:
            return draft.origin is Origin.HUMAN
        if not self._ids.isdisjoint(draft.keys):
            return True
        if draft.role is not Role.USER or not self._texts:
            return False
        text = "".join(part.text for part in draft.parts if type(part) is Text)
        if text not in self._texts:
            return False
        self._texts.remove(text)
        return True
