"""Statistics: groups add up to the total, whatever they are grouped by; each request counts once."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from itertools import groupby, permutations
from pathlib import Path

import pytest

from geminids.core.model import Session, SessionKind, ToolCall, ToolStatus, Usage
from geminids.library import Library
from geminids.query.usage.amounts import Amounts
from geminids.query.usage.figures import Figures, amounts_of
from geminids.query.usage.stats import STATS_GROUPS, Statistics, StatsQuestion
from geminids.storage.codec.estimates import estimates
from geminids.storage.index import totals
from geminids.storage.index.reader import Condition
from geminids.storage.index.schema import USAGE
from geminids.storage.index.totals import Scope
from geminids.storage.index.usage import IDLE, SUMS, sum_up_aside
from tests.conftest import FIXTURES, NOW
from tests.support import claude_lines
from tests.support.connections import to_be_closed
from tests.support.homes import tool_call, write_session

SECOND_ID = "2e0c9a2b-0000-4000-8000-000000000002"
CASES = ["tool-calls-jsonl-2", "subagents-nested-jsonl", "rewind-jsonl-2", "errors", "compress-checkpoint"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Several recorded homes of Gemini CLI as one."""
    folder = tmp_path_factory.mktemp("several")
    for case in CASES:
        shutil.copytree(FIXTURES / "gemini" / case / "home", folder, dirs_exist_ok=True)
    return folder


@pytest.fixture
def library(home: Path, tmp_path: Path) -> Iterator[Library]:
    with Library([home], tmp_path / "data") as opened:
        yield opened


def read(library: Library) -> list[Session]:
    return [library.session(summary.id) for summary in library.sessions()]


def test_a_session_in_which_nothing_was_done_is_one(tmp_path: Path) -> None:
    claude_lines.write(tmp_path / "home", claude_lines.user("u1", None, "Injected.", isMeta=True))
    with Library([tmp_path / "home"], tmp_path / "data") as library:
        found = library.stats(StatsQuestion(), NOW)
    assert (found.total.sessions, found.total.prompts) == (1, 0)
    assert found.kinds == {"main": 1}


def test_the_total_is_that_of_the_sessions(library: Library) -> None:
    sessions = read(library)
    total = library.stats(StatsQuestion(), NOW).total
    used = Usage.sum(session.usage for session in sessions)
    assert total.tokens.requests == used.requests > 10
    assert {kind: getattr(total.tokens, kind) for kind in USAGE} == {
        kind: getattr(used, kind) for kind in USAGE
    }
    calls = [part for s in sessions for m in s.messages for part in m.parts if isinstance(part, ToolCall)]
    assert total.calls == sum(session.counts.tool_calls for session in sessions) == len(calls)
    assert total.errors == [call.status for call in calls].count(ToolStatus.ERROR) > 0
    assert total.prompts == sum(session.counts.prompts for session in sessions)
    assert total.replies == sum(session.counts.replies for session in sessions)
    assert total.subagents == [session.kind for session in sessions].count(SessionKind.SUBAGENT) > 0
    changed = {change.path for call in calls if call.status is ToolStatus.SUCCESS for change in call.changes}
    assert total.files == len(changed) > 0


@pytest.mark.parametrize("by", STATS_GROUPS)
def test_groups_add_up_to_the_total(library: Library, by: str) -> None:
    found = library.stats(StatsQuestion(by=by, fold=by != "session"), NOW)
    figures = [group.figures for group in found.groups]
    assert figures
    if by != "tool":
        for kind in (*USAGE, "requests", "unmeasured", "unpriced"):
            known = [n for group in figures if (n := getattr(group.tokens, kind)) is not None]
            assert (sum(known) if known else None) == getattr(found.total.tokens, kind), kind
        costs = [group.tokens.cost for group in figures if group.tokens.cost is not None]
        assert sum(costs, Decimal(0)) == (found.total.tokens.cost or 0)
    if by != "model":
        for name in ("calls", "errors", "cancelled"):
            assert sum(getattr(group, name) for group in figures) == getattr(found.total, name), name
    if by not in ("model", "tool"):
        for name in ("prompts", "replies", "active"):
            assert sum(getattr(group, name) for group in figures) == getattr(found.total, name), name
    days = [tokens.total for _, tokens in found.days if tokens.total is not None]
    assert sum(days) == found.total.tokens.total


