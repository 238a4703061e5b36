"""A reader alone makes an agent: every command answers for its sessions, or says what nobody knows of it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from geminids.core import agents
from geminids.core.errors import NOTHING_FOUND, WRONG_USAGE
from geminids.sharing import export
from tests.conftest import ROOT, Run
from tests.support.toys import ToySource, installed, write_talk
from tests.support.watching import watching

LARGEST_READER = 150


@pytest.fixture(autouse=True)
def toy(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An agent that offers a reader and nothing else, here and in all processes that a test starts."""
    folder = tmp_path_factory.mktemp("modules")
    before = os.environ.get("PYTHONPATH")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (before, str(folder), str(ROOT)))))
    with installed(folder, ToySource):
        yield


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A file of its one session."""
    return write_talk(tmp_path)


@pytest.fixture
def home(tmp_path: Path, talk: Path) -> Path:
    """The home that it lies in."""
    return tmp_path


def test_a_reader_takes_little() -> None:
    assert len((ROOT / "tests" / "support" / "toy_agent.py").read_text("utf-8").splitlines()) < LARGEST_READER
    source = agents.load("toy")
    assert (source.custodian(), source.recorder(), source.writer()) == (None, None, None)


ANSWERS = {
    "": "Toy Agent  1 session, 1 project",
    "list": "toy:7c1d0001",
    "list --agent toy --json": '"agent":"toy"',
    "show toy:7c1d0001": "It is blue now.",
    "show latest --json": '"id":"toy:7c1d0001"',
    "search blue": "It is blue now.",
    "search agent:toy": "toy:7c1d0001",
    "stats": "1 request · 20 tokens",
    "stats --by tool": "shell",
    "projects": "/home/ada/dev/shop\trecords\t1",
    "projects show shop": "1 session, 193 bytes",
    "doctor": "bytes     193 = 193 used + 0 ignored + 0 broken",
    "sync": "",
    "mark toy:7c1d0001 --tag blue": "",
    "keep status --json": '"endangered":[]',
    "export toy:7c1d0001 -f markdown --share": "It is blue now.",
    "export --all -f jsonl": "Paint the shop window",
}


@pytest.mark.parametrize("line", ANSWERS)
def test_its_sessions_are_answered_for(geminids: Run, home: Path, line: str) -> None:
    done = geminids(*line.split(), "--home", home)
    assert (done.code, ANSWERS[line] in done.out) == (0, True), (done.out, done.err)


@pytest.mark.parametrize("name", export.available())
def test_they_are_written_in_every_format(geminids: Run, home: Path, tmp_path: Path, name: str) -> None:
    target = tmp_path / f"talk{export.load(name).suffix}"
    assert geminids("export", "toy:7c1d0001", "-f", name, "-o", target, "--home", home).code == 0
    assert b"Paint the shop window" in target.read_bytes()


def test_they_are_watched(home: Path, talk: Path) -> None:
    with watching("--home", home, "--poll", "0.05") as command:
        with talk.open("a") as written:
            written.write("you 2026-05-02T10:05:00Z And the door?\n")
        command.wait_for_words("And the door?")


def test_a_file_of_it_is_shown_and_other_files_are_no_session(
    geminids: Run, home: Path, talk: Path, tmp_path: Path
) -> None:
    assert "It is blue now." in geminids("show", talk, "--home", home).out
    (tmp_path / "draft.talk").write_text("talking to nobody")
    refused = geminids("show", tmp_path / "draft.talk")
    assert (refused.code, "it looks like plain text" in refused.err) == (NOTHING_FOUND, True)


def test_how_it_goes_on_with_a_session_nobody_knows(geminids: Run, home: Path) -> None:
    told = geminids("resume", "toy:7c1d0001", "--home", home)
    assert told.code == NOTHING_FOUND
    assert "Unknown how Toy Agent resumes a session." in told.err
    assert "geminids show 7c1d0001" in told.err
    answer = json.loads(geminids("resume", "toy:7c1d0001", "--json", "--home", home).out)
    assert (answer["resumable"], answer["command"]) == (False, None)


def test_what_it_loads_and_hides_nobody_knows(geminids: Run, home: Path, talk: Path) -> None:
    view = geminids("show", talk, "--agent-view", "--home", home)
    assert (view.code, "Unknown for Toy Agent: how it loads a file" in view.err) == (
        WRONG_USAGE,
        True,
    )
    rescue = geminids("rescue", "--agent", "toy", "--home", home)
    assert rescue.code == WRONG_USAGE
    assert "Unknown for Toy Agent: which sessions it hides" in rescue.err
    assert geminids("rescue", "--home", home).code == NOTHING_FOUND


def test_what_is_gone_is_kept_and_read_and_put_where_one_likes(
    geminids: Run, home: Path, talk: Path, tmp_path: Path
) -> None:
    content = talk.read_bytes()
    assert geminids("sync", "--home", home).code == 0
    talk.unlink()
    assert "toy:7c1d0001" in geminids("list", "--kept", "--home", home).out
    assert "It is blue now." in geminids("show", "toy:7c1d0001", "--home", home).out
    resumed = geminids("resume", "toy:7c1d0001", "--home", home)
    assert (resumed.code, "geminids restore" in resumed.err) == (NOTHING_FOUND, False)
    refused = geminids("restore", "toy:7c1d0001", "--yes", "--home", home)
    assert refused.code == NOTHING_FOUND
    assert (
        "Unknown where Toy Agent would look for it. Use --to DIR to write the copy elsewhere." in refused.err
    )
    assert not talk.exists()
    written = geminids("restore", "toy:7c1d0001", "--yes", "--to", tmp_path / "out", "--home", home)
    assert written.code == 0
    assert (tmp_path / "out" / "talks" / "2026" / "05" / talk.name).read_bytes() == content


def test_what_is_attested_of_it_holds_all_of_its_file(geminids: Run, home: Path, tmp_path: Path) -> None:
    record = tmp_path / "talk.vac.json"
    assert geminids("export", "toy:7c1d0001", "-f", "vac", "-o", record, "--home", home).code == 0
    assert json.loads(record.read_bytes())["session"]["agent-meta"]["cli-name"] == "toy"
    assert "It is blue now." in geminids("show", record).out
