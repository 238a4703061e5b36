"""The sample home: small, nothing but session data, and read as the story it tells."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from geminids import sample
from geminids.agents.gemini import GeminiSource
from geminids.core.model import Origin, Session, SessionKind, State
from tests.conftest import ROOT

TRUTH = ROOT / "tests" / "fixtures" / "sample-truth.json"


@pytest.fixture(scope="module")
def sessions() -> list[Session]:
    source = GeminiSource()
    return [
        session
        for home in source.homes_below(sample.home())
        for bundle in source.scan(home).bundles
        for session in source.read(bundle).sessions
    ]


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    recorded: dict[str, Any] = json.loads(TRUTH.read_text())
    return recorded


def test_is_small() -> None:
    assert sum(path.stat().st_size for path in Path(sample.home()).rglob("*")) < 300_000


def test_holds_session_data_only() -> None:
    allowed = {"projects.json", ".project_root", "logs.json"}
    files = [path for path in Path(sample.home()).rglob("*") if path.is_file()]
    assert [path.name for path in files if "chats" not in path.parts and path.name not in allowed] == []


def test_tells_of_eight_sessions_and_a_subagent(sessions: list[Session]) -> None:
    kinds = [session.kind for session in sessions]
    assert kinds.count(SessionKind.MAIN) == 8
    assert kinds.count(SessionKind.SUBAGENT) == 1


def test_has_every_prompt_that_was_typed(sessions: list[Session], truth: dict[str, Any]) -> None:
    typed = [prompt for run in truth["per_run"] for prompt in run["human_prompts"]]
    read = [
        message.text(Origin.HUMAN)
        for session in sessions
        if session.kind is SessionKind.MAIN
        for message in session.messages
        if message.origin is Origin.HUMAN
    ]
    assert sorted(read) == sorted(typed)


def test_counts_every_request_once(sessions: list[Session], truth: dict[str, Any]) -> None:
    main = sorted((s for s in sessions if s.kind is SessionKind.MAIN), key=lambda s: str(s.started_at))
    requests = [session.usage.requests for session in main]
    answered = [run["tokens"]["main"]["replies"] for run in truth["per_run"]]
    not_recorded = [
        2,
        0,
        0,
        1,
        0,
        0,
        0,
        0,
    ]  # 0.24 fuses turns without words; an answer was cancelled half-way
    assert [sum(pair) for pair in zip(requests, not_recorded, strict=True)] == answered


def test_sums_the_tokens_that_the_server_counted(sessions: list[Session], truth: dict[str, Any]) -> None:
    main = sorted((s for s in sessions if s.kind is SessionKind.MAIN), key=lambda s: str(s.started_at))
    counted = [run["tokens"]["main"]["total"] for run in truth["per_run"]]
    whole = [number for number, _ in enumerate(main) if number not in (0, 3)]  # see the test above
    assert [main[number].usage.total for number in whole] == [counted[number] for number in whole]


def test_shows_what_was_taken_back_and_why(sessions: list[Session]) -> None:
    states = {message.state for session in sessions for message in session.messages}
    assert {State.REWOUND, State.CANCELLED, State.FAILED, State.COMPRESSED} <= states
