"""Sessions that the real Gemini CLI no longer shows are found, and shown by it again.

In each case a session gets stranded; the CLI then does not list it, or does not send all that was said.
`geminids rescue` has to say why, and with `--apply` writes a repaired file beside; then the CLI has to list
the session, to send its prompts when it resumes it, and to keep the file when it is started again. All the
time we list one session with the same numbers.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.real.deleting import MINUTE, Machine
from tests.real.ours import Document
from tests.real.stranding import CASES, FIRST, SECOND, Stranding, behind_subagent
from tests.support.gemini_cli import Server, loopback_server

pytestmark = pytest.mark.real

NEWEST = "0.61.0"
NEXT, AFTER_THAT = "Go on, please.", "Still there?"
CHINESE = "修复这个错误"
TRIED = [(strand, version) for strand, versions in CASES for version in versions]


@pytest.fixture
def server() -> Iterator[Server]:
    """Stands in for the API."""
    with loopback_server() as listening:
        yield listening


@pytest.mark.parametrize(
    ("strand", "version"), TRIED, ids=[f"{strand.__name__}-{version}" for strand, version in TRIED]
)
def test_shows_again_what_it_did_not_show(
    strand: Callable[[Machine], Stranding], version: str, tmp_path: Path, server: Server
) -> None:
    machine = Machine(tmp_path, version, server)
    stranding = strand(machine)
    if version < "0.39":
        # Old releases do not read what is written.
        machine.use(NEWEST)
    assert_not_shown(machine, stranding)
    (found,) = stranded(machine)
    assert found["session"]["native_id"] == stranding.native_id
    assert stranding.kind in {obstacle["kind"] for obstacle in found["obstacles"]}
    assert found["hidden"] >= len(stranding.hidden)
    rescue(machine, found)
    # In the minute of the old file the CLI would write into that, and bury what is in it.
    machine.later(2 * MINUTE)
    assert f"[{stranding.native_id}]" in machine.listed()
    assert sent_all(machine.say(NEXT, "--resume", stranding.native_id), stranding.hidden)
    machine.later(2 * MINUTE)
    machine.listed()
    assert Path(found["target"]).exists()
    assert sent_all(machine.say(AFTER_THAT, "--resume", stranding.native_id), (*stranding.hidden, NEXT))
    if strand is not behind_subagent:
        # There the CLI has deleted the document that told whose the other one is; its prompt stands alone.
        assert not stranded(machine), "it is stranded again"


def test_a_title_in_another_script_is_shown(tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, NEWEST, server)
    machine.say(CHINESE)
    (file,) = machine.session_files()
    machine.later(MINUTE)
    machine.say(FIRST)
    (found,) = stranded(machine)
    assert found["severity"] == "title"
    assert f" {CHINESE}" not in machine.listed()
    rescue(machine, found)
    assert f"{CHINESE} " in machine.listed()
    assert sent_all(machine.say(NEXT, "--resume", found["session"]["native_id"]), (CHINESE,))
    assert file.name in found["obstacles"][0]["file"]


@pytest.mark.parametrize("version", ["0.45.2", NEWEST])
def test_a_mistyped_command_is_told_of_but_not_much(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(FIRST)
    native_id = machine.kept(FIRST)
    machine.say("/nonsense", "--resume", native_id)
    (found,) = stranded(machine)
    assert found["severity"] == "slight"
    rescue(machine, found)
    machine.later(2 * MINUTE)
    assert sent_all(machine.say(NEXT, "--resume", native_id), (FIRST, "/nonsense"))


@pytest.mark.parametrize("version", ["0.41.2", "0.45.2", NEWEST])
def test_a_last_line_that_was_cut_hides_nothing_else(version: str, tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, version, server)
    machine.say(FIRST)
    native_id = machine.kept(FIRST)
    (file,) = machine.session_files()
    file.write_bytes(file.read_bytes()[:-20])
    assert not stranded(machine)
    assert f"[{native_id}]" in machine.listed()
    # The next record is written right behind what is left, on the same line.
    assert sent_all(machine.say(SECOND, "--resume", native_id), (FIRST,))
    assert not stranded(machine)
    (session,) = machine.sessions()
    assert session["counts"]["prompts"] == 2


def test_nothing_is_said_of_what_the_cli_shows(tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, NEWEST, server)
    machine.say(FIRST)
    machine.later(2 * MINUTE)
    machine.say(SECOND, "--resume", "latest")
    assert not stranded(machine)


def assert_not_shown(machine: Machine, stranding: Stranding) -> None:
    """The CLI does not list a session, or leaves something out of it. What it deletes is put back."""
    with put_back_afterwards(machine):
        is_listed = f"[{stranding.native_id}]" in machine.listed()
    if is_listed:
        with put_back_afterwards(machine):
            sent = texts(machine.say(NEXT, "--resume", stranding.native_id))
        assert not any(prompt in text for prompt in stranding.hidden for text in sent)


@contextmanager
def put_back_afterwards(machine: Machine) -> Iterator[None]:
    """Let the CLI do with the home what it likes, and take it back."""
    aside = machine.data.with_name("aside")
    shutil.copytree(machine.data, aside)
    yield
    shutil.rmtree(machine.data)
    aside.rename(machine.data)


def stranded(machine: Machine) -> list[Document]:
    """What our command finds, also where little is missing."""
    found: list[Document] = machine.geminids("rescue", "--all", codes=(0, 1))["sessions"]
    return found


def rescue(machine: Machine, found: Document) -> None:
    """Have the file written that lets the CLI show a session. Nothing else is another than before."""
    before, told = contents(machine), numbers(machine)
    (done,) = machine.geminids("rescue", found["session"]["id"], "--apply")["sessions"]
    assert done["written"] == found["target"]
    after = contents(machine)
    assert after.keys() - before.keys() == {found["target"]}
    assert after | before == after
    assert numbers(machine) == told
    assert not stranded(machine), "it is still stranded"


def contents(machine: Machine) -> dict[str, bytes]:
    files = [file for file in machine.data.glob("tmp/**/*") if file.is_file()]
    return {str(file): file.read_bytes() for file in files}


def numbers(machine: Machine) -> dict[str, tuple[int, int, int | None]]:
    """What we count in each session: a repaired copy is no other session, and counts nothing twice."""
    sessions = machine.sessions("--kind", "all")
    return {
        one["id"]: (one["counts"]["prompts"], one["counts"]["replies"], one["usage"]["total"])
        for one in sessions
    }


def sent_all(contents: list[dict[str, Any]], prompts: tuple[str, ...]) -> bool:
    sent = texts(contents)
    return all(prompt in sent for prompt in prompts)


def texts(contents: list[dict[str, Any]]) -> list[str]:
    """What was sent, without the space of no width that keeps a prompt from being a command again."""
    return [
        part["text"].strip().removeprefix("\u200b")
        for turn in contents
        for part in turn["parts"]
        if "text" in part
    ]
