"""What calls did to files: from the patch that the CLI recorded, or from what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from geminids.agents.claude.read.content import object_or_empty, text_or_none
from geminids.core.model import FileChange, Operation, ResultPart, Text
from geminids.reading.shapes import lines_in

_CREATED = "File created successfully"
_CONTEXT = 3
"""Lines that did not change which a diff shows before and after those that did."""


def changes_of(known: dict[str, Any]) -> tuple[FileChange, ...]:
    """The change that the result of a call tells of."""
    path = text_or_none(known.get("filePath")) or text_or_none(known.get("notebook_path"))
    if path is None:
        return ()
    before = text_or_none(known.get("originalFile")) or text_or_none(known.get("originalFileContents"))
    after = text_or_none(known.get("content")) or text_or_none(known.get("updated_file"))
    if known.get("type") == "create":
        return (_created(path, after or ""),)
    lines = list(_patch_lines(known.get("structuredPatch")))
    if not lines:
        return (_edited(path, known, before, after),)
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return (FileChange(path, Operation.EDIT, _diff(path, lines), before, after, added, removed),)


def _edited(path: str, known: dict[str, Any], before: str | None, after: str | None) -> FileChange:
    """A change without a patch: the lines of the two texts, as far as both are there."""
    match known:
        case {"oldString": str(old), "newString": str(new)} if known.get("replaceAll") is not True:
            return _replaced(path, [(old, new)])
        case _:
            return FileChange(path, Operation.EDIT, None, before, after)


def asked_changes(
    name: str, arguments: dict[str, Any], result: Iterable[ResultPart]
) -> tuple[FileChange, ...]:
    """The change that a call asked for, where nothing more was recorded of it."""
    match name, arguments:
        case "Write", {"file_path": str(path), "content": str(content)}:
            is_new = any(isinstance(part, Text) and part.text.startswith(_CREATED) for part in result)
            edited = FileChange(path, Operation.EDIT, after=content)
            return (_created(path, content) if is_new else edited,)
        case "Edit", {"file_path": str(path)}:
            return (_asked_edits(path, [arguments]),)
        case "MultiEdit", {"file_path": str(path), "edits": [_, *_] as edits}:
            return (_asked_edits(path, edits),)
        case _, {"file_path": str(path)} | {"notebook_path": str(path)}:
            return (FileChange(path, Operation.EDIT),)
        case _:
            return ()


def _asked_edits(path: str, edits: list[Any]) -> FileChange:
    """Pieces of a file that were to be replaced; how often one that is replaced everywhere is not known."""
    pieces = [
        (old, new)
        for edit in map(object_or_empty, edits)
        if isinstance(old := edit.get("old_string"), str)
        and isinstance(new := edit.get("new_string"), str)
        and edit.get("replace_all") is not True
    ]
    return _replaced(path, pieces) if len(pieces) == len(edits) else FileChange(path, Operation.EDIT)


def _created(path: str, content: str) -> FileChange:
    lines = lines_in(content)
    hunk = [f"@@ -0,0 +1,{len(lines)} @@", *(f"+{line}" for line in lines)]
    diff = _diff(path, hunk) if lines else None
    return FileChange(path, Operation.CREATE, diff, after=content, added=len(lines), removed=0)


def _replaced(path: str, pieces: Sequence[tuple[str, str]]) -> FileChange:
    """Pieces of a file that were replaced by others."""
    hunks: list[str] = []
    added = removed = 0
    for old, new in pieces:
        hunk = list(_hunk(lines_in(old), lines_in(new)))
        added += sum(line.startswith("+") for line in hunk)
        removed += sum(line.startswith("-") for line in hunk)
        hunks += hunk
    operation = Operation.EDIT if pieces[0][0] else Operation.CREATE
    return FileChange(path, operation, _diff(path, hunks) if hunks else None, added=added, removed=removed)


def _hunk(before: list[str], after: list[str]) -> Iterator[str]:
    """What was replaced, as lines of a diff: what both begin and end with did not change.

    Nobody noted where in the file it stands, so the heading of the hunk does not say it.
    """
    least = min(len(before), len(after))
    first = _equal_at_start(before, after, least)
    last = _equal_at_start(before[::-1], after[::-1], least - first)
    old, new = before[first : len(before) - last], after[first : len(after) - last]
    if old or new:
        yield "@@"
        yield from (f" {line}" for line in before[max(first - _CONTEXT, 0) : first])
        yield from (f"-{line}" for line in old)
        yield from (f"+{line}" for line in new)
        yield from (f" {line}" for line in before[len(before) - last :][:_CONTEXT])


def _diff(path: str, hunks: Iterable[str]) -> str:
    return "\n".join([f"--- {path}", f"+++ {path}", *hunks])


def _equal_at_start(one: list[str], other: list[str], most: int) -> int:
    pairs = zip(one[:most], other[:most], strict=True)
    return next((count for count, (line, same) in enumerate(pairs) if line != same), most)


def _patch_lines(patch: object) -> Iterator[str]:
    """The hunks of a patch as lines of a unified diff."""
    for hunk in patch if isinstance(patch, list) else ():
        match hunk:
            case {"lines": list(lines)}:
                yield f"@@ -{_range(hunk, 'old')} +{_range(hunk, 'new')} @@"
                yield from (line for line in lines if isinstance(line, str))


def _range(hunk: object, side: str) -> str:
    about = object_or_empty(hunk)
    first, count = about.get(f"{side}Start"), about.get(f"{side}Lines")
    return f"{first if isinstance(first, int) else 0},{count if isinstance(count, int) else 0}"
