"""`geminids resume`: what it starts and where, what it prints, when it asks and when it refuses."""

from __future__ import annotations

import os
import pty
import select
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from geminids.faces.documents.resume import ResumeDocument
from geminids.faces.shell_line import shell_line, shell_word
from tests.conftest import Run
from tests.support.fake_agents import install, path_with
from tests.support.homes import FIRST_ID, write_session

Command = Callable[..., subprocess.CompletedProcess[bytes]]
SAFE, DELETES = "0.45.2", "0.61.0"
"""A release that leaves alone what it resumes, and one that does not."""
HOSTILE = 'it\'s $(touch owned) `id`; "x" & \\ *'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a project with one session, in the home that an agent uses; the agent is installed."""
    project = tmp_path / "shop"
    project.mkdir()
    write_session(tmp_path / "home", project=str(project))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    use(tmp_path, SAFE, monkeypatch)
    # No session rests too long, whenever this runs.
    (tmp_path / "home" / ".gemini" / "settings.json").write_text(
        '{"general": {"sessionRetention": {"maxAge": "999999d"}}}'
    )
    return project


def use(folder: Path, version: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this release of the agent, and no other."""
    shutil.rmtree(folder / "agent", ignore_errors=True)
    monkeypatch.setenv("PATH", path_with(install(folder / "agent", version)))


