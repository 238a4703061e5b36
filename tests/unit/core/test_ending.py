"""A command that is told to end leaves nothing half done; what a killed one left, the next one takes away."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from signal import SIGHUP, SIGINT, SIGKILL, SIGSTOP, SIGTERM

import pytest

from tests.support.homes import write_session
from tests.support.large_homes import write_large_home

COMMAND = [sys.executable, "-m", "geminids"]
PATIENCE = 60.0
ATTEMPTS = 5


@contextmanager
def started(
    *arguments: object, before: tuple[str, ...] = (), **streams: int
) -> Iterator[subprocess.Popen[bytes]]:
    """The real command, which is not there any more afterwards."""
    line = [*before, *COMMAND, *map(str, arguments)]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **streams}
    with subprocess.Popen(line, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def wait_for(is_so: Callable[[], object], process: subprocess.Popen[bytes]) -> None:
    """Wait until something is so, or a process has ended."""
    until = time.monotonic() + PATIENCE
    while not is_so() and process.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.002)


def assert_ends(number: int, is_so: Callable[[], object], *arguments: object) -> None:
    """Send a signal to a command in the middle of its work: it ends, and says nothing of its insides."""
    for _ in range(ATTEMPTS):
        with started(*arguments) as process:
            wait_for(partial(_catches, process.pid, number), process)
            wait_for(is_so, process)
            process.send_signal(number)
            _, said = process.communicate(timeout=PATIENCE)
        if process.returncode:
            break
        # On a busy machine it may be done before we see that it has begun.
    assert process.returncode == 128 + number, said
    assert b"Traceback" not in said


def parts(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*") if path.name.endswith((".part", ".new"))]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a session that takes long to write, in whatever form."""
    home = tmp_path_factory.mktemp("large")
    write_large_home(home, range(1), turns=3_000)
    return home


@pytest.mark.slow
@pytest.mark.parametrize("number", [SIGTERM, SIGHUP, SIGINT], ids=lambda number: signal.Signals(number).name)
def test_an_export_that_is_ended_takes_its_file_back(large: Path, tmp_path: Path, number: int) -> None:
    target = tmp_path / "out" / "session.html"
    target.parent.mkdir()
    line = ("export", "latest", "--home", large, "--force", "-o", target)
    assert_ends(number, lambda: parts(target.parent), *line)
    assert parts(target.parent) == []


@pytest.mark.slow
def test_a_folder_of_exports_that_is_ended_can_be_gone_on_with(large: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = ("export", "--all", "--home", large, "-f", "html", "-o", f"{out}/")
    assert_ends(SIGTERM, lambda: parts(out), *line)
    assert parts(out) == []
    subprocess.run([*COMMAND, *map(str, line)], check=True, capture_output=True)


@pytest.mark.slow
def test_what_a_killed_export_left_the_next_one_takes_away(large: Path, tmp_path: Path) -> None:
    target, other = tmp_path / "large.html", tmp_path / "small.md"
    (tmp_path / ".geminids-notes.part").write_text("no file of ours")
    write_session(tmp_path / "home")
    small = [*COMMAND, "export", "latest", "--home", str(tmp_path / "home"), "--force", "-o", str(other)]
    with started("export", "latest", "--home", large, "--force", "-o", target) as process:
        wait_for(lambda: len(parts(tmp_path)) == 2, process)
        process.send_signal(SIGSTOP)
        subprocess.run(small, check=True, capture_output=True)
        assert len(parts(tmp_path)) == 2, "somebody is still writing it"
        process.send_signal(SIGKILL)
        process.wait()
    assert len(parts(tmp_path)) == 2
    subprocess.run(small, check=True, capture_output=True)
    assert parts(tmp_path) == [".geminids-notes.part"]
    assert other.exists()


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["keep export", "attest"])
def test_other_files_that_are_written_are_taken_back_too(large: Path, tmp_path: Path, deed: str) -> None:
    out = tmp_path / "out"
    out.mkdir()
    chosen = ("--home", str(large), "--data", str(tmp_path / "data"))
    subprocess.run([*COMMAND, "key", "new", "--issuer", "me", *chosen], check=True, capture_output=True)
    subprocess.run([*COMMAND, "sync", *chosen], check=True, capture_output=True)
    of = {
        "keep export": ["keep", "export", f"{out}/kept.tar"],
        "attest": ["attest", "--all", "-o", f"{out}/"],
    }
    line = [*of[deed], "--force", *chosen] if deed == "keep export" else [*of[deed], *chosen]
    # What is signed is written at once; before that, it takes long to make.
    began = time.monotonic()
    assert_ends(SIGTERM, lambda: parts(out) or (deed == "attest" and time.monotonic() > began + 0.3), *line)
    assert parts(out) == []
    subprocess.run([*COMMAND, *line], check=True, capture_output=True)


