"""Whether a record of an agent's file can hold some letters at all, told from its bytes.

Reading a session takes a hundred times as long as looking through its bytes. Agents write JSON, in which
some characters may stand otherwise than in the text. So letters are looked for only where all spell them
alike, and a record with anything unusual in it is never ruled out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence

from geminids.query.search.tree import And, Node, Or, Prefix, Regex, Substring, Words, leaves
from geminids.storage.text.characters import same_in_any_case
from geminids.storage.text.needs import AllOf, Need, needed_by_regex
from geminids.storage.text.raw_patterns import PLAIN, found_in_bytes, letters_in

MayHold = Callable[[bytes], bool]

_ESCAPE = re.compile(rb"\\u(?!00[01][0-9A-Fa-f]|007[Ff])")
"""A character by its number, but for control characters, which no letters hold that are looked for."""
_NEXT_TEXT = re.compile(rb'\}\s*,\s*\{\s*"text"')
"""Where a text may go on in another piece: a reader may tell both as one."""
_SAME_LETTERS = {"i": "İı", "k": "K", "s": "ſ"}
"""What is the same to `re` in any case, and no ASCII."""


def record_filter(node: Node) -> MayHold | None:
    """Tells of a record whether a query may be true of its texts; None if it may be of any."""
    holds, others = _of_node(node), _other_letters(node)
    return None if holds is None else lambda record: holds(record.lower()) or _is_unusual(record, others)


def whole_record_filter(node: Node, moved_marks: Collection[str]) -> MayHold | None:
    """The same where the index tells nothing: also of words, and of what was moved to a file of its own.

    Of that a record has a piece, with a mark.
    """
    holds, others = _of_node(node, with_words=True), _other_letters(node)
    marks = [_of_letters(mark) for mark in moved_marks]
    if holds is None or None in marks:
        return None
    may_hold = _any([holds, *marks])
    assert may_hold is not None
    return lambda record: may_hold(record.lower()) or _is_unusual(record, others)


def _other_letters(node: Node) -> list[bytes]:
    """The letters beyond ASCII that are looked for without being typed."""
    typed: set[str] = set()
    for leaf, _ in leaves(node):
        if isinstance(leaf, Substring):
            typed.update(leaf.text.lower())
        elif isinstance(leaf, Regex):
            typed.update(letters_in(leaf.pattern))
    return [other.encode() for letter, others in _SAME_LETTERS.items() if letter in typed for other in others]


def _of_node(node: Node, *, with_words: bool = False) -> MayHold | None:
    match node:
        case Words() | Prefix():
            return _of_words(node) if with_words else None
        case Substring(text):
            return _of_need(text)
        case Regex(pattern):
            return _all([_of_need(needed_by_regex(pattern)), found_in_bytes(pattern)])
        case And(parts):
            return _all([_of_node(part, with_words=with_words) for part in parts])
        case Or(parts):
            return _any([_of_node(part, with_words=with_words) for part in parts])
        case _:
            return None


def _of_words(node: Words | Prefix) -> MayHold | None:
    """Looks for the longest word of each spelling, or of those that hold one another, for the shortest."""
    longest = {max(phrase.words, key=len) for phrase in node.phrases}
    needed = [word.encode() for word in longest if not any(one in word for one in longest - {word})]
    if not all(map(bytes.isascii, needed)):
        return None
    # Letters with accents are the same as those without.
    return lambda record: any(word in record for word in needed) or not record.isascii()


def _of_need(need: Need) -> MayHold | None:
    if isinstance(need, str):
        return _of_letters(need)
    return (_all if isinstance(need, AllOf) else _any)(list(map(_of_need, need.parts)))


def _of_letters(letters: str) -> MayHold | None:
    """Looks for the longest piece of some letters that every JSON spells alike, in capitals or not."""
    pieces = "".join(letter if _is_spelled_alike(letter) else "\n" for letter in letters).split("\n")
    longest = max(pieces, key=len)
    if longest.isascii():
        small = longest.lower().encode()
        return (lambda record: small in record) if small else None
    search = re.compile(b"".join(map(_in_any_case, longest))).search
    return lambda record: search(record) is not None


def _is_spelled_alike(letter: str) -> bool:
    if letter.isascii():
        return ord(letter.lower()) in PLAIN
    # Half a character is written by its number alone.
    return not "\ud800" <= letter <= "\udfff"


def _in_any_case(letter: str) -> bytes:
    """A pattern for a letter in bytes in which those of ASCII are small."""
    small = letter.lower() if letter.isascii() else letter
    cases = {small} if letter.isascii() else same_in_any_case(letter)
    return b"(?:%s)" % b"|".join(re.escape(case.encode()) for case in sorted(cases))


def _all(filters: Sequence[MayHold | None]) -> MayHold | None:
    known = [one for one in filters if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    return lambda record: all(one(record) for one in known)


def _any(filters: Sequence[MayHold | None]) -> MayHold | None:
    known = [one for one in filters if one is not None]
    return None if len(known) < len(filters) else lambda record: any(one(record) for one in known)


def _is_unusual(record: bytes, letters: Sequence[bytes]) -> bool:
    """Whether a record may hold what is looked for in another spelling."""
    if _ESCAPE.search(record) or _NEXT_TEXT.search(record):
        return True
    return not record.isascii() and any(letter in record for letter in letters)
