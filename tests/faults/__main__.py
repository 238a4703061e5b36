"""Runs a campaign: episodes shared out among processes, noted when they are done."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conftest import ROOT
from tests.faults import damage, kills
from tests.faults.machine import ROUNDS_AN_EPISODE, BrokenPromiseError

NOTES = ROOT / ".faults"
SHIM = Path(__file__).with_name("shim.c")
EPISODES: dict[str, type[kills.Episode] | type[damage.Episode]] = {
    "kills": kills.Episode,
    "failing": kills.Episode,
    "damage": damage.Episode,
}


def main(arguments: Sequence[str]) -> int:
    """Run a campaign, or a part of it in a process that another one started."""
    asked = _parser().parse_args(arguments)
    if asked.episodes is not None:
        return _play(asked, [int(number) for number in asked.episodes.split(",")])
    NOTES.mkdir(exist_ok=True)
    notes = NOTES / f"{asked.campaign}-{asked.seed}.jsonl"
    if asked.anew:
        notes.unlink(missing_ok=True)
    count = -(-asked.rounds // ROUNDS_AN_EPISODE)
    wanted = range(count) if asked.only is None else [asked.only // ROUNDS_AN_EPISODE]
    done = {line["episode"] for line in _noted(notes) if not line["broken"]}
    left = [number for number in wanted if number not in done or asked.only is not None]
    began = time.monotonic()
    _share_out(asked, notes, left)
    return _report(asked, _noted(notes), wanted, time.monotonic() - began)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("campaign", choices=sorted(EPISODES))
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, metavar="ROUND", help="the episode of this round alone")
    parser.add_argument("--anew", action="store_true", help="forget what was done before")
    parser.add_argument("--episodes", help=argparse.SUPPRESS)
    parser.add_argument("--notes", type=Path, help=argparse.SUPPRESS)
    return parser


def _noted(notes: Path) -> list[dict[str, Any]]:
    if not notes.exists():
        return []
    lines = [json.loads(line) for line in notes.read_text().splitlines()]
    return list({line["episode"]: line for line in lines}.values())


def _share_out(asked: argparse.Namespace, notes: Path, episodes: Sequence[int]) -> None:
    with tempfile.TemporaryDirectory(prefix="geminids-faults-") as folder:
        environment = _environment(Path(folder))
        started = [
            subprocess.Popen(
                [
                    *(sys.executable, "-m", "tests.faults", asked.campaign, "--seed", str(asked.seed)),
                    *("--notes", str(notes), "--episodes", ",".join(map(str, share))),
                ],
                cwd=ROOT,
                env=environment,
            )
            for share in (episodes[part :: asked.jobs] for part in range(asked.jobs))
            if share
        ]
        for process in started:
            process.wait()


def _environment(folder: Path) -> dict[str, str]:
    """Where the processes work, and with what loaded."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GEMINIDS_")}
    machines, told = folder / "machines", folder / "told"
    machines.mkdir()
    told.mkdir()
    environment |= {"FAULT_FOLDER": str(machines), "TMPDIR": str(machines), "FAULTS_TOLD_IN": str(told)}
    environment |= {"HOME": str(folder / "nobody"), "TZ": "UTC", "NO_COLOR": "1"}
    compiler = shutil.which("cc")
    if compiler is None:
        print("No C compiler here: commands are killed at any time, never at a chosen call.", file=sys.stderr)
        return environment
    shim = folder / "shim.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", shim, SHIM, "-ldl"], check=True)
    return {**environment, "LD_PRELOAD": str(shim)}


def _play(asked: argparse.Namespace, episodes: Sequence[int]) -> int:
    for number in episodes:
        folder = Path(tempfile.mkdtemp())
        rounds, broken = 0, ""
        try:
            for _, told in EPISODES[asked.campaign](asked.campaign, asked.seed, number, folder).play():
                rounds += 1
                if os.environ.get("FAULTS_TOLD"):
                    print(number, told, flush=True)
        except BrokenPromiseError as error:
            broken = str(error)
            print(f"{asked.campaign}, episode {number}: {broken}", flush=True)
        finally:
            if not os.environ.get("FAULTS_STAY"):
                shutil.rmtree(folder, ignore_errors=True)
        with asked.notes.open("a") as notes:
            notes.write(json.dumps({"episode": number, "rounds": rounds, "broken": broken}) + "\n")
    return 0


def _report(
    asked: argparse.Namespace, noted: list[dict[str, Any]], wanted: Sequence[int], seconds: float
) -> int:
    played = [line for line in noted if line["episode"] in wanted]
    failed = [line for line in played if line["broken"]]
    missing = len(wanted) - len(played)
    rounds = sum(line["rounds"] for line in played)
    campaign = f"{asked.campaign}, seed {asked.seed}"
    print(f"{campaign}: {rounds} rounds, {seconds:.0f} s, {missing} episodes not played")
    print(f"{len(played) - len(failed)} passed, {len(failed) + missing} failed")
    return 1 if failed or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
