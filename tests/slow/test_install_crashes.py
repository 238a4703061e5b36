"""`geminids install` is killed, or has no room, at every call that changes the disk: nothing of it stays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

SHIM = ROOT / "tests" / "faults" / "shim.c"


def test_whoever_is_stopped_at_any_call_leaves_nothing_that_uninstall_does_not_find(tmp_path: Path) -> None:
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("no C compiler")
    home, told, shim = tmp_path / "home", tmp_path / "told", tmp_path / "shim.so"
    home.mkdir()
    told.mkdir()
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", shim, SHIM, "-ldl"], check=True)
    gone_through = subprocess.run(
        [sys.executable, "-m", "tests.support.install_kills"],
        cwd=ROOT,
        env={
            **{name: value for name, value in os.environ.items() if "HOME" not in name and "DIR" not in name},
            "PATH": "/usr/bin:/bin",
            "HOME": str(home),
            "XDG_DATA_HOME": str(home / ".local" / "share"),
            "FAULT_FOLDER": str(home),
            "FAULTS_TOLD_IN": str(told),
            "LD_PRELOAD": str(shim),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    *broken, calls = gone_through.stdout.splitlines()
    assert broken == []
    assert int(calls.removeprefix("calls: ")) > 100
