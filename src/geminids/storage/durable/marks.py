"""What users say of sessions: names, tags and notes, kept in the durable file (`mark_changes` changes them).

A session is meant by its id, such as `<agent>:1b9d…`. Marks stay when the session's files are gone.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Collection, Container, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from geminids.storage.durable.database import Reader, reading
from geminids.storage.durable.values import Marks, Note

if TYPE_CHECKING:
    from pathlib import Path

_NAMES = "SELECT session, name, sum FROM names"
_TAGS = "SELECT session, tag, sum FROM tags ORDER BY session, tag"
_NOTES = "SELECT session, id, at, text, sum FROM notes ORDER BY at, id"


def marks(folder: "Path | str", session_ids: Collection[str] | None = None) -> dict[str, Marks]:
    """What was said of these sessions, else of all; sessions without a mark are left out.

    Raises GeminidsError or OSError if that cannot be read.
    """
    with reading(folder) as reader:
        return read(reader, session_ids) if reader else {}


def tag_counts(folder: "Path | str") -> dict[str, int]:
    """All tags and how many sessions have each, the most used first."""
    from collections import Counter

    with reading(folder) as reader:
        # In the order of tags before they are counted, and of those that are used as often after it.
        every = sorted(tag for _, tag in reader.whole_rows(_TAGS)) if reader else []
    return dict(Counter(every).most_common())


def tagged(folder: "Path | str", tags: Iterable[str]) -> set[str]:
    """The ids of the sessions that have all of some tags, of which there is at least one."""
    from geminids.storage.durable.mark_texts import stored_tag

    with reading(folder) as reader:
        rows = reader.whole_rows(_TAGS) if reader else []
    wanted = list(map(stored_tag, tags))
    return set.intersection(*({str(session) for session, tag in rows if tag == one} for one in wanted))


def read(reader: Reader, session_ids: Collection[str] | None) -> dict[str, Marks]:
    """What was said of some sessions, else of all, in a file that is open."""
    # Rows cost little, values much: of many marks a list needs few.
    wanted = None if session_ids is None else frozenset(session_ids)
    names = _by_session(reader.whole_rows(_NAMES), wanted)
    tags = _by_session(reader.whole_rows(_TAGS), wanted)
    notes = _by_session(reader.whole_rows(_NOTES), wanted)
    return {
        session: Marks(
            names[session][0][0] if session in names else None,
            tuple(tag for (tag,) in tags.get(session, ())),
            tuple(
                Note(number, datetime.fromisoformat(at), text) for number, at, text in notes.get(session, ())
            ),
        )
        for session in dict.fromkeys((*names, *tags, *notes))
    }


def _by_session(
    rows: Iterable[tuple[Any, ...]], wanted: Container[str] | None
) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        if wanted is None or row[0] in wanted:
            found.setdefault(row[0], []).append(row[1:])
    return found
