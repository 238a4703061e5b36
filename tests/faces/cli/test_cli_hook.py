"""`geminids keep hook`: a sync is started, the agent never waits, and hooks do not pile up."""

from __future__ import annotations

import json
import os
import plistlib
import re
import resource
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from geminids.core.locks import locked
from tests.conftest import FIXTURES, Run
from tests.support.keeping_page import snippets

HOME = FIXTURES / "gemini" / "shell-mode" / "home"
HOOK = (sys.executable, "-m", "geminids", "keep", "hook")
LONGEST = 20.0
"""Seconds within which all that was started must have ended."""
SLOW = 0.6
"""Seconds within which a hook returns on a machine that does other things too; 0.05 on an idle one."""


class Called(NamedTuple):
    """What a hook gave back, and how long it took."""

    code: int
    out: bytes
    err: bytes
    seconds: float


class Hooks:
    """Hooks with a data folder of their own, by which their processes are known."""

    def __init__(self, data: Path) -> None:
        self.data = data

    def line(self, *more: object, home: Path = HOME) -> list[str]:
        """How a hook is called."""
        return [*HOOK, "--home", str(home), "--data", str(self.data), *map(str, more)]

    def call(self, *more: object, home: Path = HOME, **options: Any) -> Called:
        """Call one, with an agent's words on stdin unless something else is said."""
        merged = {"input": b'{"hook_event_name":"SessionEnd"}', "capture_output": True, **options}
        began = time.monotonic()
        ran = subprocess.run(self.line(*more, home=home), check=False, timeout=LONGEST, **merged)
        return Called(ran.returncode, ran.stdout or b"", ran.stderr or b"", time.monotonic() - began)

    def processes(self) -> list[int]:
        """Those that were started and have not ended."""
        listed = subprocess.run(["ps", "-wwAo", "pid=,args="], capture_output=True, text=True, check=True)
        lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
        return [int(pid) for pid, words in lines if str(self.data) in words]

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait until something is so."""
        until = time.monotonic() + LONGEST
        while not done():
            assert time.monotonic() < until, self.log()
            time.sleep(0.05)

    def ended(self) -> list[str]:
        """Wait until all have ended: what the log says."""
        self.wait(lambda: not self.processes())
        return self.log()

    def log(self) -> list[str]:
        """The lines of the log."""
        path = self.data / "hook.log"
        return path.read_text().splitlines() if path.exists() else []

    @contextmanager
    def one_at_work(self) -> Iterator[None]:
        """A while in which another process syncs for a hook."""
        self.data.mkdir(parents=True, exist_ok=True)
        handle = os.open(self.data / "hook-running.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            assert locked(handle)
            yield
        finally:
            os.close(handle)


@pytest.fixture
def hooks(tmp_path: Path) -> Iterator[Hooks]:
    """Hooks, none of which outlives its test."""
    started = Hooks(tmp_path / "data")
    yield started
    started.wait(lambda: not started.processes())


@pytest.mark.slow
def test_what_is_new_is_taken_in_without_anybody_waiting(hooks: Hooks, geminids: Run) -> None:
    called = hooks.call()
    assert (called.code, called.out, called.err) == (0, b"{}\n", b"")
    assert hooks.processes(), "the sync ended before the hook did"
    (line,) = hooks.ended()
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ Taken in: 1 group of files, .*", line)
    listed = geminids("list", "--json", "--no-sync", "--home", HOME, "--data", hooks.data)
    assert len(json.loads(listed.out)["sessions"]) == 1


@pytest.mark.slow
def test_it_returns_within_milliseconds(hooks: Hooks) -> None:
    hooks.call()
    assert min(hooks.call().seconds for _ in range(5)) < SLOW

    def processor_seconds(*line: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(line, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    bare = min(processor_seconds(sys.executable, "-c", "pass") for _ in range(7))
    # Twice as much as Python itself; a machine that does other things at the same time gets some leave.
    assert min(processor_seconds(*hooks.line()) for _ in range(7)) < 3 * bare


def test_hardly_anything_is_loaded() -> None:
    shown = "import geminids.faces.cli.hook_answer, sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    assert not {"click", "subprocess", "typing", "json", "geminids.library"} & set(ran.stdout.split())


@pytest.mark.slow
def test_twenty_hooks_while_one_is_at_work_are_one_more_sync(hooks: Hooks) -> None:
    nothing, heard = subprocess.DEVNULL, subprocess.PIPE
    with hooks.one_at_work():
        started = [subprocess.Popen(hooks.line(), stdin=nothing, stdout=heard) for _ in range(20)]
        assert {process.communicate(timeout=LONGEST)[0] for process in started} == {b"{}\n"}
        assert {process.returncode for process in started} == {0}
        hooks.wait(lambda: len(hooks.processes()) == 1)
        assert hooks.log() == []
    assert len(hooks.ended()) == 1


@pytest.mark.slow
def test_while_one_is_at_work_one_waits_and_the_next_does_nothing(hooks: Hooks) -> None:
    with hooks.one_at_work():
        hooks.call()
        (waiting,) = hooks.processes()
        hooks.wait(lambda: holds_lock(hooks.data / "hook-waiting.lock"))
        for _ in range(3):
            assert hooks.call().code == 0
        hooks.wait(lambda: hooks.processes() == [waiting])
        assert hooks.log() == []
    assert len(hooks.ended()) == 1


def holds_lock(path: Path) -> bool:
    """Whether some process has the lock."""
    if not path.exists():
        return False
    handle = os.open(path, os.O_RDWR)
    try:
        return not locked(handle)
    finally:
        os.close(handle)


@pytest.mark.slow
def test_the_sync_belongs_to_nobody_and_comes_last(hooks: Hooks) -> None:
    with hooks.one_at_work():
        hooks.call()
        (process,) = hooks.processes()
        hooks.wait(lambda: holds_lock(hooks.data / "hook-waiting.lock"))
        assert os.getsid(process) == process
        assert os.getpriority(os.PRIO_PROCESS, process) == min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)
    hooks.ended()


def test_an_agent_that_says_nothing_and_never_ends_is_not_waited_for(hooks: Hooks) -> None:
    reading, writing = os.pipe()
    try:
        called = hooks.call(input=None, stdin=reading)
    finally:
        os.close(reading)
        os.close(writing)
    assert (called.code, called.out) == (0, b"{}\n")
    assert called.seconds < SLOW + 0.2


def test_whatever_an_agent_says_changes_nothing(hooks: Hooks) -> None:
    for words in (b"", b"no JSON", b'{"a":' * 1_000, b" " * 900_000, b" " * 5_000_000):
        assert hooks.call(input=words)[:3] == (0, b"{}\n", b""), len(words)


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-", ">/dev/full"])
def test_streams_that_are_closed_or_full_are_no_error(hooks: Hooks, closed: str) -> None:
    line = ["sh", "-c", f'exec "$@" {closed}', "sh", *hooks.line()]
    ran = subprocess.run(line, capture_output=True, check=False, timeout=LONGEST, stdin=subprocess.DEVNULL)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert len(hooks.ended()) == 1


@pytest.mark.slow
def test_what_agents_add_to_the_line_is_left_alone(hooks: Hooks) -> None:
    assert hooks.call('{"type":"agent-turn-complete"}')[:3] == (0, b"{}\n", b"")
    assert len(hooks.ended()) == 1
    assert hooks.call("SessionEnd", "--no-color")[:3] == (0, b"{}\n", b"")
    assert len(hooks.ended()) == 2


@pytest.mark.parametrize("wrong", [["--no-such"], ["--home"], ["--data", " "]], ids=str)
def test_a_wrong_option_is_told_but_never_with_the_code_that_stops_agents(wrong: list[str]) -> None:
    ran = subprocess.run([*HOOK, *wrong], capture_output=True, check=False, timeout=LONGEST)
    assert ran.returncode == 1
    assert ran.stdout == b""
    assert b"geminids keep hook --help" in ran.stderr
    assert b"Traceback" not in ran.stderr


@pytest.mark.slow
def test_a_home_that_is_missing_stands_in_the_log(hooks: Hooks, tmp_path: Path) -> None:
    assert hooks.call(home=tmp_path / "nowhere")[:3] == (0, b"{}\n", b"")
    (line,) = hooks.ended()
    assert "nowhere" in line


def test_a_data_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    hooks = Hooks(tmp_path / "file" / "data")
    assert hooks.call()[:3] == (0, b"{}\n", b"")
    hooks.wait(lambda: not hooks.processes())


READ_ONLY = """
import os, sys
from geminids.faces.background import main
# Loads all that it takes, which another user might not be allowed to.
main(["--sample", "--data", sys.argv[1]])
if not os.geteuid():
    os.seteuid(65534)
