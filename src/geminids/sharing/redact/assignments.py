"""Values that stand behind a name: `DB_PASSWORD=…`, `"api_key": "…"`, `token: …`, `<password>…</password>`.

The pattern finds where a word such as "secret" is followed by a sign of assignment. The rest is code, because
no pattern can tell how a text quotes: .env, YAML, JSON, JSON inside of JSON, TOML, shells, headers, addresses
and programs all say it differently, and in programs most of it is no secret: `token = get_token()`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from geminids.sharing.redact.names import LONGEST, Named, Trust, named, named_outside
from geminids.sharing.redact.plausibility import (
    is_common,
    is_likely,
    is_name_in_code,
    is_placeholder,
    is_random,
    is_sentence,
    is_strong,
    is_user_and_password,
)

Match = re.Match[bytes]

PATTERN = (
    rb"(?i)(?P<word>(?:pass(?:w(?:or)?d|wd|phrase|code)?|pwd?|secret|token|jwt|key|cred(?:ential)?s?"
    rb"|auth(?:orization)?|cookie|psk)[A-Za-z0-9_.-]{0,24})\\{0,4}[\"'`]?\]?\*{0,2}[ \t]{0,16}"
    rb"(?P<sign>=>|:=|={1,3}|:|>)[ \t]{0,16}"
)
_BACKSLASH = ord("\\")
_NAME_BEFORE = re.compile(rb"[A-Za-z0-9_.$-]*\Z")
_QUOTE = re.compile(rb"(?:[rbfuRBFUL@$]{0,2})(?P<escapes>\\{0,8})(?P<quote>[\"'`])")
_QUOTE_ENTITY = re.compile(rb"&(?:quot|apos|#39|#x27|#34);")
_BARE = re.compile(
    rb"(?:[^\s\"'`;<>&\\\x1e]{1,8192}|\\(?![nrt\"'`u\\])|&(?!(?:[a-z]{2,6}|#x?[0-9a-f]{2,4});)){1,16}"
)
_PARAMETER = re.compile(rb"[^\s\"'`;<>&#\\\x1e]{1,8192}")
_NAMES_ELEMENT = re.compile(rb"(?i)[ \t](?:name|key|id)=[\"']\Z")
_NEXT_PARAMETER = re.compile(rb"&(?:amp;)?[A-Za-z_][A-Za-z0-9_.-]{0,40}=")
"""A form has parameters as an address has them, without one before it."""
_ANNOTATED = re.compile(rb"[A-Za-z_][\w.\[\], |?]{0,60}?[ \t]*=[ \t]*(?=\\{0,4}[\"'frbu])")
_BEFORE_SETTING = re.compile(
    rb"[ \t+>|\x1e-]*(?:\\[nr])?(?:(?:export|set|setx|ENV|ARG|env|declare -x)[ \t]+)?[\"']?"
    rb"|.*\\n[ \t-]*|.*[ \t](?:-e|--env|export)[ \t]+[\"']?"
)
_CLOSED_NAME = re.compile(rb'\\{0,4}"[ \t]*:')
_NEXT_LINE = re.compile(rb"(?P<folded>[>|][+-]?[0-9]?[ \t]*)?(?:\\r)?(?:\\n|\r?\n)[ \t]*")
_BASE32 = re.compile(rb"[A-Z2-7]{16,}")
_BOUND = re.compile(rb"[:@%$&\\/]")
_IDENTIFIER = re.compile(rb"[A-Za-z_$]+")
_LOWER_WORDS = re.compile(rb"[a-z]{5,}|[A-Z]{6,}")
_NUMBERED = re.compile(
    rb"[A-Za-z_]*(?:pass|pw|token|arg|param|str|key|secret|val|tmp|var)[a-z_]*\d{1,2}|[A-Za-z]\d{1,2}"
)
_ONE_TOKEN = re.compile(rb"[A-Za-z0-9+/=_.~:%-]+")
_NAMES_ITSELF = re.compile(
    rb"[0-9.,]+|https?://.*|[a-z]+(?:[ _.:/-][a-z0-9]{1,12})+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]{1,12})+"
)
"""Names of other things: `my-app-secrets`, `OPENAI_API_KEY`."""
_PIN = re.compile(rb"\d{4,12}")
_NOT_LETTERS = re.compile(rb"[^a-z]")
_SCHEME = re.compile(rb"(?i)(?:bearer|basic|token|digest|apikey|api-key|negotiate|key)[ \t]+")
_AUTHORIZATION = re.compile(
    rb"(?i)\\{0,4}[\"'`]?(?:(?:bearer|basic|token|digest|apikey|api-key|negotiate|key)[ \t]+)?"
    rb"(?P<secret>[A-Za-z0-9._~+/=:-]{8,})(?![(\[])"
)
_COOKIES = re.compile(rb"\\{0,4}[\"'`]?[A-Za-z0-9_.-]{1,100}=[^\r\n\"'`\\\x1e]{0,8192}")
_COOKIE = re.compile(rb"(?P<name>[A-Za-z0-9_.-]+)=(?P<value>[^;,\s\"'`\\]+)")
_ABOUT_COOKIES = frozenset((b"path", b"domain", b"expires", b"max-age", b"samesite", b"priority", b"version"))


class Secret(NamedTuple):
    """Where a secret stands in the bytes that were looked at, and by which rule."""

    start: int
    end: int
    rule: str


class _Value(NamedTuple):
    start: int
    end: int
    is_quoted: bool


class _Assignment(NamedTuple):
    """How a value is assigned, as far as it tells settings from programs."""

    is_setting: bool
    """A line of its own in a file of settings, or a variable of a shell."""
    is_in_address: bool
    """One of the parameters of a URL."""
    is_in_json: bool
    """Behind a name in quotes."""


def assigned(match: Match) -> Iterator[Secret]:
    """The secrets that are assigned where the pattern matched."""
    text, name_start = match.string, start_of_name(match.string, match.start())
    said = named(text[name_start : match.end("word")].strip(b"-.$").decode("ascii", "replace"))
    if said is None:
        return
    if match["sign"] == b">":
        yield from _in_element(match, name_start, said)
    elif said.label == "cookie":
        yield from _cookies(text, match.end())
    elif said.label == "authorization":
        yield from _authorization(text, match.end())
    else:
        yield from _assigned(match, name_start, said)


def in_named(name: str, value: bytes) -> list[Secret]:
    """The secrets in the value of a key of an object, where nobody can mistake what is the name."""
    if not value or is_placeholder(value):
        return []
    said = named(name)
    if said is None:
        said = named_outside(name)
        is_secret = said is not None and said.trust is Trust.SURE and is_likely(value)
        return [Secret(0, len(value), said.label)] if said and is_secret else []
    match said.label:
        case "cookie":
            cookies = list(_cookies(value, 0, least=1))
            return cookies if _COOKIE.search(value) else [Secret(0, len(value), "cookie")]
        case "authorization":
            scheme = _SCHEME.match(value)
            start = scheme.end() if scheme else 0
            return [] if is_placeholder(value[start:]) else [Secret(start, len(value), "authorization")]
        case "pin":
            return [Secret(0, len(value), "pin")] if _PIN.fullmatch(value) else []
        case "private-key" if b"PRIVATE KEY" in value:
            return []  # The rule for private keys also leaves its lines and what is around them.
        case _ if said.trust is Trust.KEY and not is_random(value):
            return []
        case _:
            return [] if _is_place_of_working(said, value) else [Secret(0, len(value), said.label)]


def in_pair(match: Match) -> Iterator[Secret]:
    """The secret in a pair that says its name and its value apart: `name: DB_PASSWORD` and `value: …`."""
    start, end = match.span("secret")
    if is_name_in_code(match["secret"]):
        return
    found = in_named(match["name"].decode("ascii", "replace"), match.string[start:end])
    yield from (Secret(start + secret.start, start + secret.end, secret.rule) for secret in found)


def start_of_name(text: bytes, start: int) -> int:
    """Where the name begins of which the pattern found the end."""
    begin = max(start - LONGEST, 0)
    before = _NAME_BEFORE.search(text, begin, start)
    return before.start() if before else start


def _assigned(match: Match, name_start: int, said: Named) -> Iterator[Secret]:
    text, sign = match.string, match["sign"]
    place = _assignment(match, name_start)
    value = _value_below(text, match.end(), place) or _value_at(text, match.end(), place)
    if value and sign == b":" and not value.is_quoted and (annotated := _ANNOTATED.match(text, value.start)):
        # `password: str = "…"` says the type first.
        value = _value_at(text, annotated.end(), place)
    if value is None or (sign in {b"==", b"==="} and not value.is_quoted):
        return
    written = text[value.start : value.end]
    if _is_same_word(text[name_start : match.end("word")], written) or _is_place_of_working(said, written):
        return
    if _is_secret(said, written, value, place):
        yield Secret(value.start, value.end, said.label)


def _assignment(match: Match, name_start: int) -> _Assignment:
    text = match.string
    line_start = text.rfind(b"\n", 0, name_start) + 1
    before = text[max(line_start, name_start - 60) : name_start]
    begins_line = _BEFORE_SETTING.fullmatch(before) is not None
    is_variable = match["sign"] == b"=" and match[0].endswith(b"=") and text[match.end("word")] == ord("=")
    is_yaml = match["sign"] == b":" and match[0][-1:] in b" \t"
    name = text[name_start : match.end("word")]
    return _Assignment(
        is_setting=(is_variable and (begins_line or name.isupper())) or (is_yaml and begins_line),
        is_in_address=before[-1:] in (b"?", b"&"),
        is_in_json=before[-1:] == b'"' and _CLOSED_NAME.match(text, match.end("word")) is not None,
    )


def _value_at(text: bytes, start: int, place: _Assignment) -> _Value | None:
    if entity := _QUOTE_ENTITY.match(text, start):
        start = entity.end()
    quote = _QUOTE.match(text, start)
    if quote is None:
        bare = (_PARAMETER if place.is_in_address else _BARE).match(text, start)
        if bare is None:
            return None
        value = bare[0] if place.is_in_address else _without_closing(bare[0])
        if not place.is_setting:
            value = value.partition(b",")[0]
        value = _NEXT_PARAMETER.split(value, maxsplit=1)[0]
        return _Value(start, start + len(value), is_quoted=False)
    if text.startswith(quote["quote"] * 2, quote.end()):
        return None
    end = _closing_quote(text, quote.end(), quote["quote"], len(quote["escapes"]))
    return _Value(quote.end(), end, is_quoted=True)


def _value_below(text: bytes, start: int, place: _Assignment) -> _Value | None:
    """A value on the next line: in quotes, or where YAML says that it begins there."""
    line = _NEXT_LINE.match(text, start)
    if line is None:
        return None
    value = _value_at(text, line.end(), place)
    if value is None or not (value.is_quoted or line["folded"]):
        return None
    return None if value.is_quoted and _CLOSED_NAME.match(text, value.end) else value


def _closing_quote(text: bytes, start: int, quote: bytes, escapes: int) -> int:
    """Where a quoted text ends: at a quote that is escaped no more than the first, or with its line."""
    line_end = text.find(b"\n", start)
    line_end = len(text) if line_end == -1 else line_end
    place = start
    while (place := text.find(quote, place, line_end)) != -1:
        backslashes = 0
        while place - backslashes > start and text[place - backslashes - 1] == _BACKSLASH:
            backslashes += 1
        if backslashes <= escapes:
            return place - backslashes
        place += 1
    return line_end


def _without_closing(bare: bytes) -> bytes:
    """A bare word without the punctuation of the sentence or the program around it."""
    value = bare.rstrip(b",.")
    for opening, closing in ((b"(", b")"), (b"[", b"]"), (b"{", b"}")):
        while value.endswith(closing) and value.count(closing) > value.count(opening):
            value = value[:-1].rstrip(b",.")
    return value


def _is_secret(said: Named, written: bytes, value: _Value, place: _Assignment) -> bool:
    if len(written) < 4 or is_placeholder(written):
        return False
    if said.trust is not Trust.SURE:
        is_strong_password = said.label == "password" and is_strong(written)
        return is_strong_password or (
            _ONE_TOKEN.fullmatch(written) is not None and _is_unsure_secret(said, written)
        )
    if value.is_quoted:
        return not is_sentence(written) and (said.label == "password" or not _NAMES_ITSELF.fullmatch(written))
    if is_name_in_code(written) or _BOUND.match(written):
        return False
    if written.isdigit():
        return said.label == "password" and (place.is_setting or place.is_in_json)
    if _IDENTIFIER.fullmatch(written):
        if place.is_in_address and _BASE32.fullmatch(written):
            return True
        return place.is_setting and _LOWER_WORDS.fullmatch(written) is not None and said.label == "password"
    return place.is_setting or place.is_in_address or not _NUMBERED.fullmatch(written)


def _is_unsure_secret(said: Named, written: bytes) -> bool:
    if is_name_in_code(written):
        return False
    if said.trust is Trust.KEY:
        return is_random(written)
    return is_random(written, hash_is_secret=True) or is_user_and_password(written)


def _is_same_word(name: bytes, value: bytes) -> bool:
    """Whether a value only repeats its name: `apiKey: 'api_key'`, `token=token`."""
    letters = _NOT_LETTERS.sub(b"", value[:LONGEST].lower())
    return bool(letters) and _NOT_LETTERS.sub(b"", name.lower()).endswith(letters)


def _is_place_of_working(said: Named, value: bytes) -> bool:
    """Whether `PWD` means the folder of a shell."""
    return said.label == "password" and re.match(rb"[/~]|[A-Za-z]:[\\/]|\.\.?/", value) is not None


def _in_element(match: Match, name_start: int, said: Named) -> Iterator[Secret]:
    """`<password>…</password>`."""
    text, end = match.string, match.string.find(b"<", match.end())
    written = text[match.end() : end]
    opens = text[name_start - 1 : name_start] == b"<" or _NAMES_ELEMENT.search(
        text, max(name_start - 24, 0), name_start
    )
    is_element = opens and text.startswith(b"</", end)
    if not is_element or b"\n" in written or said.trust is not Trust.SURE:
        return
    if len(written) >= 4 and not is_placeholder(written) and not is_sentence(written):
        yield Secret(match.end(), end, said.label)


def _cookies(text: bytes, start: int, least: int = 8) -> Iterator[Secret]:
    """The values of cookies, without what a server says about them, and in texts without words."""
    line = _COOKIES.match(text, start)
    for cookie in _COOKIE.finditer(text, start, line.end() if line else start):
        value = cookie["value"]
        if cookie["name"].lower() in _ABOUT_COOKIES or len(value) < least or is_placeholder(value):
            continue
        if least == 1 or not is_common(value):
            yield Secret(*cookie.span("value"), "cookie")


def _authorization(text: bytes, start: int) -> Iterator[Secret]:
    """What stands behind the scheme of a header."""
    header = _AUTHORIZATION.match(text, start)
    if header is None or is_placeholder(header["secret"]):
        return
    if is_random(header["secret"], hash_is_secret=True) or is_user_and_password(header["secret"]):
        yield Secret(*header.span("secret"), "authorization")
