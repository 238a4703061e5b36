"""The members of a record as they are read: what is not named here, no record of ours has."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec

from geminids.core.model import Location, Origin, Usage
from geminids.sharing.records.profile import COMMITMENT, NATIVE, OURS, SOURCE, UNKNOWN

Moment = Annotated[datetime, msgspec.Meta(tz=True)]
Count = Annotated[int, msgspec.Meta(ge=0)]

USAGE_KEYS = {name: name.replace("_", "-") for name in Usage.__struct_fields__} | {"thoughts": "reasoning"}
"""What the counts of the model are called in `token-usage`."""


class _Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """A map of which all members are known."""


class FileShape(_Shape, frozen=True):
    """A file of an agent; with its hash, where its bytes were looked at."""

    path: str
    format: str | None = None
    size: int | None = None
    sha256: str | None = None


class PlaceShape(_Shape, frozen=True):
    """Where a native record stands."""

    file: Count
    line: int
    start: int
    end: int
    pointer: str | None = None
    sha256: str | None = None


class OriginNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whose words a block holds, where that is not as usual."""

    origin: Origin


class TextBlock(_Shape, frozen=True, tag="text"):
    """Words."""

    text: str
    ours: OriginNote | None = msgspec.field(name=OURS, default=None)


class AttachmentBlock(_Shape, frozen=True, tag="attachment"):
    """A picture, sound or document."""

    mime_type: str | None = None
    data: str | None = None
    uri: str | None = None
    ours: OriginNote | None = msgspec.field(name=OURS, default=None)


class FileBlock(_Shape, frozen=True, tag="file-reference"):
    """A file that the human pointed at."""

    path: str
    text: str | None = None


class UnrecognisedBlock(_Shape, frozen=True, tag="unrecognised"):
    """Something that the agent wrote and we have no name for."""

    value: Any = None


Block = TextBlock | AttachmentBlock | FileBlock | UnrecognisedBlock
Content = str | tuple[Block, ...]


class ThoughtShape(_Shape, frozen=True, tag="reasoning"):
    """A thought."""

    id: str
    content: str
    subject: str = ""
    timestamp: Moment | None = None


class CallShape(_Shape, frozen=True, tag="tool-call"):
    """A request to run a tool."""

    id: str
    name: str
    input: dict[str, Any]
    call_id: str | None = None
    timestamp: Moment | None = None
    ours: dict[str, Any] = msgspec.field(name=OURS, default_factory=dict)


class ResultShape(_Shape, frozen=True, tag="tool-result"):
    """What a tool answered."""

    id: str
    output: Content
    call_id: str | None = None
    status: str | None = None
    is_error: bool | None = None
    ours: dict[str, Any] = msgspec.field(name=OURS, default_factory=dict)


Child = ThoughtShape | CallShape | ResultShape


class _Turn(_Shape, frozen=True, kw_only=True):
    """What all messages have, whoever made them."""

    id: str
    timestamp: Moment | None = None
    model_id: str | None = None
    token_usage: dict[str, Any] | None = None
    children: tuple[Child, ...] = ()
    source: tuple[PlaceShape, ...] = msgspec.field(name=SOURCE)
    native: tuple[Any, ...] = msgspec.field(name=NATIVE, default=())
    ours: dict[str, Any] = msgspec.field(name=OURS, default_factory=dict)


class UserShape(_Turn, frozen=True, tag="user"):
    """What was said to the model."""

    content: Content | None = None


class AssistantShape(_Turn, frozen=True, tag="assistant"):
    """What was said by the model."""

    content: Content | None = None


class EventShape(_Turn, frozen=True, kw_only=True, tag="system-event"):
    """A notice; or what a record of no message says; or what several messages say together."""

    id: str = ""
    event_type: str
    data: dict[str, Any] | None = None


Entry = UserShape | AssistantShape | EventShape


class AgentShape(_Shape, frozen=True):
    """What is known of the agent and its models."""

    model_id: str
    model_provider: str
    cli_name: str
    models: tuple[str, ...] = ()
    cli_version: str | None = None


class VcsShape(_Shape, frozen=True):
    """The branch that was checked out."""

    type: str
    branch: str


class EnvironmentShape(_Shape, frozen=True):
    """The folder that was worked in."""

    working_dir: str
    vcs: VcsShape | None = None


class SessionShape(_Shape, frozen=True, kw_only=True):
    """A session and its entries."""

    format: str
    session_id: str
    session_start: Moment | None = None
    session_end: Moment | None = None
    agent_meta: AgentShape
    environment: EnvironmentShape | None = None
    entries: tuple[Entry, ...]
    ours: dict[str, Any] = msgspec.field(name=OURS)


class RecorderShape(_Shape, frozen=True):
    """The program that made the record."""

    name: str
    version: str = UNKNOWN


class RootNotes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a record says of itself."""

    profile: str
    evidence: bool = False
    """Whether the bytes of the agent's files were looked at."""


class RecordShape(_Shape, frozen=True, kw_only=True):
    """A record."""

    version: str
    id: str
    session: SessionShape
    file_attribution: Any = None
    vcs: VcsShape | None = None
    recording_agent: RecorderShape
    source: tuple[FileShape, ...] = msgspec.field(name=SOURCE, default=())
    ours: RootNotes = msgspec.field(name=OURS)
    commitment: Any = msgspec.field(name=COMMITMENT, default=None)


UsageShape = msgspec.defstruct(
    "UsageShape",
    [
        ("requests", int | None, None),
        *((name, int | None, None) for name in Usage.__struct_fields__ if name != "requests"),
        ("input_includes_cached", bool, False),
        ("ours", dict[str, int], msgspec.field(default_factory=dict)),
    ],
    rename={**USAGE_KEYS, "input_includes_cached": "input-includes-cached", "ours": OURS},
    forbid_unknown_fields=True,
)


def source_of(place: PlaceShape, paths: tuple[str, ...]) -> Location | None:
    """Where a record stands in the agent's files; None if the place names a file that is not listed."""
    if place.file >= len(paths):
        return None
    return Location(paths[place.file], place.line, place.start, place.end, place.pointer)
