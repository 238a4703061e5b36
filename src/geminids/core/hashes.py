"""Hashes of a few words, without OpenSSL: `hashlib` loads it, which takes a third as long as Python's start.

Python has these two of its own, under names that it does not promise; where they go, `hashlib` does the same.
What is long is hashed by `hashlib`, which is quicker then.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b

        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:
        from hashlib import blake2b, sha256

__all__ = ["blake2b", "sha256"]
