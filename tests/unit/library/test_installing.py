"""Files of agents are changed all or none, and only if they are what they were when it was planned."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from geminids.core.agents.install import Launch
from geminids.library import Library
from geminids.library.installing import exchange
from geminids.library.installing.files import (
    Change,
    ChangedMeanwhileError,
    NotTakenBackError,
    UnwritableError,
    apply,
    content_of,
)
from tests.conftest import NOW, ROOT
from tests.support.agent_settings import CODEX, files_of, folders_of, home_with_agents

LAUNCH = Launch(command=("/opt/geminids",), version="1")


def test_what_fails_takes_back_what_was_done(tmp_path: Path) -> None:
    changed, removed, in_the_way = (tmp_path / name for name in ("changed", "removed", "in the way"))
    for path in (changed, removed, in_the_way):
        path.write_bytes(b"as it was")
    changes = [
        Change(path=str(tmp_path / "new/deep/file"), before=None, after=b"new"),
        Change(path=str(changed), before=b"as it was", after=b"other"),
        Change(path=str(removed), before=b"as it was", after=None),
        Change(path=str(in_the_way / "file"), before=None, after=b"cannot be"),
    ]
    with pytest.raises(UnwritableError, match="in the way/file' cannot be read: Not a directory"):
        apply(changes)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["changed", "in the way", "removed"]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"as it was"}


def test_what_cannot_be_taken_back_is_named_and_all_else_is_taken_back(tmp_path: Path) -> None:
    first, lost = tmp_path / "first", tmp_path / "lost"
    first.write_bytes(b"before")
    lost.write_bytes(b"before")

    def changes() -> Iterator[Change]:
        yield Change(path=str(first), before=b"before", after=b"after")
        yield Change(path=str(lost), before=b"before", after=b"after")
        lost.unlink()
        lost.mkdir()
        yield Change(path=str(first), before=b"something else", after=b"after")

    with pytest.raises(NotTakenBackError, match=r"lost' could not be undone\. Make room"):
        apply(changes())
    assert first.read_bytes() == b"before"
    assert lost.is_dir()


def test_what_is_new_is_for_its_user_alone(tmp_path: Path) -> None:
    apply([Change(path=str(tmp_path / "a/b/file"), before=None, after=b"new")])
    assert (tmp_path / "a/b/file").read_bytes() == b"new"
    assert (tmp_path / "a/b/file").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("way", ["rename", "in-place"])
def test_no_write_of_another_program_is_lost(tmp_path: Path, way: str) -> None:
    """A program counts up in a file while changes are made and undone."""
    settings = tmp_path / "settings"
    settings.write_text("# 0\n")
    with counting(settings, 400, way) as counter:
        refused = 0
        while counter.poll() is None:
            there = settings.read_bytes()
            ours = there + b"# ours\n"
            try:
                apply([Change(path=str(settings), before=there, after=ours)])
                apply([Change(path=str(settings), before=ours, after=there)])
            except (ChangedMeanwhileError, NotTakenBackError):
                refused += 1
    assert counter.returncode == 0
    assert refused


def test_where_files_cannot_be_exchanged_they_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchange, "_renameat2", lambda: None)
    settings = tmp_path / "settings"
    settings.write_bytes(b"theirs")
    change = Change(path=str(settings), before=b"theirs", after=b"ours")
    apply([change])
    assert settings.read_bytes() == b"ours"
    with pytest.raises(ChangedMeanwhileError):
        apply([change])


@contextmanager
def counting(settings: Path, last: int, way: str) -> Iterator[subprocess.Popen[bytes]]:
    counter = subprocess.Popen(
        [sys.executable, "-m", "tests.support.counting", settings, str(last), way], cwd=ROOT
    )
    try:
        yield counter
        counter.wait(30)
    finally:
        counter.kill()
        counter.wait()


@pytest.mark.skipif(os.name != "posix", reason="owners are of POSIX")
def test_owner_mode_and_attributes_stay(tmp_path: Path) -> None:
    settings = tmp_path / "settings"
    settings.write_bytes(b"theirs")
    settings.chmod(0o640)
    os.setxattr(settings, "user.origin", b"here")
    if os.geteuid() == 0:
        os.chown(settings, 1234, 4321)
    before = settings.stat()
    apply([Change(path=str(settings), before=b"theirs", after=b"ours")])
    after = settings.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.getxattr(settings, "user.origin") == b"here"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root writes for others")
def test_what_root_makes_belongs_to_the_owner_of_the_folder(tmp_path: Path) -> None:
    os.chown(tmp_path, 1234, 4321)
    apply([Change(path=str(tmp_path / "skills/geminids/SKILL.md"), before=None, after=b"new")])
    made = [tmp_path / "skills", tmp_path / "skills/geminids", tmp_path / "skills/geminids/SKILL.md"]
    assert {(path.stat().st_uid, path.stat().st_gid) for path in made} == {(1234, 4321)}


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(UnwritableError, match="cannot be read"):
        content_of(str(tmp_path))
    assert content_of(str(tmp_path / "nothing")) is None


def test_what_was_changed_since_the_plan_stays(machine: Path) -> None:
    home_with_agents(machine)
    with Library() as library:
        (plan,) = library.installation.planned(["codex"], LAUNCH, NOW)
        (machine / CODEX).write_bytes(b"theirs = 1\n")
        before, folders = files_of(machine), folders_of(machine)
        with pytest.raises(ChangedMeanwhileError, match="run the command again"):
            library.installation.carry_out(plan)
        assert (files_of(machine), folders_of(machine)) == (before, folders)
        assert library.installation.installed() == ()


def test_a_backup_that_is_gone_is_no_hindrance(machine: Path) -> None:
    home_with_agents(machine)
    before = (machine / CODEX).read_bytes()
    with Library() as library:
        for plan in library.installation.planned(["codex"], LAUNCH, NOW):
            library.installation.carry_out(plan)
        (entry,) = library.installation.installed()
        (edit,) = entry.edits
        backup = machine / ".local/share/geminids/installed" / str(edit.before)
        assert backup.read_bytes() == before
        assert backup.stat().st_mode & 0o777 == 0o600
        backup.write_bytes(b"damaged")
        for plan in library.installation.planned_removal([], LAUNCH):
            library.installation.carry_out(plan)
    assert (machine / CODEX).read_bytes() == before + b"\n"
    assert not backup.exists()
