"""What the last list showed."""

from pathlib import Path

import pytest

from geminids.core.model import SessionFile
from geminids.query.sessions.last_list import FILE_NAME, LastList, recall, remember
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
