"""The settings of docs/keeping.md in the real agents: the hook runs, nobody waits, the session is taken in.

The agents talk to servers on this machine only.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FIXTURES
from tests.real import programs
from tests.real.agent_homes import (
    API_KEY,
    CODEX_SETTINGS,
    AgentHome,
    Ended,
    claude_environment,
    left_terminal,
)
from tests.real.deleting import READY
from tests.support.gemini_cli import MODEL, REPLY, ScratchHome, loopback_server
from tests.support.keeping_page import snippets

pytestmark = pytest.mark.real

GEMINI_RELEASES = ("0.61.0", "0.33.2", "0.27.0")
GEMINI_RELEASES_TO_BE_ASKED = ("0.24.0",)
"""Those that run hooks only if they are enabled."""
MOST_MILLISECONDS = 200
"""For the quickest of several calls; any may meet a machine that does other things."""
NOISE = 1.0
"""Seconds by which two runs of an agent may differ on a machine that does other things too."""
OWN_TALK = ("Created execution plan", "Expanding hook command", "Hook execution for", "Hook registry")
"""How lines begin in which Gemini CLI up to 0.38 tells of every hook, where nobody sits at the terminal."""
PROMPT = "Which fruit is ripe?"


@pytest.fixture
def agent_home(tmp_path: Path) -> AgentHome:
    """A home with nothing in it."""
    return AgentHome(tmp_path / "agent")


def assert_kept(agent_home: AgentHome, ended: Ended, agent: str) -> None:
    """The hook was called, the agent showed nothing of it, and the session outlives the agent's folder."""
    calls = agent_home.calls()
    # Gemini CLI calls it up to three times: 0.61 where a terminal is left, 0.33 where there was none.
    assert len(calls) in (1, 2, 3)
    for call in calls:
        assert call.words.startswith("keep hook")
        assert call.code == 0
        assert call.milliseconds < 5 * MOST_MILLISECONDS
    assert agent_home.said() == {("{}\n", "")}
    shown = [line for line in (ended.out + ended.err).splitlines() if not line.startswith(OWN_TALK)]
    assert not any("geminids" in line or "{}" in line for line in shown)
    assert agent_home.wait_for_sync() > ended.at, (
        "the sync was done before the agent ended, so nothing is shown"
    )
    (session,) = agent_home.sessions("--no-sync")
    assert session["agent"] == agent
    assert session["title"] == PROMPT
    shutil.rmtree(agent_home.home / f".{agent}")
    (kept,) = agent_home.sessions()
    assert (kept["title"], kept["kept"]) == (PROMPT, True)


# Gemini CLI


class GeminiHome(AgentHome):
    """The same with Gemini CLI in it, which is run as the other tests run it."""

    def __init__(self, folder: Path, scratch: ScratchHome) -> None:
        super().__init__(folder)
        self._scratch = scratch
        shutil.rmtree(self.home)
        self.home = scratch.chats.parents[3]
        self._settings = self.home / ".gemini" / "settings.json"

    def add(self, settings: dict[str, Any]) -> None:
        """Add settings to those of the user."""
        self._settings.write_text(json.dumps({**json.loads(self._settings.read_bytes()), **settings}))

    def asked(self) -> Ended:
        """Ask the agent one thing."""
        began = time.monotonic()
        ran = self._scratch.run("--model", MODEL, "--prompt", PROMPT)
        assert ran.code == 0, ran.err
        return Ended(ran.out, ran.err, time.monotonic() - began, time.time())


@contextmanager
def gemini(release: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GeminiHome]:
    """A home with a release of Gemini CLI."""
    program = programs.gemini(release)
    with loopback_server() as server:
        home = GeminiHome(folder / "agent", ScratchHome(folder / "scratch", program, server))
        monkeypatch.setenv("PATH", home.path)
        yield home


def page_settings(heading: str) -> dict[str, Any]:
    """What the page tells people to copy."""
    (written,) = snippets(heading)
    settings: dict[str, Any] = json.loads(written)
    return settings


