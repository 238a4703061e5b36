"""A home in which every planted secret stands in a session of its own, as Gemini CLI writes it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from geminids.library import Library
from tests.support.homes import tool_call, write_session
from tests.support.planted_secrets import cases, planted
from tests.support.redacting import seen


class PlantedSession(NamedTuple):
    """A session, and what was planted in it."""

    id: str
    secrets: tuple[str, ...]


def write_planted(home: Path) -> list[PlantedSession]:
    """The sessions of a new home."""
    return [*_of_secrets(home), *_of_cases(home)]


def hidden_of(library: Library, sessions: list[PlantedSession]) -> dict[str, tuple[str, ...]]:
    """What must not be told of each session: of all that was planted, what redaction finds.

    How much that is, other tests count.
    """
    redactor = library.redactor()
    hidden: dict[str, tuple[str, ...]] = {}
    for session in sessions:
        left = seen(redactor.redact(library.session(session.id)).session)
        hidden[session.id] = tuple(one for one in session.secrets if one not in left)
    return hidden


def _of_secrets(home: Path) -> Iterator[PlantedSession]:
    """A secret is said by the human, and said again by the model and a tool without the words around it."""
    for number, secret in enumerate(planted()):
        native_id = f"{number:08x}-0000-4000-8000-00000000000a"
        again = f"The harvest again: {secret.secrets[0]} and so on"
        output = [{"functionResponse": {"response": {"output": again}}}]
        prompt = f"Look at the harvest.\n{secret.text}" if secret.text else "Look at the harvest"
        write_session(
            home,
            native_id,
            slug=f"p{number % 7}",
            day=1 + number % 28,
            prompt=prompt,
            answer=again,
            calls=[tool_call(args=secret.arguments or {"command": "true"}, result=output)],
        )
        yield PlantedSession(f"gemini:{native_id}", secret.secrets)


def _of_cases(home: Path) -> Iterator[PlantedSession]:
    for number, case in enumerate(cases()):
        native_id = f"{number:08x}-0000-4000-8000-00000000000b"
        path = write_session(home, native_id, slug=f"c{number % 7}", prompt="Look at the harvest")
        records = [_record(place, *said) for place, said in enumerate(case["said"])]
        with path.open("a") as log:
            log.writelines(json.dumps(record) + "\n" for record in records)
        yield PlantedSession(f"gemini:{native_id}", tuple(case.get("secrets", ())))


def _record(place: int, who: str, *said: Any) -> dict[str, Any]:
    """What somebody said, after all that was said before."""
    at = f"2026-05-01T11:{place // 60:02}:{place % 60:02}.000Z"
    record: dict[str, Any] = {"id": f"r{place}", "timestamp": at}
    (text,) = said
    if who == "user":
        return record | {"type": "user", "content": [{"text": text}]}
    if who == "model":
        return record | {"type": "gemini", "content": text, "thoughts": [], "toolCalls": []}
    output = [{"functionResponse": {"response": {"output": text}}}]
    called = tool_call(args={"command": "true"}, result=output)
    return record | {"type": "gemini", "content": "", "thoughts": [], "toolCalls": [called]}