@pytest.mark.parametrize(
    "by",
    [
        *(
            f"{one},{other}"
            for one, other in permutations(STATS_GROUPS, 2)
            if {one, other} != {"model", "tool"}
        ),
        "month,model,project",
        "agent,tool,day",
    ],
)
def test_several_groupings_divide_the_groups_of_the_first(library: Library, by: str) -> None:
    first = by.partition(",")[0]
    several, alone = library.stats(StatsQuestion(by=by), NOW), library.stats(StatsQuestion(by=first), NOW)
    assert several.total == alone.total
    assert several.groupings == by.split(",")
    together: dict[str, list[Figures]] = {}
    for group in several.groups:
        assert len(group.names) == len(several.groupings)
        together.setdefault(group.key, []).append(group.figures)
    assert len({group.names for group in several.groups}) == len(several.groups)
    # Groups of the first grouping stand together, in the order that they have alone; with tools by calls.
    as_alone = [group.key for group in alone.groups if group.key in together]
    assert list(dict(groupby(several.groups, lambda group: group.key))) == list(together)
    assert list(together) == as_alone or "tool" in by
    for group in alone.groups:
        parts = together.get(group.key, [])
        if "tool" in by:
            assert sum(part.calls for part in parts) == group.figures.calls
            continue
        for kind in ("requests", "unmeasured", "total", "cost"):
            known = [n for part in parts if (n := getattr(part.tokens, kind)) is not None]
            assert sum(known) == (getattr(group.figures.tokens, kind) or 0), kind
        if "model" not in by:
            assert sum(part.prompts for part in parts) == group.figures.prompts


def test_sessions_of_several_groupings_are_in_each_group_once(library: Library) -> None:
    found = library.stats(StatsQuestion(by="agent,model"), NOW)
    alone = library.stats(StatsQuestion(by="model"), NOW)
    assert found.grouped_sessions == alone.grouped_sessions
    assert {group.names[1]: group.figures for group in found.groups} == {
        group.names[0]: group.figures for group in alone.groups
    }


@pytest.mark.parametrize("group", ["day", "week", "month", "model", "all"])
def test_what_is_summed_up_by_day_is_what_sessions_come_to(home: Path, tmp_path: Path, group: str) -> None:
    for day in (1, 3, 4, 31):
        changed = tool_call("write_file", args={"file_path": f"/a/{day % 2}", "content": "x"})
        for number in range(day % 3 + 1):
            native_id = f"{day:06}{number:02}-0000-4000-8000-000000000000"
            write_session(tmp_path, native_id, day=day, calls=[changed])
    index = to_be_closed(Library([home, tmp_path], tmp_path / "data"))._context.index.open()
    first, last = totals.span(index, Scope()) or (0, 0)
    assert first < last
    every_session = [Condition("s.id IS NOT NULL")]
    for bounds in ((None, None), (first + 1, None), (first, last - 1), (None, first - 1)):
        summed = Scope(first=bounds[0], last=bounds[1])
        counted = summed._replace(conditions=every_session)
        assert (summed.is_of_all, counted.is_of_all) == (True, False)
        if group != "all":
            assert totals.spent(index, summed, group) == totals.spent(index, counted, group)
        assert totals.span(index, summed) == totals.span(index, counted)
        if group != "model":
            assert totals.done(index, summed, group) == totals.done(index, counted, group)
            assert totals.files(index, summed, group) == totals.files(index, counted, group)


