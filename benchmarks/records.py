"""What signed records take: making and checking them for every session of a corpus.

    python benchmarks/records.py [--agent gemini|claude|codex] [--sessions 1000] [--seed N] [--rounds 1]
                                 [--corpus DIR] [--keep]

Every session must get a statement, every statement must hold, a second run must sign nothing, and a byte
that is changed in one must be noticed; else the run fails. Times are CPU times of whole commands, with
nothing else running on the machine.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from corpora import chosen, truth_of
from measuring import ROOT, Goal, Spent, Verdict, emptied, options
from ours import Place, write_bytecode

AGENTS = ("gemini", "claude", "codex")
MEMORY = 400
"""Megabytes. A session is held whole, several times over, but never two of them."""


def main() -> int:
    """Check and measure everything; 1 if a statement is wrong or a goal is missed."""
    told = options(__doc__, rounds=1, agents=AGENTS)
    bench = emptied(ROOT / ".bench" / "records")
    home = chosen(told, bench)
    verdict = Verdict(truth_of(home)["sessions"])
    write_bytecode(bench)
    place = Place(home, bench / "data", "records")
    place.built()
    place.spend("key", "new", "bench", "--issuer", "a benchmark")
    statements = bench / "statements"
    files = measure_attesting(verdict, place, statements)
    measure_verifying(verdict, place, statements, len(files))
    measure_again(verdict, place, statements, files)
    check_damage(verdict, place, files)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def measure_attesting(verdict: Verdict, place: Place, statements: Path) -> list[Path]:
    """A statement for every session; the files."""
    spent = place.spend("attest", "--all", "-o", f"{statements}/")
    files = sorted(statements.rglob("*.acr"))
    size = sum(file.stat().st_size for file in files)
    verdict.line("attest --all", f"{spent.cpu:.1f} s", _told(spent, len(files), size))
    verdict.at_most("attest: memory, MB", spent.peak, Goal(MEMORY))
    listed = _listed(place)
    verdict.line("gate: a statement a session", f"{len(files)}", f"of {listed}", len(files) == listed)
    return files


def measure_verifying(verdict: Verdict, place: Place, statements: Path, number: int) -> None:
    """Every statement, its schema and its chain."""
    size = sum(file.stat().st_size for file in statements.rglob("*.acr"))
    spent = place.spend("verify", str(statements))
    verdict.line("verify", f"{spent.cpu:.1f} s", _told(spent, number, size))
    verdict.at_most("verify: memory, MB", spent.peak, Goal(MEMORY))


def measure_again(verdict: Verdict, place: Place, statements: Path, files: list[Path]) -> None:
    """Nothing is new, so nothing is signed."""
    spent = place.spend("attest", "--all", "-o", f"{statements}/")
    same = sorted(statements.rglob("*.acr")) == files
    verdict.line("attest --all, nothing new", f"{spent.cpu:.2f} s", f"{spent.wall:.2f} s by the clock")
    verdict.line("gate: nothing was signed again", "same" if same else "others", "", same)


def check_damage(verdict: Verdict, place: Place, files: list[Path]) -> None:
    """A byte that was changed is noticed, wherever it is."""
    some = files[:: max(1, len(files) // 10)]
    unnoticed = [file for file in some if _holds_when_damaged(place, file)]
    verdict.line("gate: damage is noticed", f"{len(some) - len(unnoticed)}", f"of {len(some)}", not unnoticed)


def _holds_when_damaged(place: Place, file: Path) -> bool:
    content = bytearray(file.read_bytes())
    content[len(content) * 2 // 3] ^= 1
    damaged = file.with_suffix(".damaged")
    damaged.write_bytes(content)
    command = place.command("verify", str(damaged))
    done = subprocess.run(command, check=False, capture_output=True, env=place.environment)
    damaged.unlink()
    return done.returncode != 1


def _listed(place: Place) -> int:
    command = place.command("list", "--kind", "all", "--limit", "1000000", "--jsonl")
    return len(
        subprocess.run(command, check=True, capture_output=True, env=place.environment).stdout.splitlines()
    )


def _told(spent: Spent, number: int, size: int) -> str:
    each = 1e3 * spent.cpu / max(1, number)
    rate = size / 1e6 / spent.cpu
    made = f"{number} records, {size / 1e6:.0f} MB, {each:.1f} ms each, {rate:.1f} MB/s"
    return f"{made}; {spent.wall:.1f} s by the clock, {spent.peak:.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
