"""Words in Markdown that are shown as they are: blocks of code, pieces of code in a line, plain words.

All words given here are harmless for a terminal already (`geminids.sharing.transcript.safe`).
"""

from __future__ import annotations

import re

from geminids.sharing.export.references import REFERENCE, may_refer

_FENCE = "```"
_LONG_RUNS = re.compile("`{3,}")
_RUNS = re.compile("`+")
_SIGNS = (
    r"[\\`*\[\]]"
    r"|<(?=[A-Za-z/!?])"  # the beginning of a tag; any other is a sign like the rest
    r"|(?<![^\W_])_|_(?![^\W_])"  # inside of a word it stands for itself
    r"|&(?=#?\w+;)"
    r"|~(?=[^~]*~)|\$(?=[^$]*\$)"  # forges strike out and set formulas between two of them
)
_SYNTAX = re.compile(_SIGNS)
_SYNTAX_OR_REFERENCE = re.compile(f"(?P<reference>{REFERENCE})|{_SIGNS}")
_LINE_START = re.compile(
    r"^(?:(?=>|#{1,6}(?:\s|$)|[-+](?:[\s-]|$)|=+\s*$|\||:-)|(\d{1,9})(?=[.)](?:\s|$)))", re.MULTILINE
)
_NUMBER_SIGN_AT_END = re.compile(r"(?<= )#(?=#*$)")
_HAS_LAYOUT = re.compile(r"^[ \t]+\S|```|~~~|\S(?: {3,}|\t)\S", re.MULTILINE)
_BREAK = re.compile(r"(?<=\S)[ \t]*\n(?=\S)")


def fenced(words: str, language: str = "") -> str:
    """A block of code that nothing in it can end."""
    fence = _FENCE
    if fence in words:
        fence = "`" * (1 + max(map(len, _LONG_RUNS.findall(words))))
    return f"{fence}{language}\n{words}\n{fence}"


def code(words: str) -> str:
    """A piece of code in a line, which must be one line."""
    if "`" not in words and words.strip(" "):
        return f"`{words}`"
    fence = "`" * (1 + max(map(len, _RUNS.findall(words)), default=0))
    return f"{fence} {words} {fence}"


def literal(words: str) -> str:
    """One line of words in which nothing is syntax. Blanks around it would be, and a page shows none."""
    return _NUMBER_SIGN_AT_END.sub(r"\\#", _literal_lines(words.strip()))


def cell(words: str) -> str:
    """One line of words as a cell of a table."""
    return literal(words).replace("|", "\\|")


def quoted(words: str, *, as_code: bool = False) -> str:
    """Words as a quote, every line as it was written.

    What is laid out by blanks, as code and logs are, is a block of code inside the quote.
    """
    if as_code or _HAS_LAYOUT.search(words):
        shown = fenced(words)
    else:
        shown = _BREAK.sub("  \n", _literal_lines(words))
    return "\n".join(f"> {line}" if line.strip() else ">" for line in shown.split("\n"))


def _literal_lines(words: str) -> str:
    """Words in which nothing is syntax; what a forge would take for a person or an issue is code."""
    if may_refer(words):
        literal_words = _SYNTAX_OR_REFERENCE.sub(_escaped, words)
    else:
        literal_words = _SYNTAX.sub(r"\\\g<0>", words)
    return _LINE_START.sub(r"\1\\", literal_words)


def _escaped(found: re.Match[str]) -> str:
    return f"`{found[0]}`" if found["reference"] else f"\\{found[0]}"
