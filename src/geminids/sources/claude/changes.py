"""What calls did to files: from the patch that the CLI recorded, or from what was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from geminids.model import FileChange, Operation, ResultPart, Text
from geminids.sources.claude.content import object_or_empty, text_or_none

_CREATED = "File created successfully"


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
    diff = "\n".join([f"--- {path}", f"+++ {path}", *lines])
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    return (FileChange(path, Operation.EDIT, diff, before, after, added, removed),)


def _edited(path: str, known: dict[str, Any], before: str | None, after: str | None) -> FileChange:
    """A change without a patch: the lines of the two texts, as far as both are there."""
    old, new = text_or_none(known.get("oldString")), text_or_none(known.get("newString"))
    if old is None or new is None or known.get("replaceAll") is True:
        return FileChange(path, Operation.EDIT, None, before, after)
    return _replaced(path, old, new)


def asked_changes(
    name: str, arguments: dict[str, Any], result: Iterable[ResultPart]
) -> tuple[FileChange, ...]:
    """The change that a call asked for, where nothing more was recorded of it."""
    match name, arguments:
        case "Write", {"file_path": str(path), "content": str(content)}:
            is_new = any(isinstance(part, Text) and part.text.startswith(_CREATED) for part in result)
            edited = FileChange(path, Operation.EDIT, after=content)
            return (_created(path, content) if is_new else edited,)
        case "Edit", {"file_path": str(path), "old_string": str(old), "new_string": str(new), **about}:
            everywhere = about.get("replace_all") is True
            return (FileChange(path, Operation.EDIT) if everywhere else _replaced(path, old, new),)
        case _, {"file_path": str(path)} | {"notebook_path": str(path)}:
            return (FileChange(path, Operation.EDIT),)
        case _:
            return ()


def _created(path: str, content: str) -> FileChange:
    added = len(content.splitlines())
    return FileChange(path, Operation.CREATE, after=content, added=added, removed=0)


def _replaced(path: str, old: str, new: str) -> FileChange:
    """A piece of a file that was replaced by another: what both begin and end with did not change."""
    before, after = old.splitlines(), new.splitlines()
    least = min(len(before), len(after))
    same = _equal_at_start(before, after, least)
    same += _equal_at_start(before[::-1], after[::-1], least - same)
    operation = Operation.EDIT if old else Operation.CREATE
    return FileChange(path, operation, added=len(after) - same, removed=len(before) - same)


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
