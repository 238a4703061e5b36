"""Which sessions are listed for what was typed so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from geminids.core.errors import WRONG_USAGE, GeminidsError
from geminids.core.values import NamedTuple
from geminids.query.sessions.listing import LED_BY_HUMANS, Filter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.library import Library
    from geminids.query.search.found import Hit, SessionHits
    from geminids.query.usage.by_session import SessionUse
    from geminids.storage.index.values import SessionRow
    from geminids.storage.text.values import Snippet


_OPERATORS = ("OR", "AND", "NOT")


class Scope(NamedTuple):
    """Among which sessions is looked."""

    project: str | None = None
    """As `--project` takes it."""
    agent: str | None = None
    kept: bool = False
    """Only those whose files are gone."""


class Asked(NamedTuple):
    """What is to be listed."""

    typed: str
    scope: Scope
    limit: int
    order: str = "date"
    """Of the sessions where nothing is looked for, as `Filter` has it."""
    at_once: int = 0
    """How many of them are seen, and wanted before the others; 0: all."""
    per_session: int = 1
    """How many messages of each that was found: a piece of each is read from its file."""
    is_hasty: bool = False
    """Whether the first of them are wanted sooner than how many there are."""

    def is_like(self, other: Asked) -> bool:
        """Whether the same is asked, of however many sessions and messages."""
        same = self._replace(limit=other.limit, at_once=other.at_once, per_session=other.per_session)
        return same._replace(is_hasty=other.is_hasty) == other


class Line(NamedTuple):
    """A session of the list."""

    session: SessionRow
    key: str
    """What means it alone."""
    name: str
    """What the user calls it, else its title."""
    tags: Sequence[str] = ()
    missing: Sequence[str] = ()
    """Words that it does not have."""
    snippets: Sequence[Snippet] = ()
    """Pieces in which the words stand."""
    message: int | None = None
    """The number of the message in which they do, from 1; None if they are not in a message."""
    hits: Sequence[Hit] = ()
    """The messages that were found in it, the best first."""
    use: SessionUse | None = None
    """What it used, where that was asked for."""
    is_expiring: bool = False
    """Whether its agent will soon delete it."""


class Listed(NamedTuple):
    """The answer: the sessions, and what is to be said of them."""

    asked: Asked
    lines: Sequence[Line] = ()
    total: int = 0
    is_exact: bool = True
    """Else there are more."""
    note: str = ""
    """What is wrong with what was typed, or what was done about it."""
    kinds: Mapping[str, int] | None = None
    """How many there are of each kind; None for what was searched."""
    read_as: Sequence[str] = ()
    """What was looked for in place of words that stand nowhere."""

    @property
    def words(self) -> str:
        """What is highlighted."""
        return " ".join([self.asked.typed.strip(), *self.read_as])


class Matches:
    """Asks a library for sessions."""

    def __init__(self, library: Library, now: datetime, *, with_use: bool = False) -> None:
        self._library = library
        self._now = now
        self._with_use = with_use
        self._used: dict[str, SessionUse | None] = {}
        """What sessions used, as long as nothing new is read: adding it up takes as long as finding them."""

    def listed(self, asked: Asked) -> Listed:
        """The newest sessions; those that hold the words, once there are any."""
        return self._found(asked) if asked.typed.strip() else self._newest(asked)

    def _newest(self, asked: Asked, titled: str = "") -> Listed:
        scope = asked.scope
        agents = (scope.agent,) if scope.agent else ()
        kinds = None if scope.kept else LED_BY_HUMANS
        wanted = Filter(
            project=scope.project,
            agents=agents,
            kinds=kinds,
            kept=scope.kept,
            order=asked.order,
            titled=titled,
        )
        found = self._library.listing(wanted, asked.limit)
        return Listed(asked, self._lines(found.sessions), found.total, kinds=found.asked_for(kinds))

    def _found(self, asked: Asked) -> Listed:
        try:
            found = self._while_typed(asked)
        except GeminidsError as error:
            if error.exit_code != WRONG_USAGE:
                raise
            note = str(error).split(" At column", 1)[0].split("\n", 1)[0]
            return self._without_last_word(asked)._replace(note=note)
        if not found.lines and _is_letter(asked.typed.strip()):
            # Every session may have a word that begins so.
            return self._newest(asked)
        return found

    def _while_typed(self, asked: Asked) -> Listed:
        """What has the words, the last of which may be the beginning of one."""
        begun = while_typed(asked.typed)
        if begun != f"{asked.typed}*":
            return self._ask(asked, begun)
        before, _, last = asked.typed.rpartition(" ")
        # Who looks at messages wants all of them.
        is_short = _is_short(last) and asked.per_session == 1 and not _ends_with_operator(before)
        if is_short and (found := self._begun_by_few(asked, before)):
            return found
        whole = self._ask(asked, asked.typed, forgiving=False)
        if asked.is_hasty and len(whole.lines) >= asked.limit:
            # What only begins so comes behind these, and takes as long again to be found.
            return whole._replace(is_exact=False)
        # A slip of one word is seen when nothing begins so.
        found = self._ask(asked, begun, forgiving=" " in begun.strip())
        if not found.lines or found.lines[0].missing:
            return self._ask(asked, asked.typed)
        return _with_beginnings(whole, found)

    def _begun_by_few(self, asked: Asked, before: str) -> Listed | None:
        """What has two letters as a word, then what may have a word that they begin.

        So many words begin so that looking for all of them takes longer than for anything else. After other
        words it is what has these; alone it is what has them in a title, if that is enough.
        """
        whole = self._ask(asked, asked.typed, forgiving=False)
        if len(whole.lines) >= asked.limit:
            return whole._replace(is_exact=False)
        if before.strip():
            return _with_beginnings(whole, self._ask(asked, before))
        titled = self._newest(asked, titled=asked.typed)
        found = _with_beginnings(whole, titled._replace(is_exact=False, kinds=None))
        return found if len(found.lines) >= asked.limit else None

    def _without_last_word(self, asked: Asked) -> Listed:
        """What fits all but a filter of which only the name was typed so far, or an operator."""
        before, _, last = asked.typed.rstrip().rpartition(" ")
        if not (last.endswith(":") or (before and last in _OPERATORS)):
            return Listed(asked)
        return self.listed(asked._replace(typed=before))._replace(asked=asked)

    def _ask(self, asked: Asked, words: str, *, forgiving: bool = True) -> Listed:
        from geminids.query.search.question import Question

        scope = asked.scope
        only = f"{words} is:deleted" if scope.kept else words
        question = Question(
            only,
            project=scope.project,
            agents=(scope.agent,) if scope.agent else (),
            limit=asked.limit,
            per_session=asked.per_session,
            forgiving=forgiving,
            with_names=True,
            is_bare=True,
        )
        found = self._library.search(question, self._now)
        lines = self._lines([hits.session for hits in found.sessions], found.sessions)
        notes = [f"{' or '.join(read)} instead of {word}" for word, read in found.respelt.items()]
        notes += [f"without {word}" for word in found.fillers]
        note = "; ".join(notes)
        is_exact = found.next is None or found.total.are_all_sessions
        read_as = [word for read in found.respelt.values() for word in read]
        total = max(found.total.sessions, len(lines))
        return Listed(asked, lines, total, is_exact, note, read_as=read_as)

    def _lines(self, sessions: Sequence[SessionRow], hits: Sequence[SessionHits] = ()) -> list[Line]:
        ids = [session.id for session in sessions]
        marks = self._library.marks(ids)
        if self._with_use and (unknown := [one for one in ids if one not in self._used]):
            found = self._library.used_by(unknown)
            self._used.update((one, found.get(one)) for one in unknown)
        lines = []
        for number, (session, key) in enumerate(zip(sessions, self._library.keys(sessions), strict=True)):
            said = marks.get(session.id)
            name = (said and said.name) or session.title or "untitled"
            line = Line(session, key, name, said.tags if said else (), use=self._used.get(session.id))
            if hits:
                shown = [hit for hit in hits[number].hits if hit.snippet]
                line = line._replace(
                    missing=hits[number].missing,
                    hits=hits[number].hits,
                    snippets=[hit.snippet for hit in shown if hit.snippet],
                    message=next((hit.message.place + 1 for hit in shown if hit.is_of_message), None),
                )
            lines.append(line)
        return lines


def _with_beginnings(whole: Listed, begun: Listed) -> Listed:
    """What `geminids search` shows first, then what has the last word as the beginning of another."""
    known = {line.session.id for line in whole.lines}
    lines = [*whole.lines, *(line for line in begun.lines if line.session.id not in known)]
    return begun._replace(lines=lines[: begun.asked.limit])


def while_typed(typed: str) -> str:
    """What is looked for before somebody has come to the end of it: the last word may be a beginning."""
    if typed.count('"') % 2:
        return f'{typed}"'
    before, _, last = typed.rpartition(" ")
    if not last.isalnum() or last in _OPERATORS:
        return typed
    if _is_letter(last):
        # So many words begin with one letter that the answer tells nothing, and takes long.
        return before if before.strip() and not _ends_with_operator(before) else typed
    return f"{typed}*"


def _ends_with_operator(words: str) -> bool:
    """Whether something must follow."""
    return words.rstrip().rpartition(" ")[2] in _OPERATORS


def _is_short(word: str) -> bool:
    """Whether these are two letters of a word that has more."""
    return len(word) == 2 and word.isascii() and word.isalpha()


def _is_letter(word: str) -> bool:
    """Whether it is one letter of a word that has more."""
    return len(word) == 1 and word.isascii() and word.isalpha()
