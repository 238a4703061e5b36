"""Searching the index: which sessions hold what was asked for, the best first.

- Words, phrases and prefixes are answered by the index. Of very common ones the newest matches are ranked
  (`searching.WINDOW`), and totals say "at least".
- What the index cannot decide (substrings, regular expressions), and all that it does not hold (`scan`), is
  looked for in the texts themselves (`text_search.py`).
- Where no message has all the words, sessions are shown that have each of them somewhere; where there are
  none or few of these, what fits best (`forgiving.py`), if the question allows it.
- What the user said of sessions (`marked.py`) is looked through, too, and such sessions come first.

A page that follows another begins where that one ended, as long as the index does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import pairwise

from geminids.core.values import Value
from geminids.query.search.asked import Asked, Page, hit_of, shown_message
from geminids.query.search.cursors import BadCursorError, Cursor, cursor_of, mark
from geminids.query.search.found import (
    COLUMN_NAMES,
    Found,
    Hit,
    Searched,
    SessionHits,
    Total,
)
from geminids.query.search.question import BEST, Question
from geminids.query.search.ranking import Order, best_first, newest_first, ranked
from geminids.query.search.record_files import RecordFiles
from geminids.query.search.snippets import TITLE, Cut, Cutter
from geminids.storage.index import reader
from geminids.storage.index import search as searching
from geminids.storage.index.schema import COLUMNS
from geminids.storage.index.search import Match
from geminids.storage.index.values import SessionRow, file_spans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.core.disk import Disk
    from geminids.query.search.forgiving import Fit
    from geminids.query.search.language import Query
    from geminids.query.search.named_projects import Named
    from geminids.query.search.scope import Narrowing
    from geminids.query.search.text_search import TextsOf
    from geminids.query.search.tree import Words
    from geminids.storage.index.database import Index

MOST_SPREAD = 500
"""Sessions in which the words are looked for one by one."""
MOST_OF_PROJECT = 500
"""Messages of projects whose names have some of the words, in which the others are; the newest."""
SENTENCE = 4
"""Words from which on a query may be a sentence, in which hardly any session has all words."""
LITTLE = 3
"""Sessions that are too few for a sentence: they may have its words by chance."""
PROJECT = "project"
"""Where words stand in the name of a session's project."""
MARKS = "marks"
"""Where words stand that the user said of a session: its name, tags and notes."""
NOTHING_SAID: Mapping[int, str] = {}
NOTHING_TOLD = Searched({}, 0, (), None)
LEFT_OUT = "the middle of long outputs"


def search(
    index: Index,
    query: Query,
    question: Question,
    now: datetime,
    *,
    texts_of: TextsOf | None = None,
    progress: Callable[[int, int], None] | None = None,
    disk: Disk | None = None,
) -> Found:
    """What is found of the query that a question means. Raises BadCursorError if its page is of another."""
    cursor = cursor_of(question.after) if question.after else None
    wanted = mark(query.text, question.order, question.scan)
    if cursor and question.after and cursor.question != wanted:
        raise BadCursorError(question.after)
    asked = Asked(index, query, query.fts(), _narrowed(index, query), question, disk)
    is_spread, fit = False, None
    if question.scan or asked.match.must_verify:
        page = _search_texts(asked, texts_of, cursor.after if cursor else None, progress)
    else:
        offset = cursor.after if cursor else 0
        page = _looked_up(asked, offset, _matches(asked))
        if not page.total.sessions and (spread := _spread(asked, offset)):
            page, is_spread = spread, True
        if not cursor and question.order == BEST:
            page, fit = _forgiven(asked, page)
    state = mark(index.path, index.meta("numbered"), index.meta("dead"))
    began = cursor.asked_at if cursor else int(now.timestamp())
    following = Cursor(page.next_after, began, state, wanted) if page.next_after is not None else None
    return Found(
        sessions=page.sessions,
        total=page.total,
        searched=NOTHING_TOLD if question.is_bare else _searched(asked),
        hidden=_hidden(asked, page.total) if not (question.is_bare or is_spread or fit) else {},
        near=_near(asked) if not (question.is_bare or page.sessions) else {},
        next=str(following) if following else None,
        words=fit.words if fit else 0,
        respelt=fit.respelt if fit else {},
        fillers=fit.fillers if fit else {},
        is_spread=is_spread,
        has_changed=cursor is not None and cursor.state != state,
        stopped=page.stopped,
        unsearched=page.unsearched,
    )


