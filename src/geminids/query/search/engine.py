"""Searching the index: which sessions hold what was asked for, the best first.

- Words, phrases and prefixes are answered by the index. Of very common ones the newest matches are ranked
  (`searching.WINDOW`), and totals say "at least".
- What the index cannot decide (substrings, regular expressions), and all that it does not hold (`scan`), is
  looked for in the texts themselves: candidates are read session by session, the newest first, until the page
  is full.
- Where no message has all the words, sessions are shown that have each of them somewhere.

A page that follows another begins where that one ended, as long as the index does not change.
"""

# Annotations are no strings here: compiling them would take most of the time that loading this takes.
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from geminids.core.values import Value
from geminids.query.search.cursors import BadCursorError, Cursor, cursor_of, mark
from geminids.query.search.found import (
    COLUMN_NAMES,
    Found,
    FoundMessage,
    Hit,
    Searched,
    SessionHits,
    Stopped,
    Total,
    Unsearched,
)
from geminids.query.search.question import NEWEST, Question
from geminids.query.search.snippets import Cut, Cutter
from geminids.storage.index import reader
from geminids.storage.index import search as searching
from geminids.storage.index.reader import Condition
from geminids.storage.index.schema import COLUMNS
from geminids.storage.index.search import Match, MessageRow
from geminids.storage.index.values import file_spans
from geminids.storage.text import snippets

if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.disk import Disk
    from geminids.query.search.language import Match as Expression
    from geminids.query.search.language import Query
    from geminids.query.search.scope import Narrowing
    from geminids.query.search.tree import Words
    from geminids.storage.index.database import Index
    from geminids.storage.text.patterns import Patterns

TIER = 100
"""So many matches whose words fit best are weighed by what they are, then the next so many."""
MOST_READ = 500
"""Sessions whose texts are read for one page, unless everything is to be."""
MOST_SPREAD = 500
"""Sessions in which the words are looked for one by one."""
SECONDS_OF_SCAN = 120.0
"""Seconds that regular expressions may take where everything is read: whoever asks for that has time."""
LEFT_OUT = "the middle of long outputs and of what agents put in"

Texts = Mapping[str, str]
"""The words of a message by column, all of them."""
TextsOf = Callable[[int], Iterable[tuple[int, Texts]]]
"""Reads the messages of a session from its files: the place of each, and its words."""


class Page(Value):
    """A page of what was found."""

    sessions: Sequence[SessionHits] = ()
    total: Total = Total(0, 0, is_exact=True, are_all_sessions=True)
    next_after: int | None = None
    stopped: Stopped | None = None
    unsearched: Sequence[Unsearched] = ()


class Asked(Value):
    """A query as the index understands it."""

    index: "Index"
    query: "Query"
    match: "Expression"
    narrowed: "Sequence[Narrowing]"
    question: Question
    disk: "Disk | None" = None
    """How files are opened that are gone."""

    @property
    def expression(self) -> str | None:
        """What FTS5 is asked for; None if it is asked for nothing, or for all that does not match."""
        return None if self.match.is_complement else self.match.expression

    @property
    def is_by_time(self) -> bool:
        """Whether the newest sessions come first: what filters alone find has no other order."""
        return self.question.order == NEWEST or not self.expression

    def conditions(self, without: "Narrowing | None" = None) -> list[Condition]:
        """What else must hold."""
        held = [narrowing.condition for narrowing in self.narrowed if narrowing is not without]
        if self.match.is_complement and self.match.expression:
            held.append(searching.says(self.match.expression).negated())
        return held


def search(
    index: "Index",
    query: "Query",
    question: Question,
    now: "datetime",
    *,
    texts_of: TextsOf | None = None,
    progress: Callable[[int, int], None] | None = None,
    disk: "Disk | None" = None,
) -> Found:
    """What is found of the query that a question means. Raises BadCursorError if its page is of another."""
    cursor = cursor_of(question.after) if question.after else None
    wanted = mark(query.text, question.order, question.scan)
    if cursor and question.after and cursor.question != wanted:
        raise BadCursorError(question.after)
    asked = Asked(index, query, query.fts(), _narrowed(index, query), question, disk)
    is_spread = False
    if question.scan or asked.match.must_verify:
        page = _read(asked, _Reading(texts_of, cursor.after if cursor else None, progress))
    else:
        offset = cursor.after if cursor else 0
        page = _looked_up(asked, offset)
        if not page.total.matches and (spread := _spread(asked, offset)):
            page, is_spread = spread, True
    state = mark(index.path, index.meta("last message"), index.meta("dead"))
    began = cursor.asked_at if cursor else int(now.timestamp())
    following = Cursor(page.next_after, began, state, wanted) if page.next_after is not None else None
    return Found(
        sessions=page.sessions,
        total=page.total,
        searched=_searched(asked),
        hidden=_hidden(asked, page.total) if not is_spread else {},
        near=_near(asked) if not page.total.matches else {},
        next=str(following) if following else None,
        is_spread=is_spread,
        has_changed=cursor is not None and cursor.state != state,
        stopped=page.stopped,
        unsearched=page.unsearched,
    )


