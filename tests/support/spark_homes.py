"""What engines are compared on: homes of all agents, generated and recorded, and the same damaged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.conftest import FIXTURES, ROOT

AGENTS = sorted(folder.name for folder in FIXTURES.iterdir() if next(folder.glob("*/home"), None))


def write_homes(place: Path, sessions: int) -> Path:
    """A place with a generated home of all agents, all recorded ones, and these once more with damage."""
    write_generated(place / "generated", sessions)
    for home in sorted(FIXTURES.glob("*/*/home")):
        name = f"{home.parent.parent.name}-{home.parent.name}"
        shutil.copytree(home, place / "recorded" / name, symlinks=True)
        damage(shutil.copytree(home, place / "damaged" / name, symlinks=True), Random(name))
    return place


def write_generated(home: Path, sessions: int) -> Path:
    """A home that has so many sessions of each agent."""
    for agent in AGENTS:
        made = home.with_name(f"made-{agent}")
        command = [sys.executable, "-m", "generator", "--agent", agent, "--sessions", str(sessions)]
        subprocess.run(
            [*command, "--seed", "11", "--jobs", "1", "--out", str(made)],
            cwd=ROOT / "benchmarks",
            check=True,
            capture_output=True,
            timeout=300,
        )
        shutil.copytree(made, home, dirs_exist_ok=True)
        shutil.rmtree(made)
    return home


def damage(home: Path, random: Random) -> None:
    """Cut every second file somewhere, and write something else into the others."""
    files = [path for path in sorted(home.rglob("*")) if path.is_file() and not path.is_symlink()]
    for number, path in enumerate(files):
        content = bytearray(path.read_bytes())
        if not content:
            continue
        at = random.randrange(len(content))
        if number % 2:
            del content[at:]
        else:
            content[at : at + 4] = bytes(random.randrange(256) for _ in range(4))
        path.write_bytes(content)


def machines(place: Path) -> Sequence[tuple[str, Path]]:
    """The homes of a place, each with the machine that it is told to be of."""
    recorded = [path for part in ("damaged", "recorded") for path in (place / part).iterdir()]
    return [(str(path.relative_to(place)), path) for path in (*recorded, place / "generated")]
