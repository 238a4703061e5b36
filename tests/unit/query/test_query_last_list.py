"""What the last list showed."""

import os
import time
from pathlib import Path

import pytest

from geminids.core.model import SessionFile
from geminids.query.sessions.last_list import (
    FILE_NAME,
    FOLDER,
    MOST_TERMINALS,
    LastList,
    recall,
    remember,
)
from geminids.query.sessions.session_ref import SessionRef
from tests.support.summaries import summary


def test_a_list_is_remembered_privately(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    shown = LastList(("/home/ada/.gemini",), (SessionRef("gemini:a", "/x"), SessionRef("gemini:b")))
    remember(str(folder), shown)
    assert recall(str(folder)) == shown
    assert (folder / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a":1}', b"\xff"])
def test_a_damaged_memory_is_no_memory(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert recall(str(tmp_path)) is None


def test_a_line_is_told_by_the_first_file_whatever_its_letters() -> None:
    assert SessionRef.of(summary("a", files=())) == SessionRef("gemini:a", None)
    odd = (SessionFile("/x/caf\udce9", "jsonl", 1),)
    assert SessionRef.of(summary("a", files=odd)) == SessionRef("gemini:a", "/x/caf\\udce9")


def test_a_list_on_a_terminal_is_private_and_leaves_the_others(tmp_path: Path) -> None:
    folder = str(tmp_path / "data")
    one, other = (LastList(("/x",), (SessionRef(name),)) for name in ("gemini:a", "gemini:b"))
    remember(folder, one, "8800-12-34")
    remember(folder, other)
    assert recall(folder, ("/x",), "8800-12-34") == one
    assert recall(folder) == recall(folder, ("/x",), "8801-13-35") == other
    assert all(path.stat().st_mode & 0o077 == 0 for path in (tmp_path / "data").rglob("*"))


def test_a_terminal_without_a_list_is_given_the_newest_of_the_same_homes(tmp_path: Path) -> None:
    mine, others = (LastList((home,), (SessionRef("gemini:a"),)) for home in ("/mine", "/others"))
    remember(str(tmp_path), mine, "1")
    remember(str(tmp_path), others, "2")
    assert recall(str(tmp_path), ("/mine",), "3") == mine
    assert recall(str(tmp_path), ("/nobody's",), "3") is None


def test_only_so_many_terminals_are_remembered(tmp_path: Path) -> None:
    for number in range(MOST_TERMINALS + 3):
        remember(str(tmp_path), LastList((), (SessionRef(f"gemini:{number}"),)), str(number))
        past = time.time() - 1000 + number
        os.utime(tmp_path / FOLDER / f"{number}.json", (past, past))
    assert len(list((tmp_path / FOLDER).iterdir())) == MOST_TERMINALS
    assert not (tmp_path / FOLDER / "2.json").exists()
    assert recall(str(tmp_path), terminal="3") == LastList((), (SessionRef("gemini:3"),))
