"""Secrets in calls, in statements of SQL and in blocks, where no sign of assignment stands before them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from geminids.sharing.redact.assignments import Match, Secret, authorization_in, in_named, start_of_name
from geminids.sharing.redact.names import Trust, named
from geminids.sharing.redact.plausibility import (
    is_chosen,
    is_likely,
    is_placeholder,
    is_random,
    is_sentence,
    is_strong,
)

_QUOTED = rb"\\{0,4}[\"'](?P<secret>[^\"'\r\n\x1e]{3,400}?)\\{0,4}[\"']"
NAME_AND_VALUE = (
    rb"(?i)(?P<word>(?:pass(?:w(?:or)?d|phrase)?|pwd?|secret|token|key|salt|cred(?:ential)?s?|auth)"
    rb"[A-Za-z0-9_.-]{0,24})(?P<between>\\{0,4}[\"'][ \t]{0,12},[ \t]{0,12}|\(|\\{0,4}[\"'`]?[\])}]{0,2}\?? ?"
    rb"(?:\|\||\?\?=?|\?:|or|\||\{|\.(?:unwrap_|get_?)?or(?:_?else)?\([|_ ]{0,5}) ?(?:default\()?)"
    rb"[bruf]?\\{0,4}[\"']"
)
"""`define('DB_PASSWORD', '…')`, `.set("api_key", "…")`, `.password("…")`, `env.JWT_SECRET || "…"`."""
USER_AND_PASSWORD = (
    rb"(?i)(?:auth|login|logon|credential|connect|sign_?in|pdo|mysqli)"
    rb"[A-Za-z0-9_]{0,16}(?:(?:::|\.)[A-Za-z_]{1,20})?[ \t]{0,2}[=:]?[ \t]{0,2}\(\s{0,20}[^\r\n\x1e;]{0,160}?"
    rb"[\"'](?:\.[A-Za-z_]{1,20}\(\))?,?\s{0,20}[\"']"
)
"""`auth=('ada', '…')`, `HTTPBasicAuth("ada", "…")`, `mysqli_connect("db", "ada", "…")`."""
SQL = (
    rb"(?i)(?:identified[ \t\r\n]{1,4}(?:with[ \t]{1,4}[\"'A-Za-z0-9_]{1,40}[ \t]{1,4})?(?:by|as)["
    rb" \t]{1,4}(?:password[ \t]{1,4})?"
    rb"|password[ \t]{1,4}|password[ \t]{0,2}\([ \t]{0,2}|(?:with[ \t]{1,4})?password[ \t]{0,4}=[ \t]{0,4}n?)"
    rb"(?P<quote>\\{0,4}[\"'])(?P<secret>[^\"'\r\n\x1e]{3,200}?)\\{0,4}[\"']"
)
UNQUOTED_SQL = rb"IDENTIFIED[ \t]{1,4}BY[ \t]{1,4}(?P<secret>[A-Za-z0-9_#$!@%^*+-]{4,100})"
COMPARED = (
    rb"(?i)(?P<word>(?:pass(?:w(?:or)?d|phrase)?|pwd?|secret|token|key)[A-Za-z0-9_.-]{0,24})"
    rb"(?:[ \t]{0,4}!={1,2}[ \t]{0,4}|\.equals(?:IgnoreCase)?\(|[ \t]{1,4}-?(?:eq|ne|is|in)[ \t]{1,4})"
    + _QUOTED
)
"""`password !== "…"`, `password.equals("…")`."""
BLOCK = (
    rb"(?i)(?:variable|parameter|param|setting)[ \t]{1,4}[\"'](?P<name>[A-Za-z0-9_.-]{2,80})[\"'][ \t]{0,4}\{"
    rb"[^{}\x1e]{0,300}?(?:default|value)[ \t]{0,12}[=:][ \t]{0,4}[\"'](?P<secret>[^\"'\r\n\x1e]{3,400})[\"']"
)
"""`variable "db_password" { default = "…" }`."""
SECURE_STRING = (
    rb"(?i)(?:ConvertTo-SecureString[ \t]{1,4}(?:-String[ \t]{1,4})?|NetworkCredential(?:\]::new)?\("
    rb"[^\r\n,]{1,80},[ \t]{0,4})"
    rb"\\{0,4}[\"'](?P<secret>[^\"'\r\n\x1e]{3,200}?)\\{0,4}[\"']"
)
ORACLE = (
    rb"(?i)(?:oracle:(?:thin|oci8?):|oracle\+[a-z]{2,20}://)(?P<user>[A-Za-z0-9_$#.-]{1,60})/"
    rb"(?P<secret>[^\s/@\"'<>\x1e]{3,100})@"
)
NAMES = (b"pass", b"pw", b"secret", b"token", b"key", b"salt", b"cred", b"auth")
DOORS = (b"login", b"logon", b"credential", b"credentials", b"connect", b"signin", b"sign", b"pdo", b"mysqli")
_ARGUMENT = re.compile(rb"[\"']([^\"'\r\n\x1e]{3,200})[\"']")


def name_and_value(match: Match) -> Iterator[Secret]:
    """Yield the value of a name in quotes behind a comma, of a call that sets it, or of its default."""
    text, start = match.string, start_of_name(match.string, match.start())
    said = named(text[start : match.end("word")].decode("ascii", "replace"))
    found = _TO_QUOTE.match(text, match.end())
    if said is None or found is None:
        return
    value, between = found["secret"], match["between"]
    if said.label == "authorization":
        yield from authorization_in(match, match.end())
        return
    is_filled_in = b"{" in value and match[0].rstrip(b"\"'\\")[-1:] in b"f$"
    if is_sentence(value) or is_placeholder(value) or is_filled_in:
        return
    is_sure = said.trust is Trust.SURE
    if between == b"(":
        is_secret = is_strong(value) or (is_sure and is_random(value, hash_is_secret=True))
        is_secret = is_secret and not _READS.search(text, start, match.end("word"))
    elif b"," in between:
        is_secret = is_strong(value) or (
            _is_set(text, start) and (is_likely(value) if is_sure else is_random(value))
        )
    else:
        is_secret = is_chosen(value)
    if is_secret:
        yield Secret(*found.span("secret"), said.label)


_TO_QUOTE = re.compile(rb"(?P<secret>[^\"'\r\n\x1e]{3,400}?)\\{0,4}[\"']")
_READS = re.compile(
    rb"(?i)(?:\A|[._-])(?:get|read|load|fetch|open|find|lookup|has|is|test|use|require|describe"
    rb"|delete|remove|from|for|to|by)"
    rb"(?:[A-Z_]|pass|secret|token|key|cred|auth)"
)
_SETS = re.compile(
    rb"(?i)(?:define|set|put|add|env|property|default|config|append|with|insert|fill|type|enter|keys)"
    rb"[A-Za-z_]{0,12}\([ \t]{0,4}\\{0,4}[\"'][#.]?\Z"
)


def _is_set(text: bytes, start: int) -> bool:
    """Whether the name stands first in a call that gives something a value."""
    return _SETS.search(text, max(start - 40, 0), start) is not None


def user_and_password(match: Match) -> Iterator[Secret]:
    """The arguments of a call that lets somebody in, behind the first: those that look like a password."""
    text, start = match.string, match.string.find(b"(", match.start())
    end = text.find(b"\n", match.end(), match.end() + 300)
    arguments = list(_ARGUMENT.finditer(text, start, end if end != -1 else match.end() + 300))
    for argument in arguments[1:4]:
        if is_strong(argument[1]) and not is_sentence(argument[1]):
            yield Secret(*argument.span(1), "password")


def in_sql(match: Match) -> Iterator[Secret]:
    """What a statement says is the password. In other texts it must look like one."""
    value = match["secret"]
    is_statement = match[0][:8].isupper() or _OF_USER.search(
        match.string[max(match.start() - 100, 0) : match.start()]
    )
    if is_placeholder(value) or is_sentence(value) or value.endswith((b":", b": ")):
        return
    if is_chosen(value) or (is_statement and len(value) >= 4 and value.lower() not in _NO_PASSWORD):
        yield Secret(*match.span("secret"), "password")


_OF_USER = re.compile(rb"(?i)\b(?:user|role|login)\b[^\r\n]*\Z")
_NO_PASSWORD = frozenset(
    (b"password", b"expire", b"never", b"default", b"external", b"globally", b"required")
)


def in_unquoted_sql(match: Match) -> Iterator[Secret]:
    """`IDENTIFIED BY tiger`."""
    value = match["secret"]
    if not is_placeholder(value) and value.lower() not in _NO_PASSWORD:
        yield Secret(*match.span("secret"), "password")


def compared(match: Match) -> Iterator[Secret]:
    """What a program compares a password with."""
    text, start = match.string, start_of_name(match.string, match.start())
    said = named(text[start : match.end("word")].rpartition(b".")[2].strip(b"-$").decode("ascii", "replace"))
    if said and is_chosen(match["secret"]) and is_likely(match["secret"]):
        yield Secret(*match.span("secret"), said.label)


def in_block(match: Match) -> Iterator[Secret]:
    """The value in a block that is called by its name."""
    start, end = match.span("secret")
    for secret in in_named(match["name"].decode("ascii"), match.string[start:end]):
        yield Secret(start + secret.start, start + secret.end, secret.rule)


def alone(match: Match) -> Iterator[Secret]:
    """What can be nothing else where it stands."""
    if not is_placeholder(match["secret"]):
        yield Secret(*match.span("secret"), "password")
