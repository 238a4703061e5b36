"""Our own command beside an agent: processes of their own, in the agent's home, by the agent's clock."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.terminal import RUN

RUN_SECONDS = 60

Document = dict[str, Any]


class Ours(NamedTuple):
    """Where our command is run."""

    user_home: Path
    project: Path
    path: str
    """Where it looks for the programs of agents."""
    more: dict[str, str] = {}  # noqa: RUF012 - nothing is ever put into it
    """What else the agents hear from the environment."""

    @property
    def data(self) -> Path:
        """Our own folder."""
        return self.user_home / ".local" / "share" / "geminids"

    def ask(self, now: datetime, *words: str, codes: Collection[int] = (0,)) -> Document:
        """Run the command; the document that it prints."""
        ran = subprocess.run(
            [sys.executable, "-c", RUN, now.isoformat(), *words, "--json"],
            cwd=self.project,
            env=self.more | {"HOME": str(self.user_home), "PATH": self.path, "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert ran.returncode in codes, f"{words}: {ran.returncode}, {ran.stderr}{ran.stdout}"
        assert ran.stdout, f"{words}: {ran.stderr}"
        answer: Document = json.loads(ran.stdout)
        return answer

    def sessions(self, now: datetime, *words: str) -> list[Document]:
        """What is listed; nothing at all is an answer too."""
        listed: list[Document] = self.ask(now, "list", *words, codes=(0, 1))["sessions"]
        return listed

    def restored(self, now: datetime, session_id: str) -> Document:
        """Put a session back whose files are gone: it is listed as kept before, and not after."""
        assert self._is_kept(now, session_id), "it is not gone, or there is no copy of it"
        (done,) = self.ask(now, "restore", session_id, "--yes")["sessions"]
        assert done["written"] is True
        assert not self._is_kept(now, session_id), "it is still read from its copy"
        written: Document = done
        return written

    def _is_kept(self, now: datetime, session_id: str) -> bool:
        (kept,) = (one["kept"] for one in self.sessions(now, "--kind", "all") if one["id"] == session_id)
        return bool(kept)
