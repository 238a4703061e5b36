"""What lies beside sessions, told by name and place. Nothing is opened here."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping

from geminids.core.model import CompanionKind
from geminids.core.values import NamedTuple


class CompanionRole(NamedTuple):
    """What a file is, and the agent's id of the session it belongs to."""

    kind: CompanionKind
    native_id: str | None = None


UNKNOWN = "not known to geminids"
CREDENTIALS = "credentials: never opened"
SETTINGS = "settings of the CLI"
STATE = "state of the CLI"
TAUGHT = "what you taught the CLI"

LOOKS_SECRET = (
    r"(?i)\.env\b.*|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(pem|key|p12|pfx|keystore|kdbx)"
    r"|.*(credential|cred[s.]|token|secret|passw|api[-_]?key|oauth|account).*"
)
"""Names that no agent gives to anything but secrets; only those that no table has are compared with it."""


def looks_like(name: str, reasons: Mapping[str, str]) -> str:
    """Why a file is left alone that no table has: by the first pattern that its name fits."""
    return next((why for pattern, why in reasons.items() if re.fullmatch(pattern, name)), UNKNOWN)


def leads_to_secret(
    path: str, is_credential: Callable[[str], bool], is_secret_of_home: Callable[[str], bool]
) -> bool:
    """Whether a secret lies there: by the name that is given, or by the one that a link leads to."""
    try:
        places = (os.path.abspath(path), os.path.realpath(path))  # noqa: PTH100 - links are told apart
    except ValueError:
        # A NUL is in no name of a file.
        return False
    return any(is_credential(one.rpartition(os.sep)[2]) or is_secret_of_home(one) for one in places)