def _search_texts(
    asked: Asked,
    texts_of: TextsOf | None,
    after: int | None,
    progress: Callable[[int, int], None] | None,
) -> Page:
    # Few searches need it.
    from geminids.query.search.text_search import Reading, search_texts

    if texts_of is None:
        raise TypeError("a search that is verified needs texts")
    return search_texts(asked, Reading(texts_of, after, progress))


def every_session(index: Index, query: Query, question: Question) -> list[int] | None:
    """All sessions in which a message matches, the newest first; None where texts must be read to tell.

    A search ranks only some of many, and tells of words that stand in several messages; this does neither.
    """
    asked = Asked(index, query, query.fts(), _narrowed(index, query), question)
    if question.scan or asked.match.must_verify:
        return None
    return searching.every_session(index, asked.expression, asked.conditions())


def _narrowed(index: Index, query: Query) -> list[Narrowing]:
    if not query.filters:
        return []
    from geminids.query.search.scope import narrowings

    return narrowings(index, query)


def asked_at(after: str | None, now: datetime) -> datetime:
    """The moment from which `7d` counts back: on a following page, the moment of the first one."""
    if not after:
        return now
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(cursor_of(after).asked_at, UTC)
    except (OverflowError, OSError, ValueError) as error:
        raise BadCursorError(after) from error


# Answers of the index


class _Matches(Value):
    """What matches a query, by its words or by what sessions and projects are called."""

    said: Mapping[int, str] = NOTHING_SAID
    """What the user said of sessions, by their numbers."""
    messages: Sequence[Match] = ()
    """The best first."""
    by_project: Set[int] = frozenset()
    """Those of them that lack words which the name of their project has."""
    of_projects: Sequence[int] = ()
    """Sessions of projects whose names have all the words, the newest first."""
    held: Mapping[int, set[int]] = {}
    """Projects, and the places of the words that their names have."""
    is_whole: bool = True
    """Else more messages may match than were looked at."""


def _matches(asked: Asked) -> _Matches:
    """All that matches."""
    found = _in_words(asked)
    if not asked.question.with_names or not asked.expression:
        return found
    from geminids.query.search.named_projects import named_projects

    named = named_projects(asked)
    found = found._replace(said=_said(asked))
    return _with_projects(asked, found, named) if named else found


def _in_words(asked: Asked) -> _Matches:
    """The messages that match by their words."""
    messages = (
        ranked(asked, asked.expression)
        if asked.expression
        else searching.newest(asked.index, asked.conditions())
    )
    return _Matches(messages=messages, is_whole=len(messages) < searching.WINDOW)


def _with_projects(asked: Asked, found: _Matches, named: Sequence[Named]) -> _Matches:
    """What matches, with what lacks nothing but words that the name of its project has."""
    by_words = {message for _, message, _ in found.messages}
    added: dict[int, Match] = {}
    of_projects: list[int] = []
    for one in named:
        if one.rest is None:
            of_projects += searching.sessions_of_projects(asked.index, one.projects, asked.conditions())
            continue
        rest = _within(asked, one)
        others = ranked(rest, rest.expression, MOST_OF_PROJECT) if rest.expression else []
        # As if the words of the name stood in the message like the others.
        raised = [(score / (1 - one.share), message, bits) for score, message, bits in others]
        added.update((match[1], match) for match in raised if match[1] not in by_words)
        found = found._replace(is_whole=found.is_whole and len(others) < MOST_OF_PROJECT)
    return found._replace(
        messages=_with(found.messages, added.values()) if added else found.messages,
        by_project=added.keys(),
        of_projects=of_projects,
        held={project: one.words for one in named for project in one.projects},
    )


def _with(messages: Sequence[Match], added: Iterable[Match]) -> list[Match]:
    """More messages in their places among others, of which those that a title brought stay in front."""
    behind_titles = (at for at, (one, after) in enumerate(pairwise(messages), start=1) if one < after)
    end = next(behind_titles, 0)
    return [*messages[:end], *sorted([*messages[end:], *added], reverse=True)]


def _within(asked: Asked, named: Named) -> Asked:
    """The rest of a query, asked of the sessions of some projects."""
    from geminids.query.search.scope import Narrowing

    narrowing = Narrowing("", reader.one_of("s.project", named.projects))
    query = asked.query._replace(tree=named.rest)
    return asked._replace(query=query, match=query.fts(), narrowed=[*asked.narrowed, narrowing])


