"""Projects whose name has some of the words that are looked for: their sessions need not say these words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from geminids.core.names import project_name
from geminids.core.values import Value
from geminids.query.search.ranking import NameMatcher, telling_words
from geminids.query.search.tree import And, Words, is_everything_else
from geminids.storage.index import reader
from geminids.storage.index.schema import COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.search.asked import Asked
    from geminids.query.search.tree import Node, Prefix


class Named(Value):
    """Projects whose names have the same words of a query."""

    projects: list[int]
    words: set[int]
    """By their places among those that are wanted."""
    share: float
    """How much of what is looked for these are."""
    rest: Node | None
    """What is left to be looked for in their sessions; None if nothing is."""


def named_projects(asked: Asked) -> list[Named]:
    """The projects that are meant by some of the words."""
    words = telling_words(asked.query.tree)
    if not words or set(asked.query.columns) != set(COLUMNS):
        return []
    in_name = NameMatcher(words)
    places = reader.places_of_projects(asked.index)
    # Nearly always no name has any of the words, which all folders together tell soonest.
    if not in_name.may_hold("\n".join(path or slug for _, path, slug in places)):
        return []
    by_words: dict[frozenset[int], list[int]] = defaultdict(list)
    for number, path, slug in places:
        if held := in_name(project_name(path, None, slug)):
            by_words[frozenset(held)].append(number)
    named = (_named(asked.query.tree, words, held, projects) for held, projects in by_words.items())
    # What is only kept out would leave all that was ever said in a project.
    return [one for one in named if one.rest is None or not is_everything_else(one.rest)]


def _named(
    tree: Node | None, words: Sequence[Words | Prefix], held: frozenset[int], projects: list[int]
) -> Named:
    parts = tree.parts if isinstance(tree, And) else (tree,) if tree else ()
    gone = [words[place] for place in held]
    rest = tuple(part for part in parts if part not in gone)
    if all(isinstance(part, Words) and part not in words for part in rest):
        # What is left only holds a sentence together.
        rest = ()
    left = And(rest) if len(rest) > 1 else rest[0] if rest else None
    return Named(projects, set(held), 1 - len(rest) / len(parts), left)
