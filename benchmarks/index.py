"""How fast the index is made, kept up to date and searched, and how small it is: ratios inside one run.

    python benchmarks/index.py [--agent gemini|claude|codex] [--sessions 1000] [--seed N] [--rounds 3]
                               [--corpus DIR] [--keep]

The figures are numbered like the goals in `performance.md`. Time is the least CPU time of interleaved rounds
of whole commands. Several goals are stated for 10,000 sessions (`make bench-10k`); with fewer they are shown
and not judged. A wrong total, or words that are not found, fail the run.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from corpora import (
    FOLDERS,
    check_totals,
    chosen,
    folder_of,
    grow,
    linked,
    logs_by_size,
    own,
    truth_of,
)
from measuring import (
    BARE,
    COMMAND,
    FLOOR,
    ROOT,
    Goal,
    Measures,
    Spent,
    Verdict,
    emptied,
    least,
    measure,
    options,
    parse_with_orjson,
    spend,
)
from ours import Place, both_scopes, write_bytecode

SMALL, LARGE = 1_000, 10_000
"""Sessions from which on goals are judged: those about the work itself, and those about its overhead."""
LARGEST_FILE = 18.0
"""Megabytes of the largest file of the corpus for which the goal of memory is stated; more may take more."""
COMMAND_ROUNDS = 4
"""Short commands are measured so many times as often: they are near what can be measured at all."""

WALK = """
import os, sys
def walk(folder):
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            walk(entry.path)
        else:
            entry.stat()
