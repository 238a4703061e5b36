"""The browser on a real terminal: typed into, resized, suspended, left; the screen is clean afterwards."""

from __future__ import annotations

import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import termios
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.support.homes import write_session
from tests.support.processes import kept_running
from tests.support.tmux import PATIENCE, Tmux, needs_tmux, terminal

pytestmark = [needs_tmux, pytest.mark.slow]
GEMINIDS = [sys.executable, "-m", "geminids"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    write_session(folder, "11111111-a", prompt="Why is the upload refused?", answer="An ACL.", day=1)
    write_session(folder, "22222222-b", prompt="Count the notes", day=2)
    write_session(folder, "33333333-c", prompt="\x1b]0;owned\x07\x1b[2J evil words", day=3)
    return folder


def where(home: Path) -> list[str]:
    return ["--home", str(home), "--data", str(home.parent / "data")]


def run(home: Path, *arguments: str, size: tuple[int, int] = (80, 24)) -> AbstractContextManager[Tmux]:
    return terminal([*GEMINIDS, "browse", *arguments, *where(home)], home.parent, size=size)


def test_type_and_see(home: Path) -> None:
    with run(home) as seen:
        assert "Count the notes" in seen.wait_for("3 sessions", "Enter read")
        seen.type("upl")
        found = seen.wait_for("1 session\n", "An ACL.")
        assert "Count the notes" not in found


def test_words_on_the_command_line_are_typed_already(home: Path) -> None:
    with run(home, "count", "notes") as seen:
        seen.wait_for("> count notes", "1 session\n")


def test_a_session_is_opened_and_something_found_in_it(home: Path) -> None:
    with run(home) as seen:
        seen.wait_for("3 sessions")
        seen.type("upload")
        seen.wait_for("1 session\n", "An ACL.")
        seen.press("Enter")
        seen.wait_for("gemini-3-pro", "conversation · #1 of 2", "match 1 of 1")
        seen.type("/ACL")
        seen.press("Enter")
        seen.wait_for("#2 of 2", "match 1 of 1")
        seen.press("Escape")
        seen.wait_for("> upload", "1 session\n")


def test_keys_that_are_typed_early_are_kept(home: Path) -> None:
    begun = f"sleep 1; exec {shlex.join([*GEMINIDS, 'browse', *where(home)])}"
    with terminal(["sh", "-c", begun], home.parent) as seen:
        seen.type("notes")
        assert "Count the notes" in seen.wait_for("> notes", "1 session\n")


@pytest.mark.parametrize("elsewhere", ["2>errors", "2>&-"])
def test_it_is_drawn_where_the_terminal_is(home: Path, elsewhere: str) -> None:
    begun = f"{shlex.join([*GEMINIDS, 'browse', *where(home)])} {elsewhere}"
    with terminal(["sh", "-c", begun], home.parent) as seen:
        seen.wait_for("3 sessions")
        seen.press("Escape")
        seen.wait_for("ended 0")
    errors = home.parent / "errors"
    assert not errors.exists() or not errors.read_bytes()


@pytest.mark.parametrize("key", ["Escape", "C-c", "C-q"])
def test_leaving_gives_the_screen_back(home: Path, key: str) -> None:
    with run(home) as seen:
        seen.wait_for("3 sessions")
        seen.press(key)
        assert seen.wait_for("ended").split() == ["ended", "0"]


def test_a_hostile_session_is_only_words(home: Path) -> None:
    with run(home) as seen:
        seen.wait_for("3 sessions")
        seen.type("evil")
        seen.wait_for("evil words", "1 session\n")
        seen.press("Escape")
        seen.wait_for("3 sessions", "Count the notes")


def test_it_fits_onto_every_screen(home: Path) -> None:
    with run(home) as seen:
        seen.wait_for("3 sessions")
        seen.resize(140, 45)
        seen.wait_for("3 sessions", "│ You")
        seen.resize(30, 6)
        seen.wait_for("Too small")
        seen.resize(60, 12)
        seen.wait_for("3 sessions")


def test_ctrl_z_gives_the_terminal_to_the_shell(home: Path) -> None:
    with terminal(["bash", "--norc", "-i"], home.parent, environment={"PS1": "shell> "}) as seen:
        seen.wait_for("shell>")
        seen.type(shlex.join([*GEMINIDS, "browse", *where(home)]))
        seen.press("Enter")
        seen.wait_for("3 sessions")
        seen.press("C-z")
        seen.wait_for("Stopped")
        seen.type("echo still here; fg")
        seen.press("Enter")
        seen.wait_for("3 sessions", "Enter read")
        seen.type("notes")
        seen.wait_for("1 session\n")
        seen.press("Escape", "Escape")
        assert "still here" in seen.wait_for("shell>")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_who_ends_it_from_elsewhere_leaves_a_clean_screen(home: Path, number: int) -> None:
    told = home.parent / "process"
    begun = f"echo $$ > {told}; exec {shlex.join([*GEMINIDS, 'browse', *where(home)])}"
    with terminal(["sh", "-c", begun], home.parent) as seen:
        seen.wait_for("3 sessions")
        os.kill(int(told.read_text()), number)
        left = seen.wait_for("ended")
        assert "3 sessions" not in left
        time.sleep(0.1)
        assert "Enter read" not in seen.screen()


@pytest.mark.parametrize("command", ["browse", "resume"])
def test_a_terminal_that_is_closed_ends_it(home: Path, command: str) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        ["setsid", "--ctty", *GEMINIDS, command, *where(home)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
        text=True,
    )
    with kept_running(process):
        os.close(theirs)
        seen = b""
        while b"3 sessions" not in seen:
            seen += os.read(ours, 65536)
        os.close(ours)
        assert process.wait(timeout=20) == 128 + signal.SIGHUP


def test_without_a_terminal_it_says_what_to_use(home: Path) -> None:
    line = shlex.join([*GEMINIDS, "browse", *where(home)])
    with terminal(["sh", "-c", f"{line} | cat; {line} < /dev/null; TERM=dumb {line}"], home.parent) as seen:
        told = seen.wait_for("ended 2")
        assert told.count("needs a terminal") == 3


def test_no_session_at_all_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    with run(tmp_path / "home") as seen:
        seen.wait_for("No session found.", "--sample")


def test_a_data_folder_that_cannot_be_used_is_said(home: Path) -> None:
    (home.parent / "data").write_text("a file, and no folder")
    with run(home) as seen:
        told = seen.wait_for("ended")
        assert "geminids:" in told
        assert "Traceback" not in told


AFTERWARDS = """
import os, signal, sys, threading
from geminids.faces.cli.choices import Choices
from geminids.faces.tui.browser.browse import browse
from geminids.faces.tui.matches import Scope
choices = Choices()
choices.home, choices.data = [sys.argv[1]], sys.argv[1] + "-data"
browse(choices.open_behind, [Scope()], completions=choices.completions(), spelled=choices.spelled)
os.kill(os.getpid(), signal.SIGCONT)
print("threads", [one.name for one in threading.enumerate() if not one.daemon])
"""


def test_who_goes_on_after_it_is_not_drawn_over(home: Path) -> None:
    with terminal([sys.executable, "-c", AFTERWARDS, str(home)], home.parent) as seen:
        seen.wait_for("3 sessions", "Enter read")
        seen.press("Escape")
        assert "threads ['MainThread']" in seen.wait_for("ended 0")


HOSTILE_BYTES = {
    "no UTF-8": b"\xff",
    "Latin-1": b"caf\xe9 ",
    "a mouse report of raw bytes": b"\x1b[M \xff!",
    "a sequence of 3,000 digits": b"\x1b[" + b"1" * 3000,
    "a sequence of 1,500 numbers": b"\x1b[" + b"1;" * 1500 + b"m",
    "a key that is no character": b"\x1b[99999999999u",
    "a place far away": b"\x1b[<0;999999;99999M",
    "3,000 letters": b"x" * 3000,
    "a paste without an end": b"\x1b[200~words",
}


@pytest.mark.parametrize("command", ["browse", "resume"])
@pytest.mark.parametrize("sent", HOSTILE_BYTES.values(), ids=HOSTILE_BYTES)
def test_no_byte_ends_or_freezes_it(home: Path, command: str, sent: bytes) -> None:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    process = subprocess.Popen(
        ["setsid", "--ctty", *GEMINIDS, command, *where(home)],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm-256color"},
    )

    def drawn(*, until: bytes = b"", patience: float = PATIENCE) -> bytes:
        """Return what is drawn until some words are, or nothing more comes for a while."""
        seen, end = b"", time.monotonic() + patience
        while time.monotonic() < end and not (until and until in seen):
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    seen += os.read(ours, 65536)
                except OSError:
                    return seen
        return seen

    with kept_running(process):
        os.close(theirs)
        drawn(until=b"3 sessions")
        os.write(ours, sent)
        drawn(patience=0.5)
        assert process.poll() is None
        os.write(ours, b"\x03")
        assert b"Traceback" not in drawn()
        assert process.wait(timeout=10) == (0 if command == "browse" else 130)
        os.close(ours)


def test_keys_that_follow_the_last_one_are_of_no_consequence(home: Path) -> None:
    with run(home) as seen:
        seen.wait_for("3 sessions")
        seen.press(*["Escape"] * 200)
        assert seen.wait_for("ended").split()[:2] == ["ended", "0"]
        assert "Traceback" not in seen.screen()
