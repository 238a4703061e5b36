"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from geminids.core.atomic_files import PartFile


def test_it_takes_its_name_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "notes"
    with PartFile(str(target)) as part:
        part.file.write(b"whole")
        assert not target.exists()
        part.settle(replace=False)
    assert target.read_bytes() == b"whole"
    assert _names(tmp_path) == ["notes"]


def test_left_without_a_name_it_is_taken_back(tmp_path: Path) -> None:
    with PartFile(str(tmp_path / "notes")) as part:
        part.file.write(b"half")
    assert _names(tmp_path) == []


@pytest.mark.parametrize("knows_links", [True, False])
def test_what_came_meanwhile_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, knows_links: bool
) -> None:
    if not knows_links:
        monkeypatch.setattr(os, "link", _no_link)
    target = tmp_path / "notes"
    with PartFile(str(target)) as part:
        target.write_bytes(b"somebody else's")
        with pytest.raises(FileExistsError):
            part.settle(replace=False)
    assert target.read_bytes() == b"somebody else's"
    with PartFile(str(target)) as part:
        part.file.write(b"ours")
        part.settle(replace=True)
    assert target.read_bytes() == b"ours"
    assert _names(tmp_path) == ["notes"]


def test_a_file_under_way_of_somebody_else_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "urandom", bytes)
    theirs = Path(PartFile(str(tmp_path / "notes")).path)
    theirs.write_bytes(b"theirs")
    with pytest.raises(FileExistsError), PartFile(str(tmp_path / "notes")):
        pytest.fail("a name that is taken is not used")
    assert theirs.read_bytes() == b"theirs"


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def _no_link(*_: object) -> None:
    raise OSError(errno.EPERM, "this file system knows no second names")
