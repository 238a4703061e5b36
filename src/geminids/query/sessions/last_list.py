"""What the last list showed, so that `show 3` means its third line.

<data folder>/last-list.json    private to the user, replaced as a whole
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import json
from typing import TYPE_CHECKING, NamedTuple

from geminids.core import small_files
from geminids.core.names import storable
from geminids.core.values import Value

if TYPE_CHECKING:
    from typing import Protocol

    class _Session(Protocol):
        @property
        def id(self) -> str: ...
        @property
        def file(self) -> str | None: ...


FILE_NAME = "last-list.json"


class Listed(NamedTuple):
    """One line of a list: a session, and the file that tells it from another of the same id."""

    id: str
    file: str | None = None

    @classmethod
    def of(cls, session: "_Session") -> "Listed":
        """The line of a session."""
        return cls(storable(session.id), storable(session.file) if session.file else None)


class LastList(Value):
    """The lines of a list, and the homes whose sessions it showed."""

    places: tuple[str, ...]
    lines: tuple[Listed, ...]


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


def _line(written: object) -> Listed:
    # Releases before the index wrote lines as objects.
    match written:
        case {"id": sid, "file": None} | [sid, None]:
            return Listed(_text(sid))
        case {"id": sid, "file": file} | [sid, file]:
            return Listed(_text(sid), _text(file))
        case _:
            raise TypeError(written)


def _text(written: object) -> str:
    if not isinstance(written, str):
        raise TypeError(written)
    return written
