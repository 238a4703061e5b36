"""What looks for secrets: the engine with all its rules and ours, or ours alone.

The engine is kingfisher (the extra `redact`). It is only ever asked to scan, which it does in
this process and without a network. What it compiles of the rules it keeps, because that takes seconds: in the
folder that `KF_RULE_CACHE_DIR` names, else in the one that we give it, else in its own, always for this user
alone. If the engine is there and does not work, nothing is redacted by halves: that is an error.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from geminids.core.atomic_files import temporary_folder
from geminids.core.errors import RedactionError
from geminids.sharing.redact.assignments import Match, Secret
from geminids.sharing.redact.pieces import SEPARATOR
from geminids.sharing.redact.plausibility import is_placeholder
from geminids.sharing.redact.rules import OURS, Rule

if TYPE_CHECKING:
    from kingfisher_sdk import Finding, Scanner

_OURS = "geminids."
_CACHE = "KF_RULE_CACHE_DIR"
_MOST_AT_ONCE, _BEFORE = 2_000_000, 20_000
"""Bytes that the engine is asked about at once, and those before them that it sees."""
_GROUP_NAME = re.compile(r"\(\?P<[a-z]+>")
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
_NO_SECRET = re.compile(
    r"(?:-id|name|host|domain|address|public-key|pub-key|repository|(?:jfrog|instance|project|rest)-url)(?:\.\d+)?$"
    r"|credential-uri$|curl-auth-user$"
)
"""The engine also finds what belongs to a secret, such as the name of an account. What it finds in addresses
and in calls of curl we find too, without the user."""


class Engine(Protocol):
    """Something that finds secrets."""

    is_reduced: bool
    name: str
    """Itself and its version, for documents."""

    def scan(self, text: bytes) -> list[Secret]:
        """Where secrets stand. They may overlap."""
        ...


class OurRules:
    """The reduced set: our own rules and nothing else."""

    is_reduced = True
    name = "a reduced set of rules"

    def scan(self, text: bytes) -> list[Secret]:
        """Search for each rule of which a word is there at all."""
        searched = _Searched(text)
        return [secret for rule in OURS for secret in _secrets_of_rule(rule, searched.matches(rule))]


def _secrets_of_rule(rule: Rule, matches: Iterable[Match]) -> Iterator[Secret]:
    """The secrets in matches that stand in their order; what begins inside of a secret is hidden with it."""
    end = 0
    for match in matches:
        for secret in rule.secrets(match) if match.start() >= end else ():
            end = max(end, secret.end)
            yield secret


class _Searched:
    """A text, and what is known of it: looking for words is much quicker than looking for patterns."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._small = text.lower()
        self._words = frozenset(self._small.translate(_WORDS_APART).split())
        self._signs = frozenset(text.translate(None, _ASCII)) if not text.isascii() else frozenset()
        self._places: dict[bytes, list[int]] = {}
        self._sorted: dict[tuple[bytes, ...], list[int]] = {}

    def matches(self, rule: Rule) -> Iterator[Match]:
        """Where a rule matches."""
        keywords = (*rule.keywords, *(word for word in rule.words if self._has(word)))
        if not rule.begins:
            if any(keyword in self._small for keyword in keywords):
                yield from rule.pattern.finditer(self._text)
            return
        end = 0
        for start in self._starts_of_any(keywords):
            if start >= end and (match := rule.pattern.match(self._text, start)):
                end = match.end()
                yield match

    def _has(self, word: bytes) -> bool:
        """Whether a word is there; of other scripts, in which words stand together, only its letters."""
        if word.isascii():
            return word in self._words
        return all(byte in self._signs for byte in word if byte >= _FIRST_SIGN)

    def _starts(self, keyword: bytes) -> list[int]:
        places = self._places.get(keyword)
        if places is None:
            places = self._places[keyword] = list(_starts(keyword, self._small))
        return places

    def _starts_of_any(self, keywords: tuple[bytes, ...]) -> list[int]:
        """Where any of them stands; several rules begin with the same."""
        places = self._sorted.get(keywords)
        if places is None:
            found = {start for keyword in keywords for start in self._starts(keyword)}
            places = self._sorted[keywords] = sorted(found)
        return places


_FIRST_SIGN = 0x80
_ASCII = bytes(range(_FIRST_SIGN))
_WORDS_APART = bytes(
    byte if (chr(byte).isalnum() and byte < _FIRST_SIGN) or byte >= _FIRST_SIGN else ord(" ")
    for byte in range(256)
)


def _starts(keyword: bytes, text: bytes) -> Iterator[int]:
    start = text.find(keyword)
    while start != -1:
        yield start
        start = text.find(keyword, start + 1)


