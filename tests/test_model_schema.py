"""The JSON Schema in docs/: generated from the model, and true of what is read."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import msgspec

from geminids.model import Session
from geminids.sources.gemini import GeminiSource
from tests.conftest import FIXTURES, ROOT
from tests.golden import check_golden
from tests.reading import sessions

SCHEMA = ROOT / "docs" / "session.schema.json"


def generated() -> dict[str, Any]:
    """The schema of a session as `geminids show --json` prints it."""
    (session,), components = msgspec.json.schema_components([Session], ref_template="#/$defs/{name}")
    title = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "geminids/session/1"}
    return {**title, **session, "$defs": components}


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(generated())


def assert_valid(session: Session) -> None:
    """A session must survive its way to JSON and obey the schema."""
    validator().validate(json.loads(msgspec.json.encode(session)))


def test_schema_in_docs_is_the_models() -> None:
    check_golden(SCHEMA, generated())


def test_sessions_obey_the_schema() -> None:
    for home in sorted(FIXTURES.glob("gemini/*/home")):
        for session in sessions(GeminiSource(), home):
            assert_valid(session)


def test_a_session_comes_back_from_json_as_it_was() -> None:
    for home in sorted(FIXTURES.glob("gemini/*/home")):
        for session in sessions(GeminiSource(), home):
            assert msgspec.json.decode(msgspec.json.encode(session), type=Session) == session
