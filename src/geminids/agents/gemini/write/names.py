"""How Gemini CLI spells ids, moments and the names of its session files."""

from __future__ import annotations

import hashlib
import uuid
from datetime import UTC, datetime

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import Session

_PLAIN_ID = lazy_pattern(r"[A-Za-z0-9_-]{1,128}")
_START_OF_ID = 8
_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


def session_id(known_id: str) -> str:
    """The agent's own id of a session, of which files are named.

    Ids of saved chats and of some subagents hold what people typed; such a one gets a UUID made of it.
    """
    native_id = known_id.partition(":")[2]
    if _PLAIN_ID.fullmatch(native_id):
        return native_id
    digest = hashlib.sha256(known_id.encode(errors="surrogatepass")).digest()
    return str(uuid.UUID(bytes=digest[:16], version=5))


def moment(at: datetime | None) -> str | None:
    """A time as JavaScript writes it."""
    if at is None:
        return None
    precision = "microseconds" if at.microsecond % 1000 else "milliseconds"
    return at.astimezone(UTC).isoformat(timespec=precision).replace("+00:00", "Z")


def gemini_file_name(session: Session) -> str:
    """The name under which Gemini CLI looks for the session in the `chats` folder of its project."""
    began = (session.started_at or session.ended_at or _LONG_AGO).astimezone(UTC)
    minute = began.isoformat(timespec="minutes")[:16].replace(":", "-")
    return f"session-{minute}-{session_id(session.id)[:_START_OF_ID]}.jsonl"
