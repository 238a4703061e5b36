"""What `geminids key` prints as JSON. No private key is ever part of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    # Loading these would need what signs.
    from geminids.library import FoundKeys, KeptKey


class SigningKey(msgspec.Struct, frozen=True, kw_only=True):
    """A key that this user can sign with: its public half, and what is known of it."""

    name: str
    algorithm: str
    """`ed25519` or `es256`."""
    key_id: str
    """SHA-256 of the public half (SubjectPublicKeyInfo) in hexadecimal digits: what statements name it by."""
    issuer: str | None
    """Who signs with it, as statements say it."""
    created_at: datetime
    has_passphrase: bool
    is_default: bool
    """Whether it signs where none is named."""
    public_pem: str


class StrangeKeyFile(msgspec.Struct, frozen=True, kw_only=True):
    """Something in the folder of the keys that is no key, or not as it should be."""

    file: str
    reason: str


class KeysDocument(msgspec.Struct, frozen=True, kw_only=True, tag_field="schema", tag="geminids/keys/1"):
    """The keys that this user can sign with, the oldest first."""

    folder: str
    keys: Sequence[SigningKey]
    strange: Sequence[StrangeKeyFile]


class KeyDocument(SigningKey, frozen=True, kw_only=True, tag_field="schema", tag="geminids/key/1"):
    """One key."""

    private_file: str
    """Where the private half is, for this user alone."""


def keys_document(folder: str, found: FoundKeys) -> KeysDocument:
    """What was found as a document."""
    return KeysDocument(
        folder=folder,
        keys=[SigningKey(**_fields(key)) for key in found.keys],
        strange=[StrangeKeyFile(file=file.path, reason=file.reason) for file in found.strange],
    )


def key_document(key: KeptKey, private_file: str) -> KeyDocument:
    """One key as a document."""
    return KeyDocument(**_fields(key), private_file=private_file)


def _fields(key: KeptKey) -> dict[str, Any]:
    return msgspec.structs.asdict(key)
