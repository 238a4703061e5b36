"""Several processes at one index, and such as are stopped at any moment: what is left is always of use."""

from __future__ import annotations

import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from geminids.core.errors import NoIndexError
from geminids.library import Library
from geminids.query.sessions.listing import Filter
from tests.conftest import RecordProperty
from tests.support.homes import write_session
from tests.support.indexes import Connected, Dump, differences, dump, hits, index_file, sync
from tests.support.large_homes import write_large_home
from tests.support.processes import kept_running

SESSIONS = 100
KILLS = 12
WORKER = """
import sys
from geminids.library import Library
import geminids.sync
from geminids.sync import intake, workers
geminids.sync.FIRST_STEP = intake.STEP = 200_000  # so that a small home is taken in as large ones are
home, data, full = sys.argv[1:]
if "shared" in full:
    intake.MUCH, workers._BATCH = 0, 20_000
library = Library([home], data)
print("ready", flush=True)
with library:
    sys.exit(library.sync(full="full" in full).failed)
"""


def start(home: Path, data: Path, full: str = "") -> subprocess.Popen[str]:
    """A process that syncs, as soon as it has said that it is ready."""
    line = [sys.executable, "-c", WORKER, str(home), str(data), full]
    return subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_until_ready(process: subprocess.Popen[str]) -> None:
    """Wait until a process begins to sync."""
    assert process.stdout
    assert process.stdout.readline() == "ready\n"


def _age(path: Path) -> tuple[int, str]:
    return path.stat().st_mtime_ns, path.name


class Grown:
    """A home that has grown since it was taken in."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.data_before = folder / "before"
        write_large_home(self.home, range(SESSIONS // 4))
        sync([self.home], self.data_before)
        write_large_home(self.home, range(SESSIONS // 4, SESSIONS))
        for session in sorted(self.home.rglob("*.jsonl"))[: SESSIONS // 8]:
            session.write_text("".join(session.read_text().splitlines(keepends=True)[:9]))
        began = time.monotonic()
        sync([self.home], folder / "after")
        self.seconds = time.monotonic() - began
        self.newest = sorted(self.home.rglob("*.jsonl"), key=_age, reverse=True)
        self.expected: Dump = dump([self.home], folder / "after")


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Grown:
    return Grown(tmp_path_factory.mktemp("grown"))


def assert_is_whole(grown: Grown, data: Path) -> None:
    """The index of the home is what a new one would be, and nothing is left over."""
    assert not differences(dump([grown.home], data), grown.expected)
    with Connected(index_file([grown.home], data)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        database.execute("INSERT INTO texts (texts) VALUES ('integrity-check')")
    left = {file.name.partition("-")[2] for file in (data / "index").iterdir() if file.suffix != ".lock"}
    assert {name.partition(".")[2] for name in left} <= {"db", "db-wal", "db-shm", "db.sum"}, left
    assert len({name.partition(".")[0] for name in left}) == 1, left


def _more_in(sentence: str) -> int:
    """How many groups of files a sentence says are still to come."""
    said = re.search(r"([\d,]+) more sessions", sentence)
    assert said, sentence
    return int(said[1].replace(",", ""))


def assert_says_if_it_is_a_part(grown: Grown, data: Path) -> int:
    """Whoever reads now sees nothing, or the newest and that there are more, or all; how many that is.

    More may come between two questions.
    """
    said: list[str] = []
    with Library([grown.home], data, sync=False, tell=said.append) as library:
        try:
            left = library.to_come()
        except NoIndexError:
            return 0
        listing = library.listing(Filter())
        assert listing.total >= SESSIONS - left
        assert library.to_come() <= SESSIONS - listing.total
        assert all(left <= _more_in(sentence) for sentence in said)
        assert len(said) == 1 or not (said or left)
        assert len(library.summaries(listing.sessions)) == listing.total
        assert {Path(row.file or "") for row in listing.sessions} == set(grown.newest[: listing.total])
        return listing.total


PHASES = {
    "before the home is looked at": "geminids.sync:Sync._look",
    "where the index is begun": "geminids.storage.index.database:IndexFile.start",
    "where the home is scanned": "geminids.sync.intake:_scan",
    "where a session is read": "geminids.sync.bundle_rows:read_bundle",
    "where a session is written": "geminids.storage.index.writer:Writer.bundle",
    "where rows are handed over": "geminids.storage.index.writer:Writer.flush",
    "where sessions are compared": "geminids.sync.intake:settle",
    "where a step is kept": "geminids.storage.index.writer:Writer.commit",
    "where folders are noted": "geminids.sync.intake:Taking._note_folders",
    "where projects are named": "geminids.sync.project_identity:identify",
    "where the first step takes its name": "geminids.storage.index.database:IndexFile.finish",
    "where the index is declared whole": "geminids.sync.intake:merge_from_now_on",
    "where its pieces are merged": "geminids.sync.intake:merge_pieces",
    "where it is sealed": "geminids.storage.index.database:IndexFile.seal",
}
DYING = """
import importlib, os, signal, sys
where, when, number = sys.argv[4:]
module, _, name = where.partition(":")
holder = importlib.import_module(module)
*path, name = name.split(".")
for part in path:
    holder = getattr(holder, part)
