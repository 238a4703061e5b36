"""Sessions as lines of a list, the same wherever they are listed."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from geminids.core.model import SessionSummary
from geminids.faces.documents.sessions import SessionLine, session_line
from geminids.library import Library
from geminids.storage.index.values import SessionRow


def session_lines(library: Library, rows: Sequence[SessionRow | SessionSummary]) -> list[SessionLine]:
    """Sessions with what the user said of them."""
    marks = library.marks([row.id for row in rows])
    now = datetime.now(UTC)
    keyed = zip(rows, library.keys(rows), strict=True)
    return [session_line(row, key, marks.get(row.id), now) for row, key in keyed]