def every_session(index: "Index", query: "Query", question: Question) -> list[int] | None:
    """All sessions in which a message matches, the newest first; None where texts must be read to tell.

    A search ranks only some of many, and tells of words that stand in several messages; this does neither.
    """
    asked = Asked(index, query, query.fts(), _narrowed(index, query), question)
    if question.scan or asked.match.must_verify:
        return None
    return searching.every_session(index, asked.expression, asked.conditions())


def _narrowed(index: "Index", query: "Query") -> "list[Narrowing]":
    if not query.filters:
        return []
    from geminids.query.search.scope import narrowings

    return narrowings(index, query)


def asked_at(after: str | None, now: "datetime") -> "datetime":
    """The moment from which `7d` counts back: on a following page, the moment of the first one."""
    if not after:
        return now
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(cursor_of(after).asked_at, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadCursorError(after) from error


# Answers of the index


def _looked_up(asked: Asked, offset: int) -> Page:
    """A page of what the index finds."""
    matches = (
        searching.ranked(asked.index, asked.expression, asked.conditions())
        if asked.expression
        else searching.newest(asked.index, asked.conditions())
    )
    end = offset + asked.question.limit
    in_order = _newest_first(asked, matches) if asked.is_by_time else _best_first(asked, matches, end)
    return Page(
        _with_facts(asked, in_order.sessions[offset:end], {match[1]: match for match in matches}),
        Total(
            matches=len(matches),
            sessions=len(in_order.sessions),
            is_exact=len(matches) < searching.WINDOW,
            are_all_sessions=in_order.are_all and len(matches) < searching.WINDOW,
        ),
        end if len(in_order.sessions) > end else None,
    )


class _Order(Value):
    """Sessions in their order."""

    sessions: list[int]
    are_all: bool


def _newest_first(asked: Asked, matches: Sequence[Match]) -> _Order:
    sessions = set(searching.sessions_of(asked.index, (match[1] for match in matches)).values())
    last = searching.last_moments(asked.index, sessions)
    return _Order(sorted(sessions, key=lambda number: (last[number], number), reverse=True), are_all=True)


def _best_first(asked: Asked, matches: Sequence[Match], wanted: int) -> _Order:
    """The sessions with the best messages, more than are wanted if there are more.

    What a message is counts among those whose words fit about as well: they are weighed tier by tier.
    """
    sessions: dict[int, None] = {}
    for start in range(0, len(matches), TIER):
        tier = matches[start : start + TIER]
        worths = searching.worths(asked.index, (match[1] for match in tier))
        weighed = [(score * worths[message][1], worths[message][0]) for score, message, _ in tier]
        sessions.update(dict.fromkeys(session for _, session in sorted(weighed, reverse=True)))
        if len(sessions) > wanted:
            return _Order(list(sessions), are_all=start + TIER >= len(matches))
    return _Order(list(sessions), are_all=True)


def _with_facts(asked: Asked, sessions: Sequence[int], matches: Mapping[int, Match]) -> list[SessionHits]:
    """The sessions in this order, with all that is shown of their best messages."""
    facts = reader.sessions_numbered(asked.index, sessions)
    if asked.question.per_session == 0:
        return [SessionHits(facts[session], (), 0) for session in sessions]
    best = {
        session: sorted(
            messages.keys() & matches.keys(),
            key=lambda message: (messages[message], matches[message][0], message),
            reverse=True,
        )
        for session, messages in searching.messages_of(asked.index, sessions).items()
    }
    shown = {session: messages[: asked.question.per_session] for session, messages in best.items()}
    hits = _hits(asked, [message for messages in shown.values() for message in messages], matches)
    return [
        SessionHits(facts[session], [hits[message] for message in shown[session]], len(best[session]))
        for session in sessions
    ]


def _columns(asked: Asked, matches: Sequence[Match]) -> dict[int, tuple[str, ...]]:
    """In which columns of the index each of these messages matches."""
    bits = {message: known for _, message, known in matches}
    unknown = [message for message, known in bits.items() if known is None]
    if unknown and asked.expression:
        bits.update(searching.columns(asked.index, asked.expression, unknown))
    return {message: _named(known or 0) for message, known in bits.items()}


def _named(bits: int) -> tuple[str, ...]:
    return tuple(column for place, column in enumerate(COLUMNS) if bits >> place & 1)


def _hits(asked: Asked, messages: Sequence[int], matches: Mapping[int, Match]) -> dict[int, Hit]:
    """What is shown of each message, with a snippet from its file."""
    rows = searching.message_rows(asked.index, messages)
    files = {place[0] for row in rows.values() for place in file_spans(row.spans)}
    tools = searching.tools_of(asked.index, rows)
    columns = _columns(asked, [matches[message] for message in messages])
    paths = searching.file_paths(asked.index, files)
    with Cutter(paths, asked.query.positive, asked.question.width, asked.disk) as cutter:
        return {
            number: _hit(
                _message(row, tools.get(number, ())),
                columns.get(number, ()),
                cutter.cut(row.spans, columns.get(number, ())),
                matches[number][0],
            )
            for number, row in rows.items()
        }


def _hit(message: FoundMessage, columns: Sequence[str], cut: Cut | None, score: float) -> Hit:
    """A hit that names first where its snippet is from."""
    in_order = sorted(columns, key=lambda column: cut is None or column not in cut.columns)
    return Hit(
        message, tuple(COLUMN_NAMES[column] for column in in_order), cut.snippet if cut else None, score
    )


def _message(row: MessageRow, tools: tuple[str, ...]) -> FoundMessage:
    return FoundMessage(
        row.id, row.place, row.role, row.origin, row.state, bool(row.imported), row.at, row.model, tools
    )


# Words that stand in several messages of a session


def _spread(asked: Asked, offset: int) -> Page | None:
    """A page of sessions in which each of the words is somewhere; None if there is nothing to spread."""
    from geminids.query.search.scope import Narrowing
    from geminids.query.search.tree import And, Not, Or

    tree = asked.query.tree
    if not isinstance(tree, And) or asked.match.is_complement:
        return None
    unwanted = [part for part in tree.parts if isinstance(part, Not)]
    wanted = [part for part in tree.parts if not isinstance(part, Not)]
    if len(wanted) < 2:
        return None
    expressions = [asked.query._replace(tree=part).fts().expression for part in wanted]
    sessions = _sessions_with_all(asked, [one for one in expressions if one])
    if not sessions:
        return None
    any_of = asked.query._replace(tree=And((Or(tuple(wanted)), *unwanted)))
    within = Narrowing("", reader.one_of("m.session", sessions))
    page = _looked_up(asked._replace(match=any_of.fts(), narrowed=[*asked.narrowed, within]), offset)
    return page if page.total.matches else None


def _sessions_with_all(asked: Asked, expressions: Sequence[str]) -> list[int]:
    """Sessions in which each of these matches somewhere."""
    conditions = asked.conditions()
    rare: list[list[int]] = []
    common: list[str] = []
    for expression in expressions:
        sessions, is_whole = searching.newest_sessions(asked.index, expression, conditions)
        if is_whole:
            rare.append(sessions)
        else:
            common.append(expression)
    if not rare:
        rare.append(searching.newest_sessions(asked.index, common.pop(), conditions)[0])
    first, *others = rare
    shared = set(first).intersection(*others)
    return [
        session
        for session in [session for session in first if session in shared][:MOST_SPREAD]
        if all(searching.is_in_session(asked.index, one, session, conditions) for one in common)
    ]


# Answers of the texts themselves


class _Verified(Value):
    """A message in whose texts it was found."""

    place: int
    texts: Texts


class _Reading(Value):
    """How texts are read."""

    texts_of: TextsOf | None
    after: int | None
    """The last session that was read for the page before."""
    progress: Callable[[int, int], None] | None


def _read(asked: Asked, how: _Reading) -> Page:
    """A page of what is found by reading candidates, the newest sessions first."""
    from geminids.storage.text.patterns import FOR_ALL, Patterns

    with Patterns(SECONDS_OF_SCAN if asked.question.scan else FOR_ALL) as patterns:
        return _read_with(patterns, asked, how)


def _read_with(patterns: "Patterns", asked: Asked, how: _Reading) -> Page:
    if how.texts_of is None:
        raise TypeError("a search that is verified needs texts")
    limit, is_all = asked.question.limit, asked.question.scan
    # Then everything is a candidate, and all of it may be read.
    expression = None if is_all else asked.expression
    conditions = [n.condition for n in asked.narrowed] if is_all else asked.conditions()
    candidates = list(searching.candidates(asked.index, expression, conditions, how.after))
    most = len(candidates) if is_all else MOST_READ
    found: list[SessionHits] = []
    unsearched: list[Unsearched] = []
    matches = read = 0
    for number, listed in candidates[:most]:
        if len(found) == limit or patterns.is_spent:
            break
        messages = frozenset(map(int, listed.split(",")))
        verified, too_slow = _verified(asked.query, how.texts_of(number), messages, patterns)
        if verified:
            found.append(_read_hits(asked, number, verified, patterns))
            matches += len(verified)
        if too_slow:
            session = reader.sessions_numbered(asked.index, [number])[number]
            unsearched.append(Unsearched(session.id, tuple(too_slow)))
        read += 1
        if how.progress:
            how.progress(read, len(candidates))
    if how.progress:
        how.progress(1, 1)
    left = len(candidates) - read
    is_whole = not left and how.after is None and not unsearched
    return Page(
        found,
        Total(matches, len(found), is_exact=is_whole, are_all_sessions=is_whole),
        candidates[read - 1].number if left else None,
        Stopped(read, left) if left and len(found) < limit else None,
        unsearched,
    )


def _verified(
    query: "Query", texts: Iterable[tuple[int, Texts]], candidates: frozenset[int], patterns: "Patterns"
) -> tuple[list[_Verified], list[int]]:
    """The messages that match, and the places of those of which there was no time to tell."""
    from geminids.storage.text.patterns import TooSlowError

    verified: list[_Verified] = []
    too_slow: list[int] = []
    for place, by_column in texts:
        if place in candidates:
            try:
                if query.matches(by_column, patterns):
                    verified.append(_Verified(place, by_column))
            except TooSlowError:
                too_slow.append(place)
    return verified, too_slow


def _read_hits(asked: Asked, number: int, verified: Sequence[_Verified], patterns: "Patterns") -> SessionHits:
    """What is shown of a session that was read; the first of its messages that match."""
    texts = {one.place: one.texts for one in islice(verified, asked.question.per_session)}
    rows = searching.messages_at(asked.index, number, texts)
    tools = searching.tools_of(asked.index, rows)
    hits = [
        _read_hit(asked, _message(row, tools.get(row.number, ())), texts[row.place], patterns)
        for row in sorted(rows.values(), key=lambda row: row.place)
    ]
    return SessionHits(reader.sessions_numbered(asked.index, [number])[number], hits, len(verified))


def _read_hit(asked: Asked, message: FoundMessage, texts: Texts, patterns: "Patterns") -> Hit:
    cuts = {
        column: snippets.cut(texts[column], asked.query.positive, asked.question.width, patterns)
        for column in asked.query.columns
        if texts.get(column)
    }
    there = [Cut(cut, (column,)) for column, cut in cuts.items() if cut]
    best = max(there, key=lambda cut: len(cut.snippet.spans), default=None)
    return _hit(message, [column for cut in there for column in cut.columns], best, 0.0)


# What is said beside the hits


def _searched(asked: Asked) -> Searched:
    sessions, messages = searching.extent(asked.index)
    everything = asked.question.scan or reader.holds_every_word(asked.index)
    columns = tuple(name for column, name in COLUMN_NAMES.items() if column in asked.query.columns)
    return Searched(sessions, messages, columns, None if everything else LEFT_OUT)


def _hidden(asked: Asked, total: Total) -> dict[str, int]:
    """How much more would match without each filter. What must be verified is not counted."""
    if asked.match.must_verify or not asked.query.tree or not total.is_exact:
        return {}
    counted = partial(searching.count, counted="session" if asked.question.hidden_sessions else "message")
    # The sessions of a total may be some of them.
    is_told = not asked.question.hidden_sessions
    shown = total.matches if is_told else counted(asked.index, asked.expression, asked.conditions())
    hidden = {
        narrowing.typed: counted(asked.index, asked.expression, asked.conditions(without=narrowing)) - shown
        for narrowing in asked.narrowed
    }
    if asked.expression and set(asked.query.columns) != set(COLUMNS):
        anywhere = asked.query.fts(COLUMNS).expression
        names = ",".join(COLUMN_NAMES[column] for column in asked.query.columns)
        hidden[f"in:{names}"] = counted(asked.index, anywhere, asked.conditions()) - shown
    return {typed: number for typed, number in hidden.items() if number > 0}


def _near(asked: Asked) -> dict[str, Sequence[str]]:
    """What may have been meant by words that do not occur and by values that nothing has."""
    near: dict[str, Sequence[str]] = {
        narrowing.typed: narrowing.near for narrowing in asked.narrowed if narrowing.near
    }
    if strangers := _strangers(asked):
        from geminids.query.search.near import near as nearest

        near.update((word, nearest(asked.index, word)) for word in strangers)
    return near


def _strangers(asked: Asked) -> list[str]:
    """The words looked for that do not occur anywhere."""
    from geminids.query.search.tree import Words, leaves

    found = leaves(asked.query.tree) if asked.query.tree else iter(())
    absent = [
        leaf.phrases[0]
        for leaf, is_wanted in found
        if is_wanted and isinstance(leaf, Words) and leaf.phrases and not _occurs(asked.index, leaf)
    ]
    looked_for = dict.fromkeys(word for phrase in absent for word in phrase.words)
    return [word for word in looked_for if not searching.occurs(asked.index, word)]


def _occurs(index: "Index", leaf: "Words") -> bool:
    return any(searching.is_anywhere(index, phrase.expression) for phrase in leaf.phrases)
