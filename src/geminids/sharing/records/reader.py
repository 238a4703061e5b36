"""A record of ours as the session and the evidence it was made of.

Whatever is no such record, or is damaged, is refused with the place: a member that we do not write, a value
of another kind, a place in a file that is not listed. What can be told from the rest (events that are derived
from messages, who wrote which lines) is not looked at; `record_of` makes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from geminids.core.model import (
    Level,
    Location,
    Message,
    Project,
    Role,
    Session,
    Thought,
    ToolCall,
    Usage,
    is_tellable,
)
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.evidence import Evidence, FileEvidence, NativeEvidence
from geminids.sharing.records.leftovers import converted
from geminids.sharing.records.presentable import restored_record
from geminids.sharing.records.profile import NATIVE, PROFILE, SOURCE
from geminids.sharing.records.reader_parts import in_order, read_children, read_content
from geminids.sharing.records.shapes import (
    Content,
    Entry,
    EventShape,
    FileShape,
    PlaceShape,
    RecordShape,
    UsageShape,
    UserShape,
    source_of,
)
from geminids.sharing.records.translation import PROJECT, SESSION
from geminids.sharing.records.translation_events import NATIVE_EVENT
from geminids.sharing.records.translation_messages import MESSAGE, USUAL_ORIGINS

_LEVELS = {level.value: level for level in Level}


class EventContent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the data of a notice holds."""

    content: Content | None = None


class _Read(NamedTuple):
    """What an entry says."""

    message: Message | None
    places: tuple[NativeEvidence, ...]


def session_of(record: Mapping[str, Any]) -> tuple[Session, Evidence | None]:
    """The session that a record tells, and the evidence if it was made with any. Raises RecordError."""
    _check_profile(record)
    shape = converted(restored_record(record), RecordShape, "")
    paths = tuple(file.path for file in shape.source)
    entries = [*_read_entries(shape.session.entries, paths)]
    session = _session(shape, tuple(entry.message for entry in entries if entry.message))
    _check_moments(session)
    if not shape.ours.evidence:
        return session, None
    evidence = Evidence(
        files=tuple(_file_evidence(file) for file in shape.source if file.sha256 is not None),
        messages=tuple(entry.places for entry in entries if entry.message),
        others=tuple(place for entry in entries if not entry.message for place in entry.places),
        agent_version=shape.session.agent_meta.cli_version,
    )
    return session, evidence


def _check_profile(record: object) -> None:
    match record:
        case {"x-geminids": {"profile": str(profile)}}:
            if profile != PROFILE:
                raise RecordError(f"The record has the profile {profile!r}; this geminids reads {PROFILE!r}.")
        case _:
            raise RecordError("This is not a record of geminids: /x-geminids/profile is missing.")


def _session(shape: RecordShape, messages: tuple[Message, ...]) -> Session:
    about = shape.session
    left = SESSION.read(about.ours, "/session/x-geminids")
    project = PROJECT.read(left.pop("project"), "/session/x-geminids/project")
    return Session(
        id=shape.id,
        native_id=about.session_id,
        project=Project(path=about.environment.working_dir if about.environment else None, **project),
        started_at=about.session_start,
        ended_at=about.session_end,
        models=about.agent_meta.models,
        branch=shape.vcs.branch if shape.vcs else None,
        messages=messages,
        **left,
    )


def _file_evidence(file: FileShape) -> FileEvidence:
    if file.size is None or file.sha256 is None:
        raise RecordError(f"The record is damaged: a file at /{SOURCE} has a hash and no size.")
    return FileEvidence(file.path, file.size, file.sha256)


def _read_entries(entries: Sequence[Entry], paths: tuple[str, ...]) -> Iterator[_Read]:
    for number, entry in enumerate(entries):
        pointer = f"/session/entries/{number}"
        left = MESSAGE.read(entry.ours, f"{pointer}/x-geminids")
        if left["derived"]:
            continue
        sources = [_source(place, paths, f"{pointer}/{SOURCE}/{n}") for n, place in enumerate(entry.source)]
        if isinstance(entry, EventShape) and entry.event_type.startswith(NATIVE_EVENT):
            yield _Read(None, (_other(entry, sources, left, pointer),))
        else:
            message = _message(entry, sources, left, paths, pointer)
            yield _Read(message, (*_places(entry, sources, pointer),))


