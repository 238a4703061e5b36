"""Sessions as JSON: they obey their schema, and come back as they were."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import jsonschema
import msgspec
import pytest

from geminids.agents.gemini import GeminiSource
from geminids.core.model import Session
from tests.conftest import FIXTURES
from tests.reading import sessions
from tests.schemas import schema_of


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(Session, "a session"))


def assert_valid(session: Session) -> None:
    """A session must survive its way to JSON and obey the schema."""
    validator().validate(json.loads(msgspec.json.encode(session)))


@pytest.mark.parametrize("home", sorted(FIXTURES.glob("gemini/*/home")), ids=lambda home: home.parent.name)
def test_sessions_obey_the_schema_and_come_back_from_json(home: Path) -> None:
    for session in sessions(GeminiSource(), home):
        assert_valid(session)
        assert msgspec.json.decode(msgspec.json.encode(session), type=Session) == session
