"""Redacting in tests: engines that start quickly, and everything that can be seen of a session."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from functools import cache
from typing import Any, Literal

import msgspec

from geminids.core.model import Attachment, Screen, Session
from geminids.sharing.redact import Redactor
from tests.conftest import COMPILED_RULES

KEY = bytes(range(32))


@cache
def redactor(engine: Literal["full", "reduced"]) -> Redactor:
    """A redactor with a key that is always the same."""
    return Redactor(KEY, engine=engine, cache_folder=COMPILED_RULES)


def seen(session: Session) -> str:
    """All that can be seen of a session: its JSON, texts that are attached, and terminals line by line."""
    return "\n".join([msgspec.json.encode(session).decode(), *_texts(session)])


def _texts(value: Any) -> Iterator[str]:
    """Every string as it is, without the signs that JSON puts into it."""
    match value:
        case str():
            yield value
        case Attachment(data=str(data)):
            yield base64.b64decode(data).decode(errors="replace")
        case Screen():
            yield value.text
            yield value.text.replace("\n", "")
        case dict():
            for key, item in value.items():
                yield str(key)
                yield from _texts(item)
        case list() | tuple():
            for item in value:
                yield from _texts(item)
        case msgspec.Struct():
            for name in value.__struct_fields__:
                yield from _texts(getattr(value, name))
