"""Files of an agent, given by hand to check a record with, read anew as they lay in the agent's home.

What a file means depends on where it lies: a saved chat is called as its file is, and a subagent lies in
the folder of its parent. So the files are laid out in a folder of their own under the paths that the record
names, as much of each as there was when the record was made. It may also depend on files beside it: where
something else comes out, and the files are as they were, they are read where they lie.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from geminids.core import agents
from geminids.core.agents.homes import Home
from geminids.core.agents.source import Source
from geminids.core.agents.traces import trace
from geminids.core.atomic_files import temporary_folder
from geminids.core.model import Session
from geminids.query.sessions.input_files import is_document
from geminids.reading.bundles import shelves
from geminids.reading.jsonl import UndecodableError, decode
from geminids.sharing.records.errors import RecordError
from geminids.sharing.records.profile import NATIVE, OURS, SOURCE

PACKED = ".zst"
"""How files end that an agent has packed; what a record says of them is true of what is in them."""
_SEPARATORS = re.compile(r"[/\\]+")
_DRIVE = re.compile(r"[A-Za-z]:")
_NO_NAMES = frozenset({"", ".", ".."})


class NotRereadError(RecordError):
    """Why a record cannot be told again from what was given."""


class SourceFile(NamedTuple):
    """A file of an agent that was given by hand."""

    path: Path
    content: bytes
    """Unpacked, where the agent packs its files."""
    size: int
    """Of all that is in it."""
    packed: bytes | None = None
    """As it lies on the disk, if the agent has packed it."""


def opened_source(path: Path, stored: bytes) -> SourceFile:
    """A file that was given, with what is in it."""
    for name in agents.available():
        if (unpacked := agents.load(name).files().unpacked(path)) is not None:
            return SourceFile(path, unpacked, len(unpacked), stored)
    return SourceFile(path, stored, len(stored))


def files_of(record: Mapping[str, Any], sources: Sequence[SourceFile]) -> list[tuple[str, SourceFile]]:
    """For each file that a record names, its path, and the one that was given for it, cut to what it was.

    Raises NotRereadError if the record names none, or if one was not given.
    """
    named = record.get(SOURCE)
    if not isinstance(named, list) or not named:
        raise NotRereadError("the record does not say what it was read from")
    return [_file_of(file, sources, is_only=len(named) == len(sources) == 1) for file in named]


def _file_of(named: object, sources: Sequence[SourceFile], *, is_only: bool) -> tuple[str, SourceFile]:
    match named:
        case {"path": str(path), "size": int(size), "sha256": str(digest)} if size >= 0:
            pass
        case _:
            raise NotRereadError("the record does not say correctly what it was read from")
    cut = [one._replace(content=one.content[:size]) for one in sources]
    same = [one for one in cut if hashlib.sha256(one.content).hexdigest() == digest]
    same = same or [one for one in cut if is_only or [one.path.name] == _names(path)[-1:]]
    if not same:
        raise NotRereadError(f"{_SEPARATORS.split(path)[-1]} was not given: only bytes were compared")
    return path, same[0]


def is_unchanged(files: Sequence[tuple[str, SourceFile]]) -> bool:
    """Whether files that were given are no longer than they were when the record was made."""
    return all(len(file.content) == file.size for _, file in files)


@contextmanager
def laid_out(files: Sequence[tuple[str, SourceFile]]) -> Iterator[list[Path]]:
    """The files under the paths that they had, in a folder that goes away; where each is."""
    with temporary_folder() as folder:
        try:
            laid = [_laid(Path(folder), path, file) for path, file in files]
        except (OSError, ValueError) as error:
            raise NotRereadError("no file can have the paths that the record names") from error
        yield laid


def _laid(folder: Path, path: str, file: SourceFile) -> Path:
    packed = file.packed if path.endswith(PACKED) else None
    name = path.removesuffix(PACKED) if packed is None else path
    target = folder.joinpath("home", *_names(name))
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("xb") as new:
        new.write(file.content if packed is None else packed)
    return target


def _names(path: str) -> list[str]:
    """The names in a path, less those that lead elsewhere: a record may come from anybody."""
    return [name for name in _SEPARATORS.split(path) if name not in _NO_NAMES and not _DRIVE.fullmatch(name)]


def sessions_in(laid: Sequence[Path], read: Callable[[Path], list[Session]]) -> list[Session]:
    """The sessions in some files: as in the home of an agent that they lie in, else each file by itself.

    `read` gives the sessions in one file, and raises GeminidsError if there is none.
    """
    found = [session for name in agents.available() for session in _in_homes(agents.load(name), laid)]
    if found:
        return found
    if any(map(is_document, laid)):
        # What it says of files is what anybody may have written, and none is opened because of it.
        raise RecordError("It is an exported session, not a file of an agent.")
    return [session for path in laid for session in read(path)]


def _in_homes(source: Source, laid: Sequence[Path]) -> Iterator[Session]:
    """The sessions of all homes of an agent that the files lie in."""
    above = {folder for path in laid for folder in path.parents if folder.name}
    homes = {home.folder: home for folder in above for home in source.homes_below(str(folder))}
    for home in homes.values():
        if any(path.is_relative_to(home.folder) for path in laid):
            yield from _sessions(source, home, frozenset(laid))


def _sessions(source: Source, home: Home, wanted: Collection[Path]) -> Iterator[Session]:
    """The sessions of a home that are read from some files, and those that are read together with them."""
    for shelf in shelves([source.scan(home)]):
        bundles = [bundle for bundle in shelf.bundles if any(file.path in wanted for file in bundle.files)]
        found = [session for bundle in bundles for session in source.read(bundle).sessions]
        yield from found
        if any(Path(file.path) in wanted for file in shelf.companions.files):
            traces = [trace(session) for session in found]
            yield from source.companions().read_beside(shelf.companions, traces, None).sessions


def same_session(record: Mapping[str, Any], reread: Sequence[Session], laid: Sequence[Path]) -> Session:
    """The session that a record tells. Its agent names it, or it is the one that all the files are of.

    What a session is called may depend on files that lie beside its own.
    """
    wanted = record["session"]["session-id"]
    named = [session for session in reread if session.native_id == wanted]
    paths = {str(path) for path in laid}
    for session in (*named, *reread):
        if paths == {file.path for file in session.files}:
            return session
    if not named:
        raise RecordError(f"No session {wanted!r} is in it.")
    return named[0]


def entries_of(record: Mapping[str, Any]) -> list[Any]:
    """The entries of a record, which may come from anybody."""
    match record.get("session"):
        case {"entries": list(entries)}:
            return entries
        case _:
            return []


_OF_SESSION = ("session-start", "agent-meta", "environment")
"""Members that the files of a session tell as well as its entries; its end may be the date of a file."""


def difference(
    record: Mapping[str, Any], contents: Sequence[bytes], reread: Mapping[str, Any], others: Iterable[Any]
) -> str | None:
    """Where a record says otherwise than what its files tell; None if it does not.

    `reread` is the record that they give, `others` are entries of other sessions in them.
    """
    odd = next(_odd_members(record, reread), None)
    return f"the source says otherwise at {odd}" if odd else _odd_entry(record, contents, reread, others)


def _odd_members(record: Mapping[str, Any], reread: Mapping[str, Any]) -> Iterator[str]:
    """What is said of the session as a whole, and not by its files. They may know less than was known."""
    session, reread_session = record.get("session"), reread["session"]
    if not isinstance(session, dict):
        return
    for name in (*_OF_SESSION, *(["session-end"] if "session-start" in session else [])):
        if name in session and not _agree(
            session[name], reread_session.get(name), is_known=name == "environment"
        ):
            yield f"/session/{name}"
    if "file-attribution" in record and record["file-attribution"] != reread.get("file-attribution"):
        yield "/file-attribution"


def _agree(said: Any, reread: Any, *, is_known: bool) -> bool:
    """Whether something is told as it was said. In which folder it was may be known from elsewhere."""
    if not is_known or not isinstance(said, dict):
        return bool(said == reread)
    return all(said.get(name, value) == value for name, value in (reread or {}).items())


def _odd_entry(
    record: Mapping[str, Any], contents: Sequence[bytes], reread: Mapping[str, Any], others: Iterable[Any]
) -> str | None:
    """Where the entries of a record are not those that its files tell, in this order; None if they are.

    What our own knowledge adds may differ, as more is known; what the agent wrote may not. Whether words are
    those of a session or of its subagent may depend on files beside it, so an entry may be one of another
    session in the same files.
    """
    entries = entries_of(reread)
    left = list(reversed(entries))
    elsewhere: list[Any] | None = None
    for number, entry in enumerate(entries_of(record)):
        if left and _says_the_same(entry, left[-1], contents):
            left.pop()
            continue
        elsewhere = list(others) if elsewhere is None else elsewhere
        if not any(_says_the_same(entry, other, contents) for other in elsewhere):
            return f"the source says otherwise at /session/entries/{number}"
    return f"the source gives {len(entries):,} entries, {len(left):,} of them are missing" if left else None


def _says_the_same(entry: Any, reread: Any, contents: Sequence[bytes]) -> bool:
    if not isinstance(entry, dict) or _plain(entry) != _plain(reread):
        return False
    children, reread_children = entry.get("children", []), reread.get("children", [])
    if not isinstance(children, list) or len(children) != len(reread_children):
        return False
    pairs = zip(children, reread_children, strict=True)
    return _fits_source(entry, reread, contents) and all(_says_the_same(*pair, contents) for pair in pairs)


def _plain(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key not in {OURS, SOURCE, NATIVE, "children"}}


def _fits_source(entry: Mapping[str, Any], reread: Mapping[str, Any], contents: Sequence[bytes]) -> bool:
    """Whether what a record says that is left of the agent's own stands there."""
    native = entry.get(NATIVE)
    if native is None or native == reread.get(NATIVE):
        return True
    # How much of it is left depends on what else was known: a long output may lie in a file of its own.
    written = {leaf for value in _written(entry, contents) for leaf in _leaves(value)}
    return written.issuperset(_leaves(native))


def _written(entry: Mapping[str, Any], contents: Sequence[bytes]) -> Iterator[Any]:
    """What stands in the files where an entry was read."""
    places = entry.get(SOURCE)
    for place in places if isinstance(places, list) else ():
        match place:
            case {"file": int(file), "start": int(start), "end": int(end)} if 0 <= file < len(contents):
                raw = contents[file][max(start, 0) : max(end, 0)]
                try:
                    yield decode(raw).value
                except UndecodableError:
                    yield raw.decode("utf-8", "replace")


def _leaves(value: Any) -> Iterator[str]:
    """The keys and values in some JSON, each as a text."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _leaves(member)
    elif isinstance(value, list):
        for element in value:
            yield from _leaves(element)
    else:
        yield value if isinstance(value, str) else repr(value)
