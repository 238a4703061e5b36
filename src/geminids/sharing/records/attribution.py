"""Which lines of which files the model of a session wrote, as far as the session is evidence of it.

The changes of all calls that succeeded are made again, one after the other. Lines of the last state of a
file that are still as a call wrote them are told, with a hash of their text (joined by line feeds). A file of
which the changes do not tell enough has a conversation of an unknown contributor without any range: more was
written than is told. What a shell did is not seen. Files that were deleted are left out.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from geminids.core.model import FileChange, Message, Operation, Session, State, Text, ToolCall, ToolStatus
from geminids.reading.shapes import lines_in
from geminids.sharing.records.line_owners import KnownFile, Line, Owner, hunks_of

_DROPPED = (State.REWOUND, State.SUPERSEDED)
"""Agents may have taken back what calls of such messages wrote, and do not say so."""
_OF_WINDOWS = re.compile(r"[A-Za-z]:[\\/]|\\\\")
_MOVE = re.compile(r"^\*\*\* Update File: (.+)\n\*\*\* Move to: (.+)$", re.MULTILINE)
_MODIFIED = "User modified the `"
"""What an agent tells the model if the human changed what it proposed."""


def file_attribution(session: Session) -> dict[str, Any] | None:
    """Who wrote which lines; None if the session tells of no change that is left."""
    files = _Files(session.project.path)
    counted: set[str] = set()
    for message in session.messages:
        for call in message.tool_calls:
            if call.status is not ToolStatus.SUCCESS or not call.changes or call.call_id in counted:
                continue
            if call.call_id is not None:
                counted.add(call.call_id)
            files.take(message, call)
    attributed = [file for path, known in files.known.items() if (file := _file(path, known))]
    return {"files": attributed} if attributed else None


class _Files:
    """The files that a session changed."""

    def __init__(self, folder: str | None) -> None:
        self._folder = _slashed(folder).rstrip("/") if folder else None
        self.known: dict[str, KnownFile] = {}

    def take(self, message: Message, call: ToolCall) -> None:
        """Take in what a call did."""
        for before, after in _moves(call):
            if moved := self.known.pop(self._path(before), None):
                self.known[self._path(after)] = moved
        owner = None if message.imported else Owner(_kind(call), message.model)
        for change in call.changes:
            path = self._path(change.path)
            if message.state in _DROPPED:
                self.known.setdefault(path, KnownFile()).lose()
            elif change.operation is Operation.DELETE:
                self.known.pop(path, None)
            else:
                known = self.known.setdefault(path, KnownFile())
                was_uncertain = known.is_uncertain
                _make(known, change, call.arguments, owner)
                # What another session wrote need not be told here.
                known.is_uncertain &= was_uncertain or not message.imported

    def _path(self, path: str) -> str:
        """A path as seen from the folder of the project, if it is below it."""
        normal = posixpath.normpath(_slashed(path))
        if self._folder and normal.startswith(f"{self._folder}/"):
            return normal[len(self._folder) + 1 :]
        return normal


def _slashed(path: str) -> str:
    return path.replace("\\", "/") if _OF_WINDOWS.match(path) else path


def _moves(call: ToolCall) -> Iterator[tuple[str, str]]:
    """Files that a patch moved; changes name them by where they are now."""
    for value in call.arguments.values():
        for words in value if isinstance(value, list) else (value,):
            if isinstance(words, str) and "*** Move to: " in words:
                yield from ((found[1].strip(), found[2].strip()) for found in _MOVE.finditer(words))


def _kind(call: ToolCall) -> str:
    """Whose a change is: the human may have had a hand in it, and then nobody says in which lines."""
    says_so = any(isinstance(part, Text) and _MODIFIED in part.text for part in call.result)
    return "mixed" if says_so or call.arguments.get("modified_by_user") is True else "ai"


def _make(known: KnownFile, change: FileChange, arguments: dict[str, Any], owner: Owner | None) -> None:
    """Make a change again."""
    if change.operation is Operation.CREATE and not change.before:
        known.begin()
    elif change.before is not None:
        known.was(lines_in(change.before))
    hunks = hunks_of(change.diff) if change.diff else []
    if change.after is not None:
        known.becomes(lines_in(change.after), hunks, owner)
    elif hunks:
        known.changed_by(hunks, owner)
    elif (text := _replaced(known.text, arguments)) is not None:
        known.becomes(text, (), owner)
    elif change.operation is not Operation.CREATE or change.added:
        known.lose()


def _replaced(lines: list[str] | None, arguments: dict[str, Any]) -> list[str] | None:
    """A file in which a piece was replaced as asked for; None if it is not known, or not clear where."""
    match arguments:
        case {"old_string": str(old), "new_string": str(new)} if old and lines is not None:
            text = "\n".join((*lines, ""))
            times = text.count(old)
            is_clear = times == 1 or (times > 1 and _is_everywhere(arguments, times))
            return lines_in(text.replace(old, new)) if is_clear else None
        case _:
            return None


def _is_everywhere(arguments: dict[str, Any], times: int) -> bool:
    """Whether all pieces that are alike were to be replaced."""
    says_so = arguments.get("replace_all") is True or arguments.get("allow_multiple") is True
    return says_so or arguments.get("expected_replacements") == times


def _file(path: str, known: KnownFile) -> dict[str, Any] | None:
    ranges: dict[Owner, list[dict[str, Any]]] = {}
    for owner, lines in _runs(known.owned):
        ranges.setdefault(owner, []).append(_range(lines))
    conversations = [
        {"contributor": _contributor(owner), "ranges": of_owner} for owner, of_owner in ranges.items()
    ]
    if known.is_uncertain:
        conversations.append({"contributor": {"type": "unknown"}, "ranges": []})
    return {"path": path, "conversations": conversations} if conversations else None


def _runs(owned: Iterable[tuple[int, Line]]) -> Iterator[tuple[Owner, list[tuple[int, Line]]]]:
    """Lines of one owner that follow each other."""
    for (owner, _), run in groupby(enumerate(owned), lambda item: (item[1][1].owner, item[1][0] - item[0])):
        if owner is not None:
            yield owner, [numbered for _, numbered in run]


def _range(lines: list[tuple[int, Line]]) -> dict[str, Any]:
    text = "\n".join(line.text for _, line in lines)
    return {
        "start-line": lines[0][0],
        "end-line": lines[-1][0],
        "content-hash": hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
    }


def _contributor(owner: Owner) -> dict[str, Any]:
    return {"type": owner.kind} | ({} if owner.model is None else {"model-id": owner.model})
