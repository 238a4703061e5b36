"""Sessions as resources: a few to choose from, one as text, and the ids that a beginning may mean."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from geminids.faces.mcp.errors import NoSuchResourceError
from geminids.query.sessions.listing import Filter

if TYPE_CHECKING:
    from geminids.faces.mcp.desk import Desk

SESSION = "geminids://session/"
TEMPLATE = f"{SESSION}{{id}}"
MEDIA_TYPE = "text/plain"
LISTED = 12
"""Sessions that are offered without being asked for."""
MOST_COMPLETED = 100
"""MCP allows no more."""
AT_ONCE = 1_000


def uri_of(key: str) -> str:
    """What names a session as a resource."""
    return SESSION + quote(key, safe=":@")


def id_in(uri: str) -> str:
    """The id of the session that a resource is. Raises NoSuchResourceError."""
    key = unquote(uri.removeprefix(SESSION))
    if not uri.startswith(SESSION) or not key:
        raise NoSuchResourceError(uri)
    return key


def completed(desk: Desk, beginning: str) -> tuple[list[str], int]:
    """The ids that begin so, of the agent or as ours, the newest first; and how many there are."""
    small, start = beginning.casefold(), 0
    keys: list[str] = []
    while rows := desk.library.listing(Filter(), AT_ONCE, start).sessions:
        desk.go_on()
        meant = [
            row for row in rows if row.id.casefold().startswith(small) or row.native_id.startswith(small)
        ]
        keys += desk.library.keys(meant)
        start += len(rows)
    return keys[:MOST_COMPLETED], len(keys)
