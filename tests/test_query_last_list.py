"""What the last list showed."""

from pathlib import Path

import pytest

from geminids.query.last_list import FILE_NAME, Listed, recall, remember


def test_a_list_is_remembered_privately(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "data"
    remember(folder, [Listed("gemini:a", "/x"), Listed("gemini:b")])
    assert recall(folder) == [Listed("gemini:a", "/x"), Listed("gemini:b")]
    assert (folder / FILE_NAME).stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.name for path in folder.iterdir()] == [FILE_NAME]


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b'{"a":1}', b"\xff"])
def test_a_damaged_memory_is_no_memory(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert recall(tmp_path) == []
