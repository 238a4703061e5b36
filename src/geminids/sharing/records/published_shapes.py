"""What the published format asks of a record, and of the envelope that signs it, whoever made them.

This is `docs/record.cddl` in types of msgspec, which nothing but its decoder looks at. Most maps are open:
they may hold any other member with a text as its key. A member that is named here must have the value that is
said here all the same, and null is a value like any other. What only our own records hold, `shapes` tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

MOST = 2**64
"""Integers from here on have no number of their own in CBOR, and are tagged bytes."""

_WRITTEN_MOMENT = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"T([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)([.][0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])"
)
_ADDRESS = re.compile(r"[^#]*(#[^\n\r]*)?")


def is_integer(value: object) -> bool:
    """Whether it is an integer that CBOR has a number for. True is none, though Python thinks so."""
    return type(value) is int and -MOST <= value < MOST


def is_unsigned(value: object) -> bool:
    """Whether it is an integer of 64 bits without a sign."""
    return type(value) is int and 0 <= value < MOST


def _is_number(value: object) -> bool:
    return is_integer(value) or isinstance(value, float)


def _is_label(value: object) -> bool:
    return is_integer(value) or isinstance(value, str)


def _is_media_type(value: object) -> bool:
    return isinstance(value, str) or is_unsigned(value)


def _is_name(value: object) -> bool:
    return isinstance(value, str | bytes)


def is_moment(value: object) -> bool:
    """Whether it is a time as the format writes times."""
    return bool(_WRITTEN_MOMENT.fullmatch(value)) if isinstance(value, str) else is_unsigned(value)


def _is_address(value: object) -> bool:
    return isinstance(value, str) and bool(_ADDRESS.fullmatch(value))


def _is_certificate_hash(value: object) -> bool:
    match value:
        case list([algorithm, bytes()]):
            return _is_label(algorithm)
        case _:
            return False


class Unsigned:
    """A count, or the number of a line."""


class Number:
    """A sum of money."""


class Label:
    """The name of an algorithm."""


class MediaType:
    """What a payload is: by name, or by its number among those of CoAP."""


class Name:
    """The id of a session."""


class Moment:
    """A time; a number counts from 1970, and does not say what."""


class Address:
    """A reference to something, which nearly every text could be."""


class CertificateHash:
    """The hash of a certificate, with its algorithm."""


class Leaf(NamedTuple):
    """What a value has to be of which types of msgspec cannot tell that."""

    words: str
    fits: Callable[[object], bool]


LEAVES: Final[dict[type, Leaf]] = {
    Unsigned: Leaf("an unsigned integer", is_unsigned),
    Number: Leaf("an integer or a float", _is_number),
    Label: Leaf("an integer or text", _is_label),
    MediaType: Leaf("text or an unsigned integer", _is_media_type),
    Name: Leaf("bytes or text", _is_name),
    Moment: Leaf("a time as RFC 3339 writes it or an unsigned integer", is_moment),
    Address: Leaf("text that is a reference (RFC 3986)", _is_address),
    CertificateHash: Leaf("a list of an algorithm and bytes", _is_certificate_hash),
}

_SOME: Final = {kind: kind() for kind in LEAVES}
"""One of each kind: nobody asks what a value was once it fits."""


def fits(shape: type[msgspec.Struct], name: str, value: object) -> bool:
    """Whether a map may hold a value under a name: not null, and of the kind that is said of the member."""
    kind = _kinds(shape).get(name)
    if value is None or kind is None:
        return value is not None
    try:
        msgspec.convert(value, kind, dec_hook=leaf)
    except msgspec.ValidationError:
        return False
    return True


@cache
def _kinds(shape: type[msgspec.Struct]) -> dict[str, Any]:
    return {field.encode_name: field.type for field in msgspec.structs.fields(shape)}


def leaf(kind: type, value: object) -> object:
    """For msgspec: something of this kind. Raises ValueError if the value does not fit."""
    words, fits = LEAVES[kind]
    if not fits(value):
        raise ValueError(words)
    return _SOME[kind]


_MEMBER = re.compile(r"(?P<name>\w+)(?:@(?P<label>\d+))?(?P<optional>\??): (?P<kind>.+)")


def _map(name: str, members: str, *, tag: str | None = None, is_closed: bool = False) -> type[msgspec.Struct]:
    """The shape of a map: its members as `name: kind`, with `?` if one may be missing.

    `@` is followed by the label of a header or a claim, as a text: msgspec knows no others.
    """
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    labels: dict[str, str] = {}
    for found in filter(None, map(_MEMBER.fullmatch, members.split(", "))):
        labels[found["name"]] = found["label"] or found["name"].replace("_", "-")
        is_optional = bool(found["optional"])
        kind = f"{found['kind']} | Missing" if is_optional else found["kind"]
        fields.append((found["name"], kind, UNSET) if is_optional else (found["name"], kind))
    return msgspec.defstruct(
        name,
        fields,
        module=__name__,
        kw_only=True,
        frozen=True,
        tag=tag,
        rename=labels,
        forbid_unknown_fields=is_closed,
    )


Missing = UnsetType
Certificates = bytes | Annotated[list[bytes], msgspec.Meta(min_length=2)]
Receipts = Annotated[list[bytes], msgspec.Meta(min_length=1)]
"""Of a transparency service; taken as they come."""
Writer = Literal["ai", "human", "mixed", "unknown"]

Recorder = _map("Recorder", "name: str, version?: str")
Repository = _map("Repository", "type: str, repository?: str, branch?: str, revision?: str")
Agent = _map(
    "Agent", "model_provider: str, model_id: str, models?: list[str], cli_name?: str, cli_version?: str"
)
Environment = _map("Environment", "working_dir: str, sandboxes?: list[str], vcs?: Repository")
Counts = _map(
    "Counts",
    "total?: Unsigned, input?: Unsigned, cached?: Unsigned, output?: Unsigned, reasoning?: Unsigned, "
    "cost?: Number",
)

_ENTRY = "id?: str, timestamp?: Moment, children?: list[Entry]"
_SAID = f"{_ENTRY}, parent_id?: str, model_id?: str, token_usage?: Counts"
User = _map("User", _SAID, tag="user")
Assistant = _map("Assistant", _SAID, tag="assistant")
ToolCall = _map("ToolCall", f"{_ENTRY}, name: str, input: Any, call_id?: str", tag="tool-call")
ToolResult = _map(
    "ToolResult", f"{_ENTRY}, output: Any, is_error?: bool, status?: str, call_id?: str", tag="tool-result"
)
Reasoning = _map("Reasoning", f"{_ENTRY}, content: Any, subject?: str, encrypted?: str", tag="reasoning")
SystemEvent = _map("SystemEvent", f"{_ENTRY}, event_type: str, data?: Data", tag="system-event")
Data = dict[str, Any]
Entry = User | Assistant | ToolCall | ToolResult | Reasoning | SystemEvent
ENTRIES = {
    str(shape.__struct_config__.tag): shape
    for shape in (User, Assistant, ToolCall, ToolResult, Reasoning, SystemEvent)
}
"""The shapes of entries, by their types."""
Conversation = _map(
    "Conversation",
    "session_id: Name, format?: str, agent_meta: Agent, environment?: Environment, session_start?: Moment, "
    "session_end?: Moment, entries: list[Entry]",
)

Author = _map("Author", "type: Writer, model_id?: str", is_closed=True)
Lines = _map(
    "Lines",
    "start_line: Unsigned, end_line: Unsigned, contributor?: Author, content_hash?: str, "
    "content_hash_alg?: str",
    is_closed=True,
)
Relation = _map("Relation", "type: str, url: Address", is_closed=True)
Contribution = _map(
    "Contribution",
    "ranges: list[Lines], contributor?: Author, url?: Address, related?: list[Relation]",
    is_closed=True,
)
AttributedFile = _map("AttributedFile", "path: str, conversations: list[Contribution]", is_closed=True)
Attribution = _map("Attribution", "files: list[AttributedFile]", is_closed=True)
Record = _map(
    "Record",
    "version: str, id: str, created?: Moment, recording_agent?: Recorder, vcs?: Repository, "
    "session: Conversation, file_attribution?: Attribution",
)

Claims = _map("Claims", "issuer@1: str, subject@2: str")
ProtectedHeaders = _map(
    "ProtectedHeaders",
    "claims@15: Claims, algorithm@1?: Label, content_type@3?: MediaType, key_id@4?: bytes, "
    "certificates@33?: Certificates, certificate_hash@34?: CertificateHash",
)
Trace = _map(
    "Trace",
    "session_id: Name, trace_format: str, agent_vendor: str, timestamp_start: Moment, "
    "timestamp_end?: Moment, content_hash?: str, content_hash_alg?: str",
    is_closed=True,
)
UnprotectedHeaders = _map(
    "UnprotectedHeaders", "certificates@33?: Certificates, trace@100?: Trace, receipts@394?: Receipts"
)
Envelope = _map(
    "Envelope",
    "protected@0: ProtectedHeaders, unprotected@1: UnprotectedHeaders, payload@2: bytes | None, "
    "signature@3: bytes",
    is_closed=True,
)
"""COSE_Sign1, each part by its number; the payload is null if the record is kept beside the envelope."""
