"""What `geminids key` prints as JSON. No private key is ever part of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from geminids.sharing.records.public_keys import FoundKeys, SigningKey, StrangeKeyFile


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
    return KeysDocument(folder=folder, keys=found.keys, strange=found.strange)


def key_document(key: SigningKey, private_file: str) -> KeyDocument:
    """One key as a document."""
    return KeyDocument(**msgspec.structs.asdict(key), private_file=private_file)
