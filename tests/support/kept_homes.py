"""Homes whose sessions get lost, and somebody to be asked about them."""

from __future__ import annotations

import hashlib
import os
import pty
import select
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NOW
from tests.support.fake_agents import install, path_with
from tests.support.homes import FIRST_ID, write_session
from tests.support.terminal import RUN

SECOND_ID = "2e2e2e2e-0000-4000-8000-000000000002"
FIRST, SECOND = f"gemini:{FIRST_ID}", f"gemini:{SECOND_ID}"
RELEASE = "0.61.0"
"""Of the agent that is installed, which deletes what was not used for 30 days."""


def user_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user with two sessions, of which one is old at the time of all tests, and an agent."""
    home = tmp_path / "home"
    for slug in ("shop", "blog"):
        (tmp_path / slug).mkdir()
    write_session(home, day=1, project=str(tmp_path / "shop"))
    write_session(
        home, SECOND_ID, slug="blog", day=20, prompt="Write about carts", project=str(tmp_path / "blog")
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", path_with(install(tmp_path / "agent", RELEASE)))
    return home


def lose_everything(home: Path) -> None:
    """Delete all that the agents have."""
    for name in (".gemini", ".claude", ".codex"):
        shutil.rmtree(home / name, ignore_errors=True)


def contents(folder: Path) -> dict[str, str]:
    """All files in a folder, and digests of what is in them."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def asked(*arguments: object, answer: str) -> tuple[str, int]:
    """Run the command on a terminal and answer its question; what appeared there, and the exit code."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-c", RUN, NOW.isoformat(), *map(str, arguments)]
    child = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen, is_answered = bytearray(), False
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            # So Linux reports the end of a terminal's other side.
            break
        seen += piece
        if b"[y/N]" in seen and not is_answered:
            is_answered = True
            os.write(ours, f"{answer}\n".encode())
    os.close(ours)
    return seen.decode().replace("\r\n", "\n"), child.wait(30)
