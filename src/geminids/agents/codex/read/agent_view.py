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
    items: list[dict[str, Any]] = []
    for ancestor in Ancestry([rollout]).of(rollout):
        for record in before(ancestor.rollout.log.records, ancestor.end):
            _apply(items, record)
    for record in rollout.log.records:
        _apply(items, record)
    return {"session_meta": rollout.meta, "items": items}


def _apply(items: list[dict[str, Any]], record: Record) -> None:
    payload = record.payload
    if record.kind.startswith(ITEM):
        items.append(payload)
    elif record.kind == "compacted":
        history = payload.get("replacement_history")
        if type(history) is list:
            items[:] = [item for item in history if type(item) is dict]
        else:
            _summarise(items, payload.get("message"))
    elif record.kind == EVENT + "thread_rolled_back":
        _roll_back(items, payload.get("num_turns"))


def _summarise(items: list[dict[str, Any]], summary: object) -> None:
    """Keep what the human said, and the summary in the place of all else."""
    prompts = [item for item in items if item.get("role") == "user"]
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": summary}]}
    items[:] = [*prompts, said] if isinstance(summary, str) and summary else prompts


def _roll_back(items: list[dict[str, Any]], turns: object) -> None:
    starts = [at for at, item in enumerate(items) if _begins_turn(item)]
    if type(turns) is int and turns > 0 and starts:
        del items[starts[-min(turns, len(starts))] :]


def _begins_turn(item: dict[str, Any]) -> bool:
    texts = [text for text in texts_of(item.get("content")) if text.strip()]
    return item.get("role") == "user" and any(origin_of(text) is Origin.HUMAN for text in texts)
