"""The command line of the MCP inspector, as npm has it, against the real command."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.support.gemini_cli import NoCliError, installed_by_npm
from tests.support.homes import FIRST_ID, write_session
from tests.support.mcp_clients import RUN

PACKAGE, VERSION = "@modelcontextprotocol/inspector-cli", "0.15.0"
SECONDS = 60

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def inspector() -> Path:
    """The program, installed if need be; one process installs, the others wait for it."""
    folder = ROOT / ".pytest_cache" / f"inspector-cli-{VERSION}"
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "inspector-cli.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            try:
                installed_by_npm(folder, f"{PACKAGE}@{VERSION}")
            except NoCliError as error:
                pytest.skip(str(error))
    return folder / "node_modules" / ".bin" / "mcp-inspector-cli"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    write_session(tmp_path / "home", prompt="plant the harvest")
    where = ["--home", str(tmp_path / "home"), "--data", str(tmp_path / "data")]
    server = {"command": RUN[0], "args": [*RUN[1:], *where], "env": dict(os.environ)}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": {"geminids": server}}))
    return path


def inspected(inspector: Path, config: Path, *arguments: str) -> Any:
    line = [str(inspector), "--cli", "--config", str(config), "--server", "geminids", *arguments]
    ran = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_the_inspector_lists_and_calls_what_there_is(inspector: Path, config: Path) -> None:
    tools = inspected(inspector, config, "--method", "tools/list")["tools"]
    assert len(tools) == 6
    call = (
        "--method",
        "tools/call",
        "--tool-name",
        "search_history",
        "--tool-arg",
        "query=harvest",
        "sessions=1",
    )
    found = inspected(inspector, config, *call)
    assert found["structuredContent"]["sessions"][0]["id"] == f"gemini:{FIRST_ID}"
    prompts = inspected(inspector, config, "--method", "prompts/list")["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["recall", "handover"]
    resources = inspected(inspector, config, "--method", "resources/list")["resources"]
    assert [one["uri"] for one in resources] == [f"geminids://session/gemini:{FIRST_ID}"]
    read = inspected(inspector, config, "--method", "resources/read", "--uri", resources[0]["uri"])
    assert "plant the harvest" in read["contents"][0]["text"]
