"""What one session answers beyond its windows: places of words, whole texts, costs, Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from geminids import sample
from geminids.core.model import Session, ToolCall
from geminids.library import open_library
from tests.conftest import FIXTURES
from tests.support.homes import FIRST_ID, tool_call, write_session
from tests.support.web_apps import client_of

ID = f"gemini:{FIRST_ID}"
CASES = [*sorted(FIXTURES.glob("*/tools/home")), FIXTURES / "gemini" / "tool-calls-jsonl-1" / "home"]


def sessions_in(home: Path, data: Path) -> Iterator[Session]:
    with open_library([str(home)], str(data)) as library:
        for summary in library.sessions():
            yield library.session(summary.id)


def entries_of(client: TestClient, session_id: str, detail: str = "everything") -> list[Any]:
    asked: dict[str, Any] = {"id": session_id, "detail": detail, "count": 200}
    found: list[Any] = client.get("/api/session/messages", params=asked).json()["entries"]
    return found


def parts_of(client: TestClient, session_id: str, detail: str) -> list[tuple[int, Any]]:
    turns = [entry for entry in entries_of(client, session_id, detail) if entry["entry"] == "turn"]
    return [(turn["number"], part) for turn in turns for part in turn["parts"]]


# The outline


def test_the_outline_and_the_session_count_the_same_prompts(tmp_path: Path) -> None:
    with client_of([Path(sample.home())], tmp_path) as client:
        for session in client.get("/api/sessions").json()["sessions"]:
            for detail in ("prompts", "tools", "everything"):
                asked = {"id": session["id"], "detail": detail}
                kinds = client.get("/api/session/outline", params=asked).json()["kinds"]
                counted = sum(number for kind, number in kinds.items() if kind not in ("command", "copied"))
                assert counted == session["counts"]["prompts"], (session["id"], detail, kinds)


# Whole texts


@pytest.mark.parametrize("home", CASES, ids=lambda home: home.parts[-3])
def test_every_part_says_where_it_stands_among_all_parts(home: Path, tmp_path: Path) -> None:
    sessions = list(sessions_in(home, tmp_path / "other"))
    kinds = {"call": ToolCall}
    with client_of([home], tmp_path / "data") as client:
        for session in sessions:
            for detail in ("conversation", "everything"):
                for number, part in parts_of(client, session.id, detail):
                    held = session.messages[number - 1].parts[part["index"]]
                    assert isinstance(held, kinds.get(part["part"], object))
                    if isinstance(held, ToolCall):
                        assert held.call_id == part["call_id"]


def test_all_of_an_argument_is_had_by_the_name_that_is_shown(tmp_path: Path) -> None:
    long = "x" * 50_000
    write_session(tmp_path / "home", calls=[tool_call(args={"odd\x1b[31m name": long})])
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        (number, call) = next(one for one in parts_of(client, ID, "tools") if one[1]["part"] == "call")
        (argument,) = call["details"]["arguments"]
        assert argument["is_cut"]
        asked: dict[str, Any] = {"id": ID, "number": number, "part": call["index"]}
        assert client.get("/api/session/text", params={**asked, "argument": argument["name"]}).text == long
        assert client.get("/api/session/text", params={**asked, "argument": "other"}).status_code == 404


# Finding


@pytest.fixture
def many(tmp_path: Path) -> Iterator[TestClient]:
    """A session in which a word stands 1,402 times: twice in each of 700 prompts, and in a call."""
    call = tool_call(args={"command": "grep zebra", "folder": "/zebra"}, resultDisplay="none")
    path = write_session(tmp_path / "home", calls=[call])
    with path.open("a") as file:
        for number in range(700):
            at = f"2026-05-01T11:{number // 60:02}:{number % 60:02}.000Z"
            content = [{"text": f"Zebra {number} and another ZEBRA."}]
            record = {"id": f"u{number}", "timestamp": at, "type": "user", "content": content}
            file.write(json.dumps(record) + "\n")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        yield client


def found(client: TestClient, **asked: Any) -> Any:
    return client.get("/api/session/find", params={"id": ID, "words": "zebra", **asked}).json()


def test_every_place_of_a_word_is_found_window_by_window(many: TestClient) -> None:
    places: list[Any] = []
    while len(places) < (page := found(many, start=len(places), count=300))["total"]:
        assert page["start"] == len(places)
        places += page["places"]
    assert (page["total"], page["messages"]) == (1402, 701)
    prompts = [(place["number"], place["part"], place["nth"]) for place in places[2:]]
    assert prompts == [(number, 0, nth) for number in range(3, 703) for nth in (0, 1)]
    assert found(many, start=1402)["places"] == []


def test_a_place_says_in_which_part_and_argument_it_is(many: TestClient) -> None:
    in_call = found(many, count=2)["places"]
    (_, call) = next(one for one in parts_of(many, ID, "tools") if one[1]["part"] == "call")
    assert [place["argument"] for place in in_call] == ["command", "folder"]
    assert {place["part"] for place in in_call} == {call["index"]}
    assert [piece["text"] for piece in in_call[0]["pieces"] if piece["is_match"]] == ["zebra"]


def test_finding_begins_at_a_message_and_goes_round(many: TestClient) -> None:
    page = found(many, at=500, count=1)
    assert page["places"][0]["number"] == 500
    assert page["start"] == 2 + 2 * (500 - 3)
    last = found(many, at=9999, count=1)
    assert (last["start"], last["places"][0]["number"]) == (0, 2)


def test_other_words_are_looked_for_anew(many: TestClient) -> None:
    assert found(many)["total"] == 1402
    assert found(many, words="another")["total"] == 700
    assert found(many, words="nothing like it") == {"total": 0, "messages": 0, "start": 0, "places": []}


# Costs


def priced_home(tmp_path: Path, model: str) -> Path:
    path = write_session(tmp_path / "home")
    records = [json.loads(line) for line in path.read_text().splitlines()]
    records[2]["model"] = model
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return tmp_path / "home"


def settle_price(data: Path, model: str) -> None:
    data.mkdir()
    settings = f'[prices."{model}"]\ninput = 1000\noutput = 50000\n'
    (data / "settings.toml").write_text(settings)


def test_a_turn_and_a_session_tell_what_they_cost(tmp_path: Path) -> None:
    settle_price(tmp_path / "data", "own-model")
    with client_of([priced_home(tmp_path, "own-model")], tmp_path / "data") as client:
        facts = client.get("/api/session", params={"id": ID}).json()
        (used,) = [entry["usage"] for entry in entries_of(client, ID) if entry.get("usage")]
        tokens = client.get("/api/usage").json()["total"]["tokens"]
    expected = float(Decimal(10 * 1000 + 2 * 50000) / 1_000_000)
    assert used["cost"] == expected
    assert used == tokens, "tokens are told alike wherever they are told"
    assert (facts["cost"], facts["unpriced"]) == (expected, 0)


def test_what_has_no_price_costs_nothing_that_is_known(tmp_path: Path) -> None:
    with client_of([priced_home(tmp_path, "nobody-knows-it")], tmp_path / "data") as client:
        facts = client.get("/api/session", params={"id": ID}).json()
        (used,) = [entry["usage"] for entry in entries_of(client, ID) if entry.get("usage")]
        tokens = client.get("/api/usage").json()["total"]["tokens"]
    assert used["cost"] is None
    assert used == tokens, "tokens are told alike wherever they are told"
    assert (facts["cost"], facts["unpriced"]) == (None, 1)


@pytest.mark.parametrize("home", CASES, ids=lambda home: home.parts[-3])
def test_the_cost_of_a_session_is_that_of_its_own_turns_and_that_of_the_usage(
    home: Path, tmp_path: Path
) -> None:
    with client_of([home], tmp_path / "data") as client:
        usage = client.get("/api/usage", params={"by": "session", "fold": "false"}).json()
        by_session = {group["key"]: group["tokens"]["cost"] for group in usage["groups"]}
        for session_id, cost in by_session.items():
            facts = client.get("/api/session", params={"id": session_id}).json()
            told = [
                entry["usage"]["cost"]
                for entry in entries_of(client, session_id)
                if entry.get("usage") and not entry["imported"] and entry["usage"]["cost"] is not None
            ]
            assert facts["cost"] == cost
            assert (facts["cost"] or 0) == pytest.approx(sum(told), abs=1e-5)


# Markdown


def markdown(client: TestClient, **asked: Any) -> Any:
    answer = client.get("/api/session/markdown", params={"id": ID, **asked})
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert "content-disposition" not in answer.headers
    return answer.text


def test_a_message_a_turn_and_a_session_are_had_as_markdown(tmp_path: Path) -> None:
    path = write_session(tmp_path / "home", answer="It is **done**.", calls=[tool_call()])
    with path.open("a") as file:
        record = {"id": "u2", "timestamp": "2026-05-01T10:06:00.000Z", "type": "user"}
        file.write(json.dumps({**record, "content": [{"text": "Thanks"}]}) + "\n")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        one, turn = markdown(client, number=2), markdown(client, number=2, with_answers=True)
        whole = markdown(client)
        asked = {"id": ID, "format": "markdown", "secrets": "true"}
        exported = client.get("/api/session/export", params=asked).text
        assert client.get("/api/session/markdown", params={"id": ID, "number": 9}).status_code == 404
    assert one.startswith("## Gemini")
    assert "It is **done**." in one
    assert "Fix the login" not in one
    assert "npm test" in one
    assert turn.index("> Fix the login redirect") < turn.index("It is **done**.")
    assert "Thanks" not in turn
    assert whole == exported
    assert whole.startswith("---\n")


def test_the_page_to_share_is_saved_and_not_shown(tmp_path: Path) -> None:
    write_session(tmp_path / "home")
    with client_of([tmp_path / "home"], tmp_path / "data") as client:
        answer = client.get("/api/session/export", params={"id": ID, "format": "html"})
    assert answer.headers["content-disposition"] == f'attachment; filename="gemini-{FIRST_ID}.html"'
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.text.lstrip().lower().startswith("<!doctype html>")
    assert answer.text.rstrip().endswith("</html>")


# Subagents


@pytest.mark.parametrize(
    ("case", "report"),
    [
        ("claude/nested-agents", "I bought milk and bread for Ana."),
        ("gemini/subagents-in-parallel", "Steam and leaf / a calm so brief."),
    ],
)
def test_what_a_subagent_handed_back_is_told_without_what_stands_around_it(
    case: str, report: str, tmp_path: Path
) -> None:
    with client_of([FIXTURES / case / "home"], tmp_path / "data") as client:
        ids = [one["id"] for one in client.get("/api/sessions").json()["sessions"]]
        calls = [
            part
            for session_id in ids
            for _, part in parts_of(client, session_id, "tools")
            if part["part"] == "call" and part["handed_back"]
        ]
    (one,) = [call for call in calls if report in call["handed_back"]]
    assert one["handed_back"] == f"<p>{report}</p>\n"
    assert one["child_id"]
    assert one["details"]["output"] is None, "it is told once"
