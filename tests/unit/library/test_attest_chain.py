"""A folder of statements: what is added to it, what is noticed in it, and what it survives."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Run
from tests.support.attested_homes import (
    SECOND_ID,
    TOKEN,
    add_key,
    appended,
    copied_home,
    everything_in,
    gone_on,
    session_file,
    user_home,
)
from tests.support.documents import check_printed
from tests.support.homes import write_session


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, geminids: Run) -> Path:
    """The home of a user with two sessions and a key."""
    home = user_home(tmp_path, monkeypatch)
    add_key(geminids)
    return home


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "statements"


def sign(geminids: Run, folder: Path, *words: str, code: int = 0) -> dict[str, Any]:
    done = geminids("attest", "--all", "-o", folder, "--json", *words)
    assert done.code == code, done.err
    return check_printed(done.out, "geminids/attest-folder/1")


def failed_in(geminids: Run, folder: Path) -> dict[str, list[str]]:
    """The checks that failed, by the statement."""
    done = geminids("verify", folder, "--json")
    files = check_printed(done.out, "geminids/verify/1")["files"]
    failed = {
        str(Path(file["file"]).relative_to(folder)): [
            check["name"] for check in file["checks"] if check["holds"] is False
        ]
        for file in files
    }
    found = {name: names for name, names in failed.items() if names}
    assert done.code == (1 if found else 0)
    return found


def statements(folder: Path, beginning: str = "") -> list[Path]:
    return sorted(folder.glob(f"{beginning}*/*.acr"))


# -- what is added -----------------------------------------------------------


def test_each_session_is_signed_once(geminids: Run, home: Path, folder: Path) -> None:
    outcome = sign(geminids, folder)
    assert (len(outcome["signed"]), outcome["unchanged"], outcome["failed"]) == (2, 0, {})
    before = everything_in(folder)
    outcome = sign(geminids, folder)
    assert (outcome["signed"], outcome["unchanged"]) == ([], 2)
    assert everything_in(folder) == before
    assert failed_in(geminids, folder) == {}


def test_people_are_told_in_a_line(geminids: Run, home: Path, folder: Path) -> None:
    done = geminids("attest", "--all", "-o", folder)
    assert done == (0, "", f"geminids: {folder}: 2 signed, 0 unchanged.\n")
    done = geminids("verify", folder)
    assert "geminids: 2 of 2 statements are valid.\n" in done.err


@pytest.mark.parametrize("agent", ["gemini", "claude", "codex"])
def test_a_session_that_went_on_gets_one_more_statement(
    geminids: Run, home: Path, folder: Path, agent: str
) -> None:
    if agent != "gemini":
        copied_home(agent, "plain", home)
    path = session_file(home) if agent == "gemini" else next((home / f".{agent}").rglob("*-*-*.jsonl"))
    sign(geminids, folder)
    for number in (2, 3):
        gone_on(agent, path, number)
        (new,) = sign(geminids, folder)["signed"]
        assert Path(new).name == f"{number:04}.acr"
        assert Path(new).parent.name.startswith(agent)
    assert failed_in(geminids, folder) == {}
    checks = {
        check["name"]: check
        for file in json.loads(geminids("verify", folder, "--json").out)["files"]
        for check in file["checks"]
        if file["file"] == new
    }
    assert checks["chain"]["holds"]
    assert checks["past"]["holds"]
    assert checks["past"]["detail"].startswith("all ")


def test_only_named_sessions_are_signed(geminids: Run, home: Path, folder: Path) -> None:
    done = geminids("attest", SECOND_ID, "-o", f"{folder}/")
    assert done.code == 0
    assert [path.parent.name[:15] for path in statements(folder)] == ["gemini-2e2e2e2e"]
    assert sign(geminids, folder)["unchanged"] == 1, "the same folder goes on"


@pytest.mark.slow
def test_a_list_that_is_lost_or_damaged_only_costs_time(geminids: Run, home: Path, folder: Path) -> None:
    for words in ((), ("--redact",)):
        shutil.rmtree(folder, ignore_errors=True)
        sign(geminids, folder, *words)
        there = [path.read_bytes() for path in statements(folder)]
        kept = (folder / "statements.json").read_bytes()
        for content in (None, b"", b"\xff\xfe", b"[]", kept[:-20], b'{"schema":"geminids/statements/9"}'):
            (folder / "statements.json").unlink()
            if content is not None:
                (folder / "statements.json").write_bytes(content)
            outcome = sign(geminids, folder, *words)
            assert (outcome["signed"], outcome["unchanged"]) == ([], 2), content
            assert [path.read_bytes() for path in statements(folder)] == there
            assert (folder / "statements.json").read_bytes() == kept


def test_the_other_name_of_a_statement_goes_whose_signer_was_killed(
    geminids: Run, home: Path, folder: Path
) -> None:
    """Killed after the statement had got its name, and before the list knew of it."""
    sign(geminids, folder, "--all")
    statement = next(folder.glob("*/0001.acr"))
    with subprocess.Popen(["true"]) as gone:
        pass
    left = statement.with_name(f".geminids-{gone.pid}-0a1b2c3d.part")
    left.hardlink_to(statement)
    for file in folder.glob("*.json"):
        file.unlink()
    sign(geminids, folder, "--all")
    assert not left.exists()
    assert statement.exists()


def test_a_session_whose_record_is_the_same_is_not_signed_again(
    geminids: Run, home: Path, folder: Path
) -> None:
    sign(geminids, folder)
    os.utime(session_file(home))
    assert sign(geminids, folder, "--issuer", "Somebody else")["signed"] == []
    assert sign(geminids, folder, "--cbor")["signed"] == []


@pytest.mark.slow
def test_secrets_are_taken_out_of_chains_too(geminids: Run, home: Path, folder: Path) -> None:
    sign(geminids, folder, "--redact")
    gone_on("gemini", session_file(home), 2)
    sign(geminids, folder, "--redact")
    assert len(statements(folder, "gemini-1f0c9a2b")) == 2
    assert not any(TOKEN.encode() in content for content in everything_in(folder).values())
    assert failed_in(geminids, folder) == {}
    assert sign(geminids, folder, "--redact")["signed"] == []


def test_the_plain_translation_can_be_chained(geminids: Run, home: Path, folder: Path) -> None:
    sign(geminids, folder, "--simple")
    gone_on("gemini", session_file(home), 2)
    assert len(sign(geminids, folder, "--simple")["signed"]) == 1
    assert failed_in(geminids, folder) == {}


def test_a_file_that_the_agent_puts_elsewhere_goes_on_in_its_chain(
    geminids: Run, home: Path, folder: Path
) -> None:
    copied_home("codex", "plain", home)
    path = next((home / ".codex").rglob("rollout-*.jsonl"))
    sign(geminids, folder)
    archive = home / ".codex" / "archived_sessions"
    archive.mkdir()
    moved = path.rename(archive / path.name)
    gone_on("codex", moved, 2)
    (new,) = sign(geminids, folder)["signed"]
    assert Path(new).name == "0002.acr"
    assert failed_in(geminids, folder) == {}


def test_a_document_that_is_written_anew_with_one_more_message_keeps_its_past(
    geminids: Run, home: Path, folder: Path
) -> None:
    copied_home("gemini", "tool-calls-json", home)
    path = next(home.rglob("session-*.json"))
    sign(geminids, folder)
    document = json.loads(path.read_text())
    document["lastUpdated"] = "2026-11-16T10:00:00.000Z"
    more = {"id": "u9", "timestamp": "2026-11-16T10:00:00.000Z", "type": "user", "content": "And now?"}
    document["messages"].append(more)
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False))
    assert len(sign(geminids, folder)["signed"]) == 1
    assert failed_in(geminids, folder) == {}
    document["messages"][0]["content"] = "Something else"
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False))
    assert len(sign(geminids, folder)["signed"]) == 1
    assert list(failed_in(geminids, folder).values()) == [["past"]]


# -- what is noticed ---------------------------------------------------------


@pytest.fixture
def chain(geminids: Run, home: Path, folder: Path) -> list[Path]:
    """Three statements of one session."""
    sign(geminids, folder)
    for number in (2, 3):
        gone_on("gemini", session_file(home), number)
        sign(geminids, folder)
    found = statements(folder, "gemini-1f0c9a2b")
    assert [path.name for path in found] == ["0001.acr", "0002.acr", "0003.acr"]
    return found


@pytest.mark.parametrize("native", ["Use ", "sessionId"])
def test_a_past_that_was_rewritten_shows(
    geminids: Run, home: Path, folder: Path, chain: list[Path], native: str
) -> None:
    path = session_file(home)
    changed = path.read_text().replace("for the login", "for the logout")
    if native == "sessionId":
        changed = path.read_text().replace('"kind": "main"', '"kind": "main", "summary": "Nothing was said."')
    path.write_text(changed)
    (new,) = sign(geminids, folder)["signed"]
    assert failed_in(geminids, folder) == {str(Path(new).relative_to(folder)): ["past"]}
    done = geminids("verify", folder)
    assert "\tpast\trewritten: 1 of " in done.out
    assert "geminids: 4 of 5 statements are valid.\n" in done.err


def test_a_line_that_was_taken_out_of_the_past_shows(
    geminids: Run, home: Path, folder: Path, chain: list[Path]
) -> None:
    path = session_file(home)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:2], *lines[3:]]))
    (new,) = sign(geminids, folder)["signed"]
    assert failed_in(geminids, folder) == {str(Path(new).relative_to(folder)): ["past"]}


def test_a_statement_that_is_missing_in_the_middle_shows(
    geminids: Run, folder: Path, chain: list[Path]
) -> None:
    chain[1].unlink()
    assert failed_in(geminids, folder) == {f"{chain[2].parent.name}/0003.acr": ["chain", "place"]}
    assert "number 2 is not there" in geminids("verify", folder).out


def test_statements_that_were_swapped_show(geminids: Run, folder: Path, chain: list[Path]) -> None:
    first, second = chain[0].read_bytes(), chain[1].read_bytes()
    chain[0].write_bytes(second)
    chain[1].write_bytes(first)
    failed = failed_in(geminids, folder)
    assert all("place" in failed[f"{path.parent.name}/{path.name}"] for path in chain[:2])


def test_a_statement_of_another_session_shows(geminids: Run, folder: Path, chain: list[Path]) -> None:
    (other,) = statements(folder, "gemini-2e2e2e2e")
    shutil.copyfile(other, chain[2].with_name("0004.acr"))
    assert set(failed_in(geminids, folder)) == {f"{chain[2].parent.name}/0004.acr"}


def test_the_last_statement_can_be_taken_away_unseen(geminids: Run, folder: Path, chain: list[Path]) -> None:
    chain[2].unlink()
    assert failed_in(geminids, folder) == {}


def test_the_first_statement_cannot_be_taken_away(geminids: Run, folder: Path, chain: list[Path]) -> None:
    chain[0].unlink()
    assert failed_in(geminids, folder) == {f"{chain[1].parent.name}/0002.acr": ["place"]}


@pytest.mark.parametrize("damage", [b"", b"junk", None])
def test_nothing_follows_a_damaged_statement_and_the_others_go_on(
    geminids: Run, home: Path, folder: Path, chain: list[Path], damage: bytes | None
) -> None:
    content = bytearray(chain[2].read_bytes())
    content[len(content) // 2] ^= 1
    chain[2].write_bytes(bytes(content) if damage is None else damage)
    for native_id in (None, SECOND_ID):
        gone_on("gemini", session_file(home, native_id) if native_id else session_file(home), 9)
    outcome = sign(geminids, folder, code=3)
    assert [Path(path).parent.name[:15] for path in outcome["signed"]] == ["gemini-2e2e2e2e"]
    (reason,) = outcome["failed"].values()
    assert reason.startswith(f"{chain[2]} is damaged, and no statement can follow it")
    assert len(statements(folder, "gemini-1f0c9a2b")) == 3
    chain[2].unlink()
    assert len(sign(geminids, folder)["signed"]) == 1
    assert failed_in(geminids, folder) == {}


def test_a_chain_goes_on_with_another_key(geminids: Run, home: Path, folder: Path, chain: list[Path]) -> None:
    add_key(geminids, "second", "--alg", "es256")
    gone_on("gemini", session_file(home), 4)
    assert len(sign(geminids, folder, "--key", "second")["signed"]) == 1
    assert failed_in(geminids, folder) == {}
    content = bytearray(chain[2].with_name("0004.acr").read_bytes())
    content[100] ^= 1
    chain[2].with_name("0004.acr").write_bytes(content)
    gone_on("gemini", session_file(home), 5)
    assert sign(geminids, folder, "--key", "main", code=3)["signed"] == []


def test_one_statement_can_be_checked_with_the_one_before(geminids: Run, chain: list[Path]) -> None:
    done = geminids("verify", chain[2], "--previous", chain[1], "--json")
    checks = {
        check["name"]: check["holds"]
        for check in check_printed(done.out, "geminids/verify/1")["files"][0]["checks"]
    }
    assert (done.code, checks["chain"], checks["past"]) == (0, True, True)
    assert geminids("verify", chain[2], "--previous", chain[0]).code == 1


# -- what it survives --------------------------------------------------------


def many_sessions(home: Path, number: int) -> None:
    for place in range(number):
        native_id = f"{place:08x}-0000-4000-8000-{place:012x}"
        write_session(home, native_id, day=1 + place % 28, prompt=f"Prompt {place}", answer="x" * 20_000)


def started(folder: Path) -> subprocess.Popen[bytes]:
    line = [sys.executable, "-m", "geminids", "attest", "--all", "-o", str(folder)]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_a_run_that_is_killed_leaves_nothing_torn(geminids: Run, home: Path, folder: Path) -> None:
    many_sessions(home, 80)
    geminids("sync")
    kills = 0
    for _ in range(8):
        there = len(statements(folder))
        run = started(folder)
        deadline = time.monotonic() + 30
        while run.poll() is None and len(statements(folder)) < there + 9 and time.monotonic() < deadline:
            time.sleep(0.002)
        if run.poll() is None:
            run.send_signal(signal.SIGKILL)
            kills += 1
        run.communicate()
        for path in statements(folder):
            assert path.stat().st_size > 1000
    assert kills >= 3
    outcome = sign(geminids, folder)
    assert outcome["failed"] == {}
    assert [path.name for path in statements(folder)] == ["0001.acr"] * 82
    assert failed_in(geminids, folder) == {}


@pytest.mark.slow
def test_two_runs_at_the_same_time_sign_nothing_twice(geminids: Run, home: Path, folder: Path) -> None:
    many_sessions(home, 40)
    geminids("sync")
    runs = [started(folder) for _ in range(3)]
    for run in runs:
        _, said = run.communicate(timeout=60)
        assert run.returncode == 0, said
    assert [path.name for path in statements(folder)] == ["0001.acr"] * 42
    assert sign(geminids, folder)["unchanged"] == 42
    assert failed_in(geminids, folder) == {}


def test_a_session_that_vanishes_is_named_and_the_others_go_on(
    geminids: Run, home: Path, folder: Path, without_copies: None
) -> None:
    geminids("sync")
    session_file(home).unlink()
    outcome = sign(geminids, folder, "--no-sync", code=3)
    assert len(outcome["signed"]) == 1
    assert [reason.split(" is gone")[0] for reason in outcome["failed"].values()] != []


@pytest.mark.parametrize("words", [("--all",), (SECOND_ID,)])
def test_a_folder_of_an_agent_is_refused(geminids: Run, home: Path, words: Sequence[str]) -> None:
    before = everything_in(home)
    done = geminids("attest", *words, "-o", home / ".gemini" / "tmp" / "statements/")
    assert done.code == 2
    assert "Traceback" not in done.err
    assert everything_in(home) == before


def test_a_file_is_no_folder_of_statements(geminids: Run, home: Path, folder: Path) -> None:
    folder.write_text("mine")
    done = geminids("attest", "--all", "-o", folder)
    assert done.code != 0
    assert str(folder) in done.err
    assert "Traceback" not in done.err
    assert folder.read_text() == "mine"


def test_a_note_of_the_agent_is_part_of_the_past(geminids: Run, home: Path, folder: Path) -> None:
    path = session_file(home)
    appended(path, {"$set": {"summary": "What was said"}})
    sign(geminids, folder)
    path.write_text(path.read_text().replace("What was said", "What was sung"))
    gone_on("gemini", path, 2)
    (new,) = sign(geminids, folder)["signed"]
    assert failed_in(geminids, folder) == {str(Path(new).relative_to(folder)): ["past"]}