def test_a_sync_that_is_ended_leaves_no_half_index_and_no_lock(tmp_path: Path) -> None:
    write_large_home(tmp_path / "home", range(40))
    chosen = ("--home", tmp_path / "home", "--data", tmp_path / "data")
    index = tmp_path / "data" / "index"
    assert_ends(SIGTERM, lambda: index.is_dir() and parts(index), "sync", "--full", *chosen)
    assert parts(index) == []
    line = [*COMMAND, "list", "--json", *map(str, chosen)]
    assert subprocess.check_output(line).count(b'"native_id"') == 40


@pytest.mark.slow
def test_a_watch_is_ended_by_what_ends_it_and_not_by_what_is_ignored(tmp_path: Path) -> None:
    write_session(tmp_path)
    for before, numbers in (((), [SIGHUP]), (("nohup",), [SIGHUP, SIGTERM])):
        with started("watch", "--home", tmp_path, before=before) as process:
            assert process.stderr
            while b"Watching" not in process.stderr.readline():
                assert process.poll() is None
            for ignored in numbers[:-1]:
                process.send_signal(ignored)
                time.sleep(0.5)
                assert process.poll() is None
            process.send_signal(numbers[-1])
            _, said = process.communicate(timeout=PATIENCE)
            assert process.returncode == 128 + numbers[-1]
            assert b"Traceback" not in said


@pytest.mark.slow
def test_a_reader_that_does_not_read_keeps_nobody_from_ending(large: Path) -> None:
    with started("show", "latest", "--home", large) as process:
        assert process.stdout
        out = process.stdout.fileno()
        seen: list[int] = [0]
        while seen[-1] < 1_000 or seen[-1] > seen[-2]:
            seen.append(_waiting(out))
            time.sleep(0.3)
            assert process.poll() is None
        process.send_signal(SIGTERM)
        assert process.wait(PATIENCE) == 128 + SIGTERM


@pytest.mark.slow
def test_the_pager_is_ended_as_well(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "sleep 600")
    ours, theirs = pty.openpty()
    try:
        with started(
            "show", "latest", "--home", large, stdin=theirs, stdout=theirs, stderr=theirs
        ) as process:
            children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
            if not children.exists():
                pytest.skip("this system does not tell whose children are whose")
            wait_for(children.read_text, process)
            pager = int(children.read_text().split()[0])
            time.sleep(0.5)
            process.send_signal(SIGTERM)
            assert process.wait(PATIENCE) == 128 + SIGTERM
            with pytest.raises(ProcessLookupError):
                os.kill(pager, 0)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.slow
def test_what_stood_on_stdin_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    session = write_session(tmp_path / "home", answer="A word.\n\n" * 500_000)
    for number, left in ((SIGTERM, 0), (SIGKILL, 1)):
        with session.open("rb") as stdin, started("show", "-", stdin=stdin.fileno()) as process:
            wait_for(lambda: list(tmp_path.glob("geminids-*/stdin")), process)
            process.send_signal(number)
            process.wait(PATIENCE)
        assert len(list(tmp_path.glob("geminids-*"))) == left
    with session.open("rb") as stdin:
        subprocess.run([*COMMAND, "show", "-"], stdin=stdin, stdout=subprocess.DEVNULL, check=True)
    assert not list(tmp_path.glob("geminids-*"))


@pytest.mark.slow
def test_the_sync_of_a_hook_ends_when_it_is_told_to(tmp_path: Path) -> None:
    write_large_home(tmp_path / "home", range(40))
    index = tmp_path / "data" / "index"
    line: list[str | Path] = [
        sys.executable,
        "-m",
        "geminids.faces.background",
        "--home",
        tmp_path / "home",
        "--data",
        tmp_path / "data",
    ]
    with subprocess.Popen(line) as process:
        wait_for(lambda: index.is_dir() and parts(index), process)
        process.send_signal(SIGTERM)
        assert process.wait(PATIENCE) == 128 + SIGTERM
    assert parts(index) == []
    assert "Traceback" not in (tmp_path / "data" / "hook.log").read_text()


IN_CODE_OF_A_STRING = """
import os, signal, sys
from geminids.core.signals import end_like_interrupt, told_to_end
end_like_interrupt()
try:
    exec("os.kill(os.getpid(), signal.SIGTERM); print(len([one for one in range(1000)]))")
except KeyboardInterrupt:
    sys.exit(told_to_end())
"""


def test_the_exit_code_is_right_wherever_it_happens() -> None:
    done = subprocess.run([sys.executable, "-c", IN_CODE_OF_A_STRING], check=False)
    assert done.returncode == 128 + SIGTERM


def _catches(process: int, number: int) -> bool:
    """Whether a process has come so far that a signal does not just end it."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return True
    (caught,) = (int(line.split()[1], 16) for line in lines if line.startswith("SigCgt"))
    return bool(caught >> (number - 1) & 1)


def _waiting(descriptor: int) -> int:
    """Bytes in a pipe that nobody has read."""
    found = fcntl.ioctl(descriptor, termios.FIONREAD, b"\0" * 4)
    return int.from_bytes(found, sys.byteorder)
