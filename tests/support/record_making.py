"""Small records, keys that are no secret, and signed files of every kind, for the tests of records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ec import (
    SECP256R1,
    EllipticCurvePrivateKey,
    derive_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import strategies as some

from geminids.sharing.records.commitment import commit
from geminids.sharing.records.redaction import withhold
from geminids.sharing.records.signature import Claims, excerpt, statement
from geminids.sharing.records.standalone import CBOR, JSON, PublicKey, encode_record

Record = dict[str, Any]
PrivateKey = Ed25519PrivateKey | EllipticCurvePrivateKey

SEED = bytes(range(32))
ED25519_KEY = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"a key for tests").digest())
ES256_KEY = derive_private_key(int.from_bytes(hashlib.sha256(b"another").digest()) >> 1, SECP256R1())
OTHER_KEY = Ed25519PrivateKey.from_private_bytes(hashlib.sha256(b"of somebody else").digest())
KEYS: dict[str, PrivateKey] = {"ed25519": ED25519_KEY, "es256": ES256_KEY}
PUBLIC_KEYS: tuple[PublicKey, ...] = tuple(key.public_key() for key in KEYS.values())

SESSION = "7f3c2b10-0000-4000-8000-000000000001"
CLAIMS = Claims("https://signer.example", SESSION, 1_781_524_800)

WITHHELD = ("/session/entries/0/content", "/session/entries/1/children/1", "/session/entries/2")
"""A member, a child and an entry."""


def pem_of(key: PrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


NATIVE_LINES = [
    {"sessionId": SESSION, "kind": "main"},
    {"id": "m1", "type": "user", "content": "Is the port 8443? ü — 端口", "extra": [1, None, 2.5]},
    {"id": "m2", "type": "gemini", "content": "yes", "toolCalls": [{"id": "c1", "name": "read_file"}]},
    {"id": "m3", "type": "info", "content": "Update available"},
]


@cache
def source_file() -> bytes:
    """The file of an agent that the small record is made from."""
    return b"".join(json.dumps(line, ensure_ascii=False).encode() + b"\n" for line in NATIVE_LINES)


def _place(line: int) -> Record:
    lines = source_file().splitlines(keepends=True)
    start = sum(map(len, lines[: line - 1]))
    end = start + len(lines[line - 1]) - 1
    digest = hashlib.sha256(source_file()[start:end]).hexdigest()
    return {"file": 0, "line": line, "start": start, "end": end, "sha256": digest}


def small_record() -> Record:
    """A record that has something of every kind."""
    digest = hashlib.sha256(source_file()).hexdigest()
    return {
        "version": "3.0.0-draft",
        "id": "record-1",
        "session": {
            "session-id": SESSION,
            "session-start": "2026-06-15T12:00:00Z",
            "agent-meta": {
                "model-id": "gemini-3-pro",
                "model-provider": "google",
                "models": ["gemini-3-pro"],
            },
            "environment": {"working-dir": "/home/user/project"},
            "x-geminids": {"title": "Is the port 8443? ü …", "kind": "main", "tags": [], "more": {}},
            "entries": [
                {
                    "type": "user",
                    "id": "m1",
                    "content": "Is the port 8443? ü — 端口",
                    "x-source": [_place(2)],
                    "x-native": [{"extra": [1, None, 2.5]}],
                },
                {
                    "type": "assistant",
                    "id": "m2",
                    "timestamp": "2026-06-15T12:00:05Z",
                    "content": "yes",
                    "token-usage": {"input": 120, "output": 1, "cost": 0.0125, "total": 121},
                    "x-source": [_place(3)],
                    "children": [
                        {"type": "reasoning", "content": "", "subject": "Ports"},
                        {
                            "type": "tool-call",
                            "name": "read_file",
                            "call-id": "c1",
                            "input": {
                                "file_path": "a/b~c.txt",
                                "limits": [0, -1, 2**70, -(2**70), 1.0, -0.0, 1e300],
                            },
                        },
                        {
                            "type": "tool-result",
                            "call-id": "c1",
                            "output": ["port = 8443"],
                            "is-error": False,
                        },
                    ],
                },
                {
                    "type": "system-event",
                    "event-type": "info",
                    "data": {"content": "Update available"},
                    "x-source": [_place(4)],
                },
                {"type": "system-event", "event-type": "rewind", "data": {}, "note": None},
            ],
        },
        "file-attribution": {
            "files": [
                {
                    "path": "a.txt",
                    "conversations": [
                        {
                            "ranges": [
                                {
                                    "start-line": 1,
                                    "end-line": 2,
                                    "content-hash": hashlib.sha256(b"x").hexdigest(),
                                }
                            ]
                        }
                    ],
                }
            ]
        },
        "x-source": [{"path": "/home/user/s.jsonl", "size": len(source_file()), "sha256": digest}],
    }


class Signed(NamedTuple):
    """A signed file, and the record if that is a file of its own."""

    name: str
    signed: bytes
    record: bytes | None


def signed_in_every_way(
    record: Record, key: PrivateKey, withheld: Sequence[str] = WITHHELD, seed: bytes = SEED
) -> list[Signed]:
    """A record signed and redacted, attached and detached, as JSON and as CBOR."""
    committed = commit(record, seed)
    redacted = withhold(committed, withheld)
    claims = CLAIMS._replace(subject=record["session"]["session-id"])
    made = []
    for form, media_type in (("json", JSON), ("cbor", CBOR)):
        content, left = encode_record(committed, media_type), encode_record(redacted, media_type)
        attached = statement(content, committed, key, claims)
        detached = statement(content, committed, key, claims, detached=True)
        made += [
            Signed(f"statement.{form}", attached, None),
            Signed(f"statement.{form}.detached", detached, content),
            Signed(f"excerpt.{form}", excerpt(attached, left), None),
            Signed(f"excerpt.{form}.detached", excerpt(detached, left, detached=True), left),
        ]
    return made


texts = some.text(some.characters(codec="utf-8"), max_size=20)
# cbor2, with which tests compare, writes half of these numbers longer than need be.
fractions = some.floats(allow_nan=False, allow_infinity=False).filter(lambda x: not 2**15 <= abs(x) < 2**16)
numbers = some.integers(-(2**66), 2**66) | fractions
values = some.recursive(
    some.none() | some.booleans() | numbers | texts,
    lambda inner: some.lists(inner, max_size=5) | some.dictionaries(texts, inner, max_size=5),
    max_leaves=12,
)
_entries = some.recursive(
    some.lists(
        some.fixed_dictionaries({"type": some.just("user")}, optional={"content": values}), max_size=4
    ),
    lambda children: some.lists(
        some.fixed_dictionaries(
            {"type": some.sampled_from(["assistant", "tool-call", "system-event"])},
            optional={"content": values, "x-native": values, "token-usage": values, "children": children},
        ),
        max_size=7,
    ),
    max_leaves=8,
)
records = some.fixed_dictionaries(
    {
        "version": some.just("3.0.0-draft"),
        "id": texts,
        "session": some.fixed_dictionaries(
            {"session-id": texts, "entries": _entries}, optional={"x-geminids": values, "x-source": values}
        ),
    },
    optional={"more": values, "": values, "a/b~c": values},
)
