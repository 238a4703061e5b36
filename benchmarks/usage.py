"""What usage reports take, and whether they are right: ours beside those of other tools on the same home.

    python benchmarks/usage.py [--agent gemini|claude|codex] [--sessions 1000] [--seed N] [--rounds 3]
                               [--corpus DIR] [--keep]

Every sum must be the generator's own, session by session, and `--explain` must add up to it; a wrong one
fails the run, however fast it was. Time is the least CPU time of interleaved rounds of whole commands, with
the index up to date. The goals are stated for 10,000 sessions; with fewer they are shown and not judged.

ccusage and agentsview are measured where they are installed (PATH, PEER_CCUSAGE, PEER_AGENTSVIEW). Their sums
stand beside ours and the truth at the end. agentsview has to index the home first, which takes it minutes
with 10,000 sessions.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

from corpora import (
    check_equal,
    check_used,
    chosen,
    linked,
    spent_by_session,
    spent_in_all,
    truth_of,
)
from measuring import FLOOR, ROOT, Goal, Measures, Spent, Verdict, emptied, least, options, spend
from ours import Place, write_bytecode
from theirs import AgentsView, Ccusage, Counted

AGENTS = ("gemini", "claude", "codex")
STATED_FOR = 10_000
"""Sessions from which on the goals are judged: with fewer, starting Python is most of what is measured."""
COMMAND_ROUNDS = 4
"""Short commands are measured so many times as often: they are near what can be measured at all."""
GROUPINGS = ("day", "week", "month", "model", "agent", "project", "session")
COLUMNS = ("fresh", "cached", "written", "output", "total")


def main() -> int:
    """Check and measure everything; 1 if a sum is wrong or a goal is missed."""
    told = options(__doc__, rounds=3, agents=AGENTS)
    bench = emptied(ROOT / ".bench" / "usage")
    home = linked(chosen(told, bench), bench / "home")
    verdict = Verdict(truth_of(home)["sessions"])
    write_bytecode(bench)
    place = Place(home, bench / "data", "default scope")
    place.built()
    check_sums(verdict, place)
    ccusage = Ccusage.at(home, bench) if Ccusage.is_installed() else None
    agentsview = AgentsView.at(home, bench) if AgentsView.is_installed() else None
    if agentsview:
        agentsview.built()
    measure_reports(verdict, place, ccusage, agentsview, COMMAND_ROUNDS * told.rounds)
    tell_sums(place, ccusage, agentsview)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


# Gate


def check_sums(verdict: Verdict, place: Place) -> None:
    """All sums, of the home and of each session, are the generator's; what is told of them adds up."""
    total = _stats(place)["total"]
    check_used(verdict, "gate: sums equal to the truth", place.home, _flat(total))
    check_sessions(verdict, place)
    sums = {by: _sum(_stats(place, "--by", by)["groups"]) for by in GROUPINGS}
    explained = _stats(place, "--explain")
    sums["explained sessions"] = sum(session["total"] or 0 for session in explained["sessions"])
    sums["explained agents"] = sum(agent["total"] or 0 for agent in explained["agents"])
    wanted = dict.fromkeys(sums, total["tokens"]["total"])
    check_equal(verdict, "gate: groups and --explain add up", wanted, sums)


def check_sessions(verdict: Verdict, place: Place) -> None:
    """Each session by itself: mistakes could make up for each other."""
    wanted = {
        f"{session} {kind}": number
        for session, tokens in spent_by_session(place.home).items()
        for kind, number in tokens.items()
    }
    groups = _stats(place, "--by", "session", "--subagents", "apart")["groups"]
    found = {
        f"{group['key'].partition(':')[2]} {kind}": number or 0
        for group in groups
        for kind, number in group["tokens"].items()
    }
    check_equal(verdict, "gate: sums of each session", wanted, found)


def _stats(place: Place, *words: str) -> dict[str, Any]:
    command = place.command("stats", *words, "--json", "--no-sync")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=place.environment)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _flat(figures: Mapping[str, Any]) -> dict[str, int]:
    """Figures in the words of the gate; a kind of token that nobody recorded is none at all."""
    tokens = {f"tokens.{kind}": number or 0 for kind, number in figures["tokens"].items()}
    return {name: figures[name] for name in ("sessions", "subagents", "prompts", "calls")} | tokens


def _sum(groups: list[dict[str, Any]]) -> int:
    return sum(group["tokens"]["total"] or 0 for group in groups)


