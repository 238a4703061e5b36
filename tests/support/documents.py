"""What is printed and what is read, held against their JSON Schemas."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import jsonschema
import msgspec

from geminids.core.model import Session
from geminids.faces.documents.printed import DOCUMENTS
from tests.support.schemas import schema_of


def name_of(document: type[msgspec.Struct]) -> str:
    return str(document.__struct_config__.tag)


def generated(document: type[msgspec.Struct]) -> dict[str, Any]:
    return schema_of(document, name_of(document))


@cache
def validators() -> dict[str, jsonschema.Draft202012Validator]:
    return {name_of(document): jsonschema.Draft202012Validator(generated(document)) for document in DOCUMENTS}


def check_printed(printed: str, name: str) -> dict[str, Any]:
    """What a command printed must be a document of this name."""
    document: dict[str, Any] = json.loads(printed)
    assert document["schema"] == name
    validators()[name].validate(document)
    return document


@cache
def validator() -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(Session, "a session"))


def assert_valid(session: Session) -> None:
    """A session must survive its way to JSON and obey the schema."""
    validator().validate(json.loads(msgspec.json.encode(session)))
