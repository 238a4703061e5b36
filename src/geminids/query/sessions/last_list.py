"""What the last list showed, so that `show 3` means its third line.

<data folder>/last-list.json    private to the user, replaced as a whole
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import json

from geminids.core import small_files
from geminids.core.values import Value
from geminids.query.sessions.session_ref import SessionRef

FILE_NAME = "last-list.json"


class LastList(Value):
    """The lines of a list, and the homes whose sessions it showed."""

    places: tuple[str, ...]
    lines: tuple[SessionRef, ...]


def remember(folder: str, shown: LastList) -> None:
    """Keep what a list showed. Raises OSError if that is not possible."""
    written = json.dumps({"places": shown.places, "lines": shown.lines}, ensure_ascii=False).encode()
    small_files.write(folder, FILE_NAME, written)


def recall(folder: str) -> LastList | None:
    """The last list; None if there is none that can be read."""
    try:
        shown = json.loads(small_files.read(folder, FILE_NAME))
        return LastList(tuple(map(_text, shown["places"])), tuple(map(_line, shown["lines"])))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _line(written: object) -> SessionRef:
    # Releases before the index wrote lines as objects.
    match written:
        case {"id": sid, "file": None} | [sid, None]:
            return SessionRef(_text(sid))
        case {"id": sid, "file": file} | [sid, file]:
            return SessionRef(_text(sid), _text(file))
        case _:
            raise TypeError(written)


def _text(written: object) -> str:
    if not isinstance(written, str):
        raise TypeError(written)
    return written
