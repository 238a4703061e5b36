"""What the index takes for a word: the same for texts that go in, for queries, and for what is highlighted.

The full text is FTS5 with `unicode61 remove_diacritics 2`. That alone would take `getUserName` for one word
and a Chinese sentence for another, so texts are prepared first (`indexed`):

    getUserName HTTPServer     get User Name HTTP Server
    中文字                      中文 文字 字       every two characters that stand together, and the last one

With these pairs a search for Chinese, Japanese or Korean characters is exact: one character is the beginning
of a pair or the last one of its run, more are pairs in a row. Nothing here is read or written.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from geminids.core.lazy_patterns import lazy_pattern
from geminids.core.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

HUMP = lazy_pattern(r"([A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z])))")
"""A capital that begins a word within a word. Searching for capitals first is what makes it quick."""

_BETWEEN = "\x1f"
"""Stands between texts and in none of them, but for odd ones."""
_SPACED = {capital: " " + capital for capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_SOLID_WORD = r"[\x00-/:-@\[-`{-\x7f]*([A-Za-z0-9]{3,24})[\x00-/:-@\[-`{-\x7f]*"
"""Letters and digits in one piece, whatever signs stand around them."""


class Way(Enum):
    """How something is looked for."""

    WORD = "word"
    PHRASE = "phrase"
    PREFIX = "prefix"
    SUBSTRING = "substring"
    REGEX = "regex"


class Want(Value):
    """Something to find in a text and to highlight there."""

    text: str
    way: Way = Way.WORD


Wanted: TypeAlias = Sequence[Want]


class Phrase(Value):
    """Words that stand one after the other, as the index knows them."""

    words: tuple[str, ...]
    is_open: bool
    """The last of them may be longer."""

    @property
    def expression(self) -> str:
        """It in the language of FTS5. Words hold no quotes, so nothing needs to be escaped."""
        return f'"{" ".join(self.words)}"{" *" if self.is_open else ""}'


def indexed(text: str) -> str:
    """The text as it goes into the index."""
    if not text.isascii():
        from geminids.storage.text import characters

        text = characters.prepared(text)
    pieces = HUMP.split(text)
    if len(pieces) == 1:
        return text
    pieces[1::2] = map(_SPACED.__getitem__, pieces[1::2])
    return "".join(pieces)


def indexed_together(texts: Sequence[str]) -> tuple[str, ...]:
    """Several texts as they go into the index, in one go where they are plain: calls are dear."""
    joined = _BETWEEN.join(texts)
    if joined.isascii() and joined.count(_BETWEEN) == len(texts) - 1:
        return tuple(indexed(joined).split(_BETWEEN))
    return tuple([indexed(text) if text else "" for text in texts])


def terms(text: str) -> list[str]:
    """The words that FTS5 makes of `indexed(text)`, in their order and without case and accents."""
    prepared = indexed(text)
    if prepared.isascii():
        return re.findall("[a-z0-9]+", prepared.lower())
    from geminids.storage.text import characters

    return characters.words(prepared)


def as_phrase(text: str, *, prefix: bool = False) -> Phrase | None:
    """What to look for if a human typed this, or None if there is no word in it.

    A text may go on after what was typed. So the last character of a run of CJK is not looked for by itself
    if the phrase ends there, and a run of one character is looked for as the beginning of a pair.
    """
    words = terms(text)
    if not words:
        return None
    if words[-1].isascii():
        return Phrase(tuple(words), prefix)
    from geminids.storage.text.characters import is_cjk

    if not is_cjk(words[-1]):
        return Phrase(tuple(words), prefix)
    is_run_of_one = len(words) == 1 or len(words[-2]) != 2 or not is_cjk(words[-2])
    return Phrase(tuple(words), is_open=True) if is_run_of_one else Phrase(tuple(words[:-1]), is_open=False)


def phrase(text: str, *, prefix: bool = False) -> str | None:
    """`as_phrase` as an expression of FTS5."""
    found = as_phrase(text, prefix=prefix)
    return found.expression if found else None


def spellings(word: str) -> list[Phrase]:
    """The ways in which a word that was typed without quotes can stand in the index.

    `GitHub` goes in as `git hub` and `github` as it is, and who types one means both. So a word with capitals
    is looked for in one piece too, and one without in two, wherever a capital may have stood. Most of these
    pieces are no words at all, so asking for them costs next to nothing.
    """
    typed = as_phrase(word)
    solid = re.fullmatch(_SOLID_WORD, word)
    if not typed or not solid:
        return [typed] if typed else []
    joined = solid[1].lower()
    if len(typed.words) > 1:
        return [typed, Phrase((joined,), is_open=False)]
    cuts = [place for place in range(1, len(joined) - 1) if joined[place].isalpha()]
    return [typed, *(Phrase((joined[:cut], joined[cut:]), is_open=False) for cut in cuts)]
