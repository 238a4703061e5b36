"""What stands in the place of what was hidden: the same for the same, as long as the key is the same.

    [REDACTED:github-token:1a2b3c]   a secret: its rule, and six digits of a keyed hash of it
    /home/user-1a2b3c/shop           the name of a user, in paths and elsewhere
    user-1a2b3c@example.com          an e-mail address

Without the key nobody can try out what was hidden.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from geminids.core.atomic_files import PartFile, remove_left_over
from geminids.core.errors import RedactionKeyError

KEY_SIZE = 32
KEY_FILE = "redaction.key"

OF_USERS = frozenset(("home", "name"))
"""The rules whose finds keep the form of a name."""


class Pseudonyms:
    """What stands for what, by one key."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def of(self, rule: str, value: bytes) -> bytes:
        """What stands for a value that a rule found."""
        if rule in OF_USERS:
            return b"user-" + self._digits(value.lower())
        if rule == "email":
            return b"user-" + self._digits(value.lower()) + b"@example.com"
        if rule == "project-hash":
            return self._hash(value)
        return b"[REDACTED:" + rule.encode() + b":" + self._digits(value) + b"]"

    def is_ours(self, project_hash: bytes) -> bool:
        """Whether a hash of a folder is one that we put in the place of another."""
        return hmac.compare_digest(self._seal(project_hash[:_OPEN_PART]), project_hash[_OPEN_PART:])

    def _digits(self, value: bytes) -> bytes:
        return self._keyed(value)[:6]

    def _hash(self, value: bytes) -> bytes:
        """Another hash of the same length, of which the key tells that it is ours."""
        start = self._keyed(value)[:_OPEN_PART]
        return start + self._seal(start)

    def _seal(self, start: bytes) -> bytes:
        return self._keyed(b"project " + start)[: 64 - _OPEN_PART]

    def _keyed(self, value: bytes) -> bytes:
        return hmac.new(self._key, value, hashlib.sha256).hexdigest().encode()


_OPEN_PART = 56

OURS = re.compile(rb"\[REDACTED:[a-z0-9._-]+:[0-9a-f]{6}\]")


def load_key(folder: Path | None) -> bytes:
    """The key in our own folder, made if there is none; without a folder to write to, a key for this run."""
    if folder is None:
        return secrets.token_bytes(KEY_SIZE)
    path = folder / KEY_FILE
    if not os.path.lexists(path):
        try:
            _make_key(path)
        except OSError:
            return secrets.token_bytes(KEY_SIZE)
    return read_key(path)


def read_key(path: Path) -> bytes:
    """The key in a file; raises RedactionKeyError."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            # Others can keep whoever opens them waiting for ever.
            raise RedactionKeyError(str(path), "cannot be read (no regular file)")
        key = path.read_bytes()
    except OSError as error:
        raise RedactionKeyError(str(path), f"cannot be read ({error.strerror})") from error
    if len(key) != KEY_SIZE:
        raise RedactionKeyError(str(path), f"has {len(key)} bytes instead of {KEY_SIZE}")
    return key


def _make_key(path: Path) -> None:
    """Make the key whole or not at all, and never in the place of another."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    remove_left_over(str(path.parent))
    # Another process may be quicker; then its key counts.
    with PartFile(str(path)) as part, suppress(FileExistsError):
        part.file.write(secrets.token_bytes(KEY_SIZE))
        part.sync()
        part.settle(replace=False)
