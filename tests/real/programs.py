"""The programs of the agents, as their makers publish them: those that are named, else installed here.

    GEMINI_RIG_CLI         a folder with releases of Gemini CLI, as npm installs them: `<folder>/0.61.0/…`
    GEMINIDS_TEST_CLAUDE   the program of Claude Code
    GEMINIDS_TEST_CODEX    the program of Codex CLI

What no variable names is put into `.real/` by npm or pip when a test first wants it. What cannot be had there
is not tried: the test is skipped, and says why.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.gemini_cli import PACKAGE, NoCliError, installed_by_npm

OWN = ROOT / ".real"
GEMINI_VARIABLE = "GEMINI_RIG_CLI"
CLAUDE_VARIABLE = "GEMINIDS_TEST_CLAUDE"
CODEX_VARIABLE = "GEMINIDS_TEST_CODEX"
CLAUDE = "claude-agent-sdk==0.2.182"
"""The package that comes with the program of Claude Code 2.1."""
CODEX_PACKAGE = "@openai/codex"
CODEX = f"{CODEX_PACKAGE}@0.166.0"
CLAUDE_PACKAGE = "@anthropic-ai/claude-code"
INSTALL_SECONDS = 600


def gemini(version: str) -> Path:
    """A release of Gemini CLI. Skips the test where it cannot be had."""
    if not shutil.which("node"):
        pytest.skip(f"there is no node on this machine: Gemini CLI {version} was not tried")
    given = os.environ.get(GEMINI_VARIABLE)
    folder = (Path(given) if given else OWN / "gemini") / version
    package = folder / "node_modules" / PACKAGE
    if not given:
        _install(folder, lambda: installed_by_npm(folder, f"{PACKAGE}@{version}"), f"Gemini CLI {version}")
    try:
        about = json.loads((package / "package.json").read_bytes())
    except OSError:
        pytest.skip(f"Gemini CLI {version} is not in {folder.parent}: it was not tried")
    return package / _place(about["bin"])


def _place(written: object) -> str:
    """Where a package says that its program is."""
    match written:
        case {"gemini": str(place)} | str(place):
            return place
    raise AssertionError(written)


def claude() -> Path:
    """Claude Code. Skips the test where it cannot be had."""
    folder = OWN / "claude"
    if named := _named(CLAUDE_VARIABLE, "Claude Code"):
        return named
    _install(folder, lambda: _install_by_pip(folder, CLAUDE), "Claude Code")
    return _found(folder, "claude_agent_sdk/_bundled/claude", "Claude Code")


def codex() -> Path:
    """Codex CLI. Skips the test where it cannot be had."""
    folder = OWN / "codex"
    if named := _named(CODEX_VARIABLE, "Codex CLI"):
        return named
    # What npm calls optional are the programs for each kind of machine.
    _install(folder, lambda: installed_by_npm(folder, CODEX, "--include=optional"), "Codex CLI")
    return _found(folder, "node_modules/@openai/*/vendor/*/bin/codex", "Codex CLI")


def claude_release(version: str) -> Path:
    """A release of Claude Code, as npm has it. Skips the test where it cannot be had."""
    folder = _release("claude", "Claude Code", CLAUDE_PACKAGE, version)
    script = folder / "node_modules" / CLAUDE_PACKAGE / "cli.js"
    return script if script.exists() else _found(folder, "node_modules/@anthropic-ai/*/claude", "Claude Code")


def codex_release(version: str) -> Path:
    """A release of Codex CLI. Skips the test where it cannot be had."""
    folder = _release("codex", "Codex CLI", CODEX_PACKAGE, version)
    return _found(folder, "node_modules/@openai/*/vendor/*/bin/codex", "Codex CLI")


def _release(agent: str, title: str, package: str, version: str) -> Path:
    """A folder with a release of an agent."""
    folder = OWN / f"{agent}-{version}"
    exact = f"{package}@{version}"
    _install(folder, lambda: installed_by_npm(folder, exact, "--include=optional"), f"{title} {version}")
    return folder


def _named(variable: str, title: str) -> Path | None:
    given = os.environ.get(variable)
    if given and not Path(given).is_file():
        pytest.skip(f"{variable} names no program: {title} was not tried")
    return Path(given) if given else None


def _found(folder: Path, pattern: str, title: str) -> Path:
    for program in folder.glob(pattern):
        return program
    pytest.skip(f"there is no {title} for this kind of machine: it was not tried")


def _install(folder: Path, install: Callable[[], None], title: str) -> None:
    """Install a program, if no other process did. A folder that is there is complete."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if folder.is_dir():
            return
        try:
            install()
        except NoCliError as error:
            pytest.skip(f"{title} was not tried: {error}")


def _install_by_pip(folder: Path, package: str) -> None:
    """Raises NoCliError."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    line = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(part), package]
    try:
        ran = subprocess.run(line, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise NoCliError(f"pip did not install it within {INSTALL_SECONDS} seconds") from error
    if ran.returncode:
        raise NoCliError(f"pip could not install it: {ran.stderr.strip()[-300:]}")
    part.rename(folder)
