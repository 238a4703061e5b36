"""What fits best where no session has all the words that were typed: most of them, then the rare ones.

People ask in sentences, mix up words and misspell them. So, once all words together have found nothing or
little, words that only hold a sentence together are left out, others may end otherwise, and a word that
stands nowhere is read as the nearest one that does, or left out where that is one of the former. What is in
quotes, filters, and what is kept out with `-`, hold as they were typed.

Each word is looked up by itself; sessions with more of the words come first. Those with as many are weighed
by how much of what is rare they have, then by how much of it stands in one message, in the human's words or
in the title.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from math import log

from geminids.core.values import NamedTuple, Value
from geminids.query.search.asked import Asked
from geminids.query.search.endings import forms
from geminids.query.search.fillers import FILLERS
from geminids.query.search.near import is_filler, nearest_spellings
from geminids.query.search.tree import And, Node, Or, Prefix, Words, leaves, matches
from geminids.storage.index import reader
from geminids.storage.index import search as searching
from geminids.storage.index.reader import Condition
from geminids.storage.index.schema import COLUMNS
from geminids.storage.index.search import Match
from geminids.storage.text.patterns import Patterns
from geminids.storage.text.words import Phrase, terms

MOST_WORDS = 12
"""Words that are looked up, the first ones; who pastes a page does not ask for each of its words."""
MOST_MATCHES = 2_000
"""Messages of each word that are weighed, the newest."""
MOST_COMPARED = 40
"""Sessions that are weighed to the last."""
_OTHER_FORM, _RESPELT = 0.9, 0.8
"""How much a word counts that ends otherwise or is spelt otherwise."""
_BY_HUMAN, _IN_TITLE, _TOGETHER = 0.5, 0.5, 0.5
"""How much more a word counts in the words of the human, in a title, and beside others in one message."""
_WORTH = {"subagent": 0.9, "checkpoint": 0.7, "copy": 0.7}
"""How much less a session counts that repeats or serves another."""
_LEAST_SHARE = 0.6
"""Of what the best session has, so much another must have to be shown."""
_HUMAN = 1 << COLUMNS.index("human")


class Fit(Value):
    """Sessions that fit best, and how well."""

    tree: Node
    """What is highlighted in them."""
    words: int
    """How many words were looked for, fillers aside."""
    missing: Mapping[int, tuple[str, ...]]
    """The sessions by number, the best first, and the words that each does not have."""
    matches: Mapping[int, Match]
    """Their messages that have some of the words."""
    respelt: Mapping[str, tuple[str, ...]]
    """Words that stand nowhere, and what they were taken for."""
    fillers: Mapping[str, str]
    """The same of those that were taken for fillers, and left out."""


class _Wanted(NamedTuple):
    """A word, and where it stands."""

    typed: str
    weight: float
    rows: Mapping[int, float]
    """Messages, and how much it counts in each."""
    expression: str
    is_whole: bool
    """Whether these are all of them."""
    readings: tuple[str, ...]
    """What is highlighted."""
    respelt: tuple[str, ...]
    is_required: bool = False


def _parts(tree: Node | None) -> tuple[Node, ...]:
    return tree.parts if isinstance(tree, And) else (tree,) if tree else ()


def words_of(tree: Node | None) -> list[Words] | None:
    """The words of a query that may be forgiven; None if there are none, or it is no list of words."""
    words = [part for part in _parts(tree) if isinstance(part, Words) and not part.is_quoted and part.phrases]
    return words or None


def best_fits(
    asked: Asked, words: Sequence[Words], limit: int, others: Collection[int], said: Mapping[int, str]
) -> Fit | None:
    """The sessions that fit best beside others that are known; None if there are none.

    What the user `said` of sessions, by their numbers, counts like their titles.
    """
    others_typed = [part for part in _parts(asked.query.tree) if part not in words]
    unwanted = [part for part in others_typed if asked.query._replace(tree=part).fts().is_complement]
    conditions = [*asked.conditions(), *(_says(asked, part) for part in unwanted)]
    said = {number: text for number, text in said.items() if _is_wanted(asked, number, text, unwanted)}
    looked_up = [_looked_up(asked, word, conditions) for word in _telling(words)]
    wanted = [one for one in looked_up if not is_filler(one.respelt)] or looked_up
    wanted += [_required(asked, part, conditions) for part in others_typed if part not in unwanted]
    missing = _Weighing(asked, wanted, conditions, said).best(limit, others)
    if not missing:
        return None
    rows = {row for one in wanted for row in one.rows}
    shown = searching.messages_of(asked.index, list(missing), rows).values()
    readings = dict.fromkeys(reading for one in wanted for reading in one.readings)
    respelt = {one.typed: one.respelt for one in wanted if one.respelt}
    fillers = {one.typed: one.respelt[0] for one in looked_up if one not in wanted}
    tree = Or((*map(Words, readings), *others_typed))
    matching = _matches(wanted, {row for messages in shown for row in messages})
    return Fit(tree, len(wanted), missing, matching, respelt, fillers)


def _telling(words: Sequence[Words]) -> list[Words]:
    """The words that tell what it is about, each once; all of them if none does."""
    distinct = list({word.text.casefold(): word for word in words}.values())
    telling = [word for word in distinct if word.text.casefold() not in FILLERS]
    return (telling or distinct)[:MOST_WORDS]


def _is_wanted(asked: Asked, session: int, said: str, unwanted: Sequence[Node]) -> bool:
    """Whether nothing of what is to be kept out stands in a session, or was said of it."""
    for part in unwanted:
        match = asked.query._replace(tree=part).fts()
        there = match.expression and searching.is_in_session(asked.index, match.expression, session, ())
        with Patterns() as patterns:
            if there or not matches(part, {"said": said}, patterns):
                return False
    return True


def _says(asked: Asked, unwanted: Node) -> Condition:
    """A message of which that is true."""
    match = asked.query._replace(tree=unwanted).fts()
    says = searching.says(match.expression) if match.expression else searching.NOTHING
    return says.negated() if match.is_complement else says


def _required(asked: Asked, part: Node, conditions: Sequence[Condition]) -> _Wanted:
    """What must be there as it was typed: a phrase, a prefix, one of several."""
    expression = asked.query._replace(tree=part).fts().expression or '""'
    found = searching.newest_matches(asked.index, expression, conditions, MOST_MATCHES)
    rows = dict.fromkeys(found, 1.0)
    typed = " ".join(leaf.text for leaf, _ in leaves(part) if isinstance(leaf, Words | Prefix))
    is_whole = len(found) < MOST_MATCHES
    return _Wanted(typed, _weight_of(asked, rows), rows, expression, is_whole, (), (), is_required=True)


def _weight_of(asked: Asked, rows: Mapping[int, float]) -> float:
    """How much it tells that something stands just here."""
    _, messages = searching.extent(asked.index)
    return log(2 + messages / (1 + len(rows)))


def _looked_up(asked: Asked, word: Words, conditions: Sequence[Condition]) -> _Wanted:
    """Where a word stands, in other forms too, or else words that look like it."""
    typed = list(word.phrases)
    other = _other_forms(asked, [word.text])
    rows: dict[int, float] = {}
    is_whole = _add_rows(rows, asked, typed, conditions, 1.0)
    is_whole &= _add_rows(rows, asked, other, conditions, _OTHER_FORM)
    respelt: tuple[str, ...] = ()
    if not rows and not _stands_anywhere(asked, [*typed, *other]):
        respelt = tuple(nearest_spellings(asked.index, word.text))
        typed, other = (
            [Phrase(tuple(terms(one)), is_open=False) for one in respelt],
            _other_forms(asked, respelt),
        )
        is_whole = _add_rows(rows, asked, typed, conditions, _RESPELT)
        is_whole &= _add_rows(rows, asked, other, conditions, _RESPELT * _OTHER_FORM)
    weight = _weight_of(asked, rows)
    readings = (*(respelt or (word.text,)), *(phrase.words[0] for phrase in other))
    return _Wanted(word.text, weight, rows, _any(asked, [*typed, *other]), is_whole, readings, respelt)


def _other_forms(asked: Asked, words: Sequence[str]) -> list[Phrase]:
    """Other forms of words, those of them that stand anywhere."""
    single = [parts[0] for parts in map(terms, words) if len(parts) == 1]
    possible = {form: None for word in single for form in forms(word) if form not in single}
    known = searching.messages_with(asked.index, list(possible)) if possible else ()
    return [Phrase((form,), is_open=False) for form in known]


def _any(asked: Asked, phrases: Sequence[Phrase], columns: Sequence[str] = COLUMNS) -> str:
    within = [column for column in columns if column in asked.query.columns]
    chosen = "" if set(within) == set(COLUMNS) else f"{{{' '.join(within)}}} : "
    return f"{chosen}({' OR '.join(phrase.expression for phrase in phrases)})" if within and phrases else ""


def _add_rows(
    rows: dict[int, float],
    asked: Asked,
    phrases: Sequence[Phrase],
    conditions: Sequence[Condition],
    worth: float,
) -> bool:
    """Add the messages with one of these; whether these are all."""
    if not (anywhere := _any(asked, phrases)):
        return True
    found = searching.newest_matches(asked.index, anywhere, conditions, MOST_MATCHES)
    for row in found:
        rows.setdefault(row, worth)
    if found and (by_human := _any(asked, phrases, ["human"])):
        for row in searching.newest_matches(asked.index, by_human, conditions, MOST_MATCHES):
            rows[row] = max(rows.get(row, 0.0), worth + _BY_HUMAN)
    return len(found) < MOST_MATCHES


def _stands_anywhere(asked: Asked, phrases: Sequence[Phrase]) -> bool:
    """Whether it is known at all: filters may hide it, and then it is no slip."""
    return searching.is_anywhere(asked.index, " OR ".join(phrase.expression for phrase in phrases))


_Has = Mapping[int, float]
"""The words that something has, by their numbers, and how much each counts there."""


class _Weighing:
    """Weighs sessions by what they have of the words."""

    def __init__(
        self,
        asked: Asked,
        wanted: Sequence[_Wanted],
        conditions: Sequence[Condition],
        said: Mapping[int, str],
    ) -> None:
        self._asked = asked
        self._wanted = wanted
        self._conditions = conditions
        self._said = said

    def best(self, limit: int, others: Collection[int]) -> dict[int, tuple[str, ...]]:
        """The sessions that fit best, the best first, and the words that each lacks."""
        by_session = self._by_session()
        by_session.update({number: by_session.get(number, []) for number in self._said})
        known = {
            session: _most(messages) for session, messages in by_session.items() if session not in others
        }
        likely = nlargest(
            MOST_COMPARED, known, key=lambda one: (len(known[one]), self._weight(known[one]), one)
        )
        rows = reader.sessions_numbered(self._asked.index, [*likely, *(self._said.keys() - others)])
        weighed = []
        for session, row in rows.items():
            has = dict(known[session])
            titled = self._in_text(f"{row.title} {row.project.name} {self._said.get(session, '')}")
            titled = titled if set(self._asked.query.columns) == set(COLUMNS) else set()
            has.update({number: max(has.get(number, 0.0), 1.0) for number in titled})
            has.update(self._elsewhere(session, has))
            together = max(map(self._weight, by_session[session]), default=0.0)
            in_title = self._weight(dict.fromkeys(titled, 1.0))
            weight = self._weight(has) + _TOGETHER * together + _IN_TITLE * in_title
            if has and self._has_what_is_required(has):
                share = self._weight(dict.fromkeys(has, 1.0))
                weighed.append((len(has), weight * _WORTH.get(row.kind, 1.0), share, session, has))
        weighed.sort(key=lambda one: one[:2], reverse=True)
        enough = _LEAST_SHARE * max((share for *_, share, _, _ in weighed), default=0.0)
        most = weighed[0][0] if weighed else 0
        in_order = [one for one in weighed if one[0] == most or one[2] >= enough]
        return {session: self._lacking(has) for *_, session, has in in_order[:limit]}

    def _weight(self, parts: _Has) -> float:
        return sum(self._wanted[number].weight * worth for number, worth in parts.items())

    def _has_what_is_required(self, has: _Has) -> bool:
        return all(number in has for number, one in enumerate(self._wanted) if one.is_required)

    def _lacking(self, parts: _Has) -> tuple[str, ...]:
        return tuple(one.typed for number, one in enumerate(self._wanted) if number not in parts)

    def _by_session(self) -> dict[int, list[_Has]]:
        """What the messages of sessions have, those that have most."""
        by_row: dict[int, dict[int, float]] = defaultdict(dict)
        for number, one in enumerate(self._wanted):
            for row, worth in one.rows.items():
                by_row[row][number] = worth
        best = nlargest(MOST_MATCHES, by_row, key=lambda row: (self._weight(by_row[row]), row))
        by_session: dict[int, list[_Has]] = defaultdict(list)
        for row, session in searching.sessions_of(self._asked.index, best).items():
            by_session[session].append(by_row[row])
        return by_session

    def _in_text(self, text: str) -> set[int]:
        """The words that stand in a text."""
        there = set(terms(text))
        return {
            number
            for number, one in enumerate(self._wanted)
            if any(there.issuperset(terms(reading)) for reading in one.readings)
        }

    def _elsewhere(self, session: int, has: _Has) -> dict[int, float]:
        """Words of which not all places were looked at, and that stand in a session too."""
        return {
            number: _OTHER_FORM
            for number, one in enumerate(self._wanted)
            if number not in has
            and not one.is_whole
            and searching.is_in_session(self._asked.index, one.expression, session, self._conditions)
        }


def _most(messages: Iterable[_Has]) -> dict[int, float]:
    """What messages have together."""
    most: dict[int, float] = {}
    for message in messages:
        for number, worth in message.items():
            most[number] = max(most.get(number, 0.0), worth)
    return most


def _matches(wanted: Sequence[_Wanted], shown: Collection[int]) -> dict[int, Match]:
    """Those of some messages that have some of the words, and whether it is in the words of the human."""
    weights: dict[int, float] = defaultdict(float)
    by_human: set[int] = set()
    for one in wanted:
        for row in one.rows.keys() & shown:
            weights[row] += one.weight * one.rows[row]
            by_human |= {row} if one.rows[row] > 1.0 else set()
    return {row: (weight, row, _HUMAN if row in by_human else 0) for row, weight in weights.items()}