def words(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """What the agent was started with."""
    return [line.partition("=")[2] for line in done.stdout.decode().splitlines() if line.startswith("word=")]


@pytest.mark.slow
def test_it_becomes_the_agent_in_the_folder_of_the_project(command: Command, project: Path) -> None:
    done = command(
        "resume", "1f0c", "--", "--model", "gemini 2.5", "--print", env=os.environ | {"ENDS_WITH": "7"}
    )
    assert done.returncode == 7
    assert done.stdout.decode().splitlines()[:2] == [f"folder={project}", "home="]
    assert words(done) == ["--resume", FIRST_ID, "--model", "gemini 2.5", "--print"]
    assert done.stderr == b""


@pytest.mark.slow
def test_another_home_is_told_to_the_agent(command: Command, project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    done = command("resume", "1f0c", "--home", home, env=os.environ | {"HOME": str(tmp_path)})
    assert done.stdout.decode().splitlines()[:2] == [f"folder={project}", f"home={home}"]


def test_print_shows_the_line_and_starts_nothing(geminids: Run, project: Path) -> None:
    outcome = geminids("resume", "1f0c", "--print", "--", "-m", "a b")
    assert outcome == (0, f"cd {project} && gemini --resume {FIRST_ID} -m 'a b'\n", "")


@pytest.mark.slow
@pytest.mark.parametrize("shell", ["sh", "bash"])
def test_the_printed_line_does_the_same(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shell: str
) -> None:
    home, project = tmp_path / f"home {HOSTILE}", tmp_path / HOSTILE
    project.mkdir()
    write_session(home, HOSTILE, project=str(project))
    session = next((home / ".gemini" / "tmp" / "shop" / "chats").iterdir())
    session.rename(session.with_name("session-2026-05-01T10-00-abcdefgh.jsonl"))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    use(tmp_path, SAFE, monkeypatch)
    where = ("--home", home)
    started = command("resume", "latest", *where, "--", HOSTILE)
    printed = command("resume", "latest", *where, "--print", "--", HOSTILE)
    assert words(started) == ["--resume", HOSTILE, HOSTILE], started.stderr
    line = printed.stdout.decode().rstrip("\n")
    by_hand = subprocess.run([shell, "-c", line], cwd=tmp_path, check=True, capture_output=True)
    assert by_hand.stdout == started.stdout
    assert f"folder={project}" in by_hand.stdout.decode()
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.parametrize("word", ["a\nb", "\x1b]0;owned\x07", "it's\t\u202etxt", "\udce9t\udce9", "-rf", ""])
def test_no_word_can_steer_the_shell_or_the_terminal(word: str) -> None:
    line = shell_word(word)
    assert line.isprintable()
    echoed = subprocess.run(["bash", "-c", f"printf %s {line}"], check=True, capture_output=True).stdout
    assert echoed == os.fsencode(word)


def test_a_folder_that_looks_like_an_option_is_none(tmp_path: Path) -> None:
    (tmp_path / "-L").mkdir()
    line = shell_line("-L", {"A": "1 2"}, ("sh", "-c", 'pwd; echo "$A"'))
    done = subprocess.run(["sh", "-c", line], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout == f"{tmp_path / '-L'}\n1 2\n"


# -- what may get lost -------------------------------------------------------


@pytest.mark.slow
def test_where_nobody_can_be_asked_nothing_is_started(
    command: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tmp_path, DELETES, monkeypatch)
    done = command("resume", "1f0c", stdin=subprocess.DEVNULL, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, b"")
    told = done.stderr.decode()
    assert f"Gemini CLI {DELETES} deletes what it resumes" in told
    assert "    geminids export 1f0c9a2b -f gemini -o session-1f0c9a2b.jsonl\n" in told
    assert told.endswith("--yes starts it without asking.\n")
    done = command("resume", "1f0c", "--yes", stdin=subprocess.DEVNULL)
    assert (done.returncode, words(done)) == (0, ["--resume", FIRST_ID])
    assert b"deletes what it resumes" in done.stderr, "it is said all the same"


def test_print_warns_and_does_not_ask(
    geminids: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tmp_path, DELETES, monkeypatch)
    outcome = geminids("resume", "1f0c", "--print")
    assert (outcome.code, len(outcome.out.splitlines())) == (0, 1)
    assert "deletes what it resumes" in outcome.err


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "starts"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_one_is_asked(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str, starts: bool
) -> None:
    use(tmp_path, DELETES, monkeypatch)
    shown, code = answered("resume", "1f0c", answer=answer)
    assert "Continue? [y/N]" in shown
    assert (f"folder={project}" in shown) is starts
    assert code == (0 if starts else 130)


def answered(*arguments: str, answer: str) -> tuple[str, int]:
    """What a terminal shows when a question is answered, and the exit code."""
    ours, theirs = pty.openpty()
    line = [sys.executable, "-m", "geminids", *arguments]
    child = subprocess.Popen(line, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    seen, is_answered = b"", False
    while select.select([ours], [], [], 30)[0]:
        try:
            piece = os.read(ours, 65536)
        except OSError:
            # So Linux reports the end of a terminal's other side.
            break
        seen += piece
        if b"[y/N]" in seen and not is_answered:
            is_answered = True
            os.write(ours, f"{answer}\n".encode())
    os.close(ours)
    return seen.decode(), child.wait(30)


# -- what cannot be done -----------------------------------------------------


def test_without_the_agent_the_command_is_told(
    geminids: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", path_with())
    line = f"cd {project} && gemini --resume {FIRST_ID}"
    outcome = geminids("resume", "1f0c")
    assert (outcome.code, outcome.out) == (2, "")
    missing = "`gemini` is not on the PATH, so nothing was started"
    assert outcome.err == f"geminids: {missing}. Once it is installed, run:\n  {line}\n"
    outcome = geminids("resume", "1f0c", "--print")
    assert outcome == (0, f"{line}\n", "geminids: `gemini` is not on the PATH.\n")


def test_why_not_and_what_instead(geminids: Run, project: Path, tmp_path: Path) -> None:
    project.rmdir()
    home = tmp_path / "home"
    outcome = geminids("resume", "1f0c", "--home", home)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.splitlines() == [
        f"geminids: Gemini CLI finds sessions by their folder. {str(project)!r} does not exist.",
        "  Start a new session from a copy of this one, in any <folder>:",
        f"    geminids export 1f0c9a2b -f gemini -o session-1f0c9a2b.jsonl --home {home}",
        "    cd <folder>",
        f"    gemini --session-file {Path.cwd()}/session-1f0c9a2b.jsonl",
        "  If it was moved, set the new folder:",
        f"    geminids projects link shop --home {home} <folder>",
    ]


@pytest.mark.slow
def test_what_is_offered_can_be_typed(
    geminids: Run, command: Command, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    outcome = geminids("resume", "1f0c", "--home", "home", "--data", "our data")
    lines = [line.strip() for line in outcome.err.splitlines() if line.startswith("    ")]
    choosing = [line for line in lines if line.endswith(" <folder>")]
    assert len(choosing) == 2
    for line in choosing:
        unreplaced = subprocess.run(["sh", "-c", line], check=False, capture_output=True)
        assert unreplaced.returncode, "a shell refuses it until a folder is chosen"
    exporting, *_, linking = [line.replace("<folder>", "moved") for line in lines]
    for line in (exporting, linking):
        done = command(*shlex.split(line)[1:], cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
    copy = tmp_path / "session-1f0c9a2b.jsonl"
    assert f"gemini --session-file {copy}" in lines
    assert "Fix the login redirect" in copy.read_text()


def test_an_unknown_session_is_an_error_as_everywhere(geminids: Run, project: Path) -> None:
    outcome = geminids("resume", "ffffffff")
    assert (outcome.code, outcome.out) == (1, "")
    assert "No session 'ffffffff'" in outcome.err


def test_a_program_that_cannot_be_run_is_named(command: Command, project: Path, tmp_path: Path) -> None:
    program = tmp_path / "agent" / "bin" / "gemini"
    program.resolve().write_bytes(b"\x00 no program")
    done = command("resume", "1f0c")
    assert (done.returncode, done.stdout) == (3, b"")
    assert f"Cannot use {str(program)!r}" in done.stderr.decode()


def test_an_option_of_the_agent_needs_the_dashes(geminids: Run, project: Path) -> None:
    outcome = geminids("resume", "1f0c", "--model", "x")
    assert (outcome.code, outcome.out) == (2, "")
    assert "No such option" in outcome.err


@pytest.mark.parametrize(("typed", "completed"), [("1f0", f"plain,{FIRST_ID[:8]}"), ("sha", "file,sha")])
def test_shells_complete_sessions_and_files(
    geminids: Run, command: Command, project: Path, typed: str, completed: str
) -> None:
    geminids("list")
    environment = os.environ | {
        "_GEMINIDS_COMPLETE": "bash_complete",
        "COMP_WORDS": f"geminids resume {typed}",
        "COMP_CWORD": "2",
    }
    assert command(env=environment).stdout.decode().splitlines() == [completed]


# -- for programs ------------------------------------------------------------


def test_json_tells_everything_and_starts_nothing(
    geminids: Run, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tmp_path, DELETES, monkeypatch)
    outcome = geminids("resume", "1f0c", "--json", "--", "-m", "x")
    document = msgspec.json.decode(outcome.out, type=ResumeDocument)
    assert (outcome.code, outcome.err) == (0, "")
    assert document.command == ["gemini", "--resume", FIRST_ID, "-m", "x"]
    assert (document.resumable, document.reason, document.may_lose) == (True, None, True)
    assert (document.folder, document.environment) == (str(project), {})
    assert document.line == f"cd {project} && gemini --resume {FIRST_ID} -m x"
    assert document.program == str(tmp_path / "agent" / "bin" / "gemini")
    assert [offer.line is None for offer in document.offers] == [False, True]


def test_json_of_what_cannot_be_resumed(geminids: Run, project: Path) -> None:
    project.rmdir()
    outcome = geminids("resume", "1f0c", "--json")
    document = msgspec.json.decode(outcome.out, type=ResumeDocument)
    assert (outcome.code, outcome.err, document.resumable) == (1, "", False)
    assert (document.command, document.line, document.folder) == (None, None, None)
    assert document.reason
    export, place, _ = (document.offers[0].line or "").split(" && ")
    assert export == "geminids export 1f0c9a2b -f gemini -o session-1f0c9a2b.jsonl"
    assert place == "cd <folder>"
