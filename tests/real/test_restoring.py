"""What the real Gemini CLI deletes and loses is put back, and the CLI lists it and goes on with it.

In each case the CLI makes a session, copies of its files are taken, the CLI destroys it, we put it back; then
the CLI has to list it, to send its turns when it resumes it, and to keep it when it is started again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from geminids.model import folder_hash
from geminids.restoring import RestorePlan, plan_in_home, plan_to_folder, write
from geminids.sources.restoring import Copy
from tests.gemini_cli import REPLY, Server, loopback_server
from tests.real.deleting import DAY, MINUTE, Machine

pytestmark = pytest.mark.real

PROMPT = "Remember the apple."
SECOND = "And the pear."
NEXT = "Go on, please."
BESIDE = ("logs.json", "shell_history", ".project_root")

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
SWEEP_OTHER_TERMINALS = ("0.41.2", "0.47.0", "0.61.0")
DELETE_WHEN_LEFT = ("0.47.0", "0.61.0")


@pytest.fixture
def server() -> Iterator[Server]:
    """Stands in for the API."""
    with loopback_server() as listening:
        yield listening


def taken_copies(machine: Machine) -> list[Copy]:
    """Kept copies of all that belongs to sessions in a home, as it is now."""
    files = sorted(file for file in machine.data.glob("tmp/*/**/*") if file.is_file())
    return [_copy(file) for file in files if file.name not in BESIDE]


def _copy(file: Path) -> Copy:
    content = file.read_bytes()
    read = partial(bytes, content)
    return Copy(path=str(file), size=len(content), mtime_ns=file.stat().st_mtime_ns, read=read)


def planned(machine: Machine, copies: list[Copy]) -> RestorePlan:
    return plan_in_home("gemini:it", machine.home, copies, machine.circumstances)


def put_back(machine: Machine, copies: list[Copy]) -> RestorePlan:
    plan = planned(machine, copies)
    assert plan.refusal is None, plan.refusal
    write(plan)
    return plan


def id_in(copies: list[Copy]) -> str:
    """The id of the only session in these files."""
    for copy in copies:
        for line in (copy.read(), *copy.read().splitlines()):
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict) and "sessionId" in record and record.get("kind") != "subagent":
                return str(record["sessionId"])
    raise AssertionError("no file names its session")


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
    copies = taken_copies(machine)
    machine.later(31 * DAY)
    machine.say("A new day.")
    assert is_gone(machine, id_in(copies))
    plan = put_back(machine, copies)
    assert any("30 days" in change for change in plan.placements[0].changes)
    assert_lives_on(machine, id_in(copies), PROMPT)


@pytest.mark.parametrize("version", ["0.38.2", "0.61.0"])
def test_brings_back_what_was_one_too_many(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server, {"sessionRetention": {"enabled": True, "maxCount": 3}})
    machine.say(PROMPT)
    copies = taken_copies(machine)
    for prompt in ("One more.", "And one more.", "And again.", "And again one."):
        machine.later(2 * MINUTE)
        machine.say(prompt)
    assert is_gone(machine, id_in(copies))
    put_back(machine, copies)
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert id_in(copies) in machine.listed()


@pytest.mark.parametrize("version", DELETE_RESUMED)
def test_brings_back_what_was_deleted_because_it_was_resumed(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(PROMPT)
    native_id = id_in(taken_copies(machine))
    machine.later(2 * MINUTE)
    machine.say(SECOND, "--resume", native_id)
    copies = taken_copies(machine)
    assert len(copies) > 1, "the CLI left nothing beside the session"
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    put_back(machine, copies)
    assert_lives_on(machine, native_id, PROMPT, SECOND)


@pytest.mark.parametrize("version", EVERY_ERA)
def test_brings_back_what_was_deleted_by_hand(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(PROMPT)
    copies = taken_copies(machine)
    machine.run("--delete-session", "1")
    assert is_gone(machine, id_in(copies))
    (placement,) = put_back(machine, copies).placements
    assert Path(placement.path).read_bytes() == copies[0].read()
    machine.later(2 * MINUTE)
    assert_lives_on(machine, id_in(copies), PROMPT)


@pytest.mark.parametrize("version", DELETE_RESUMED)
def test_what_was_brought_back_can_be_deleted_by_hand(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(PROMPT)
    copies = taken_copies(machine)
    machine.run("--delete-session", "1")
    put_back(machine, copies)
    assert not is_gone(machine, id_in(copies))
    machine.run("--delete-session", "1")
    assert is_gone(machine, id_in(copies))


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
    copies = [copy for copy in taken_copies(machine) if PROMPT.encode() in copy.read()]
    assert b'"projectHash"' not in copies[0].read(), "the file has kept its first line"
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert not Path(copies[0].path).exists()
    plan = put_back(machine, copies)
    header = json.loads(Path(plan.placements[0].path).read_bytes().splitlines()[0])
    typed = json.loads((machine.data / "tmp" / "shop" / "logs.json").read_bytes())
    assert header["sessionId"] == typed[0]["sessionId"]
    assert_lives_on(machine, header["sessionId"], PROMPT)


@pytest.mark.parametrize("version", DELETE_DOCUMENT_AND_LOG)
def test_brings_back_a_log_that_an_old_document_took_with_it(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.38.2", server)
    machine.say(PROMPT)
    native_id = id_in(taken_copies(machine))
    machine.use(version)
    machine.later(20 * DAY)
    machine.say(SECOND, "--resume", native_id)
    copies = taken_copies(machine)
    assert {Path(copy.path).suffix for copy in copies} == {".json", ".jsonl"}
    machine.later(15 * DAY)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    put_back(machine, copies)
    assert_lives_on(machine, native_id, PROMPT, SECOND)


@pytest.mark.parametrize("version", DELETE_DOCUMENT_AND_LOG)
def test_a_document_that_was_brought_back_does_not_take_its_log_with_it(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.38.2", server)
    machine.say(PROMPT)
    copies = taken_copies(machine)
    native_id = id_in(copies)
    machine.use(version)
    machine.later(31 * DAY)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    put_back(machine, copies)
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
    (parent,) = machine.session_files()
    native_id = id_in(taken_copies(machine))
    # Releases 0.31 to 0.36 wrote what a subagent did a minute later like this.
    subagent = json.loads(parent.read_bytes()) | {"kind": "subagent"}
    parent.with_name(parent.name.replace(native_id[:8], f"sub-{native_id[:8]}")).write_text(
        json.dumps(subagent)
    )
    copies = taken_copies(machine)
    machine.use(version)
    machine.later(2 * MINUTE)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    plan = put_back(machine, copies)
    assert [Path(placement.path).parent.name for placement in plan.placements].count(native_id) == 1
    assert_lives_on(machine, native_id, PROMPT)


@pytest.mark.parametrize("version", DELETE_WHEN_LEFT)
def test_says_why_a_session_with_nothing_to_go_on_with_is_not_put_back(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path / "machine", version, server)
    with machine.terminal() as terminal:
        terminal.type("/about")
        terminal.rest(3)
        copies = taken_copies(machine)
        terminal.leave()
    assert not machine.session_files()
    refusal = planned(machine, copies).refusal
    assert refusal is not None
    assert "nothing" in refusal
    elsewhere = tmp_path / "elsewhere"
    written = write(plan_to_folder("gemini:it", str(machine.data), copies, str(elsewhere)))
    assert [Path(path).read_bytes() for path in written] == [copy.read() for copy in copies]


@pytest.mark.parametrize("version", ["0.29.0", "0.38.2", "0.61.0"])
def test_puts_what_an_old_folder_held_where_the_cli_looks_now(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.28.2", server)
    machine.say(PROMPT)
    copies = taken_copies(machine)
    native_id = id_in(copies)
    by_hash = machine.data / "tmp" / folder_hash(str(machine.project))
    (by_hash / "chats").rename(tmp_path / "lost")
    machine.use(version)
    machine.say("Something else.")
    assert is_gone(machine, native_id)
    plan = put_back(machine, copies)
    assert Path(plan.placements[0].path).parts[-3] == "shop"
    machine.later(2 * MINUTE)
    assert_lives_on(machine, native_id, PROMPT)


@pytest.mark.parametrize("version", ["0.29.0", "0.61.0"])
def test_does_not_keep_the_cli_from_taking_over_an_old_folder(
    version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, "0.28.2", server)
    machine.say(PROMPT)
    copies = taken_copies(machine)
    machine.later(2 * MINUTE)
    machine.say(SECOND)
    (other,) = [file for file in machine.session_files() if str(file) != copies[0].path]
    Path(copies[0].path).unlink()
    machine.use(version)
    put_back(machine, copies)
    listed = machine.listed()
    assert id_in(copies) in listed
    assert id_in([_copy(other)]) in listed


@pytest.mark.parametrize("lost", ["folder", "folder and registry", "all"])
@pytest.mark.parametrize("version", ["0.29.0", "0.38.2", "0.61.0"])
def test_makes_the_folder_of_a_project_anew(version: str, lost: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    other = tmp_path / "other" / "shop"
    other.mkdir(parents=True)
    machine.say("In a project of the same name.", project=other)
    machine.say(PROMPT)
    copies = [copy for copy in taken_copies(machine) if PROMPT.encode() in copy.read()]
    assert "shop-1" in copies[0].path
    _move_away(machine.data / "tmp" / "shop-1", tmp_path)
    if lost != "folder":
        (machine.data / "projects.json").unlink()
    if lost == "all":
        _move_away(machine.data / "history" / "shop-1", tmp_path)
    put_back(machine, copies)
    machine.later(timedelta(minutes=2))
    assert_lives_on(machine, id_in(copies), PROMPT)


def _move_away(folder: Path, to: Path) -> None:
    if folder.exists():
        folder.rename(to / f"lost-{folder.parent.name}")
