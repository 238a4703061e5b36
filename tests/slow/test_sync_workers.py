"""Several processes read and one writes: the index is the same, whatever becomes of those that read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from geminids.core.workers import MOST, wanted_workers
from geminids.library import Library
from geminids.query.sessions.listing import Filter
from geminids.sync import intake, workers
from geminids.sync.bundle_rows import BundleRows, Task, bundle_rows
from geminids.sync.forgotten_filter import Graves
from tests.conftest import FIXTURES
from tests.support.homes import write_session
from tests.support.indexes import assert_equals_a_fresh_build, differences, dump, index_file, sync
from tests.support.large_homes import write_large_home
from tests.support.processes import kept_running

SESSIONS = 60


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Small homes are read as large ones are; the processes that were started for it."""
    processes: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def starting(*given: object, **named: object) -> subprocess.Popen[bytes]:
        processes.append(real(*given, **named))  # type: ignore[call-overload]
        return processes[-1]

    monkeypatch.setattr("geminids.core.workers.subprocess.Popen", starting)
    monkeypatch.setattr(intake, "MUCH", 0)
    monkeypatch.setattr(workers, "_BATCH", 100_000)
    yield processes
    assert all(process.poll() is not None for process in processes)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("large")
    write_large_home(home, range(SESSIONS))
    return home


def with_jobs(data: Path, jobs: int) -> Path:
    """A data folder in which somebody settled how many processes read."""
    data.mkdir(parents=True, exist_ok=True)
    (data / "settings.toml").write_text(f"[read]\njobs = {jobs}\n")
    return data


def built(home: Path, data: Path) -> bytes:
    """The bytes of an index that is made from nothing."""
    sync([home], data, full=True)
    return index_file([home], data).read_bytes()


@pytest.mark.parametrize("agent", ["gemini", "claude", "codex"])
def test_who_reads_makes_no_difference(
    agent: str, started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    homes = sorted(home for home in (FIXTURES / agent).glob("*/home") if home.is_dir())
    sync(homes, with_jobs(tmp_path, 1), full=True)
    alone = dump(homes, tmp_path)
    sync(homes, with_jobs(tmp_path, 2), full=True)
    assert not differences(dump(homes, tmp_path), alone)
    assert len(started) == 2
    assert [process.returncode for process in started] == [0, 0]


def test_an_index_is_the_same_byte_for_byte(
    large: Path, started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    contents = {built(large, with_jobs(tmp_path, jobs)) for jobs in (1, 2, 3)}
    assert len(contents) == 1
    assert len(started) == 5


@pytest.mark.parametrize("killed", [1, 2])
@pytest.mark.parametrize("after", [1, 2, 10, 25])
def test_what_a_killed_worker_leaves_is_read_here(
    large: Path,
    started: list[subprocess.Popen[bytes]],
    killed: int,
    after: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken = 0
    here: list[Task] = []
    take = workers.Workers.read

    def counting(self: workers.Workers, tasks: Iterable[Task]) -> Iterator[BundleRows]:
        nonlocal taken
        for rows in take(self, tasks):
            taken += 1
            if taken == after:
                for process in started[-2:][:killed]:
                    process.kill()
            yield rows

    def reading(task: Task, graves: Graves) -> BundleRows:
        here.append(task)
        return bundle_rows(task, graves)

    monkeypatch.setattr(workers.Workers, "read", counting)
    monkeypatch.setattr(workers, "bundle_rows", reading)
    shared = built(large, with_jobs(tmp_path, 2))
    assert taken == SESSIONS
    # One that is left may have answered all that was still to be asked.
    assert here or killed == 1
    assert shared == built(large, with_jobs(tmp_path, 1))


def test_without_any_python_to_start_all_is_read_here(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intake, "MUCH", 0)
    alone = built(large, with_jobs(tmp_path, 1))
    with_jobs(tmp_path, 2)
    for executable in ("", "/bin/false", str(tmp_path / "nowhere")):
        monkeypatch.setattr(sys, "executable", executable)
        assert built(large, tmp_path) == alone


def test_workers_read_from_kept_copies_what_is_gone(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    home, data = tmp_path / "home", with_jobs(tmp_path / "data", 2)
    sessions = [write_session(home, f"{number:08x}-0000-4000-8000-000000000000") for number in range(4)]
    sync([home], data)
    for gone in sessions[:3]:
        gone.unlink()
    sync([home], data, full=True)
    with Library([home], data, sync=False) as library:
        assert sum(row.kept for row in library.listing(Filter()).sessions) == 3
    assert started
    assert_equals_a_fresh_build([home], data, tmp_path / "new")


def test_workers_heed_what_the_user_settled(started: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    for number in range(3):
        write_session(home, f"{number:08x}-0000-4000-8000-000000000000", prompt="word " * 2_000_000)
    data.mkdir()
    for jobs in (1, 2):
        (data / "settings.toml").write_text(f"[read]\njobs = {jobs}\nlargest-file = 6_000_000\n")
        sync([home], data, full=True)
        with Library([home], data, sync=False) as library:
            assert all(row.problems for row in library.listing(Filter()).sessions)
    assert len(started) == 2


def test_what_is_forgotten_stays_away(started: list[subprocess.Popen[bytes]], tmp_path: Path) -> None:
    home, data = tmp_path / "home", with_jobs(tmp_path / "data", 2)
    for number in range(4):
        write_session(home, f"{number:08x}-0000-4000-8000-000000000000")
    with Library([home], data) as library:
        forgotten = library.listing(Filter()).sessions[0]
        library.kept.forget(library.kept.forgetting([forgotten]))
    sync([home], data, full=True)
    with Library([home], data, sync=False) as library:
        left = {row.id for row in library.listing(Filter()).sessions}
    assert len(left) == 3
    assert forgotten.id not in left


def test_how_many_are_started() -> None:
    assert wanted_workers(1) == 0
    assert wanted_workers(2) == 2
    assert wanted_workers(64) == MOST
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    assert wanted_workers(None) == (min(cores, MOST) if cores > 1 else 0)


SYNCING = """
import sys
from geminids.sync import intake, workers
intake.MUCH, workers._BATCH = 0, 20_000
start = workers.Workers._start

def starting(self):
    start(self)
    print(self._processes[-1].pid, flush=True)

workers.Workers._start = starting
from geminids.faces.cli.main import run
run(["sync", "--full", "--home", sys.argv[1], "--data", sys.argv[2]])
"""


def is_alive(process: int) -> bool:
    """Whether a process is there that still runs; one that ended may wait to be asked for its end."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc to see processes")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("delay", [0.0, 0.05, 0.15, 0.3])
def test_whoever_is_stopped_leaves_no_worker_behind(
    large: Path, how: signal.Signals, delay: float, tmp_path: Path
) -> None:
    data = with_jobs(tmp_path / "data", 2)
    process = subprocess.Popen(
        [sys.executable, "-c", SYNCING, str(large), str(data)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Ctrl-C reaches all that a terminal has started.
        start_new_session=True,
    )
    with kept_running(process):
        assert process.stdout
        children = [int(process.stdout.readline()) for _ in range(2)]
        time.sleep(delay)
        if how is signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        _, said = process.communicate(timeout=30)
    assert "Traceback" not in said
    until = time.monotonic() + 20
    while any(map(is_alive, children)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not any(map(is_alive, children))
    sync([large], data)
    assert_equals_a_fresh_build([large], data, tmp_path / "new")
