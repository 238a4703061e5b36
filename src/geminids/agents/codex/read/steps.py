"""The messages of a model in the making: what one request gave is one of them.

It ends where the tokens of the request are told, or where somebody else speaks. Releases up to 0.63 tell the
tokens before the items, later ones behind them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from geminids.agents.codex.read.drafts import Draft, Whose, id_of, name_of_line
from geminids.agents.codex.read.drops import View
from geminids.agents.codex.read.records import Record
from geminids.agents.codex.read.shown import Shown
from geminids.agents.codex.read.tokens import Sum
from geminids.core.model import Origin, Role, State
from geminids.core.timestamps import parse_time

_ASSISTANT, _MODEL = Role.ASSISTANT, Origin.MODEL
"""Under names that Python looks up faster: most messages have them."""


class _EarlyUsage(NamedTuple):
    """Tokens that were told before the items that used them."""

    used: Sum
    request_id: str | None
    record: Record


class Steps:
    """Messages in order, the last of which the model may still be at."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.view = View(self.drafts)
        """Those of them that the agent sees."""
        self.settings: dict[str, str] = {}
        """The model, the folder and the name of the session as they were settled last."""
        self._whose = Whose.OWN
        self._rollout = ""
        self._step: Draft | None = None
        """The message that the model is at."""
        self._early_usage: _EarlyUsage | None = None
        self._shown = Shown()
        self._typed: tuple[str, Draft] | None = None
        """A prompt of which an event told before its item."""

    def _new(self, record: Record, role: Role, origin: Origin) -> Draft:
        draft = Draft(id_of(record), role, origin, parse_time(record.time), record.place)
        draft.whose, draft.rollout, draft.ordinal = self._whose, self._rollout, record.ordinal
        self._put(draft)
        return draft

    def _put(self, draft: Draft) -> None:
        self.drafts.append(draft)
        if draft.state is State.CURRENT:
            self.view.drafts.append(draft)

    def _item(self, record: Record, parts: list[Any]) -> Draft:
        """Add what the model gave to its message, or begin one."""
        step = self._step
        if step is not None and step.used is None and step.is_answered:
            # What came back was read by the model before it went on.
            self._close()
            step = None
        if step is None:
            self._typed = None
            step = self._step = self._new(record, _ASSISTANT, _MODEL)
            step.model = self.settings.get("model")
            if self._early_usage is not None:
                step.used, step.request_id = self._early_usage.used, self._early_usage.request_id
                step.also_at.append(self._early_usage.record.place)
                self._early_usage = None
        else:
            step.also_at.append(record.place)
        step.keys += keys_of(record)
        step.parts += parts
        return step

    def _close(self) -> None:
        """End the message that the model is at. Tokens of which no answer was written have a message too."""
        self._step = None
        if self._early_usage is not None:
            lost = self._early_usage
            self._early_usage = None
            draft = self._new(lost.record, _ASSISTANT, _MODEL)
            draft.id = name_of_line(lost.record)
            draft.used, draft.request_id = lost.used, lost.request_id
            draft.model = self.settings.get("model")

    def _pause(self) -> None:
        """Somebody else speaks, or a turn ends: what was shown and has no item by now has none."""
        self._close()
        parts, records, has_words = self._shown.take()
        if not parts:
            return
        newest = self.drafts[-1] if self.drafts else None
        if newest is not None and newest.origin is _MODEL and not has_words:
            newest.parts[:0] = parts
            newest.also_at += [record.place for record in records]
            return
        draft = self._new(records[0], _ASSISTANT, _MODEL)
        draft.id = name_of_line(records[0])
        draft.model = self.settings.get("model")
        draft.parts += parts
        draft.also_at += [record.place for record in records[1:]]

    def _spend(self, used: Sum, request_id: str | None, record: Record) -> None:
        """Give tokens to the message that used them; to the next one if they are told before it."""
        step = self._step
        if step is not None and step.used is None:
            step.used, step.request_id = used, request_id
            step.also_at.append(record.place)
            self._step = None
        else:
            self._close()
            self._early_usage = _EarlyUsage(used, request_id, record)


def keys_of(record: Record) -> tuple[str, ...]:
    """The id of an item, by which a later history may name it."""
    written = record.payload.get("id")
    return (written,) if type(written) is str else ()
