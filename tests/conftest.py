"""What all tests share: a fixed time zone, a machine of one's own, the real command."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import hypothesis
import pytest

from geminids.core import agents
from tests.support.connections import watching_connections
from tests.support.examples import examples

# A machine that has something else to do for a moment is no reason for a test to fail.
hypothesis.settings.register_profile("patient", deadline=None, max_examples=examples(100))
hypothesis.settings.load_profile("patient")

# Whoever started us (`nohup`, a job in the background) may ignore these, and so would every process that a
# test starts and ends by them.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "tests" / "fixtures"
CORPUS = ROOT.parent / "shared" / "corpus"

COMPILED_RULES = ROOT / ".pytest_cache" / "redaction-rules"
"""Where the engine that looks for secrets keeps what it compiles, which takes it seconds."""

NOW = datetime(2026, 6, 15, 12, 0, tzinfo=UTC)
"""The moment at which all tests take place."""

OUR_VARIABLES = ("GEMINIDS_HOMES", "GEMINIDS_DATA", "GEMINIDS_KEEP", "GEMINIDS_KEY_PASSPHRASE")
SCREEN_VARIABLES = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "PAGER", "LESS")


SLOW = ("tests/slow/", "tests/browser/")
"""Folders of tests that `make test-all` runs, and `make test` does not."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow by where it lies; what says that it is quick is not."""
    for item in items:
        where = item.path.relative_to(ROOT).as_posix()
        if where.startswith(SLOW) and item.get_closest_marker("quick") is None:
            item.add_marker("slow")
        if where.startswith("tests/scale/"):
            item.add_marker("scale")


class Outcome(NamedTuple):
    """What a command gave back."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A machine without any session, on which it is UTC: its empty home."""
    # Not by the factory: it looks through all folders that are there to number the next, for every test.
    home = Path(tempfile.mkdtemp(prefix="machine-", dir=tmp_path_factory.getbasetemp()))
    of_agents = [name for agent in agents.available() for name in agents.load(agent).variables]
    for name in (*OUR_VARIABLES, *of_agents, *SCREEN_VARIABLES):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / ".local" / "share"))
    monkeypatch.setenv("KF_RULE_CACHE_DIR", str(COMPILED_RULES))
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield home
    monkeypatch.undo()
    time.tzset()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(autouse=True)
def closed_connections() -> Iterator[None]:
    """Nobody relies on the garbage collector to close a database."""
    with watching_connections():
        yield


@pytest.fixture
def without_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who keeps no copies: what is deleted is gone."""
    monkeypatch.setenv("GEMINIDS_KEEP", "0")


@pytest.fixture
def geminids(capfd: pytest.CaptureFixture[str]) -> Run:
    """The command line in this process, at the moment when all tests take place."""
    from geminids.faces.cli.main import run

    def call(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = run([str(argument) for argument in arguments], now=NOW)
        sys.stdout.flush()
        return Outcome(code, *capfd.readouterr())

    return call


@pytest.fixture
def command() -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """The real command in a process of its own."""

    def call(*arguments: object, **options: object) -> subprocess.CompletedProcess[bytes]:
        line = [sys.executable, "-m", "geminids", *map(str, arguments)]
        merged = {"capture_output": True, "timeout": 60, **options}
        return subprocess.run(line, check=False, **merged)  # type: ignore[call-overload,no-any-return]

    return call


@pytest.fixture
def corpus() -> Path:
    """The folder of sessions recorded with many releases, which is not part of the repository."""
    if not CORPUS.is_dir():
        pytest.skip(f"no corpus at {os.path.relpath(CORPUS, ROOT)}: recorded sessions were not compared")
    return CORPUS


RecordProperty = Callable[[str, object], None]
Rights = Callable[[], AbstractContextManager[None]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the counts that tests have recorded, whichever process they ran in."""
    passed = terminalreporter.getreports("passed")
    counts = [text for report in passed for name, text in report.user_properties if name == "counts"]
    if counts:
        terminalreporter.section("counts")
        for line in counts:
            terminalreporter.write_line(str(line))


@pytest.fixture
def without_privileges(tmp_path: Path) -> Rights:
    """A while in which permissions apply to this process, also where the tests run as root."""

    @contextmanager
    def nobody() -> Iterator[None]:
        if os.geteuid() != 0:
            yield
            return
        for folder in (tmp_path, *tmp_path.parents):
            if folder.is_relative_to(tempfile.gettempdir()) and folder != Path(tempfile.gettempdir()):
                folder.chmod(0o755)
        os.seteuid(65534)
        try:
            yield
        finally:
            os.seteuid(0)

    return nobody
