"""A small home with real sessions, for machines that have none: a weather command and a recipe site.

`home/` was recorded with Gemini CLI itself and is kept byte for byte (`tests/fixtures/record/sample.py`).
"""

from __future__ import annotations

import os


def home() -> str:
    """The folder that stands for a user's home."""
    return os.path.join(os.path.dirname(__file__), "home")  # noqa: PTH118, PTH120 - pathlib loads slowly