class Kingfisher:
    """The engine with its own rules and ours."""

    is_reduced = False

    def __init__(self, cache_folder: Path | None) -> None:
        with _trouble("cannot be started"):
            import kingfisher_sdk

            self.name = f"kingfisher {kingfisher_sdk.__version__} and built-in rules"
        self._scanner = _scanner(OURS, cache_folder)
        self._check()

    def scan(self, text: bytes) -> list[Secret]:
        """Let the engine search, and look ourselves at what it found by our rules."""
        secrets: list[Secret] = []
        starts: dict[int, set[int]] = defaultdict(set)
        for block in _blocks(text):
            for finding, start, end in self._found(text, block):
                if finding.rule_id.startswith(_OURS) and not finding.is_base64_encoded:
                    starts[_number(finding)].add(start)
                else:
                    secrets += _secrets(finding, text, start, end)
        for number, places in starts.items():
            matches = (OURS[number].pattern.match(text, start) for start in sorted(places))
            secrets += _secrets_of_rule(OURS[number], filter(None, matches))
        return secrets

    def _found(self, text: bytes, block: _Block) -> Iterator[tuple[Finding, int, int]]:
        """What the engine finds that begins in a block, and where it begins and ends."""
        # With enough zeros among its bytes the engine would take a text for UTF-16 and count differently.
        seen = text[block.seen_from : block.end + 1].replace(b"\0", b"\1")
        with _trouble("failed"):
            found = self._scanner.scan(seen)
        for finding in found:
            place = finding.location
            start, end = block.seen_from + place["start_offset"], block.seen_from + place["end_offset"]
            if block.start <= start < block.end:
                yield finding, start, end

    def _check(self) -> None:
        """Scan something that both must find. An engine that finds nothing would be the worst of all."""
        token = b"glpat-" + b"x7Kq2mV9" * 3
        words = (
            b"\nsendgrid SG." + b"ngeVfQFY29" * 2 + b"ab." + b"TpXhC8sJw4" * 4 + b"xyz\nuse " + token + b"\n"
        )
        found = {words[secret.start : secret.end][:3] for secret in self.scan(words)}
        if found != {b"SG.", b"glp"}:
            raise RedactionError("the engine does not find what it must find")


class _Block(NamedTuple):
    """A part of a text, and from where on the engine sees it."""

    seen_from: int
    start: int
    end: int


def _blocks(text: bytes) -> Iterator[_Block]:
    """A text in parts of whole strings: what the engine takes of memory grows with what it sees at once.

    It sees strings before each of them, too: a name stands before its value.
    """
    start = 0
    while start < len(text):
        parted = text.find(SEPARATOR, start + _MOST_AT_ONCE)
        end = len(text) if parted < 0 else parted + len(SEPARATOR) - 1
        yield _Block(max(0, text.rfind(SEPARATOR, 0, max(0, start - _BEFORE))), start, end)
        start = end


def load_engine(wanted: str | None, cache_folder: Path | None) -> Engine:
    """The engine that is asked for; if none is, the better one that is installed."""
    match wanted:
        case "reduced":
            return OurRules()
        case "full":
            return Kingfisher(cache_folder)
        case _:
            return Kingfisher(cache_folder) if is_installed() else OurRules()


def is_installed() -> bool:
    """Whether the full engine is there."""
    from importlib.util import find_spec

    return find_spec("kingfisher_sdk") is not None


def _scanner(rules: Sequence[Rule], cache_folder: Path | None) -> Scanner:
    if _CACHE in os.environ:
        cache_folder = None
    if cache_folder:
        with suppress(OSError):  # Without a place to keep it, it is compiled again each time.
            cache_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        with temporary_folder() as folder:
            file = Path(folder, "rules.yml")
            file.write_bytes(rule_file(rules))
            return _started(file, cache_folder)
    except OSError as error:
        raise RedactionError(f"the rules for the engine cannot be written ({_message(error)})") from error


def _started(rule_file: Path, cache_folder: Path | None) -> Scanner:
    with _trouble("cannot be started"):
        from kingfisher_sdk import Rules, Scanner

        return Scanner(Rules([rule_file], cache_dir=cache_folder))


def rule_file(rules: Sequence[Rule]) -> bytes:
    """Our rules as the engine reads them: YAML, of which JSON is a part."""
    return json.dumps(
        {
            "rules": [
                {
                    "name": rule.name,
                    "id": f"{_OURS}{number}",
                    # Without groups the engine gives the place of the whole match, where we look again.
                    "pattern": _GROUP_NAME.sub("(?:", rule.pattern.pattern.decode("ascii")),
                    "confidence": "medium",
                    "min_entropy": 0.0,
                }
                for number, rule in enumerate(rules)
            ]
        }
    ).encode()


def _number(finding: Finding) -> int:
    """Which of our rules it was."""
    return int(finding.rule_id.removeprefix(_OURS))


def _secrets(finding: Finding, text: bytes, start: int, end: int) -> Iterator[Secret]:
    """What the engine found by its own rules, or in something that it decoded."""
    rule = finding.rule_id
    if finding.is_base64_encoded:
        if not rule.startswith(_OURS) or _is_secret_inside(OURS[_number(finding)], text[start:end]):
            yield Secret(start, end, "base64")
    elif not (_NO_SECRET.search(rule) or is_placeholder(text[start:end])):
        yield Secret(start, end, _label(rule))


def _is_secret_inside(rule: Rule, encoded: bytes) -> bool:
    """Whether what the engine decoded is a secret by our rule."""
    padded = encoded.rstrip(b"=") + b"=" * (-len(encoded.rstrip(b"=")) % 4)
    decoded = base64.b64decode(padded.translate(_URL_SAFE))
    return any(list(rule.secrets(match)) for match in rule.pattern.finditer(decoded))


def _label(rule: str) -> str:
    """`betterleaks.github-pat` and `veles.secrets/x` as one word."""
    return re.sub(r"\.\d+$", "", rule).replace("/", ".").rpartition(".")[2]


@contextmanager
def _trouble(what: str) -> Iterator[None]:
    """Whatever goes wrong in a call of the engine is one error of ours.

    This is as broad as can be because the engine is a library of machine code that does not say what it
    raises: its import may end with anything, even an exit, and its panics are no usual exceptions. An error
    that we did not think of must not become a session that nobody looked at.
    """
    try:
        yield
    except (Exception, SystemExit) as error:
        raise RedactionError(f"the engine {what} ({_message(error)})") from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise RedactionError(f"the engine {what} ({_message(error)})") from error
        raise


def _message(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