@pytest.mark.parametrize("release", GEMINI_RELEASES)
def test_gemini_cli_keeps_by_itself(release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gemini(release, tmp_path, monkeypatch) as home:
        home.add(page_settings("Gemini CLI"))
        assert_kept(home, home.asked(), "gemini")


@pytest.mark.parametrize("release", GEMINI_RELEASES_TO_BE_ASKED)
def test_early_releases_must_be_asked(release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = page_settings("Gemini CLI")
    with gemini(release, tmp_path, monkeypatch) as home:
        home.add(settings)
        home.asked()
        assert home.calls() == []
        settings["hooks"]["enabled"] = True
        home.add(settings)
        home.asked()
        assert {call.code for call in home.calls()} == {0}
        home.wait_for_sync()
        assert [session["title"] for session in home.sessions("--no-sync")] == [PROMPT, PROMPT]


def test_gemini_cli_does_not_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with gemini(GEMINI_RELEASES[0], tmp_path, monkeypatch) as home:
        without = min(home.asked().seconds for _ in range(3))
        home.add(page_settings("Gemini CLI"))
        # The first index takes longest.
        assert min(home.asked().seconds for _ in range(3)) < without + NOISE
        assert len(home.calls()) == 3
        assert min(call.milliseconds for call in home.calls()) < MOST_MILLISECONDS
        home.wait_for_sync()


def test_gemini_cli_keeps_when_somebody_leaves_the_terminal(agent_home: AgentHome) -> None:
    release = GEMINI_RELEASES[0]
    (agent_home.home / ".gemini").mkdir()
    quiet = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "ui": {"theme": "Default", "hideTips": True, "hideBanner": True},
        "ide": {"enabled": False, "hasSeenNudge": True},
        "tools": {"useRipgrep": False},
        "privacy": {"usageStatisticsEnabled": False},
    }
    settings = {**quiet, **page_settings("Gemini CLI")}
    (agent_home.home / ".gemini" / "settings.json").write_text(json.dumps(settings))
    with (
        loopback_server() as server,
        left_terminal(
            ["node", programs.gemini(release), "--model", MODEL],
            agent_home,
            GEMINI_API_KEY="no-key",
            GOOGLE_GEMINI_BASE_URL=server.address,
            GEMINI_CLI_NO_RELAUNCH="true",
            NO_BROWSER="1",
        ) as terminal,
    ):
        terminal.wait_for(READY)
        terminal.say(PROMPT, REPLY)
        terminal.leave()
        ended = Ended("", "", 0.0, time.time())
    assert_kept(agent_home, ended, "gemini")


# Claude Code and Codex CLI


@pytest.fixture
def recorders(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers that our fixtures were recorded with."""
    monkeypatch.syspath_prepend(str(FIXTURES / "record"))


def ask_claude(agent_home: AgentHome, program: Path) -> Ended:
    api = import_module("messages_api").MessagesApi()
    try:
        line = (program, "-p", PROMPT, "--model", "claude-sonnet-4-5-20250929")
        return agent_home.ended(*line, **claude_environment(api.url))
    finally:
        api.close()


@pytest.mark.usefixtures("recorders")
def test_claude_code_keeps_by_itself(agent_home: AgentHome) -> None:
    program = programs.claude()
    (agent_home.home / ".claude").mkdir()
    (agent_home.home / ".claude" / "settings.json").write_text(json.dumps(page_settings("Claude Code")))
    assert_kept(agent_home, ask_claude(agent_home, program), "claude")


@pytest.mark.usefixtures("recorders")
def test_claude_code_does_not_wait(agent_home: AgentHome) -> None:
    program = programs.claude()
    without = min(ask_claude(agent_home, program).seconds for _ in range(3))
    (agent_home.home / ".claude" / "settings.json").write_text(json.dumps(page_settings("Claude Code")))
    assert min(ask_claude(agent_home, program).seconds for _ in range(3)) < without + NOISE
    assert len(agent_home.calls()) == 3
    assert min(call.milliseconds for call in agent_home.calls()) < MOST_MILLISECONDS
    agent_home.wait_for_sync()


@pytest.mark.usefixtures("recorders")
def test_claude_code_keeps_when_somebody_leaves_the_terminal(agent_home: AgentHome) -> None:
    program = programs.claude()
    (agent_home.home / ".claude").mkdir()
    (agent_home.home / ".claude" / "settings.json").write_text(json.dumps(page_settings("Claude Code")))
    answered_before = {
        "hasCompletedOnboarding": True,
        "lastOnboardingVersion": "2.1.0",
        "theme": "dark",
        "customApiKeyResponses": {"approved": [API_KEY[-20:]], "rejected": []},
        "projects": {
            str(agent_home.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        },
    }
    (agent_home.home / ".claude.json").write_text(json.dumps(answered_before))
    served = import_module("messages_api")
    api = served.MessagesApi()
    api.script(served.say("The pears."))
    line: list[str | Path] = [program, "--model", "claude-sonnet-4-5-20250929"]
    try:
        with left_terminal(line, agent_home, **claude_environment(api.url)) as terminal:
            terminal.wait_for(re.compile("❯"))
            terminal.rest(2)
            terminal.type(PROMPT)
            terminal.wait_for(re.compile(r"pears"))
            terminal.rest(1)
            terminal.leave()
            ended = Ended("", "", 0.0, time.time())
    finally:
        api.close()
    assert_kept(agent_home, ended, "claude")


@pytest.mark.usefixtures("recorders")
def test_codex_cli_keeps_by_itself(agent_home: AgentHome) -> None:
    program = programs.codex()
    served = import_module("responses_api")
    api = served.ResponsesApi()
    try:
        content = [{"type": "output_text", "text": "The pears."}]
        message = {"type": "message", "role": "assistant", "id": "msg_1", "content": content}
        api.push(served.Answer([message], served.Counts(10, 0, 3, 0)))
        (agent_home.home / ".codex").mkdir()
        settings = CODEX_SETTINGS.format(notify=snippets("Codex CLI")[0], address=api.url)
        (agent_home.home / ".codex" / "config.toml").write_text(settings)
        ended = agent_home.ended(program, "exec", "--skip-git-repo-check", "--", PROMPT)
    finally:
        api.close()
    # Codex does not wait for what it calls.
    agent_home.wait_for_sync()
    assert_kept(agent_home, ended, "codex")
