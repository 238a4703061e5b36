"""Messages as entries of a record, each with the places where it stands in the agent's files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from geminids.core.model import Level, Location, Message, Origin, Role, State, Usage
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.evidence import NativeEvidence
from geminids.sharing.records.leftovers import Leftovers, moment
from geminids.sharing.records.profile import NATIVE, OURS, SOURCE
from geminids.sharing.records.shapes import USAGE_KEYS, PlaceShape
from geminids.sharing.records.translation_parts import (
    children_of,
    content_and_origin,
    divided,
    leading_thoughts,
    with_ours,
)

USUAL_ORIGINS = {Role.USER: Origin.HUMAN, Role.ASSISTANT: Origin.MODEL, Role.SYSTEM: Origin.NOTICE}
"""By the role that an entry shows."""
LARGEST_COUNT = 2**64 - 1

MESSAGE = Leftovers(
    Message,
    {
        *("id", "role", "origin", "at", "model", "parts", "usage"),
        *("source", "also_at", "dropped_by", "level"),
    },
    {"state": State.CURRENT},
    notes=[
        ("role", Role | None, None),
        ("origin", Origin | None, None),
        ("level", Level | None, None),
        ("content_origin", Origin | None, None),
        ("content_after", tuple[int, ...] | None, None),
        ("dropped_by", PlaceShape | None, None),
        ("derived", bool, False),
        ("is_object", bool, True),
    ],
)


class Files:
    """The files that a record tells of, by their numbers: those that were looked at, then as they come up."""

    def __init__(self, looked_at: Iterable[str]) -> None:
        self.paths: list[str] = list(looked_at)
        self._numbers: dict[str, int] = {}
        for number, path in enumerate(self.paths):
            self._numbers.setdefault(path, number)

    def place(self, source: Location, sha256: str | None = None) -> dict[str, Any]:
        """A place as a record tells it."""
        number = self._numbers.get(source.file)
        if number is None:
            number = self._numbers[source.file] = len(self.paths)
            self.paths.append(source.file)
        place: dict[str, Any] = {
            "file": number,
            "line": source.line,
            "start": source.start,
            "end": source.end,
        }
        if source.pointer is not None:
            place["pointer"] = source.pointer
        if sha256 is not None:
            place["sha256"] = sha256
        return place


def message_entry(message: Message, looked_at: Sequence[NativeEvidence], files: Files) -> dict[str, Any]:
    """A message as an entry."""
    contents, children, after = divided(message.parts)
    content, content_origin = content_and_origin(contents, message.origin)
    shown_role = shown_as(message)
    entry: dict[str, Any] = {"type": "system-event" if shown_role is Role.SYSTEM else shown_role.value}
    if shown_role is Role.SYSTEM:
        entry["event-type"] = (message.level or message.origin).value
    entry["id"] = message.id
    if message.at is not None:
        entry["timestamp"] = moment(message.at)
    if message.model is not None:
        entry["model-id"] = message.model
    if contents:
        entry |= {"data": {"content": content}} if shown_role is Role.SYSTEM else {"content": content}
    if message.usage is not None:
        entry["token-usage"] = usage_entry(message.usage)
    if children:
        entry["children"] = [*children_of(message.id, children)]
    entry |= _places_written(message.places, looked_at, files)
    usual = leading_thoughts(children)
    ours = MESSAGE.written(
        message,
        role=message.role if message.role is not shown_role else None,
        origin=message.origin if message.origin is not USUAL_ORIGINS[shown_role] else None,
        level=message.level if shown_role is not Role.SYSTEM else None,
        content_origin=content_origin,
        content_after=tuple(after) if any(before != usual for before in after) else None,
    )
    if message.dropped_by is not None:
        ours["dropped_by"] = files.place(message.dropped_by)
    return with_ours(entry, ours)


def shown_as(message: Message) -> Role:
    """On whose side an entry stands: what the agent told the human is an event, whoever it was put to."""
    return Role.SYSTEM if message.origin is Origin.NOTICE else message.role


def usage_entry(usage: Usage) -> dict[str, Any]:
    """Tokens; counts that are none are kept apart from those that readers may add up."""
    written: dict[str, Any] = {}
    odd: dict[str, Any] = {}
    for name, key in USAGE_KEYS.items():
        count = getattr(usage, name)
        if count is not None:
            if 0 <= count <= LARGEST_COUNT:
                written[key] = count
            else:
                odd[name] = count
    if "input" in written:
        written["input-includes-cached"] = True
    return written | ({OURS: odd} if odd else {})


def _places_written(
    sources: Sequence[Location], looked_at: Sequence[NativeEvidence], files: Files
) -> dict[str, Any]:
    """Where a message stands; with hashes and remnants of those places that were looked at."""
    if not looked_at:
        return {SOURCE: [files.place(source) for source in sources]}
    waiting = list(reversed(looked_at))
    places: list[dict[str, Any]] = []
    natives: list[Any] = []
    for source in sources:
        known = waiting.pop() if waiting and waiting[-1].source == source else None
        places.append(files.place(source, known.sha256 if known else None))
        natives.append(known.native if known else None)
    if waiting:
        raise RecordError("The evidence is of another session: it names places where no message stands.")
    has_natives = any(native is not None for native in natives)
    return {SOURCE: places} | ({NATIVE: natives} if has_natives else {})
