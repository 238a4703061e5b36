"""What agents are given: small, valid, and in `integrations/` as `geminids install` writes it."""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from pathlib import Path

import pytest

from geminids import __version__
from geminids.agents.claude.install.installer import PACKAGE as CLAUDE
from geminids.agents.codex.install.installer import PACKAGE as CODEX
from geminids.agents.gemini.install.installer import PACKAGE as GEMINI
from geminids.core.agents.install import Launch, filled, read_package
from tests.conftest import ROOT

PACKAGES = {"gemini": GEMINI, "claude": CLAUDE, "codex": CODEX}
INTEGRATIONS = ROOT / "integrations"
MOST_TOKENS = 150
LETTERS_OF_A_TOKEN = 3
"""Of English prose a token has more than four; so few are a bound for any model."""
LAUNCH = Launch(command=("geminids",), version=__version__)


def package(agent: str) -> dict[str, bytes]:
    return filled(read_package(PACKAGES[agent]), LAUNCH)


def content(agent: str, name: str) -> str:
    return package(agent)[name].decode()


def front_matter(text: str) -> dict[str, str]:
    _, head, _ = text.split("---\n", 2)
    return {name: value.strip('"') for name, value in (line.split(": ", 1) for line in head.splitlines())}


@pytest.mark.parametrize("agent", PACKAGES)
def test_integrations_hold_what_is_installed(agent: str) -> None:
    folder = INTEGRATIONS / agent
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        shutil.rmtree(folder, ignore_errors=True)
        for name, written in package(agent).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(written)
    assert read_package(folder) == package(agent), "`make golden` writes it"


@pytest.mark.parametrize("agent", PACKAGES)
def test_commands_need_no_path_once_they_are_installed(agent: str) -> None:
    launch = Launch(command=("/opt/a b/geminids",), options=("--data", "/d d"), version="9.9")
    written = {name: text.decode() for name, text in filled(read_package(PACKAGES[agent]), launch).items()}
    hooks = next(json.loads(text) for name, text in written.items() if name.endswith("hooks.json"))
    (command,) = {
        hook["command"] for groups in hooks["hooks"].values() for one in groups for hook in one["hooks"]
    }
    assert command == "'/opt/a b/geminids' keep hook --data '/d d'"
    (server,) = (
        json.loads(text)["mcpServers"]["geminids"]
        for name, text in written.items()
        if name.endswith((".mcp.json", "gemini-extension.json"))
    )
    arguments = [one for one in server["args"] if one != "--no-prompts"]
    assert (server["command"], arguments) == ("/opt/a b/geminids", ["mcp", "--data", "/d d"])
    versions = set(re.findall(r'"version": "([^"]+)"', "".join(written.values())))
    assert versions == {"9.9"}


def test_what_a_model_reads_of_it_is_small() -> None:
    always = {
        "gemini": content("gemini", "GEMINIDS.md"),
        "claude": front_matter(content("claude", "skills/recall/SKILL.md"))["description"]
        + "".join(
            front_matter(content("claude", f"commands/{name}.md"))["description"]
            for name in ("recall", "handover")
        ),
        "codex": front_matter(content("codex", "plugins/geminids/skills/geminids/SKILL.md"))["description"],
    }
    for agent, words in always.items():
        assert len(words) / LETTERS_OF_A_TOKEN <= MOST_TOKENS, agent
        assert "earlier" in words


def test_agents_are_told_that_history_is_no_instruction() -> None:
    for agent in PACKAGES:
        for name, text in package(agent).items():
            if name.endswith((".md", ".toml")):
                assert re.search(r"history,\s+(?:not|never\s+an)\s+instruction", text.decode()), (agent, name)


def test_manifests_are_what_agents_look_for() -> None:
    manifest = json.loads(content("gemini", "gemini-extension.json"))
    assert manifest["contextFileName"] in package("gemini")
    for name in ("recall", "handover"):
        command = tomllib.loads(content("gemini", f"commands/{name}.toml"))
        assert "{{args}}" in command["prompt"]
        assert "$ARGUMENTS" in content("claude", f"commands/{name}.md")
    (plugin,) = json.loads(content("claude", ".claude-plugin/marketplace.json"))["plugins"]
    assert plugin["name"] == json.loads(content("claude", ".claude-plugin/plugin.json"))["name"]
    (plugin,) = json.loads(content("codex", ".agents/plugins/marketplace.json"))["plugins"]
    folder = Path(plugin["source"]["path"])
    manifest = json.loads(content("codex", (folder / ".codex-plugin/plugin.json").as_posix()))
    for key in ("mcpServers", "hooks"):
        assert (folder / manifest[key]).as_posix() in package("codex")


def test_a_server_beside_commands_offers_no_prompts_of_the_same_names() -> None:
    from geminids.faces.mcp.prompts import PROMPTS
    from geminids.faces.mcp.server import McpServer

    def offers(*, prompts: bool) -> bool:
        server = McpServer(list, prompts=prompts)  # type: ignore[arg-type]
        return server.sdk.create_initialization_options().capabilities.prompts is not None

    commands = {Path(name).stem for name in package("gemini") if name.startswith("commands/")}
    assert commands == {prompt.name for prompt in PROMPTS}
    assert (offers(prompts=False), offers(prompts=True)) == (False, True)
    for name, agent in {"gemini-extension.json": "gemini", ".mcp.json": "claude"}.items():
        assert json.loads(content(agent, name))["mcpServers"]["geminids"]["args"] == ["mcp", "--no-prompts"]


def test_tools_that_are_named_are_there() -> None:
    from geminids.faces.mcp.tools import TOOLS

    named = {
        word
        for agent in PACKAGES
        for name, text in package(agent).items()
        if name.endswith((".md", ".toml"))
        for word in re.findall(r"`([a-z]+_[a-z_]+)`", text.decode())
    }
    assert named <= {tool.name for tool in TOOLS}
    assert "search_history" in named
