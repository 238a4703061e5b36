"""The rest of a secret that goes on in the next line or literal.

Programs and terminals break long values: with a backslash, as `"…" + "…"`, as the folded line of a header,
at the edge of a terminal or of a box. Where a secret was found, this looks whether it ends at such a place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from geminids.sharing.redact.assignments import Secret
from geminids.sharing.redact.plausibility import is_placeholder, is_random

_END = rb"(?:\\r)?(?:\\n|\r?\n)"
_BACKSLASH = re.compile(rb"\\\r?\n[ \t]{0,40}(?P<rest>[^\s\"'`;|&<>\\\x1e]{4,400})")
_LITERAL = re.compile(
    rb"\\{0,4}[\"'](?:[ \t]{0,4}(?:\+|\.{1,2}|&|\\)[ \t]{0,4}(?:"
    + _END
    + rb"[ \t]{0,60})?|[ \t]{0,4}"
    + _END
    + rb"[ \t]{0,60}"
    rb"(?:(?:\+|\.{1,2}|&)[ \t]{0,4})?)\\{0,4}[\"'](?P<rest>[^\s\"'\\\x1e]{3,400})\\{0,4}[\"'](?![ \t]*:)"
)
_FOLDED = re.compile(
    _END + rb"[ \t]{0,4}(?P<rest>[A-Za-z0-9+/_.~-]{6,400}={0,2})[ \t\"']{0,4}(?=[\r\n\x1e]|\\n|\Z)"
)
_BOXED = re.compile(
    rb"[ \t]{0,40}(?:\xe2\x94[\x82\x83]|\xe2\x95\x91)[ \t]{0,2}\r?\n[ \t]{0,40}(?:\xe2\x94[\x82\x83]"
    rb"|\xe2\x95\x91)[ \t]{0,2}"
    rb"(?P<rest>[A-Za-z0-9+/=_.~-]{6,200})(?=[ \t])"
)
_LEAST_FOLDED = 32
_MOST = 60
_NOT_CONTINUED = frozenset(
    ("private-key", "one-time-code", "recovery-code", "recovery-phrase", "email", "home", "name")
)


def continuations(text: bytes, found: Iterable[Secret]) -> Iterator[Secret]:
    """Yield the further pieces of the secrets that were found."""
    known: set[int] = set()
    for secret in found:
        if secret.rule in _NOT_CONTINUED:
            continue
        size, end = secret.end - secret.start, secret.end
        for _ in range(_MOST):
            piece = _next_piece(text, end, size)
            if piece is None or piece[0] in known:
                break
            known.add(piece[0])
            start, end = piece
            yield Secret(start, end, secret.rule)


def _next_piece(text: bytes, end: int, size: int) -> tuple[int, int] | None:
    """Return where a secret of `size` bytes that ends at `end` goes on."""
    end -= text[end - 1 : end] == b"\\"
    # Most secrets end before something else.
    match text[end : end + 1]:
        case b"\\" | b'"' | b"'" | b"\n" | b"\r" | b" " | b"\xe2":
            pass
        case _:
            return None
    for pattern in (_BACKSLASH, _LITERAL):
        if (piece := pattern.match(text, end)) and not is_placeholder(piece["rest"]):
            return piece.span("rest")
    patterns = (_FOLDED, _BOXED) if size >= _LEAST_FOLDED else (_BOXED,)
    for pattern in patterns:
        if (piece := pattern.match(text, end)) and is_random(piece["rest"], hash_is_secret=True):
            return piece.span("rest")
    return None
