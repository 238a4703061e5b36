"""Finding and replacing secrets, reviewably.

    redactor = Redactor(load_key(folder))
    redacted = redactor.redact(session)
    redacted.session    # the same session, with every secret replaced
    redacted.findings   # what was hidden, where, and by which rule

A session is gone through whole (`walk.py`), its strings are searched at once (`engines.py`: the rules of
the engine and ours, `rules.py`), and what was found is hidden everywhere in it (`replacement.py`). If that
cannot be done as it should, an error says so, and nobody gets anything.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from geminids.core.errors import NothingToHideError, RedactionError
from geminids.core.model import Session
from geminids.sharing.redact import people
from geminids.sharing.redact.engines import load_engine
from geminids.sharing.redact.pieces import decode
from geminids.sharing.redact.pseudonyms import Pseudonyms, load_key
from geminids.sharing.redact.replacement import Changes, Hidden, changes
from geminids.sharing.redact.rules import kind
from geminids.sharing.redact.walk import LEFT_OUT, TOO_DEEP, FoundAt, Gathered, Rewriter, Whole

__all__ = ["CAN_BE_HIDDEN", "Finding", "FoundAt", "Redacted", "Redactor", "load_key"]

_MOST_ROUNDS = 5

CAN_BE_HIDDEN = people.EVERYTHING
"""What is hidden besides secrets, if that is wished."""
_IN_WORDS = {"home": "homes", "names": "names", "emails": "e-mail addresses"}


class Finding(msgspec.Struct, frozen=True):
    """Something that is hidden: the same wherever it stands in the session."""

    rule: str
    kind: str
    """What the rule finds, in words."""
    preview: str
    """So little of it that it can be recognised and not used."""
    replacement: str
    count: int
    """In how many places."""
    places: tuple[FoundAt, ...]
    """The places, each named once."""


class Redacted(msgspec.Struct, frozen=True):
    """A session in which everything that should be is hidden."""

    session: Session
    findings: tuple[Finding, ...]
    """In the order in which they are met."""


class _MadeOf(NamedTuple):
    """All that a redactor was made of."""

    key: bytes
    hide: tuple[str, ...]
    homes: tuple[str, ...]
    users: tuple[str, ...]
    engine: Literal["full", "reduced"] | None
    keep_attachments: bool
    cache_folder: Path | None


class Redactor:
    """Hides secrets in sessions: with one key, the same secret is always replaced by the same words."""

    def __init__(
        self,
        key: bytes,
        *,
        hide: Collection[str] = frozenset(),
        homes: Collection[str] = (),
        users: Collection[str] = (),
        engine: Literal["full", "reduced"] | None = None,
        keep_attachments: bool = False,
        cache_folder: Path | None = None,
    ) -> None:
        """Start the engine; if it cannot run as asked, that is an error here, before anything is written.

        `hide` may name what tells of people: "home", "names", "emails"; `homes` are folders that are known to
        be homes wherever they lie, and `users` their names. Without an `engine` the full one is taken if it
        is installed. What it compiles of its rules is kept in `cache_folder`, else where it usually keeps it.
        """
        self._made_of = _MadeOf(
            key, tuple(hide), tuple(homes), tuple(users), engine, keep_attachments, cache_folder
        )
        for wanted in hide:
            if wanted not in CAN_BE_HIDDEN:
                raise NothingToHideError(wanted, CAN_BE_HIDDEN)
        self._hide = frozenset(hide)
        self._known = people.known(homes, users)
        self._pseudonyms = Pseudonyms(key)
        self._engine = load_engine(engine, cache_folder)
        self._keep_attachments = keep_attachments

    def __reduce__(self) -> tuple[object, ...]:
        """How another process makes the same, once however often it is told."""
        return _made_again, (self._made_of,)

    @property
    def is_reduced(self) -> bool:
        """Whether only our own small set of rules is used."""
        return self._engine.is_reduced

    def describe(self) -> str:
        """A few words for documents."""
        people = [word for name, word in _IN_WORDS.items() if name in self._hide]
        also = f"; {', '.join(people)} too" if people else ""
        return f"secrets hidden by {self._engine.name}{also}"

    @property
    def fingerprint(self) -> str:
        """All that decides what is hidden and what stands in its place: two alike do the same."""
        known = (sorted(self._known.homes), sorted(self._known.users)) if self._hide else ()
        settings = f"{self.describe()} {sorted(self._hide)} {self._keep_attachments} {known}"
        return self._pseudonyms.of("fingerprint", settings.encode()).decode()

    def redact(self, session: Session) -> Redacted:
        """The session without its secrets. One that has none is given back as it is."""
        return Redacted(*self._redact(session, session.project.hash))

    def redact_value(self, value: Whole) -> Whole:
        """Any value of texts, lists and objects, without secrets."""
        return self._redact(value, None)[0]

    def redact_text(self, text: str) -> str:
        """Words that stand beside a session, such as a name that the user gave it, without secrets."""
        change = self._changes(Gathered.of_strings({text: None}), None).strings.get(text)
        return change.text if change else text

    def _changes(self, gathered: Gathered, project_hash: str | None) -> Changes:
        return changes(
            gathered.strings,
            gathered.named,
            project_hash,
            answers=gathered.answers,
            named_tools=gathered.named_tools,
            engine=self._engine,
            pseudonyms=self._pseudonyms,
            hide=self._hide,
            known=self._known,
        )

    def _redact(self, value: Whole, project_hash: str | None) -> tuple[Whole, tuple[Finding, ...]]:
        try:
            return self._redacted(value, project_hash)
        except RecursionError as error:
            raise RedactionError("the session is nested too deeply") from error

    def _redacted(self, value: Whole, project_hash: str | None) -> tuple[Whole, tuple[Finding, ...]]:
        """Redact until nothing more is found: what was replaced may make other words look like a secret."""
        findings: list[Finding] = []
        for _ in range(_MOST_ROUNDS):
            gathered = Gathered(keep_attachments=self._keep_attachments)
            gathered.add(value)
            found = self._changes(gathered, project_hash)
            if not found and not gathered.has_closed:
                break
            rewriter = Rewriter(value, found, keep_attachments=self._keep_attachments)
            value = rewriter.written()
            findings += [self._finding(hidden, rewriter) for hidden in rewriter.hidden]
            if self._is_settled(gathered, found):
                break
        return value, tuple(findings)

    def _is_settled(self, gathered: Gathered, found: Changes) -> bool:
        """Whether nothing is found in what was just written; only that can have become something else."""
        strings = {change.text: None for change in (*found.strings.values(), *found.named.values())}
        named = [found.written(*pair) for pair in gathered.named]
        changed = {pair: None for pair in named if pair not in gathered.named}
        return not self._changes(Gathered.of_strings(strings, changed), None)

    def _finding(self, hidden: Hidden, rewriter: Rewriter[Any]) -> Finding:
        return Finding(
            hidden.rule,
            kind(hidden.rule),
            _preview(hidden),
            self._replacement(hidden),
            rewriter.hidden[hidden],
            tuple(rewriter.places[hidden]),
        )

    def _replacement(self, hidden: Hidden) -> str:
        match hidden.rule:
            case "attachment":
                return LEFT_OUT
            case "too-deep":
                return TOO_DEEP
            case _:
                return decode(self._pseudonyms.of(*hidden))


def _preview(hidden: Hidden) -> str:
    """The first characters, at most a quarter of it; of a private key none, since they are all the same."""
    match hidden.rule:
        case "attachment":
            return decode(hidden.value)
        case "private-key" | "too-deep":
            return "…"
        case _:
            value = decode(hidden.value)
            return value[: min(4, len(value) // 4)] + "…"


@cache
def _made_again(of: _MadeOf) -> Redactor:
    return Redactor(
        of.key,
        hide=of.hide,
        homes=of.homes,
        users=of.users,
        engine=of.engine,
        keep_attachments=of.keep_attachments,
        cache_folder=of.cache_folder,
    )