main(["--sample", "--data", sys.argv[2]])
"""


@pytest.mark.slow
def test_a_data_folder_that_is_read_only_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o555)
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    line = [sys.executable, "-c", READ_ONLY, str(tmp_path / "open"), str(tmp_path / "closed")]
    ran = subprocess.run(line, capture_output=True, check=False, timeout=LONGEST)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert len(Hooks(tmp_path / "open").log()) == 1
    assert list((tmp_path / "closed").iterdir()) == []


def test_nothing_is_written_into_the_folder_of_an_agent(tmp_path: Path) -> None:
    shutil.copytree(HOME, tmp_path / "home")
    before = sorted(tmp_path.rglob("*"))
    hooks = Hooks(tmp_path / "home" / ".gemini" / "tmp" / "ours")
    assert hooks.call(home=tmp_path / "home")[:3] == (0, b"{}\n", b"")
    hooks.wait(lambda: not hooks.processes())
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_relative_folders_are_those_of_the_agent(tmp_path: Path) -> None:
    shutil.copytree(HOME, tmp_path / "home")
    line = [*HOOK, "--home", "home", "--data", "data"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(os.path.abspath, filter(None, sys.path)))}
    subprocess.run(line, cwd=tmp_path, env=environment, check=True, stdin=subprocess.DEVNULL, timeout=LONGEST)
    hooks = Hooks(tmp_path / "data")
    hooks.wait(lambda: bool(hooks.log()))
    assert "Taken in: 1 group of files" in hooks.log()[0]


@pytest.mark.slow
def test_the_log_is_private_and_stays_small(hooks: Hooks) -> None:
    hooks.data.mkdir()
    log = hooks.data / "hook.log"
    log.write_text("an old line\n" * 20_000)
    log.chmod(0o600)
    hooks.call()
    lines = hooks.ended()
    assert set(lines[:-1]) == {"an old line"}
    assert "Taken in: 1 group of files" in lines[-1]
    assert log.stat().st_size < 64_000
    for name in ("hook.log", "hook-waiting.lock", "hook-running.lock"):
        assert stat.S_IMODE((hooks.data / name).stat().st_mode) == 0o600


# What docs/keeping.md tells people to copy


def hook_of(settings: dict[str, Any]) -> dict[str, Any]:
    """The one hook in an agent's settings."""
    match settings:
        case {"hooks": {"SessionEnd": [{"hooks": [dict(only)]}]}}:
            return only
    raise AssertionError(settings)


