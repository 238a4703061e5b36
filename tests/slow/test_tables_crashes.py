"""Whoever writes tables is killed, or has no room: readers see whole files, and the next run completes."""

from __future__ import annotations

import errno
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from time import monotonic, sleep

import duckdb
import pytest

from geminids.query.sessions import by_month
from geminids.scale.places.errors import StoreFailedError
from tests.conftest import ROOT
from tests.support.large_homes import write_large_home
from tests.support.tables import files, table, tables, write_tables

pytestmark = pytest.mark.usefixtures("without_copies")

KILLS = 50
SESSIONS, TURNS, PART = 32, 8, 4


def run(home: Path, data: Path, out: Path) -> subprocess.Popen[str]:
    """A writer that has found out what is to be written."""
    line = [sys.executable, "-m", "tests.support.tables_run", *map(str, (home, data, out, PART))]
    running = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert running.stdout
    assert running.stdout.readline() == "ready\n"
    return running


def killed_after(running: subprocess.Popen[str], parts: int, seconds: float) -> bool:
    """Kill a writer some time after it has written so many parts; whether it had something left to do."""
    assert running.stdout
    told = [running.stdout.readline() for _ in range(parts)]
    sleep(seconds)
    running.kill()
    told += running.communicate()[0].splitlines()
    return not any(line.startswith("done") for line in told)


def seconds_to_write(home: Path, data: Path, out: Path) -> float:
    with run(home, data, out) as running:
        began = monotonic()
        assert running.stdout
        assert "done\n" in running.stdout
        return monotonic() - began


def check_readers(out: Path, states: list[dict[str, int]]) -> None:
    """Every file is whole, for two readers, and of each session there are all rows of some state, or none."""
    if not files(out):
        return
    for name in ("messages", "sessions"):
        if rows := table(out, name):
            every = f"'{out}/{name}/**/*.parquet', hive_partitioning=true"
            with duckdb.connect() as engine:
                counted = engine.execute(f"SELECT count(*) FROM read_parquet({every})").fetchall()
            assert counted == [(len(rows),)]
    for key, count in messages_by_session(out).items():
        assert count in {state[key] for state in states if key in state}


def messages_by_session(out: Path) -> dict[str, int]:
    counts: dict[str, int] = {}
    for row in table(out, "messages"):
        counts[row["session_key"]] = counts.get(row["session_key"], 0) + 1
    return counts


def test_whoever_is_killed_leaves_whole_files_and_the_next_run_completes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_month, "USUAL_PART", PART)
    random = Random(7)
    home, data = tmp_path / "home", tmp_path / "data"
    write_large_home(home, range(SESSIONS), turns=TURNS)
    whole = tmp_path / "whole"
    write_tables(home, data, whole)
    some_parts = seconds_to_write(home, data, tmp_path / "timed") / 3
    states = [messages_by_session(whole)]
    out, left, resumed = tmp_path / "out", 0, 0
    for number in range(KILLS):
        if number % 10 == 0:
            shutil.rmtree(out, ignore_errors=True)
        elif number % 10 == 5:
            # From here on something is written in the place of something else.
            write_large_home(home, range(number, number + 8), turns=TURNS + number)
            write_tables(home, data, whole)
            states.append(messages_by_session(whole))
        before = files(out)
        left += killed_after(run(home, data, out), random.randrange(4), random.random() * some_parts)
        check_readers(out, states)
        resumed += bool(before) and files(out) != before
    assert left > KILLS // 5
    assert resumed > 3
    with run(home, data, out) as last:
        assert last.communicate()[0].endswith("done\n")
    assert tables(out) == tables(whole)
    assert files(out).keys() == files(whole).keys()
    assert not [
        path for path in out.rglob("*") if path.is_file() and path.suffix not in {".parquet", ".json"}
    ]


def test_who_goes_on_does_not_write_again_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(by_month, "USUAL_PART", PART)
    home, data, out = tmp_path / "home", tmp_path / "data", tmp_path / "out"
    write_large_home(home, range(SESSIONS), turns=TURNS)
    running = run(home, data, out)
    assert running.stdout
    while int(running.stdout.readline()) < SESSIONS // 3:
        pass
    running.kill()
    running.communicate()
    before = files(out)
    done = write_tables(home, data, out)
    assert 0 < done.written < done.parts
    now = files(out)
    assert sum(now[name] == at for name, at in before.items()) >= len(before) - 2 * 2


@pytest.mark.parametrize("fails_at", [1, 2, 5, 9])
def test_a_disk_that_is_full_is_said_and_nothing_is_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    from geminids.core.atomic_files import PartFile

    monkeypatch.setattr(by_month, "USUAL_PART", PART)
    home, data, out = tmp_path / "home", tmp_path / "data", tmp_path / "out"
    write_large_home(home, range(12), turns=4)
    syncs, sync = [0], PartFile.sync

    def full(part: PartFile) -> None:
        syncs[0] += str(out) in part.path
        if syncs[0] >= fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(part)

    with monkeypatch.context() as failing:
        failing.setattr(PartFile, "sync", full)
        with pytest.raises(StoreFailedError, match=r"No space left on device\. What was written whole stays"):
            write_tables(home, data, out)
    check_readers(out, [messages_by_session(out)])
    assert not list(out.rglob("*.part"))
    assert write_tables(home, data, out).rows["sessions"] == 12
    assert len(table(out, "sessions")) == 12
