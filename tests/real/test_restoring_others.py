"""Sessions that were put back, in the real Claude Code and the real Codex CLI: they send all turns again.

The variables GEMINIDS_TEST_CLAUDE and GEMINIDS_TEST_CODEX name the programs. What is not named is not tried.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geminids.restoring import plan_in_home, write
from geminids.sources.places import Home
from geminids.sources.restoring import Copy
from geminids.sources.resuming import Circumstances
from tests.conftest import FIXTURES

pytestmark = pytest.mark.real

RECORD = FIXTURES / "record"
RUN_SECONDS = 90
PROMPT = "Remember the apple."
NEXT = "Go on, please."
_CODEX_SETTINGS = """
model = "gpt-5.5"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "{url}"
wire_api = "responses"
supports_websockets = false
"""


def _program(variable: str) -> str:
    program = os.environ.get(variable)
    if not program or not Path(program).is_file():
        pytest.skip(f"{variable} names no program: its sessions were not put back")
    return program


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers that recordings are made with can be loaded."""
    monkeypatch.syspath_prepend(str(RECORD))


class Machine:
    """A home, a project, and a program that talks to a server on this machine."""

    def __init__(self, folder: Path, agent: str, program: str, environment: dict[str, str]) -> None:
        self._program = program
        self._environment = environment
        self.user_home = folder / "home"
        self.project = folder / "shop"
        self.project.mkdir(parents=True)
        self.home = Home(agent, str(self.user_home / f".{agent}"), "given")
        Path(self.home.folder).mkdir(parents=True)

    def run(self, *arguments: str) -> str:
        """Run the program to its end; what it printed."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.user_home), "TZ": "UTC", "LANG": "C.UTF-8"}
        ran = subprocess.run(
            [self._program, *arguments],
            cwd=self.project,
            env=own | self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    def copies(self, *patterns: str) -> list[Copy]:
        """Kept copies of the files of sessions."""
        found = [file for pattern in patterns for file in Path(self.home.folder).glob(pattern)]
        return [_copy(file) for file in sorted(found) if file.is_file()]

    def put_back(self, copies: list[Copy]) -> list[str]:
        """Put a session back where its agent finds it; the paths that were written."""
        circumstances = Circumstances(
            environment={}, user_home=str(self.user_home), here=str(self.project), now=datetime.now(UTC)
        )
        plan = plan_in_home(f"{self.home.agent}:it", self.home, copies, circumstances)
        assert plan.refusal is None, plan.refusal
        written = write(plan)
        assert [Path(path).read_bytes() for path in written] == [copy.read() for copy in copies]
        return written


def _copy(file: Path) -> Copy:
    content = file.read_bytes()
    read = partial(bytes, content)
    return Copy(path=str(file), size=len(content), mtime_ns=file.stat().st_mtime_ns, read=read)


@pytest.fixture
def messages_api(record: None) -> Iterator[Any]:
    """Stands in for the service of Claude Code."""
    import messages_api  # type: ignore[import-not-found]

    api = messages_api.MessagesApi()
    yield api
    api.close()


@pytest.fixture
def responses_api(record: None) -> Iterator[Any]:
    """Stands in for the service of Codex CLI."""
    import responses_api  # type: ignore[import-not-found]

    api = responses_api.ResponsesApi()
    for answer in ("An apple.", "A pear.", "A plum."):
        api.push(responses_api.say(answer))
    yield api
    api.close()


@pytest.fixture
def claude(tmp_path: Path, messages_api: Any) -> Machine:
    """A machine with Claude Code."""
    environment = {
        "ANTHROPIC_BASE_URL": messages_api.url,
        "ANTHROPIC_API_KEY": "no-key",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return Machine(tmp_path, "claude", _program("GEMINIDS_TEST_CLAUDE"), environment)


@pytest.fixture
def codex(tmp_path: Path, responses_api: Any) -> Machine:
    """A machine with Codex CLI."""
    machine = Machine(tmp_path, "codex", _program("GEMINIDS_TEST_CODEX"), {})
    settings = _CODEX_SETTINGS.format(url=responses_api.url)
    (Path(machine.home.folder) / "config.toml").write_text(settings)
    return machine


def test_claude_code_goes_on_with_a_session_that_was_put_back(claude: Machine, messages_api: Any) -> None:
    native_id = json.loads(claude.run("-p", PROMPT, "--output-format", "json"))["session_id"]
    copies = claude.copies(f"projects/*/{native_id}.jsonl", f"projects/*/{native_id}/**/*")
    for copy in copies:
        Path(copy.path).unlink()
    claude.put_back(copies)
    claude.run("-p", NEXT, "--resume", native_id)
    sent = json.dumps(messages_api.exchanges[-1].body["messages"])
    assert PROMPT in sent
    assert NEXT in sent


def test_claude_code_goes_on_with_a_session_whose_name_was_taken(claude: Machine, messages_api: Any) -> None:
    native_id = json.loads(claude.run("-p", PROMPT, "--output-format", "json"))["session_id"]
    copies = claude.copies(f"projects/*/{native_id}.jsonl")
    Path(copies[0].path).write_text("{}\n")
    (path,) = claude.put_back(copies)
    claude.run("-p", NEXT, "--resume", Path(path).stem)
    sent = json.dumps(messages_api.exchanges[-1].body["messages"])
    assert PROMPT in sent
    assert Path(copies[0].path).read_text() == "{}\n"


def test_codex_goes_on_with_a_session_that_was_put_back(codex: Machine, responses_api: Any) -> None:
    codex.run("exec", "--skip-git-repo-check", PROMPT)
    copies = codex.copies("sessions/**/rollout-*")
    (name,) = [Path(copy.path).name for copy in copies]
    thread = re.sub(r"rollout-.{19}-(.+)\.jsonl", r"\1", name)
    Path(copies[0].path).unlink()
    codex.put_back(copies)
    codex.run("exec", "--skip-git-repo-check", "resume", thread, NEXT)
    sent = json.dumps(responses_api.log[-1].body["input"])
    assert PROMPT in sent
    assert NEXT in sent


def test_codex_goes_on_with_a_session_that_it_deleted(codex: Machine, responses_api: Any) -> None:
    codex.run("exec", "--skip-git-repo-check", PROMPT)
    copies = codex.copies("sessions/**/rollout-*")
    thread = re.sub(r"rollout-.{19}-(.+)\.jsonl", r"\1", Path(copies[0].path).name)
    codex.run("delete", "--force", thread)
    assert not Path(copies[0].path).exists()
    codex.put_back(copies)
    codex.run("exec", "--skip-git-repo-check", "resume", thread, NEXT)
    sent = json.dumps(responses_api.log[-1].body["input"])
    assert PROMPT in sent