def _looked_up(asked: Asked, offset: int, found: _Matches) -> Page:
    """A page of what matches: what the user said of sessions first, then words, then names of projects."""
    order = _in_order(asked, found, offset + asked.question.limit)
    end = offset + asked.question.limit
    matches = {match[1]: match for match in found.messages}
    sessions = _with_facts(asked, order.sessions[offset:end], matches)
    return Page(
        _with_names(asked, sessions, found),
        Total(
            matches=len(found.messages),
            sessions=len(order.sessions),
            is_exact=found.is_whole,
            are_all_sessions=order.are_all and found.is_whole,
        ),
        end if len(order.sessions) > end else None,
    )


def _in_order(asked: Asked, found: _Matches, wanted: int) -> Order:
    """The sessions of what matches, more than are wanted."""
    if asked.is_by_time:
        return newest_first(asked, found.messages, [*found.said, *found.of_projects])
    best = best_first(asked, found.messages, wanted, found.held)
    if not found.said and not found.of_projects:
        return best
    others = found.of_projects if best.are_all else ()
    sessions = list(dict.fromkeys([*found.said, *best.sessions, *others]))
    return Order(sessions, are_all=best.are_all)


def _with_facts(asked: Asked, sessions: Sequence[int], matches: Mapping[int, Match]) -> list[SessionHits]:
    """The sessions in this order, with all that is shown of their best messages."""
    facts = reader.sessions_numbered(asked.index, sessions)
    if asked.question.per_session == 0:
        return [SessionHits(facts[session], (), 0) for session in sessions]
    best = {
        session: sorted(
            messages,
            key=lambda message: (messages[message], matches[message][0], message),
            reverse=True,
        )
        for session, messages in searching.messages_of(asked.index, sessions, matches.keys()).items()
    }
    shown = {session: messages[: asked.question.per_session] for session, messages in best.items()}
    titles = {session: facts[session].title or "" for session in sessions}
    hits = _hits(asked, [message for messages in shown.values() for message in messages], matches, titles)
    return [
        SessionHits(facts[session], [hits[message] for message in shown[session]], len(best[session]))
        for session in sessions
    ]


def _named(bits: int) -> tuple[str, ...]:
    return tuple(column for place, column in enumerate(COLUMNS) if bits >> place & 1)


def _hits(
    asked: Asked, messages: Sequence[int], matches: Mapping[int, Match], titles: Mapping[int, str]
) -> dict[int, Hit]:
    """What is shown of each message, with a snippet from its file, or the title that it stands for."""
    rows = searching.message_rows(asked.index, messages)
    files = {place[0] for row in rows.values() for place in file_spans(row.spans)}
    tools = searching.tools_of(asked.index, rows)
    columns = {message: _named(matches[message][2]) for message in messages}
    paths = searching.file_paths(asked.index, files)
    with RecordFiles(paths, asked.disk) as opened:
        cutter = Cutter(opened, asked.query.positive, asked.question.width)
        return {
            number: hit_of(
                shown_message(row, tools.get(number, ())),
                columns[number],
                cutter.cut(row.spans, columns[number])
                or (_cut_of_title(asked, cutter, row.session, titles) if row.place == 0 else None),
                matches[number][0],
            )
            for number, row in rows.items()
        }


def _cut_of_title(asked: Asked, cutter: Cutter, session: int, titles: Mapping[int, str]) -> Cut | None:
    """A piece of the title of a session, or of the one that its agent made where the user gave another."""
    if cut := cutter.cut_title(titles[session]):
        return cut
    # Hardly any session has two, and loading what reads the other takes as long as a search.
    from geminids.core.model import SessionSummary
    from geminids.storage.codec.packed import unpacked

    (packed,) = reader.summaries(asked.index, [session])
    return cutter.cut_title(unpacked(packed, SessionSummary).summary or "")


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
    found = [asked.query._replace(tree=part).fts() for part in wanted]
    if any(match.is_complement for match in found):
        return None
    sessions = _sessions_with_all(asked, [match.expression for match in found if match.expression])
    if not sessions:
        return None
    any_of = asked.query._replace(tree=And((Or(tuple(wanted)), *unwanted)))
    within = Narrowing("", reader.one_of("m.session", sessions))
    spread = asked._replace(match=any_of.fts(), narrowed=[*asked.narrowed, within])
    page = _looked_up(spread, offset, _in_words(spread))
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


# What the user said of sessions, and what fits best


def _said(asked: Asked) -> Mapping[int, str]:
    """What the user said of sessions that has what is looked for, by their numbers, the newest first."""
    if not asked.query.marks or set(asked.query.columns) != set(COLUMNS):
        return NOTHING_SAID
    from geminids.query.search.marked import sessions_said

    return sessions_said(asked)


