r"""What people type to search: words, phrases, prefixes, substrings, regular expressions, filters.

    cors preflight             both words, in any order, anywhere in a message
    "cors preflight"           one after the other, exactly so
    cors OR csrf, cors|csrf    either; it joins its two neighbours before all else does
    cors -test, cors NOT test  without the other
    (cors OR csrf) -"a test"   parentheses
    pre*                       words that begin like this
    *fligh*, *"f(x"*           these characters, anywhere: slower
    /time ?out/                a regular expression, in capitals or not: slower
    project:shop -is:rewound   filters, for the query as a whole; several of one name are alternatives

People also paste error messages and commands, so whatever cannot be meant as an operator is a word:

- `(` and `"` count where a word begins, `)` where a group is open. A `)` too many is ignored, and so is a `(`
  in a query without operators. A `"` too many is an error, unless nothing follows it.
- A regular expression begins and ends with `/` where a word does (or with `/i`, as some are used to), has no
  other `/` (but `\/`), and has one of `^ $ * + ? { } [ ] \ | ( )` or, but not first, a dot. So `/etc/hosts`,
  `src/app/`, `/tmp/` and `/.config/` are words, not `/(tmp)/`.
- `name:value` is a filter if the name is known, in small letters, and the value follows at once and begins
  with neither `:` nor `//`. A name that is nearly known (`proejct:`), or known elsewhere (`after:`), is an
  error that tells the right one. All others are words: `http://x`, `std::vector`, `node:fs`, `code: 5`.
- `-` counts where a word follows it at once; `--force`, `->` and `-1` are words.
- Signs without letters or digits are ignored beside words; alone they are looked for as characters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from geminids.core.values import Value
from geminids.query.search.mistakes import QuerySyntaxError
from geminids.query.search.tree import (
    And,
    Node,
    Regex,
    Substring,
    Words,
    is_everything_else,
    leaves,
    matches,
    rows,
    want,
)
from geminids.storage.index.schema import COLUMNS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.query.search.filters import Filter
    from geminids.storage.durable.values import Marks
    from geminids.storage.index.terms import Terms
    from geminids.storage.text.patterns import Patterns
    from geminids.storage.text.words import Want

__all__ = ["Match", "Query", "QuerySyntaxError", "parse"]

MOST_CHARACTERS = 10_000
MOST_WORDS = 500
_OPERATORS = frozenset({"AND", "OR", "NOT"})


class Match(Value):
    """What to ask FTS5."""

    expression: str | None
    """None: no row at all matches, or with `is_complement` every row does."""
    is_complement: bool
    """The rows that do *not* match the expression are meant."""
    must_verify: bool
    """They are candidates: `Query.matches` decides."""


class Query(Value):
    """What somebody looks for."""

    text: str
    tree: Node | None
    """None: everything that passes the filters."""
    filters: tuple[Filter, ...]
    columns: tuple[str, ...] = COLUMNS
    """Where a hit may come from."""
    since: datetime | None = None
    before: datetime | None = None
    marks: Mapping[str, Marks] = {}
    """What the user said of sessions, by their ids: what `tag:` and `name:` ask for."""

    @property
    def positive(self) -> tuple[Want, ...]:
        """What to highlight."""
        return tuple(want(leaf) for leaf, is_wanted in leaves(self.tree) if is_wanted) if self.tree else ()

    def wanted(self, name: str) -> tuple[str, ...]:
        """The values of a filter, of which one must fit; none: any will do."""
        return tuple(f.value for f in self.filters if f.name == name and not f.is_negated)

    def unwanted(self, name: str) -> tuple[str, ...]:
        """The values of a filter, of which none may fit."""
        return tuple(f.value for f in self.filters if f.name == name and f.is_negated)

    @property
    def must_verify(self) -> bool:
        """Whether the index alone cannot tell."""
        found = leaves(self.tree) if self.tree else ()
        return any(isinstance(leaf, Substring | Regex) for leaf, _ in found)

    def fts(self, columns: Sequence[str] | None = None, terms: Terms | None = None) -> Match:
        """The rows that may match, for FTS5; `columns` are those of `in:` unless told.

        Of what must be verified, only the words of the index tell which rows may.
        """
        if not self.tree:
            return Match(None, is_complement=True, must_verify=False)
        bound = rows(self.tree, terms)
        if not bound.expression:
            return Match(None, bound.is_complement, must_verify=True)
        within = self.columns if columns is None else columns
        chosen = "" if set(within) == set(COLUMNS) else f"{{{' '.join(within)}}} : "
        expression = f"{chosen}({bound.expression})" if chosen else bound.expression
        return Match(expression, bound.is_complement, self.must_verify)

    def matches(self, texts: Mapping[str, str], patterns: Patterns | None = None) -> bool:
        """Whether a message with these texts by column is meant, filters aside.

        Raises TooSlowError where a regular expression takes longer than `patterns` have time.
        """
        if not self.tree:
            return True
        if patterns is None:
            from geminids.storage.text.patterns import Patterns

            with Patterns() as own:
                return self.matches(texts, own)
        return matches(self.tree, {c: texts[c] for c in self.columns if c in texts}, patterns)


def parse(text: str, now: datetime | None = None) -> Query:
    """What a human means by this; times like `since:7d` count back from `now`."""
    if not text.strip():
        raise QuerySyntaxError(text, 1, "Search for what?")
    if len(text) > MOST_CHARACTERS:
        raise QuerySyntaxError(text, MOST_CHARACTERS, f"A query has at most {MOST_CHARACTERS:,} characters.")
    tree = _plain(text)
    if tree is not None:
        _check(text, tree, ())
        return Query(text, tree, ())
    return _by_grammar(text, now)


def _by_grammar(text: str, now: datetime | None) -> Query:
    # Few queries need it, and loading it takes as long as finding something.
    from geminids.query.search.filters import columns_of, moments_of
    from geminids.query.search.grammar import taken_apart

    tree, filters = taken_apart(text)
    _check(text, tree, filters)
    since, before = moments_of(text, filters, now)
    return Query(text, tree, tuple(filters), columns_of(text, filters), since, before)


def _plain(text: str) -> Node | None:
    """The tree of what most people type, words or one phrase in quotes; None if there is more to it."""
    if text[0] == text[-1] == '"' and text.count('"') == 2:
        phrase = text[1:-1]
        return Words(phrase, is_quoted=True) if phrase.replace(" ", "").isalnum() else None
    typed = text.split(" ")
    if not all(word.isalnum() for word in typed) or not _OPERATORS.isdisjoint(typed):
        return None
    words: list[Node] = []
    column = 1
    for word in typed:
        words.append(Words(word, column))
        column += len(word) + 1
    return And(tuple(words)) if len(words) > 1 else words[0]


def _check(text: str, tree: Node | None, filters: Sequence[Filter]) -> None:
    if not tree and not filters:
        raise QuerySyntaxError(text, 1, "There is no word to search for.")
    if not tree and (places := [typed for typed in filters if typed.name == "in"]):
        problem = "in: says where to search for words, and there are none."
        raise QuerySyntaxError(text, places[0].column, problem, "geminids search 'in:human cors'")
    if tree and sum(1 for _ in leaves(tree)) > MOST_WORDS:
        raise QuerySyntaxError(text, 1, f"A query has at most {MOST_WORDS} words.")
    if tree and not filters and is_everything_else(tree):
        raise QuerySyntaxError(
            text,
            1,
            "This only says what to exclude.",
            "geminids search 'cors -test', or 'project:shop -test'",
        )
