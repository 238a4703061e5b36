"""What the real Gemini CLI deletes and loses is put back, and the CLI lists it and goes on with it.

In each case the CLI makes a session, `geminids sync` keeps copies of its files, the CLI destroys it,
`geminids list` shows it as kept, `geminids restore` puts it back; then the CLI has to list it, to send its
turns when it resumes it, and to keep it when it is started again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from geminids.core.model import folder_hash
from tests.real.deleting import DAY, MINUTE, Machine
from tests.support.gemini_cli import REPLY, Server, loopback_server

pytestmark = pytest.mark.real

PROMPT = "Remember the apple."
SECOND = "And the pear."
NEXT = "Go on, please."

EVERY_ERA = (
    "0.28.2",
    "0.33.2",
    "0.38.2",
    "0.41.2",
    "0.43.0",
    "0.45.2",
    "0.47.0",
    "0.54.4",
    "0.58.0",
    "0.61.0",
)
DELETE_BY_AGE = ("0.33.2", "0.38.2", "0.41.2", "0.43.0", "0.45.2", "0.47.0", "0.58.0", "0.61.0")
DELETE_RESUMED = ("0.42.0", "0.43.0", "0.47.0", "0.54.4", "0.58.0", "0.61.0")
DELETE_DOCUMENT_AND_LOG = ("0.43.0", "0.47.0", "0.61.0")
DELETE_PARENT = ("0.36.0", "0.38.2", "0.43.0", "0.61.0")
DELETE_SUBAGENT = "0.33.2"
SWEEP_OTHER_TERMINALS = ("0.41.2", "0.43.0", "0.47.0", "0.61.0")
DELETE_WHEN_LEFT = ("0.47.0", "0.61.0")


@pytest.fixture
def server() -> Iterator[Server]:
    """Stands in for the API."""
    with loopback_server() as listening:
        yield listening


def said(contents: list[dict[str, Any]]) -> str:
    return json.dumps(contents)


def is_gone(machine: Machine, native_id: str) -> bool:
    return native_id not in machine.listed()


def assert_lives_on(machine: Machine, native_id: str, *prompts: str) -> None:
    """The session is listed and resumed with these prompts, and is still there after other starts."""
    assert native_id in machine.listed()
    for asked in (NEXT, "Once more."):
        sent = said(machine.say(asked, "--resume", native_id))
        for prompt in (*prompts, REPLY):
            assert prompt in sent
        prompts = (*prompts, asked)
        machine.later(2 * MINUTE)
        machine.say("Something else.")
        machine.later(2 * MINUTE)
        assert native_id in machine.listed()


@pytest.mark.parametrize("version", DELETE_BY_AGE)
def test_brings_back_what_was_not_used_for_thirty_days(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    machine.later(31 * DAY)
    machine.say("A new day.")
    assert is_gone(machine, native_id)
    (file,) = machine.restored(native_id)["files"]
    assert any("30 days" in change for change in file["changes"])
    assert_lives_on(machine, native_id, PROMPT)


@pytest.mark.parametrize("version", ["0.38.2", "0.61.0"])
def test_brings_back_what_was_one_too_many(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server, {"sessionRetention": {"enabled": True, "maxCount": 3}})
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    for prompt in ("One more.", "And one more.", "And again.", "And again one."):
        machine.later(2 * MINUTE)
        machine.say(prompt)
    assert is_gone(machine, native_id)
    machine.restored(native_id)
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert native_id in machine.listed()


@pytest.mark.parametrize("version", DELETE_RESUMED)
def test_brings_back_what_was_deleted_because_it_was_resumed(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    machine.later(2 * MINUTE)
    machine.say(SECOND, "--resume", native_id)
    assert machine.kept(PROMPT) == native_id
    assert len(machine.session_files()) > 1, "the CLI left nothing beside the session"
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    machine.restored(native_id)
    assert_lives_on(machine, native_id, PROMPT, SECOND)


@pytest.mark.parametrize("version", EVERY_ERA)
def test_brings_back_what_was_deleted_by_hand(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(PROMPT)
    (file,) = machine.session_files()
    content = file.read_bytes()
    native_id = machine.kept(PROMPT)
    machine.run("--delete-session", "1")
    assert is_gone(machine, native_id)
    (written,) = machine.restored(native_id)["files"]
    assert Path(written["path"]).read_bytes() == content
    machine.later(2 * MINUTE)
    assert_lives_on(machine, native_id, PROMPT)


@pytest.mark.parametrize("version", DELETE_RESUMED)
def test_what_was_brought_back_can_be_deleted_by_hand(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    machine.run("--delete-session", "1")
    machine.restored(native_id)
    assert not is_gone(machine, native_id)
    machine.run("--delete-session", "1")
    assert is_gone(machine, native_id)


@pytest.mark.parametrize("version", SWEEP_OTHER_TERMINALS)
def test_brings_back_what_a_second_terminal_destroyed(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    with machine.terminal() as first:
        first.rest(2)
        # It takes the session of the first terminal, which is empty yet, for rubbish.
        machine.later(2 * MINUTE)
        machine.run("--list-sessions")
        first.say(PROMPT, REPLY)
        first.leave()
    (file,) = (file for file in machine.session_files() if PROMPT.encode() in file.read_bytes())
    assert b'"projectHash"' not in file.read_bytes(), "the file has kept its first line"
    native_id = machine.kept(PROMPT)
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert not file.exists()
    (written, *_) = machine.restored(native_id)["files"]
    header = json.loads(Path(written["path"]).read_bytes().splitlines()[0])
    typed = json.loads((machine.data / "tmp" / "shop" / "logs.json").read_bytes())
    assert header["sessionId"] == typed[0]["sessionId"] == native_id
    assert_lives_on(machine, native_id, PROMPT)


@pytest.mark.parametrize("version", DELETE_DOCUMENT_AND_LOG)
def test_brings_back_a_log_that_an_old_document_took_with_it(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.38.2", server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    machine.use(version)
    machine.later(20 * DAY)
    machine.say(SECOND, "--resume", native_id)
    assert {file.suffix for file in machine.session_files()} == {".json", ".jsonl"}
    assert machine.kept(PROMPT) == native_id
    machine.later(15 * DAY)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    machine.restored(native_id)
    assert_lives_on(machine, native_id, PROMPT, SECOND)


@pytest.mark.parametrize("version", DELETE_DOCUMENT_AND_LOG)
def test_a_document_that_was_brought_back_does_not_take_its_log_with_it(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.38.2", server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    machine.use(version)
    machine.later(31 * DAY)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    machine.restored(native_id)
    machine.later(20 * DAY)
    machine.say(SECOND, "--resume", native_id)
    machine.later(15 * DAY)
    machine.say("Something else.")
    machine.later(2 * MINUTE)
    assert_lives_on(machine, native_id, PROMPT, SECOND)


@pytest.mark.parametrize("version", DELETE_PARENT)
def test_brings_back_a_parent_that_its_subagent_took_with_it(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.36.0" if version == "0.36.0" else "0.38.2", server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    subagent_beside(machine, native_id)
    machine.geminids("sync")
    machine.use(version)
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    written = machine.restored(native_id)["files"]
    assert [Path(file["path"]).parent.name for file in written].count(native_id) == 1
    assert_lives_on(machine, native_id, PROMPT)


def test_brings_back_what_a_subagent_did(tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, DELETE_SUBAGENT, server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    subagent = subagent_beside(machine, native_id)
    machine.geminids("sync")
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert not subagent.exists()
    assert not is_gone(machine, native_id)
    (led,) = machine.sessions("--kind", "subagent")
    assert led["kept"]
    (done,) = machine.geminids("restore", f"gemini:{native_id}", "--yes")["sessions"]
    (written,) = done["files"]
    machine.later(2 * MINUTE)
    assert_lives_on(machine, native_id, PROMPT)
    assert Path(written["path"]).exists()
    (led,) = machine.sessions("--kind", "subagent")
    assert not led["kept"]


def subagent_beside(machine: Machine, native_id: str) -> Path:
    """What a subagent did in another minute, as releases 0.31 to 0.36 wrote it."""
    (parent,) = machine.session_files()
    document = json.loads(parent.read_bytes()) | {"kind": "subagent"}
    (minute,) = re.findall(r"T\d\d-\d\d", parent.name)
    another = f"{minute[:-2]}{(int(minute[-2:]) + 1) % 60:02}"
    file = parent.with_name(f"session-{document['startTime'][:10]}{another}-{native_id[:8]}.json")
    file.write_text(json.dumps(document))
    return file


@pytest.mark.parametrize("version", DELETE_WHEN_LEFT)
def test_says_why_a_session_with_nothing_to_go_on_with_is_not_put_back(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path / "machine", version, server)
    with machine.terminal() as terminal:
        terminal.type("/about")
        terminal.rest(3)
        machine.geminids("sync")
        (file,) = machine.session_files()
        content = file.read_bytes()
        terminal.leave()
    assert not machine.session_files()
    (session,) = machine.sessions("--kind", "all")
    assert session["kept"]
    (refused,) = machine.geminids("restore", session["id"], "--yes", codes=(1, 3))["sessions"]
    assert "nothing" in refused["refusal"]
    into = ("--to", str(tmp_path / "elsewhere"))
    (elsewhere,) = machine.geminids("restore", session["id"], *into, "--yes")["sessions"]
    assert content in [Path(written["path"]).read_bytes() for written in elsewhere["files"]]


@pytest.mark.parametrize("version", ["0.29.0", "0.38.2", "0.61.0"])
def test_puts_what_an_old_folder_held_where_the_cli_looks_now(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.28.2", server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    by_hash = machine.data / "tmp" / folder_hash(str(machine.project))
    (by_hash / "chats").rename(tmp_path / "lost")
    machine.use(version)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    (written,) = machine.restored(native_id)["files"]
    assert Path(written["path"]).parts[-3] == "shop"
    machine.later(2 * MINUTE)
    assert_lives_on(machine, native_id, PROMPT)


@pytest.mark.parametrize("version", ["0.29.0", "0.61.0"])
def test_does_not_keep_the_cli_from_taking_over_an_old_folder(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.28.2", server)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    (file,) = machine.session_files()
    machine.later(2 * MINUTE)
    machine.say(SECOND)
    other = machine.kept(SECOND)
    file.unlink()
    machine.use(version)
    machine.restored(native_id)
    listed = machine.listed()
    assert native_id in listed
    assert other in listed


@pytest.mark.parametrize("lost", ["folder", "folder and registry", "all"])
@pytest.mark.parametrize("version", ["0.29.0", "0.38.2", "0.61.0"])
def test_makes_the_folder_of_a_project_anew(version: str, lost: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    other = tmp_path / "other" / "shop"
    other.mkdir(parents=True)
    machine.say("In a project of the same name.", project=other)
    machine.say(PROMPT)
    native_id = machine.kept(PROMPT)
    (file,) = (file for file in machine.session_files() if PROMPT.encode() in file.read_bytes())
    assert file.parent.parent.name == "shop-1"
    _move_away(machine.data / "tmp" / "shop-1", tmp_path)
    if lost != "folder":
        (machine.data / "projects.json").unlink()
    if lost == "all":
        _move_away(machine.data / "history" / "shop-1", tmp_path)
    machine.restored(native_id)
    machine.later(2 * MINUTE)
    assert_lives_on(machine, native_id, PROMPT)


def _move_away(folder: Path, to: Path) -> None:
    if folder.exists():
        folder.rename(to / f"lost-{folder.parent.name}")
