"""Why a text of settings was not changed."""

from __future__ import annotations


class UneditableError(ValueError):
    """A text of settings that cannot be changed safely; the words follow the name of its file."""
