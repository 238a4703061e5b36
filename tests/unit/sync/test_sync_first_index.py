"""A first index: the newest sessions can be asked for at once, the rest follows, and that is said."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from geminids.core.errors import SessionNotFoundError
from geminids.library import Library
from geminids.query.sessions.listing import Filter
from geminids.query.usage.stats import StatsQuestion
from geminids.storage.index.writer import Writer
from geminids.sync.values import Outcome
from tests.conftest import FIXTURES, NOW
from tests.support.connections import to_be_closed
from tests.support.homes import write_session
from tests.support.indexes import Connected, assert_equals_a_fresh_build, index_file, sync

SESSIONS = 9


@pytest.fixture(autouse=True)
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small homes are taken in as large ones are: in many steps."""
    for name in ("intake.STEP", "intake.STEP_IN_TIME", "FIRST_STEP"):
        monkeypatch.setattr(f"geminids.sync.{name}", 1)


def native_id(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-000000000000"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Sessions in three projects, of which the larger numbers are newer."""
    for number in range(SESSIONS):
        slug, prompt = f"p{number % 3}", f"word{number} everywhere"
        path = write_session(tmp_path / "home", native_id(number), slug=slug, day=1 + number, prompt=prompt)
        os.utime(path, (1_000_000 + number, 1_000_000 + number))
    return tmp_path / "home"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


class Asking:
    """A library that may answer early, and what it said and began meanwhile."""

    def __init__(self, home: Path, data: Path, *, sync: bool = True) -> None:
        self.said: list[str] = []
        self.began = 0
        self.library = to_be_closed(
            Library([home], data, sync=sync, tell=self.said.append, behind=self._begin)
        )

    def _begin(self) -> None:
        self.began += 1

    def numbers(self) -> list[int]:
        """The numbers of the sessions that are listed."""
        return [int(row.native_id[:8], 16) for row in self.library.listing(Filter()).sessions]


def sync_a_little(home: Path, data: Path) -> Outcome:
    """One step, as a command takes it that has no time."""
    with Library([home], data) as library:
        index, outcome = library._context.sync.up_to_date(budget=0.0)
        index.close()
    return outcome


def test_while_steps_follow_no_checksum_stands_beside_the_index(
    home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader would compare the index with it in the moment in which the journal is moved into it."""
    stood: list[bool] = []
    real = Writer.commit

    def committing(writer: Writer) -> None:
        real(writer)
        stood.extend(file.suffix == ".sum" for file in (data / "index").iterdir())

    monkeypatch.setattr(Writer, "commit", committing)
    sync([home], data)
    assert stood
    assert not any(stood)
    assert Path(f"{index_file([home], data)}.sum").exists()


def test_the_newest_are_told_at_once_and_that_there_are_more(home: Path, data: Path) -> None:
    asking = Asking(home, data)
    assert asking.numbers() == [SESSIONS - 1]
    assert asking.library.to_come() == SESSIONS - 1
    assert asking.began == 1
    (said,) = asking.said
    assert f"{SESSIONS - 1} more sessions are still to be read" in said
    assert asking.library.search("everywhere").total.sessions == 1
    assert asking.library.session("latest").native_id == native_id(SESSIONS - 1)


def test_what_is_drawn_while_the_newest_are_read_is_wiped_out(home: Path, data: Path) -> None:
    heard: list[tuple[int, int]] = []
    library = to_be_closed(
        Library([home], data, progress=lambda *how: heard.append(how), behind=lambda: None)
    )
    assert library.to_come() == SESSIONS - 1
    (done, total), (last, of) = heard
    assert done < total == last == of


def test_the_rest_follows_the_newest_first(home: Path, data: Path) -> None:
    seen = []
    while sync_a_little(home, data).left:
        seen.append(Asking(home, data, sync=False).numbers())
    assert seen == [list(range(SESSIONS - 1, SESSIONS - 1 - step, -1)) for step in range(1, SESSIONS)]
    asking = Asking(home, data)
    assert asking.numbers() == list(range(SESSIONS - 1, -1, -1))
    assert (asking.said, asking.began, asking.library.to_come()) == ([], 0, 0)
    assert_equals_a_fresh_build([home], data, data.with_name("fresh"))


def test_who_takes_the_index_as_it_is_hears_it_too(home: Path, data: Path) -> None:
    sync_a_little(home, data)
    asking = Asking(home, data, sync=False)
    assert len(asking.numbers()) == 1
    assert "still to be read" in asking.said[0]
    assert asking.began == 0


def test_what_adds_up_waits_for_all(home: Path, data: Path) -> None:
    sync_a_little(home, data)
    said: list[str] = []
    with Library([home], data, tell=said.append) as library:
        assert library.stats(StatsQuestion(), NOW).total.sessions == SESSIONS
    assert said == []


def test_a_sync_takes_in_all_and_says_how_far_it_is(home: Path, data: Path) -> None:
    heard: list[tuple[int, int]] = []
    with Library([home], data, progress=lambda done, total: heard.append((done, total))) as library:
        outcome = library.sync()
    assert (outcome.built, outcome.bundles, outcome.left) == (True, SESSIONS, 0)
    assert outcome.bytes == sum(path.stat().st_size for path in home.rglob("*.jsonl"))
    assert len(set(heard)) == SESSIONS + 1, "what is drawn of the newest is wiped out before the rest is read"
    assert heard[-1][0] == heard[-1][1]
    assert_equals_a_fresh_build([home], data, data.with_name("fresh"))


def test_that_there_is_no_such_session_is_said_when_all_are_known(home: Path, data: Path) -> None:
    asking = Asking(home, data)
    assert asking.numbers() == [SESSIONS - 1]
    assert asking.library.session(native_id(0)).native_id == native_id(0)
    assert asking.library.to_come() == 0
    with pytest.raises(SessionNotFoundError):
        asking.library.session("ffffffff")


def test_a_substring_is_found_in_what_came_later_with_smaller_numbers(home: Path, data: Path) -> None:
    found = []
    while True:
        left = sync_a_little(home, data).left
        found.append(Asking(home, data, sync=False).library.search("*verywher*").total.sessions)
        if not left:
            break
    assert found == list(range(1, SESSIONS + 1))


def test_what_is_written_meanwhile_comes_before_what_is_older(home: Path, data: Path) -> None:
    sync_a_little(home, data)
    write_session(home, native_id(99), slug="p0", day=28)
    sync_a_little(home, data)
    assert Asking(home, data, sync=False).numbers() == [99, SESSIONS - 1]
    sync([home], data)
    assert_equals_a_fresh_build([home], data, data.with_name("fresh"))


def test_what_is_deleted_meanwhile_is_not_waited_for(home: Path, data: Path) -> None:
    sync_a_little(home, data)
    for path in sorted(home.rglob("*.jsonl"), key=os.path.getmtime)[:-1]:
        path.unlink()
    asking = Asking(home, data)
    assert asking.numbers() == [SESSIONS - 1]
    assert (asking.said, asking.library.to_come()) == ([], 0)


def test_newer_messages_have_larger_numbers(home: Path, data: Path) -> None:
    sync([home], data)
    with Connected(index_file([home], data)) as database:
        found = database.execute(
            "SELECT native_id FROM messages JOIN sessions ON sessions.id = session ORDER BY messages.id"
        )
        assert [int(name[:8], 16) for (name,) in found] == sorted([*range(SESSIONS)] * 2)


def test_numbers_that_were_left_free_and_do_not_suffice_cost_the_order_alone(
    home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("geminids.sync.intake._MESSAGES_A_BUNDLE", 1)
    monkeypatch.setattr("geminids.sync.intake._BYTES_A_MESSAGE", 10**9)
    while sync_a_little(home, data).left:
        pass
    assert_equals_a_fresh_build([home], data, data.with_name("fresh"))


@pytest.fixture
def being_written(home: Path, data: Path) -> Iterator[None]:
    """A while in which another process writes the index."""
    with Library([home], data) as library:
        place = library._context.place()
    assert place
    has_begun, may_end = Event(), Event()

    def write() -> None:
        with place.alone():
            has_begun.set()
            may_end.wait(20)

    thread = Thread(target=write)
    thread.start()
    has_begun.wait(20)
    yield
    may_end.set()
    thread.join()


def test_who_asks_while_another_reads_the_rest_is_answered_at_once(
    home: Path, data: Path, request: pytest.FixtureRequest
) -> None:
    sync_a_little(home, data)
    request.getfixturevalue("being_written")
    asking = Asking(home, data)
    assert asking.numbers() == [SESSIONS - 1]
    assert len(asking.said) == 1
    assert "still to be read" in asking.said[0]
    assert asking.began == 0, "another process is at it"


@pytest.mark.usefixtures("being_written")
def test_who_asks_while_another_begins_waits_for_the_newest_alone(home: Path, data: Path) -> None:
    other = data.with_name("other")
    sync_a_little(home, other)
    answers: list[list[int]] = []
    asking = Asking(home, data)
    thread = Thread(target=lambda: answers.append(asking.numbers()))
    thread.start()
    thread.join(0.3)
    assert not answers
    # As the other process would put it there, whose lock stays held.
    for file in (other / "index").glob("*.db"):
        Path(shutil.copy(file, data / "copied")).replace(data / "index" / file.name)
    thread.join(20)
    assert answers == [[SESSIONS - 1]]


def test_an_index_that_can_be_read_stays_until_the_new_one_is_whole(
    home: Path, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync([home], data)
    seen: list[int] = []

    def hear(_: int, __: int) -> None:
        seen.append(len(Asking(home, data, sync=False).numbers()))

    with Library([home], data, progress=hear) as library:
        library.sync(full=True)
    assert seen == [SESSIONS] * SESSIONS


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_steps_come_to_the_same_as_all_at_once(agent: str, data: Path) -> None:
    homes = sorted((FIXTURES / agent).glob("*/home"))
    sync(homes, data)
    assert_equals_a_fresh_build(homes, data, data.with_name("fresh"))


def test_a_request_that_several_sessions_hold_is_never_counted_twice(tmp_path: Path) -> None:
    home, data = tmp_path / "home", tmp_path / "data"
    shutil.copytree(FIXTURES / "claude" / "fork" / "home", home)
    files = list(home.glob(".claude/projects/*/*.jsonl"))
    whole = to_be_closed(Library([home], tmp_path / "whole")).stats(StatsQuestion(), NOW).total.tokens
    for newest in files:
        for file in files:
            os.utime(file, (2_000_000 + (file == newest), 2_000_000 + (file == newest)))
        totals = []
        while True:
            left = sync_a_little(home, data).left
            with Library([home], data, sync=False) as library:
                totals.append(library.stats(StatsQuestion(), NOW).total.tokens.requests)
            if not left:
                break
        assert len(totals) == len(files)
        assert totals == sorted(totals)
        assert totals[-1] == whole.requests
        shutil.rmtree(data)


BUILD = """
import sys
import geminids.sync
from geminids.library import Library
from geminids.sync import intake
geminids.sync.FIRST_STEP = intake.STEP = 200_000
with Library(sys.argv[3:], sys.argv[1]) as library:
    library.sync(full=sys.argv[2] == "full")
"""


@pytest.mark.usefixtures("without_copies")
@pytest.mark.parametrize("how", ["first", "full"])
@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_two_builds_of_a_home_are_the_same_byte_for_byte(agent: str, how: str, tmp_path: Path) -> None:
    homes = sorted((FIXTURES / agent).glob("*/home"))
    made = []
    for seed in ("1", "2"):
        data = tmp_path / seed
        line = [sys.executable, "-c", BUILD, str(data), how, *map(str, homes)]
        subprocess.run(line, check=True, timeout=60, env={**os.environ, "PYTHONHASHSEED": seed})
        made.append(index_file(homes, data).read_bytes())
    assert len(made[0]) > 100_000
    assert made[0] == made[1]
