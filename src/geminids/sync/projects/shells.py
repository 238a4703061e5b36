"""Folders that the user went to in a shell, from the histories that shells keep.

    ~/.bash_history  ~/.zsh_history  ~/.local/share/fish/fish_history  $HISTFILE  PSReadLine's
    ~/.z  ~/.local/share/autojump/autojump.txt        folders as such, by tools that jump to them

A history does not say where a shell was started, so a relative path is tried from the home folder and
from the folders that were gone to before it. Wrong ones do no harm: a folder counts when its hash fits.
Only the words after `cd` and the like are looked at, and of each file only the end.
"""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import KnownBy
from geminids.core.spellings import ancestors
from geminids.reading.peeks import ending
from geminids.sync.projects.resolution import Known

_MOST_BYTES = 2 * 1024 * 1024
_BASES = 4
"""How many folders that were gone to a relative path is tried from."""
_LONGEST_PATH = 4096
_LONGEST_GUESS = 512
"""A folder that is not there is not gone on from for ever."""
_MOST_STEPS = 20_000
_CLOCK_EVERY = 256

_WORD = r"""(?:[^\s\\'"`;&|<>()]|\\[^\n]|'[^'\n]*'|"(?:[^"\\\n]|\\[^\n])*")"""
_STEP = lazy_pattern(
    r"(?:^[ \t]*(?:-[ ]cmd:[ ])?|[;&|({][ \t]*)(?:sudo[ ]|builtin[ ]|command[ ])?"
    r"(?:(?P<go>cd|chdir|pushd|sl|set-location|push-location)"
    r"|z|j|git[ ]+-C|code|codium|cursor|windsurf|zed|idea|pycharm|webstorm|subl)(?![\w.-])"
    rf"(?:[ \t]+-[\w-]+){{0,4}}(?:[ \t]+(?P<path>{_WORD}{{1,{_LONGEST_PATH}}}))?",
    re.MULTILINE | re.IGNORECASE,
)
_PIECE = lazy_pattern(r"""'([^'\n]*)'|"((?:[^"\\\n]|\\.)*)"|\\(.)|([^\\'"]+)|(.)""", re.DOTALL)
_VARIABLE = lazy_pattern(r"\$(?:\{(\w+)\}|(\w+))")
_WINDOWS_PATH = lazy_pattern(r"[A-Za-z]:\\|\\\\")
_METAFIED = lazy_pattern(rb"\x83(.)", re.DOTALL)
_JUMP_LINE = lazy_pattern(r"^(?:[\d.]+\t)?([^|\n\t]+)(?:\|[^\n]*)?$", re.MULTILINE)


def shell_history(home: Path, environment: Mapping[str, str], deadline: float = inf) -> Iterator[Known]:
    """Folders from all histories, the last gone to first, each followed by those above it."""
    seen: set[str] = set()
    for folder in _folders(home, environment, deadline):
        for path in ancestors(folder):
            if path in seen:
                break
            seen.add(path)
            yield path, KnownBy.SHELL_HISTORY


def _folders(home: Path, environment: Mapping[str, str], deadline: float) -> Iterator[str]:
    for file in _history_files(home, environment):
        yield from reversed(folders_in_history(_history(file), str(home), environment, deadline))
    for file in _jump_files(home, environment):
        yield from (line for line in _JUMP_LINE.findall(_text(ending(file, _MOST_BYTES))) if _absolute(line))


def _history_files(home: Path, environment: Mapping[str, str]) -> list[Path]:
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    zsh = Path(environment.get("ZDOTDIR") or home)
    windows = Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    files = [
        *([home / environment["HISTFILE"]] if environment.get("HISTFILE") else []),
        home / ".bash_history",
        *(folder / name for folder in (zsh, home) for name in (".zsh_history", ".zhistory", ".histfile")),
        data / "fish" / "fish_history",
        home / ".local" / "share" / "fish" / "fish_history",
        *(
            folder / "PSReadLine" / "ConsoleHost_history.txt"
            for folder in (windows / "Microsoft" / "Windows" / "PowerShell", data / "powershell")
        ),
    ]
    return list(dict.fromkeys(files))


