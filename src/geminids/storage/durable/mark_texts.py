"""Names, tags and notes as they are stored: what is no text of one line that can be shown is refused."""

from __future__ import annotations

from unicodedata import category, normalize

from geminids.core.errors import GeminidsError

LONGEST_NAME = 200
LONGEST_TAG = 64
LONGEST_NOTE = 20_000
_UNSHOWN = frozenset("\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Letters that break lines or turn their direction: what follows would be shown wrongly."""


class BadMarkError(GeminidsError):
    """A name, tag or note that cannot be kept."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"A {what} {reason}.")


def stored_tag(tag: str) -> str:
    """A tag as it is kept: in small letters, without a `#`. Raises BadMarkError for what is none."""
    cleaned = stored_text("tag", tag, LONGEST_TAG).removeprefix("#").casefold()
    if not cleaned:
        raise BadMarkError("tag", "needs at least one letter")
    if len(cleaned.split()) > 1 or "," in cleaned:
        raise BadMarkError("tag", f"is one word, without spaces or commas; {tag!r} is not. Give several tags")
    return cleaned


def stored_text(what: str, text: str, longest: int, allowed: str = "") -> str:
    """The text as it is kept. Raises BadMarkError if it is blank, too long or not to be shown."""
    cleaned = normalize("NFC", text.strip())
    if not cleaned:
        raise BadMarkError(what, "needs at least one letter")
    if len(cleaned) > longest:
        raise BadMarkError(what, f"may have {longest:,} characters; this one has {len(cleaned):,}")
    for letter in cleaned:
        if letter not in allowed and _is_control(letter):
            raise BadMarkError(what, f"may not hold control characters; this one holds U+{ord(letter):04X}")
    return cleaned


def _is_control(letter: str) -> bool:
    # Cs: half an emoji, which cannot be stored.
    return letter in _UNSHOWN or category(letter) in ("Cc", "Cs")
