"""Our index against other tools on the same home, in one run, as a user meets them.

    python benchmarks/peers.py [--agent gemini|claude] [--sessions 1000] [--seed N] [--rounds 3]
                               [--corpus DIR] [--keep]

With a home of Gemini CLI the peer is agentsview, with one of Claude Code fast-resume, each where it is
installed (PATH, PEER_AGENTSVIEW, PEER_FAST_RESUME). agentsview does more with each message than we do, and
fast-resume less; both count some of them wrongly: `performance.md` says which.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from corpora import chosen, grow, linked, logs_by_size, own, truth_of
from measuring import ROOT, Goal, Measures, Spent, Verdict, emptied, least, options
from ours import Place, both_scopes, write_bytecode
from theirs import AgentsView, FastResume, Indexer

PEERS: Mapping[str, type[Indexer]] = {"gemini": AgentsView, "claude": FastResume}
"""The one that the goals for an agent's sessions speak of."""
SMALL, LARGE = 1_000, 10_000
"""Sessions from which on goals are judged: those about the work itself, and those about its overhead."""
COMMAND_ROUNDS = 4
"""Short commands are measured so many times as often: they are near what can be measured at all."""


def main() -> int:
    """Measure the peers that are there; 1 if a goal is missed."""
    told = options(__doc__, rounds=3, agents=tuple(PEERS))
    agent = truth_of(told.corpus)["agent"] if told.corpus else told.agent
    if agent not in PEERS:
        print(f"No goal speaks of a peer that reads sessions of {agent}.")
        return 0
    if not PEERS[agent].is_installed():
        return 0
    bench = emptied(ROOT / ".bench" / "peers")
    home = linked(chosen(told, bench), bench / "home")
    peer = PEERS[agent].at(home, bench)
    verdict = Verdict(truth_of(home)["sessions"])
    write_bytecode(bench)
    compare(verdict, peer, both_scopes(home, bench), told.rounds)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def compare(verdict: Verdict, peer: Indexer, places: tuple[Place, Place], rounds: int) -> None:
    """Both make their index from nothing, then see that nothing is new, then that one file has grown."""
    logs = _logs_that_grow(places[0].home)
    builds: Measures = {peer.name: peer.built, **{place.scope: place.built for place in places}}
    cold = least(builds, rounds)
    _tell(verdict, "cold", cold)
    _check(verdict, peer)
    _judge_cold(verdict, cold, places)
    syncs: Measures = {peer.name: peer.synced, "ours": partial(places[0].spend, "sync")}
    unchanged = least(syncs, COMMAND_ROUNDS * rounds)
    _tell(verdict, "nothing new", unchanged)
    _judge_unchanged(verdict, unchanged)
    for which, log in logs.items():
        grown = least({name: partial(_grown, log, sync) for name, sync in syncs.items()}, rounds)
        _tell(verdict, f"the {which} file grew", grown)
        bound = Goal({"median": 1.6, "largest": 2.5}[which], sessions=LARGE)
        ratio = grown["ours"].cpu / unchanged["ours"].cpu
        verdict.at_most(f"6: the {which} file grew, over nothing new", ratio, bound)


def _logs_that_grow(home: Path) -> dict[str, Path]:
    """The median and the largest file, our own: one that is replaced is more than one that has grown."""
    logs = logs_by_size(home)
    growing = {"median": logs[len(logs) // 2], "largest": logs[-1]}
    for log in growing.values():
        own(log)
    return growing


def _grown(log: Path, sync: Callable[[], Spent]) -> Spent:
    grow(log)
    return sync()


def _judge_cold(verdict: Verdict, cold: Mapping[str, Spent], places: tuple[Place, Place]) -> None:
    for place, bound in zip(places, (6.0, 3.0), strict=True):
        if "agentsview" in cold:
            times = cold["agentsview"].cpu / cold[place.scope].cpu
            verdict.at_least(f"3: agentsview over ours, {place.scope}", times, Goal(bound, sessions=SMALL))
    if "fast-resume" in cold:
        ours, theirs = cold[places[0].scope], cold["fast-resume"]
        verdict.at_most("4: ours over fast-resume", ours.cpu / theirs.cpu, Goal(2.0, sessions=SMALL))
        clock = ours.wall / theirs.wall
        verdict.at_most("4: ours over fast-resume, by the clock", clock, Goal(2.5, sessions=SMALL))


def _judge_unchanged(verdict: Verdict, unchanged: Mapping[str, Spent]) -> None:
    goals = {"agentsview": Goal(1 / 6, sessions=SMALL), "fast-resume": Goal(1.0, sessions=LARGE)}
    for name, goal in goals.items():
        if name in unchanged:
            share = unchanged["ours"].cpu / unchanged[name].cpu
            verdict.at_most(f"5: sync, nothing new, over {name}", share, goal)


def _check(verdict: Verdict, peer: Indexer) -> None:
    """Its time means something only if it has read the home; some split sessions, or miss torn ones."""
    true, found = truth_of(peer.home)["sessions_with_messages"], peer.sessions()
    verdict.line(
        f"{peer.name}, sessions taken in", f"{found}", f"truth {true}", 0.9 * true <= found <= 1.1 * true
    )


def _tell(verdict: Verdict, what: str, taken: Mapping[str, Spent]) -> None:
    for name, spent in taken.items():
        clock = f"{spent.wall:.3g} s by the clock, {spent.peak:.0f} MB"
        verdict.line(f"{what}: {name}", f"{spent.cpu:.3g} s CPU", clock)


if __name__ == "__main__":
    sys.exit(main())
