"""What tells of people rather than of systems, hidden only where that is wished: homes, names, addresses."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from geminids.sharing.redact.assignments import Secret
from geminids.sharing.redact.pieces import encode

HOME, NAMES, EMAILS = "home", "names", "emails"
EVERYTHING = (HOME, NAMES, EMAILS)

_USER = rb"(?P<user>[^/\s\"'`:;,<>|&()\[\]{}\\*?$%#!\x00-\x1f]{1,64})"
_USER_WITH_BLANK = rb"(?P<user>[^/\n ]{1,40}(?: [^/\n ]{1,40}){1,3})/[^\n]*\n(?=\x1e|\Z)"
"""This can only be told where a string is a path and nothing else."""
_HOMES = (
    (re.compile(rb"/home/" + _USER), b"/home/"),
    (re.compile(rb"/Users/" + _USER), b"/Users/"),
    (re.compile(rb"\\[Uu]sers\\{1,4}(?P<user>[^\\/:*?\"<>|\r\n]{1,64}?)(?=\\)"), b"sers\\"),
    (re.compile(rb"\\[Uu]sers\\{1,4}(?P<user>[^\\/:*?\"<>|\s']{1,64})"), b"sers\\"),
    (re.compile(rb"\\wsl(?:\$|\.localhost)\\{1,4}[^\\\s]{1,64}\\{1,4}home\\{1,4}" + _USER), b"\\wsl"),
    (re.compile(rb"\n/home/(?<![^\x1e]\n/home/)" + _USER_WITH_BLANK), b"\n/home/"),
    (re.compile(rb"\n/Users/(?<![^\x1e]\n/Users/)" + _USER_WITH_BLANK), b"\n/Users/"),
    (re.compile(rb"(?i)%2F(?:home|Users)%2F(?P<user>[A-Za-z0-9_.-]{1,64})"), b"%2"),
)
"""Where users have their homes."""
_ROOT_BEFORE = re.compile(rb"(?:/var|/export|/mnt/[a-z]|/[a-z]|[A-Za-z]:|%3A)\Z|\\\Z")
_ADDRESS = re.compile(rb"<[^<>\s@]{1,64}@")
_COMMITTER = re.compile(
    rb"(?:Author|Commit|Committer|[A-Z][a-z]+(?:-[a-z]+)?-by):[ \t]+(?P<name>[^<>\n\x1e]{2,60}?)[ \t]*\Z"
)
_SETTING = re.compile(rb"user\.name[ \t=]+[\"']?(?P<name>[^\"'\n\x1e]{2,60})")
_DOMAIN = re.compile(rb"@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,5}\.[A-Za-z]{2,24}(?![A-Za-z0-9_])")
_LOCAL_PART = re.compile(rb"[A-Za-z0-9][A-Za-z0-9_.+%-]{0,63}\Z")
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
_BETWEEN = rb"(?:[/-]|\\{1,4}|%2f)"
"""What parts the names in a path, all in small letters; a path that was made a word has a hyphen there."""
_HOME_BEFORE = re.compile(rb"(?:home|users)" + _BETWEEN + rb"\Z")
_USUAL_HOME = re.compile(rb"(?:/(?:var/|export/)?(?:home|Users)|[A-Za-z]:[\\/]+Users)[\\/]+[^\\/]")
_OWN_NAME = re.compile(rb"(?:home|Users)[\\/]+(?P<user>[^\\/]+)")
_SIGN = rb"(?:\xc2|\xe2[\x80\x81]|\xe3\x80)"
"""How quotes, dashes and dots begin that are no ASCII."""
_LETTER = rb"(?!" + _SIGN + rb")[A-Za-z0-9\x80-\xff]"
_LETTER_BEFORE = re.compile(rb"[A-Za-z0-9\x80-\xff]\Z")
_SIGN_BEFORE = re.compile(_SIGN + rb"[\x80-\xbf]\Z")
_ESCAPE_BEFORE = re.compile(
    rb"(?i)(?:\\[nrtbfv]|\\u(?P<unicode>[0-9a-f]{4})|\\x(?P<byte>[0-9a-f]{2})|%(?P<percent>[0-9a-f]{2}))\Z"
)
"""A sign as JSON, programs and addresses write it: its last letter belongs to no word."""
_LONGEST_ESCAPE = 6
_SEPARATORS = re.compile(rb"(?i)\\+|%2F")


class Known(NamedTuple):
    """Whose sessions they are, as far as that is known before any is looked at."""

    homes: tuple[bytes, ...] = ()
    """Homes in unusual places, which nothing in their paths gives away."""
    users: frozenset[bytes] = frozenset()


NOBODY = Known()


def known(homes: Iterable[str], users: Iterable[str]) -> Known:
    """What is known by the homes that sessions were read from, and by the names of users."""
    paths = [encode(home).rstrip(b"/\\") for home in homes]
    names_in_paths = [match["user"] for path in paths for match in _OWN_NAME.finditer(path)]
    return Known(
        tuple(path for path in paths if not _USUAL_HOME.match(path) and len(_folders(path)) > 1),
        frozenset(user for user in (*names_in_paths, *map(encode, users)) if user and _is_user(user)),
    )


def found(text: bytes, hide: Collection[str], known: Known) -> list[Secret]:
    """What tells of people in a text, of the kinds that are to be hidden."""
    secrets: list[Secret] = []
    if HOME in hide or NAMES in hide:
        in_paths = list(homes(text))
        users = known.users | {text[home.start : home.end] for home in in_paths}
        small = text.lower()
        if HOME in hide:
            secrets += in_paths
            secrets += homes_of(small, users)
            secrets += (home for path in known.homes for home in known_homes(small, path))
        if NAMES in hide:
            secrets += names(text, small, users)
    if EMAILS in hide:
        secrets += emails(text)
    return secrets


def plain(home: bytes) -> bytes:
    """A path as all systems and addresses could write it."""
    return _SEPARATORS.sub(b"/", home)


def homes(text: bytes) -> Iterator[Secret]:
    """The names of users in the paths of their homes."""
    for pattern, start in _HOMES:
        if start in text:
            yield from (
                Secret(*match.span("user"), "home")
                for match in pattern.finditer(text)
                if _is_user(match["user"]) and _begins_path(text, match.start())
            )


def homes_of(small: bytes, users: Collection[bytes]) -> Iterator[Secret]:
    """The same names in other paths, and where a path was made a word: `-home-ada-shop`."""
    for user in users:
        for start, end in _whole_words(small, user.lower(), rb"[a-z0-9]"):
            if _HOME_BEFORE.search(small, max(start - 12, 0), start):
                yield Secret(start, end, "home")


def known_homes(small: bytes, path: bytes) -> Iterator[Secret]:
    """A home in an unusual place: all of its path, but not the root before it."""
    *folders, last = _folders(path.lower())
    before = re.compile(rb"".join(re.escape(folder) + _BETWEEN for folder in folders) + rb"\Z")
    for start, end in _whole_words(small, last, rb"[a-z0-9_]"):
        if match := before.search(small, max(start - 4 * len(path), 0), start):
            yield Secret(match.start(), end, "home")


def names(text: bytes, small: bytes, users: Collection[bytes]) -> Iterator[Secret]:
    """The names of users, in large letters and small, and of those who commit, as whole words."""
    committers: set[bytes] = set()
    for match in _committers(text):
        committers |= _parts_of_name(match["name"].strip(b" \t\"'"))
    for searched, wanted in ((small, {user.lower() for user in users if len(user) >= 3}), (text, committers)):
        for name in wanted:
            for start, end in _whole_words(searched, name, _LETTER):
                if not _is_inside_word(searched, start):
                    yield Secret(start, end, "name")


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
    return (
        not re.search(rb"[A-Za-z0-9_.~-]\Z", before)
        or _ROOT_BEFORE.search(before) is not None
        or _ends_escape(text, start)
    )


def _is_inside_word(text: bytes, start: int) -> bool:
    """Whether a letter stands before it, and not only one of a sign that was written out."""
    return (
        _LETTER_BEFORE.search(text, max(start - 1, 0), start) is not None
        and not _SIGN_BEFORE.search(text, max(start - 3, 0), start)
        and not _ends_escape(text, start)
    )


def _ends_escape(text: bytes, place: int) -> bool:
    """Whether a sign that was written out ends here, and is no letter itself: a line end, `%20`."""
    escape = _ESCAPE_BEFORE.search(text, max(place - _LONGEST_ESCAPE, 0), place)
    if escape is None:
        return False
    code = escape["unicode"] or escape["byte"] or escape["percent"]
    return code is None or not chr(int(code, 16)).isalnum()


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


def _whole_words(text: bytes, word: bytes, letter: bytes) -> Iterator[tuple[int, int]]:
    """Where a word stands behind which none of these letters goes on."""
    goes_on = re.compile(letter)
    start = 0
    while (start := text.find(word, start)) != -1:
        end = start + len(word)
        if not goes_on.match(text, end):
            yield start, end
        start = end


def _folders(path: bytes) -> list[bytes]:
    """The names in a path, without the root and the letter of a drive."""
    return [folder for folder in re.split(rb"[\\/]+", path) if folder and not folder.endswith(b":")]


def _is_no_domain(domain: bytes) -> bool:
    labels = domain.split(b".")
    return (
        labels[-1] in _ENDINGS_OF_FILES
        or domain.startswith(b"example.")
        or b".example" in domain
        or labels[-1] in (b"local", b"test", b"invalid", b"localhost")
    )
