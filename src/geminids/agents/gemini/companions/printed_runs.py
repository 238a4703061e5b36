"""What headless runs of one session printed, told as one session; by events or by answers alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from geminids.agents.gemini.companions.accounts import CopyLog
from geminids.agents.gemini.companions.api_turns import built
from geminids.agents.gemini.companions.copy_sessions import modified, session_of
from geminids.agents.gemini.read.turns import Turn
from geminids.core.model import Session, SessionKind, Status, Unrecorded, Usage

_REASON = "The run counted it beside the talk; no session file holds it."


class PrintedRuns:
    """A session in the making: what its runs said, and what all of them used."""

    def __init__(self, native_id: str) -> None:
        self._native_id = native_id
        self._turns: list[Turn] = []
        self._models: dict[str, None] = {}
        self._usages: list[Usage] = []
        self._beside_talk: dict[str, list[Usage]] = {}
        """What requests beside the talk used, by what they were for."""
        self._is_open = True
        """Whether the last run did not come to its end."""

    def _note_models(self, models: object) -> None:
        if isinstance(models, dict):
            self._models |= dict.fromkeys(models)

    def session(self, log: CopyLog, path: Path) -> Session:
        """The session that the runs tell."""
        used = Usage.sum(self._usages)
        return session_of(
            log,
            self._native_id,
            SessionKind.COPY,
            built(log, self._turns),
            modified(path),
            models=tuple(self._models),
            usage=used,
            status=Status.INTERRUPTED if self._is_open else None,
            # A run counts all that it asked for, also what no session file holds.
            reported=used if self._usages else None,
            unrecorded=tuple(self._unrecorded()),
        )

    def _unrecorded(self) -> Iterator[Unrecorded]:
        for what, usages in self._beside_talk.items():
            used = Usage.sum(usages)
            yield Unrecorded(what, _REASON, used.requests, used)
