"""A data folder of an earlier release: nothing in it is lost, and it is answered as that release answered."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import FIXTURES, Run

FOLDERS = sorted(FIXTURES.glob("data-*"))


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def recorded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder: Path = request.param
    about = tomllib.loads((folder / "about.toml").read_text("utf-8"))
    monkeypatch.setenv("HOME", about["home"])
    monkeypatch.setenv("GEMINIDS_KEY_PASSPHRASE", about["passphrase"])
    return folder


@pytest.fixture
def data(recorded: Path, tmp_path: Path) -> Path:
    """A copy, for this user alone: a clone gives its files to everybody."""
    copy = Path(shutil.copytree(recorded / "data", tmp_path / "data"))
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    return copy


QUESTIONS = {
    "list": ("list", "--kind", "all"),
    "marks": ("mark",),
    "forgotten": ("forget", "--list"),
    "keep": ("keep",),
    "verify": ("keep", "verify"),
    "keys": ("key", "list"),
}
OF_THE_FOLDER = frozenset({"folder", "settings", "bytes_on_disk"})
"""Differs with where the folder lies, and with how its files are laid out."""


def answered(geminids: Run, data: Path, *question: str) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(geminids(*question, "--json", "--data", data).out)
    return answer


def told(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in OF_THE_FOLDER}


@pytest.mark.parametrize("name", QUESTIONS)
def test_what_was_said_is_said_again(geminids: Run, recorded: Path, data: Path, name: str) -> None:
    before = json.loads((recorded / "said" / f"{name}.json").read_text("utf-8"))
    after = answered(geminids, data, *QUESTIONS[name])
    for session in after["sessions"] if name == "list" else ():
        # Fields that later releases added.
        del session["cost"], session["incomplete"]
    assert told(after).items() >= told(before).items()


def test_every_version_is_there_and_reads_the_same(geminids: Run, recorded: Path, data: Path) -> None:
    before = json.loads((recorded / "said" / "versions.json").read_text("utf-8"))
    session = before["session"]["id"]
    assert answered(geminids, data, "keep", "versions", session)["versions"] == before["versions"]
    shown = answered(geminids, data, "show", session)
    was = json.loads((recorded / "said" / "session.json").read_text("utf-8"))
    assert [message["parts"] for message in shown["messages"]] == [m["parts"] for m in was["messages"]]


def test_a_key_still_signs(geminids: Run, data: Path, tmp_path: Path) -> None:
    target = tmp_path / "record.acr"
    assert geminids("attest", "latest", "-o", target, "--data", data).code == 0
    assert geminids("verify", target, "--data", data).code == 0


def test_what_is_forgotten_can_be_undone(geminids: Run, recorded: Path, data: Path) -> None:
    forgotten = json.loads((recorded / "said" / "forgotten.json").read_text("utf-8"))["sessions"]
    for session in forgotten:
        assert geminids("forget", "--undo", session["id"], "--data", data).code in (0, 1)
    assert answered(geminids, data, "forget", "--list")["sessions"] == []
