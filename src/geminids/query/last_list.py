"""What the last list showed, so that `show 3` means its third line.

<data folder>/last-list.json    private to the user, replaced as a whole
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
import json
import os
from typing import TYPE_CHECKING, NamedTuple

from geminids.names import keepable

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
        return cls(keepable(session.id), keepable(session.file) if session.file else None)


class LastList(NamedTuple):
    """The lines of a list, and the homes whose sessions it showed."""

    places: tuple[str, ...]
    lines: tuple[Listed, ...]


def remember(folder: str, shown: LastList) -> None:
    """Keep what a list showed. Raises OSError if that is not possible."""
    written = json.dumps({"places": shown.places, "lines": shown.lines}, ensure_ascii=False).encode()
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib takes longer than the rest
    new = f"{folder}/{FILE_NAME}.{os.getpid()}"
    handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123
            file.write(written)
        os.replace(new, f"{folder}/{FILE_NAME}")  # noqa: PTH105
    except OSError:
        os.remove(new)  # noqa: PTH107
        raise


def recall(folder: str) -> LastList | None:
    """The last list; None if there is none that can be read."""
    try:
        with open(f"{folder}/{FILE_NAME}", "rb") as file:  # noqa: PTH123
            kept = json.loads(file.read())
        return LastList(tuple(map(_text, kept["places"])), tuple(map(_line, kept["lines"])))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _line(kept: object) -> Listed:
    # Releases before the index wrote lines as objects.
    match kept:
        case {"id": sid, "file": None} | [sid, None]:
            return Listed(_text(sid))
        case {"id": sid, "file": file} | [sid, file]:
            return Listed(_text(sid), _text(file))
        case _:
            raise TypeError(kept)


def _text(kept: object) -> str:
    if not isinstance(kept, str):
        raise TypeError(kept)
    return kept
