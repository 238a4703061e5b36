"""Putting sessions back where Claude Code finds them: each file where it lay, byte for byte.

It deletes by the date of the file on the disk, so a file that is written anew has its whole time again. It
knows a session by the name of its file, whatever id stands in it: where the name was taken meanwhile, the
session gets another one, with which it can be resumed (tried with 2.1).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import PurePath
from uuid import UUID

from geminids.agents.claude.homes import projects_folder
from geminids.agents.claude.layout import SUFFIX
from geminids.core.agents.homes import Home
from geminids.core.agents.restore import Copy, Restoring, is_held, to_places


def restoring(home: Home, copies: Sequence[Copy]) -> Restoring:
    """Where every file of a session goes."""
    renamed = {
        copy.path.removesuffix(SUFFIX): _another_name(copy)
        for copy in copies
        if _is_main(home, copy) and os.path.lexists(copy.path) and not is_held(copy.path, copy)
    }
    return to_places(((copy, *_place(copy, renamed)) for copy in copies), home.folder)


def _is_main(home: Home, copy: Copy) -> bool:
    is_in_project = PurePath(copy.path).parents[1] == PurePath(projects_folder(home))
    return is_in_project and copy.path.endswith(SUFFIX)


def _another_name(copy: Copy) -> str:
    """The path of the session under another id, without the suffix; the same for the same copy."""
    digest = sha256(copy.path.encode("utf-8", "surrogateescape") + copy.read()).digest()
    return str(PurePath(copy.path).with_name(str(UUID(bytes=digest[:16], version=4))))


def _place(copy: Copy, renamed: dict[str, str]) -> tuple[str, str | None]:
    """Where a file goes, and why it is not where it lay; what belongs to a session goes with it."""
    for before, after in renamed.items():
        if copy.path == before + SUFFIX:
            command = f"claude --resume {PurePath(after).name}"
            return after + SUFFIX, f"{copy.path!r} exists with other content. To resume this: `{command}`."
        if copy.path.startswith(before + os.sep):
            return after + copy.path.removeprefix(before), "It moves with its session, which has a new name."
    return copy.path, None
