"""What keeping copies takes: beside a sync that keeps none, on the disk, and to verify.

    python benchmarks/keep.py [--agent gemini|claude|codex] [--sessions 1000] [--seed N] [--rounds 3]
                              [--corpus DIR] [--keep]

Every file that was kept must come back byte for byte, and after all folders of the agent are deleted every
session must still be listed; else the run fails. Time is the least CPU time of interleaved rounds of whole
commands, and by the clock where that is said: with nothing else running on the machine.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from corpora import check_equal, chosen, folder_of, truth_of
from measuring import ROOT, Goal, Spent, Verdict, emptied, least, options
from ours import Place, write_bytecode

from geminids.storage.archive.archive import Archive
from geminids.storage.archive.compression import unpacker
from geminids.storage.archive.values import FOLDER

AGENTS = ("gemini", "claude", "codex")
STATED_FOR = 10_000
COMMAND_ROUNDS = 4


def main() -> int:
    """Check and measure everything; 1 if a copy is wrong or a goal is missed."""
    told = options(__doc__, rounds=3, agents=AGENTS)
    bench = emptied(ROOT / ".bench" / "keep")
    home = bench / "home"
    shutil.copytree(chosen(told, bench), home)
    verdict = Verdict(truth_of(home)["sessions"])
    write_bytecode(bench)
    without = Place(home, bench / "without", "no copies")
    keeping = Place(home, bench / "keeping", "copies", keeps=True)
    measure_syncs(verdict, without, keeping, told.rounds)
    measure_size(verdict, keeping)
    measure_verifying(verdict, keeping, told.rounds)
    check_copies(verdict, keeping)
    check_deletion(verdict, keeping)
    if not told.keep:
        shutil.rmtree(bench)
    return verdict.conclude()


def measure_syncs(verdict: Verdict, without: Place, keeping: Place, rounds: int) -> None:
    """First syncs, then syncs that find nothing new, and one that finds a file grown."""
    first = least({"without": without.built, "keeping": keeping.built}, rounds)
    for name, spent in first.items():
        verdict.line(f"first sync, {name}", f"{spent.cpu:.2f} s", _clock(spent))
    verdict.at_most("14: first sync that keeps, CPU", first["keeping"].cpu / first["without"].cpu, Goal(1.8))
    verdict.at_most("first sync that keeps, clock", first["keeping"].wall / first["without"].wall, Goal(1.3))
    warm = least(
        {"without": partial(without.spend, "sync"), "keeping": partial(keeping.spend, "sync")},
        COMMAND_ROUNDS * rounds,
    )
    for name, spent in warm.items():
        verdict.line(f"nothing new, {name}", f"{spent.cpu * 1e3:.1f} ms", _clock(spent))
    verdict.at_most(
        "nothing new, with copies over without", warm["keeping"].cpu / warm["without"].cpu, Goal(1.05)
    )
    grown = least({"without": partial(_grown, without), "keeping": partial(_grown, keeping)}, rounds)
    for name, spent in grown.items():
        verdict.line(f"a median file grew, {name}", f"{spent.cpu * 1e3:.1f} ms", _clock(spent))


def _grown(place: Place) -> Spent:
    """A sync after a file has grown by a line."""
    files = sorted(folder_of(place.home).rglob("*.jsonl"), key=lambda file: file.stat().st_size)
    with files[len(files) // 2].open("ab") as opened:
        opened.write(b'{"$set":{"lastUpdated":"2026-11-01T00:00:00.000Z"}}\n')
    return place.spend("sync")


def measure_size(verdict: Verdict, keeping: Place) -> None:
    """How much room copies take beside what they are of."""
    archive = Archive(str(keeping.data / FOLDER))
    totals = archive.totals()
    verdict.at_most("copies over the files", totals.size_on_disk / totals.size, Goal(1 / 3))


def measure_verifying(verdict: Verdict, keeping: Place, rounds: int) -> None:
    """Verifying against bare decompression and hashing of the same bytes, in this process."""
    packs = sorted((keeping.data / FOLDER).rglob("*.pack"))
    size = sum(file.stat().st_size for file in packs)
    verified = least({"verify": partial(keeping.spend, "keep", "verify")}, rounds)["verify"]
    bare = min(_bare(keeping) for _ in range(rounds))
    verdict.line("verify", f"{verified.cpu:.2f} s", f"{_clock(verified)}; packs {size / 1e6:.0f} MB")
    verdict.at_most("verify over unpacking and hashing, CPU", verified.cpu / bare, Goal(2.0))


def _bare(keeping: Place) -> float:
    """Seconds of CPU to unpack and hash all copies one after the other, read by us."""
    archive = Archive(str(keeping.data / FOLDER))
    frames = [frame for version in archive.newest().values() for frame in archive.packed(version)]
    began = time.process_time()
    for frame in frames:
        hashlib.sha256(unpacker().decompress(frame)).digest()
    return time.process_time() - began


def check_copies(verdict: Verdict, keeping: Place) -> None:
    """Every session file comes back byte for byte."""
    archive = Archive(str(keeping.data / FOLDER))
    newest = archive.newest()
    files = [file for file in folder_of(keeping.home).rglob("session-*") if file.is_file()]
    files = files or [file for file in folder_of(keeping.home).rglob("*.jsonl") if file.is_file()]
    wrong = [str(file) for file in files if not _is_kept(archive, newest, file)]
    verdict.line("gate: copies equal the files", f"{len(files) - len(wrong)}", f"of {len(files)}", not wrong)


def _is_kept(archive: Archive, newest: dict, file: Path) -> bool:  # type: ignore[type-arg]
    version = newest.get(str(file))
    return version is not None and archive.content(version) == file.read_bytes()


def check_deletion(verdict: Verdict, keeping: Place) -> None:
    """With all folders of the agent gone, the same sessions are listed."""
    before = _listed(keeping)
    shutil.rmtree(folder_of(keeping.home).parent)
    after = _listed(keeping)
    check_equal(verdict, "gate: sessions listed after deletion", before, after)


def _listed(place: Place) -> dict[str, int]:
    command = place.command("list", "--kind", "all", "--limit", "1000000", "--json")
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=place.environment)
    sessions = json.loads(done.stdout)["sessions"]
    return {session["id"]: session["usage"]["total"] or 0 for session in sessions}


def _clock(spent: Spent) -> str:
    return f"{spent.wall:.2f} s by the clock, {spent.peak:.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
