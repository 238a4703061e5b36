"""Homes that benchmarks measure: the same seed gives the same bytes, and what their truth says is so."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

BENCHMARKS = ROOT / "benchmarks"
SESSIONS, SEED = 60, 5
DIGESTS = {
    "gemini": "c255ba74e49639d9c99f2ce4722ba28b7ddb2d21a694c3856435f857458848c4",
    "claude": "1db3e8a61e9d5d5b1f89a9c07879c76ddb8fbc326672de8f01204379036605fc",
    "codex": "da6357e0f27ef71b9dff4a652513b78fa96f4e66ea5d6dcf9dc47e4cc6a54fe8",
}
"""Of homes as they have always been made: figures that were measured with others cannot be compared."""


def generator(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    module, *others = arguments
    command = [sys.executable, "-m", str(module), *map(str, others)]
    return subprocess.run(command, cwd=BENCHMARKS, capture_output=True, text=True, timeout=300, check=False)


def make(agent: str, home: Path) -> None:
    wanted = ["--agent", agent, "--sessions", str(SESSIONS), "--seed", str(SEED), "--jobs", "2"]
    done = generator("generator", *wanted, "--out", home)
    assert done.returncode == 0, done.stderr


def digest(home: Path) -> str:
    """Of every file of a home: its name and its bytes."""
    sums = hashlib.sha256()
    for file in sorted(path for path in home.rglob("*") if path.is_file()):
        name, content = file.relative_to(home).as_posix(), file.read_bytes()
        sums.update(f"{name}\0{len(content)}\0".encode() + content)
    return sums.hexdigest()


@pytest.mark.parametrize("agent", sorted(DIGESTS))
def test_a_seed_gives_the_same_home_and_its_truth_is_so(agent: str, tmp_path: Path) -> None:
    make(agent, tmp_path / "home")

    assert digest(tmp_path / "home") == DIGESTS[agent]
    checked = generator("generator.check", tmp_path / "home")
    assert (checked.returncode, checked.stdout) == (0, "The home agrees with its truth.\n")


def test_a_truth_that_is_not_so_is_noticed(tmp_path: Path) -> None:
    make("gemini", tmp_path)
    truth = json.loads((tmp_path / "truth.json").read_text("utf-8"))
    truth["tokens"]["input"] += 1
    truth["needles"]["rare1"]["sessions"] = 2
    (tmp_path / "truth.json").write_text(json.dumps(truth), encoding="utf-8")

    checked = generator("generator.check", tmp_path)
    assert checked.returncode == 1
    tokens, needle = checked.stdout.splitlines()
    assert tokens.startswith("tokens: found ")
    assert needle == "needle rare1: found in 1 sessions, truth 2"


def test_a_home_that_is_there_is_left_alone(tmp_path: Path) -> None:
    make("claude", tmp_path)
    before = digest(tmp_path)

    done = generator("generator", "--sessions", "1", "--out", tmp_path)
    assert done.returncode == 1
    assert "holds a home already" in done.stderr
    assert digest(tmp_path) == before