@pytest.mark.parametrize(("agent", "timeout"), [("Gemini CLI", 5_000), ("Claude Code", 5)])
def test_the_settings_of_the_page_call_our_hook(agent: str, timeout: int) -> None:
    (written,) = snippets(agent)
    expected = {"type": "command", "command": "geminids keep hook", "timeout": timeout}
    assert hook_of(json.loads(written)) == expected


def test_the_settings_for_codex_call_our_hook() -> None:
    (written,) = snippets("Codex CLI")
    assert tomllib.loads(written) == {"notify": ["geminids", "keep", "hook"]}


def test_systemd_understands_the_units(tmp_path: Path) -> None:
    if not shutil.which("systemd-analyze"):
        pytest.skip("no systemd-analyze on this machine: the units of docs/keeping.md were not checked")
    service, timer = snippets("systemd")
    assert "ExecStart=%h/.local/bin/geminids sync\n" in service
    # A unit is only good if its program is there; any will do.
    (tmp_path / "geminids.service").write_text(service.replace("%h/.local/bin/geminids", sys.executable))
    (tmp_path / "geminids.timer").write_text(timer)
    line = ["systemd-analyze", "verify", "--user", "--man=no", "geminids.timer", "geminids.service"]
    environment = {**os.environ, "SYSTEMD_UNIT_PATH": f"{tmp_path}:", "XDG_RUNTIME_DIR": str(tmp_path)}
    ran = subprocess.run(line, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert [line for line in ran.stderr.splitlines() if "geminids" in line] == []
    assert ran.returncode == 0, ran.stderr


def test_the_line_for_cron_runs_every_day() -> None:
    (line,) = snippets("cron")
    assert re.fullmatch(r'[0-5]?\d (1?\d|2[0-3]) \* \* \* "\$HOME/\S+/geminids" sync >/dev/null 2>&1\n', line)


def test_the_property_list_for_launchd_can_be_read() -> None:
    (written,) = snippets("launchd")
    agent = plistlib.loads(written.encode())
    assert agent["Label"] == "geminids.sync"
    assert agent["ProgramArguments"][1:] == ["sync"]
    assert agent["ProgramArguments"][0].endswith("/geminids")
    assert agent["StartCalendarInterval"].keys() == {"Hour", "Minute"}


def test_the_line_for_windows_runs_every_day() -> None:
    (line,) = snippets("Windows")
    form = r'schtasks /Create /TN \w+ /SC DAILY /ST ([01]\d|2[0-3]):[0-5]\d /TR "geminids sync"\n'
    assert re.fullmatch(form, line)
