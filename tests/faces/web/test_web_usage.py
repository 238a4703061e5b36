"""Usage, as the page asks for it, against sums over the messages of the sessions themselves."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from geminids.core.model import Message, Session, ToolStatus
from geminids.library import open_library
from geminids.sharing.transcript.labels import call_outcome
from tests.conftest import FIXTURES
from tests.support.homes import tool_call, write_session
from tests.support.web_apps import client_of

HOMES = (
    *("claude/tools", "claude/auto-compact", "claude/subagent", "claude/slow"),
    *("codex/tools", "codex/models", "codex/compaction", "gemini/autocompress", "gemini/errors"),
)
"""Without copies of one session in another: those are counted once, which is tested where it is done."""
KINDS = ("input", "cached", "cache_write", "output", "thoughts", "tool", "total")
WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


class Asked(NamedTuple):
    """A client, and all sessions that it is asked about."""

    client: TestClient
    sessions: list[Session]

    def get(self, path: str, **words: Any) -> Any:
        answer = self.client.get(path, params=words)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def requests(self) -> Iterator[tuple[Session, Message]]:
        """Every message of which tokens were recorded."""
        for session in self.sessions:
            for message in session.messages:
                if message.usage and message.usage.total is not None and not message.imported:
                    yield session, message

    def tokens_by(self, key: Callable[[Session, Message], str | None]) -> dict[str | None, int]:
        sums: defaultdict[str | None, int] = defaultdict(int)
        for session, message in self.requests():
            assert message.usage
            sums[key(session, message)] += message.usage.total or 0
        return dict(sums)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    homes = [FIXTURES / name / "home" for name in HOMES]
    data = tmp_path_factory.mktemp("data")
    with pytest.MonkeyPatch.context() as machine:
        machine.setenv("TZ", "UTC")
        time.tzset()
        with client_of(homes, data) as client:
            yield Asked(client, sessions_of(homes, data))


def sessions_of(homes: list[Path], data: Path) -> list[Session]:
    with open_library([str(home) for home in homes], str(data), sync=False) as library:
        return [library.session(row.id) for row in library.sessions()]


def day_of(_: Session, message: Message) -> str:
    assert message.at
    return f"{message.at:%Y-%m-%d}"


def add(tokens: list[dict[str, Any]], kind: str) -> int | None:
    known = [one[kind] for one in tokens if one[kind] is not None]
    return sum(known) if known else None


# Totals


def test_the_total_is_the_sum_over_all_messages(asked: Asked) -> None:
    total = asked.get("/api/usage", by="agent")["total"]["tokens"]
    usages = [message.usage for _, message in asked.requests() if message.usage]
    for kind in KINDS:
        known = [number for usage in usages if (number := getattr(usage, kind)) is not None]
        assert total[kind] == (sum(known) if known else None), kind
    assert total["fresh"] == total["input"] - total["cached"] - total["cache_write"]


@pytest.mark.parametrize(
    ("by", "key"),
    [
        ("agent", lambda session, _: session.agent),
        ("model", lambda _, message: message.model),
        ("project", lambda session, _: session.project.path or session.project.hash),
        ("day", day_of),
    ],
)
def test_groups_are_sums_over_their_messages(asked: Asked, by: str, key: Any) -> None:
    groups = asked.get("/api/usage", by=by, limit=1000)["groups"]
    told = {group["key"]: group["tokens"]["total"] for group in groups if group["tokens"]["total"]}
    assert told == asked.tokens_by(key)


def test_tools_count_their_calls_and_failures(asked: Asked) -> None:
    calls, errors = Counter[str](), Counter[str]()
    for session in asked.sessions:
        for call in (call for one in session.messages if not one.imported for call in one.tool_calls):
            calls[call.name] += 1
            errors[call.name] += call_outcome(call) is ToolStatus.ERROR
    groups = asked.get("/api/usage", by="tool")["groups"]
    assert {group["key"]: group["calls"] for group in groups} == calls
    assert {group["key"]: group["errors"] for group in groups} == errors
    assert any(errors.values()), "nothing failed in any of these homes"
    for group in groups:
        assert group["failure_rate"] == round(group["errors"] / group["calls"], 4)
        assert group["tokens"] is None, "tools use no tokens of their own"


def test_the_largest_sessions_come_first_each_with_its_subagents(asked: Asked) -> None:
    parents = {session.id: session.parent_id for session in asked.sessions}
    tokens = asked.tokens_by(lambda session, _: parents[session.id] or session.id)
    found = asked.get("/api/usage/sessions", limit=5)
    assert [one["tokens"] for one in found["by_tokens"]] == sorted(tokens.values(), reverse=True)[:5]
    assert all(tokens[one["id"]] == one["tokens"] for one in found["by_tokens"])
    lasted = [one["active"] for one in found["by_time"]]
    assert lasted == sorted(lasted, reverse=True)
    by_session = asked.get("/api/usage", by="session", limit=1000)["groups"]
    assert lasted[0] == max(group["active"] for group in by_session)


# Over time


@pytest.mark.parametrize("by", ["day", "week", "month"])
@pytest.mark.parametrize("split", ["model", "agent", "project"])
@pytest.mark.parametrize("limit", [1, 12])
def test_the_parts_of_a_series_add_up(asked: Asked, by: str, split: str, limit: int) -> None:
    series = asked.get("/api/usage/series", by=by, split=split, limit=limit)
    parts = [*series["parts"], *([series["rest"]] if series["rest"] else [])]
    assert len(series["parts"]) <= limit
    assert (series["left_out"] > 0) == (series["rest"] is not None)
    for kind in KINDS:
        assert add(series["points"], kind) == series["total"][kind] == add([p["used"] for p in parts], kind)
    for place, point in enumerate(series["points"]):
        assert sum(part["totals"][place] or 0 for part in parts) == (point["total"] or 0)
        assert sum(part["costs"][place] or 0 for part in parts) == pytest.approx(point["cost"] or 0, abs=1e-5)
    assert series["total"] == asked.get("/api/usage", by=split)["total"]["tokens"]


def test_a_series_of_days_has_the_days_of_the_messages(asked: Asked) -> None:
    series = asked.get("/api/usage/series", by="day")
    days = asked.tokens_by(day_of)
    told = dict(zip(series["keys"], (point["total"] for point in series["points"]), strict=True))
    assert {day: total for day, total in told.items() if total} == days
    assert series["keys"] == sorted(series["keys"])


def test_without_a_wish_the_periods_fit_the_span(tmp_path: Path) -> None:
    for place, month in enumerate(("2025-05", "2026-05")):
        written = write_session(tmp_path / "home", f"{place}f0c9a2b-0000-4000-8000-000000000001")
        written.write_text(written.read_text().replace("2026-05", month))
        written.rename(written.with_name(written.name.replace("2026-05", month)))
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        all_of_it = client.get("/api/usage/series").json()
        few_days = client.get("/api/usage/series", params={"since": "2026-05-01"}).json()
    assert (all_of_it["by"], all_of_it["keys"]) == ("week", ["2025-04-28", "2026-04-27"])
    assert (few_days["by"], few_days["keys"]) == ("day", ["2026-05-01"])


# Narrowing


def test_a_whole_name_means_one_model_and_a_piece_all_that_hold_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home)
    other = write_session(home, "2f0c9a2b-0000-4000-8000-000000000002", day=2)
    other.write_text(other.read_text().replace('"gemini-3-pro"', '"gemini-3-pro-preview"'))
    with client_of([home], tmp_path / "data") as client:

        def totals(q: str) -> list[int | None]:
            figures = client.get("/api/usage", params={"by": "model", "q": q}).json()
            return [group["tokens"]["total"] for group in figures["groups"]]

        assert totals("model:gemini-3-pro") == [12, 12]
        assert totals('model:"=gemini-3-pro"') == [12]
        assert totals('model:"=gemini-3"') == []
        listed = client.get("/api/sessions", params={"q": 'model:"=gemini-3-pro"'}).json()
        assert [line["id"] for line in listed["sessions"]] == ["gemini:1f0c9a2b-0000-4000-8000-000000000001"]


def test_a_tool_narrows_to_the_sessions_that_call_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home, calls=[tool_call("edit")])
    write_session(home, "2f0c9a2b-0000-4000-8000-000000000002", day=2, calls=[tool_call("edit_file")])
    with client_of([home], tmp_path / "data") as client:
        for q, sessions in (("tool:edit", 2), ('tool:"=edit"', 1), ('tool:"=none"', 0)):
            assert client.get("/api/usage", params={"q": q}).json()["total"]["sessions"] == sessions
            assert client.get("/api/sessions", params={"q": q}).json()["total"] == sessions


def test_hours_are_those_of_the_messages_and_add_up_to_all(asked: Asked) -> None:
    def hour_of(_: Session, message: Message) -> str:
        assert message.at
        return f"{WEEKDAYS[message.at.weekday()]}-{message.at.hour}"

    for hour, tokens in asked.tokens_by(hour_of).items():
        assert asked.get("/api/usage/series", q=f"hour:{hour}")["total"]["total"] == tokens
        assert asked.get("/api/usage", q=f"hour:{hour}", by="model")["total"]["tokens"]["total"] == tokens
    weekdays = asked.tokens_by(lambda *one: hour_of(*one).split("-")[0])
    for weekday, tokens in weekdays.items():
        assert asked.get("/api/usage/series", q=f"hour:{weekday}")["total"]["total"] == tokens
    hours = asked.tokens_by(lambda *one: hour_of(*one).split("-")[1])
    for clock, tokens in hours.items():
        assert asked.get("/api/usage/series", q=f"hour:{clock}")["total"]["total"] == tokens


def test_an_hour_leads_to_the_sessions_with_messages_in_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    write_session(home)
    night = write_session(home, "2f0c9a2b-0000-4000-8000-000000000002", day=1)
    night.write_text(night.read_text().replace("T10:", "T22:"))
    with client_of([home], tmp_path / "data") as client:
        # The first of May 2026 is a Friday.
        for q, sessions in (
            ("hour:fri", 2),
            ("hour:22", 1),
            ("hour:fri-22", 1),
            ("hour:22,10", 2),
            ("hour:mon-22", 0),
        ):
            assert client.get("/api/sessions", params={"q": q}).json()["total"] == sessions, q
            assert client.get("/api/usage", params={"q": q}).json()["total"]["sessions"] == sessions, q
        cells = client.get("/api/usage/hours").json()["hours"]
        assert [(cell["weekday"], cell["hour"], cell["prompts"]) for cell in cells] == [
            (4, 10, 1),
            (4, 22, 1),
        ]
        only = client.get("/api/usage/hours", params={"q": "hour:fri-22"}).json()["hours"]
        assert [(cell["weekday"], cell["hour"]) for cell in only] == [(4, 22)]


@pytest.mark.parametrize("hour", ["24", "monday", "mon-24", "fri-", "-3", "mon-tue"])
def test_an_hour_that_is_none_is_answered_with_what_there_is(asked: Asked, hour: str) -> None:
    answer = asked.client.get("/api/usage", params={"q": f'hour:"{hour}"'})
    assert answer.status_code == 400
    assert "mon-14" in answer.json()["detail"]


def test_where_nothing_was_done_nothing_is_told_as_zero_tokens(asked: Asked) -> None:
    series = asked.get("/api/usage/series", since="2030-01-01")
    assert (series["keys"], series["points"], series["parts"], series["rest"]) == ([], [], [], None)
    assert series["total"]["total"] is None
    assert series["total"]["cost"] is None
    figures = asked.get("/api/usage", since="2030-01-01", by="project")
    assert (figures["groups"], figures["total"]["sessions"]) == ([], 0)
    assert asked.get("/api/usage/sessions", since="2030-01-01") == {"by_tokens": [], "by_time": []}


def test_a_model_without_a_price_is_named_beside_the_cost(tmp_path: Path) -> None:
    written = write_session(tmp_path / "home")
    written.write_text(written.read_text().replace('"gemini-3-pro"', '"of-my-own"'))
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        series = client.get("/api/usage/series").json()
    assert [(one["model"], one["requests"]) for one in series["unpriced"]] == [("of-my-own", 1)]
    assert (series["total"]["total"], series["total"]["cost"], series["total"]["unpriced"]) == (12, None, 1)
    assert series["parts"][0]["costs"] == [None]


# Inside a session


def test_the_timeline_tells_prompts_and_calls_with_their_times(asked: Asked) -> None:
    for session in asked.sessions:
        line = asked.get("/api/session/timeline", id=session.id, count=1000)
        assert (line["id"], line["agent"]) == (session.id, session.agent)
        assert line["total"] == len(line["turns"])
        numbers = {turn["number"] for turn in line["turns"]}
        for turn in line["turns"]:
            assert turn["start"] is None or turn["end"] is None or turn["start"] <= turn["end"]
            for call in turn["calls"]:
                called = session.messages[call["number"] - 1].tool_calls
                assert call["name"] in {one.name for one in called}
                assert call["number"] not in numbers
                assert call["number"] > turn["number"]


def test_the_context_is_as_full_as_the_requests_say(asked: Asked) -> None:
    marked = 0
    for session in asked.sessions:
        fill = asked.get("/api/session/context", id=session.id)
        prompts = {
            number: message.usage.input
            for number, message in enumerate(session.messages, 1)
            if message.usage and message.usage.input is not None and not message.imported
        }
        assert {point["number"]: point["tokens"] for point in fill["points"]} == prompts
        assert fill["total"] == len(prompts)
        marked += sum(mark["state"] == "compressed" for mark in fill["marks"])
    assert marked, "nothing was compressed in any of these homes"


def test_the_context_tells_the_window_of_models_that_the_price_list_knows(asked: Asked) -> None:
    windows: dict[str, int] = {}
    models: set[str] = set()
    for session in asked.sessions:
        windows |= asked.get("/api/session/context", id=session.id)["windows"]
        models |= {message.model for _, message in asked.requests() if message.model}
    assert windows["claude-sonnet-4-5-20250929"] == 200_000
    assert windows.keys() <= models
    assert all(size > 1000 for size in windows.values())
