"""The agent's view: the items that Codex CLI would send to the model if it resumed from a rollout.

A compaction replaces all items by its own list, a rollback drops the newest turns, and a fork begins with
what its parents hold. What was kept before the first list of a compaction was made (0.44) is rebuilt only
in meaning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from geminids.agents.codex.read.ancestry import Ancestry, Rollout, before
from geminids.agents.codex.read.content import texts_of
from geminids.agents.codex.read.injected import origin_of
from geminids.agents.codex.read.log import read_log
from geminids.agents.codex.read.records import EVENT, ITEM, Record
from geminids.core.disk import GIVEN
from geminids.core.model import Origin


def agent_view(path: Path) -> dict[str, Any] | None:
    """The thread as the CLI would rebuild it from this file; None if it finds no session there."""
    rollout = Rollout.of(read_log(path, GIVEN))
    if rollout.first is None:
        return None
    items = _Items()
    for ancestor in Ancestry([rollout]).of(rollout):
        for record in before(ancestor.rollout.log.records, ancestor.end):
            items.apply(record)
    for record in rollout.log.records:
        items.apply(record)
    return {"session_meta": rollout.meta, "items": items.current}


class _Items:
    """The items of a history, as its records change it."""

    def __init__(self) -> None:
        self.current: list[dict[str, Any]] = []
        self._compactions = 0
        self._replaced = 0
        """How many of the items the newest compaction put in the place of all others."""

    def apply(self, record: Record) -> None:
        payload = record.payload
        if record.kind.startswith(ITEM):
            self.current.append(payload)
        elif record.kind == "compacted":
            self._compact(payload)
        elif record.kind == EVENT + "thread_rolled_back":
            self._roll_back(payload.get("num_turns"))

    def _compact(self, payload: dict[str, Any]) -> None:
        history = payload.get("replacement_history")
        if type(history) is list:
            self.current = [item for item in history if type(item) is dict]
        else:
            self.current = _summarised(self.current, payload.get("message"))
        self._compactions, self._replaced = self._compactions + 1, len(self.current)

    def _roll_back(self, turns: object) -> None:
        starts = [at for at, item in enumerate(self.current) if _begins_turn(item)]
        if type(turns) is not int or turns <= 0 or not starts:
            return
        first = starts[-min(turns, len(starts))]
        if first < self._replaced and self._compactions == 1:
            # Codex undoes the compaction, but does not read again what it replaced.
            first = next((at for at in starts if at >= self._replaced), len(self.current))
            self.current = self.current[self._replaced : first]
            self._replaced = 0
        else:
            del self.current[first:]


def _summarised(items: list[dict[str, Any]], summary: object) -> list[dict[str, Any]]:
    """Return the prompts and the summary."""
    prompts = [item for item in items if item.get("role") == "user"]
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]}
    return [*prompts, said] if isinstance(summary, str) and summary else prompts


def _begins_turn(item: dict[str, Any]) -> bool:
    texts = [text for text in texts_of(item.get("content")) if text.strip()]
    return item.get("role") == "user" and any(origin_of(text) is Origin.HUMAN for text in texts)