asked = getattr(holder, name)
calls = 0

def dying(*given, **named):
    global calls
    calls += 1
    if when == "before" and calls == int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    answer = asked(*given, **named)
    if when == "after" and calls == int(number):
        os.kill(os.getpid(), signal.SIGKILL)
    return answer

setattr(holder, name, dying)
del sys.argv[4:]
"""


@pytest.mark.parametrize("phase", PHASES)
def test_a_first_build_that_is_killed_in_any_phase_is_gone_on_with(
    grown: Grown, phase: str, tmp_path: Path, record_property: RecordProperty
) -> None:
    killed, seen = 0, set()
    for when in ("before", "after"):
        for number in (1, 2, 3, 5):
            data = tmp_path / f"{when}-{number}"
            line = [sys.executable, "-c", DYING + WORKER, str(grown.home), str(data), ""]
            process = subprocess.run(
                [*line, PHASES[phase], when, str(number)], check=False, capture_output=True, timeout=60
            )
            assert process.returncode in (0, -signal.SIGKILL), process.stderr
            killed += process.returncode == -signal.SIGKILL
            seen.add(assert_says_if_it_is_a_part(grown, data))
            # Whoever asks next and does not wait is answered, and never with less.
            with Library([grown.home], data, behind=lambda: None) as library:
                assert library.listing(Filter()).total >= max(1, min(seen))
            sync([grown.home], data)
            assert_is_whole(grown, data)
    assert killed >= 2
    record_property("counts", f"index: {killed} kills of a first build {phase}, seen {sorted(seen)}")


def test_a_first_build_is_seen_growing_and_never_taken_for_all(grown: Grown, tmp_path: Path) -> None:
    data = tmp_path / "data"
    processes = [start(grown.home, data) for _ in range(2)]
    seen = [0]
    with kept_running(*processes):
        while any(process.poll() is None for process in processes):
            seen.append(assert_says_if_it_is_a_part(grown, data))
        assert [process.returncode for process in processes] == [0, 0]
    assert seen == sorted(seen)
    assert len(set(seen)) > 3
    assert_is_whole(grown, data)


@pytest.mark.parametrize("shared", ["", "shared"])
@pytest.mark.parametrize("kind", ["the first build", "a large sync", "a build in place of another"])
def test_a_kill_at_any_moment_leaves_an_index_that_the_next_sync_completes(
    grown: Grown, kind: str, shared: str, tmp_path: Path, record_property: RecordProperty
) -> None:
    random = Random(kind)
    stopped = 0
    for number in range(KILLS):
        data = tmp_path / str(number)
        if kind != "the first build":
            shutil.copytree(grown.data_before, data)
        process = start(grown.home, data, shared + ("full" if "in place" in kind else ""))
        with kept_running(process):
            wait_until_ready(process)
            time.sleep(random.uniform(0, 0.9 * grown.seconds))
            process.kill()
            process.wait()
        stopped += process.returncode == -signal.SIGKILL
        if kind != "the first build":
            # Whoever reads now sees at least what there was.
            with Library([grown.home], data, sync=False) as library:
                assert library.listing(Filter()).total >= SESSIONS // 4
        else:
            assert_says_if_it_is_a_part(grown, data)
        sync([grown.home], data)
        assert_is_whole(grown, data)
    assert stopped > KILLS // 4
    whose = " by several processes" if shared else ""
    record_property("counts", f"index: {stopped} kills during {kind}{whose}, then equal to a fresh build")


def test_an_interrupted_sync_says_nothing_and_loses_nothing(grown: Grown, tmp_path: Path) -> None:
    for delay in (0.15, 0.3, 0.45, 0.6):
        data = tmp_path / str(delay)
        shutil.copytree(grown.data_before, data)
        line = [
            sys.executable,
            "-m",
            "geminids",
            "sync",
            "--full",
            "--home",
            str(grown.home),
            "--data",
            str(data),
        ]
        process = subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with kept_running(process):
            time.sleep(delay)
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=20)
        # What is interrupted before Python itself is ready is not ours to answer.
        assert process.returncode in (0, 130, -signal.SIGINT, 1), told
        if process.returncode == 130:
            assert told == ""
            assert not list((data / "index").glob("*.new*"))
        with Library([grown.home], data, sync=False) as library:
            assert library.listing(Filter()).total >= SESSIONS // 4


@pytest.mark.parametrize("number", [2, 4])
@pytest.mark.parametrize("kind", ["cold", "warm", "full"])
def test_syncs_at_once_give_one_whole_index(grown: Grown, kind: str, number: int, tmp_path: Path) -> None:
    data = tmp_path / "data"
    if kind != "cold":
        shutil.copytree(grown.data_before, data)
    processes = [start(grown.home, data, kind) for _ in range(number)]
    with kept_running(*processes):
        for process in processes:
            _, told = process.communicate(timeout=60)
            assert (process.returncode, told) == (0, "")
    assert_is_whole(grown, data)


def test_a_reader_never_fails_and_never_sees_less_than_before(grown: Grown, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(grown.data_before, data)
    counts = [SESSIONS // 4]
    for full in ("", "full", "full"):
        process = start(grown.home, data, full)
        with kept_running(process):
            while process.poll() is None:
                with Library([grown.home], data, sync=False) as library:
                    listing = library.listing(Filter())
                    assert len(library.summaries(listing.sessions)) == listing.total
                counts.append(listing.total)
            assert process.returncode == 0
    assert counts == sorted(counts)
    assert counts[-1] == SESSIONS
    assert len(counts) > 20


def test_readers_that_sync_never_fail_while_others_build(grown: Grown, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(grown.data_before, data)
    builders = [start(grown.home, data, "full") for _ in range(2)]
    with kept_running(*builders):
        while any(builder.poll() is None for builder in builders):
            with Library([grown.home], data) as library:
                assert library.listing(Filter()).total >= SESSIONS // 4
        assert [builder.returncode for builder in builders] == [0, 0]
    assert_is_whole(grown, data)


APPENDING = """
import sys, json, time
with open(sys.argv[1], "a") as log:
    for number in range(300):
        message = {"id": f"n{number}", "timestamp": "2026-05-01T11:00:00.000Z", "type": "user"}
        line = json.dumps(message | {"content": [{"text": f"growing{number}"}]}) + "\\n"
        log.write(line[:40])
        log.flush()
        time.sleep(0.001)
        log.write(line[40:])
        log.flush()
        time.sleep(0.001)