def _source(place: PlaceShape, paths: tuple[str, ...], pointer: str) -> Location:
    source = source_of(place, paths)
    if source is None:
        raise RecordError(f"The record is damaged: {pointer}/file is the number of no file at /{SOURCE}.")
    return source


def _other(entry: EventShape, sources: list[Location], left: dict[str, Any], pointer: str) -> NativeEvidence:
    native: Any = entry.data
    if not left["is_object"]:
        native = (native or {}).get("value")
    if len(sources) != 1 or entry.source[0].sha256 is None:
        raise RecordError(f"The record is damaged: {pointer}/{SOURCE} does not tell where its record stands.")
    return NativeEvidence(sources[0], entry.source[0].sha256, native)


def _places(entry: Entry, sources: list[Location], pointer: str) -> Iterator[NativeEvidence]:
    """The places of a message that were looked at."""
    natives = entry.native or (None,) * len(sources)
    if len(natives) != len(sources):
        raise RecordError(f"The record is damaged: {pointer}/{NATIVE} fits no {SOURCE}.")
    for place, source, native in zip(entry.source, sources, natives, strict=True):
        if place.sha256 is not None:
            yield NativeEvidence(source, place.sha256, native)


def _message(
    entry: Entry, sources: list[Location], left: dict[str, Any], paths: tuple[str, ...], pointer: str
) -> Message:
    if not sources:
        raise RecordError(f"The record is damaged: {pointer}/{SOURCE} is empty.")
    role, level = _role_and_level(entry)
    stated_role, stated_origin = left.pop("role"), left.pop("origin")
    origin = stated_origin or USUAL_ORIGINS[role]
    children = [*read_children(entry.children, pointer)]
    contents = read_content(_content(entry, pointer), origin, left.pop("content_origin"))
    dropped_by = left.pop("dropped_by")
    level = left.pop("level") or level
    after = left.pop("content_after")
    del left["derived"], left["is_object"]
    return Message(
        id=entry.id,
        role=stated_role or role,
        origin=origin,
        at=entry.timestamp,
        model=entry.model_id,
        parts=in_order(contents, children, after, pointer),
        usage=_usage(entry.token_usage, f"{pointer}/token-usage"),
        source=sources[0],
        also_at=tuple(sources[1:]),
        dropped_by=_source(dropped_by, paths, f"{pointer}/x-geminids/dropped_by") if dropped_by else None,
        level=level,
        **left,
    )


def _role_and_level(entry: Entry) -> tuple[Role, Level | None]:
    if isinstance(entry, EventShape):
        return Role.SYSTEM, _LEVELS.get(entry.event_type)
    return (Role.USER if isinstance(entry, UserShape) else Role.ASSISTANT), None


def _content(entry: Entry, pointer: str) -> Content | None:
    if isinstance(entry, EventShape):
        return converted(entry.data or {}, EventContent, f"{pointer}/data").content
    return entry.content


def _usage(counts_written: dict[str, Any] | None, pointer: str) -> Usage | None:
    if counts_written is None:
        return None
    counts = msgspec.structs.asdict(converted(counts_written, UsageShape, pointer))
    del counts["input_includes_cached"]
    odd = counts.pop("ours")
    known = {name: count for name, count in counts.items() if count is not None}
    return converted(known | odd, Usage, pointer)


def _check_moments(session: Session) -> None:
    """Refuse times without a zone, or that some zones have no date for: telling them would fail."""
    for at in filter(None, _moments(session)):
        if at.tzinfo is None or not is_tellable(at):
            raise RecordError("The record has a time without a zone, or one before 1970 or after 2999.")


def _moments(session: Session) -> Iterator[datetime | None]:
    yield from (session.started_at, session.ended_at)
    yield from (companion.modified_at for companion in session.companions)
    for message in session.messages:
        yield message.at
        yield from (part.at for part in message.parts if isinstance(part, Thought | ToolCall))