def _with_names(asked: Asked, sessions: Sequence[SessionHits], found: _Matches) -> list[SessionHits]:
    """The sessions, each with what the user said of it, or the name of its project, where that matches."""
    numbers = [one.session.number for one in sessions]
    by_words = (
        searching.messages_of(asked.index, numbers, {match[1] for match in found.messages} - found.by_project)
        if found.held
        else {}
    )
    named: list[SessionHits] = []
    for one in sessions:
        session, hits = one.session, one.hits
        if said := found.said.get(session.number):
            hits = [*_beside(asked, session, said, MARKS), *hits]
        elif found.held and not by_words[session.number]:
            hits = [*_beside(asked, session, session.project.name, PROJECT), *hits]
        named.append(one._replace(hits=hits))
    return named


def _beside(asked: Asked, session: SessionRow, text: str, where: str) -> list[Hit]:
    """What is said of a session beside its messages, as a hit of the first of them."""
    from geminids.storage.text import snippets

    width = asked.question.width
    snippet = snippets.cut(text, asked.query.positive, width) or snippets.opening(text, width)
    first = searching.messages_at(asked.index, session.number, [0]).values()
    return [Hit(shown_message(row, ()), (where,), snippet, 0.0) for row in first]


def _beside_words(asked: Asked, session: SessionRow, said: str) -> list[Hit]:
    """The title of a session, or what was said of it, whichever has the words."""
    from geminids.storage.text import snippets

    is_in_title = session.title and snippets.cut(session.title, asked.query.positive)
    if said and not is_in_title:
        return _beside(asked, session, said, MARKS)
    return _beside(asked, session, session.title or "", TITLE)


def _is_little(asked: Asked, sessions: int) -> bool:
    """Whether so many sessions are too few for what was typed."""
    from geminids.query.search.tree import And

    tree = asked.query.tree
    is_sentence = isinstance(tree, And) and len(tree.parts) >= SENTENCE
    return not sessions or (is_sentence and sessions < LITTLE)


def _forgiven(asked: Asked, page: Page) -> tuple[Page, Fit | None]:
    """The page with what fits best behind it, where there is little on it."""
    room = asked.question.limit - len(page.sessions)
    if not asked.question.forgiving or room <= 0 or not _is_little(asked, len(page.sessions)):
        return page, None
    # Most searches find enough, and need not load it.
    from geminids.query.search.forgiving import best_fits, words_of
    from geminids.query.search.marked import texts_said

    words = words_of(asked.query.tree)
    if words is None:
        return page, None
    known = {one.session.number for one in page.sessions}
    said = texts_said(asked) if asked.question.with_names else {}
    fit = best_fits(asked, words, room, known, said)
    if fit is None:
        return page, None
    reading = asked._replace(query=asked.query._replace(tree=fit.tree))
    fitting = [
        one._replace(
            missing=fit.missing[one.session.number],
            hits=one.hits or _beside_words(reading, one.session, said.get(one.session.number, "")),
            matches=one.matches or 1,
        )
        for one in _with_facts(reading, list(fit.missing), fit.matches)
    ]
    matches = page.total.matches + sum(one.matches for one in fitting)
    total = page.total._replace(matches=matches, sessions=len(known) + len(fitting))
    return page._replace(sessions=[*page.sessions, *fitting], total=total), fit


# What is said beside the hits


def _searched(asked: Asked) -> Searched:
    kinds, messages = searching.extent(asked.index)
    everything = asked.question.scan or reader.holds_every_word(asked.index)
    columns = tuple(name for column, name in COLUMN_NAMES.items() if column in asked.query.columns)
    return Searched(kinds, messages, columns, None if everything else LEFT_OUT)


def _hidden(asked: Asked, total: Total) -> dict[str, int]:
    """How much more would match without each filter. What must be verified is not counted."""
    is_narrowed = asked.narrowed or set(asked.query.columns) != set(COLUMNS)
    if asked.match.must_verify or not (is_narrowed and asked.query.tree and total.is_exact):
        return {}
    counted = partial(searching.count, counted="session" if asked.question.hidden_sessions else "message")
    # The sessions of a total may be some of them, and its messages more than those that have all words.
    is_told = not asked.question.hidden_sessions
    shown = (
        total.matches
        if is_told and not asked.question.with_names
        else counted(asked.index, asked.expression, asked.conditions())
    )
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


def _occurs(index: Index, leaf: Words) -> bool:
    return any(searching.is_anywhere(index, phrase.expression) for phrase in leaf.phrases)
