"""Secrets in texts whose form says what they are: markup, JWKs, states of Terraform, files of cookies.

A pattern finds where such a form begins; its members are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from geminids.sharing.redact.assignments import Match, Secret
from geminids.sharing.redact.names import Trust, named
from geminids.sharing.redact.plausibility import is_placeholder, is_random, is_sentence

TAG = (
    rb"(?i)[<:](?:input|meta|param|property|string|password|passwd|secret|token|credential|textfield|field"
    rb"|apikey)[A-Za-z]{0,20}[ \t\r\n][^<>\x1e]{5,800}>"
)
"""`<input type="password" value="…">`, `<string name="api_secret" x="y">…</string>`."""
TAGS = (
    *(
        b"<input",
        b"<meta",
        b"<param",
        b"<property",
        b"<string",
        b"<pass",
        b"<secret",
        b"<token",
        b"<credential",
    ),
    *(b":pass", b"<text", b"<field", b"<api"),
)
PLIST = (
    rb"(?i)(?P<name>[A-Za-z0-9_.-]{0,60}(?:pass(?:word|phrase|wd)?|pwd?|secret|token|key"
    rb"|credentials?)[A-Za-z0-9_.-]{0,24})"
    rb"</(?:key|name)>(?:\\[nrt]|\s){0,40}<(?:string|data|value)>(?:\\[nrt]"
    rb"|\s){0,40}(?P<secret>[^<\s\x1e]{4,400})"
)
"""`<key>SharedSecret</key>` and `<string>…</string>` below it."""
JWK = rb"(?i)kty\\{0,4}[\"']?[ \t]{0,4}:[ \t]{0,4}\\{0,4}[\"'](?:EC|RSA|OKP|oct)\\{0,4}[\"']"
RESULT = rb"random_password\\{0,4}\""
"""The resource of Terraform whose `result` is a password."""
COOKIE_LINE = (
    rb"(?:\t|\\t)(?:TRUE|FALSE)(?:\t|\\t)/[^\t\r\n\\\x1e]{0,100}(?:\t|\\t)(?:TRUE|FALSE)(?:\t"
    rb"|\\t)[0-9]{1,12}(?:\t|\\t)"
    rb"[^\t\r\n\\\x1e]{1,100}(?:\t|\\t)(?P<secret>[^\s\\\x1e]{8,4000})"
)
"""A line of a file of cookies, as curl and browsers write them."""
COOKIE_LINES = (b"\ttrue\t/", b"\tfalse\t/", b"\\ttrue\\t/", b"\\tfalse\\t/")
WIFI = rb"(?i)WIFI:[^\r\n\"\x1e]{0,200}?;P:(?P<secret>[^;\r\n\"\x1e]{4,100});"
"""What a QR code of a wireless network says."""
HOOK = rb"(?i)hooks?[A-Za-z0-9]{0,4}(?:\.[a-z0-9.-]{1,60})?/(?P<secret>[A-Za-z0-9/_@.=-]{16,300})"
"""The path of a webhook: who knows it may send."""

_ATTRIBUTE = re.compile(
    rb"(?P<name>[\w:.-]{1,60})[ \t]{0,4}=[ \t]{0,4}(?:\{[ \t]{0,4})?\\{0,4}(?P<quote>[\"'])"
    rb"(?P<value>[^\"'\\\x1e]*)\\{0,4}(?P=quote)"
)
_PREFIX = re.compile(rb"<[A-Za-z]{1,19}\Z")
_CONTENT = re.compile(rb"(?P<secret>[^<\r\n\x1e]{4,400})</")
_NAMES = frozenset(
    (
        b"type",
        b"name",
        b"id",
        b"label",
        b"key",
        b"autocomplete",
        b"property",
        b"data-testid",
        b"formcontrolname",
    )
)
_VALUES = frozenset((b"value", b"defaultvalue", b"initialvalue", b"content", b"data-value"))
_PRIVATE_MEMBER = re.compile(
    rb"\\{0,4}[\"']?\b(?:d|k|p|q|dp|dq|qi)\\{0,4}[\"']?[ \t]{0,4}:[ \t]{0,4}\\{0,4}"
    rb"[\"'](?P<secret>[A-Za-z0-9_-]{16,700})\\{0,4}[\"']"
)
_RESULT = re.compile(
    rb"\\{0,4}\"result\\{0,4}\"[ \t]*:[ \t]*\\{0,4}\"(?P<secret>[^\"\r\n\\\x1e]{4,200})\\{0,4}\""
)
CHPASSWD = rb"chpasswd\\{0,4}[\"']?:[^\x1e]{0,200}?(?:list|users)\\{0,4}[\"']?:"
ETHEREUM = rb"0x(?P<secret>[0-9a-fA-F]{64})"
_LIST_LINE = re.compile(
    rb"[\s|>\"'-]{0,60}(?:\\n)?[\s\"'-]{0,20}"
    rb"[a-z_][a-z0-9_-]{0,31}:(?P<secret>[^\s:\"'\x1e]{4,100})(?=\s|\\n|[\"'])"
)
_IN_ADDRESS = re.compile(rb"://[^\s\"'<>]*\Z")
_FAR = 3000


def in_tag(match: Match) -> Iterator[Secret]:
    """Yield the value of a field that names a secret: of an attribute, or between its tags."""
    tag = match[0]
    if tag[:1] == b":" and not _PREFIX.search(match.string, max(match.start() - 20, 0), match.start()):
        return
    attributes = [(found["name"].lower(), found) for found in _ATTRIBUTE.finditer(tag)]
    names = [found["value"] for name, found in attributes if name in _NAMES]
    said = next(filter(None, map(_said, [tag.split(maxsplit=1)[0], *names])), None)
    if said is None:
        return
    values = [found.span("value") for name, found in attributes if name in _VALUES]
    spans = [(match.start() + start, match.start() + end) for start, end in values]
    if not values and (content := _CONTENT.match(match.string, match.end())):
        spans = [content.span("secret")]
    for start, end in spans:
        value = match.string[start:end]
        is_secret = said == "password" or is_random(value, hash_is_secret=True)
        if is_secret and len(value) >= 4 and not is_placeholder(value) and not is_sentence(value):
            yield Secret(start, end, said)


def _said(name: bytes) -> str | None:
    name = name.strip(b"<:#").removesuffix(b"Input").removesuffix(b"Field")
    said = named(name.decode("utf-8", "replace"))
    return said.label if said and said.trust is not Trust.KEY else None


def below_name(match: Match) -> Iterator[Secret]:
    """Yield the text in the element behind one that names it."""
    said = named(match["name"].decode("ascii"))
    value = match["secret"]
    if said is None or is_placeholder(value):
        return
    if (said.trust is Trust.SURE and len(value) >= 4) or is_random(value, hash_is_secret=True):
        yield Secret(*match.span("secret"), said.label)


def in_jwk(match: Match) -> Iterator[Secret]:
    """Yield the private members of a key in JSON."""
    text = match.string
    start = text.rfind(b"{", max(match.start() - _FAR, 0), match.start())
    end = text.find(b"}", match.end(), match.end() + _FAR)
    if start != -1 and end != -1:
        for member in _PRIVATE_MEMBER.finditer(text, start, end):
            yield Secret(*member.span("secret"), "private-key")


def result(match: Match) -> Iterator[Secret]:
    """Yield the passwords that Terraform made."""
    end = match.string.find(b"\x1e", match.end(), match.end() + _FAR)
    for found in _RESULT.finditer(match.string, match.end(), end if end != -1 else match.end() + _FAR):
        yield Secret(*found.span("secret"), "password")


def in_hook(match: Match) -> Iterator[Secret]:
    """Yield the random pieces of the path of a webhook."""
    before = match.string[max(match.start() - 200, 0) : match.start()]
    if not _IN_ADDRESS.search(before):
        return
    for piece in re.finditer(rb"[^/@]+", match["secret"]):
        if is_random(piece[0], hash_is_secret=True):
            start = match.start("secret") + piece.start()
            yield Secret(start, start + len(piece[0]), "webhook")


def chpasswd(match: Match) -> Iterator[Secret]:
    """Yield the passwords of a list of users and passwords, as cloud-init reads it."""
    place = match.end()
    while line := _LIST_LINE.match(match.string, place):
        if not is_placeholder(line["secret"]) and line["secret"] not in (b"RANDOM", b"R"):
            yield Secret(*line.span("secret"), "password")
        place = line.end()


def ethereum(match: Match) -> Iterator[Secret]:
    """Yield the private key of an account: a number that only the words of its line tell from a hash."""
    text, (start, end) = match.string, match.span("secret")
    line = text[max(text.rfind(b"\n", 0, start) + 1, start - 200) : end + 100].partition(b"\x1e")[0]
    if _OF_ACCOUNT.search(line.partition(b"\n")[0]) and not _OF_CHAIN.search(text, max(start - 40, 0), start):
        yield Secret(start, end, "private-key")


_OF_ACCOUNT = re.compile(
    rb"(?i)priv(?:ate)?[_ -]?key|deployer|accounts[\"']?[ \t]*[:=]|wallet|signer|mnemonic"
)
_OF_CHAIN = re.compile(rb"(?i)hash|\btx|transaction|block|topic|root|address|public")


def cookie(match: Match) -> Iterator[Secret]:
    """Yield the value of a cookie, if it is more than a word."""
    if is_random(match["secret"], hash_is_secret=True):
        yield Secret(*match.span("secret"), "cookie")
