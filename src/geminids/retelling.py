"""Files of an agent, given by hand to check a record with, read anew as they lay in the agent's home.

What a file means depends on where it lies: a saved chat is called as its file is, and a subagent lies in the
folder of its parent. So the files are laid out in a folder of their own under the paths that the record names,
as much of each as there was when the record was made.
"""

from __future__ import annotations

import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from geminids import sources
from geminids.export.session_document import is_session_document
from geminids.model import Session
from geminids.records.errors import RecordError
from geminids.records.profile import SOURCE
from geminids.sources.base import Home, Source
from geminids.sources.bundles import shelves
from geminids.sources.traces import trace

PACKED = ".zst"
"""How files end that an agent has packed; what a record says of them is true of what is in them."""
_SEPARATORS = re.compile(r"[/\\]+")


class UntoldError(RecordError):
    """Why a record cannot be told again from what was given."""


class GivenFile(NamedTuple):
    """A file of an agent that was given by hand."""

    name: str
    content: bytes
    """Unpacked, where the agent packs its files."""
    stored: bytes
    """As it lies on the disk."""


def given_file(path: Path, stored: bytes) -> GivenFile:
    """A file that was given, with what is in it."""
    for name in sources.available():
        if (unpacked := sources.load(name).unpacked(path)) is not None:
            return GivenFile(path.name, unpacked, stored)
    return GivenFile(path.name, stored, stored)


Named = Mapping[str, Any]
"""A file that a record names: path, size and hash."""


def files_of(record: Mapping[str, Any], given: Sequence[GivenFile]) -> list[tuple[str, GivenFile]]:
    """For each file that a record names, its path, and the one that was given for it, cut to what it was.

    Raises UntoldError if the record names none, or if one was not given.
    """
    named = record.get(SOURCE)
    if not isinstance(named, list) or not named:
        raise UntoldError("the record does not say what it was read from")
    return [_file_of(file, given, is_only=len(named) == len(given) == 1) for file in named]


def _file_of(named: object, given: Sequence[GivenFile], *, is_only: bool) -> tuple[str, GivenFile]:
    match named:
        case {"path": str(path), "size": int(size), "sha256": str(digest)} if size >= 0:
            pass
        case _:
            raise UntoldError("the record does not say properly what it was read from")
    cut = [one._replace(content=one.content[:size]) for one in given]
    same = [one for one in cut if hashlib.sha256(one.content).hexdigest() == digest]
    same = same or [one for one in cut if is_only or one.name == _names(path)[-1:][0]]
    if not same:
        raise UntoldError(f"{''.join(_names(path)[-1:])} was not given")
    return path, same[0]


@contextmanager
def laid_out(files: Sequence[tuple[str, GivenFile]]) -> Iterator[list[Path]]:
    """The files under the paths that they had, in a folder that goes away; where each is."""
    with tempfile.TemporaryDirectory(prefix="geminids-") as folder:
        try:
            yield [_laid(Path(folder), path, file) for path, file in files]
        except OSError as error:
            raise UntoldError(f"the files cannot be laid out: {error.strerror}") from error


def _laid(folder: Path, path: str, file: GivenFile) -> Path:
    is_packed = path.endswith(PACKED) and file.stored != file.content
    name = path if is_packed else path.removesuffix(PACKED)
    target = folder.joinpath("home", *_names(name))
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(file.stored if is_packed else file.content)
    return target


def _names(path: str) -> list[str]:
    """The names in a path, less those that lead elsewhere: a record may come from anybody."""
    return [name for name in _SEPARATORS.split(path) if name.strip(". ") and ":" not in name and "\0" not in name]
