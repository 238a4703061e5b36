"""From what was found to what is written instead.

What was found in one place is looked for everywhere in the session, also in the forms it takes inside of
JSON, of addresses and of base64. Places that overlap become one.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import quote

from geminids.sharing.redact import people
from geminids.sharing.redact.answers import answered, given_to_tool
from geminids.sharing.redact.assignments import Secret, in_named
from geminids.sharing.redact.continued import continuations
from geminids.sharing.redact.engines import Engine
from geminids.sharing.redact.names import pieces_changed
from geminids.sharing.redact.pieces import Pieces, decode, encode, shown
from geminids.sharing.redact.plausibility import LEAST_EVERYWHERE, is_common
from geminids.sharing.redact.pseudonyms import OURS, Pseudonyms
from geminids.sharing.redact.rules import CONTEXTS, TOKENS

_LEAST_INSIDE = 16
"""Bytes of a value that is hidden also inside of a longer word."""
_MANY = 600
"""Values, from which on going through a text by hand is quicker than looking for each of them."""
_LETTERS = re.compile(rb"[A-Za-z0-9]")
_NUMBER = re.compile(rb"^[ \t]*\d{1,6}(?:[ \t]*[|:]|\t|\\t)[ \t]*")
"""Of a line, as `cat -n` and others print it."""
_KEY_LETTERS = re.compile(rb"[A-Za-z0-9+/=]{40,}$")

_RANKS = {rule.name: 2 for rule in CONTEXTS} | dict.fromkeys(
    ("api-key", "token", "secret", "authorization", "cookie", "credential", "key"), 2
)
_RANKS |= {rule.name: 0 for rule in TOKENS} | dict.fromkeys(("private-key", "aws-secret-key"), 0)
_OF_PEOPLE = 3
_RANKS |= dict.fromkeys(("home", "name", "email", "project-hash"), _OF_PEOPLE)


class Hidden(NamedTuple):
    """Something that was hidden: what found it, and what it was."""

    rule: str
    value: bytes


class Change(NamedTuple):
    """A string without what was hidden in it."""

    text: str
    hidden: tuple[Hidden, ...]
    """One for each place."""


class Changes(NamedTuple):
    """All strings of a session that have to be written differently."""

    strings: dict[str, Change]
    named: dict[tuple[str, str], Change]
    """By a key and its value: these are hidden because of the key."""
    structure: dict[str, Change]
    """The strings where they say what something is: there the words are not about people, and stay."""

    def __bool__(self) -> bool:
        return bool(self.strings or self.named)

    def written(self, key: str, value: str) -> tuple[str, str]:
        """A key and its value as they are written now."""
        change = self.named.get((key, value)) or self.strings.get(value)
        return (pieces_changed(key, self._string), change.text if change else value)

    def _string(self, text: str) -> str:
        change = self.strings.get(text)
        return change.text if change else text


class _Span(NamedTuple):
    start: int
    end: int
    hidden: Hidden


_NO_ANSWERS: Mapping[str, str] = MappingProxyType({})


def changes(
    strings: Collection[str],
    named: Collection[tuple[str, str]],
    project_hash: str | None,
    *,
    engine: Engine,
    pseudonyms: Pseudonyms,
    hide: Collection[str],
    known: people.Known = people.NOBODY,
    answers: Mapping[str, str] = _NO_ANSWERS,
    named_tools: Mapping[str, str] = _NO_ANSWERS,
) -> Changes:
    """What has to be written differently, of the strings of one session."""
    pieces = Pieces(strings)
    found = _found(pieces, engine)
    found += _answered(pieces, answers, answered)
    found += _answered(pieces, named_tools, given_to_tool)
    by_name = {pair: secrets for pair in named if (secrets := in_named(pair[0], encode(pair[1])))}
    meant = _meant(pieces, found, by_name)
    found += _elsewhere(pieces.text, meant)
    found += people.found(pieces.text, hide, known)
    if people.HOME in hide and project_hash and not pseudonyms.is_ours(encode(project_hash)):
        found += _occurrences(pieces.text, encode(project_hash), "project-hash")
    writing = _Writing(pseudonyms, meant)
    spans = _spans(pieces, found, writing)
    strings = _changed_strings(pieces, spans, writing)
    return Changes(
        strings,
        {
            pair: change
            for pair, secrets in by_name.items()
            if (change := writing.named_change(pair[1], secrets))
        },
        _changed_strings(pieces, _without_people(spans), writing) if hide else strings,
    )


def _changed_strings(pieces: Pieces, spans: dict[int, list[_Span]], writing: _Writing) -> dict[str, Change]:
    return {
        pieces.strings[piece]: change
        for piece, places in spans.items()
        if (change := writing.change(encode(pieces.strings[piece]), places))
    }


def _without_people(spans: dict[int, list[_Span]]) -> dict[int, list[_Span]]:
    return {
        piece: [span for span in places if not _is_of_people(span.hidden)] for piece, places in spans.items()
    }


def _found(pieces: Pieces, engine: Engine) -> list[Secret]:
    """What the engine finds. What goes over several strings may cover something: these are searched alone."""
    found: list[Secret] = []
    again: dict[int, bytes] = {}
    for secret in engine.scan(pieces.text):
        if pieces.place(secret.start, secret.end):
            found.append(secret)
        else:
            again |= dict(pieces.touched(secret.start, secret.end))
    for start, piece in again.items():
        alone = engine.scan(b"\n" + piece + b"\n")
        found += [
            Secret(start + secret.start - 1, start + secret.end - 1, secret.rule)
            for secret in alone
            if secret.start >= 1 and secret.end <= len(piece) + 1
        ]
    found += [*continuations(pieces.text, set(found))]
    return [secret for secret in found if not _is_ours(pieces.text[secret.start : secret.end])]


def _answered(
    pieces: Pieces, asked: Mapping[str, str], find: Callable[[bytes, str], Iterable[Secret]]
) -> list[Secret]:
    """The secrets in texts that answer a question, each by what was asked for."""
    if not asked:
        return []
    found = [
        Secret(pieces.start_of(piece) + secret.start, pieces.start_of(piece) + secret.end, secret.rule)
        for piece, string in enumerate(pieces.strings)
        if string in asked
        for secret in find(encode(string), asked[string])
    ]
    return [secret for secret in found if not _is_ours(pieces.text[secret.start : secret.end])]


def _is_ours(value: bytes) -> bool:
    """Whether nothing is left to hide: our own words, and signs around them."""
    return OURS.search(value) is not None and not _LETTERS.search(OURS.sub(b"", value))


def _meant(
    pieces: Pieces, found: Iterable[Secret], by_name: dict[tuple[str, str], list[Secret]]
) -> dict[bytes, Hidden]:
    """What the bytes stand for that were found, in every form that they can take."""
    rules: dict[bytes, str] = {}
    for secret in found:
        _keep_better(rules, pieces.text[secret.start : secret.end], secret.rule)
    for (_, written), secrets in by_name.items():
        for secret in secrets:
            _keep_better(rules, encode(written)[secret.start : secret.end], secret.rule)
    meant: dict[bytes, Hidden] = {}
    for value, rule in rules.items():
        hidden = Hidden(rule, _plain(rule, value))
        for form in _forms(rule, value):
            if form == value or form not in rules:
                meant[form] = hidden
    return meant


def _keep_better(rules: dict[bytes, str], value: bytes, rule: str) -> None:
    if value not in rules or (_rank(rule), rule) < (_rank(rules[value]), rules[value]):
        rules[value] = rule


def _rank(rule: str) -> int:
    """What a secret is called by: what it begins with says most, what stands around it least."""
    return _RANKS.get(rule, 1)


def _plain(rule: str, value: bytes) -> bytes:
    """A value without how it was written, so that it is the same wherever it stands."""
    value = shown(value) or value
    if rule == "private-key":
        return b"\n".join(_key_lines(value)) or value
    if b"\\" in value:
        try:
            return encode(json.loads(b'"' + value + b'"'))
        except ValueError:
            return value
    return value


def _forms(rule: str, value: bytes) -> Iterator[bytes]:
    yield value
    if rule == "private-key":
        yield from (line for line in _key_lines(value) if len(line) >= 24)
        return
    plain = _plain(rule, value)
    yield plain
    if b"\n" in plain or len(plain) < 8:
        return
    words = decode(plain)
    yield encode(json.dumps(words)[1:-1])
    yield encode(json.dumps(words, ensure_ascii=False)[1:-1])
    yield quote(plain, safe="").encode()
    yield b64encode(plain).rstrip(b"=")


def _key_lines(key: bytes) -> list[bytes]:
    """The lines of a private key between its ends, without what a diff or a program put around them."""
    lines = [_NUMBER.sub(b"", line) for line in re.split(rb"(?:\\[nr]|[\r\n])+", key)]
    inner = [line for line in lines if line.strip() and b"-----" not in line]
    for sign in (b"+", b"-", b" "):
        if all(line.startswith(sign) for line in inner):
            inner = [line[1:] for line in inner]
    found = [(_KEY_LETTERS.search(line), line) for line in inner]
    return [letters[0] if letters else line.strip(b" \t\"'|>,;\\") for letters, line in found]


def _elsewhere(text: bytes, meant: dict[bytes, Hidden]) -> list[Secret]:
    """Where else the same bytes stand; short ones count as whole words, and words do not count."""
    rules = {value: hidden.rule for value, hidden in meant.items() if not is_common(value)}
    if len(rules) > _MANY:
        found = _occurrences_of_many(text, rules)
    else:
        found = chain.from_iterable(_occurrences(text, value, rule) for value, rule in rules.items())
    return [
        secret
        for secret in found
        if secret.end - secret.start >= _LEAST_INSIDE or _is_whole(text, secret.start, secret.end)
    ]


def _occurrences(text: bytes, value: bytes, rule: str) -> Iterator[Secret]:
    start = 0
    while (start := text.find(value, start)) != -1:
        yield Secret(start, start + len(value), rule)
        start += len(value)


def _occurrences_of_many(text: bytes, rules: dict[bytes, str]) -> Iterator[Secret]:
    """The same for many values, going through the text once."""
    by_start: dict[bytes, list[bytes]] = defaultdict(list)
    for value in rules:
        by_start[value[:LEAST_EVERYWHERE]].append(value)
    for start in range(len(text) - LEAST_EVERYWHERE + 1):
        for value in by_start.get(text[start : start + LEAST_EVERYWHERE], ()):
            if text.startswith(value, start):
                yield Secret(start, start + len(value), rules[value])


def _is_whole(text: bytes, start: int, end: int) -> bool:
    return not (text[start - 1 : start].isalnum() and text[start : start + 1].isalnum()) and not (
        text[end - 1 : end].isalnum() and text[end : end + 1].isalnum()
    )


def _spans(pieces: Pieces, found: Iterable[Secret], writing: _Writing) -> dict[int, list[_Span]]:
    spans: dict[int, list[_Span]] = defaultdict(list)
    for secret in set(found):
        if place := pieces.place(secret.start, secret.end):
            value = pieces.text[secret.start : secret.end]
            spans[place.piece].append(_Span(place.start, place.end, writing.hidden(secret.rule, value)))
    return spans


def _order(span: _Span) -> tuple[int, int, int, str]:
    """Where they begin; of those that begin alike the longest first, then what says most."""
    return (span.start, -span.end, _rank(span.hidden.rule), span.hidden.rule)


def _around_ours(written: bytes, spans: Iterable[_Span]) -> Iterator[_Span]:
    """The places without those inside of our own words; what reaches into these takes them whole."""
    ours = [match.span() for match in OURS.finditer(written)]
    starts = [start for start, _ in ours]
    for span in spans:
        touched = ours[max(bisect_right(starts, span.start) - 1, 0) : bisect_left(starts, span.end)]
        touched = [(start, end) for start, end in touched if end > span.start]
        if not touched:
            yield span
        elif span.start < touched[0][0] or span.end > touched[-1][1]:
            start, end = min(span.start, touched[0][0]), max(span.end, touched[-1][1])
            yield _Span(start, end, Hidden(span.hidden.rule, written[start:end]))


def _is_of_people(hidden: Hidden) -> bool:
    return _rank(hidden.rule) == _OF_PEOPLE


class _Writing:
    """How strings are written without what is hidden in them."""

    def __init__(self, pseudonyms: Pseudonyms, meant: dict[bytes, Hidden]) -> None:
        self._pseudonyms = pseudonyms
        self._meant = meant

    def hidden(self, rule: str, value: bytes) -> Hidden:
        """What is hidden where a rule found something."""
        meant = self._meant.get(value)
        if rule == "home":
            value = people.plain(value)
        found = Hidden(rule, value)
        return found if meant is None or _is_of_people(found) else meant

    def change(self, written: bytes, spans: Iterable[_Span]) -> Change | None:
        """A string with all of these places hidden; None if there are none."""
        parts, hidden, end = [], [], 0
        for span in self._joined(written, _around_ours(written, spans)):
            parts += [written[end : span.start], self._pseudonyms.of(*span.hidden)]
            hidden.append(span.hidden)
            end = span.end
        if not hidden:
            return None
        return Change(decode(b"".join([*parts, written[end:]])), tuple(hidden))

    def named_change(self, written: str, secrets: Iterable[Secret]) -> Change | None:
        """A value that is hidden because of its key."""
        value = encode(written)
        spans = [
            _Span(secret.start, secret.end, self.hidden(secret.rule, value[secret.start : secret.end]))
            for secret in secrets
        ]
        return self.change(value, spans)

    def _joined(self, written: bytes, spans: Iterable[_Span]) -> list[_Span]:
        """The places in their order; what overlaps is one, called by what covers it best."""
        joined: list[_Span] = []
        for span in sorted(spans, key=_order):
            if joined and span.start < joined[-1].end:
                joined[-1] = self._both(written, joined[-1], span)
            else:
                joined.append(span)
        return joined

    def _both(self, written: bytes, first: _Span, second: _Span) -> _Span:
        if second.end <= first.end:
            return first
        longer = max(first, second, key=lambda span: (not _is_of_people(span.hidden), span.end - span.start))
        value = written[first.start : second.end]
        return _Span(first.start, second.end, Hidden(longer.hidden.rule, value))
