"""What tables take: beside reading the same sessions, by one process and by two, and for more of them.

    python benchmarks/tables.py [--agent gemini|claude|codex] [--sessions 1000] [--seed N] [--rounds 3]
                                [--corpus DIR] [--machines 1] [--keep]

Time is the least CPU time of interleaved rounds of whole commands, and by the clock where that is said: with
nothing else running on the machine. What is read beside it is read by the same readers in one process, and
dropped. The index is there before: it tells what has changed. Every total must be the generator's own.

With `--machines 100`, so many machines have homes of the same files, as links: what engines read of them.
"""

from __future__ import annotations

import shutil
import sys
from argparse import ArgumentParser
from functools import partial
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.dataset as ds
from corpora import check_equal, chosen, linked, spent_in_all, truth_of
from measuring import ROOT, Goal, Spent, Verdict, emptied, least, measure, options, spend
from ours import Place, write_bytecode

AGENTS = ("gemini", "claude", "codex")
STATED_FOR = 10_000


def main() -> int:
    """Check and measure everything; 1 if a total is wrong or a goal is missed."""
    parser = ArgumentParser(add_help=False)
    parser.add_argument("--machines", type=int, default=1)
    more, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    told = options(__doc__, rounds=3, agents=AGENTS)
    bench = emptied(ROOT / ".bench" / "tables")
    home = chosen(told, bench)
    verdict = Verdict(truth_of(home)["sessions"])
    write_bytecode(bench)
    place = Place(home, bench / "data", "tables")
    place.spend("sync")
    check(verdict, place, bench / "checked")
    measure_cost(verdict, place, bench, told.rounds)
    measure_pool(verdict, place, bench, told.rounds)
    measure_changes(verdict, place, bench, told.rounds)
    if more.machines > 1:
        measure_machines(verdict, home, bench / "machines", more.machines)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def check(verdict: Verdict, place: Place, out: Path) -> None:
    """The gate: tokens of all requests are those that were spent."""
    _written(place, out)
    requests = ds.dataset(out / "requests", partitioning="hive").to_table()
    own = requests.filter(pc.invert(requests["imported"]))
    wanted = spent_in_all(place.home)
    found = {name: pc.sum(own[name]).as_py() or 0 for name in wanted}
    check_equal(verdict, "gate: tokens equal to the truth", wanted, found)


def measure_cost(verdict: Verdict, place: Place, bench: Path, rounds: int) -> None:
    """All tables by one process, with secrets hidden and not, beside reading the sessions alone."""
    _settle_jobs(place, 1)
    out = bench / "out"
    taken = least(
        {
            "reading": partial(_read, place.home),
            "raw": partial(_written, place, out, "--raw"),
            "numbers": partial(_written, place, out, "--raw", "--without", "text"),
            "hidden": partial(_written, place, out),
        },
        rounds,
    )
    for name, spent in taken.items():
        verdict.line(f"{name}", f"{spent.cpu:.2f} s", f"{spent.wall:.2f} s by the clock, {spent.peak:.0f} MB")
    for name, goal in (("raw", Goal(1.3, sessions=STATED_FOR)), ("numbers", Goal(1.3, sessions=STATED_FOR))):
        verdict.at_most(f"{name} over reading, CPU", taken[name].cpu / taken["reading"].cpu, goal)
    verdict.line("hidden over reading, CPU", f"{taken['hidden'].cpu / taken['reading'].cpu:.2f}")
    verdict.at_most("peak memory", taken["raw"].peak, Goal(200, "MB", STATED_FOR))
    size = sum(file.stat().st_size for file in out.rglob("*.parquet"))
    verdict.line(
        "tables over the files", f"{size / truth_of(place.home)['bytes']:.3f}", f"{size / 1e6:.0f} MB"
    )


def measure_pool(verdict: Verdict, place: Place, bench: Path, rounds: int) -> None:
    """By two processes against one, by the clock."""
    taken = least(
        {name: partial(_by, jobs, place, bench / "out") for name, jobs in (("one", 1), ("two", 2))}, rounds
    )
    verdict.at_least(
        "two processes, times as fast", taken["one"].wall / taken["two"].wall, Goal(1.7, sessions=STATED_FOR)
    )
    verdict.line("peak memory of a pool, each", f"{taken['two'].peak:.0f} MB")


def measure_changes(verdict: Verdict, place: Place, bench: Path, rounds: int) -> None:
    """A run that finds nothing new, and one after a session has grown."""
    _settle_jobs(place, 1)
    out = bench / "out"
    _written(place, out, "--raw")
    again = partial(place.spend, "tables", "--out", str(out), "--raw")
    nothing = least({"nothing": again}, rounds)["nothing"]
    verdict.line("nothing new", f"{nothing.cpu * 1e3:.0f} ms", f"{nothing.wall * 1e3:.0f} ms by the clock")


def measure_machines(verdict: Verdict, home: Path, place: Path, machines: int) -> None:
    """What a session costs where there are many machines, against one."""
    place.mkdir()
    costs = []
    for number in (1, machines):
        for machine in range(len(list(place.iterdir())), number):
            linked(home, place / f"machine-{machine}")
        found = measure("measured.py", "told", place)
        sessions = found["answer"]["sessions"]
        costs.append(found["seconds"] / sessions)
        verdict.line(
            f"{sessions:,} sessions",
            f"{1e3 * costs[-1]:.2f} ms each",
            f"{found['seconds']:.1f} s of CPU, {found['peak_megabytes']:.0f} MB",
        )
    verdict.at_most("cost of a session, many machines over one", costs[1] / costs[0], Goal(1.1))


def _read(home: Path) -> Spent:
    read = measure("measured.py", "geminids", home)
    return Spent(read["seconds"], read["seconds"], read["peak_megabytes"])


def _by(jobs: int, place: Place, out: Path) -> Spent:
    _settle_jobs(place, jobs)
    return _written(place, out, "--raw")


def _settle_jobs(place: Place, jobs: int) -> None:
    (place.data / "settings.toml").write_text(f"[read]\njobs = {jobs}\n")


def _written(place: Place, out: Path, *how: str) -> Spent:
    """All tables, written anew."""
    shutil.rmtree(out, ignore_errors=True)
    line = place.command("tables", "--out", str(out), "--no-sync", *how)
    return spend(line, place.environment | {"PYTHONPATH": str(_hiding(place.data.parent))})


def _hiding(bench: Path) -> Path:
    """A folder that hides what `geminids[scale]` does not install: pyarrow loads it where it is there."""
    folder = bench / "hiding"
    for name in ("numpy", "pandas"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "__init__.py").write_text("raise ImportError\n")
    return folder


if __name__ == "__main__":
    sys.exit(main())
