"""`geminids restore`: a session that is gone is put back where its agent finds it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from .conftest import FIXTURES, Run
from .homes import FIRST_ID
from .kept_homes import FIRST, SECOND, asked, contents, lose_everything, user_home
from .test_cli_documents import check_printed


@pytest.fixture
def gone(geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of which everything was deleted after copies were kept."""
    home = user_home(tmp_path, monkeypatch)
    geminids("sync")
    lose_everything(home)
    return home


def sessions(home: Path) -> list[str]:
    return sorted(path.name for path in home.rglob("session-*"))


def test_a_dry_run_shows_what_would_be_written_and_writes_nothing(geminids: Run, gone: Path) -> None:
    outcome = geminids("restore", FIRST, "--dry-run")
    assert outcome.code == 0
    assert outcome.out.startswith(f"{FIRST}  ")
    name = f"session-2026-05-01T10-00-{FIRST_ID[:8]}"
    assert f"\n  ~/.gemini/tmp/shop/chats/{name}" in outcome.out
    assert f"\n    it was ~/.gemini/tmp/shop/chats/{name}.jsonl\n" in outcome.out
    assert contents(gone) == {}


def test_it_is_put_back_and_can_be_resumed(geminids: Run, gone: Path) -> None:
    outcome = geminids("restore", "1f0c", "--yes")
    assert outcome.code == 0
    assert "Go on with it: `geminids resume 1f0c`." in outcome.err
    assert len(sessions(gone)) == 1
    listed = json.loads(geminids("list", "--json").out)["sessions"]
    assert {session["id"]: session["kept"] for session in listed} == {FIRST: False, SECOND: True}
    assert "Fix the login redirect" in geminids("show", FIRST).out
    resumed = geminids("resume", "1f0c", "--print")
    assert resumed.code == 0
    assert f"--resume {FIRST_ID}" in resumed.out


def test_what_is_changed_is_said_with_its_reason(geminids: Run, gone: Path) -> None:
    # The session is older than what this release keeps: as it was it would be deleted at the next start.
    document = check_printed(geminids("restore", FIRST, "--dry-run", "--json").out, "geminids/restore/1")
    changes = [change for file in document["files"] for change in file["changes"]]
    assert changes
    drawn = geminids("restore", FIRST, "--dry-run").out
    assert all(change in drawn for change in changes)


def test_nobody_can_be_asked_in_a_pipe(geminids: Run, gone: Path) -> None:
    for more in ((), ("--json",)):
        outcome = geminids("restore", FIRST, *more)
        assert outcome.code == 2
        assert (
            outcome.err
            == "geminids: Nothing was written: nobody can be asked here. --yes goes on all the same.\n"
        )
        assert contents(gone) == {}


@pytest.mark.parametrize(("answer", "is_written"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_one_is_asked(gone: Path, answer: str, is_written: bool) -> None:
    shown, code = asked("restore", "1f0c", answer=answer)
    assert "Write it? [y/N]" in shown
    assert shown.index("session-2026") < shown.index("Write it?")
    assert bool(sessions(gone)) is is_written
    assert code == (0 if is_written else 130)


def test_elsewhere_it_is_written_byte_for_byte(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    geminids("sync")
    before = contents(home)
    lose_everything(home)
    outcome = geminids("restore", FIRST, "--to", tmp_path / "rescued", "--yes")
    assert outcome.code == 0
    assert f"written below {tmp_path / 'rescued'}." in outcome.err
    assert "resume" not in outcome.err
    written = contents(tmp_path / "rescued")
    assert written
    for path, digest in written.items():
        assert digest in before.values(), path
    again = geminids("restore", FIRST, "--to", tmp_path / "rescued", "--yes")
    assert again.code == 1
    assert contents(home) == {}


@pytest.mark.parametrize("case", ["claude/subagent", "claude/long-output", "codex/plain", "codex/subagents"])
def test_sessions_of_other_agents_come_back_byte_for_byte(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    home = tmp_path / "home"
    shutil.copytree(FIXTURES / case / "home", home)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GEMINIDS_DATA", str(tmp_path / "data"))
    before = contents(home)
    told = json.loads(geminids("list", "--kind", "all", "--json").out)["sessions"]
    lose_everything(home)
    for session in told:
        if session["kind"] == "main":
            assert geminids("restore", session["id"], "--yes").code == 0
    assert contents(home).items() <= before.items()
    files = [file["path"] for session in told for file in session["files"]]
    assert all(Path(file).exists() for file in files)
    again = json.loads(geminids("list", "--kind", "all", "--json").out)["sessions"]
    assert [(session["id"], session["kept"]) for session in again] == [(one["id"], False) for one in told]


def test_programs_hear_what_was_written(geminids: Run, gone: Path) -> None:
    planned = check_printed(geminids("restore", FIRST, "--dry-run", "--json").out, "geminids/restore/1")
    assert (planned["id"], planned["written"], planned["refusal"]) == (FIRST, False, None)
    done = check_printed(geminids("restore", FIRST, "--yes", "--json").out, "geminids/restore/1")
    assert done["written"] is True
    assert all(Path(file["path"]).exists() and file["written"] for file in done["files"])


def test_what_is_there_is_left_alone(geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = user_home(tmp_path, monkeypatch)
    geminids("sync")
    before = contents(home)
    outcome = geminids("restore", FIRST, "--yes")
    assert outcome.code == 1
    assert "Nothing of it is gone" in outcome.err
    document = check_printed(geminids("restore", FIRST, "--yes", "--json").out, "geminids/restore/1")
    assert (document["files"], document["written"]) == ([], False)
    assert "Nothing of it is gone" in document["refusal"]
    assert contents(home) == before


def test_a_session_that_was_never_kept_cannot_be_put_back(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_home(tmp_path, monkeypatch)
    monkeypatch.setenv("GEMINIDS_KEEP", "0")
    outcome = geminids("restore", FIRST, "--yes")
    assert (outcome.code, outcome.out) == (1, "")
    assert "No copies are kept" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ([], 2, "Missing argument"),
        (["nothing-like-it", "--yes"], 1, "No session 'nothing-like-it'"),
        (["77", "--yes"], 1, "list"),
        ([FIRST, "--dry-run", "--yes"], 2, "cannot both be meant"),
        ([FIRST, "--to", " "], 2, "it is empty"),
        (["latest", "--sample", "--yes"], 1, "No copies are kept"),
    ],
)
def test_what_cannot_be_meant_is_said(
    geminids: Run, gone: Path, arguments: list[str], code: int, said: str
) -> None:
    outcome = geminids("restore", *arguments)
    assert (outcome.code, outcome.out) == (code, "")
    assert said in outcome.err
    assert contents(gone) == {}


def test_a_folder_that_cannot_be_written_to_is_named(geminids: Run, gone: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    outcome = geminids("restore", FIRST, "--to", tmp_path / "file" / "deep", "--yes")
    assert outcome.code == 3
    assert str(tmp_path / "file") in outcome.err
    assert contents(gone) == {}
