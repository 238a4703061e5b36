"""What files of exports are called: a date, the title in short, the beginning of the id."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from geminids.core.model import Session

LONGEST_TITLE = 60
"""Bytes, since names of files are measured in them."""
SHORT_ID = 8


def stem(session: Session, title: str, is_taken: Callable[[str], bool]) -> str:
    """The name of a session's file without its ending; none that is taken."""
    began = session.started_at or session.ended_at
    pieces = [f"{began:%Y-%m-%d}" if began else "undated", slug(title), _short_id(session.native_id)]
    wished = "-".join(piece for piece in pieces if piece)
    name, number = wished, 2
    while is_taken(name):
        name, number = f"{wished}-{number}", number + 1
    return name


def slug(title: str) -> str:
    """Words as a piece of a name: letters and digits of any script, else dashes."""
    words = re.sub(r"[\W_]+", "-", unicodedata.normalize("NFC", title).lower())
    whole = words.encode("utf-8", "replace")
    if len(whole) > LONGEST_TITLE:
        words = whole[:LONGEST_TITLE].decode("utf-8", "ignore")
        # Not in the middle of a word, where there are several.
        words = words.rpartition("-")[0] or words
    return words.strip("-")


def _short_id(native_id: str) -> str:
    return re.sub(r"[^0-9A-Za-z]+", "-", native_id)[:SHORT_ID].strip("-")
