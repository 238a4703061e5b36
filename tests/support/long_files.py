"""Recorded session files that are too large to be read completely: the same records, far apart.

Blank lines push what stands in the middle of a file out of the two ends that are read.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from geminids.agents.codex.read.rollout_text import _zstd
from geminids.agents.codex.read.rollouts import PACKED
from tests.conftest import FIXTURES

SETTINGS = "[read]\nlargest-file = 6_000_000\n"
"""With these, the files that `write_long` writes are not read completely."""
_BLANK = (b" " * 9_999 + b"\n") * 600


class Recorded(NamedTuple):
    """A recorded session, and the lines at its beginning and at its end that stay at the ends of the file."""

    case: str
    file: str
    begin: int
    end: int


RECORDED = {
    "gemini": Recorded(
        "gemini/long-output", ".gemini/tmp/alpha/chats/session-2026-11-15T07-13-eb5f713e.jsonl", 2, 3
    ),
    "gemini-document": Recorded(
        "gemini/tool-calls-json",
        ".gemini/tmp/edef20a0cd3c475b89998dd6d8d7a0107ab321604e89b58bc11f0a6f0127c7fe/chats/"
        "session-2026-11-15T07-54-0a85aa5c.json",
        64,
        23,
    ),
    "claude": Recorded(
        "claude/own-command",
        ".claude/projects/-tmp-demo-alpha/6cb95899-7687-4d43-832a-1c62d08cfc48.jsonl",
        6,
        3,
    ),
    "codex": Recorded(
        "codex/compaction",
        ".codex/sessions/2026/11/15/rollout-2026-11-15T21-12-49-01a1e10e-3fe3-73f0-ba74-96e165a6628a.jsonl",
        8,
        3,
    ),
    "codex-packed": Recorded(
        "codex/compressed",
        ".codex/sessions/2026/11/15/"
        "rollout-2026-11-15T21-13-21-01a1e10e-ba2c-7290-8530-8fb78bebdf84.jsonl.zst",
        8,
        3,
    ),
}


def write_long(home: Path, name: str) -> Path:
    """Write the home of a recorded session whose file is too large; return that file."""
    recorded = RECORDED[name]
    shutil.copytree(FIXTURES / recorded.case / "home", home, dirs_exist_ok=True)
    path = home / recorded.file
    content = path.read_bytes()
    if path.name.endswith(PACKED):
        content = _zstd().decompress(content)
    lines = content.splitlines(keepends=True)
    middle = lines[recorded.begin : -recorded.end]
    long = b"".join([*lines[: recorded.begin], _BLANK, *middle, _BLANK, *lines[-recorded.end :]])
    path.write_bytes(_zstd().compress(long) if path.name.endswith(PACKED) else long)
    return path
