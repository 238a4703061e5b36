"""The order in which a search shows sessions: by the best of the messages that match.

- How well a message fits is told by the index: how rare the words are, how often they stand there, and in
  whose words (`searching.WEIGHTS`).
- It counts less where a word stands only in two: `todo` comes before `to do`.
- It counts more where all the words stand close together, and most where the human typed them so.
- So it does in a session whose title, or the name of whose project, has the words.
- What a message is counts among those that fit about as well, tier by tier: originals more than copies, what
  was kept more than what was dropped, what is new more than what is old (`searching.worths`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from geminids.core.values import Value
from geminids.query.search.fillers import FILLERS
from geminids.query.search.tree import And, Node, Prefix, Words, whole_words
from geminids.storage.index import search as searching
from geminids.storage.index.schema import COLUMNS
from geminids.storage.index.search import Match
from geminids.storage.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.search.asked import Asked
    from geminids.storage.index.search import Worth
    from geminids.storage.text.words import Phrase

TIER = 100
"""So many matches whose words fit best are weighed by what they are, then the next so many."""
_IN_TWO = 0.25
"""How much a match counts of the best one with whole words, if it has some word only in two."""
_CLOSE, _CLOSE_BY_HUMAN, _NAMED = 1.0, 3.0, 1.0
"""How much more a match counts where all words stand close together, where the human typed them so, and where
all of them stand in a title or the name of a project."""
_APART = 5
"""Words that may stand between the first and the last of those that are close, for each of these."""
_LONGEST_NAME = 120
"""Characters of a title that count: what is longer is no title, but how a long prompt begins."""
_HUMAN, _OTHER = 1 << COLUMNS.index("human"), 1 << COLUMNS.index("other")

_NONE: Set[int] = frozenset()


class Order(Value):
    """Sessions in their order."""

    sessions: list[int]
    are_all: bool


def telling_words(tree: Node | None) -> list[Words | Prefix]:
    """The words that must all be there and tell what something is about; all of them if none does."""
    parts = tree.parts if isinstance(tree, And) else (tree,)
    words = [part for part in parts if isinstance(part, Words | Prefix) and part.phrases]
    return [word for word in words if word.text.casefold() not in FILLERS] or words


class NameMatcher:
    """Tells which of some words a name has: the title of a session, the name of a project."""

    def __init__(self, words: Sequence[Words | Prefix]) -> None:
        self._words = [[_spaced(phrase) for phrase in word.phrases] for word in words]
        self._beginnings = [word.phrases[0].words[0] for word in words]

    def __call__(self, name: str) -> Set[int]:
        """The places of those of the words that stand in it."""
        shown = name[:_LONGEST_NAME]
        # Most names have none of them.
        if not self.may_hold(shown):
            return _NONE
        there = f" {' '.join(terms(shown))} "
        return {
            place for place, phrases in enumerate(self._words) if any(phrase in there for phrase in phrases)
        }

    def may_hold(self, text: str) -> bool:
        """Whether any of them may stand in a text, as its letters tell."""
        letters = text.lower().replace(" ", "")
        for beginning in self._beginnings:
            if beginning in letters:
                return True
        return not letters.isascii()

    def has_all(self, name: str) -> bool:
        """Whether all of the words stand in it."""
        return len(self(name)) == len(self._words)


def _spaced(phrase: Phrase) -> str:
    return f" {' '.join(phrase.words)}{'' if phrase.is_open else ' '}"


def ranked(asked: Asked, expression: str, most: int = searching.WINDOW) -> list[Match]:
    """The newest messages that match an expression, those that fit best first."""
    found = searching.newest_scored(asked.index, expression, asked.conditions(), most)
    words = telling_words(asked.query.tree)
    if len(found) > 1:
        found = _whole_words_up(asked, found)
    close = _close_together(asked, words, found) if len(found) > 1 < len(words) else set[int]()
    if close:
        found = [_raised(match) if match[1] in close else match for match in found]
    found.sort(reverse=True)
    if words and len(found) > TIER:
        behind = [
            message
            for _, message, bits in found[TIER:]
            if bits & _OTHER and not bits & _HUMAN and (message in close or len(words) == 1)
        ]
        return _with_titles_first(asked, NameMatcher(words), found, behind[:TIER])
    return found


def _whole_words_up(asked: Asked, found: list[Match]) -> list[Match]:
    """The messages, of which those count less that have a word only in two.

    Two words that happen to stand side by side are rare, so the index rates them above the one word.
    """
    whole = asked.query._replace(tree=whole_words(asked.query.tree)).fts().expression
    if not whole or whole == asked.expression:
        return found
    numbers = searching.matching_between(asked.index, whole, found[-1][1], found[0][1])
    best = max((match[0] for match in found if match[1] in numbers), default=0.0)
    highest = max((match[0] for match in found if match[1] not in numbers), default=0.0)
    if not best or not highest:
        return found
    share = _IN_TWO * min(best / highest, 1.0)
    return [match if match[1] in numbers else (match[0] * share, *match[1:]) for match in found]


def _close_together(asked: Asked, words: Sequence[Words | Prefix], found: Sequence[Match]) -> set[int]:
    """The messages of those found, the newest first, in which all words stand close together in a column."""
    columns = asked.query.columns
    chosen = "" if set(columns) == set(COLUMNS) else f"{{{' '.join(columns)}}} : "
    phrases = " ".join(word.phrases[0].expression for word in words)
    expression = f"{chosen}NEAR({phrases}, {_APART * len(words)})"
    return searching.matching_between(asked.index, expression, found[-1][1], found[0][1])


def _raised(match: Match) -> Match:
    score, message, bits = match
    return score * (1 + (_CLOSE_BY_HUMAN if bits & _HUMAN else _CLOSE)), message, bits


def _with_titles_first(
    asked: Asked, in_name: NameMatcher, found: list[Match], behind: Sequence[int]
) -> list[Match]:
    """The messages, with those up front that the title of an agent brought and that stand far behind.

    Such a title stands with what agents put in, which counts so little that it would not be weighed.
    """
    worths = searching.worths(asked.index, behind) if behind else {}
    titled = {message for message, worth in worths.items() if in_name.has_all(worth.title or "")}
    if not titled:
        return found
    return [
        *(match for match in found if match[1] in titled),
        *(match for match in found if match[1] not in titled),
    ]


def newest_first(asked: Asked, matches: Sequence[Match], others: Sequence[int]) -> Order:
    """The sessions of these messages, and others, by their time."""
    sessions = {*searching.sessions_of(asked.index, (match[1] for match in matches)).values(), *others}
    last = searching.last_moments(asked.index, sessions)
    return Order(sorted(sessions, key=lambda number: (last[number], number), reverse=True), are_all=True)


def best_first(
    asked: Asked, matches: Sequence[Match], wanted: int, projects: Mapping[int, Set[int]]
) -> Order:
    """The sessions with the best messages, more than are wanted; `projects` have some words in their names.

    What a message is counts among those whose words fit about as well: they are weighed tier by tier.
    """
    words = telling_words(asked.query.tree)
    sessions: dict[int, None] = {}
    for start in range(0, len(matches), TIER):
        tier = _weighed(asked, matches[start : start + TIER])
        sessions.update(dict.fromkeys(_by_names(words, tier, wanted, projects)))
        if len(sessions) > wanted:
            return Order(list(sessions), are_all=start + TIER >= len(matches))
    return Order(list(sessions), are_all=True)


def _weighed(asked: Asked, tier: Sequence[Match]) -> dict[int, tuple[float, Worth]]:
    """The sessions of these messages, each with what its best message weighs, the best first."""
    worths = searching.worths(asked.index, (match[1] for match in tier))
    weighed = [(score * worths[message].worth, worths[message]) for score, message, _ in tier]
    weighed.sort(key=lambda one: (one[0], one[1].session))
    best = {worth.session: (weight, worth) for weight, worth in weighed}
    return dict(sorted(best.items(), key=lambda one: (one[1][0], one[0]), reverse=True))


def _by_names(
    words: Sequence[Words | Prefix],
    weighed: Mapping[int, tuple[float, Worth]],
    wanted: int,
    projects: Mapping[int, Set[int]],
) -> list[int]:
    """Sessions in the order of their weight with titles and projects; exact for as many as are wanted.

    Those that no name could bring so far are not asked for theirs.
    """
    in_name = NameMatcher(words)
    weights = [weight for weight, _ in weighed.values()]
    least = weights[wanted] / (1 + _NAMED) if len(weights) > wanted else 0.0
    named: list[tuple[float, int]] = []
    for session, (weight, worth) in weighed.items():
        if weight >= least:
            held = in_name(worth.title or "") | projects.get(worth.project, _NONE)
            named.append((weight * (1 + _NAMED * len(held) / max(len(words), 1)), session))
        else:
            named.append((weight, session))
    return [session for _, session in sorted(named, reverse=True)]
