"""Sessions whose files could not be read completely: every face says that their numbers are lower bounds."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from geminids.core.model import Problem, ProblemKind
from geminids.library import Library
from geminids.query.usage.figures import Figures
from geminids.query.usage.stats import STATS_GROUPS, StatsQuestion
from tests.conftest import FIXTURES, Run
from tests.support.long_files import RECORDED, SETTINGS, write_long
from tests.support.mcp_clients import asked, calls, text_of
from tests.support.tables import table, write_tables
from tests.support.terminal import on_terminal
from tests.support.web_apps import client_of

AT_LEAST = "at least: 1 session could not be read completely (damaged or too large)"


@pytest.fixture(scope="module", params=RECORDED)
def home(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one session whose file is too large."""
    folder = tmp_path_factory.mktemp(request.param)
    write_long(folder, request.param)
    return folder


@pytest.fixture(scope="module")
def long_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of one agent, for what is the same of all."""
    folder = tmp_path_factory.mktemp("long")
    write_long(folder, "claude")
    return folder


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with a limit that the file goes beyond."""
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "settings.toml").write_text(SETTINGS)
    return folder


def _total(home: Path, data: Path, **question: Any) -> Figures:
    with Library([home], data) as library:
        return library.stats(StatsQuestion(**question)).total


def test_what_is_left_out_of_a_large_file_is_known(home: Path, data: Path, tmp_path: Path) -> None:
    found, whole = _total(home, data), _total(home, tmp_path / "whole")
    assert (found.incomplete, whole.incomplete) == (1, 0)
    assert found.tokens.requests + found.calls < whole.tokens.requests + whole.calls


@pytest.mark.parametrize("by", STATS_GROUPS)
def test_groups_with_such_a_session_are_marked(by: str, long_home: Path, data: Path) -> None:
    with Library([long_home, FIXTURES / "codex/plain/home"], data) as library:
        groups = library.stats(StatsQuestion(by=by)).groups
        marked = [group for group in groups if group.figures.incomplete]
        assert all(group.figures.incomplete == 1 for group in marked)
        of_agent = {group.key for group in library.stats(StatsQuestion(by=by, agents=["claude"])).groups}
        assert {group.key for group in marked} == of_agent


def test_a_session_is_marked_in_all_times_in_which_it_may_have_been_used(long_home: Path, data: Path) -> None:
    with Library([long_home], data) as library:
        (session,) = library.sessions()
    assert session.started_at
    assert session.ended_at
    within = f"{session.started_at:%Y-%m-%d}"
    assert _total(long_home, data, since=within).incomplete == 1
    assert _total(long_home, data, until="2020-01-01").incomplete == 0
    assert _total(long_home, data, since="2037-01-01").incomplete == 0
    assert _total(long_home, data, agents=["codex"]).incomplete == 0


def test_a_damaged_file_may_have_held_more(tmp_path: Path) -> None:
    """A line that cannot be decoded may have been a request."""
    recorded = FIXTURES / "claude/plain/home"
    (file,) = recorded.rglob("*.jsonl")
    path = tmp_path / "home" / file.relative_to(recorded)
    path.parent.mkdir(parents=True)
    lines = file.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], b'{"type":"assistant","message":\n', lines[-1]]))
    assert _total(tmp_path / "home", tmp_path / "data").incomplete == 1
    path.write_bytes(b"".join(lines))
    assert _total(tmp_path / "home", tmp_path / "data").incomplete == 0


def test_files_beside_a_session_do_not_make_it_incomplete(long_home: Path, tmp_path: Path) -> None:
    """An output that was left out holds no tokens and no calls."""
    with Library([long_home], tmp_path / "data") as library:
        session = library.session("latest")
    beside = Problem("/tmp/output.txt", ProblemKind.LEFT_UNREAD, "more outputs than are read of one session")
    own = structs.replace(beside, file=session.files[0].path)
    assert not structs.replace(session, problems=(beside,)).is_incomplete
    assert structs.replace(session, problems=(beside, own)).is_incomplete


# Faces


def test_stats_as_text(long_home: Path, data: Path, geminids: Run) -> None:
    said = geminids("stats", "--home", long_home, "--data", data, "--by", "model").out
    assert AT_LEAST in said
    assert "at least 1 request · at least 2,487 tokens · at least $0.00 list-price" in said
    (row,) = [line for line in said.splitlines() if line.startswith("claude-")]
    assert "≥2,487" in row
    by_tool = geminids("stats", "--home", long_home, "--data", data, "--blocks").out
    assert AT_LEAST in by_tool


