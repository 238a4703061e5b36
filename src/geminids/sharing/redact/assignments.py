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
    is_chosen,
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
    rb"|auth(?:orization)?|cookie|psk|bearer|salt)[A-Za-z0-9_.-]{0,24}|_pat)"
    rb"\\{0,4}[\"'`]?\]?\*{0,2}[ \t]{0,16}"
    rb"(?P<sign>=>|:=|={1,3}|::[ \t]|:|>)[ \t]{0,16}"
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
_LEAST_WORD = 5
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
_SCHEME = re.compile(rb"[A-Za-z][A-Za-z0-9_-]{1,30}[ \t]+(?=[^ \t=,]+\Z)")
_AUTHORIZATION = re.compile(
    rb"\\{0,4}[\"'`]?(?:[A-Za-z][A-Za-z0-9_-]{1,30}[ \t]+(?:\\{0,4}[\"'`][ \t]*[+.&][ \t]*\\{0,4}[\"'`])?)?"
    rb"(?P<secret>[A-Za-z0-9._~+/=:-]{8,})(?![(\[])"
)
"""Any scheme: vendors have their own."""
_AFTER_NUMBER = re.compile(rb"v?\d+\.(?=\w{16})")
_PARAMETERS = re.compile(rb"[A-Za-z-]+=.")
_COOKIES = re.compile(rb"\\{0,4}[\"'`]?[A-Za-z0-9_.-]{1,100}=[^\r\n\"'`\\\x1e]{0,8192}")
_COOKIE = re.compile(rb"(?P<name>[A-Za-z0-9_.-]+)=(?P<value>[^;,\s\"'`\\]+)")
_SESSION = re.compile(rb"(?i)(?:[._-]|\A)(?:session|sess|sid)\Z|sess(?:ion)?id\Z|csrf|xsrf|remember")
"""The names of most cookies that let somebody in."""
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
    is_variable: bool
    """A variable with a name in capital letters, and no blanks around the sign."""
    is_in_address: bool
    """One of the parameters of a URL."""
    is_in_json: bool
    """Behind a name in quotes."""


def assigned(match: Match) -> Iterator[Secret]:
    """The secrets that are assigned where the pattern matched."""
    text, name_start = match.string, start_of_name(match.string, match.start())
    said = named(text[name_start : match.end("word")].strip(b"-.$").decode("ascii", "replace"))
    if said is None:
        if match["word"].lower() == b"key" and name_start == match.start() and match["sign"] != b">":
            yield from _of_some_key(text, match.end())
        return
    if match["sign"] == b">":
        yield from _in_element(match, name_start, said)
    elif said.label == "cookie":
        yield from _cookies(text, match.end())
    elif said.label == "authorization":
        yield from _authorization(text, match.end())
    else:
        yield from _assigned(match, name_start, said)


def _of_some_key(text: bytes, start: int) -> Iterator[Secret]:
    """Yield what a machine made, in quotes behind the mere name `key`."""
    if (
        (value := _LONG.match(text, start))
        and is_random(value["secret"])
        and not is_placeholder(value["secret"])
    ):
        yield Secret(*value.span("secret"), "key")


_LONG = re.compile(
    rb"\\{0,4}[\"'](?=[^\"']*[a-z])(?=[^\"']*[A-Z])(?=[^\"']*"
    rb"[0-9])(?P<secret>[A-Za-z0-9+/=_-]{32,200})\\{0,4}[\"']"
)


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


def authorization_in(match: Match, start: int) -> Iterator[Secret]:
    """Return the credential of a header whose value begins at `start`."""
    return _authorization(match.string, start)


def in_pair(match: Match) -> Iterator[Secret]:
    """The secret in a pair that says its name and its value apart: `name: DB_PASSWORD` and `value: …`."""
    start, end = match.span("secret")
    if is_name_in_code(match["secret"]):
        return
    if _SESSION.search(match["name"]) and is_random(match["secret"]):
        yield Secret(start, end, "cookie")
        return
    found = in_named(match["name"].decode("ascii", "replace"), match.string[start:end])
    yield from (Secret(start + secret.start, start + secret.end, secret.rule) for secret in found)


def start_of_name(text: bytes, start: int) -> int:
    """Where the name begins of which the pattern found the end."""
    begin = max(start - LONGEST, 0)
    before = _NAME_BEFORE.search(text, begin, start)
    return before.start() if before else start


def _assigned(match: Match, name_start: int, said: Named) -> Iterator[Secret]:
    before = match.string[max(name_start - 100, 0) : name_start]
    if before.endswith(b"://") or _REFERENCE.search(before):
        return  # The user of an address, for which there are other rules, or a piece of a reference.
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
        yield _without_user(Secret(value.start, value.end, said.label), written)
    elif not value.is_quoted and (said.trust is Trust.SURE or said.label == "password"):
        yield from _in_expression(text, match.end(), said)


