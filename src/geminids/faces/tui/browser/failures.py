"""What went wrong, in a sentence."""

from __future__ import annotations


def in_words(error: Exception) -> str:
    """What an error says; of one of the operating system what it is about."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"Cannot use {error.filename!r}: {error.strerror}."
    return str(error)
