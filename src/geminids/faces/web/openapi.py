"""The OpenAPI document: made of the endpoints and their classes, so that it cannot disagree with them."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import cleandoc
from typing import Any

import msgspec

from geminids import __version__
from geminids.faces.documents.base import Document, FaultyRequest
from geminids.faces.documents.live import LiveEvent
from geminids.faces.web.endpoints import Asked, Endpoint
from geminids.faces.web.faults import MEDIA_TYPE
from geminids.faces.web.guard import HEADER

REFERENCE = "#/components/schemas/{name}"
_FAULTS = {
    "400": "the question is not to be understood",
    "401": "no token",
    "403": "asked by another site, or a change without the token as a header",
    "404": "there is no such thing",
    "409": "several are meant",
    "503": "not now: the index is being made or written",
}


def openapi(endpoints: Iterable[Endpoint]) -> dict[str, Any]:
    """The description of all endpoints."""
    known = list(endpoints)
    answers = [one.answer for one in known if not isinstance(one.answer, str)]
    kinds: list[type[Document]] = list(dict.fromkeys([*answers, FaultyRequest, LiveEvent]))
    references, components = msgspec.json.schema_components(kinds, ref_template=REFERENCE)
    schemas = dict(zip(kinds, references, strict=True))
    paths: dict[str, Any] = {}
    for endpoint in known:
        operation = _operation(endpoint, schemas)
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    paths["/api/events"] = {"get": _events(schemas)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "geminids", "version": __version__, "summary": "Sessions of coding agents."},
        "paths": paths,
        "components": {
            "schemas": {name: _complete(schema) for name, schema in components.items()},
            "securitySchemes": {"token": {"type": "apiKey", "in": "header", "name": HEADER}},
        },
        "security": [{"token": []}],
    }


def _complete(schema: dict[str, Any]) -> dict[str, Any]:
    """Every field is always answered, also where it has a default; a docstring loses its indentation."""
    if "description" in schema:
        schema["description"] = cleandoc(schema["description"])
    if "properties" in schema:
        schema["required"] = list(schema["properties"])
    return schema


def _operation(endpoint: Endpoint, schemas: dict[type[Document], Any]) -> dict[str, Any]:
    if isinstance(endpoint.answer, str):
        content: dict[str, Any] = {"*/*" if "octet" in endpoint.answer else endpoint.answer: {}}
    else:
        content = {"application/json": {"schema": schemas[endpoint.answer]}}
    return {
        "operationId": endpoint.give.__name__,
        "summary": (endpoint.give.__doc__ or "").strip(),
        "parameters": _parameters(endpoint.asked),
        "responses": {"200": {"description": "the answer", "content": content}, **_faults(schemas)},
    }


def _parameters(asked: type[Asked]) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([asked], ref_template=REFERENCE)
    schema = components[asked.__name__]
    required = schema.get("required", [])
    return [
        {
            "name": name,
            "in": "query",
            "required": name in required,
            "schema": _of_words(described),
        }
        for name, described in schema["properties"].items()
    ]


def _of_words(schema: dict[str, Any]) -> dict[str, Any]:
    """What may be given in an address, where nothing cannot be said but by leaving it out."""
    kinds = [kind for kind in schema.get("anyOf", []) if kind != {"type": "null"}]
    if len(kinds) == 1:
        return {**kinds[0], **({"description": schema["description"]} if "description" in schema else {})}
    return {name: value for name, value in schema.items() if value is not None or name != "default"}


def _faults(schemas: dict[type[Document], Any]) -> dict[str, Any]:
    content = {MEDIA_TYPE: {"schema": schemas[FaultyRequest]}}
    return {status: {"description": why, "content": content} for status, why in _FAULTS.items()}


def _events(schemas: dict[type[Document], Any]) -> dict[str, Any]:
    return {
        "operationId": "events",
        "summary": "What agents write, as server-sent events; the data of each is a LiveEvent.",
        "parameters": [
            {"name": "Last-Event-ID", "in": "header", "required": False, "schema": {"type": "string"}},
            {"name": "redact", "in": "query", "required": False, "schema": {"type": "boolean"}},
        ],
        "responses": {
            "200": {"description": "a stream that does not end", "content": {"text/event-stream": {}}},
            **_faults(schemas),
        },
    }