"""


def test_a_growing_file_gives_what_it_has(tmp_path: Path) -> None:
    session, data = write_session(tmp_path / "home"), tmp_path / "data"
    process = subprocess.Popen([sys.executable, "-c", APPENDING, str(session)], text=True)
    counts = [0]
    with kept_running(process):
        while process.poll() is None:
            with Library([tmp_path / "home"], data) as library:
                (row,) = library.listing(Filter()).sessions
                counts.append(row.counts.prompts)
    sync([tmp_path / "home"], data)
    with Library([tmp_path / "home"], data, sync=False) as library:
        (row,) = library.listing(Filter()).sessions
    assert row.counts.prompts == 301
    assert counts == sorted(counts)
    assert len(set(counts)) > 3
    assert hits(tmp_path / "home", data, "growing299") == 1


def test_an_old_build_is_removed_and_whoever_has_it_open_goes_on(grown: Grown, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(grown.data_before, data)
    old = index_file([grown.home], data)
    with Library([grown.home], data, sync=False) as reader:
        before = reader.listing(Filter())
        sync([grown.home], data, full=True)
        assert not old.exists()
        assert reader.listing(Filter()) == before
        assert len(reader.summaries(before.sessions)) == before.total
    assert_is_whole(grown, data)


def test_a_program_that_reads_for_long_hinders_nobody(grown: Grown, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(grown.data_before, data)
    file = index_file([grown.home], data)
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    before = reader.execute("SELECT count(*) FROM messages").fetchone()
    sync([grown.home], data)
    assert reader.execute("SELECT count(*) FROM messages").fetchone() == before
    reader.execute("COMMIT")
    assert reader.execute("SELECT count(*) FROM sessions").fetchone() == (SESSIONS,)
    reader.close()
    assert_is_whole(grown, data)