def test_from_a_moment_on_sums_are_what_all_messages_come_to(home: Path, tmp_path: Path) -> None:
    around_midnight = ["2026-05-09T23:56:30Z", "2026-05-09T23:59:30Z", "2026-05-10T00:01:00Z"]
    claude_lines.write(
        tmp_path / "home",
        *(
            claude_lines.user(f"u{number}", None, "On we go.", timestamp=at)
            for number, at in enumerate([*around_midnight, "2026-05-12T08:00:00Z"])
        ),
    )
    library = to_be_closed(Library([home, tmp_path / "home"], tmp_path / "data"))
    index = library._context.index.open()

    def aside(since: int, *conditions: Condition) -> dict[str, list[object]]:
        sum_up_aside(index, since, None, conditions)
        return {table: sorted(index.connection.execute(f"SELECT * FROM temp.{table}")) for table in SUMS}

    moments = [at for (at,) in index.connection.execute("SELECT at FROM messages WHERE at IS NOT NULL")]
    assert len(moments) > 50
    beside = [at + after for at in moments for after in (-IDLE, -1, 0, 1, IDLE)]
    beside += [-62_135_596_800_000_000, 253_402_300_680_000_000, 253_402_320_000_000_000]
    days = {since: aside(since) for since in beside}
    assert any(sums["days"] for sums in days.values())
    assert days == {since: aside(since, Condition("1")) for since in beside}


def test_subagents_count_as_their_parents_or_stand_alone(library: Library) -> None:
    folded = library.stats(StatsQuestion(by="session"), NOW)
    apart = library.stats(StatsQuestion(by="session", fold=False), NOW)
    assert folded.total == apart.total
    assert len(apart.groups) - len(folded.groups) == apart.total.subagents > 0
    parents = {group.key: group.figures for group in folded.groups if group.figures.subagents}
    alone = {group.key: group.figures for group in apart.groups}
    for parent, figures in parents.items():
        assert (figures.tokens.total or 0) > (alone[parent].tokens.total or 0)


@pytest.mark.parametrize("by", STATS_GROUPS)
def test_sessions_are_those_that_a_human_led(library: Library, by: str) -> None:
    sessions = read(library)
    found = library.stats(StatsQuestion(by=by), NOW)
    led = [session for session in sessions if session.kind is not SessionKind.SUBAGENT]
    assert found.total.sessions == len(led)
    assert max(group.figures.sessions for group in found.groups) <= found.grouped_sessions <= len(led)
    if by not in ("model", "tool"):
        return
    for group in found.groups:
        having = [session for session in sessions if group.key in _named(session, by)]
        subagents = [session for session in having if session.kind is SessionKind.SUBAGENT]
        assert group.figures.sessions == len(having) - len(subagents), group.key
        assert group.figures.subagents == len(subagents), group.key
    assert found.grouped_sessions == sum(bool(_named(session, by)) for session in led)


def _named(session: Session, by: str) -> set[str | None]:
    """The tools that a session called, or the models that answered in it."""
    if by == "model":
        guessed = estimates(session)
        return {message.model for message in session.messages if message.usage or message.id in guessed}
    return {part.name for message in session.messages for part in message.parts if isinstance(part, ToolCall)}


def test_some_groups_together_are_what_adds_up_of_them(library: Library) -> None:
    found = library.stats(StatsQuestion(by="session", fold=False), NOW)
    first, *others = found.groups
    rest = found.together(others)
    assert (rest.sessions, rest.subagents, rest.files) == (0, 0, 0)
    assert rest.replies == found.total.replies - first.figures.replies > 0
    for kind in ("requests", "input", "total", "cost", "unpriced"):
        whole, part = getattr(found.total.tokens, kind), getattr(first.figures.tokens, kind)
        assert getattr(rest.tokens, kind) == whole - (part or 0), kind


def test_a_query_narrows_the_sessions(library: Library) -> None:
    sessions = read(library)
    found = library.stats(StatsQuestion(by="session", words="is:subagent", fold=False), NOW)
    agents = {session.id for session in sessions if session.kind is SessionKind.SUBAGENT}
    assert {group.key for group in found.groups} == agents
    model = next(session.models[0] for session in sessions if session.models)
    narrowed = library.stats(StatsQuestion(by="model", words=f"model:{model}"), NOW)
    assert {group.key for group in narrowed.groups} == {
        name for session in sessions for name in session.models if model in name
    }
    assert library.stats(StatsQuestion(words="model:nobody"), NOW).total.sessions == 0


# Homes of our own


def stats(home: Path, data: Path, **question: object) -> Statistics:
    with Library([home], data) as library:
        return library.stats(StatsQuestion(**question), NOW)  # type: ignore[arg-type]


