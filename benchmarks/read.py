"""How fast and how small reading is: ratios inside one run, checked against known totals.

    python benchmarks/read.py [--sessions 1000] [--seed N] [--rounds 5] [--keep]

Speed is the least CPU time of interleaved rounds, as a share of what orjson needs to parse the same files.
A wrong total fails the run, however fast it was. The corpus comes from the generator in `../shared`
beside the repository; without it there is nothing to measure.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
GENERATOR = ROOT.parent / "shared" / "tools" / "corpus-gen" / "gen.py"
MEASURED = ROOT / "benchmarks" / "measured.py"
COMMAND = Path(sys.executable).with_name("geminids")
SAMPLE = ROOT / "src" / "geminids" / "sample" / "home"

AIM, LEAST = 0.30, 0.15
"""The share of orjson's speed that we want, and the least we accept."""

BARE = [sys.executable, "-c", "pass"]
FLOOR = [sys.executable, "-c", "import click, sqlite3"]


class Verdict:
    """Prints figures as they come and remembers whether all were good enough."""

    def __init__(self) -> None:
        self.failed = False

    def line(self, what: str, figure: str, bound: str = "", good: bool = True) -> None:
        """One figure, with the bound it is held against."""
        self.failed |= not good
        print(f"  {what:<44} {figure:>12}   {bound}{'' if good else '   FAILED'}", flush=True)


def main() -> int:
    """Measure everything; 1 if a total is wrong or a bound is broken."""
    options = _options()
    if not GENERATOR.exists():
        print(f"No generator at {os.path.relpath(GENERATOR, ROOT)}: nothing to measure.")
        return 0
    bench = ROOT / ".bench"
    shutil.rmtree(bench, ignore_errors=True)
    verdict = Verdict()
    corpus = generate(bench, options.sessions, options.seed)
    check_totals(verdict, corpus)
    measure_speed(verdict, corpus, options.rounds)
    measure_memory(verdict, corpus)
    measure_memory(verdict, generate(bench, 3 * options.sessions, options.seed + 1))
    measure_projects(verdict, corpus, options.rounds)
    measure_start_up(verdict, 4 * options.rounds)
    if not options.keep:
        shutil.rmtree(bench)
    print("FAILED" if verdict.failed else "all within bounds")
    return 1 if verdict.failed else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="a fresh one by default")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--keep", action="store_true", help="leave the corpus in .bench")
    return parser.parse_args()


