"""What users say of sessions: names, tags and notes, kept in the durable file.

A session is meant by its id, such as `gemini:1b9d…`. Marks stay when the session's files are gone.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from geminids.errors import GeminidsError
from geminids.store.durable import FILE_NAME, MARKS, changing, next_generation, reading

LONGEST_NAME = 200
LONGEST_TAG = 64
LONGEST_NOTE = 20_000
_LONGEST_ID = 512
_UNSHOWN = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Letters that break lines or turn their direction: what follows would be shown wrongly."""

_NAMES = "SELECT session, name FROM names"
_TAGS = "SELECT session, tag FROM tags ORDER BY session, tag"
_NOTES = "SELECT session, id, at, text FROM notes ORDER BY at, id"
_TAG_COUNTS = "SELECT tag, count(*) FROM tags GROUP BY tag ORDER BY count(*) DESC, tag"


class Note(NamedTuple):
    """A note on a session. Its id is what it is deleted by, and is never given again."""

    id: int
    at: datetime
    text: str


class Marks(NamedTuple):
    """All that the user said of a session."""

    name: str | None = None
    tags: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()


class BadMarkError(GeminidsError):
    """A name, tag or note that cannot be kept."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"A {what} {reason}.")


def name(folder: Path, session_id: str, text: str | None) -> None:
    """Name a session; None takes the name back."""
    session = _plain("session id", session_id, _LONGEST_ID)
    if text is None:
        _change(folder, "DELETE FROM names WHERE session = ?", [(session,)])
        return
    _change(
        folder,
        "INSERT INTO names (session, name) VALUES (?, ?) "
        "ON CONFLICT (session) DO UPDATE SET name = excluded.name WHERE name != excluded.name",
        [(session, _plain("name", text, LONGEST_NAME))],
    )


def tag(folder: Path, session_id: str, *tags: str) -> tuple[str, ...]:
    """Tag a session; the tags as they are kept: in small letters."""
    session = _plain("session id", session_id, _LONGEST_ID)
    kept = tuple(dict.fromkeys(map(_tag, tags)))
    _change(
        folder, "INSERT OR IGNORE INTO tags (session, tag) VALUES (?, ?)", [(session, each) for each in kept]
    )
    return kept


def untag(folder: Path, session_id: str, *tags: str) -> int:
    """Take tags from a session; how many it had of them."""
    session = _plain("session id", session_id, _LONGEST_ID)
    gone = [(session, each) for each in dict.fromkeys(map(_tag, tags))]
    return _change(folder, "DELETE FROM tags WHERE session = ? AND tag = ?", gone)


def note(folder: Path, session_id: str, text: str, at: datetime) -> int:
    """Add a note to a session; the id of the note."""
    session = _plain("session id", session_id, _LONGEST_ID)
    written = _plain("note", text.replace("\r\n", "\n"), LONGEST_NOTE, allowed="\n\t")
    with changing(folder, asked=True) as connection:
        added = connection.execute(
            "INSERT INTO notes (session, at, text) VALUES (?, ?, ?)",
            (session, at.astimezone(UTC).isoformat(), written),
        )
        next_generation(connection, MARKS)
        return added.lastrowid or 0


def delete_note(folder: Path, note_id: int) -> bool:
    """Delete a note; whether there was one."""
    return _change(folder, "DELETE FROM notes WHERE id = ?", [(note_id,)]) > 0


def marks(folder: Path, session_ids: Collection[str] | None = None) -> dict[str, Marks]:
    """What was said of these sessions, else of all; sessions without a mark are left out.

    Raises GeminidsError or OSError if that cannot be read.
    """
    with reading(folder) as reader:
        if reader is None:
            return {}
        names = dict(reader.rows(_NAMES))
        tags = _by_session(reader.rows(_TAGS))
        notes = _by_session(reader.rows(_NOTES))
    marked = dict.fromkeys((*names, *tags, *notes))
    wanted = marked if session_ids is None else [each for each in session_ids if each in marked]
    return {
        session: Marks(
            names.get(session),
            tuple(str(each) for (each,) in tags.get(session, ())),
            tuple(
                Note(number, datetime.fromisoformat(at), text) for number, at, text in notes.get(session, ())
            ),
        )
        for session in wanted
    }


def tag_counts(folder: Path) -> dict[str, int]:
    """All tags and how many sessions have each, the most used first."""
    with reading(folder) as reader:
        return dict(reader.rows(_TAG_COUNTS)) if reader else {}


def _change(folder: Path, statement: str, rows: Iterable[tuple[object, ...]]) -> int:
    """Change marks; how many rows are others now. What deletes makes no file."""
    if statement.startswith("DELETE") and not (folder / FILE_NAME).exists():
        return 0
    with changing(folder, asked=True) as connection:
        changed = connection.executemany(statement, list(rows)).rowcount
        if changed > 0:
            next_generation(connection, MARKS)
    return max(0, changed)


def _by_session(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[tuple[Any, ...]]]:
    found: dict[str, list[tuple[Any, ...]]] = {}
    for session, *rest in rows:
        found.setdefault(str(session), []).append(tuple(rest))
    return found


def _tag(text: str) -> str:
    kept = _plain("tag", text, LONGEST_TAG).removeprefix("#").casefold()
    if not kept:
        raise BadMarkError("tag", "needs at least one letter")
    if len(kept.split()) > 1 or "," in kept:
        raise BadMarkError(
            "tag", f"is one word, without blanks or commas; {text!r} is not. Give several tags"
        )
    return kept


def _plain(what: str, text: str, longest: int, allowed: str = "") -> str:
    """The text as it is kept. Raises BadMarkError if it is blank, too long or not to be shown."""
    kept = unicodedata.normalize("NFC", text.strip())
    if not kept:
        raise BadMarkError(what, "needs at least one letter")
    if len(kept) > longest:
        raise BadMarkError(what, f"may have {longest:,} characters; this one has {len(kept):,}")
    for letter in kept:
        if letter not in allowed and _is_control(letter):
            raise BadMarkError(what, f"may not hold control characters; this one holds U+{ord(letter):04X}")
    return kept


def _is_control(letter: str) -> bool:
    # Cs: half an emoji, which cannot be stored.
    return letter in _UNSHOWN or unicodedata.category(letter) in ("Cc", "Cs")
