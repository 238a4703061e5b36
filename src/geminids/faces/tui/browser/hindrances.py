"""What stands in the way of resuming the sessions that are seen, as far as that can be told cheaply.

A folder is looked for in a thread, since one of another machine may keep whoever asks waiting.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from geminids.faces.tui.browser.expiring import EVERY

if TYPE_CHECKING:
    from geminids.faces.tui.browser.view import Stage
    from geminids.faces.tui.matches import Line


class Hindrances:
    """What is known of it; what is asked once is asked again after `forget`."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._forgotten_at = stage.now
        self._asked: set[str] = set()
        self._gone: set[str] = set()
        self._missing: Mapping[str, str] | None = None

    def look(self, lines: Iterable[Line]) -> None:
        """Ask for what is not known of these sessions."""
        folders = {line.session.project.path for line in lines if line.session.project.path}
        if new := folders - self._asked:
            self._asked |= new
            is_first = self._missing is None
            self._stage.ask(
                f"folders {len(self._asked)}",
                lambda library: (_gone(new), library.missing_programs() if is_first else None),
                lambda found: self._take(new, *found),
                is_slow=True,
            )

    def forget(self) -> None:
        """Look again, unless it was a moment ago: folders come and go."""
        now = self._stage.now
        if now - self._forgotten_at >= EVERY:
            self._forgotten_at = now
            self._asked.clear()

    def of(self, line: Line) -> str:
        """Why it cannot be resumed as it is; empty if nothing is known of that."""
        session = line.session
        if session.project.path in self._gone:
            return "its folder is gone"
        program = (self._missing or {}).get(session.agent)
        return f"{program} is not installed" if program else ""

    def _take(
        self, looked_for: Collection[str], gone: Collection[str], missing: Mapping[str, str] | None
    ) -> None:
        self._gone = self._gone - {*looked_for} | {*gone}
        if missing is not None:
            self._missing = missing


def _gone(folders: Collection[str]) -> set[str]:
    return {folder for folder in folders if not os.path.isdir(folder)}  # noqa: PTH112 - pathlib raises for what cannot be a name
