"""Long works on a terminal: how far they are is seen, and Ctrl-C leaves nothing half-written."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.homes import write_session
from tests.support.terminal import Terminal

SESSIONS = 500
WORDS = 2_000
BAR = r"[━─]{30} +\d+ %"
AT_ONCE = """
import sys
from geminids.faces.cli import progress
from geminids.__main__ import main
progress.PATIENCE = 0.0
sys.exit(main())
"""
"""The command, which shows how far it is from the beginning: then it need not be slow to be seen."""
TIMES = 10
"""So often a command is started again that was done before it could be stopped."""


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of many sessions, of words that cannot be packed, and a data directory with a key."""
    folder = tmp_path_factory.mktemp("filled")
    luck = random.Random(1)
    for number in range(SESSIONS):
        answer = " ".join(luck.randbytes(24).hex() for _ in range(WORDS))
        name = f"{number:08}-aaaa-4000-8000-000000000000"
        write_session(folder, name, slug=f"p{number % 7}", day=1 + number % 28, answer=answer)
    return folder


@pytest.fixture
def terminal(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """A terminal on which these sessions are looked at, and all of them are kept."""
    monkeypatch.setenv("GEMINIDS_HOMES", str(filled))
    monkeypatch.setenv("GEMINIDS_DATA", str(filled / "data"))
    monkeypatch.chdir(tmp_path)
    with Terminal() as opened:
        opened.run("sync")
        yield opened


def stopped(terminal: Terminal, *arguments: object, again: Path | None = None) -> str:
    """Press Ctrl-C as soon as it is seen how far a command is; what appeared after that."""
    for _ in range(TIMES):
        terminal.start(*arguments, python=("-c", AT_ONCE))
        terminal.until(BAR)
        terminal.type("\x03")
        code, seen = terminal.finish()
        if code != 0:
            assert code == 130
            return " ".join(seen.split())
        if again is not None:
            shutil.rmtree(again)
    raise AssertionError(f"{arguments} was always faster")


def half_written(*folders: Path) -> list[Path]:
    """Files under way that nobody will go on with."""
    return [path for folder in folders for path in folder.rglob("*.part")]


def test_signing_is_stopped_between_two_sessions(terminal: Terminal, tmp_path: Path, filled: Path) -> None:
    assert terminal.run("key", "new", "--issuer", "Ana Lopez")[0] in (0, 2)
    folder = tmp_path / "statements"
    seen = stopped(terminal, "attest", "--all", "-o", f"{folder}/", again=folder)
    done = re.search(
        rf"Stopped after (\d+) of {SESSIONS} sessions. The statements written so far are kept;", seen
    )
    assert done, seen
    assert abs(len(list(folder.rglob("*.acr"))) - int(done[1])) <= 1
    assert half_written(tmp_path, filled) == []
    assert terminal.run("attest", "--all", "-o", f"{folder}/")[0] == 0
    code, seen = terminal.run("verify", folder)
    assert (code, f"{SESSIONS} of {SESSIONS} statements are valid." in seen) == (0, True)
    seen = stopped(terminal, "verify", folder)
    assert re.search(rf"Stopped after \d+ of {SESSIONS} statements; the others were not checked", seen)


def test_an_export_of_many_files_goes_on_where_it_was_stopped(terminal: Terminal, tmp_path: Path) -> None:
    folder = tmp_path / "pages"
    seen = stopped(terminal, "export", "--all", "-f", "html", "-o", f"{folder}/", again=folder)
    done = re.search(
        rf"Stopped after (\d+) of {SESSIONS} sessions. The files written so far are complete;", seen
    )
    assert done, seen
    assert half_written(tmp_path) == []
    written = list(folder.glob("*.html"))
    assert abs(len(written) - int(done[1])) <= 1
    assert all(path.read_bytes().rstrip().endswith(b"</html>") for path in written)
    assert terminal.run("export", "--all", "-f", "html", "-o", f"{folder}/")[0] == 0
    # The page of contents is one more.
    assert len(list(folder.glob("*.html"))) == SESSIONS + 1


def test_an_export_to_one_file_writes_it_whole_or_not_at_all(terminal: Terminal, tmp_path: Path) -> None:
    seen = stopped(terminal, "export", "--all", "-o", "all.jsonl", "--force")
    assert "Stopped; nothing was written." in seen
    assert list(tmp_path.iterdir()) == [] or (tmp_path / "all.jsonl").stat().st_size > SESSIONS * WORDS * 48
    assert half_written(tmp_path) == []


def test_checking_the_copies_can_be_stopped(terminal: Terminal, filled: Path) -> None:
    assert "Stopped before every copy was checked;" in stopped(terminal, "keep", "verify")
    assert half_written(filled) == []
    assert terminal.run("keep", "verify")[0] == 0


def test_copies_on_their_way_to_another_machine_are_whole(
    terminal: Terminal, tmp_path: Path, filled: Path
) -> None:
    assert "Stopped; nothing was written." in stopped(terminal, "keep", "export", "k.tar", "--force")
    assert half_written(tmp_path) == []
    assert terminal.run("keep", "export", "k.tar", "--force")[0] == 0
    empty, data = tmp_path / "empty", tmp_path / "data"
    empty.mkdir()
    there = ("--home", empty, "--data", data)
    seen = stopped(terminal, "keep", "import", "k.tar", *there, again=data)
    assert "Stopped before all copies were imported; run the same command again to import the rest." in seen
    assert terminal.run("keep", "import", "k.tar", *there)[0] == 0
    here, copied = terminal.run("keep", "verify"), terminal.run("keep", "verify", *there)
    assert here == copied
    assert "all are intact" in copied[1]


def test_looking_for_what_is_stranded_can_be_stopped(terminal: Terminal, filled: Path) -> None:
    before = sorted(filled.rglob("*.jsonl"))
    assert "Stopped; nothing was written." in stopped(terminal, "rescue", "--apply")
    assert sorted(filled.rglob("*.jsonl")) == before


def test_what_was_put_back_before_it_was_stopped_is_whole(
    terminal: Terminal, filled: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "back"
    originals = {path.name: path for path in filled.rglob("session-*.jsonl")}
    terminal.start("restore", "is:main", "--to", folder, "--yes", python=("-c", AT_ONCE))
    terminal.until("Restoring " + BAR)
    terminal.until("Restoring " + BAR)
    terminal.type("\x03")
    code, seen = terminal.finish()
    done = re.search(rf"Stopped after (\d+) of {SESSIONS} sessions: what was", " ".join(seen.split()))
    assert code == 130
    assert done, seen
    written = list(folder.rglob("session-*.jsonl"))
    assert len(written) == int(done[1])
    assert all(path.read_bytes() == originals[path.name].read_bytes() for path in written)
    assert half_written(folder) == []
    code, seen = terminal.run("restore", "is:main", "--to", folder, "--yes")
    assert code == 0
    assert "Nothing to restore of gemini:" in seen
    assert len(list(folder.rglob("session-*.jsonl"))) == SESSIONS


def test_a_plan_that_is_stopped_writes_nothing(terminal: Terminal, tmp_path: Path) -> None:
    seen = stopped(terminal, "restore", "is:main", "--to", tmp_path / "back", "--dry-run")
    assert "Stopped; nothing was written." in seen
    assert list(tmp_path.iterdir()) == []


def test_the_first_redaction_says_what_it_waits_for(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("kingfisher_sdk")
    terminal.type(f"KF_RULE_CACHE_DIR={tmp_path}/rules; export KF_RULE_CACHE_DIR\n")
    terminal.start("redact", "latest")
    terminal.until(r"Preparing the rules that find secrets … \d+ s")
    assert "Nothing would be hidden." in terminal.finish()[1]


def test_in_a_pipe_nothing_is_shown_of_how_far_it_is(terminal: Terminal, tmp_path: Path) -> None:
    terminal.start("keep", "export", "k.tar", python=("-c", f"import os; os.dup2(1, 2){AT_ONCE}"))
    terminal.until(BAR)
    terminal.finish()
    os.remove(tmp_path / "k.tar")  # noqa: PTH107
    terminal.type("exec 2>said\n")
    terminal.start("keep", "export", "k.tar", python=("-c", AT_ONCE))
    assert terminal.finish()[0] == 0
    assert "━" not in (tmp_path / "said").read_text()