def test_words_narrow_the_sessions_too(tmp_path: Path) -> None:
    write_session(tmp_path, prompt="Paint the shed")
    write_session(tmp_path, SECOND_ID, prompt="Fix the roof", day=2)
    found = stats(tmp_path, tmp_path / "data", by="session", words="roof")
    assert [group.key for group in found.groups] == [f"gemini:{SECOND_ID}"]
    assert found.total.tokens.total == 12


def test_days_are_those_of_the_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_session(tmp_path, day=3)
    assert [group.key for group in stats(tmp_path, tmp_path / "data").groups] == ["2026-05-03"]
    for zone, day in (
        ("Pacific/Kiritimati", "2026-05-04"),
        ("Asia/Kathmandu", "2026-05-03"),
        ("UTC+11", "2026-05-02"),
    ):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        found = stats(tmp_path, tmp_path / "data")
        assert [group.key for group in found.groups] == [day]
        assert found.total.prompts == 1


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_both_ends_of_time_are_moments(library: Library, monkeypatch: pytest.MonkeyPatch, zone: str) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        every = library.stats(StatsQuestion(), NOW).total
        for first in ("0001-01-01", "0001-01-01T00:30"):
            assert library.stats(StatsQuestion(since=first), NOW).total == every
        for last in ("9999-12-31", "9999-12-31T23:58"):
            assert library.stats(StatsQuestion(until=last), NOW).total == every
            assert library.stats(StatsQuestion(since=last), NOW).total.prompts == 0
    finally:
        monkeypatch.undo()
        time.tzset()


def test_weeks_begin_on_mondays_and_months_on_the_first(tmp_path: Path) -> None:
    for day in (1, 3, 4, 31):
        write_session(tmp_path, f"{day:08}-0000-4000-8000-000000000000", day=day)
    weeks = [group.key for group in stats(tmp_path, tmp_path / "data", by="week").groups]
    assert weeks == ["2026-04-27", "2026-05-04", "2026-05-25"]
    assert all(date.fromisoformat(week).weekday() == 0 for week in weeks)
    months = stats(tmp_path, tmp_path / "data", by="month").groups
    assert [(group.key, group.figures.sessions) for group in months] == [("2026-05-01", 4)]


def test_only_what_happened_in_a_span_counts(tmp_path: Path) -> None:
    for day in (1, 2, 3):
        write_session(tmp_path, f"{day:08}-0000-4000-8000-000000000000", day=day)
    data = tmp_path / "data"
    assert stats(tmp_path, data, since="2026-05-02", until="2026-05-02").total.sessions == 1
    # The prompt is of 10:00:01 and the answer of 10:05.
    begun = stats(tmp_path, data, since="2026-05-02", until="2026-05-02T10:02").total
    assert (begun.prompts, begun.replies, begun.tokens.requests) == (1, 0, 0)
    assert stats(tmp_path, data).total.sessions == 3


