"""Names under which secrets stand: keys of objects, variables, headers, options.

A name is taken apart into words (`dbPassword`, `DB_PASSWORD` and `db.password` are the same), and its last
words decide. So `max_tokens`, `token_count`, `secretName` and `passwordPolicy` name no secret.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import IntEnum
from functools import lru_cache
from typing import NamedTuple

from geminids.sharing.redact.languages import names_password
from geminids.sharing.redact.pieces import decode, encode, shown

LONGEST = 80
"""Characters; nobody gives longer names to secrets, and a cache should not hold texts."""
_INSIDE = "\x1f"
_WORD = re.compile(r"[A-Z]+(?![a-z])[0-9]*|[A-Z]?[a-z]+[0-9]*|[0-9]+")

_PARTS = re.compile(r"[^A-Za-z]+")

_ENDINGS = {
    "password": "password",
    "passwd": "password",
    "passphrase": "password",
    "passcode": "password",
    "pwd": "password",
    "sshpass": "password",
    "secret": "secret",
    "apikey": "api-key",
    "accesskey": "api-key",
    "secretkey": "api-key",
    "privatekey": "private-key",
    "authtoken": "token",
    "accesstoken": "token",
    "refreshtoken": "token",
    "bottoken": "token",
    "apitoken": "token",
    "sessiontoken": "token",
    "csrftoken": "token",
    "idtoken": "token",
    "usertoken": "token",
    "githubtoken": "token",
    "authorization": "authorization",
    "cookie": "cookie",
}
"""Also at the end of words that nobody parted: PGPASSWORD, clientsecret."""

_SECRET_KEYS = re.compile(
    r"api|access|secret|private|signing|encryption|decryption|account|master|auth|shared|app|"
    r"application|subscription|deploy|storage|hmac|jwt|admin|webhook|license|enc|cipher|crypto|aes|consumer|"
    r"server|unseal|integration"
)
_OPEN_KEYS = re.compile(
    r"public|primary|foreign|sort|partition|cache|index|hash|map|dict|object|group|row|column|"
    r"registry|hot|short|shortcut|arrow|enter|escape|tab|shift|control|ctrl|alt|meta|any|press|on|"
    r"i18n|translation|lookup|natural|composite|unique|order|search|cookie|storage|state|query|"
    r"mutation|react|prop|answer"
)
_NO_TOKENS = re.compile(
    r"page|next|continuation|cancellation|pad|eos|bos|unk|sep|cls|mask|max|min|num|sync|start|end|"
    r"stop|special|first|last|current|previous|prev|input|output|prompt|lookahead|peek|expected"
)
_NO_PASSWORDS = re.compile(r"first|second|third|single|multi|two|one|by|high|low|band|test|all|did|can")
_SAYS_NOTHING = re.compile(
    r"value|val|v|base64|b64|raw|plain|plaintext|text|prod|production|dev|development|staging|test|live|"
    r"default|old|new|current|base|data|str|header"
)
"""Words behind a name that change nothing: SECRET_KEY_BASE, client-key-data."""
_ABOUT_SECRETS = re.compile(
    r"ids?|uuid|arn|types?|kind|names?|username|user|email|title|description|label|hint|help|message|url|uri|"
    r"href|link|host|path|file|format|pattern|regex|placeholder|example|default|enum|required|scopes?|version|"
    r"schema|ref|at|date|created|updated|expires|expiry|status|state|policy|algorithm|alg|env|from|store|vault"
)
"""Keys under which an object tells about a secret: `{"token": {"type": "jwt", "expires": …}}`."""


class Trust(IntEnum):
    """How much a name says about its value."""

    KEY = 1
    """Some key: its value is a secret only if it looks random and is no hash."""
    USUAL = 2
    """Usually a secret: in free text its value must look random."""
    SURE = 3
    """A secret, whatever its value looks like."""


class Named(NamedTuple):
    """What a name says."""

    label: str
    """The rule that stands in the replacement."""
    trust: Trust


def named(name: str) -> Named | None:
    """What a name says about its value; None if it names no secret."""
    return _named(name) if len(name) <= LONGEST and "[REDACTED" not in name else None


def inside(outer: str, inner: str) -> str:
    """The name of what stands under a key in an object that itself stands under a key."""
    return f"{outer}{_INSIDE}{inner}"


def pieces_changed(name: str, change: Callable[[str], str]) -> str:
    """The name with each of the keys that it is made of changed."""
    return _INSIDE.join(map(change, name.split(_INSIDE)))


def in_list(name: str) -> str:
    """The name of what stands behind a name in a list: `["DB_PASSWORD", "…"]`."""
    return inside(name, "listed")


def named_outside(name: str) -> Named | None:
    """What the outer key says about a value further in, where the inner one says nothing about it."""
    outer, _, inner = name.partition(_INSIDE)
    words = _words(inner)
    return named(outer) if words and not _ABOUT_SECRETS.fullmatch(words[-1]) else None


@lru_cache(maxsize=8192)
def _named(name: str) -> Named | None:
    name = decode(shown(encode(name)))
    if names_password(name):
        return Named("password", Trust.SURE)
    words = _words(name)
    while len(words) > 1 and (_SAYS_NOTHING.fullmatch(words[-1]) or words[-1].isdecimal()):
        words.pop()
    if not words:
        return None
    last = words[-1].rstrip("0123456789")
    before = words[-2] if len(words) > 1 else ""
    # `PaSsWoRd` falls apart into words that are none.
    return _one_word(last) or _two_words(before, last) or _one_word(_PARTS.split(name)[-1].lower())


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]


def _one_word(word: str) -> Named | None:
    for ending, label in _ENDINGS.items():
        if word.endswith(ending):
            return Named(label, Trust.SURE)
    return None


def _two_words(before: str, last: str) -> Named | None:
    match last:
        case "key":
            if _SECRET_KEYS.fullmatch(before):
                return Named("private-key" if before == "private" else "api-key", Trust.SURE)
            return Named("key", Trust.KEY) if before and not _OPEN_KEYS.fullmatch(before) else None
        case "token" | "jwt":
            if _NO_TOKENS.fullmatch(before):
                return None
            return Named("token", Trust.SURE if before else Trust.USUAL)
        case "pass" | "pw":
            if _NO_PASSWORDS.fullmatch(before):
                return None
            return Named("password", Trust.SURE if before else Trust.USUAL)
        case "pin":
            return Named("pin", Trust.USUAL)
        case "psk":
            return Named("password", Trust.SURE)
        case "pat" | "bearer" if before:
            return Named("token", Trust.USUAL)
        case "salt":
            return Named("secret", Trust.KEY)
        case "auth" | "credential" | "credentials" | "creds":
            return Named("credential", Trust.USUAL)
        case _:
            return None
