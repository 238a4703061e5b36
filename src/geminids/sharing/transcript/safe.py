"""Session text made harmless for a terminal. Everything that is drawn for people goes through here.

A session can hold any bytes: escapes that move the cursor or set the clipboard, controls that
reorder what is read, letters that are not seen. Colours are dropped; every other control is
shown as a picture or as its number; what only hides between letters is dropped. Joiners and
variation selectors stay, since emoji and several scripts need them.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_COLOUR = r"\x1b\[[0-9;:]*m"
_LINE_ENDS = r"\r\n|[\u0085\u2028\u2029]"
_HARMFUL = (
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, all but tab and line feed
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # direction marks, embeddings, overrides, isolates
    r"\u00ad\u180e\u200b\u2060-\u2064\ufeff"  # letters without width
    r"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"  # annotations, half characters, tags
)
_ASCII_CONTROLS = bytes({*range(0x20), 0x7F} - {ord("\n"), ord("\t")})
_BREAKS = r"[ \t]*[\n\t][ \n\t]*"
DROPPED = frozenset("\u00ad\u180e\u200b\u200e\u200f\u061c\u2060\u2061\u2062\u2063\u2064\ufeff")
"""Characters that are not seen; what they part is one word again once they are gone."""
_HARMFUL_IN_JSON = (
    rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]"
    rb"|\xf3\xa0[\x80\x81][\x80-\xbf]"
)
_UNSEEN_IN_JSON = (
    rb"\\\\|\\r\\n|\\u00[01][0-9a-f]|\\[bfr]"  # a backslash is two of them, and no beginning of an escape
    rb"|\x7f|\xc2[\x80-\x9f\xad]|\xd8\x9c|\xe1\xa0\x8e|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa0-\xa4\xa6-\xa9]"
    rb"|\xef\xbb\xbf|\xef\xbf[\xb9-\xbb]|\xf3\xa0[\x80\x81][\x80-\xbf]"
)
"""What `text` does not leave as it is, as JSON has it."""
_ESCAPES_IN_JSON = (rb"\u00", rb"\r", rb"\b", rb"\f")


def text(words: str) -> str:
    """Words of several lines, harmless."""
    if words.isprintable():
        # Nearly every line is, and then no pattern need be compiled to print a list.
        return words
    # So is nearly every text, and these look at it much faster than a pattern does.
    if words.isascii():
        is_harmless = len(words.encode().translate(None, _ASCII_CONTROLS)) == len(words)
    else:
        is_harmless = words.replace("\n", "").replace("\t", "").isprintable()
    if is_harmless:
        return words
    import re

    if "\x1b" in words:
        words = re.sub(_COLOUR, "", words)
    return re.sub(_HARMFUL, _shown, re.sub(_LINE_ENDS, "\n", words))


def line(words: str) -> str:
    """Words as one line, harmless: each line end or tab, with the blanks around it, becomes one space."""
    harmless = text(words)
    if harmless.isprintable():
        return harmless
    import re

    return re.sub(_BREAKS, " ", harmless)


def json_bytes(encoded: bytes) -> bytes:
    """JSON of the same value in which no character can steer a terminal."""
    import re

    return re.sub(_HARMFUL_IN_JSON, _escaped, encoded)


def shown_json(encoded: bytes) -> bytes:
    """JSON in which each text, keys of objects too, is what `text` makes of it; colours lose their escape."""
    # Nearly all is printable, and these look at it much faster than a pattern does.
    if encoded.decode().isprintable() and not any(begun in encoded for begun in _ESCAPES_IN_JSON):
        return encoded
    import re

    return re.sub(_UNSEEN_IN_JSON, _shown_in_json, encoded)


def _shown_in_json(match: re.Match[bytes]) -> bytes:
    written = match[0]
    if written == rb"\\":
        return written
    import json

    return json.dumps(text(json.loads(b'"' + written + b'"')), ensure_ascii=False)[1:-1].encode()


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in DROPPED:
        return ""
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\N{SYMBOL FOR DELETE}"
    if 0xD800 <= code <= 0xDFFF:
        return "\N{REPLACEMENT CHARACTER}"
    return f"<U+{code:04X}>"


def _escaped(match: re.Match[bytes]) -> bytes:
    units = match[0].decode().encode("utf-16-be")
    return b"".join(b"\\u%02x%02x" % (units[at], units[at + 1]) for at in range(0, len(units), 2))
