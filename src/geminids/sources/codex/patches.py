"""Changes to files: the patches that Codex's models write, and what the program says it applied.

*** Begin Patch
*** Add File: PATH          each line of it with a plus
*** Update File: PATH       with `*** Move to: PATH`, then pieces that begin with @@
*** Delete File: PATH
*** End Patch
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from geminids.model import FileChange, Operation

_HEADING = re.compile(r"\*\*\* (Add|Update|Delete) File: (.*)")
_MOVE = "*** Move to: "
_OPERATIONS = {"Add": Operation.CREATE, "Update": Operation.EDIT, "Delete": Operation.DELETE}


def changes_in_patch(patch: str) -> tuple[FileChange, ...]:
    """What a patch asks for, file by file."""
    if "*** Begin Patch" not in patch:
        return ()
    return tuple(_change(heading, lines) for heading, lines in _sections(patch))


def _sections(patch: str) -> Iterator[tuple[re.Match[str], list[str]]]:
    heading: re.Match[str] | None = None
    lines: list[str] = []
    for line in patch.partition("*** Begin Patch")[2].split("\n"):
        found = _HEADING.fullmatch(line.rstrip())
        if found or line.startswith("*** End Patch"):
            if heading:
                yield heading, lines
            heading, lines = found, []
        else:
            lines.append(line)
    if heading:
        yield heading, lines


def _change(heading: re.Match[str], lines: list[str]) -> FileChange:
    operation, path = _OPERATIONS[heading[1]], heading[2].strip()
    if operation is Operation.DELETE:
        return FileChange(path, operation)
    if lines and lines[0].startswith(_MOVE):
        path = lines.pop(0).removeprefix(_MOVE).strip()
    added = sum(line.startswith("+") for line in lines)
    if operation is Operation.CREATE:
        after = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        return FileChange(path, operation, after=after, added=added, removed=0)
    removed = sum(line.startswith("-") for line in lines)
    return FileChange(path, operation, diff="\n".join(lines), added=added, removed=removed)


def applied_changes(changes: object) -> tuple[FileChange, ...]:
    """What the program says it changed: an object with a change for each path."""
    if type(changes) is not dict:
        return ()
    return tuple(_applied(path, change) for path, change in changes.items() if type(change) is dict)


def _applied(path: str, change: dict[str, Any]) -> FileChange:
    match change:
        case {"type": "add", "content": str(after)}:
            return FileChange(path, Operation.CREATE, after=after, added=_lines(after), removed=0)
        case {"type": "delete", "content": str(before)}:
            return FileChange(path, Operation.DELETE, before=before, added=0, removed=_lines(before))
        case {"type": "delete"}:
            return FileChange(path, Operation.DELETE)
        case {"type": "update", "unified_diff": str(diff), **about}:
            moved = about.get("move_path")
            lines = diff.split("\n")
            added = sum(line.startswith("+") and not line.startswith("+++ ") for line in lines)
            removed = sum(line.startswith("-") and not line.startswith("--- ") for line in lines)
            target = moved if isinstance(moved, str) and moved else path
            return FileChange(target, Operation.EDIT, diff, added=added, removed=removed)
        case _:
            return FileChange(path, Operation.EDIT)


def _lines(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and bool(text))
