"""The rig that records fixtures: a real release writes sessions in it, and reads all that are kept."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from geminids.core import agents
from tests.conftest import FIXTURES
from tests.real.programs import gemini
from tests.support.gemini_cli import VERSION
from tests.support.reading import sessions
from tests.support.truth import differences

pytestmark = pytest.mark.real

RECORD = FIXTURES / "record"
SCENARIOS = ("hello", "tools-ids", "mcp")


def releases(program: Path) -> Path:
    """The folder of releases that this program is in."""
    return next(above.parents[1] for above in program.parents if above.name == "node_modules")


def test_the_clis_own_loader_finds_in_fixtures_what_is_kept_beside_them(tmp_path: Path) -> None:
    folder = releases(gemini(VERSION)) / VERSION
    kept = {
        (
            case := found.relative_to(FIXTURES / "gemini").parts[0],
            found.relative_to(FIXTURES / "gemini" / case),
        )
        for found in (FIXTURES / "gemini").glob("*/oracle/.gemini/**/*.json")
    }
    assert len(kept) > 200
    for case in {case for case, _ in kept}:
        shutil.copytree(FIXTURES / "gemini" / case / "home", tmp_path / case / "home")

    line = ["node", str(RECORD / "gemini_oracle.mjs"), str(folder), str(tmp_path)]
    subprocess.run(line, check=True, capture_output=True, timeout=300)

    for case, place in kept:
        file = tmp_path / case / "home" / place.relative_to("oracle").with_suffix("")
        dump = json.loads(file.with_name(f"{file.name}.oracle.json").read_bytes())
        assert dump["loadConversationRecord"].get("value") == json.loads(
            (FIXTURES / "gemini" / case / place).read_bytes()
        ), (case, place)


def test_what_a_release_writes_in_the_rig_is_read_as_it_really_was(tmp_path: Path) -> None:
    program = gemini(VERSION)
    if sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("recording needs Linux, root and unshare: nothing was recorded")
    line = [sys.executable, str(RECORD / "record.py"), "run", "--out", str(tmp_path), "-v", VERSION]
    environment = os.environ | {"GEMINI_RIG_CLI": str(releases(program))}
    recorded = subprocess.run(
        [*line, "-s", *SCENARIOS], capture_output=True, text=True, timeout=600, check=False, env=environment
    )

    assert recorded.returncode == 0, recorded.stdout + recorded.stderr
    for name in SCENARIOS:
        folder = tmp_path / VERSION / name
        manifest = json.loads((folder / "manifest.json").read_bytes())
        assert manifest["notes"] == []
        assert manifest["truth"]["human_prompt_count"] == 1
        assert differences(sessions(agents.load("gemini"), folder / "home"), manifest["truth"]) == {}


def test_a_release_that_is_not_there_is_named(tmp_path: Path) -> None:
    line = [sys.executable, str(RECORD / "record.py"), "run", "--out", str(tmp_path / "out"), "-v", "0.0.1"]
    recorded = subprocess.run(
        [*line, "-s", "hello"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=os.environ | {"GEMINI_RIG_CLI": str(tmp_path)},
    )

    assert recorded.returncode == 1
    assert recorded.stderr == (
        f"record: {tmp_path} has no release 0.0.1; `record.py install 0.0.1` puts it there\n"
    )
