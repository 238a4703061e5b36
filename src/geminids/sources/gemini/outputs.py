"""Outputs too long for a session: found where Gemini CLI moved them, and put back into their calls.

    tool-outputs/session-<id>/<call>.txt                  cut down to a limit, since 0.29
    tool-outputs/session-<id>/<tool>_<call>_<any>.txt     masked later: the answer as JSON, again each time
    tool-outputs/<tool>_<number>.txt                      cut by a compression
    tool_output/<call>.txt, <call>.txt, <call>.output     in older releases

A list needs none of this, so it is done for sessions that are shown whole. The path in a record was
written by an agent and is data: its last pieces are looked up in the folders of the session's own
project and nowhere else. Links are never followed, pipes never waited for.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from geminids.model import (
    CompanionKind,
    Message,
    MovedOutput,
    Problem,
    ProblemKind,
    Session,
    Text,
    ToolCall,
)
from geminids.sources.gemini.companions import Place, place
from geminids.sources.gemini.content import response_parts
from geminids.sources.gemini.tools import MASKED
from geminids.sources.jsonl import UndecodableError, decode
from geminids.sources.texts import LONGEST, bounded_text, unreadable

MOST = 128_000_000
"""Bytes of all outputs of one session."""

_CUT = ("Output too large.", "Tool output was too large")
_CUT_TO = re.compile(r"(?:saved to|full output see): ([^\n]+)")
_MASKED_TO = re.compile(r"Full output available at: ([^\n<]+)")
_PROOF = 40
"""So many characters at the end of what was left of an output must stand in the file too."""
_DEPTHS = (3, 2, 1)
_UNSAFE = re.compile(r"[^a-z0-9_-]")


def with_outputs(session: Session) -> Session:
    """The session with the whole text of every output that was moved out of it and still exists."""
    outputs = _Outputs(session)
    messages = tuple(map(outputs.put_back, session.messages))
    if not outputs.count:
        return session
    problems = (*session.problems, *outputs.problems)
    return msgspec.structs.replace(session, messages=messages, problems=problems)


class _Outputs:
    """What was moved out of one session."""

    def __init__(self, session: Session) -> None:
        self._folders = list(dict.fromkeys(_project_folders(session)))
        self._places = [*(f"tool-outputs/session-{name}" for name in _ids(session)), "tool_output", "."]
        self._left = MOST
        self.count = 0
        self.problems: list[Problem] = []

    def put_back(self, message: Message) -> Message:
        """The message with the whole outputs of its calls."""
        if not any(isinstance(part, ToolCall) and _remains(part) for part in message.parts):
            return message
        parts = tuple(self._filled(part) if isinstance(part, ToolCall) else part for part in message.parts)
        return msgspec.structs.replace(message, parts=parts)

    def _filled(self, call: ToolCall) -> ToolCall:
        remains = _remains(call)
        if remains is None:
            return call
        for path in dict.fromkeys(self._candidates(call, remains)):
            moved = self._read(path, remains)
            if moved is not None:
                self.count += 1
                return msgspec.structs.replace(call, full_output=moved)
        return call

    def _candidates(self, call: ToolCall, remains: str) -> Iterator[str]:
        """Files that can hold the whole output, the likeliest first."""
        # What was masked may have been cut before: then the mask has only the rest, under another name.
        yield from self._named_after(call)
        written = _written_path(remains)
        if written is not None:
            yield from self._at(written)
        if remains.startswith(MASKED):
            yield from self._masks_of(call)

    def _at(self, written: str) -> Iterator[str]:
        """Where the last pieces of a path lead to inside the project's folders."""
        pieces = re.split(r"[/\\]", written.strip())
        for depth in _DEPTHS:
            inside = pieces[-depth:]
            if _is_output("/".join(inside)) and not {".", ".."} & {*inside}:
                yield from self._inside(*inside)

    def _named_after(self, call: ToolCall) -> Iterator[str]:
        """The files that have the id of the call for a name."""
        if call.call_id:
            call_id, tool = _safe(call.call_id), _safe(call.name)
            own_name = re.sub(r"[/\\\0]", "_", call.call_id)
            for folder in self._places:
                for name in (f"{call_id}.txt", f"{tool}_{call_id}.txt", f"{own_name}.output"):
                    yield from self._inside(*folder.split("/"), name)

    def _masks_of(self, call: ToolCall) -> list[str]:
        """The files to which the answer to a call was copied each time it was masked, the longest first."""
        begin = f"{_safe(call.name)}_{_safe(call.call_id or '')}_"
        found: list[tuple[int, str]] = []
        for folder in self._places[:-2]:
            for path in self._inside(*folder.split("/")):
                found += [(-size, file) for size, file in _files_in(path) if _begins(file, begin)]
        return [file for _, file in sorted(found)]

    def _inside(self, *pieces: str) -> Iterator[str]:
        """A place in each of the project's folders, unless a link leads there."""
        for folder in self._folders:
            real = os.path.realpath(folder)
            path = os.path.normpath(os.path.join(folder, *pieces))  # noqa: PTH118 - a NUL is no error here
            try:
                is_there = os.path.realpath(path) == os.path.normpath(os.path.join(real, *pieces))  # noqa: PTH118
            except (OSError, ValueError):
                continue
            if is_there and os.path.lexists(path):
                yield path

    def _read(self, path: str, remains: str) -> MovedOutput | None:
        """What a file holds; None if it is the output of another call."""
        try:
            size = os.lstat(path).st_size
            if min(size, LONGEST) > self._left:
                problem = Problem(path, ProblemKind.LEFT_UNREAD, "more outputs than are read of one session")
                self.problems.append(problem)
                return MovedOutput(path, size, None)
            read = bounded_text(path)
        except OSError as error:
            self.problems.append(unreadable(path, error))
            return MovedOutput(path, 0, None)
        self._left -= min(read.size, LONGEST)
        if remains.startswith(MASKED):
            return MovedOutput(path, read.size, _answer(read.text), read.left_out)
        return MovedOutput(path, read.size, *read[::2]) if _is_rest_of(remains, read.text) else None


