"""What FTS5 makes of characters that are not ASCII, and what must be done before it sees them.

Loaded only when there is such a character, and patterns are made when they are first needed: all of them
together take as long as a search.
"""

from __future__ import annotations

import re
from functools import cache
from operator import add
from unicodedata import normalize

_UNUSUAL = (
    "[^\x00-\u02ff\u2010-\u205e\u20ac\u2190-\u2328\u232b-\u23f3\u2400-\u26ff\u2701-\u2adb\u2b00-\u2b4c\ufe0f]"
)
"""All but Latin letters, punctuation, arrows, lines and older signs, for which nothing needs to be done."""

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uf900-\ufaff\uffa1-\uffdc"
    "\U00016fe2-\U00016fe3\U0001aff0-\U0001b16f\U00020000-\U0003fffd"
)
"""Han, kana, Hangul, bopomofo and their iteration marks: scripts that put no blanks between words."""

_CJK_RUN = f"([{_CJK}]+)"

_OTHER_WIDTH = "[\u2f00-\u2fd5\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uff9f]+"
"""Wide letters and digits, narrow kana and radicals that stand for characters people type otherwise."""

_VARIANT = "\ufe00-\ufe02\U000e0100-\U000e01ef"
"""Which shape of a character is meant; without it, it is the same character."""

_SIGN = (
    "\u2066-\u2069\u20ba-\u20cf\u218a-\u218f\u23f4-\u23ff\u2700\u2b4d-\u2bff\u2e3c-\u2e7f"
    "\u2ffc-\u2fff\u31e4-\u31ef\u32ff\ufe27-\ufe2f\U0001f000-\U0001fbff"
)
"""Signs and emoji. FTS5 takes those made after 2012 for letters, and `done🤖` for a word."""

_VARIANTS = f"[{_VARIANT}]"
_SIGNS = f"[{_SIGN}]"
_SIGNS_OR_VARIANTS = f"[{_SIGN}{_VARIANT}]"

_MARK = "\u0300-\u0304\u0306-\u030c\u030f\u0311\u031b\u0323-\u0328\u032d\u032e\u0330\u0331"
_MARKS = f"[{_MARK}]"
"""The accents that FTS5 leaves out of a word. Before any other it ends the word."""

_MARKS_OR_VARIANTS = f"[{_MARK}{_VARIANT}]"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd"
_WORD = f"(?:[^\\W_]|[{_PRIVATE}])(?:[^\\W_]|[{_PRIVATE}{_MARK}])*"
"""What unicode61 takes for one word: letters, digits, characters for private use; then also accents."""

_HUMPS = "(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])"
_ACCENTED = "[\u00aa\u00c0-\u024f\u0300-\u03ff\u1e00-\u1fff\u2100-\u214f]"
"""Letters that FTS5 folds to more than their small form."""

_KEPT = (
    "[\u01e1\u037f\u0528-\u052f\u13f8-\u13fd\u1c80-\u1cbf\u2c2f\ua698-\ua69b\ua796-\ua79f\ua7ab-\ua7ff"
    "\uab70-\uabbf\U000104b0-\U000104d3\U00010570-\U00010595\U00010c80-\U00010cb2"
    "\U000118a0-\U000118bf\U00016e40-\U00016e5f\U0001e900-\U0001e921]"
)
"""Letters that FTS5 does not fold: its tables are those of Unicode 6.1, and forgot `ǡ`."""


@cache
def _pattern(source: str) -> re.Pattern[str]:
    return re.compile(source)


def prepared(text: str) -> str:
    """A text that is not ASCII as FTS5 should see it, but for its camelCase."""
    return _pairs(_without_signs(_composed(text))) if _pattern(_UNUSUAL).search(text) else text


def words(text: str) -> list[str]:
    """The words that FTS5 finds in a prepared text, as it folds them."""
    return [word.translate(_FOLDS) for word in _pattern(_WORD).findall(text)]


def units(text: str) -> list[str]:
    """Runs of CJK and words, as FTS5 folds them, in their order."""
    found: list[str] = []
    for number, piece in enumerate(_pattern(_CJK_RUN).split(_without_signs(composed(text)))):
        found += [piece] if number % 2 else words(_pattern(_HUMPS).sub(" ", piece))
    return found


