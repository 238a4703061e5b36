"""What is no secret although it stands where secrets stand, and what looks random.

All values are bytes, since the rules look at bytes: offsets of the engine count them too.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections import Counter
from math import log2

LEAST_EVERYWHERE = 6
"""Bytes of the shortest value that is hidden wherever else it stands."""

_WORDS = re.compile(rb"[A-Za-z',.:;!?()\s-]+")
_LONGEST_PLACEHOLDER = 200
_PLACEHOLDER = re.compile(
    rb"""(?ix)
      ^ \[+ REDACTED \b [^\]]* \]+ $ | ^ \[+ [A-Z_ -]+ \]+ $    # ours, and those of others
    | ^ [x*\#._?0-]{3,} $ | ^ [A-Za-z\ _-]* (?: \.{3,} | \xe2\x80\xa6 ) $
    | ^ < [^<>]* > | ^ &lt;
    | ^ % [A-Z0-9_]+ % $ | ^ \$ [A-Za-z_{(] | \$ [{(] | \{\{ | ^ \{ [A-Za-z0-9_.!r]* \} $ | ^ @ [A-Za-z_]+ $
    | ^ (?: getenv | env ) \( | ^ ENV \[
    | ^ arn:[a-z-]+:[a-z0-9-]+: | ^ @Microsoft\.KeyVault | ^ projects/[\w-]+/secrets/  # references
    | ^ (?: ref\+[a-z]+ | op | vault | ssm | secretsmanager | secrets? | keychain | keyring | env | file
        | sops | bws? | doppler | infisical | [a-z]{2,5}-?(?: sm | kv ) ) : (?: // | [\w-]+[/.:] ) [^\s@]* $
    | ^ (?: your | my | the | some | an? | insert | enter | add | put | replace | paste )
        [\ _-]+ (?: [A-Za-z]+ \d? [\ _-]+ ){0,3}
        (?: key | token | secret | password | passwd | pwd | pass | value | here | id | name )
        (?: [\ _-] here )? $
    | ^ my [A-Za-z_-]* (?: key | token | secret | password ) $
    | ^ (?-i:EXAMPLE) | (?: EXAMPLE | EXAMPLEKEY ) $    # as manuals mark what looks real
    """
)
_WORDS_OF_PLACEHOLDERS = re.compile(
    rb"""(?ix)
      ^ (?: process | os | env | environ | import\.meta | vault | secrets? | var | local | data | self
        | this ) \. [A-Za-z_$]
    | ^ (?: fake | dummy | mock | sample | example | placeholder | changeme | change[_-]me )
    | (?: placeholder | [_-]here ) $
    """
)
_JUMBLED = re.compile(rb"(?:\d[A-Za-z].*?){3}", re.DOTALL)
"""Digits between letters, again and again: what a machine made, whatever word it begins with."""
_MASK = re.compile(rb"\*{3,}|\.{3,}|\#{3,}|[xX]{4,}|(?:\xe2\x80\xa6)+|(?:\xe2\x80\xa2){2,}")
_BEFORE_MASK = re.compile(rb"(?:[A-Za-z]{2,6}[_-]){1,2}|AKIA|AIza|eyJ")
_NO_VALUES = frozenset(
    b"xxx none null nil undefined true false yes no on off optional required redacted hidden masked secret "
    b"password passwd pass pwd token string str text value number integer int bool boolean any unknown void "
    b"bytes char varchar object array list dict self empty todo tbd fixme n/a bearer basic include "
    b"same-origin omit strict lax key api_key apikey default disabled enabled prompt ask field input".split()
)
_WORD_LIKE = re.compile(rb"[a-z]+|[A-Z]+|[A-Z][a-z]+|(?:[a-z]+[ _.-])+[a-z]+|(?:[A-Z]+[_-])+[A-Z]+")
_HASH = re.compile(
    rb"(?:0x)?[0-9a-fA-F]+|[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}|sha(?:1|256|384|512)[-:].*"
)
_SPEAKS = re.compile(
    rb"""(?x)
      [A-Za-z][A-Za-z0-9+.-]*:// | [./~] | [A-Za-z]:\\ | \d{4}-\d\d-\d\d | v?\d+\.\d+ | data:
    | \d+(?:px|ms|s|%|em)?$ | [\w.-]+@[\w-]+\.\w+ | (?:[\w@.-]+/)+[\w.-]+\.\w{1,5}$
    """
)
_NAMES = re.compile(
    rb"[A-Z]{0,3}[a-z]+(?:\d{0,2}[A-Z]{1,2}[a-z]+)*\d{0,2}"
    rb"|(?:[A-Za-z]+\d{0,3}|\d{1,4})(?:[ _.:/-]+(?:[A-Za-z]{2,}\d{0,3}|\d{1,4}))*"
)
"""Words and small numbers with something between them: `users:1:name`, `cache-key-v2`, `oauth2Client`."""
_MIXED = re.compile(rb"\d|[^A-Za-z0-9\s]")
_DIGIT, _LOWER, _UPPER = re.compile(rb"\d"), re.compile(rb"[a-z]"), re.compile(rb"[A-Z]")
_CODE = re.compile(
    rb"[()\[\]{}]|^[&*!]\w|^(?:await|new|not|lambda|function|async)$|^0x[0-9a-fA-F]{1,8}$"
    rb"|::|->|^\W+$|^\d{1,3}$"
)
_ATTRIBUTE = re.compile(rb"[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+(?::.*)?")
_TYPES = frozenset(
    b"String Str SecretStr Optional Any None True False Bytes Buffer Boolean Number Text Password Token "
    b"Secret Option Vec Promise Uint8Array CharField TextField Symbol CancellationToken SecretString".split()
)

LEAST_CHOSEN = 5
_KINDS = 3
_LATIN = re.compile(rb"[\xc3-\xc5][\x80-\xbf]")
_ODD_CASE = re.compile(rb"[a-z][A-Z]{2}|[A-Z][a-z][A-Z]")
_LETTER_AND_SIGN = re.compile(rb"(?=.*[A-Za-z]).*(?:\d|[A-Za-z][^A-Za-z0-9'\s.,:;!?()-]+[A-Za-z])", re.DOTALL)
_SIGN = re.compile(rb"[^A-Za-z0-9\s._:/-]")
_SEPARATOR = re.compile(rb"[ _.:/-]")
_BINDS = re.compile(rb"[/\\=(){}\[\]<>,;|]|\w@\w")
"""What ties words together in programs, paths, addresses and lists."""
_FOUR_WORDS = re.compile(rb"[A-Za-z]{3,10}(?:[-_. ][A-Za-z0-9]{3,10}){3,7}")
"""As generators of passwords write them: `amber-anchor-apron-badger`."""
_APP_PASSWORD = re.compile(rb"[a-z]{4}(?: [a-z]{4}){3}|(?:[A-Za-z0-9]{4} ){5}[A-Za-z0-9]{4}")
"""As Google and WordPress give them to programs."""
_TECHNICAL = re.compile(
    rb"(?i)^(?:base(?:32|58|62|64)|sha-?\d+|md[45]|utf-?\d+|oauth2?|http2?|ipv[46]|argon2\w*|pbkdf2"
    rb"|bcrypt\d?|x509"
    rb"|1password|python[23]|node\d+|mp[34]|h26[45]|es\d+|win32|x86(?:_64)?|arm64|amd64|i18n|k8s|l10n"
    rb"|a11y|\d+-\w+"
    rb"|\d+(?:st|nd|rd|th|x|px|k|kb|mb|gb|min|h|s|ms|d)?)\b|\.(?:py|js|ts|go|rs|md|env|json|ya?ml|toml"
    rb"|txt|sh|c|h)$"
)
_PLAIN_WORD = re.compile(rb"[a-z]{3,14}\d{0,4}")
GRAMMAR = frozenset(
    b"the and are for from has have had was were not but then than they their which would could should must "
    b"does did your our its his her she him who whose what when where while with without within because "
    b"please need needs want into onto about after before been being will shall may might can cannot this "
    b"that these those there here some any all none each every both only also just too very more most less "
    b"use used using set sets get gets yes okay one two three new old".split()
)
"""Words of sentences, which no phrase that somebody drew by lot is likely to have."""


def is_placeholder(value: bytes) -> bool:
    """Whether words only stand where a secret would: `<your key>`, `$TOKEN`, `xxx`, our own replacements."""
    start = value[:_LONGEST_PLACEHOLDER]
    return (
        not start.strip()
        or _PLACEHOLDER.search(start) is not None
        or (_WORDS_OF_PLACEHOLDERS.search(start) is not None and not _JUMBLED.search(start))
        or _is_masked(start)
        or start.lower().strip(b" .!?\"'`*_-\\)}") in _NO_VALUES
        or len(set(start)) == 1
    )


def is_common(value: bytes) -> bool:
    """Whether a value is so short or so much a word that other places may well mean something else by it."""
    if len(value) < LEAST_EVERYWHERE:
        return True
    return _WORD_LIKE.fullmatch(value) is not None or (value.isdigit() and len(value) < 10)


def is_random(value: bytes, *, hash_is_secret: bool = False) -> bool:
    """Whether a value looks made by a machine, and is no hash, path, address, version or name."""
    if len(value) < 12 or b" " in value or _entropy(value) < 3:
        return False
    if _HASH.fullmatch(value):
        return hash_is_secret
    if _SPEAKS.match(value) or _NAMES.fullmatch(value):
        return False
    kinds = [kind.search(value) is not None for kind in (_DIGIT, _LOWER, _UPPER)]
    return (kinds[0] and sum(kinds) > 1) or (all(kinds[1:]) and len(value) >= 24 and _entropy(value) > 4)


def is_user_and_password(value: bytes) -> bool:
    """Whether a value is base64 of `user:password`."""
    try:
        decoded = base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in decoded and decoded.isascii() and decoded.decode("ascii").isprintable()


def is_sentence(value: bytes) -> bool:
    """Whether a value is words that somebody is to read: `Enter your password`."""
    spaces = value.count(b" ")
    if _APP_PASSWORD.fullmatch(value):
        return False
    return spaces > 1 or (spaces == 1 and _WORDS.fullmatch(value) is not None)


def is_name_in_code(value: bytes) -> bool:
    """Whether a bare word is code: a call, an attribute, a type, a variable of the environment."""
    if _CODE.search(value) or value in _TYPES:
        return True
    return _ATTRIBUTE.fullmatch(value) is not None and not _JUMBLED.search(value)


def is_likely(value: bytes) -> bool:
    """Whether a value that only stands near a name is more than a word, a path, an address or a sentence."""
    if is_common(value) or is_sentence(value) or is_placeholder(value):
        return False
    return not (_SPEAKS.match(value) or _NAMES.fullmatch(value)) and _MIXED.search(value) is not None


def is_chosen(value: bytes) -> bool:
    """Whether a word where a password may stand is no word of the sentence: `tr0ub4dor`, and not `base64`."""
    value = _LATIN.sub(b"a", value)
    if len(value) < LEAST_CHOSEN or not value.isascii() or is_placeholder(value) or is_name_in_code(value):
        return False
    if _SPEAKS.match(value) or _TECHNICAL.search(value) or value.isdigit() or b"\\" in value:
        return False
    if _FOUR_WORDS.fullmatch(value):
        return True
    is_name = _NAMES.fullmatch(value) is not None and _SEPARATOR.search(value) is not None
    is_name = is_name and not (_ODD_CASE.search(value) and _DIGIT.search(value))
    return not is_name and _LETTER_AND_SIGN.search(value) is not None


def is_strong(value: bytes) -> bool:
    """Whether a word looks like a password by itself, where little else says that it is one."""
    if not is_chosen(value) or _NAMES.fullmatch(value) or _BINDS.search(value):
        return False
    kinds = [kind.search(value) is not None for kind in (_DIGIT, _LOWER, _UPPER, _SIGN)]
    return kinds[0] and sum(kinds) >= _KINDS


def is_phrase(value: bytes) -> bool:
    """Whether several words are no sentence: none of them is one that only grammar needs."""
    words = re.split(rb"[ ,-]+", value.strip().lower())
    return len(words) >= _KINDS and all(_PLAIN_WORD.fullmatch(word) and word not in GRAMMAR for word in words)


def _is_masked(value: bytes) -> bool:
    """Whether somebody hid most of it before us: `sk-...`, `ghp_****1a2b`. Dots in a password are no mask."""
    masks = sum(len(mask) for mask in _MASK.findall(value))
    if not masks:
        return False
    prefix = _BEFORE_MASK.match(value)
    left = len(value) - masks - (prefix.end() if prefix else 0)
    return left <= 4 or left < masks


def _entropy(value: bytes) -> float:
    size = len(value)
    return -sum(count / size * log2(count / size) for count in Counter(value).values())
