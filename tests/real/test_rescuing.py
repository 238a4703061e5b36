"""Sessions that the real Gemini CLI no longer shows are found, and shown by it again.

In each case a session gets stranded; the CLI then does not list it, or does not send all that was said. We
write a repaired file beside, and the CLI has to list the session, to send its prompts when it resumes it, and
to keep the file when it is started again.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from geminids import sources
from geminids.model import Session
from geminids.rescuing import repaired, write_new
from geminids.sources.gemini.rescuing import stranded
from geminids.sources.rescuing import Severity, Stranded
from tests.gemini_cli import Server, loopback_server
from tests.reading import sessions as read_sessions
from tests.real.deleting import MINUTE, Machine
from tests.real.stranding import CASES, FIRST, SECOND, Stranding

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
    found = rescue(machine, stranding.native_id)
    assert stranding.kind in {obstacle.kind for obstacle in found.obstacles}
    assert found.hidden >= len(stranding.hidden)
    assert f"[{stranding.native_id}]" in machine.listed()
    assert sent_all(machine.say(NEXT, "--resume", stranding.native_id), stranding.hidden)
    machine.later(2 * MINUTE)
    machine.listed()
    assert Path(str(found.target)).exists()
    assert sent_all(machine.say(AFTER_THAT, "--resume", stranding.native_id), (*stranding.hidden, NEXT))


def test_a_title_in_another_script_is_shown(tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, NEWEST, server)
    machine.say(CHINESE)
    (file,) = machine.session_files()
    machine.later(MINUTE)
    machine.say(FIRST)
    (found,) = stranded(machine.home, machine.circumstances)
    assert found.severity is Severity.TITLE
    native_id = found.session.native_id
    assert f" {CHINESE}" not in machine.listed()
    write(machine, found)
    assert f"{CHINESE} " in machine.listed()
    assert sent_all(machine.say(NEXT, "--resume", native_id), (CHINESE,))
    assert file.name in found.obstacles[0].file


def test_nothing_is_said_of_what_the_cli_shows(tmp_path: Path, server: Server) -> None:
    machine = Machine(tmp_path, NEWEST, server)
    machine.say(FIRST)
    machine.later(2 * MINUTE)
    machine.say(SECOND, "--resume", "latest")
    assert not list(stranded(machine.home, machine.circumstances))


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


def rescue(machine: Machine, native_id: str) -> Stranded:
    """Find what is stranded, and write what lets the CLI show it. Nothing else is another than before."""
    found = list(stranded(machine.home, machine.circumstances))
    assert [one.session.native_id for one in found] == [native_id]
    write(machine, found[0])
    assert not list(stranded(machine.home, machine.circumstances)), "it is still stranded"
    return found[0]


def write(machine: Machine, found: Stranded) -> None:
    before, told = contents(machine), numbers(machine)
    file = repaired(found, machine.circumstances.now)
    write_new(file.path, file.content)
    assert contents(machine) == before | {file.path: file.content}
    assert numbers(machine) == told


def contents(machine: Machine) -> dict[str, bytes]:
    files = [file for file in machine.data.glob("tmp/**/*") if file.is_file()]
    return {str(file): file.read_bytes() for file in files}


def numbers(machine: Machine) -> dict[str, tuple[int, int, int | None]]:
    """What we count in each session: a repaired copy is no other session, and counts nothing twice."""
    return {
        session.id: _numbers(session)
        for session in read_sessions(sources.load("gemini"), machine.data.parent)
    }


def _numbers(session: Session) -> tuple[int, int, int | None]:
    return session.counts.prompts, session.counts.replies, session.usage.total


def sent_all(contents: list[dict[str, Any]], prompts: tuple[str, ...]) -> bool:
    sent = texts(contents)
    return all(prompt in sent for prompt in prompts)


def texts(contents: list[dict[str, Any]]) -> list[str]:
    return [part["text"].strip() for turn in contents for part in turn["parts"] if "text" in part]
