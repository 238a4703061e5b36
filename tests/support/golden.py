"""Golden files: what came out once and was looked at. `make golden` writes them anew."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any


def check_golden(path: Path, value: Any) -> None:
    """Compare a value with a golden JSON file, as bytes."""
    check_golden_text(path, json.dumps(value, ensure_ascii=False, indent=1) + "\n")


def check_golden_text(path: Path, text: str) -> None:
    """Compare a text with a golden file, as bytes."""
    if os.environ.get("GEMINIDS_GOLDEN") == "rewrite":
        path.write_text(text, "utf-8")
    assert path.exists(), f"no golden file {path}: run `make golden` and read what it wrote"
    assert path.read_text("utf-8") == text
