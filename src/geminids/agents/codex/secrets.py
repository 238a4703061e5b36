"""The files in which Codex CLI keeps credentials, and what people call their copies."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(?:\.|copy of )?(?:auth|\.?credentials)\.json(?:[^a-z0-9].*)?|auth[ _(-].*\.json|\.env(?:[^a-z0-9].*)?",
    re.IGNORECASE | re.DOTALL,
)


def keeps_secrets(name: str) -> bool:
    """Whether a file of this name holds credentials: it is not even opened on request."""
    return _SECRET.fullmatch(name) is not None
