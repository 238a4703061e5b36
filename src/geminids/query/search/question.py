"""A search as a face asks for it: words as they were typed, and what options add to them."""

from __future__ import annotations

from collections.abc import Sequence

from geminids.core.names import storable
from geminids.core.values import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime

    from geminids.query.search.language import Query


BEST, NEWEST = "best", "newest"
"""In which order sessions are shown."""


class Question(NamedTuple):
    """What is looked for, where, and how much of it is shown."""

    words: str
    """In the language of searches; may be empty if something else narrows the search."""
    places: Sequence[str] = ()
    """As `in:`."""
    project: str | None = None
    since: str | None = None
    until: str | None = None
    """A day counts up to its end."""
    limit: int = 10
    """Sessions on a page."""
    per_session: int | None = 3
    """Messages of each; None means all, and with 0 they are not even counted."""
    width: int = 160
    """Characters of a snippet."""
    after: str | None = None
    """Where the page before ended."""
    order: str = BEST
    scan: bool = False
    """Read all texts, also what is not indexed."""
    agents: Sequence[str] = ()
    """As `agent:`."""
    patience: float | None = None
    """Seconds after which a search that must read texts stops where it is, and says so."""
    forgiving: bool = False
    """Whether what fits best is found too where nothing has all the words, or little."""
    with_names: bool = False
    """Whether what sessions are called is looked through too: names, tags and notes that the user gave, and
    names of projects."""
    is_bare: bool = False
    """Whether nothing is wanted beside the sessions: neither how much was searched, nor what filters leave
    out, nor what may have been meant."""
    hidden_sessions: bool = False
    """Whether what filters leave out is counted in sessions and not in messages."""


def query_of(question: Question, now: datetime) -> Query:
    """The words with all that options add; these count as filters do."""
    from geminids.query.search.language import Query, parse

    choices = {"in": question.places, "agent": question.agents}
    typed = storable(question.words) + "".join(
        f" {name}:{','.join(chosen)}" for name, chosen in choices.items() if chosen
    )
    options = {"project": question.project, "since": question.since, "before": question.until}
    chosen = {name: value for name, value in options.items() if value}
    # With neither words nor options there is nothing to look for, which the language says.
    query = parse(typed, now) if typed.strip() or not chosen else Query("", None, ())
    if not chosen:
        return query
    from geminids.query.search.filters import Filter

    added = [Filter(name, value) for name, value in chosen.items()]
    since, before = _moments(query, question, now)
    text = " ".join([typed, *(f"{one.name}:{one.value}" for one in added)])
    return query._replace(text=text, filters=(*query.filters, *added), since=since, before=before)


def _moments(query: Query, question: Question, now: datetime) -> tuple[datetime | None, datetime | None]:
    """The narrowest span of time that words and options ask for."""
    from geminids.query.search.moments import parse_moment

    since = [query.since, parse_moment(question.since, now) if question.since else None]
    before = [query.before, parse_moment(question.until, now, end=True) if question.until else None]
    return max(filter(None, since), default=None), min(filter(None, before), default=None)


def looks_like_query(words: Sequence[str]) -> bool:
    """Whether these are words to look for, and cannot be names of sessions or files."""
    from geminids.query.sessions.input_files import file_meant

    return not any(map(file_meant, words)) and any(map(_is_of_the_language, words))


def _is_of_the_language(word: str) -> bool:
    from geminids.query.search.filters import FILTERS

    name, colon, value = word.lstrip("-").partition(":")
    is_filter = bool(colon and value) and name in FILTERS
    return is_filter or " " in word or word.endswith("*") or word[:1] in {'"', "-"}
