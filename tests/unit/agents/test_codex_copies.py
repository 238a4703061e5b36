"""Requests of Codex that lie in several files count once, also after some of the files came or went."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from geminids.library import Library
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import FIXTURES, NOW
from tests.support.indexes import assert_equals_a_fresh_build

FORK = FIXTURES / "codex" / "legacy-fork"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A session, its fork and the fork of that: each holds copies of the ones before."""
    shutil.copytree(FORK / "home", tmp_path / "home")
    return tmp_path / "home"


def rollouts(home: Path) -> list[Path]:
    """The rollouts in the order in which they were begun."""
    return sorted(home.rglob("rollout-*.jsonl"), key=lambda path: path.name[-41:])


def billed() -> tuple[int, int]:
    tokens = json.loads((FORK / "truth.json").read_bytes())["tokens"]["main"]
    return tokens["replies"], tokens["total"]


def counted(home: Path, data: Path) -> tuple[int, int | None]:
    with Library([home], data) as library:
        tokens = library.stats(StatsQuestion(), NOW).total.tokens
        return tokens.requests, tokens.total


def test_copies_in_forks_count_where_they_were_made(home: Path, tmp_path: Path) -> None:
    assert counted(home, tmp_path / "data") == billed()
    with Library([home], tmp_path / "data") as library:
        prompts = [library.session(path.stem[-36:]).counts.prompts for path in rollouts(home)]
    assert prompts == [3, 2, 1]


@pytest.mark.parametrize("which", [0, 1, 2])
def test_a_file_that_comes_later_is_settled_with_the_others(home: Path, tmp_path: Path, which: int) -> None:
    path = rollouts(home)[which]
    away = path.rename(tmp_path / path.name)
    counted(home, tmp_path / "data")
    away.rename(path)
    assert counted(home, tmp_path / "data") == billed()
    assert_equals_a_fresh_build([home], tmp_path / "data", tmp_path / "fresh")


@pytest.mark.usefixtures("without_copies")
@pytest.mark.parametrize("which", [0, 1])
def test_what_forks_hold_of_a_file_that_is_gone_counts_in_them(
    home: Path, tmp_path: Path, which: int
) -> None:
    replies, _ = billed()
    assert counted(home, tmp_path / "data")[0] == replies
    rollouts(home)[which].unlink()
    # Only what was said after the last fork is in no other file.
    assert counted(home, tmp_path / "data")[0] == replies - 1
    assert_equals_a_fresh_build([home], tmp_path / "data", tmp_path / "fresh")


@pytest.mark.parametrize(
    "name", ["legacy", "legacy-early", "legacy-late", "legacy-backtrack", "legacy-fork", "legacy-subagents"]
)
def test_a_thread_in_several_folders_counts_once(name: str, tmp_path: Path) -> None:
    case = FIXTURES / "codex" / name / "home"
    home = shutil.copytree(case, tmp_path / "home")
    before = counted(home, tmp_path / "data")
    for folder in ("archived_sessions", "sessions/2026/11/16"):
        (home / ".codex" / folder).mkdir(parents=True)
        for path in rollouts(case):
            shutil.copy(path, home / ".codex" / folder)
        assert counted(home, tmp_path / "data") == before


def test_an_older_copy_in_a_backup_counts_once(home: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup"
    shutil.copytree(home, backup)
    for path in rollouts(backup):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: len(lines) * 2 // 3]))
    with Library([home, backup], tmp_path / "data") as library:
        tokens = library.stats(StatsQuestion(), NOW).total.tokens
    assert (tokens.requests, tokens.total) == billed()
