"""Commits to every piece of a record, so that pieces can be taken out of it later.

The tree is the one of `standalone`; here it gets its seed.
"""

from __future__ import annotations

import secrets
from typing import Any

from geminids.sharing.records import standalone
from geminids.sharing.records.errors import CommitmentError


def commit(record: dict[str, Any], seed: bytes | None = None) -> dict[str, Any]:
    """A record with a commitment to all that is in it; its seed is to be seen by whoever may see it all."""
    if standalone.COMMITMENT in record:
        raise CommitmentError("the record has a commitment already")
    if seed is None:
        seed = secrets.token_bytes(32)
    if len(seed) != 32:
        raise CommitmentError(f"a seed has 32 bytes, and this one has {len(seed)}")
    try:
        root = standalone.digest_of(record, seed)
    except (UnicodeEncodeError, RecursionError, standalone.RefusedError) as error:
        raise CommitmentError(f"a value in the record cannot be written as CBOR ({error})") from error
    return {
        **record,
        standalone.COMMITMENT: {"scheme": standalone.SCHEME, "root": root.hex(), "seed": seed.hex()},
    }