def folded_in_place(text: str) -> str:
    """The text without case and accents, each character where it was."""
    if not _pattern(_ACCENTED).search(text) and len(small := text.lower()) == len(text):
        return small
    return text.translate(_FOLDS_IN_PLACE)


def composed(text: str) -> str:
    """The text with each character in its usual form: accents within their letters, kana in full width.

    Files of macOS write `é` and `が` as two characters, and people type them as one.
    """
    return _composed(text) if _pattern(_UNUSUAL).search(text) else text


def _composed(text: str) -> str:
    if _pattern(_OTHER_WIDTH).search(text):
        text = _pattern(_OTHER_WIDTH).sub(lambda run: normalize("NFKC", run[0]), text)
    return normalize("NFC", text)


def without_case(text: str) -> str:
    """A text in which letters are the same that are the same to `re` in any case, each at its place."""
    # The one letter that becomes two when it is made small.
    return text.replace("\u0130", "i").lower().translate(_same_letters())


def same_in_any_case(letter: str) -> set[str]:
    """The letters that `without_case` takes for the same as this one; of ASCII, the small one."""
    every, folded = _every_letter()
    wanted, found = without_case(letter), {letter}
    place = folded.find(wanted)
    while place >= 0:
        found.add(every[place])
        place = folded.find(wanted, place + 1)
    return {one.lower() if one.isascii() else one for one in found}


@cache
def _every_letter() -> tuple[str, str]:
    """All characters among which some have a case, and the same without it."""
    every = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x1E944))))
    return every, without_case(every)


@cache
def _same_letters() -> dict[int, int]:
    from re._casefix import _EXTRA_CASES  # type: ignore[import-not-found]

    return {letter: min(letter, *others) for letter, others in _EXTRA_CASES.items()}


def has_marks(text: str) -> bool:
    """Whether accents or choices of shape stand in a text as characters of their own."""
    return _pattern(_MARKS_OR_VARIANTS).search(text) is not None


def ignoring_marks(letters: str) -> str:
    """A pattern for these letters, whatever accents or choices of shape stand between them."""
    return f"[{_MARK}{_VARIANT}]*".join(map(re.escape, letters))


def is_cjk(text: str) -> bool:
    """Whether it begins with a character of a script that puts no blanks between words."""
    return _pattern(_CJK_RUN).match(text) is not None


def _without_signs(text: str) -> str:
    if not _pattern(_SIGNS_OR_VARIANTS).search(text):
        return text
    return _pattern(_SIGNS).sub(" ", _pattern(_VARIANTS).sub("", text))


def _pairs(text: str) -> str:
    """The text with pairs in place of runs of CJK."""
    pieces = _pattern(_CJK_RUN).split(text)
    if len(pieces) == 1:
        return text
    pieces[1::2] = map(_pairs_of_run, pieces[1::2])
    return "".join(pieces)


def _pairs_of_run(run: str) -> str:
    return f" {' '.join([*map(add, run, run[1:]), run[-1]])} "


class _Folds(dict[int, str]):
    """Characters without case and accents as FTS5 folds them, filled as they come up."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold(chr(code))
        return folded


def _fold(character: str) -> str:
    if _pattern(_MARKS).match(character):
        return ""
    if _pattern(_KEPT).match(character):
        return character
    small = character.casefold() if len(character.casefold()) == 1 else character.lower()[0]
    return small if _pattern(_KEPT).match(small) else _bare(small)


def _bare(letter: str) -> str:
    """A letter without its accents, if it is one of a to z below them; FTS5 leaves all others as they are."""
    parts = normalize("NFD", letter)
    return parts[0] if parts[0].isascii() and all(map(_pattern(_MARKS).match, parts[1:])) else letter


class _FoldsInPlace(dict[int, str]):
    """The same, but one character for each."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _FOLDS[code] or chr(code)
        return folded


_FOLDS = _Folds()
_FOLDS_IN_PLACE = _FoldsInPlace()
