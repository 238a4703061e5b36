"""What tells of people rather than of systems, hidden only where that is wished: homes, names, addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from geminids.redact.assignments import Secret

HOME, NAMES, EMAILS = "home", "names", "emails"
EVERYTHING = (HOME, NAMES, EMAILS)


def homes(text: bytes) -> Iterator[Secret]:
    """The names of users in the paths of their homes."""
    for pattern, start in _HOMES:
        if start in text:
            yield from (
                Secret(*match.span("user"), "home")
                for match in pattern.finditer(text)
                if _is_user(match["user"]) and _begins_path(text, match.start())
            )


def homes_in_slugs(text: bytes, users: set[bytes]) -> Iterator[Secret]:
    """The same names where a path was made a word: `-home-ada-shop`."""
    for user in users:
        for match in re.finditer(
            rb"-(?:home|Users)-(?P<user>" + re.escape(user) + rb")(?![A-Za-z0-9])", text
        ):
            yield Secret(*match.span("user"), "home")


def names(text: bytes, users: set[bytes]) -> Iterator[Secret]:
    """The names of users and of those who commit, as whole words."""
    known = {user for user in users if len(user) >= 3}
    for match in _committers(text):
        known |= _parts_of_name(match["name"].strip(b" \t\"'"))
    for name in known:
        yield from _words(text, name)


def emails(text: bytes) -> Iterator[Secret]:
    """E-mail addresses, but neither those of examples nor what only looks like one."""
    for match in _DOMAIN.finditer(text):
        before = text[max(match.start() - 65, 0) : match.start()]
        local = _LOCAL_PART.search(before)
        if local is None or local[0] in _NO_PERSON or _is_no_domain(match[0][1:].lower()):
            continue
        start = match.start() - len(local[0])
        if text[max(start - 1, 0) : start] not in _IN_ADDRESS:
            yield Secret(start, match.end(), "email")


def _is_user(name: bytes) -> bool:
    return name not in _NOBODY and not _HIDDEN.fullmatch(name) and not name.startswith(b".")


def _begins_path(text: bytes, start: int) -> bool:
    """Whether a path begins here, and not in the middle of another one or of an address."""
    before = text[max(start - 12, 0) : start]
    return not re.search(rb"[A-Za-z0-9_.~-]$", before) or _ROOT_BEFORE.search(before) is not None


def _parts_of_name(name: bytes) -> set[bytes]:
    parts = {part for part in name.split() if len(part) >= 3}
    return {
        part
        for part in {name, *parts}
        if 3 <= len(part) <= 60 and not _HIDDEN.search(part) and part not in _NOBODY
    }


def _committers(text: bytes) -> Iterator[re.Match[bytes]]:
    yield from _SETTING.finditer(text)
    for address in _ADDRESS.finditer(text):
        line_start = text.rfind(b"\n", 0, address.start()) + 1
        if match := _COMMITTER.search(text, max(line_start, address.start() - 120), address.start()):
            yield match


def _words(text: bytes, name: bytes) -> Iterator[Secret]:
    start = 0
    while (start := text.find(name, start)) != -1:
        end = start + len(name)
        around = text[max(start - 1, 0) : start] + b" " + text[end : end + 1]
        if not re.search(rb"[A-Za-z0-9\x80-\xff]", around):
            yield Secret(start, end, "name")
        start = end


def _is_no_domain(domain: bytes) -> bool:
    labels = domain.split(b".")
    return (
        labels[-1] in _ENDINGS_OF_FILES
        or domain.startswith(b"example.")
        or b".example" in domain
        or labels[-1] in (b"local", b"test", b"invalid", b"localhost")
    )


_USER = rb"(?P<user>[^/\s\"'`:;,<>|&()\[\]{}\\*?$%#!\x00-\x1f]{1,64})"
_HOMES = (
    (re.compile(rb"/home/" + _USER), b"/home/"),
    (re.compile(rb"/Users/" + _USER), b"/Users/"),
    (re.compile(rb"\\Users\\{1,4}(?P<user>[^\\/:*?\"<>|\r\n]{1,64}?)(?=\\)"), b"\\Users"),
    (re.compile(rb"\\Users\\{1,4}(?P<user>[^\\/:*?\"<>|\s']{1,64})"), b"\\Users"),
    (re.compile(rb"(?i)%2F(?:home|Users)%2F(?P<user>[A-Za-z0-9_.-]{1,64})"), b"%2"),
)
_ROOT_BEFORE = re.compile(rb"(?:/var|/export|/mnt/[a-z]|/[a-z]|[A-Za-z]:|%3A)$|\\$")
_ADDRESS = re.compile(rb"<[^<>\s@]{1,64}@")
_COMMITTER = re.compile(
    rb"(?:Author|Commit|Committer|[A-Z][a-z]+(?:-[a-z]+)?-by):[ \t]+(?P<name>[^<>\n\x1e]{2,60}?)[ \t]*\Z"
)
_SETTING = re.compile(rb"user\.name[ \t=]+[\"']?(?P<name>[^\"'\n\x1e]{2,60})")
_DOMAIN = re.compile(rb"@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,24}(?![A-Za-z0-9_])")
_LOCAL_PART = re.compile(rb"[A-Za-z0-9][A-Za-z0-9_.+%-]{0,63}$")
_IN_ADDRESS = (b":", b"/", b"@")
_HIDDEN = re.compile(rb"user-[0-9a-f]{6}")
_NOBODY = frozenset(
    b"root user users username you me node ubuntu debian admin runner runneradmin vscode codespace app "
    b"ec2-user shared Shared public Public default Default guest Guest linuxbrew jovyan circleci jenkins "
    b"nobody www-data coder gitpod sandbox dev build test All name home".split()
)
"""Users of machines rather than people."""
_NO_PERSON = frozenset((b"git", b"noreply", b"no-reply", b"npm", b"hg", b"svn"))
_ENDINGS_OF_FILES = frozenset(
    b"png jpg jpeg gif svg webp ico js mjs cjs ts tsx jsx css scss py rb go rs java html json yaml yml md "
    b"txt toml lock map exe dll zip gz service target timer socket".split()
)
