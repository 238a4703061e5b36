"""Sessions as JSON: they obey their schema, and come back as they were."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from geminids.agents.gemini import GeminiSource
from geminids.core.model import Session
from tests.conftest import FIXTURES
from tests.support.documents import assert_valid
from tests.support.reading import sessions


@pytest.mark.parametrize("home", sorted(FIXTURES.glob("gemini/*/home")), ids=lambda home: home.parent.name)
def test_sessions_obey_the_schema_and_come_back_from_json(home: Path) -> None:
    for session in sessions(GeminiSource(), home):
        assert_valid(session)
        assert msgspec.json.decode(msgspec.json.encode(session), type=Session) == session
