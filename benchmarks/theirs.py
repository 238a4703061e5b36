"""Other tools as the benchmarks run them: offline, on a home that is theirs alone, without a daemon.

A tool is measured where it is installed: on the PATH, or where an environment variable says, which may hold
several words (`PEER_AGENTSVIEW="python /opt/peer/agentsview"`).
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from measuring import Spent, installed, spend


class Counted(NamedTuple):
    """The tokens that a tool has counted in a home, and what they cost at list price."""

    fresh: int
    """Of the prompts: what came from no cache and went into none."""
    cached: int
    written: int
    """What went into a cache."""
    output: int
    """The answers with the thoughts: not all tools tell them apart."""
    cost: float | None = None

    @property
    def total(self) -> int:
        """All of them."""
        return self.fresh + self.cached + self.written + self.output


class Peer(ABC):
    """Another tool, with a home to look at."""

    name: ClassVar[str]
    stated_for: ClassVar[str]
    """The version that the goals speak of."""

    def __init__(self, words: list[str], home: Path, data: Path) -> None:
        self.words = words
        self.home = home
        self.data = data
        """Where it may keep what is its own, if it lets itself be told."""

    @classmethod
    def is_installed(cls) -> bool:
        """Whether there is anything to run; says so if not."""
        if installed(cls.name):
            return True
        variable = f"PEER_{cls.name.upper().replace('-', '_')}"
        print(f"{cls.name} is left out: it is not installed (PATH, {variable}).")
        return False

    @classmethod
    def at(cls, home: Path, bench: Path) -> Self:
        """The tool that is installed, told with its version."""
        peer = cls(installed(cls.name), home, bench / cls.name)
        peer._tell_version()
        return peer

    @property
    def environment(self) -> dict[str, str]:
        """Nothing of the user's own: neither their sessions nor their settings."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "DO_NOT_TRACK": "1",
        }

    def spend(self, *words: str) -> Spent:
        """What one of its commands takes."""
        return spend([*self.words, *words], self.environment)

    def answer(self, *words: str) -> str:
        """What one of its commands prints."""
        command = [*self.words, *words]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=self.environment)
        return done.stdout

    def _tell_version(self) -> None:
        version = self.answer("--version").strip()
        print(
            version
            if self.stated_for in version
            else f"{version}; the goals are stated for {self.stated_for}"
        )


class Indexer(Peer):
    """One that keeps an index."""

    @abstractmethod
    def synced(self) -> Spent:
        """What it takes to bring its index up to date."""

    @abstractmethod
    def forget(self) -> None:
        """Remove its index."""

    @abstractmethod
    def sessions(self) -> int:
        """How many sessions with messages it has taken in."""

    def built(self) -> Spent:
        """What it takes to make its index where there is none."""
        self.forget()
        return self.synced()


class AgentsView(Indexer):
    """agentsview. It does more with each message than we do."""

    name = "agentsview"
    stated_for = "0.46.1"
    USAGE = ("usage", "daily", "--all", "--json", "--no-sync", "--offline")

    @property
    def environment(self) -> dict[str, str]:
        """It would start a daemon and report its use."""
        return super().environment | {
            "AGENTSVIEW_TELEMETRY_ENABLED": "0",
            "AGENTSVIEW_NO_DAEMON": "1",
            "AGENTSVIEW_DATA_DIR": str(self.data),
        }

    def synced(self) -> Spent:
        """Once, where its daemon would keep at it."""
        return self.spend("sync")

    def forget(self) -> None:
        """All that it keeps."""
        shutil.rmtree(self.data, ignore_errors=True)

    def sessions(self) -> int:
        """As its database says."""
        connection = sqlite3.connect(f"file:{self.data / 'sessions.db'}?mode=ro", uri=True)
        (sessions,) = connection.execute("SELECT count(*) FROM sessions WHERE message_count > 0").fetchone()
        connection.close()
        return int(sessions)

    def counted(self) -> Counted:
        """The tokens of all agents' sessions in its index."""
        totals: dict[str, Any] = json.loads(self.answer(*self.USAGE))["totals"]
        return _counted(totals, totals["outputTokens"], totals["totalCost"]["microdollars"] / 1e6)


class FastResume(Indexer):
    """fast-resume. It reads no sessions of Gemini CLI, and neither thoughts nor arguments of tools."""

    name = "fast-resume"
    stated_for = "2.14.0"

    def synced(self) -> Spent:
        """It has no command for this alone: a list of one is the least that does it."""
        return self.spend("--list", "--limit", "1")

    def forget(self) -> None:
        """It keeps its index in the home."""
        shutil.rmtree(self.home / ".cache", ignore_errors=True)

    def sessions(self) -> int:
        """As its list says; a torn one is not in it."""
        return len(json.loads(self.answer("--json", "--all", "--no-refresh"))["sessions"])


class Ccusage(Peer):
    """ccusage. It keeps nothing, and reads all files for every answer.

    What npm puts on the PATH is a script that starts the program; PEER_CCUSAGE may name the program itself,
    which is that much quicker.
    """

    name = "ccusage"
    stated_for = "20.0.24"

    def usage(self, agent: str) -> tuple[str, ...]:
        """The words that ask for what an agent used."""
        return (agent, "daily", "--json", "--offline")

    def counted(self, agent: str) -> Counted:
        """The tokens of an agent's sessions."""
        totals: dict[str, Any] = json.loads(self.answer(*self.usage(agent)))["totals"]
        # Thoughts of Gemini are in its total and nowhere else.
        output = totals["totalTokens"] - _counted(totals, 0, None).total
        return _counted(totals, output, totals.get("totalCost", totals.get("costUSD")))


def _counted(totals: dict[str, Any], output: int, cost: float | None) -> Counted:
    prompts = (totals["inputTokens"], totals["cacheReadTokens"], totals["cacheCreationTokens"])
    return Counted(*prompts, output, cost)
