"""`geminids restore`: a session that is gone is put back where its agent finds it."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FIXTURES, Run
from tests.support.documents import check_printed
from tests.support.homes import FIRST_ID, write_session
from tests.support.kept_homes import FIRST, SECOND, asked, contents, lose_everything, user_home
from tests.support.terminal import Terminal, on_terminal


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
    assert outcome.out.startswith(f"Fix the login redirect\n  shop  {FIRST}\n")
    name = f"session-2026-05-01T10-00-{FIRST_ID[:8]}"
    assert re.search(rf"^ +\d+ bytes  ~/.gemini/tmp/shop/chats/{name}-\w+.jsonl$", outcome.out, re.MULTILINE)
    assert f"\n     it was  ~/.gemini/tmp/shop/chats/{name}.jsonl\n" in outcome.out
    assert contents(gone) == {}


def test_it_is_put_back_and_can_be_resumed(geminids: Run, gone: Path) -> None:
    outcome = geminids("restore", "1f0c", "--yes")
    assert outcome.code == 0
    assert "Resume it: `geminids resume 1f0c9a2b`." in outcome.err
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
    (session,) = document["sessions"]
    changes = [change for file in session["files"] for change in file["changes"]]
    assert changes
    drawn = geminids("restore", FIRST, "--dry-run").out
    assert all(change in drawn for change in changes)
    assert "Its name changes, since " in drawn
    assert "A line with today's date is added, so that Gemini CLI does not delete it again" in drawn
    assert "`--to DIR` writes the files exactly as they were.\n" in drawn
    exactly = geminids("restore", FIRST, "--dry-run", "--to", gone.parent / "rescued").out
    assert "--to" not in exactly


def test_nobody_is_sent_to_an_agent_that_would_refuse(geminids: Run, gone: Path) -> None:
    (gone.parent / "shop").rmdir()
    outcome = geminids("restore", FIRST, "--yes")
    assert (outcome.code, outcome.err) == (0, "geminids: 2 files written.\n")
    assert geminids("resume", FIRST, "--print").code == 1


def test_nobody_can_be_asked_in_a_pipe(geminids: Run, gone: Path) -> None:
    for more in ((), ("--json",)):
        outcome = geminids("restore", FIRST, *more)
        assert outcome.code == 2
        assert (
            outcome.err
            == "geminids: Nothing was written: there is no terminal to ask. --yes does it without asking.\n"
        )
        assert contents(gone) == {}


def test_another_word_than_yes_or_no_is_asked_about_again(gone: Path) -> None:
    with Terminal() as terminal:
        terminal.start("restore", FIRST)
        terminal.until(r"Restore it\?")
        terminal.type("maybe\n")
        seen = terminal.until(r"Restore it\?")
        terminal.type("Yes\n")
        assert terminal.finish()[0] == 0
    assert "geminids: Type y or n.\n" in seen
    assert len(sessions(gone)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "is_written"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_one_is_asked(gone: Path, answer: str, is_written: bool) -> None:
    shown, code = asked("restore", "1f0c", answer=answer)
    assert "Restore it? [y/N]" in shown
    assert shown.index("session-2026") < shown.index("Restore it?")
    assert bool(sessions(gone)) is is_written
    assert code == (0 if is_written else 130)


@pytest.mark.parametrize("answer", ["n\n", "\x03"], ids=["no", "Ctrl-C"])
def test_who_does_not_say_yes_hears_that_nothing_was_done(gone: Path, answer: str) -> None:
    before = contents(gone)
    with Terminal() as terminal:
        terminal.start("restore", FIRST)
        terminal.until(r"Restore it\?")
        # Python does not hear a Ctrl-C in the moment in which it begins to wait for a line.
        time.sleep(0.3)
        terminal.type(answer)
        code, seen = terminal.finish()
    assert code == 130
    assert "geminids: Nothing was written.\n" in seen
    assert contents(gone) == before


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


def restored(geminids: Run, *words: str) -> list[dict[str, Any]]:
    """What programs hear of each session."""
    found = check_printed(geminids("restore", *words, "--json").out, "geminids/restore/1")
    return list(found["sessions"])


def test_programs_hear_what_was_written(geminids: Run, gone: Path) -> None:
    (planned,) = restored(geminids, FIRST, "--dry-run")
    assert (planned["id"], planned["written"], planned["refusal"]) == (FIRST, False, None)
    (done,) = restored(geminids, FIRST, "--yes")
    assert done["written"] is True
    assert all(Path(file["path"]).exists() and file["written"] for file in done["files"])


def test_what_is_there_is_left_alone(geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = user_home(tmp_path, monkeypatch)
    geminids("sync")
    before = contents(home)
    outcome = geminids("restore", FIRST, "--yes")
    assert outcome.code == 1
    assert "Nothing to restore: its agent has it." in outcome.err
    (document,) = restored(geminids, FIRST, "--yes")
    assert (document["files"], document["written"]) == ([], False)
    assert "Nothing to restore" in document["refusal"]
    assert contents(home) == before


def test_several_are_put_back_at_once(geminids: Run, gone: Path) -> None:
    shown = geminids("restore", "is:kept", "--dry-run").out
    assert shown.index("Write about carts") < shown.index("Fix the login redirect")
    assert re.search(r"^2 sessions: 4 files, \S+ \S+$", shown, re.MULTILINE)
    outcome = geminids("restore", "is:kept", "--yes")
    assert outcome.code == 0
    assert "2 sessions for 'is:kept'." in outcome.err
    assert "4 files of 2 sessions written. Resume the first: `geminids resume 2e2e2e2e`." in outcome.err
    assert len(sessions(gone)) == 2
    again = geminids("restore", "is:kept", "--yes")
    assert (again.code, again.err) == (1, "geminids: 0 sessions for 'is:kept'.\n")


def test_words_choose_sessions_as_in_a_search(geminids: Run, gone: Path) -> None:
    outcome = geminids("restore", "carts", "--yes")
    assert outcome.code == 0
    assert "No session is named 'carts'; the words occur in 1 session." in outcome.err
    assert {one["id"]: one["kept"] for one in json.loads(geminids("list", "--json").out)["sessions"]} == {
        FIRST: True,
        SECOND: False,
    }


def test_sessions_of_one_project_share_what_is_written_once(
    geminids: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = user_home(tmp_path, monkeypatch)
    write_session(home, "77777777-a", day=2, prompt="One more", project=str(tmp_path / "shop"))
    geminids("sync")
    lose_everything(home)
    shown = geminids("restore", "project:shop", "--dry-run").out
    assert shown.count("/.project_root\n") == 1
    outcome = geminids("restore", "project:shop", "--yes")
    assert (outcome.code, "3 files of 2 sessions written" in outcome.err) == (0, True)
    assert len(sessions(home)) == 2


def test_those_that_need_nothing_are_named_and_the_others_put_back(geminids: Run, gone: Path) -> None:
    geminids("restore", FIRST, "--yes")
    geminids("list")
    outcome = geminids("restore", FIRST, SECOND, "--yes")
    assert outcome.code == 0
    assert f"Nothing to restore of {FIRST}.\n" in outcome.err
    assert "2 files written. Resume it: `geminids resume 2e2e2e2e`." in outcome.err


def test_what_cannot_be_put_back_does_not_stop_the_others(geminids: Run, gone: Path, tmp_path: Path) -> None:
    target = tmp_path / "rescued"
    geminids("restore", FIRST, "--to", target, "--yes")
    next(target.rglob("session-*")).write_text("mine")
    outcome = geminids("restore", FIRST, SECOND, "--to", target, "--yes")
    assert outcome.code == 3
    assert f"geminids: {FIRST}: " in outcome.err
    assert "is not overwritten" in outcome.err
    assert f"1 file written below {target}." in outcome.err
    first, second = sorted(
        restored(geminids, FIRST, SECOND, "--to", str(target), "--dry-run"), key=lambda s: s["id"]
    )
    assert (first["id"], second["id"]) == (FIRST, SECOND)
    assert all("exists" in one["refusal"] or "already" in one["refusal"] for one in (first, second))
    assert next(target.rglob(f"session-*{FIRST_ID[:8]}*")).read_text() == "mine"


def test_a_number_of_the_last_list_gives_a_name_to_go_on_with(gone: Path) -> None:
    with Terminal() as terminal:
        terminal.run("list")
        _, seen = terminal.run("restore", "2", "--yes")
    assert "Resume it: `geminids resume 1f0c9a2b`." in " ".join(seen.split())


def test_a_name_may_be_meant(geminids: Run, gone: Path) -> None:
    geminids("mark", FIRST, "--name", "S3 ACL refusal")
    outcome = geminids("restore", "s3 acl refusal", "--yes")
    assert (outcome.code, "No session is named" in outcome.err) == (0, False)
    assert "Resume it: `geminids resume 1f0c9a2b`." in outcome.err


@pytest.mark.slow
def test_of_several_one_is_asked_once(gone: Path) -> None:
    shown, code = asked("restore", "is:kept", answer="y")
    assert (shown.count("[y/N]"), "Restore 2 sessions? [y/N]" in shown, code) == (1, True, 0)


@pytest.mark.slow
def test_on_a_narrow_terminal_only_paths_are_broken(gone: Path) -> None:
    shown = on_terminal("restore", FIRST, "--dry-run", NO_COLOR="1")
    for line in shown.splitlines():
        assert len(line) <= 80 or line.startswith("    ~/")
    sizes = re.findall(r"^ +\d+ bytes(.*)\n(.*)", shown, re.MULTILINE)
    assert sizes
    assert all(
        re.fullmatch(r"  ~/\S+", beside) or re.fullmatch(r"    ~/\S+", below) for beside, below in sizes
    )


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
        ([], 2, "Which session?"),
        (["nothing-like-it", "--yes"], 1, "No session is named 'nothing-like-it'"),
        (["77", "--yes"], 1, "list"),
        ([FIRST, "--dry-run", "--yes"], 2, "cannot be combined"),
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
