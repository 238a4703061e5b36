"""What a session says about the folder it was worked in.

Until 0.43 a session holds only the hash of that folder; since 0.44 the context that the CLI gives
the model names it. Else there are the folders that the session was given, and the paths that its
tools were called with: one of them, or a folder above it, is the project's. A path is certain only
if its hash is the one that the session was written with. Nothing is looked up on the disk.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from geminids.model import KnownBy, Message, Origin, Project, Text, ToolCall, folder_hash
from geminids.projects.spellings import ancestors, same_place, spellings

_WORKSPACE = re.compile(r"- \*\*Workspace Directories:\*\*\n((?:  - .+(?:\n|$))+)")
_WORKING_IN = re.compile(
    r"working in the (?:directory: (?P<one>.+)|following directories:\n(?P<many>(?:  - .+(?:\n|$))+))"
)
_PATH_IN_COMMAND = re.compile(
    r"""(?<![\w.~$:/\\-])(?:/[^\s'"`;|&<>()$*?\\]+|[A-Za-z]:\\[^\s'"`;|&<>()*?]+)"""
)
_MOST_PATHS = 2_000
_MOST_TEXT = 10_000
_LEAST_DEPTH = 3
"""`/home/ana` is no guess worth making; `/home/ana/shop` is."""


def with_evidence(project: Project, messages: Sequence[Message], directories: Sequence[str]) -> Project:
    """The project with its folder as the session tells it, unless that is certain already."""
    if project.certain:
        return project
    if project.hash is None:
        return _guessed(project, messages, directories)
    return _proven(project, messages, directories) or _guessed(project, messages, directories)


def _proven(project: Project, messages: Sequence[Message], directories: Sequence[str]) -> Project | None:
    """The project with the path whose hash it has."""
    if project.path and (path := _of_hash(project.hash, spellings(project.path))):
        return msgspec.structs.replace(project, path=path, certain=True)
    for known_by, paths in (
        (KnownBy.CONTEXT, _context_paths(messages)),
        (KnownBy.DIRECTORIES, iter(directories)),
    ):
        if path := _of_hash(project.hash, (s for path in paths for s in spellings(path))):
            return _at(project, path, known_by)
    for found in (_paths_in_calls(messages), _paths_in_texts(messages)):
        if path := _of_hash(project.hash, _above(found)):
            return _at(project, path, KnownBy.ARGUMENTS)
    return None


def _at(project: Project, path: str, known_by: KnownBy) -> Project:
    if project.path and project.known_by and same_place(project.path) == same_place(path):
        # The agent's own note was right, only spelled otherwise: in lower case on Windows.
        known_by = project.known_by
    return Project(path, project.hash, project.slug, known_by, certain=True)


def _of_hash(wanted: str | None, paths: Iterable[str]) -> str | None:
    return next((path for path in paths if folder_hash(path) == wanted), None)


def _guessed(project: Project, messages: Sequence[Message], directories: Sequence[str]) -> Project:
    """The project with a path that nothing proves; one that the agent itself noted goes before others."""
    if project.path:
        return project
    for known_by, path in (
        (KnownBy.CONTEXT, next(_context_paths(messages), None)),
        (KnownBy.DIRECTORIES, next(iter(directories), None)),
        (KnownBy.ARGUMENTS, _common_folder(list(_paths_in_calls(messages)))),
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


def _paths_in_calls(messages: Sequence[Message]) -> Iterator[str]:
    """The absolute paths that tools were called with or reported to have changed, each once."""
    found: dict[str, None] = {}
    for message in messages:
        for part in message.parts:
            if isinstance(part, ToolCall):
                found.update(dict.fromkeys(_paths_in_call(part)))
        if len(found) > _MOST_PATHS:
            break
    yield from found


def _paths_in_call(call: ToolCall) -> Iterator[str]:
    yield from (change.path for change in call.changes if _is_absolute(change.path))
    for argument in call.arguments.values():
        for text in argument if isinstance(argument, list) else (argument,):
            if not isinstance(text, str):
                continue
            if _is_absolute(text) and "\n" not in text:
                yield text
            elif "/" in text or ":\\" in text:
                yield from _PATH_IN_COMMAND.findall(text[:_MOST_TEXT])


def _paths_in_texts(messages: Sequence[Message]) -> Iterator[str]:
    """The absolute paths in all that was said, shown and answered: more than most projects need."""
    for message in messages:
        for text in _texts(msgspec.to_builtins(message.parts)):
            yield from _PATH_IN_COMMAND.findall(text[:_MOST_TEXT])


def _texts(value: object) -> Iterator[str]:
    """The texts in a value, however deep; pictures are none."""
    left = [value]
    while left:
        match left.pop():
            case str(text):
                yield text
            case dict(fields):
                left.extend(item for name, item in fields.items() if name != "data")
            case list(items) | tuple(items):
                left.extend(items)


def _is_absolute(path: str) -> bool:
    return path.startswith(("/", "\\\\")) or path[1:3] in (":\\", ":/")


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
