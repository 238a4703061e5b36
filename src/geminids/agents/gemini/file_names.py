"""What the names of session files tell: the beginning of the session's id, and when it was opened."""

from __future__ import annotations

from datetime import datetime

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.timestamps import parse_time

SESSION_FILE = lazy_pattern(r"(?P<stem>[\w-]+)\.jsonl?(?:\.unreadable-\d+|\.tmp-\d+)?")
_SESSION_NAME = lazy_pattern(r"session-(?P<opened>\d{4}-\d\d-\d\dT\d\d-\d\d|\d{10,16})-(?P<start>.+)")
NAMED_AFTER = lazy_pattern(r"session-(?:\d{4}-\d\d-\d\dT\d\d-\d\d|\d{10,16})-(?P<start>[\w-]{8})")
"""Any file that was named after a session, such as one that was cut off."""
ID_START = 8
"""So many characters of a session id stand in the name of its file."""


def start_of_id(name: str) -> str | None:
    """The first characters of the session id in a file name; None if it is no session file."""
    file = SESSION_FILE.fullmatch(name)
    if file is None:
        return None
    named = _SESSION_NAME.fullmatch(file["stem"])
    return named["start"][:ID_START] if named else file["stem"]


def opened_at(name: str) -> datetime | None:
    """The minute in which a session file was opened, by its name; None if that does not tell."""
    file = SESSION_FILE.fullmatch(name)
    named = _SESSION_NAME.fullmatch(file["stem"]) if file else None
    if named is None:
        return None
    written = named["opened"]
    return parse_time(int(written) if written.isdecimal() else f"{written[:13]}:{written[14:]}")
