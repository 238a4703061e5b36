"""An agent writes its settings while `geminids install` and `uninstall` change them, and loses no write.

GEMINIDS_WRITES=10000 makes it that many writes.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.agent_settings import CODEX, home_with_agents

WRITES = os.environ.get("GEMINIDS_WRITES", "1000")
REFUSAL = "was changed in the meantime. Nothing was written; run the command again."


@pytest.mark.parametrize(("way", "pause"), [("rename", "0.001"), ("rename", "0.005"), ("in-place", "0.005")])
def test_no_write_is_lost(tmp_path: Path, way: str, pause: str) -> None:
    home_with_agents(tmp_path)
    settings = tmp_path / CODEX
    settings.write_bytes(b"# 0\n" + settings.read_bytes())
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path / "data")}
    counting = [sys.executable, "-m", "tests.support.counting", str(settings), WRITES, way, pause]
    ours = [sys.executable, "-m", "geminids"]
    done = refused = 0
    with subprocess.Popen(counting, cwd=ROOT, stdout=subprocess.PIPE, text=True) as counter:
        while counter.poll() is None:
            for command in ("install", "uninstall"):
                ended = subprocess.run(
                    [*ours, command, "codex", "--yes"],
                    env=environment,
                    capture_output=True,
                    text=True,
                    check=False,
                )
                assert ended.returncode == 0 or REFUSAL in ended.stderr
                done, refused = done + (not ended.returncode), refused + bool(ended.returncode)
        assert counter.stdout is not None
        lost = counter.stdout.read()
    print(f"{lost.strip()}, {done} commands done, {refused} refused")  # noqa: T201
    assert lost == f"0 of {WRITES} writes lost\n"
