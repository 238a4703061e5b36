"""What lists showed, so that `show 3` means the third line of the last one.

    <data folder>/last-lists/<terminal>.json    what was printed on a terminal, with its numbers
    <data folder>/last-list.json                what was given out where no terminal showed it

All are private to the user and replaced as a whole. A number belongs to the terminal on which it was
printed: what another terminal, a pipe or a program lists changes nothing of it. Where nothing was listed yet,
the newest list anywhere is meant: good enough to read a session, and not to change one (`doubt`). Where there
is no terminal all processes share a list, and no number is good enough to change a session.
"""

from __future__ import annotations

import os
import time

from geminids.core import small_files
from geminids.core.values import Value
from geminids.query.sessions.session_ref import SessionRef

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

FILE_NAME = "last-list.json"
FOLDER = "last-lists"
MOST_TERMINALS = 64
"""So many terminals are remembered; of those that are gone nobody tells us."""
TOO_OLD = 12 * 3600
"""Seconds after which nobody is sure any more what a number meant."""


class LastList(Value):
    """The lines of a list, and the homes whose sessions it showed."""

    places: tuple[str, ...]
    lines: tuple[SessionRef, ...]


def remember(folder: str, shown: LastList, terminal: str | None = None) -> None:
    """Keep what a list showed, on a terminal if it was printed there. Raises OSError if that fails."""
    places = ", ".join(map(_written, shown.places))
    lines = ", ".join(f"[{_written(line.id)}, {_written(line.file)}]" for line in shown.lines)
    written = f'{{"places": [{places}], "lines": [{lines}]}}'
    if terminal is None:
        small_files.write(folder, FILE_NAME, written.encode())
        return
    # The data directory is made first, since both are to be private.
    os.makedirs(folder, mode=0o700, exist_ok=True)  # noqa: PTH103 - pathlib takes longer than the rest
    small_files.write(f"{folder}/{FOLDER}", f"{terminal}.json", written.encode())
    for _, path in sorted(_of_terminals(folder), reverse=True)[MOST_TERMINALS:]:
        _drop(path)


def recall(
    folder: str, places: tuple[str, ...] | None = None, terminal: str | None = None
) -> LastList | None:
    """The last list of a terminal, of any homes; else the newest list of these homes, if there is one."""
    if shown := _read(_path(folder, terminal)):
        return shown
    for _, path in sorted([*_of_terminals(folder), *_with_time(_path(folder, None))], reverse=True):
        if (shown := _read(path)) and places in (None, shown.places):
            return shown
    return None


def doubt(folder: str, number: int, places: tuple[str, ...], terminal: str | None = None) -> str | None:
    """Why a number may mean another session than its user thinks; None if there is no reason to think so."""
    if terminal is None:
        return "without a terminal, another process may have made this list"
    own = _path(folder, terminal)
    shown = _read(own)
    if shown is None:
        return "no list was printed on this terminal"
    printed = max((at for at, _ in _with_time(own)), default=0)
    if (hours := (time.time_ns() - printed) // 3_600_000_000_000) * 3600 >= TOO_OLD:
        return f"the list is {hours} hours old"
    # Nobody sees the numbers of what goes to a program.
    later = [path for at, path in _of_terminals(folder) if at > printed]
    for other in filter(None, map(_read, later)):
        if other.places == places and not {*other.lines[number - 1 : number]} <= {shown.lines[number - 1]}:
            return f"in a newer list on another terminal, {number} is a different session"
    return None


def _path(folder: str, terminal: str | None) -> str:
    return f"{folder}/{FILE_NAME}" if terminal is None else f"{folder}/{FOLDER}/{terminal}.json"


def _of_terminals(folder: str) -> Iterator[tuple[int, str]]:
    """The lists that terminals showed, each with its time."""
    try:
        names = os.listdir(f"{folder}/{FOLDER}")  # noqa: PTH208
    except OSError:
        return
    for name in names:
        if name.endswith(".json"):
            yield from _with_time(f"{folder}/{FOLDER}/{name}")


def _with_time(path: str) -> Iterator[tuple[int, str]]:
    try:
        yield os.stat(path).st_mtime_ns, path  # noqa: PTH116
    except OSError:
        # Never written, or just taken away.
        return


def _drop(path: str) -> None:
    try:
        os.remove(path)  # noqa: PTH107
    except OSError:
        # Another command was faster, or the next one tries again.
        return


def _written(text: str | None) -> str:
    """A text as JSON has it; for nearly all there is no need to load what knows about the others."""
    if text is not None and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    import json

    return json.dumps(text, ensure_ascii=False)


def _read(path: str) -> LastList | None:
    """A list; None if there is none that can be read."""
    import json

    folder, _, name = path.rpartition("/")
    try:
        shown = json.loads(small_files.read(folder, name))
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
