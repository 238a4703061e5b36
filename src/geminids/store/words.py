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
from typing import NamedTuple

_HUMP = re.compile(r"([A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z])))")
"""A capital that begins a word within a word. Searching for capitals first is what makes it quick."""

_SPACED = {capital: " " + capital for capital in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_ASCII_WORD = re.compile("[a-z0-9]+")


class Phrase(NamedTuple):
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
        from geminids.store import characters

        text = characters.prepared(text)
    pieces = _HUMP.split(text)
    if len(pieces) == 1:
        return text
    pieces[1::2] = map(_SPACED.__getitem__, pieces[1::2])
    return "".join(pieces)


def terms(text: str) -> list[str]:
    """The words that FTS5 makes of `indexed(text)`, in their order and without case and accents."""
    prepared = indexed(text)
    if prepared.isascii():
        return _ASCII_WORD.findall(prepared.lower())
    from geminids.store import characters

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
    from geminids.store.characters import is_cjk

    if not is_cjk(words[-1]):
        return Phrase(tuple(words), prefix)
    is_run_of_one = len(words) == 1 or len(words[-2]) != 2 or not is_cjk(words[-2])
    return Phrase(tuple(words), is_open=True) if is_run_of_one else Phrase(tuple(words[:-1]), is_open=False)


def phrase(text: str, *, prefix: bool = False) -> str | None:
    """`as_phrase` as an expression of FTS5."""
    found = as_phrase(text, prefix=prefix)
    return found.expression if found else None
