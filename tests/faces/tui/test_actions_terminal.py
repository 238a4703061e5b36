"""What the browser is left for, on a real terminal: the agent, and a page of the web app."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from tests.support.agent_homes import COMMANDS, PROMPTS, every_agent
from tests.support.tmux import needs_tmux, terminal

pytestmark = [needs_tmux, pytest.mark.slow]
GEMINIDS = [sys.executable, "-m", "geminids", "browse"]


@pytest.mark.parametrize("agent", sorted(PROMPTS))
def test_the_agent_takes_the_place_of_the_browser(tmp_path: Path, agent: str) -> None:
    homes = every_agent(tmp_path)
    where = {"HOME": str(homes.home), "PATH": homes.path, "GEMINIDS_DATA": str(tmp_path / "data")}
    with terminal(GEMINIDS, tmp_path, environment=where) as seen:
        seen.wait_for("3 sessions")
        seen.type(PROMPTS[agent])
        seen.wait_for("  1 session")
        seen.press("C-r")
        told = seen.wait_for("ended 0")
        assert f"folder={homes.project}" in told.replace("\n", "")
        assert [line[5:] for line in told.split("\n") if line.startswith("word=")] == [*COMMANDS[agent][1:]]
        assert "sessions" not in told


def test_the_page_of_a_session_is_opened(tmp_path: Path) -> None:
    pytest.importorskip("nh3")
    homes = every_agent(tmp_path)
    opened = homes.programs / "opened"
    opened.write_text(f'#!/bin/sh\necho "$1" > {tmp_path}/address\n')
    opened.chmod(0o755)
    where = {
        "HOME": str(homes.home),
        "PATH": homes.path,
        "GEMINIDS_DATA": str(tmp_path / "data"),
        "BROWSER": f"{opened} %s",
    }
    with terminal(GEMINIDS, tmp_path, environment=where, size=(160, 24)) as seen:
        seen.wait_for("3 sessions")
        seen.type("login")
        seen.wait_for("  1 session")
        seen.press("C-p")
        seen.type("web")
        seen.press("Enter")
        page = "/sessions/gemini%3A1f0c9a2b-0000-4000-8000-000000000001"
        seen.wait_for(f"{page}?token=")
        while not (address := told(tmp_path / "address")):
            time.sleep(0.05)
    assert f"{page}?code=" in address
    # The words stand in its first message.
    assert address.endswith("#1\n")


def told(file: Path) -> str:
    return file.read_text() if file.exists() else ""
