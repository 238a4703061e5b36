"""A small home with real sessions, for machines that have none: a weather command and a recipe site.

`home/` was recorded with Gemini CLI itself and is kept byte for byte (`tests/fixtures/record/sample.py`).
"""

from __future__ import annotations

from pathlib import Path


def home() -> Path:
    """The folder that stands for a user's home."""
    return Path(__file__).with_name("home")
