"""Keys as they are told of: nothing here is private, and nothing needs what signs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec


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


class StrangeKeyFile(msgspec.Struct, frozen=True):
    """Something in the folder of the keys that is no key, or not as it should be."""

    file: str
    reason: str


class FoundKeys(NamedTuple):
    """What is in the folder of the keys."""

    keys: Sequence[SigningKey]
    """The oldest first."""
    strange: Sequence[StrangeKeyFile]
