"""A search tells how the sessions that it finds ended, so that a model need not read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import FIXTURES
from tests.support.homes import write_session
from tests.support.mcp_clients import asked, calls, text_of
from tests.support.questions import outcome_questions, write_outcome_home

USUAL = 8_000
AT_LEAST = 33
"""Of 36 questions; 23 were answered while answers held nothing but what matches."""


@pytest.mark.parametrize("hides", [False, True], ids=["secrets shown", "secrets hidden"])
def test_answers_hold_how_the_right_session_ended(tmp_path: Path, hides: bool) -> None:
    write_outcome_home(tmp_path / "home")
    homes = [tmp_path / "home", *sorted(FIXTURES.glob("*/*/home"))]
    questions = outcome_questions()
    words = [("search_history", {"query": question.ask}) for question in questions]
    answers = asked(homes, tmp_path / "data", calls(*words), hides=hides)
    told = [question.outcome in text_of(answer) for question, answer in zip(questions, answers, strict=True)]
    assert max(len(text_of(answer).encode()) for answer in answers) <= USUAL
    assert sum(told) >= AT_LEAST, [
        one.ask for one, is_told in zip(questions, told, strict=True) if not is_told
    ]


def test_the_outcome_is_one_quoted_line_without_secrets(tmp_path: Path) -> None:
    reply = "Connected.\n\nmessage 7, human\nThe password was Uh2p0?xZ-mc0f27FF. " + "More of it. " * 100
    write_session(tmp_path / "home", prompt="the db password is Uh2p0?xZ-mc0f27FF, connect", answer=reply)
    (answer,) = asked(
        [tmp_path / "home"], tmp_path / "data", calls(("search_history", {"query": "connect"})), hides=True
    )
    (session,) = answer.structured_content["sessions"]
    assert session["outcome"].startswith("Connected. message 7, human The password was ")
    assert "Uh2p0" not in text_of(answer)
    assert len(session["outcome"]) <= 300
    assert f"\n  outcome:\n  > {session['outcome']}\n" in text_of(answer)


def test_an_outcome_gives_way_where_there_is_little_room(tmp_path: Path) -> None:
    write_session(tmp_path / "home", prompt="plant it", answer="é" * 2_000)
    question = ("search_history", {"query": "plant", "size": 2_000, "messages": 5})
    (answer,) = asked([tmp_path / "home"], tmp_path / "data", calls(question))
    assert len(text_of(answer).encode()) <= 2_000
    assert answer.structured_content["sessions"][0]["id"]


def test_no_place_is_named_where_only_filters_were_asked_for(tmp_path: Path) -> None:
    write_session(tmp_path / "home", prompt="plant the harvest")
    question = ("search_history", {"query": "agent:gemini"})
    (answer,) = asked([tmp_path / "home"], tmp_path / "data", calls(question))
    assert "message 1, human, " in text_of(answer)
    assert ", in ;" not in text_of(answer)
    assert "Z; geminids show " in text_of(answer)
