"""Changes of files as hunks of numbered lines, which a page shows side by side or one below the other."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence

from geminids.core.model import Diff, FileChange, Operation, ToolCall
from geminids.faces.documents.parts import DiffLine, FileDiff, Hunk
from geminids.sharing.transcript import safe

MOST_LINES = 1_000
"""Lines of one change in a page."""
LONGEST_LINE = 2_000
LONGEST_COMPARED = 200_000
"""Characters of texts that are compared where no diff was recorded: it takes long."""

_HEADING = re.compile(r"@@+ -(?P<old>\d{1,9})(?:,\d+)? \+(?P<new>\d{1,9})(?:,\d+)? @@+(?P<words>.*)")
_KINDS = {"+": "added", "-": "removed"}


def file_diffs(call: ToolCall) -> list[FileDiff]:
    """What a call did to files."""
    diffs = [_of_change(change) for change in call.changes]
    if not any(diff.hunks for diff in diffs) and isinstance(call.display, Diff):
        shown = call.display
        diffs = [_of_change(FileChange(shown.path, Operation.EDIT, shown.diff))]
    return diffs


def _of_change(change: FileChange) -> FileDiff:
    lines = _written(change)
    shown = lines[:MOST_LINES]
    return FileDiff(
        path=safe.line(change.path),
        operation=change.operation,
        added=change.added,
        removed=change.removed,
        hunks=list(_hunks(shown)),
        is_cut=len(shown) < len(lines),
    )


def _written(change: FileChange) -> Sequence[str]:
    """The lines of the diff that was recorded, else of one that is made of the texts."""
    if change.diff:
        return change.diff.removesuffix("\n").split("\n")
    before, after = change.before or "", change.after or ""
    if before == after or len(before) + len(after) > LONGEST_COMPARED:
        return []
    return list(difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=3))


def _hunks(lines: Sequence[str]) -> Iterator[Hunk]:
    heading, shown = "", list[DiffLine]()
    old, new = 1, 1
    begins = any(_HEADING.match(line) for line in lines)
    for line in lines:
        if found := _HEADING.match(line):
            if shown:
                yield Hunk(heading=heading, lines=shown)
            heading, shown = safe.line(found["words"]).strip(), []
            old, new, begins = int(found["old"]), int(found["new"]), False
        elif not begins and not line.startswith("\\"):
            # What stands before the first heading names the files.
            shown.append(_line(line, old, new))
            old, new = old + (line[:1] != "+"), new + (line[:1] != "-")
    if shown:
        yield Hunk(heading=heading, lines=shown)


def _line(line: str, old: int, new: int) -> DiffLine:
    kind = _KINDS.get(line[:1], "context")
    words = line[1:] if line[:1] in {"+", "-", " "} else line
    return DiffLine(
        kind=kind,
        old=None if kind == "added" else old,
        new=None if kind == "removed" else new,
        text=safe.text(words[:LONGEST_LINE]),
    )
