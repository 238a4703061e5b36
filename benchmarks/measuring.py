"""How benchmarks measure: commands in processes of their own, in turns, and figures beside their goals."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
BENCHMARKS = ROOT / "benchmarks"
COMMAND = Path(sys.executable).with_name("geminids")

BARE = [sys.executable, "-c", "pass"]
FLOOR = [sys.executable, "-c", "import click, sqlite3"]
"""What every command must load, whatever it does."""

_LAUNCHER = """
import json, os, sys, time
quiet = [(os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1, 2)]
began = time.perf_counter()
child = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=quiet)
_, status, used = os.wait4(child, 0)
wall = time.perf_counter() - began
code = os.waitstatus_to_exitcode(status)
print(json.dumps([used.ru_utime + used.ru_stime, wall, used.ru_maxrss, code]))
"""
"""Starts a command and says what it took. The peak of a process counts what its parent had when it was
started, so the parent is to be smaller than all that is measured: this one is, the benchmark is not."""

_BYTES_OF_A_PEAK = 1 if sys.platform == "darwin" else 1024


class Spent(NamedTuple):
    """What a command took."""

    cpu: float
    wall: float
    peak: float = 0.0
    """Megabytes of the largest of its processes."""

    def least(self, other: Spent) -> Spent:
        """Noise only ever adds time. Of memory, the most counts."""
        return Spent(min(self.cpu, other.cpu), min(self.wall, other.wall), max(self.peak, other.peak))


Measures = Mapping[str, Callable[[], Spent]]


class Goal(NamedTuple):
    """What a figure is held against."""

    bound: float
    unit: str = ""
    sessions: int = 0
    """With fewer there is too little to do, and starting Python is most of what is measured."""

    def written(self, figure: float) -> str:
        """A figure of this kind."""
        number = f"{figure:.3g}" if figure < 1000 else f"{figure:,.0f}"
        return f"{number} {self.unit}".rstrip()


class Verdict:
    """Prints figures as they come and remembers whether all were good enough."""

    def __init__(self, sessions: int) -> None:
        self.failed: list[str] = []
        self._sessions = sessions

    def line(self, what: str, figure: str, bound: str = "", good: bool = True) -> None:
        """One figure, with the bound it is held against."""
        if not good:
            self.failed.append(what)
        print(f"  {what:<46} {figure:>12}   {bound}{'' if good else '   FAILED'}", flush=True)

    def at_most(self, what: str, figure: float, goal: Goal) -> None:
        """A figure that must not be larger than its goal."""
        self._held(what, figure, goal, f"at most {goal.written(goal.bound)}", figure <= goal.bound)

    def at_least(self, what: str, figure: float, goal: Goal) -> None:
        """A figure that must not be smaller than its goal."""
        self._held(what, figure, goal, f"at least {goal.written(goal.bound)}", figure >= goal.bound)

    def _held(self, what: str, figure: float, goal: Goal, bound: str, good: bool) -> None:
        is_judged = self._sessions >= goal.sessions
        condition = "" if is_judged else f" from {goal.sessions:,} sessions on"
        self.line(what, goal.written(figure), bound + condition, good or not is_judged)

    def conclude(self) -> int:
        """The last line, and the exit code that follows from it."""
        print(f"FAILED: {', '.join(self.failed)}" if self.failed else "all within bounds", flush=True)
        return 1 if self.failed else 0


def options(about: str | None, *, rounds: int, agents: Sequence[str] = ("gemini",)) -> Namespace:
    """What the user says; the same can be told to all benchmarks. The first agent is taken by default."""
    parser = ArgumentParser(description=about.splitlines()[0] if about else None)
    if len(agents) > 1:
        parser.add_argument("--agent", choices=agents, help="whose home is made; a --corpus says itself")
    parser.set_defaults(agent=agents[0])
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()), help="a fresh one by default")
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--corpus", type=Path, help="a home that the generator has made; it is not changed")
    parser.add_argument("--keep", action="store_true", help="leave corpora and indexes in .bench")
    return parser.parse_args()


def emptied(folder: Path) -> Path:
    """A folder with nothing in it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def environment(**more: str) -> dict[str, str]:
    """That of a user who has set nothing of ours, and whose Python keeps bytecode."""
    ours = ("GEMINIDS_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)} | more


def spend(
    command: Sequence[str | Path], given: Mapping[str, str] | None = None, *, fine: Sequence[int] = (0,)
) -> Spent:
    """Run a command and see what it takes; it must end with one of the codes that are fine."""
    line = [sys.executable, "-I", "-S", "-c", _LAUNCHER, *map(str, command)]
    done = subprocess.run(line, check=True, stdout=subprocess.PIPE, env=given or environment())
    cpu, wall, peak, code = json.loads(done.stdout)
    if code not in fine:
        raise subprocess.CalledProcessError(code, list(map(str, command)))
    return Spent(cpu, wall, peak * _BYTES_OF_A_PEAK / 1e6)


def least(measures: Measures, rounds: int) -> dict[str, Spent]:
    """The least of several rounds, the measures taken in turns, so that a busy machine slows all alike."""
    taken = {name: measure() for name, measure in measures.items()}
    for _ in range(rounds - 1):
        for name, measure in measures.items():
            taken[name] = taken[name].least(measure())
    return taken


def measure(script: str, *arguments: str | Path) -> dict[str, Any]:
    """What another file of this folder measures in a process of its own."""
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment())
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def parse_with_orjson(home: Path) -> Spent:
    """Every value of every session file, decoded and dropped: the speed limit."""
    seconds = measure("measured.py", "orjson", home)["seconds"]
    return Spent(seconds, seconds)


def installed(peer: str) -> list[str]:
    """The words that start another tool; none if it is not there."""
    told = os.environ.get(f"PEER_{peer.upper().replace('-', '_')}")
    found = shutil.which(peer)
    return shlex.split(told) if told else [found] if found else []
