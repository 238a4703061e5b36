"""What a session says about the folder it was worked in.

Until 0.43 a session holds only the hash of that folder; since 0.44 the context that the CLI gives
the model names it. Else there are the folders that the session was given, and the paths that its
tools were called with: one of them, or a folder above it, is the project's. A path is certain only
if its hash is the one that the session was written with. Nothing is looked up on the disk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import KnownBy, Message, Origin, Project, Text, ToolCall, folder_hash
from geminids.core.spellings import ancestors, same_place, spellings
from geminids.reading.shapes import is_absolute, texts_in

_WORKSPACE = lazy_pattern(r"- \*\*Workspace Directories:\*\*\n((?:  - .+(?:\n|$))+)")
_WORKING_IN = lazy_pattern(
    r"working in the (?:directory: (?P<one>.+)|following directories:\n(?P<many>(?:  - .+(?:\n|$))+))"
)
_PATH_IN_COMMAND = lazy_pattern(
    r"""(?<![\w.~$:/\\-])(?:/[^\s'"`;|&<>()$*?\\]+|[A-Za-z]:\\[^\s'"`;|&<>()*?]+)"""
)
# The same for texts without a drive, several times as fast: what begins with a certain character is searched
# for in great steps, so what may not stand before the slash is looked at after it.
_POSIX_PATH_IN_COMMAND = lazy_pattern(r"""/(?<![\w.~$:/\\-]/)[^\s'"`;|&<>()$*?\\]+""")
_MOST_PATHS = 2_000
_MOST_TEXT = 10_000
_PICTURE = ("data",)
_LEAST_DEPTH = 3
"""`/home/ana` is no guess worth making; `/home/ana/shop` is."""


def with_evidence(project: Project, messages: Sequence[Message], directories: Sequence[str]) -> Project:
    """The project with its folder as the session tells it, unless that is certain already."""
    if project.certain:
        return project
    if project.path and (path := _of_hash(project.hash, spellings(project.path))):
        return msgspec.structs.replace(project, path=path, certain=True)
    in_context = list(_context_paths(messages))
    in_calls = _paths_in_calls(messages)
    evidence = (
        (KnownBy.CONTEXT, (spelled for path in in_context for spelled in spellings(path))),
        (KnownBy.DIRECTORIES, (spelled for path in directories for spelled in spellings(path))),
        (KnownBy.ARGUMENTS, _above(in_calls)),
    )
    for known_by, paths in evidence if project.hash else ():
        if path := _of_hash(project.hash, paths):
            return _at(project, path, known_by)
    return project if project.path else _guessed(project, in_context, directories, in_calls)


def _at(project: Project, path: str, known_by: KnownBy) -> Project:
    if project.path and project.known_by and same_place(project.path) == same_place(path):
        # The agent's own note was right, only spelled otherwise: in lower case on Windows.
        known_by = project.known_by
    return Project(path, project.hash, project.slug, known_by, certain=True)


def _of_hash(wanted: str | None, paths: Iterable[str]) -> str | None:
    return next((path for path in paths if folder_hash(path) == wanted), None)


def _guessed(
    project: Project, in_context: Sequence[str], directories: Sequence[str], in_calls: Sequence[str]
) -> Project:
    """The project with a path that nothing proves."""
    for known_by, path in (
        (KnownBy.CONTEXT, next(iter(in_context), None)),
        (KnownBy.DIRECTORIES, next(iter(directories), None)),
        (KnownBy.ARGUMENTS, _common_folder(in_calls)),
    ):
        if path:
            return msgspec.structs.replace(project, path=path, known_by=known_by, certain=False)
    return project


def context_paths(text: str) -> Iterator[str]:
    """The folders that the CLI's own opening names as those it works in."""
    listed = _WORKSPACE.search(text)
    older = None if listed else _WORKING_IN.search(text)
    if older and older["one"]:
        yield older["one"].strip()
    lines = listed[1] if listed else older["many"] if older else None
    yield from (line.removeprefix("  - ") for line in (lines or "").split("\n") if line)


def _context_paths(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        for part in message.parts:
            if isinstance(part, Text) and part.origin is Origin.INJECTED:
                yield from context_paths(part.text)


def _paths_in_calls(messages: Sequence[Message]) -> list[str]:
    """The absolute paths that tools were called with or reported to have changed, each once."""
    found: dict[str, None] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                found.update(dict.fromkeys(_paths_in_call(part)))
        if len(found) > _MOST_PATHS:
            break
    return list(found)


def _paths_in_call(call: ToolCall) -> Iterator[str]:
    yield from (change.path for change in call.changes if is_absolute(change.path))
    for argument in call.arguments.values():
        for text in argument if isinstance(argument, list) else (argument,):
            if not isinstance(text, str):
                continue
            if is_absolute(text) and "\n" not in text:
                yield text
            else:
                yield from _paths_in_text(text[:_MOST_TEXT])


def _paths_in_text(text: str) -> list[str]:
    return (_PATH_IN_COMMAND if ":\\" in text else _POSIX_PATH_IN_COMMAND).findall(text)


def named_folders(messages: Sequence[Message]) -> Iterator[str]:
    """The folders that any word names, said, shown or answered, and those above them.

    To look for them takes longer than to read the session, so only a search does.
    """
    texts = (text for message in messages for text in texts_in(msgspec.to_builtins(message.parts), _PICTURE))
    yield from _above(path for text in texts for path in _paths_in_text(text[:_MOST_TEXT]))


def _above(paths: Iterable[str]) -> Iterator[str]:
    """The paths and all folders above them, each once."""
    seen: set[str] = set()
    for path in paths:
        for folder in ancestors(path):
            if folder in seen:
                break
            seen.add(folder)
            yield folder


def _common_folder(paths: Sequence[str]) -> str | None:
    """The lowest folder that most of the paths lie in."""
    counts = Counter(folder for path in paths for folder in ancestors(path) if folder != path)
    if not counts:
        return None
    most = max(counts.values())
    shared = [folder for folder, count in counts.items() if count == most and count * 2 > len(paths)]
    lowest = max(shared, key=len, default=None)
    return lowest if lowest and len(list(ancestors(lowest))) > _LEAST_DEPTH else None
