"""How fast and how small reading is: ratios inside one run, checked against known totals.

    python benchmarks/read.py [--sessions 1000] [--seed N] [--rounds 5] [--corpus DIR] [--keep]

Speed is the least CPU time of interleaved rounds, as a share of what orjson needs to parse the same files.
A wrong total fails the run, however fast it was. The corpus is made by the generator beside this file.
"""

from __future__ import annotations

import shutil
import sys
from functools import partial
from pathlib import Path

from corpora import check_totals, chosen, generate, truth_of
from measuring import (
    COMMAND,
    ROOT,
    Goal,
    Spent,
    Verdict,
    emptied,
    least,
    measure,
    options,
    parse_with_orjson,
    spend,
)

AIM, LEAST = 0.30, 0.15
"""The share of orjson's speed that we want, and the least we accept."""


def main() -> int:
    """Measure everything; 1 if a total is wrong or a bound is broken."""
    told = options(__doc__, rounds=5)
    bench = emptied(ROOT / ".bench" / "read")
    corpus = chosen(told, bench)
    verdict = Verdict(truth_of(corpus)["sessions"])
    check_totals(
        verdict, "totals equal to the truth", corpus, measure("measured.py", "totals", corpus)["answer"]
    )
    measure_speed(verdict, corpus, told.rounds)
    measure_memory(verdict, corpus)
    measure_memory(verdict, generate(bench, 3 * told.sessions, told.seed + 1))
    measure_projects(verdict, corpus, bench / "data", told.rounds)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def measure_speed(verdict: Verdict, home: Path, rounds: int) -> None:
    """Our CPU time against orjson's, in turns."""
    readers = {"orjson": partial(parse_with_orjson, home), "geminids": partial(_read_all, home)}
    taken = least(readers, rounds)
    share = taken["orjson"].cpu / taken["geminids"].cpu
    megabytes = truth_of(home)["bytes"] / 1e6
    verdict.line("orjson", f"{megabytes / taken['orjson'].cpu:.0f} MB/s")
    verdict.line("geminids, whole model", f"{megabytes / taken['geminids'].cpu:.0f} MB/s")
    verdict.line("share of orjson's speed", f"{share:.3f}", f"aim {AIM}, least {LEAST}", share >= LEAST)


def measure_memory(verdict: Verdict, home: Path) -> None:
    """The peak of one process that reads everything."""
    truth = truth_of(home)
    goal = Goal(60 + 6 * truth["bytes_max"] / 1e6, "MB")
    verdict.at_most(f"peak memory, {truth['sessions']} sessions", _read_all(home).peak, goal)


def _read_all(home: Path) -> Spent:
    read = measure("measured.py", "geminids", home)
    return Spent(read["seconds"], read["seconds"], read["peak_megabytes"])


def measure_projects(verdict: Verdict, home: Path, data: Path, rounds: int) -> None:
    """All projects when their folders are known or were looked for, against the time of a list."""
    where = ["--home", str(home), "--data", str(data)]
    commands = {name: partial(spend, [COMMAND, name, *where]) for name in ("list", "projects")}
    # Nothing new may be found, and then the command says so with its exit code.
    first = spend([COMMAND, "projects", "resolve", "--seconds", "5", *where], fine=(0, 1))
    taken = least(commands, rounds)
    verdict.line("projects resolve, the first time", f"{first.cpu:.2f} s")
    verdict.line("list, all sessions", f"{taken['list'].cpu:.2f} s")
    verdict.at_most("projects over list", taken["projects"].cpu / taken["list"].cpu, Goal(1.2))


if __name__ == "__main__":
    sys.exit(main())
