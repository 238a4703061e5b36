"""Projects: one line each, with what was used for it, and a key that leads to its sessions and its usage."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FIXTURES
from tests.support.homes import write_session
from tests.support.web_apps import client_of


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_a_project_leads_to_its_sessions_and_the_projects_used_what_all_did(
    agent: str, tmp_path: Path
) -> None:
    homes = sorted(FIXTURES.glob(f"{agent}/*/home"))[::7]
    with client_of(homes, tmp_path / "data") as client:
        told = client.get("/api/projects").json()
        usage = client.get("/api/usage", params={"by": "project"}).json()
        assert told["total"] == len(told["projects"]) > 0
        for name in ("total", "input", "output", "requests"):
            sums = [one["tokens"][name] or 0 for one in told["projects"]]
            assert sum(sums) == (usage["total"]["tokens"][name] or 0), name
        costs = sum(one["tokens"]["cost"] or 0 for one in told["projects"])
        assert costs == pytest.approx(usage["total"]["tokens"]["cost"] or 0, abs=1e-4)
        for one in told["projects"]:
            listed = client.get("/api/sessions", params={"project": one["key"], "kind": "main"}).json()
            assert listed["total"] >= one["sessions"]


def test_projects_of_one_agent_count_what_that_agent_used(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        (one,) = client.get("/api/projects", params={"agent": "gemini"}).json()["projects"]
        others = client.get("/api/projects", params={"agent": "claude"}).json()
    assert one["key"] == "/home/ada/dev/shop"
    assert (one["tokens"]["input"], one["tokens"]["output"], one["sessions"]) == (10, 2, 1)
    assert others["projects"] == []