walk(sys.argv[1])
"""
"""The cheapest way to see whether anything has changed."""


def main() -> int:
    """Measure everything; 1 if a total is wrong or a goal is missed."""
    told = options(__doc__, rounds=3, agents=tuple(FOLDERS))
    bench = emptied(ROOT / ".bench" / "index")
    corpus = chosen(told, bench)
    verdict = Verdict(truth_of(corpus)["sessions"])
    measure_all(verdict, linked(corpus, bench / "home"), bench, told.rounds)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def measure_all(verdict: Verdict, home: Path, bench: Path, rounds: int) -> None:
    """All goals, on a home whose files may be changed where they are our own."""
    write_bytecode(bench)
    places = both_scopes(home, bench)
    measure_builds(verdict, home, places, rounds)
    for place in places:
        check_totals(verdict, f"gate: totals, {place.scope}", home, _indexed(place))
        check_needles(verdict, place)
    measure_searches(verdict, places[0])
    measure_commands(verdict, places[0], COMMAND_ROUNDS * rounds)


def _indexed(place: Place) -> dict[str, int]:
    answer: dict[str, int] = measure("measured.py", "indexed", place.home, place.data)["answer"]
    return answer


# Builds


def measure_builds(verdict: Verdict, home: Path, places: Sequence[Place], rounds: int) -> None:
    """The index made from nothing, against what orjson takes for the same files; its memory and size."""
    truth = truth_of(home)
    logs = logs_by_size(home)
    for log in (logs[len(logs) // 2], logs[-1]):
        own(log)  # these will grow, and a file that is replaced is more than one that has grown
    measures: Measures = {"orjson": partial(parse_with_orjson, home)} | {
        place.scope: place.built for place in places
    }
    taken = least(measures, rounds)
    _tell_raw(verdict, taken, truth["bytes"])
    memory = Goal(160 + 6 * max(0.0, truth["bytes_max"] / 1e6 - LARGEST_FILE), "MB")
    for goal, place, share, size in zip((1, 2), places, (0.10, 0.045), (0.15, 0.40), strict=True):
        spent = taken[place.scope]
        of_orjson, of_source = taken["orjson"].cpu / spent.cpu, place.size() / truth["bytes"]
        verdict.at_least(f"{goal}: {place.scope}, share of orjson", of_orjson, Goal(share, sessions=SMALL))
        verdict.at_most(f"11: {place.scope}, peak memory", spent.peak, memory)
        verdict.at_most(f"12: {place.scope}, size over source", of_source, Goal(size, sessions=SMALL))


def _tell_raw(verdict: Verdict, taken: Mapping[str, Spent], size: int) -> None:
    for name, spent in taken.items():
        speed = f"{size / 1e6 / spent.cpu:.0f} MB/s"
        verdict.line(f"cold: {name}", speed, f"{spent.cpu:.2f} s CPU, {spent.wall:.2f} s by the clock")


# Gate


def check_needles(verdict: Verdict, place: Place) -> None:
    """Every planted word must be found in the sessions that hold it, and in no other."""
    truth = truth_of(place.home)
    wrong = [name for name, needle in truth["needles"].items() if not _is_found(place, truth, name, needle)]
    right = len(truth["needles"]) - len(wrong)
    what = f"gate: planted words, {place.scope}"
    verdict.line(what, f"{right}/{len(truth['needles'])}", "all", good=not wrong)
    for name in wrong:
        print(f"    {name}: not found just where it is")


def _is_found(place: Place, truth: Mapping[str, Any], name: str, needle: Mapping[str, str]) -> bool:
    hits = _search(place, f'"{needle["text"]}"', truth["sessions"])
    holding = {session["id"] for session in truth["by_session"] if name in session["needles"]}
    # What was taken back is found, and said to have been.
    is_told = needle["where"] != "rewound" or all(hit["message"]["state"] == "rewound" for hit in hits)
    return is_told and {hit["session"]["native_id"] for hit in hits} == holding


def _search(place: Place, words: str, limit: int) -> list[dict[str, Any]]:
    command = place.command("search", words, "--json", "--no-sync", "--limit", str(limit))
    quiet = subprocess.DEVNULL
    # A corpus may be too small for some of the words; then nothing is found, which is no mistake.
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=quiet, env=place.environment)
    hits: list[dict[str, Any]] = json.loads(done.stdout)["hits"]
    return hits


# Searches inside a process


def measure_searches(verdict: Verdict, place: Place) -> None:
    """A mix of queries against raw FTS5 on the same index, and each kind of query by itself."""
    searched = measure("searched.py", place.home, place.data)
    raw, ours = sorted(searched["raw"]), sorted(searched["ours"])
    middle, rare = len(raw) // 2, int(len(raw) * 0.95)
    told = f"raw {raw[middle]:.2f} / {raw[rare]:.2f}, ours {ours[middle]:.2f} / {ours[rare]:.2f} ms"
    verdict.line(
        "9: as many messages found as by FTS5",
        f"{len(raw) - len(searched['wrong'])}/{len(raw)}",
        "all",
        good=not searched["wrong"],
    )
    verdict.line(f"9: {len(raw)} queries, p50 / p95", "", told)
    for name, at, bound in (("p50", middle, 2.0), ("p95", rare, 0.25)):
        ratio = ours[at] / raw[at]
        verdict.at_most(f"9: {name} over raw ranked FTS5", ratio, Goal(bound, sessions=LARGE))
    for kind, (milliseconds, matches) in searched["kinds"].items():
        verdict.line(f"search: {kind}", f"{milliseconds:.1f} ms", f"{matches:,} messages")


# Commands


def measure_commands(verdict: Verdict, place: Place, rounds: int) -> None:
    """Whole commands against the cheapest that could do the same."""
    needles = truth_of(place.home)["needles"]
    searches = {
        "search, rare word": needles["rare1"]["text"],
        "search, phrase": f'"{needles["phrase"]["text"]}"',
        "search, Chinese": needles["cjk4"]["text"],
    }
    taken = least({**_floors(place), **_ours(place, searches), **_ripgrep(place, needles)}, rounds)
    for name, spent in taken.items():
        verdict.line(f"command: {name}", f"{spent.cpu * 1e3:.1f} ms", f"{spent.peak:.0f} MB")
    _judge_syncs(verdict, taken)
    _judge_starts(verdict, taken, searches)
    _judge_against_ripgrep(verdict, taken)


def _floors(place: Place) -> Measures:
    return {
        "bare Python": partial(spend, BARE),
        "Python with click and sqlite3": partial(spend, FLOOR),
        "walk": partial(spend, [sys.executable, "-c", WALK, folder_of(place.home)]),
    }


def _ours(place: Place, searches: Mapping[str, str]) -> Measures:
    logs = logs_by_size(place.home)
    return {
        "--version": partial(spend, [COMMAND, "--version"]),
        "--help": partial(spend, [COMMAND, "--help"]),
        "sync, nothing new": partial(place.spend, "sync"),
        "sync, the median file grew": partial(_grown, place, logs[len(logs) // 2]),
        "sync, the largest file grew": partial(_grown, place, logs[-1]),
        "list": partial(place.spend, "list", "--limit", "50", "--no-sync"),
    } | {name: partial(place.spend, "search", words, "--no-sync") for name, words in searches.items()}


def _grown(place: Place, log: Path) -> Spent:
    grow(log)
    return place.spend("sync")


def _ripgrep(place: Place, needles: Mapping[str, Any]) -> Measures:
    """What people without an index do, if they can."""
    found = shutil.which("rg")
    if not found:
        return {}
    look = [found, "-l", "-F", "--no-ignore", "--hidden", needles["rare1"]["text"]]
    return {"ripgrep": partial(spend, [*look, folder_of(place.home)])}


def _judge_syncs(verdict: Verdict, taken: Mapping[str, Spent]) -> None:
    unchanged = taken["sync, nothing new"]
    over_walk = unchanged.cpu / taken["walk"].cpu
    verdict.at_most("5: sync, nothing new, over a walk", over_walk, Goal(2.0, sessions=LARGE))
    floor = taken["Python with click and sqlite3"].cpu
    for which, bound in (("median", 6.0), ("largest", 8.5)):
        grown = taken[f"sync, the {which} file grew"].cpu
        verdict.line(f"6: the {which} file grew, over nothing new", f"{grown / unchanged.cpu:.2f}", "")
        # What is judged does not look worse because a sync with nothing new is quicker.
        what = f"6: the {which} file grew, over click and sqlite3"
        verdict.at_most(what, grown / floor, Goal(bound, sessions=LARGE))
    verdict.at_most("11: sync, nothing new, peak memory", unchanged.peak, Goal(40, "MB"))


def _judge_starts(verdict: Verdict, taken: Mapping[str, Spent], searches: Mapping[str, str]) -> None:
    bare, floor = taken["bare Python"].cpu, taken["Python with click and sqlite3"].cpu
    verdict.at_most("7: --version over bare Python", taken["--version"].cpu / bare, Goal(2.0))
    verdict.at_most("7: --help over click and sqlite3", taken["--help"].cpu / floor, Goal(1.25))
    for name in (*searches, "list"):
        verdict.at_most(f"8: {name}, over bare Python", taken[name].cpu / bare, Goal(4.5))
    verdict.at_most("11: search, peak memory", max(taken[name].peak for name in searches), Goal(35, "MB"))


def _judge_against_ripgrep(verdict: Verdict, taken: Mapping[str, Spent]) -> None:
    if "ripgrep" not in taken:
        verdict.line("8: search over ripgrep", "not measured", "rg is not installed")
        return
    ratio = taken["search, rare word"].cpu / taken["ripgrep"].cpu
    verdict.at_most("8: search over ripgrep", ratio, Goal(1 / 5, sessions=LARGE))


if __name__ == "__main__":
    sys.exit(main())
