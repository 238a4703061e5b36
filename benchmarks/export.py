"""How fast exports are written: every session of a home into a folder, as a user does it.

    python benchmarks/export.py [--sessions 1000] [--seed N] [--rounds 3] [--corpus DIR] [--keep]

Times are of whole commands, with the index up to date. The limit is what orjson needs to parse the same
files.
claude-code-transcripts is the fastest peer that writes pages; it reads only Claude Code's sessions, so it is
measured on a home of those from the same generator, in megabytes of sessions a second, where it is installed
(on the PATH, or where PEER_CLAUDE_CODE_TRANSCRIPTS says).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from argparse import Namespace
from functools import partial
from pathlib import Path

from corpora import chosen, generate, truth_of
from measuring import (
    ROOT,
    Goal,
    Measures,
    Spent,
    Verdict,
    emptied,
    environment,
    installed,
    least,
    options,
    parse_with_orjson,
    spend,
)
from ours import Place, write_bytecode

READABLE = ("markdown", "html")
OTHERS = ("text", "json", "jsonl", "csv", "gemini", "chat", "atif", "otlp")
PEER = "claude-code-transcripts"


def main() -> int:
    """Measure everything; 1 if a goal is missed or a session is missing."""
    told = options(__doc__, rounds=3)
    bench = emptied(ROOT / ".bench" / "export")
    home = chosen(told, bench)
    verdict = Verdict(truth_of(home)["sessions"])
    write_bytecode(bench)
    place = Place(home, bench / "data", "default scope")
    place.built()
    speed = measure_speed(verdict, place, bench / "out", told.rounds)
    measure_unchanged(verdict, place, bench / "out", told.rounds)
    measure_redaction(verdict, place, bench / "redacted", told.rounds)
    measure_peer(verdict, speed, bench, told)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def measure_speed(verdict: Verdict, place: Place, out: Path, rounds: int) -> float:
    """All sessions in every format, and the limit; how many megabytes become pages in a second."""
    formats: Measures = {name: partial(_export, place, out, name) for name in (*READABLE, *OTHERS)}
    taken = least({"orjson": partial(parse_with_orjson, place.home), **formats}, rounds)
    truth = truth_of(place.home)
    megabytes = truth["bytes"] / 1e6
    for name, spent in taken.items():
        clock = f"{megabytes / spent.cpu:.0f} MB/s, {spent.wall:.2f} s by the clock, {spent.peak:.0f} MB"
        verdict.line(name, f"{spent.cpu:.2f} s CPU", clock)
    for name in READABLE:
        ratio = taken[name].cpu / taken["orjson"].cpu
        verdict.at_most(f"13: {name} over parsing", ratio, Goal(10, sessions=1000))
    bound = 60 + 6 * truth["bytes_max"] / 1e6
    verdict.at_most("peak memory, html", taken["html"].peak, Goal(bound, "MB"))
    _check(verdict, place, out)
    return float(megabytes / taken["html"].cpu)


def measure_unchanged(verdict: Verdict, place: Place, out: Path, rounds: int) -> None:
    """The same again where nothing has changed, against a sync that finds the same."""
    again = partial(place.spend, "export", "--all", "--kind", "all", "-f", "html", "-o", f"{out / 'html'}/")
    taken = least({"sync": partial(place.spend, "sync"), "again": again}, 4 * rounds)
    ratio = taken["again"].cpu / taken["sync"].cpu
    verdict.line("nothing new: html", f"{taken['again'].cpu:.3f} s CPU", f"sync {taken['sync'].cpu:.3f}")
    verdict.at_most("13: html again over a sync", ratio, Goal(1.5, sessions=1000))


def measure_redaction(verdict: Verdict, place: Place, out: Path, rounds: int) -> None:
    """What looking for secrets adds to an export."""
    taken = least(
        {
            "json": partial(_export, place, out, "json"),
            "json, redacted": partial(_export, place, out, "json", "--redact"),
        },
        rounds,
    )
    added = taken["json, redacted"].cpu - taken["json"].cpu
    megabytes = truth_of(place.home)["bytes"] / 1e6
    peak = f"{added:.2f} s CPU more, {taken['json, redacted'].peak:.0f} MB"
    verdict.line("redaction", f"{megabytes / added:.0f} MB/s", peak)


def measure_peer(verdict: Verdict, speed: float, bench: Path, told: Namespace) -> None:
    """The fastest peer on as many sessions of the agent that it reads."""
    words = installed(PEER)
    if not words:
        print(f"{PEER} is left out: it is not installed.")
        return
    home = generate(bench, told.sessions, told.seed, agent="claude")
    source = home / ".claude" / "projects"
    spent = spend([*words, "all", "--source", source, "--output", bench / "peer", "--quiet"])
    theirs = truth_of(home)["bytes"] / 1e6 / spent.cpu
    verdict.line(PEER, f"{theirs:.1f} MB/s", f"{spent.cpu:.1f} s CPU, {spent.peak:.0f} MB")
    verdict.at_least("13: html over theirs, MB/s", speed / theirs, Goal(4, sessions=1000))


def _export(place: Place, out: Path, name: str, *more: str) -> Spent:
    """All sessions into a folder that was empty."""
    folder = emptied(out / name)
    return place.spend("export", "--all", "--kind", "all", "--no-sync", "-f", name, "-o", f"{folder}/", *more)


def _check(verdict: Verdict, place: Place, out: Path) -> None:
    """The time means something only if every session was written."""
    done = place.command("list", "--kind", "all", "--no-sync", "--jsonl")
    sessions = len(
        subprocess.run(done, check=True, stdout=subprocess.PIPE, env=environment()).stdout.splitlines()
    )
    written = len(list((out / "html").glob("*.html"))) - 1
    verdict.line("pages written", f"{written}", f"{sessions} sessions", written == sessions)


if __name__ == "__main__":
    sys.exit(main())