def test_pauses_are_no_work(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for minute, ident in ((8, "a"), (30, "b"), (31, "c")):
        records.append(
            {
                "id": ident,
                "timestamp": f"2026-05-01T10:{minute:02}:00.000Z",
                "type": "user",
                "content": [{"text": ident}],
            }
        )
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    # Four minutes and 59 seconds, three minutes, a pause, one minute.
    assert stats(tmp_path, tmp_path / "data").total.active == (299 + 180 + 60) * 1_000_000


def test_what_nobody_recorded_is_estimated_apart(tmp_path: Path) -> None:
    path = write_session(tmp_path, answer="x" * 400)
    records = [json.loads(line) for line in path.read_text().splitlines()]
    del records[2]["tokens"]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    plain = stats(tmp_path, tmp_path / "data").total
    assert plain.estimated is None
    assert (plain.tokens.requests, plain.tokens.total, plain.tokens.cost) == (0, None, None)
    guessed = stats(tmp_path, tmp_path / "data", estimate=True).total
    assert guessed.tokens == plain.tokens
    assert guessed.estimated is not None
    assert guessed.estimated.output == 100
    by_model = stats(tmp_path, tmp_path / "data", by="model")
    assert [group.figures.sessions for group in by_model.groups] == [by_model.grouped_sessions] == [1]
    assert guessed.estimated.input == 6
    assert guessed.estimated.requests == 1


@pytest.mark.parametrize("by", [by for by in STATS_GROUPS if by != "tool"])
def test_replies_without_recorded_tokens_are_no_requests(tmp_path: Path, by: str) -> None:
    for number, tokens in enumerate([None, {"cached": 5}, {"input": 10, "output": 2, "total": 12}]):
        path = write_session(tmp_path, f"{number:08}-0000-4000-8000-000000000000", day=number + 1)
        records = [json.loads(line) for line in path.read_text().splitlines()]
        records[2]["tokens"] = tokens
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    found = stats(tmp_path, tmp_path / "data", by=by)
    for figures in ([found.total], [group.figures for group in found.groups]):
        assert sum(one.tokens.requests for one in figures) == 1
        assert sum(one.tokens.unmeasured for one in figures) == 2
        assert sum(one.tokens.unpriced for one in figures) <= 1
    assert [model.requests for model in found.unpriced] in ([], [1])


def test_what_used_no_tokens_costs_nothing() -> None:
    failed = Usage(1, 0, 0, 0, 0, total=0, cache_write_hour=22)
    assert amounts_of(failed) == Amounts()
    written = Usage(1, 100, 10, 50, 5, total=105, cache_write_hour=20)
    assert amounts_of(written) == Amounts(fresh=40, cached=10, cache_write=30, cache_write_hour=20, output=5)


def test_the_facts_of_an_index_count_folders_once(tmp_path: Path) -> None:
    for number, slug in enumerate(("one", "two", "three")):
        folder = "/home/ada/dev/shop" if slug != "three" else None
        write_session(tmp_path, f"{number:08}-0000-4000-8000-000000000000", slug=slug, project=folder)
    with Library([tmp_path], tmp_path / "data") as library:
        assert library.index_facts().projects == len(library.projects().projects) == 2


def test_declined_changes_do_not_count(tmp_path: Path) -> None:
    def edit(name: str, status: str) -> dict[str, object]:
        shown = {
            "fileDiff": "@@ -1 +1,2 @@\n-a\n+b\n+c",
            "fileName": name,
            "originalContent": "a",
            "newContent": "b\nc",
        }
        return tool_call(
            "replace", id=f"replace__{name}", status=status, args={"file_path": name}, resultDisplay=shown
        )

    write_session(tmp_path, calls=[edit("one.py", "success"), edit("two.py", "cancelled")])
    total = stats(tmp_path, tmp_path / "data").total
    assert (total.files, total.added, total.removed) == (1, 2, 1)
    assert (total.calls, total.cancelled) == (2, 1)
    (tool,) = stats(tmp_path, tmp_path / "data", by="tool").groups
    assert (tool.key, tool.figures.files, tool.figures.calls) == ("replace", 1, 2)


def test_a_price_of_ones_own_counts(tmp_path: Path) -> None:
    write_session(tmp_path)
    data = tmp_path / "data"
    data.mkdir()
    (data / "settings.toml").write_text('[prices."gemini-3-pro"]\ninput = 100\noutput = 200\n')
    found = stats(tmp_path, data)
    assert found.total.tokens.cost == Decimal("0.0014")
    assert found.basis.overrides == ("gemini-3-pro",)


def test_a_model_without_a_price_is_named(tmp_path: Path) -> None:
    path = write_session(tmp_path)
    path.write_text(path.read_text().replace("gemini-3-pro", "some-model-of-mine"))
    found = stats(tmp_path, tmp_path / "data")
    assert found.total.tokens.total == 12
    assert found.total.tokens.cost is None
    assert [(one.model, one.requests) for one in found.unpriced] == [("some-model-of-mine", 1)]
    assert found.unpriced[0].reason


def test_no_file_of_an_agent_is_opened(tmp_path: Path) -> None:
    path = write_session(tmp_path / "home")
    before = stats(tmp_path / "home", tmp_path / "data").total
    path.unlink()
    with Library([tmp_path / "home"], tmp_path / "data", sync=False) as library:
        assert library.stats(StatsQuestion(), NOW).total == before


def test_one_project_is_one_group(library: Library) -> None:
    found = library.stats(StatsQuestion(by="project"), NOW)
    paths = [group.key for group in found.groups]
    assert len(paths) == len(set(paths))
    assert set(paths) == {
        summary.project.path or summary.project.hash or summary.project.slug for summary in library.sessions()
    }
