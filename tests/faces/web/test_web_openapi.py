"""The OpenAPI document is valid and true: whatever it allows to be asked is answered, and as it says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from jsonschema import Draft202012Validator
from schemathesis.core.result import Ok
from starlette.testclient import TestClient

from geminids.faces.web.app import ENDPOINTS
from geminids.faces.web.openapi import openapi
from tests.conftest import FIXTURES
from tests.support.homes import FIRST_ID, write_session
from tests.support.web_apps import client_of

EXAMPLES = 15
"""Questions of each endpoint."""
DESCRIPTION = openapi(ENDPOINTS)
SCHEMA = schemathesis.openapi.from_dict(DESCRIPTION)
NOT_ASKED = {"/api/events", "/api/health/doctor"}
"""One does not end, the other reads every file."""
FOUND = [found.ok() for found in SCHEMA.get_all_operations() if isinstance(found, Ok)]
OPERATIONS = [operation for operation in FOUND if operation.path not in NOT_ASKED]


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    home = tmp_path_factory.mktemp("home")
    write_session(home)
    homes = [home, FIXTURES / "claude" / "tools" / "home", FIXTURES / "codex" / "tools" / "home"]
    with client_of(homes, tmp_path_factory.mktemp("data")) as opened:
        yield opened


def references(value: Any) -> Iterator[str]:
    match value:
        case {"$ref": str(reference)}:
            yield reference
        case dict():
            for held in value.values():
                yield from references(held)
        case list():
            for held in value:
                yield from references(held)


def test_the_document_is_whole() -> None:
    assert DESCRIPTION["openapi"].startswith("3.1")
    schemas = DESCRIPTION["components"]["schemas"]
    for reference in references(DESCRIPTION):
        assert reference.removeprefix("#/components/schemas/") in schemas
    for schema in schemas.values():
        Draft202012Validator.check_schema(schema)
    described = {(path, method) for path, methods in DESCRIPTION["paths"].items() for method in methods}
    routes = {(endpoint.path, endpoint.method.lower()) for endpoint in ENDPOINTS}
    assert described == routes | {("/api/events", "get")}
    names = [
        method["operationId"] for methods in DESCRIPTION["paths"].values() for method in methods.values()
    ]
    assert len(names) == len(set(names))
    assert all(method["summary"] for methods in DESCRIPTION["paths"].values() for method in methods.values())


def test_the_document_is_served(client: TestClient) -> None:
    assert client.get("/api/openapi.json").json() == json.loads(msgspec.json.encode(DESCRIPTION))


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.path)
def test_whatever_may_be_asked_is_answered_as_described(client: TestClient, operation: Any) -> None:
    @given(case=operation.as_strategy())
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        asked = dict(case.query or {})
        if "id" in asked and len(str(asked["id"])) % 3:
            asked["id"] = f"gemini:{FIRST_ID}"
        answer = client.request(operation.method.upper(), operation.path, params=asked)
        assert answer.status_code < 500, (asked, answer.text)
        check(operation, answer)

    ask()


def check(operation: Any, answer: Any) -> None:
    """The answer is one of those that are described."""
    described = DESCRIPTION["paths"][operation.path][operation.method.lower()]["responses"]
    content = described[str(answer.status_code)]["content"]
    kind = answer.headers["content-type"].partition(";")[0]
    assert kind in content or "*/*" in content
    schema = content.get(kind, {}).get("schema")
    if schema:
        whole = {**schema, "components": DESCRIPTION["components"]}
        Draft202012Validator(whole).validate(answer.json())
