"""Sessions that were put back, in the real Claude Code and the real Codex CLI: they send all turns again.

Our own command keeps them before, and puts them back.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geminids.core.agents.homes import Home
from geminids.core.agents.restore import Copy
from geminids.core.agents.resume import Circumstances
from geminids.library.custody.restore import plan_in_home, write
from tests.conftest import FIXTURES
from tests.real import programs
from tests.real.cli import slow_service
from tests.real.ours import Ours

pytestmark = pytest.mark.real

RECORD = FIXTURES / "record"
RUN_SECONDS = 90
CLEANING_SECONDS = 12
"""So long a session has to last until Claude Code has deleted what it does not keep."""
PROMPT = "Remember the apple."
NEXT = "Go on, please."
NO_SESSIONS = ("history.jsonl", "session_index.jsonl")
"""Files of agents that are named like sessions."""
_CODEX_SETTINGS = """
model = "gpt-5.5"
model_provider = "loopback"
[model_providers.loopback]
name = "loopback"
base_url = "{url}"
wire_api = "responses"
supports_websockets = false
"""


@pytest.fixture
def record(monkeypatch: pytest.MonkeyPatch) -> None:
    """The servers that recordings are made with can be loaded."""
    monkeypatch.syspath_prepend(str(RECORD))


class Machine:
    """A home, a project, and a program that talks to a server on this machine."""

    def __init__(self, folder: Path, agent: str, program: Path, environment: dict[str, str]) -> None:
        self._program = program
        self._environment = environment
        self.user_home = folder / "home"
        self.project = folder / "shop"
        self.project.mkdir(parents=True)
        self.home = Home(agent, str(self.user_home / f".{agent}"), "given")
        Path(self.home.folder).mkdir(parents=True)

    def run(self, *arguments: str, codes: Collection[int] = (0,), **environment: str) -> str:
        """Run the program to its end; what it printed."""
        own = {"PATH": os.environ["PATH"], "HOME": str(self.user_home), "TZ": "UTC", "LANG": "C.UTF-8"}
        ran = subprocess.run(
            [self._program, *arguments],
            cwd=self.project,
            env=own | self._environment | environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert ran.returncode in codes, ran.stdout + ran.stderr
        return ran.stdout

    def kept(self) -> str:
        """Keep copies of what is there; the id of the only session."""
        self._ours.ask(datetime.now(UTC), "sync")
        (session,) = self._ours.sessions(datetime.now(UTC))
        assert (session["agent"], session["kept"]) == (self.home.agent, False)
        return str(session["native_id"])

    def session_files(self) -> dict[Path, bytes]:
        """The files of sessions, and what is in them."""
        found = Path(self.home.folder).glob("**/*.jsonl")
        return {file: file.read_bytes() for file in found if file.name not in NO_SESSIONS}

    def restored(self, native_id: str) -> None:
        """Put a session back where its agent finds it."""
        self._ours.restored(datetime.now(UTC), f"{self.home.agent}:{native_id}")

    @property
    def _ours(self) -> Ours:
        return Ours(self.user_home, self.project, os.environ["PATH"])


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
    return Machine(tmp_path, "claude", programs.claude(), environment)


@pytest.fixture
def codex(tmp_path: Path, responses_api: Any) -> Machine:
    """A machine with Codex CLI."""
    machine = Machine(tmp_path, "codex", programs.codex(), {})
    settings = _CODEX_SETTINGS.format(url=responses_api.url)
    (Path(machine.home.folder) / "config.toml").write_text(settings)
    return machine


def test_claude_code_goes_on_with_a_session_that_was_put_back(claude: Machine, messages_api: Any) -> None:
    claude.run("-p", PROMPT, "--output-format", "json")
    native_id = claude.kept()
    before = claude.session_files()
    for file in before:
        file.unlink()
    claude.restored(native_id)
    assert claude.session_files() == before
    claude.run("-p", NEXT, "--resume", native_id)
    sent = json.dumps(messages_api.exchanges[-1].body["messages"])
    assert PROMPT in sent
    assert NEXT in sent


def test_claude_code_goes_on_with_a_session_that_it_deleted(claude: Machine, messages_api: Any) -> None:
    claude.run("-p", PROMPT, "--output-format", "json")
    native_id = claude.kept()
    (file,) = claude.session_files()
    os.utime(file, (datetime(2026, 1, 1, tzinfo=UTC).timestamp(),) * 2)
    claude.kept()
    with slow_service(CLEANING_SECONDS) as (address, _):
        claude.run("-p", "Something else.", codes=(0, 1), ANTHROPIC_BASE_URL=address)
    assert not file.exists()
    claude.restored(native_id)
    claude.run("-p", NEXT, "--resume", native_id)
    assert PROMPT in json.dumps(messages_api.exchanges[-1].body["messages"])


def test_claude_code_goes_on_with_a_session_whose_name_was_taken(claude: Machine, messages_api: Any) -> None:
    claude.run("-p", PROMPT, "--output-format", "json")
    (file,) = claude.session_files()
    copy = _copy(file)
    # As long as there is a file of that name our command would say that nothing is gone.
    file.write_text("{}\n")
    circumstances = Circumstances(
        environment={}, user_home=str(claude.user_home), here=str(claude.project), now=datetime.now(UTC)
    )
    (path,) = write(plan_in_home("claude:it", claude.home, [copy], circumstances))
    claude.run("-p", NEXT, "--resume", Path(path).stem)
    assert PROMPT in json.dumps(messages_api.exchanges[-1].body["messages"])
    assert file.read_text() == "{}\n"


def test_codex_goes_on_with_a_session_that_was_put_back(codex: Machine, responses_api: Any) -> None:
    codex.run("exec", "--skip-git-repo-check", PROMPT)
    native_id = codex.kept()
    before = codex.session_files()
    for file in before:
        file.unlink()
    codex.restored(native_id)
    assert codex.session_files() == before
    codex.run("exec", "--skip-git-repo-check", "resume", native_id, NEXT)
    sent = json.dumps(responses_api.log[-1].body["input"])
    assert PROMPT in sent
    assert NEXT in sent


def test_codex_goes_on_with_a_session_that_it_deleted(codex: Machine, responses_api: Any) -> None:
    codex.run("exec", "--skip-git-repo-check", PROMPT)
    native_id = codex.kept()
    codex.run("delete", "--force", native_id)
    assert not codex.session_files()
    codex.restored(native_id)
    codex.run("exec", "--skip-git-repo-check", "resume", native_id, NEXT)
    assert PROMPT in json.dumps(responses_api.log[-1].body["input"])
