"""What the published format asks of a record, and of the envelope that signs it, whoever made them.

This is `docs/record.cddl` in types of msgspec. Most maps are open: they may hold any other member with a text
as its key. A member that is named here must have the value that is said here all the same, and null is a
value like any other. What only our own records hold, `shapes` tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable
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


def _is_moment(value: object) -> bool:
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
    Moment: Leaf("a time as RFC 3339 writes it or an unsigned integer", _is_moment),
    Address: Leaf("text that is a reference (RFC 3986)", _is_address),
    CertificateHash: Leaf("a list of an algorithm and bytes", _is_certificate_hash),
}

_SOME: Final = {kind: kind() for kind in LEAVES}
"""One of each kind: nobody asks what a value was once it fits."""


def leaf(kind: type, value: object) -> object:
    """For msgspec: something of this kind. Raises ValueError if the value does not fit."""
    words, fits = LEAVES[kind]
    if not fits(value):
        raise ValueError(words)
    return _SOME[kind]


class _Open(msgspec.Struct, frozen=True, rename="kebab", kw_only=True):
    """A map that may hold more than is named."""


class _Closed(msgspec.Struct, frozen=True, rename="kebab", kw_only=True, forbid_unknown_fields=True):
    """A map that holds nothing else."""


class Recorder(_Open, frozen=True, kw_only=True):
    """The program that made the record."""

    name: str
    version: str | UnsetType = UNSET


class Repository(_Open, frozen=True, kw_only=True):
    """The state of a repository."""

    type: str
    repository: str | UnsetType = UNSET
    branch: str | UnsetType = UNSET
    revision: str | UnsetType = UNSET


class Agent(_Open, frozen=True, kw_only=True):
    """The agent and its models."""

    model_provider: str
    model_id: str
    models: list[str] | UnsetType = UNSET
    cli_name: str | UnsetType = UNSET
    cli_version: str | UnsetType = UNSET


class Environment(_Open, frozen=True, kw_only=True):
    """Where the agent worked."""

    working_dir: str
    sandboxes: list[str] | UnsetType = UNSET
    vcs: Repository | UnsetType = UNSET


class Counts(_Open, frozen=True, kw_only=True):
    """Tokens."""

    total: Unsigned | UnsetType = UNSET
    input: Unsigned | UnsetType = UNSET
    cached: Unsigned | UnsetType = UNSET
    output: Unsigned | UnsetType = UNSET
    reasoning: Unsigned | UnsetType = UNSET
    cost: Number | UnsetType = UNSET


class _Entry(_Open, frozen=True, kw_only=True):
    """What all entries may have."""

    id: str | UnsetType = UNSET
    timestamp: Moment | UnsetType = UNSET
    children: list[Entry] | UnsetType = UNSET


class _Said(_Entry, frozen=True, kw_only=True):
    """What was said."""

    parent_id: str | UnsetType = UNSET
    model_id: str | UnsetType = UNSET
    token_usage: Counts | UnsetType = UNSET


class User(_Said, frozen=True, kw_only=True, tag="user"):
    """What was said to the model."""


class Assistant(_Said, frozen=True, kw_only=True, tag="assistant"):
    """What was said by the model."""


class ToolCall(_Entry, frozen=True, kw_only=True, tag="tool-call"):
    """A request to run a tool."""

    name: str
    input: Any
    call_id: str | UnsetType = UNSET


class ToolResult(_Entry, frozen=True, kw_only=True, tag="tool-result"):
    """What a tool answered."""

    output: Any
    is_error: bool | UnsetType = UNSET
    status: str | UnsetType = UNSET
    call_id: str | UnsetType = UNSET


class Reasoning(_Entry, frozen=True, kw_only=True, tag="reasoning"):
    """A thought."""

    content: Any
    subject: str | UnsetType = UNSET
    encrypted: str | UnsetType = UNSET


class SystemEvent(_Entry, frozen=True, kw_only=True, tag="system-event"):
    """Something that happened."""

    event_type: str
    data: dict[str, Any] | UnsetType = UNSET


Entry = User | Assistant | ToolCall | ToolResult | Reasoning | SystemEvent


class Conversation(_Open, frozen=True, kw_only=True):
    """A session and its entries."""

    session_id: Name
    format: str | UnsetType = UNSET
    agent_meta: Agent
    environment: Environment | UnsetType = UNSET
    session_start: Moment | UnsetType = UNSET
    session_end: Moment | UnsetType = UNSET
    entries: list[Entry]


class Author(_Closed, frozen=True, kw_only=True):
    """Who wrote lines."""

    type: Literal["ai", "human", "mixed", "unknown"]
    model_id: str | UnsetType = UNSET


class Lines(_Closed, frozen=True, kw_only=True):
    """Lines of a file."""

    start_line: Unsigned
    end_line: Unsigned
    contributor: Author | UnsetType = UNSET
    content_hash: str | UnsetType = UNSET
    content_hash_alg: str | UnsetType = UNSET


class Relation(_Closed, frozen=True, kw_only=True):
    """Something that lines have to do with."""

    type: str
    url: Address


class Contribution(_Closed, frozen=True, kw_only=True):
    """What one conversation gave to a file."""

    ranges: list[Lines]
    contributor: Author | UnsetType = UNSET
    url: Address | UnsetType = UNSET
    related: list[Relation] | UnsetType = UNSET


class AttributedFile(_Closed, frozen=True, kw_only=True):
    """A file of which somebody wrote lines."""

    path: str
    conversations: list[Contribution]


class Attribution(_Closed, frozen=True, kw_only=True):
    """Who wrote which lines."""

    files: list[AttributedFile]


class Record(_Open, frozen=True, kw_only=True):
    """A record."""

    version: str
    id: str
    created: Moment | UnsetType = UNSET
    recording_agent: Recorder | UnsetType = UNSET
    vcs: Repository | UnsetType = UNSET
    session: Conversation
    file_attribution: Attribution | UnsetType = UNSET


Certificates = bytes | Annotated[list[bytes], msgspec.Meta(min_length=2)]


class Claims(_Open, frozen=True, kw_only=True, rename={"issuer": "1", "subject": "2"}):
    """Who says it, and of what. Labels of headers and claims are texts here: msgspec knows no others."""

    issuer: str
    subject: str


class ProtectedHeaders(
    _Open,
    kw_only=True,
    frozen=True,
    rename={
        "claims": "15",
        "algorithm": "1",
        "content_type": "3",
        "key_id": "4",
        "certificates": "33",
        "certificate_hash": "34",
    },
):
    """Headers that are signed."""

    claims: Claims
    algorithm: Label | UnsetType = UNSET
    content_type: MediaType | UnsetType = UNSET
    key_id: bytes | UnsetType = UNSET
    certificates: Certificates | UnsetType = UNSET
    certificate_hash: CertificateHash | UnsetType = UNSET


class Trace(_Closed, frozen=True, kw_only=True):
    """What is told of the session beside the record."""

    session_id: Name
    trace_format: str
    agent_vendor: str
    timestamp_start: Moment
    timestamp_end: Moment | UnsetType = UNSET
    content_hash: str | UnsetType = UNSET
    content_hash_alg: str | UnsetType = UNSET


class UnprotectedHeaders(
    _Open, frozen=True, kw_only=True, rename={"certificates": "33", "trace": "100", "receipts": "394"}
):
    """Headers that are not signed. Receipts of a transparency service are taken as they come, as bytes."""

    certificates: Certificates | UnsetType = UNSET
    trace: Trace | UnsetType = UNSET
    receipts: Annotated[list[bytes], msgspec.Meta(min_length=1)] | UnsetType = UNSET


class Envelope(
    _Closed,
    frozen=True,
    kw_only=True,
    rename={"protected": "0", "unprotected": "1", "payload": "2", "signature": "3"},
):
    """COSE_Sign1, each part by its number."""

    protected: ProtectedHeaders
    unprotected: UnprotectedHeaders
    payload: bytes | None
    """None if the record is kept beside the envelope."""
    signature: bytes
