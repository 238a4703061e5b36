"""What the last list showed, so that `show 3` means its third line.

<data folder>/last-list.json    private to the user, replaced as a whole
"""

from __future__ import annotations

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
    places = ", ".join(map(_written, shown.places))
    lines = ", ".join(f"[{_written(line.id)}, {_written(line.file)}]" for line in shown.lines)
    written = f'{{"places": [{places}], "lines": [{lines}]}}'
    small_files.write(folder, FILE_NAME, written.encode())


def _written(text: str | None) -> str:
    """A text as JSON has it; for nearly all there is no need to load what knows about the others."""
    if text is not None and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    import json

    return json.dumps(text, ensure_ascii=False)


def recall(folder: str) -> LastList | None:
    """The last list; None if there is none that can be read."""
    import json

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
