"""Code in colour: what is a comment, a string, a number or a word of the language.

Pygments knows every language, but takes ten times as long for a block as all the rest of its turn. So the
languages that fill most sessions are coloured by one pattern each, which tells the four kinds and no more;
Pygments colours the others. Both write the same four classes.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import groupby
from typing import Any

from geminids.sharing.export.html.markup import NOTHING, Markup, escaped, filled, joined

LONGEST = 20_000
"""Characters of a block; a longer one stays plain."""
LONGEST_FOR_PYGMENTS = 5_000

# What is never closed must not be looked for again from each of its letters: strings have a longest length,
# and what may go on over many lines goes on to the end.
_QUOTED = r'"(?:[^"\\\n]|\\.){0,500}+"|\'(?:[^\'\\\n]|\\.){0,500}+\''
_HASH_COMMENT = r"\#[^\n]*+"
_NUMBER = r"\d[\w.]*+"
_SLASH_COMMENTS = r"//[^\n]*+|/\*(?s:.)*?(?:\*/|\Z)"

_BRACES_WORDS = (
    "abstract as async await bool boolean break byte case catch char class const continue def default "
    "defer delete do double dyn else enum export extends extern false final finally float fn for from "
    "fun func function go if impl implements import in instanceof int interface internal is let long "
    "loop map match mod module mut namespace new nil null nullptr number of override package private "
    "protected pub public readonly return self Self sizeof static str string struct super switch "
    "template this throw throws trait true try type typedef typeof undefined union unsafe unsigned use "
    "using val var virtual void where while yield"
)
_PYTHON_WORDS = (
    "and as assert async await break class continue def del elif else except False finally for from "
    "global if import in is lambda None nonlocal not or pass raise return self True try while with "
    "yield"
)
_SHELL_WORDS = (
    "case do done echo elif else esac exit export fi for function if in local read return set shift "
    "sudo then while cd"
)
_SQL_WORDS = (
    "add all alter and as asc begin between by case check commit constraint create default delete desc "
    "distinct drop else end exists foreign from full group having if in index inner insert into is join "
    "key left like limit not null offset on or order outer primary references right rollback select set "
    "table then union unique update using values view when where with"
)


def _language(strings: str, comments: str, words: str, numbers: str = _NUMBER) -> str:
    """The pattern of a language: what needs no colour, and the one thing after it that does."""
    keywords = rf"(?:{'|'.join(words.split())})\b"
    skipped = rf"(?:[^\w\"'`/#$-]++|(?!{keywords})[^\W\d]\w*+)*+"
    return rf"{skipped}(?:(?P<c>{comments})|(?P<s>{strings})|(?P<k>{keywords})|(?P<n>{numbers})|(?s:.)|\Z)"


_PYTHON = _language(
    rf'"""(?s:.)*?(?:"""|\Z)|\'\'\'(?s:.)*?(?:\'\'\'|\Z)|{_QUOTED}', _HASH_COMMENT, _PYTHON_WORDS
)
_BRACES = _language(rf"{_QUOTED}|`(?:[^`\\]|\\.)*+(?:`|\Z)", _SLASH_COMMENTS, _BRACES_WORDS)
_RUST = _language(r"\"(?:[^\"\\]|\\.){0,500}+\"|'(?:[^'\\\n]|\\[^'\n]++)'", _SLASH_COMMENTS, _BRACES_WORDS)
_SHELL = _language(_QUOTED, rf"(?<![\w$]){_HASH_COMMENT}", _SHELL_WORDS, r"\$\{?\w++\}?")
_SQL = "(?i)" + _language(r"'[^']*+'", r"--[^\n]*+", _SQL_WORDS)
_JSON = (
    rf"[^\w\"']*+(?:(?P<k>(?:{_QUOTED})(?=\s*:))|(?P<s>{_QUOTED})|(?P<n>true|false|null|{_NUMBER})|(?s:.)|\Z)"
)
_SETTINGS = (
    r"(?m:^[ \t]*+(?:-[ ])?(?P<k>[\w.\"'-]++)(?=[ ]?[:=]))"
    rf"|(?P<s>{_QUOTED})|(?P<c>{_HASH_COMMENT})|(?P<n>\b(?:true|false|null|\d[\w.:-]*+))"
)

PATTERNS = {
    language: pattern
    for names, pattern in (
        ("python py python3", _PYTHON),
        ("javascript js jsx mjs typescript ts tsx java c h cpp c++ csharp cs go golang kotlin kt", _BRACES),
        ("swift scala dart", _BRACES),
        ("rust rs", _RUST),
        ("bash sh shell zsh console shell-session", _SHELL),
        ("sql postgresql sqlite mysql", _SQL),
        ("json jsonc json5", _JSON),
        ("yaml yml toml ini", _SETTINGS),
    )
    for language in names.split()
}
"""The pattern of each language that needs no Pygments."""

_DIFF_TAGS = {"+": "ins", "-": "del", "@": "b"}


def coloured(code: str, language: str) -> Markup:
    """Code that is harmless already, with its comments, strings, numbers and words of the language marked."""
    language = language.lower()
    if not language or len(code) > LONGEST:
        return escaped(code)
    if language in {"diff", "patch"}:
        return diff(code.removesuffix("\n").split("\n"))
    if pattern := _pattern(language):
        # No pattern can tell `&lt;` from `<` in a way that matters, so all is escaped at once.
        return Markup(pattern.sub(_marked, escaped(code)))
    lexer = _lexer(language) if len(code) <= LONGEST_FOR_PYGMENTS else None
    return _coloured_by(lexer, code) if lexer else escaped(code)


def diff(lines: list[str]) -> Markup:
    """Lines of a unified diff that are harmless already."""
    return joined(
        _changed(_DIFF_TAGS.get(sign, ""), escaped("\n".join(block)))
        for sign, block in groupby(lines, key=lambda line: line[:1] if line[:1] in _DIFF_TAGS else "")
    )


def _changed(tag: str, block: Markup) -> Markup:
    return Markup(f"<{tag}>{block}\n</{tag}>" if tag else f"{block}\n")


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    written = PATTERNS.get(language)
    return re.compile(written) if written else None


def _marked(found: re.Match[str]) -> str:
    kind = found.lastgroup
    if kind is None:
        return found[0]
    words, before = found[kind], found[0][: found.start(kind) - found.start()]
    return f"{before}<span class={kind}>{words}</span>"


@cache
def _lexer(language: str) -> Any:
    """The lexer of Pygments for a language; None if it knows none."""
    from pygments.lexers import get_lexer_by_name  # type: ignore[import-untyped]
    from pygments.util import ClassNotFound  # type: ignore[import-untyped]

    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _coloured_by(lexer: Any, code: str) -> Markup:
    tokens = [(_kind(str(token)), value) for token, value in lexer.get_tokens(code)]
    pieces: list[Markup] = []
    for kind, run in groupby(tokens, key=lambda token: token[0]):
        words = escaped("".join(value for _, value in run))
        pieces.append(filled("<span class={}>{}</span>", kind, words) if kind else words)
    return joined(pieces)


def _kind(token: str) -> Markup:
    match token.split(".")[1:3]:
        case ["Comment", *_]:
            return Markup("c")
        case ["Keyword", *_] | ["Name", "Tag"] | ["Operator", "Word"]:
            return Markup("k")
        case ["Literal", "String"]:
            return Markup("s")
        case ["Literal", "Number"]:
            return Markup("n")
        case _:
            return NOTHING