def generate(bench: Path, sessions: int, seed: int) -> Path:
    """A home with that many sessions, and its truth."""
    home = bench / f"{sessions}-{seed}"
    home.mkdir(parents=True)
    command = [sys.executable, str(GENERATOR), "--agent", "gemini", "--sessions", str(sessions)]
    command += ["--seed", str(seed), "--jobs", "2", "--out", str(home)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    truth = _truth(home)
    print(f"{sessions} sessions, seed {seed}: {truth['files']} files, {truth['bytes'] / 1e6:.0f} MB")
    return home


def check_totals(verdict: Verdict, home: Path) -> None:
    """The gate: every total must be the generator's own."""
    truth = _truth(home)
    wanted = {name: truth[name] for name in ("sessions_with_messages", "tool_calls")}
    # What is said to a subagent was written by an agent, not by a human.
    main = [session for session in truth["by_session"] if session["flaw"] != "subagent"]
    wanted["prompts"] = sum(session["user"] for session in main)
    wanted |= {f"tokens.{kind}": number for kind, number in truth["tokens"].items()}
    found = _measure("totals", home)["answer"]
    wrong = [name for name, number in wanted.items() if found[name] != number]
    verdict.line("totals equal to the truth", f"{len(wanted) - len(wrong)}/{len(wanted)}", good=not wrong)
    for name in wrong:
        print(f"    {name}: read {found[name]}, truth {wanted[name]}")


def measure_speed(verdict: Verdict, home: Path, rounds: int) -> None:
    """Our CPU time against orjson's, in turns."""
    least = _least({who: partial(_seconds, who, home) for who in ("orjson", "geminids")}, rounds)
    share = least["orjson"] / least["geminids"]
    megabytes = _truth(home)["bytes"] / 1e6
    verdict.line("orjson", f"{megabytes / least['orjson']:.0f} MB/s")
    verdict.line("geminids, whole model", f"{megabytes / least['geminids']:.0f} MB/s")
    verdict.line("share of orjson's speed", f"{share:.3f}", f"aim {AIM}, least {LEAST}", share >= LEAST)


def measure_memory(verdict: Verdict, home: Path) -> None:
    """The peak of one process that reads everything."""
    truth = _truth(home)
    peak = _measure("geminids", home)["peak_megabytes"]
    bound = 60 + 6 * truth["bytes_max"] / 1e6
    what = f"peak memory, {truth['sessions']} sessions"
    verdict.line(what, f"{peak:.0f} MB", f"at most {bound:.0f} MB", peak <= bound)


def measure_projects(verdict: Verdict, home: Path, rounds: int) -> None:
    """All projects when their folders are known or were looked for, against the time of a list."""
    if not COMMAND.exists():
        verdict.line("projects", "not measured", f"{COMMAND.name} is not installed beside this Python")
        return
    where = ["--home", str(home), "--data", str(home / "data")]
    commands = {
        "resolve": [str(COMMAND), "projects", "resolve", "--seconds", "5", *where],
        "list": [str(COMMAND), "list", *where],
        "projects": [str(COMMAND), "projects", *where],
    }
    first = _cpu_seconds(commands.pop("resolve"), may_find_nothing=True)
    least = _least({name: partial(_cpu_seconds, command) for name, command in commands.items()}, rounds)
    verdict.line("projects resolve, the first time", f"{first:.2f} s")
    verdict.line("list, all sessions", f"{least['list']:.2f} s")
    ratio = least["projects"] / least["list"]
    verdict.line("projects over list", f"{ratio:.2f}", "at most 1.2", ratio <= 1.2)


def measure_start_up(verdict: Verdict, rounds: int) -> None:
    """Commands against the bare interpreter, and against one that imports what every command needs."""
    if not COMMAND.exists():
        verdict.line("start-up", "not measured", f"{COMMAND.name} is not installed beside this Python")
        return
    commands = {
        "bare": BARE,
        "floor": FLOOR,
        "--version": [str(COMMAND), "--version"],
        "--help": [str(COMMAND), "--help"],
        "list": [str(COMMAND), "--home", str(SAMPLE), "list", "--limit", "50"],
    }
    for command in commands.values():
        # The first start writes bytecode, as an installer would have done.
        _cpu_seconds(command)
    least = _least({name: partial(_cpu_seconds, command) for name, command in commands.items()}, rounds)
    for name, over, bound in (("--version", "bare", 2.0), ("--help", "floor", 1.15), ("list", "floor", 1.4)):
        ratio = least[name] / least[over]
        what = "bare Python" if over == "bare" else "Python with click and sqlite3"
        verdict.line(f"{name} over {what}", f"{ratio:.2f}", f"at most {bound}", ratio <= bound)


def _least(measures: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """The least of several rounds, the measures taken in turns: noise only ever adds time."""
    taken: dict[str, list[float]] = {name: [] for name in measures}
    for _ in range(rounds):
        for name, measure in measures.items():
            taken[name].append(measure())
    return {name: min(seconds) for name, seconds in taken.items()}


def _seconds(what: str, home: Path) -> float:
    return float(_measure(what, home)["seconds"])


def _measure(what: str, home: Path) -> dict[str, Any]:
    command = [sys.executable, str(MEASURED), what, str(home)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _cpu_seconds(command: Sequence[str], *, may_find_nothing: bool = False) -> float:
    quiet = subprocess.DEVNULL
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and not (may_find_nothing and process.returncode == 1):
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return used.ru_utime + used.ru_stime


def _truth(home: Path) -> dict[str, Any]:
    truth: dict[str, Any] = json.loads((home / "truth.json").read_text())
    return truth


if __name__ == "__main__":
    sys.exit(main())