def _jump_files(home: Path, environment: Mapping[str, str]) -> list[Path]:
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    return [Path(environment.get("_Z_DATA") or home / ".z"), data / "autojump" / "autojump.txt"]


def _history(file: Path) -> str:
    written = ending(file, _MOST_BYTES)
    if file.name.startswith("fish"):
        return _text(written.replace(b"\\\\", b"\\"))
    try:
        return written.decode()
    except UnicodeDecodeError:
        return "\n".join(map(_line, written.split(b"\n")))


def _line(written: bytes) -> str:
    """A line of a history; one that is no UTF-8 may have bytes that zsh hides behind another."""
    try:
        return written.decode()
    except UnicodeDecodeError:
        return _text(_METAFIED.sub(lambda hidden: bytes((hidden[1][0] ^ 0x20,)), written))


def _text(written: bytes) -> str:
    # As the system itself spells file names that are no UTF-8.
    return written.decode("utf-8", "surrogateescape")


def folders_in_history(
    text: str, home: str, environment: Mapping[str, str], deadline: float = inf
) -> list[str]:
    """The folders that the commands of a history name, in the order in which they were typed."""
    found: dict[str, None] = {}
    reached: deque[str] = deque([home], maxlen=_BASES)
    for number, step in enumerate(deque(_STEP.finditer(text), maxlen=_MOST_STEPS)):
        if number % _CLOCK_EVERY == 0 and time.monotonic() >= deadline:
            break
        word = _expanded(step["path"] or "", home, environment)
        if word in ("", "-"):
            reached.append(_back(reached, home, word) if step["go"] else reached[-1])
            continue
        if len(word) > _LONGEST_PATH or "\0" in word or word.startswith("~"):
            continue
        for path in _places(word, [*reversed(reached), home]):
            found.pop(path, None)
            found[path] = None
        if step["go"]:
            reached.append(_reached(word, reached[-1], home))
    return list(found)


def _back(reached: Sequence[str], home: str, word: str) -> str:
    """Where `cd` and `cd -` lead to."""
    return home if not word or len(reached) < 2 else reached[-2]


def _places(word: str, bases: Iterable[str]) -> list[str]:
    """Where a path may lead to, the likeliest last."""
    if _absolute(word):
        return [word]
    return [os.path.normpath(f"{base}/{word}") for base in dict.fromkeys(bases)][::-1]


def _reached(word: str, last: str, home: str) -> str:
    """The folder that a shell was in after it went to a path: one that is there, if it is."""
    if _absolute(word):
        return word
    places = [os.path.normpath(f"{base}/{word}") for base in (last, home)]
    # Unlike pathlib, this never raises.
    there = (place for place in places if os.path.isdir(place))  # noqa: PTH112
    return next(there, places[0] if len(places[0]) < _LONGEST_GUESS else home)


def _absolute(path: str) -> bool:
    return path.startswith("/") or bool(re.match(r"[A-Za-z]:[\\/]|\\\\", path))


def _expanded(word: str, home: str, environment: Mapping[str, str]) -> str:
    """A word of a command without its quotes, with the home folder and variables put in."""
    if _WINDOWS_PATH.match(word.lstrip("'\"")):
        return word.strip("'\"")
    tilde = word == "~" or word.startswith(("~/", "~\\"))
    pieces = [_unquoted(piece, home, environment) for piece in _PIECE.finditer(word[tilde:])]
    return (home if tilde else "") + "".join(pieces)


def _unquoted(piece: re.Match[str], home: str, environment: Mapping[str, str]) -> str:
    single, double, escaped, plain, stray = piece.groups()
    if single is not None:
        return str(single)
    if escaped is not None:
        return str(escaped)
    text = re.sub(r"\\(.)", r"\1", double) if double is not None else plain or stray or ""
    if "$" not in text:
        return text
    known = {**environment, "HOME": home}
    return _VARIABLE.sub(lambda name: known.get(name[1] or name[2], ""), text)
