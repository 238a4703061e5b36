"""Windows of five hours: where they begin and end, how fast one is used, and that they add up to `stats`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

from geminids.library import Library
from geminids.query.usage.blocks import LENGTH, Block
from geminids.query.usage.figures import Tokens
from geminids.query.usage.stats import StatsQuestion
from tests.conftest import FIXTURES, NOW
from tests.support.claude_lines import Line, reply, user, words, write

HOMES = sorted(FIXTURES.glob("*/*/home"))


def at(day: int, clock: str) -> str:
    return f"2026-06-{day:02}T{clock}:00.000Z"


def written(home: Path, *moments: str, tokens: int = 10) -> Path:
    """A session with a request at each of these moments."""
    lines: list[Line] = [user("u0", None, "Go on", timestamp=moments[0])]
    for number, moment in enumerate(moments):
        usage = {"input_tokens": tokens, "output_tokens": 2}
        before = f"m{number - 1}" if number else "u0"
        said = words("Done.")
        lines.append(reply(f"m{number}", before, said, reply_id=f"r{number}", timestamp=moment, usage=usage))
    write(home, *lines)
    return home


def blocks_of(home: Path, tmp_path: Path, **question: str) -> list[Block]:
    with Library([home], tmp_path / "data") as library:
        return list(library.blocks(StatsQuestion(**question), NOW).blocks)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def all_homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    with Library(HOMES, tmp_path_factory.mktemp("data")) as library:
        yield library


@pytest.mark.parametrize(
    "question",
    [
        StatsQuestion(),
        StatsQuestion(agents=("claude",)),
        StatsQuestion(agents=("gemini", "codex")),
        StatsQuestion(project="shop"),
        StatsQuestion(since="2026-10-01T13:30", until="2026-10-24"),
        StatsQuestion(words="model:flash"),
        StatsQuestion(words="tool:edit"),
    ],
    ids=str,
)
def test_windows_add_up_to_what_stats_says(all_homes: Library, question: StatsQuestion) -> None:
    found, total = all_homes.blocks(question, NOW), all_homes.stats(question, NOW).total.tokens
    assert found.total == total
    assert Tokens.sum(block.tokens for block in found.blocks) == total


def test_no_request_of_the_fixtures_is_outside_its_window(all_homes: Library) -> None:
    found = all_homes.blocks(StatsQuestion()).blocks
    assert len({block.agent for block in found}) == 3
    for block in found:
        assert block.start <= block.first <= block.last < block.end
        assert (block.start.minute, block.start.second) == (0, 0)
    for agent in {block.agent for block in found}:
        own = [block for block in found if block.agent == agent]
        assert all(later.start >= earlier.end for earlier, later in pairwise(own))


def test_a_window_begins_at_the_full_hour_and_ends_five_hours_later(tmp_path: Path) -> None:
    home = written(tmp_path, at(10, "09:40"), at(10, "13:59"), at(10, "14:00"), at(10, "18:59"))
    first, second = blocks_of(home, tmp_path)
    assert (first.start, first.tokens.requests) == (datetime(2026, 6, 10, 9, tzinfo=UTC), 2)
    assert (second.start, second.tokens.requests) == (datetime(2026, 6, 10, 14, tzinfo=UTC), 2)


def test_the_next_window_begins_with_the_next_request(tmp_path: Path) -> None:
    home = written(tmp_path, at(10, "09:40"), at(10, "16:20"), at(12, "08:01"))
    blocks = blocks_of(home, tmp_path)
    assert [block.start.hour for block in blocks] == [9, 16, 8]
    assert [block.idle for block in blocks] == [
        None,
        timedelta(hours=6, minutes=40),
        timedelta(days=1, hours=15, minutes=41),
    ]


def test_what_is_chosen_moves_no_window(tmp_path: Path) -> None:
    home = written(tmp_path, at(10, "09:40"), at(10, "12:10"))
    (block,) = blocks_of(home, tmp_path, since="2026-06-10T12:00")
    assert (block.start.hour, block.tokens.requests, block.first.hour) == (9, 1, 12)


def test_a_rate_goes_from_the_first_request_until_now() -> None:
    start = datetime(2026, 6, 15, 9, tzinfo=UTC)
    block = Block(
        "some", start, start.replace(minute=30), start, Tokens(requests=9, total=9_000, cost=Decimal(3)), ()
    )
    burn = block.burn(start.replace(hour=11))
    assert burn is not None
    assert burn.tokens_per_minute == pytest.approx(100)
    assert burn.cost_per_hour == Decimal(2)
    assert burn.left == timedelta(hours=3)
    assert burn.projected_tokens == 9_000 + 3 * 60 * 100
    assert burn.projected_cost == Decimal(9)


def test_a_window_that_is_over_has_no_rate() -> None:
    start = datetime(2026, 6, 15, 9, tzinfo=UTC)
    block = Block("some", start, start, start, Tokens(requests=1, total=1), ())
    assert block.burn(start + LENGTH) is None
    assert block.burn(start - timedelta(seconds=1)) is None
    assert block.burn(start) is not None


def test_what_is_not_recorded_has_no_rate() -> None:
    start = datetime(2026, 6, 15, 9, tzinfo=UTC)
    burn = Block("some", start, start, start, Tokens(unmeasured=1), ()).burn(start)
    assert burn is not None
    assert (burn.tokens_per_minute, burn.cost_per_hour, burn.projected_tokens) == (None, None, None)


@pytest.mark.parametrize("requests", [1, 7, 31, 201])
def test_the_present_window_is_the_last_of_all_however_long_somebody_worked_without_a_pause(
    tmp_path: Path, requests: int
) -> None:
    # With a request each four hours no window is preceded by a pause that tells where it began.
    moments = [NOW - timedelta(hours=4 * step, minutes=10) for step in range(requests)]
    written(tmp_path, *(f"{moment:%Y-%m-%dT%H:%M:%S.000Z}" for moment in reversed(moments)))
    with Library([tmp_path], tmp_path / "data") as library:
        every = library.blocks(StatsQuestion(), NOW)
        present = library.present(NOW)
    assert present.blocks == [block._replace(idle=None) for block in every.active(NOW)]
    assert len(present.blocks) == 1


def test_a_request_that_is_dated_later_than_now_moves_no_window(tmp_path: Path) -> None:
    now = datetime(2026, 6, 3, 16, 0, tzinfo=UTC)
    moments = (at(3, "09:30"), at(3, "13:10"), at(3, "15:20"))
    home = written(tmp_path / "home", *moments, at(4, "09:00"))
    with Library([home], tmp_path / "data") as library:
        active = library.blocks(StatsQuestion(), now).active(now)
        assert [block.start for block in library.present(now).blocks] == [block.start for block in active]
        assert [block.start.hour for block in active] == [15]


@pytest.mark.parametrize(
    ("said", "now", "requests"),
    [
        ("2026-03-28T22:30:00.000Z", datetime(2026, 3, 29, 10, 0, tzinfo=UTC), 0),
        ("2026-10-24T22:30:00.000Z", datetime(2026, 10, 25, 10, 0, tzinfo=UTC), 1),
    ],
    ids=["spring", "autumn"],
)
def test_today_begins_at_midnight_also_when_clocks_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, now: datetime, requests: int
) -> None:
    home = written(tmp_path / "home", said)
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "Europe/Berlin")
        time.tzset()
        with Library([home], tmp_path / "data") as library:
            assert library.present(now).today.requests == requests
    time.tzset()