def test_stats_of_whole_files_say_nothing(long_home: Path, tmp_path: Path, geminids: Run) -> None:
    said = geminids("stats", "--home", long_home, "--data", tmp_path / "whole").out
    assert "at least" not in said
    assert "≥" not in said


def test_stats_as_json_and_csv(long_home: Path, data: Path, geminids: Run) -> None:
    where = ("--home", long_home, "--data", data)
    document = json.loads(geminids("stats", *where, "--json").out)
    assert document["total"]["incomplete"] == 1
    assert [group["incomplete"] for group in document["groups"]] == [1]
    assert json.loads(geminids("stats", *where, "--blocks", "--json").out)["incomplete"] == 1
    for options in ((), ("--blocks",)):
        (row,) = csv.DictReader(io.StringIO(geminids("stats", *where, "--csv", *options).out))
        assert row["incomplete_sessions"] == "1"


def test_sql(long_home: Path, data: Path, geminids: Run) -> None:
    where = ("--home", long_home, "--data", data)
    for table_name in ("requests", "all_requests"):
        said = geminids("sql", *where, f"select sum(total) from {table_name}").err
        assert "Sums may be too low: 1 session could not be read completely" in said


def test_explanations(long_home: Path, data: Path, geminids: Run) -> None:
    where = ("--home", long_home, "--data", data)
    assert AT_LEAST in geminids("stats", *where, "--explain", "all").out
    assert AT_LEAST in geminids("stats", *where, "--explain", "latest").out
    assert json.loads(geminids("stats", *where, "--explain", "all", "--json").out)["incomplete"] == 1
    assert json.loads(geminids("stats", *where, "--explain", "latest", "--json").out)["incomplete"] is True


def test_the_status_line(long_home: Path, data: Path, geminids: Run) -> None:
    said = geminids("statusline", "--home", long_home, "--data", data).out
    assert "at least $0.00 session" in said


def test_today_in_the_status_line(long_home: Path, data: Path) -> None:
    with Library([long_home], data) as library:
        (session,) = library.sessions()
        assert session.ended_at
        assert library.present(session.ended_at).is_incomplete
        assert not library.present(datetime(2037, 1, 1, tzinfo=UTC)).is_incomplete


def test_lists(long_home: Path, data: Path, geminids: Run) -> None:
    where = ("--home", str(long_home), "--data", str(data))
    (session,) = json.loads(geminids("list", *where, "--json").out)["sessions"]
    assert session["incomplete"] is True
    assert geminids("list", *where).out.rstrip("\n").endswith("\tincomplete")
    assert geminids("list", *where, "--columns", "status").out.split()[-1] == "incomplete"
    drawn = on_terminal("list", *where, "--columns", "title,prompts,tokens,cost", columns=100)
    assert "≥2,487" in drawn
    assert "≥$" in drawn


def test_a_session_that_is_shown(long_home: Path, data: Path, geminids: Run) -> None:
    shown = geminids("show", "latest", "--home", long_home, "--data", data).out
    assert "at least" in shown


def test_tools_of_agents(long_home: Path, data: Path) -> None:
    answers = asked(
        [long_home], data, calls(("usage", {"by": "model"}), ("list_sessions", {"project": "all"}))
    )
    usage, listed = answers
    assert "at least (incomplete sessions: 1) sessions 1" in text_of(usage)
    assert usage.structured_content["total"]["incomplete"] == 1
    assert "at least prompts" in text_of(listed)
    assert listed.structured_content["sessions"][0]["incomplete"] is True


def test_the_web_app(long_home: Path, data: Path) -> None:
    with client_of([long_home], data) as client:
        usage = client.get("/api/usage", params={"by": "model"}).json()
        assert [usage["total"]["incomplete"], *(group["incomplete"] for group in usage["groups"])] == [1, 1]
        (session,) = client.get("/api/sessions").json()["sessions"]
        assert session["incomplete"] is True
        assert client.get("/api/overview", params={"days": 366}).json()["incomplete"] == 1


def test_tables(long_home: Path, data: Path, tmp_path: Path) -> None:
    write_tables(long_home, data, tmp_path / "tables")
    assert [row["incomplete"] for row in table(tmp_path / "tables", "sessions")] == [True]
