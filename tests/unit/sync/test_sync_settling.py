"""Requests that several sessions hold count in one of them, whatever is read first or deleted."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from geminids.core.model import SessionSummary, Usage
from geminids.library import Library
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import FIXTURES, NOW
from tests.support.indexes import assert_equals_a_fresh_build

pytestmark = pytest.mark.usefixtures("without_copies")

FORK = FIXTURES / "claude" / "fork"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A session and its fork, as Claude Code left them."""
    shutil.copytree(FORK / "home", tmp_path / "home")
    return tmp_path / "home"


def files(home: Path) -> list[Path]:
    """The two session files, the original first: it has the earlier lines in common and began before."""
    found = sorted(home.glob(".claude/projects/*/*.jsonl"), key=first_time)
    assert len(found) == 2
    return found


def first_time(path: Path) -> str:
    """The first time in a file: a fork begins with lines of its own."""
    times = (json.loads(line).get("timestamp") for line in path.read_text("utf-8").splitlines())
    return next(str(time) for time in times if time)


def truth() -> dict[str, int]:
    tokens: dict[str, int] = json.loads((FORK / "truth.json").read_bytes())["tokens"]["main"]
    return tokens


def summaries(home: Path, data: Path) -> list[SessionSummary]:
    with Library([home], data) as library:
        return library.sessions()


def total(home: Path, data: Path) -> int | None:
    with Library([home], data) as library:
        return library.stats(StatsQuestion(), NOW).total.tokens.total


def test_the_tokens_are_those_that_were_billed(home: Path, tmp_path: Path) -> None:
    assert total(home, tmp_path / "data") == truth()["total"]
    found = summaries(home, tmp_path / "data")
    assert Usage.sum(summary.usage for summary in found).requests == truth()["replies"]


@pytest.mark.parametrize("order", [(1, 2), (2, 1)], ids=["original first", "fork first"])
def test_it_does_not_matter_which_is_read_first(home: Path, tmp_path: Path, order: tuple[int, int]) -> None:
    for path, day in zip(files(home), order, strict=True):
        os.utime(path, (day * 86_400, day * 86_400))
    original, fork = (path.stem for path in files(home))
    prompts = {summary.native_id: summary.counts.prompts for summary in summaries(home, tmp_path / "data")}
    alone = tmp_path / "alone"
    shutil.copytree(home, alone)
    files(alone)[1].unlink()
    (only,) = summaries(alone, tmp_path / "data of alone")
    assert prompts[original] == only.counts.prompts
    assert prompts[fork] > 0


def test_a_fork_that_comes_later_changes_nothing_before_it(home: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    _, fork = files(home)
    content = fork.read_bytes()
    fork.unlink()
    before = summaries(home, data)
    fork.write_bytes(content)
    after = {summary.id: summary for summary in summaries(home, data)}
    assert after[before[0].id] == before[0]
    assert total(home, data) == truth()["total"]
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")


def test_what_was_taken_over_counts_when_the_original_is_gone(home: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    original, fork = files(home)
    whole = total(home, data)
    with Library([home], data) as library:
        shared = library.session(fork.stem)
        copied = [message for message in shared.messages if message.imported]
    assert copied
    original.unlink()
    (left,) = summaries(home, data)
    assert left.native_id == fork.stem
    assert left.usage == Usage.sum(message.usage for message in shared.messages if message.usage)
    assert (total(home, data) or 0) < (whole or 0)
    with Library([home], data) as library:
        assert not any(message.imported for message in library.session(fork.stem).messages)
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")


def test_an_original_that_grows_stays_the_original(home: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    original, _ = files(home)
    lines = original.read_bytes().splitlines(keepends=True)
    original.write_bytes(b"".join(lines[: len(lines) // 2]))
    total(home, data)
    original.write_bytes(b"".join(lines))
    assert total(home, data) == truth()["total"]
    assert_equals_a_fresh_build([home], data, tmp_path / "fresh")


def test_what_is_shown_agrees_with_what_is_listed(home: Path, tmp_path: Path) -> None:
    with Library([home], tmp_path / "data") as library:
        for summary in library.sessions():
            session = library.session(summary.id)
            assert (session.counts, session.usage) == (summary.counts, summary.usage)
            own = [message for message in session.messages if message.usage and not message.imported]
            assert len(own) == session.usage.requests
