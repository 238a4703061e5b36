"""Changes to files: the patches that Codex's models write, and what the program says it applied.

*** Begin Patch
*** Add File: PATH          each line of it with a plus
*** Update File: PATH       with `*** Move to: PATH`, then pieces that begin with @@
*** Delete File: PATH
*** End Patch
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.model import FileChange, Operation
from geminids.reading.shapes import lines_in

_HEADING = lazy_pattern(r"\*\*\* (Add|Update|Delete) File: (.*)")
_MOVE = "*** Move to: "
_NO_END = "\\ No newline at end of file"
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
    if operation is Operation.CREATE:
        return _created(path, "".join(f"{line[1:]}\n" for line in lines if line.startswith("+")))
    if lines and lines[0].startswith(_MOVE):
        path = lines.pop(0).removeprefix(_MOVE).strip()
    return _edited(path, "\n".join(lines))


def _created(path: str, after: str) -> FileChange:
    lines = lines_in(after)
    diff = _hunk(f"@@ -0,0 +1,{len(lines)} @@", "+", lines, after)
    return FileChange(path, Operation.CREATE, diff, after=after, added=len(lines), removed=0)


def _deleted(path: str, before: str) -> FileChange:
    lines = lines_in(before)
    diff = _hunk(f"@@ -1,{len(lines)} +0,0 @@", "-", lines, before)
    return FileChange(path, Operation.DELETE, diff, before=before, added=0, removed=len(lines))


def _edited(path: str, diff: str) -> FileChange:
    """A change of lines. A comment that was removed may look like the heading of a file; here none is."""
    pieces = diff.split("\n")
    first = next((at for at, line in enumerate(pieces) if line.startswith("@@")), 0)
    added = sum(line.startswith("+") for line in pieces[first:])
    removed = sum(line.startswith("-") for line in pieces[first:])
    return FileChange(path, Operation.EDIT, diff, added=added, removed=removed)


def _hunk(heading: str, sign: str, lines: Sequence[str], text: str) -> str | None:
    """A piece of a diff that adds or removes all lines of a text; None if it has none."""
    if not lines:
        return None
    end = [] if text.endswith("\n") else [_NO_END]
    return "\n".join([heading, *(sign + line for line in lines), *end]) + "\n"


def applied_changes(changes: object) -> tuple[FileChange, ...]:
    """What the program says it changed: an object with a change for each path."""
    if type(changes) is not dict:
        return ()
    return tuple(_applied(path, change) for path, change in changes.items() if type(change) is dict)


def _applied(path: str, change: dict[str, Any]) -> FileChange:
    match change:
        case {"type": "add", "content": str(after)}:
            return _created(path, after)
        case {"type": "delete", "content": str(before)}:
            return _deleted(path, before)
        case {"type": "delete"}:
            return FileChange(path, Operation.DELETE)
        case {"type": "update", "unified_diff": str(diff), "move_path": str(target)} if target:
            return _edited(target, diff)
        case {"type": "update", "unified_diff": str(diff)}:
            return _edited(path, diff)
        case _:
            return FileChange(path, Operation.EDIT)
