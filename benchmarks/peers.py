"""Our index against other tools on the same home, in one run, as a user meets them.

    python benchmarks/peers.py [--sessions 1000] [--seed N] [--rounds 3] [--corpus DIR] [--keep]

A peer is measured where it is installed: on the PATH, or where an environment variable says
(`PEER_AGENTSVIEW="python /opt/peer/agentsview"`). agentsview is run once, offline and without its daemon, in
a home and a data folder of its own. It does more with each message than we do, and counts some of them
wrongly; `performance.md` says which.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple

from corpora import can_generate, chosen, linked, truth_of
from measuring import ROOT, Goal, Measures, Spent, Verdict, emptied, installed, least, options, spend
from ours import Place, both_scopes, write_bytecode

STATED_FOR = "0.46.1"
"""The version of agentsview that the goals speak of."""


class AgentsView(NamedTuple):
    """agentsview, with a home and a data folder."""

    words: list[str]
    home: Path
    data: Path

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
            "AGENTSVIEW_TELEMETRY_ENABLED": "0",
            "AGENTSVIEW_NO_DAEMON": "1",
            "AGENTSVIEW_DATA_DIR": str(self.data),
        }

    def synced(self) -> Spent:
        """What it takes to bring its index up to date."""
        return spend([*self.words, "sync"], self.environment)

    def built(self) -> Spent:
        """What it takes to make its index where there is none."""
        shutil.rmtree(self.data, ignore_errors=True)
        return self.synced()

    def version(self) -> str:
        """As it says itself."""
        command = [*self.words, "--version"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=self.environment)
        return done.stdout.strip()

    def sessions(self) -> int:
        """How many sessions with messages it has taken in."""
        connection = sqlite3.connect(f"file:{self.data / 'sessions.db'}?mode=ro", uri=True)
        (sessions,) = connection.execute("SELECT count(*) FROM sessions WHERE message_count > 0").fetchone()
        connection.close()
        return int(sessions)


def main() -> int:
    """Measure the peers that are there; 1 if a goal is missed."""
    told = options(__doc__, rounds=3)
    print("fast-resume is left out: it reads no sessions of Gemini CLI, and we read no others yet.")
    words = installed("agentsview")
    if not words:
        print("agentsview is left out: it is not installed (PATH, PEER_AGENTSVIEW).")
        return 0
    if not can_generate():
        return 0
    bench = emptied(ROOT / ".bench" / "peers")
    home = linked(chosen(told, bench), bench / "home")
    verdict = Verdict(truth_of(home)["sessions"])
    write_bytecode(bench)
    compare(verdict, AgentsView(words, home, bench / "agentsview"), both_scopes(home, bench), told.rounds)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def compare(verdict: Verdict, peer: AgentsView, places: tuple[Place, Place], rounds: int) -> None:
    """Both make their index from nothing, then see that nothing is new."""
    version = peer.version()
    print(version if STATED_FOR in version else f"{version}; the goals are stated for {STATED_FOR}")
    builds: Measures = {"agentsview": peer.built, **{place.scope: place.built for place in places}}
    cold = least(builds, rounds)
    _tell(verdict, "cold", cold)
    _check(verdict, peer)
    for place, bound in zip(places, (6.0, 3.0), strict=True):
        times = cold["agentsview"].cpu / cold[place.scope].cpu
        verdict.at_least(f"3: agentsview over ours, {place.scope}", times, Goal(bound, sessions=1000))
    looks: Measures = {"agentsview": peer.synced, "ours": partial(places[0].spend, "sync")}
    unchanged = least(looks, 4 * rounds)
    _tell(verdict, "nothing new", unchanged)
    share = unchanged["ours"].cpu / unchanged["agentsview"].cpu
    verdict.at_most("5: sync, nothing new, over agentsview", share, Goal(1 / 6, sessions=1000))


def _check(verdict: Verdict, peer: AgentsView) -> None:
    """Its time means something only if it has read the home; it is known to split some sessions."""
    true = truth_of(peer.home)["sessions_with_messages"]
    is_near = 0.9 * true <= peer.sessions() <= 1.1 * true
    verdict.line("agentsview, sessions taken in", f"{peer.sessions()}", f"truth {true}", is_near)


def _tell(verdict: Verdict, what: str, taken: dict[str, Spent]) -> None:
    for name, spent in taken.items():
        clock = f"{spent.wall:.2f} s by the clock, {spent.peak:.0f} MB"
        verdict.line(f"{what}: {name}", f"{spent.cpu:.2f} s CPU", clock)


if __name__ == "__main__":
    sys.exit(main())