def _remains(call: ToolCall) -> str | None:
    """What a record has left of an output that was moved away; None if it has all of it."""
    for part in call.result:
        if isinstance(part, Text):
            text = part.text.lstrip()
            if text.startswith((MASKED, *_CUT)):
                return text
    return None


def _written_path(remains: str) -> str | None:
    if remains.startswith(MASKED):
        # Its own words stand last; what stands before them are a tool's.
        found = [*_MASKED_TO.finditer(remains)][-1:]
    else:
        found = [*_CUT_TO.finditer(remains)][:1]
    return found[0][1] if found else None


def _is_rest_of(remains: str, text: str) -> bool:
    """Whether what is left of an output is the end of this one. Servers may give an id again and again."""
    return remains.rstrip()[-_PROOF:] in text


def _answer(text: str) -> str:
    """The words of an answer that was masked; it was kept as JSON."""
    try:
        answer = decode(text.encode("utf-8", "replace")).value
    except UndecodableError:
        return text
    words = [part.text for part in response_parts({"response": answer}) if isinstance(part, Text)]
    return "\n".join(words) if words else text


def _is_output(inside: str) -> bool:
    known = place(inside)
    return isinstance(known, Place) and known.kind is CompanionKind.TOOL_OUTPUT


def _project_folders(session: Session) -> Iterator[Path]:
    """The project's folders in the agent's homes, by where the files of the session lie."""
    for file in session.files:
        above = Path(file.path).absolute().parents
        chats = next((folder for folder in above[:2] if folder.name == "chats"), None)
        if chats:
            yield chats.parent
        elif len(above) > 1 and above[1].name == "tmp":
            yield above[0]


def _ids(session: Session) -> Iterable[str]:
    """The ids under which outputs of the session were put away; those of a subagent may be its parent's."""
    parent = (session.parent_id or "").partition(":")[2]
    names = (session.native_id, session.native_id.partition("#")[0], parent)
    return dict.fromkeys(name for name in names if re.fullmatch(r"[\w-]+", name))


def _files_in(folder: str) -> Iterator[tuple[int, str]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_file(follow_symlinks=False):
                    yield entry.stat(follow_symlinks=False).st_size, entry.path
    except OSError:
        # What the project holds was scanned, and trouble with it reported there.
        return


def _begins(file: str, begin: str) -> bool:
    return os.path.basename(file).lower().startswith(begin)  # noqa: PTH119 - thousands of them


def _safe(name: str) -> str:
    """A name as the CLI makes it fit for a file."""
    return _UNSAFE.sub("_", name.lower())
