"""The programs in docs/scale.md, as tests run them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "scale.md"
_FOLDERS = ("homes", "tables", "state", "messages", "checkpoint")


def programs(heading: str) -> Sequence[str]:
    """The programs in the part of the page that begins with a heading, until the next of that level."""
    _, _, part = PAGE.read_text("utf-8").partition(f"\n## {heading}\n")
    assert part, heading
    return re.findall(r"^```python\n(.*?)^```", part.split("\n## ")[0], re.MULTILINE | re.DOTALL)


def run(program: str, folder: Path, names: dict[str, Any]) -> None:
    """Run a program with its folders below another, and with what the programs before it have defined."""
    for name in _FOLDERS:
        # A table and an option are called like the folder.
        program = re.sub(rf'(?<!"table", )"{name}"(?!, ")', repr(str(folder / name)), program)
    exec(compile(program, str(PAGE), "exec"), names)