def _without_user(secret: Secret, value: bytes) -> Secret:
    """Return only the password of `user:password`."""
    user = _USER.match(value) if secret.rule == "credential" else None
    return secret._replace(start=secret.start + user.end()) if user else secret


_REFERENCE = re.compile(rb"\b(?:arn|op|vault|projects|ref\+[a-z]+):[^\s\"']*\Z")
_USER = re.compile(rb"[a-z][a-z._-]{1,30}:(?=[^\s:]{6})")


def _in_expression(text: bytes, start: int, said: Named) -> Iterator[Secret]:
    """Yield the first literal of a program in what is assigned: `String::from("…")`, `${NAME:-…}`."""
    if default := _SHELL_DEFAULT.match(text, start):
        if is_chosen(default["secret"]) or is_random(default["secret"], hash_is_secret=True):
            yield Secret(*default.span("secret"), said.label)
        return
    object_value = _OBJECT.match(text, start)
    literal = object_value or _WRAPPED.match(text, start)
    if literal is None or is_placeholder(literal["secret"]):
        return
    if not object_value and _READS.search(literal["before"]):
        return
    value = literal["secret"]
    is_word = object_value and said.label == "password" and not is_sentence(value)
    if is_word or is_strong(value) or is_random(value, hash_is_secret=said.trust is Trust.SURE):
        yield Secret(*literal.span("secret"), said.label)


_SHELL_DEFAULT = re.compile(rb"[\"']?\$\{[A-Za-z_]\w{0,80}:?[-=](?P<secret>[^\s{}\"'`$\x1e]{4,400})\}")
_LITERAL = rb"\\{0,4}[\"'](?P<secret>[^\"'\r\n\\\x1e]{6,400})\\{0,4}[\"']"
_WRAPPED = re.compile(rb"(?P<before>[(\[&A-Za-z_][\w:.<>\[\]&|?!, \t()$*=]{0,120}?)[bruf]{0,2}" + _LITERAL)
_OBJECT = re.compile(rb"(?P<before>\{[^{}\x1e]{0,200}?value\\{0,4}[\"']?[ \t]{0,4}[:=][ \t]{0,4})" + _LITERAL)
_READS = re.compile(
    rb"(?i)\b(?:get|read|load|fetch|open|find|look|input|prompt|ask|require|param|query|select|format|join"
    rb"|header|import|compile|regex|create|generate|describe|test|expect|type|len|print|log|label|raise|throw|message)|=="
)
"""Calls whose argument is the name of a value, or words."""


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
        is_variable=is_variable and name.isupper(),
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
        return _in_three_quotes(text, quote.end() + 2, quote["quote"] * 3)
    end = _closing_quote(text, quote.end(), quote["quote"], len(quote["escapes"]))
    return _Value(quote.end(), end, is_quoted=True)


def _in_three_quotes(text: bytes, start: int, quotes: bytes) -> _Value | None:
    """Return a text of one line in three quotes."""
    end = text.find(quotes, start, start + 400)
    return None if end == -1 or b"\n" in text[start:end] else _Value(start, end, is_quoted=True)


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
        written = written[:_LONGEST_JUDGED]
        is_strong_password = said.label == "password" and is_strong(written)
        return is_strong_password or (
            _ONE_TOKEN.fullmatch(written) is not None and _is_unsure_secret(said, written)
        )
    if value.is_quoted:
        return not is_sentence(written) and (said.label == "password" or not _NAMES_ITSELF.fullmatch(written))
    if is_name_in_code(written) or _BOUND.match(written):
        return place.is_setting and _has_many_signs(written)
    if written.isdigit():
        return said.label == "password" and (place.is_setting or place.is_in_json)
    if _IDENTIFIER.fullmatch(written) and not (place.is_setting and is_random(written)):
        if place.is_in_address and _BASE32.fullmatch(written):
            return True
        is_word = place.is_variable or (place.is_setting and _LOWER_WORDS.fullmatch(written))
        return bool(is_word) and len(written) >= _LEAST_WORD and said.label == "password"
    return place.is_setting or place.is_in_address or not _NUMBERED.fullmatch(written)


def _has_many_signs(written: bytes) -> bool:
    """Return whether a word has more signs than code has in one word."""
    if written.startswith(b"$") or len(written) > _LONGEST_JUMBLE or _CALL.match(written):
        return False
    return sum(map(written.count, b"#^%!*@&~?")) >= _MANY and sum(map(written.count, b"0123456789")) > 1


_CALL = re.compile(rb"[\w.$]{0,80}\(")
_LONGEST_JUDGED = 1000
_LONGEST_JUMBLE, _MANY = 200, 4


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
    if header is None or is_placeholder(header["secret"]) or _PARAMETERS.match(header["secret"]):
        return
    value = _AFTER_NUMBER.sub(b"", header["secret"], count=1)
    if is_random(value, hash_is_secret=True) or is_user_and_password(value):
        yield Secret(*header.span("secret"), "authorization")
