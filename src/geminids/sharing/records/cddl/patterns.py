r"""Regular expressions of a schema.

`.regexp` speaks the dialect of XSD, which always means the whole text. It is told in Python's words here;
what has none is refused by name: properties of characters (`\p{…}`), the characters of XML names (`\i` and
`\c`), and one class taken from another. `^` and `$` stand for the ends of the text, as those mean it who
write them, and `\w` is what Python says it is.
"""

from __future__ import annotations

import re
import warnings
from typing import Final

_UNKNOWN: Final = {letter: f"`\\{letter}` in a regular expression" for letter in "pPiIcC"}
_SPACES: Final = r" \t\n\r"


class PatternError(ValueError):
    """A regular expression that cannot be used, and why."""


def from_xsd(written: str) -> re.Pattern[str]:
    """The pattern that a regular expression of XSD means."""
    return compiled("".join(_translated(written)))


def compiled(written: str) -> re.Pattern[str]:
    """A pattern in Python's own dialect."""
    try:
        with warnings.catch_warnings():
            # Some pairs in brackets may mean something else in a later Python; they do not mean it here.
            warnings.simplefilter("ignore", FutureWarning)
            return re.compile(written)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"a regular expression that cannot be read ({error})") from None


def _translated(written: str) -> list[str]:
    """The pieces of an expression in Python's words."""
    pieces: list[str] = []
    at = 0
    class_since: int | None = None
    while at < len(written):
        char = written[at]
        if char == "\\":
            pieces.append(_escape(written[at + 1 : at + 2], in_class=class_since is not None))
            at += 1
        elif class_since is not None:
            pieces.append(_in_class(written, at))
            if char == "]" and at > class_since:
                class_since = None
        elif char == "[":
            negated = written[at + 1 : at + 2] == "^"
            pieces.append("[^" if negated else "[")
            at += negated
            class_since = at + 1
        else:
            pieces.append(_outside(written, at))
        at += 1
    return pieces


def _escape(letter: str, *, in_class: bool) -> str:
    if letter in _UNKNOWN:
        raise PatternError(f"{_UNKNOWN[letter]} is not supported")
    if letter == "s":
        return _SPACES if in_class else f"[{_SPACES}]"
    if letter == "S" and not in_class:
        return f"[^{_SPACES}]"
    if letter.isdigit() or letter in {"b", "B", "A", "Z"}:
        raise PatternError(f"`\\{letter}` in a regular expression is not supported")
    return f"\\{letter}"


def _in_class(written: str, at: int) -> str:
    """One character in brackets."""
    if written[at] == "[":
        if written[at - 1] == "-":
            raise PatternError(
                "a class without another one, `[…-[…]]`, in a regular expression is not supported"
            )
        return r"\["
    return written[at]


def _outside(written: str, at: int) -> str:
    if written[at : at + 2] == "(?":
        raise PatternError("`(?` in a regular expression is not supported")
    return r"[^\n\r]" if written[at] == "." else written[at]