# Time


def measure_reports(
    verdict: Verdict, place: Place, ccusage: Ccusage | None, agentsview: AgentsView | None, rounds: int
) -> None:
    """Whole commands against the cheapest that could do it, and against others that do."""
    taken = least({**_ours(place), **_theirs(place, ccusage, agentsview)}, rounds)
    for name, spent in taken.items():
        clock = f"{spent.wall * 1e3:.1f} ms by the clock, {spent.peak:.0f} MB"
        verdict.line(f"command: {name}", f"{spent.cpu * 1e3:.1f} ms", clock)
    _judge(verdict, taken)


def _ours(place: Place) -> Measures:
    return {
        "Python with click and sqlite3": partial(spend, FLOOR),
        "stats": partial(place.spend, "stats", "--no-sync"),
        "stats, synced before": partial(place.spend, "stats"),
        "stats --json": partial(place.spend, "stats", "--json", "--no-sync"),
        "stats --by session": partial(place.spend, "stats", "--by", "session", "--no-sync"),
        "stats --explain": partial(place.spend, "stats", "--explain", "--no-sync"),
    }


def _theirs(place: Place, ccusage: Ccusage | None, agentsview: AgentsView | None) -> Measures:
    agent = truth_of(place.home)["agent"]
    measures = {}
    if ccusage:
        measures["ccusage"] = partial(ccusage.spend, *ccusage.usage(agent))
    if agentsview:
        measures["agentsview"] = partial(agentsview.spend, *agentsview.USAGE)
    return measures


def _judge(verdict: Verdict, taken: Mapping[str, Spent]) -> None:
    stats, floor = taken["stats"].cpu, taken["Python with click and sqlite3"].cpu
    verdict.at_most("10: stats over click and sqlite3", stats / floor, Goal(1.6, sessions=STATED_FOR))
    if "ccusage" not in taken:
        verdict.line("10: stats over ccusage", "not measured", "ccusage is not installed")
        return
    theirs = taken["ccusage"].cpu
    verdict.at_most("10: stats over ccusage", stats / theirs, Goal(1 / 15, sessions=STATED_FOR))
    synced = taken["stats, synced before"].cpu / theirs
    verdict.at_most("10: stats with a sync over ccusage", synced, Goal(1 / 8, sessions=STATED_FOR))


# What each tool says


def tell_sums(place: Place, ccusage: Ccusage | None, agentsview: AgentsView | None) -> None:
    """Everyone's sums beside the truth. Thoughts count as output: not all tools tell them apart."""
    truth = truth_of(place.home)
    true = _counted(spent_in_all(place.home))
    said = {"geminids": _counted(_stats(place)["total"]["tokens"])}
    if ccusage:
        said["ccusage"] = ccusage.counted(truth["agent"])
    if agentsview:
        said["agentsview"] = agentsview.counted()
    print(f"Tokens of {truth['sessions']} sessions of {truth['agent']}, rewound requests included:")
    print(f"  {'':<12}" + "".join(f"{column:>17}" for column in (*COLUMNS, "list price, $")))
    print(f"  {'truth':<12}" + "".join(f"{getattr(true, column):>17,}" for column in COLUMNS))
    for tool, counted in said.items():
        _tell_row(tool, counted, true)


def _tell_row(tool: str, counted: Counted, true: Counted) -> None:
    cost = "" if counted.cost is None else f"{counted.cost:>17,.2f}"
    print(f"  {tool:<12}" + "".join(f"{getattr(counted, column):>17,}" for column in COLUMNS) + cost)
    pairs = [(getattr(counted, column), getattr(true, column)) for column in COLUMNS]
    print(f"  {'':<12}" + "".join(f"{_difference(*pair):>17}" for pair in pairs), flush=True)


def _difference(counted: int, true: int) -> str:
    if counted == true:
        return "exact"
    return f"{(counted - true) / true:+.3%}" if true else "none there"


def _counted(tokens: Mapping[str, Any]) -> Counted:
    """Our words, or the truth in them."""
    prompts, cached, written = (tokens.get(kind) or 0 for kind in ("input", "cached", "cache_write"))
    output = (tokens.get("output") or 0) + (tokens.get("thoughts") or 0)
    return Counted(prompts - cached - written, cached, written, output, tokens.get("cost"))


if __name__ == "__main__":
    sys.exit(main())
