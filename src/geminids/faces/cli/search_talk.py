"""What is said beside the hits of a search: how much there is, what was left out, how to see more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from geminids.core.names import one_line
from geminids.core.values import NamedTuple
from geminids.faces.cli.talk import say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.query.search.found import Found, SessionHits, Stopped, Unsearched

LEAST_BEGINNING = 3
"""Letters of a word that is taken for the beginning of a filter."""
MOST_NAMED = 6
"""Sessions, and messages of each, that are named where they were not searched; the document names all."""


class SearchOutcome(NamedTuple):
    """What to speak about."""

    found: Found
    spelled: Callable[..., str]
    """The command to type for the same search, with more words."""
    show: str
    """The command to type for the first session."""
    is_for_programs: bool
    """All of it stands in the document."""
    typed: str
    """What is looked for, as it was typed."""
    page: int
    """From 1."""
    places: Sequence[str]
    """The folders that were looked at."""
    no_such_project: str = ""
    """What is to be said of a project that is none."""
    is_fit_told: bool = False
    """How it fits was drawn above the hits."""
    is_partial: bool = False
    """Whether sessions are still to be read."""

    @property
    def next_page(self) -> str:
        """The command to type for the next page."""
        return self.spelled("--page", str(self.page + 1))


def tell_found(outcome: SearchOutcome) -> None:
    """Say it, as far as it is of use where the output goes."""
    found = outcome.found
    if found.has_changed:
        say("The index has changed since the previous page: sessions may be missing here or appear twice.")
    _tell_begun_filters(outcome.typed)
    if not found.sessions:
        _tell_nothing(outcome)
    elif not outcome.is_fit_told:
        for note in how_it_fits(found):
            say(note)
    if found.unsearched:
        _tell_unsearched(found.unsearched)
    if found.stopped:
        _tell_stopped(outcome, found.stopped)
    if not outcome.is_for_programs and sys.stdout.isatty():
        _tell_extent(outcome)
    elif found.next and not found.stopped and not outcome.is_for_programs:
        say(f"There is more: `{outcome.next_page}`.")


def tell_meaning(found: Found, show: str) -> None:
    """Say of a search by meaning what its order means, and what to type next."""
    from geminids.sharing.transcript import words

    if not found.sessions:
        say("No session to compare.")
    elif sys.stdout.isatty():
        compared = words.sessions(found.searched.kinds)
        say(f"The closest in meaning of {compared}. Read one: `{show}`.")


def how_it_fits(found: Found) -> Iterator[str]:
    """What is shown where nothing has all the words as they were typed."""
    for typed, words in found.respelt.items():
        yield f"{typed!r} does not occur; searched for {' or '.join(words)} instead."
    for typed, filler in found.fillers.items():
        yield f"{typed!r} does not occur; taken for {filler!r} and left out."
    lacking = [one for one in found.sessions if one.missing]
    if lacking and len(lacking) == len(found.sessions):
        yield f"No session has all {found.words} words; those with the most come first."
    elif lacking:
        whole = len(found.sessions) - len(lacking)
        have = "has" if whole == 1 else "have"
        yield f"Only {whole} of these {have} all the words; the others lack some of them."
    elif found.is_spread:
        yield "No message has all the words; these sessions have all of them in several messages."


def _tell_nothing(outcome: SearchOutcome) -> None:
    from geminids.sharing.transcript import words

    found = outcome.found
    searched = found.searched
    if not searched.sessions:
        from geminids.faces.cli.sessions import tell_nothing_found

        tell_nothing_found(outcome.places)
        return
    if found.stopped:
        say(f"Nothing found in the newest {words.count(found.stopped.read, 'session')}.")
    else:
        say(f"Nothing found in {words.sessions(searched.kinds)}.")
    _tell_filters(outcome.typed)
    if outcome.no_such_project:
        say(outcome.no_such_project)
    for typed, near in found.near.items():
        if not (outcome.no_such_project and typed.startswith("project:")):
            say(f"{typed!r} does not occur.{_offer(typed, near)}")
    for typed, number in found.hidden.items():
        say(f"Without `{typed}`: {words.count(number, 'message')}.")
    if searched.left_out and not any(found.near.values()) and _has_words(outcome.typed):
        say(f"Not indexed: {searched.left_out}. `{outcome.spelled('--scan')}` searches everything.")


def _has_words(typed: str) -> bool:
    """Whether reading everything could find more than the index does."""
    from geminids.faces.cli.query_words import has_words

    return has_words(typed)


def _offer(typed: str, near: Sequence[str]) -> str:
    if not near:
        return ""
    return f" Available: {', '.join(near)}." if ":" in typed else f" Did you mean {' or '.join(near)}?"


def _tell_filters(typed: str) -> None:
    """Say what looks like a filter and is none, nor the beginning of one."""
    from geminids.query.search.filters import FILTERS

    for name, begun in _like_filters(typed):
        if not begun:
            told = f"`{name}:` is not a filter, so it was searched for as a word."
            say(f"{told} Filters are {', '.join(FILTERS)}.")


def _tell_begun_filters(typed: str) -> None:
    """Say which filters may have been meant by their beginnings, whatever was found for these words."""
    for name, begun in _like_filters(typed):
        if begun:
            meant = " or ".join(f"`{filter_name}:`" for filter_name in begun)
            say(f"`{name}:` is not a filter. Did you mean {meant}?")


def _like_filters(typed: str) -> Iterator[tuple[str, list[str]]]:
    """Words that look like filters and are none, each with the filters that begin so."""
    if ":" not in typed:
        return
    import re

    from geminids.query.search.filters import FILTERS

    names = re.findall(r"(?:^|\s)-?([a-z]+):(?=[\w\"])", typed)
    for name in dict.fromkeys(name for name in names if name not in FILTERS):
        yield name, [one for one in FILTERS if one.startswith(name)] if len(name) >= LEAST_BEGINNING else []


def _tell_unsearched(unsearched: Sequence[Unsearched]) -> None:
    """Name the messages in which a regular expression took too long."""
    from importlib.util import find_spec

    from geminids.sharing.transcript import words

    messages = words.count(sum(len(one.messages) for one in unsearched), "message")
    named = [f"{one_line(one.session)} {_numbers(one.messages)}" for one in unsearched[:MOST_NAMED]]
    if len(unsearched) > len(named):
        named.append(words.count(len(unsearched) - len(named), "more session"))
    say(
        f"Not searched: {messages} in which the regular expression takes too long: {'; '.join(named)}. "
        f"Make it simpler, or add a word that must occur."
    )
    if find_spec("re2") is None:
        from geminids.core.installation import who_adds

        say(f"{who_adds('regex')} adds an engine that is fast for nearly all of them.")


def _numbers(places: Sequence[int]) -> str:
    shown = " ".join(f"#{place + 1}" for place in places[:MOST_NAMED])
    return f"{shown} …" if len(places) > MOST_NAMED else shown


def _tell_stopped(outcome: SearchOutcome, stopped: Stopped) -> None:
    from geminids.sharing.transcript import words

    say(
        f"Stopped after reading {words.count(stopped.read, 'session')}; {stopped.left:,} more may match. "
        f"`{outcome.next_page}` continues, --scan searches everything."
    )


def _is_found_by_name(group: SessionHits) -> bool:
    """Whether none of its messages has the words."""
    return not any(hit.is_of_message for hit in group.hits)


def _tell_extent(outcome: SearchOutcome) -> None:
    """On a terminal: how much was found among how much, what was hidden, and what to type next."""
    from geminids.sharing.transcript import words

    found = outcome.found
    if not found.sessions:
        return
    total = found.total
    messages = f"{'' if total.is_exact else 'at least '}{words.count(total.matches, 'message')}"
    sessions = f"{'' if total.are_all_sessions else 'at least '}{words.count(total.sessions, 'session')}"
    is_told = found.searched.left_out and _has_words(outcome.typed)
    left_out = f"; not indexed: {found.searched.left_out} (--scan)" if is_told else ""
    in_messages = f"{messages} in {sessions}" if total.matches else sessions
    if total.matches and (total.matches < total.sessions or any(map(_is_found_by_name, found.sessions))):
        # Some have the words in their title, or in the name of their project.
        in_messages = f"{sessions}; {messages}"
    so_far = " read so far" if outcome.is_partial else ""
    say(f"{in_messages}; searched: {words.sessions(found.searched.kinds)}{so_far}{left_out}.")
    for typed, number in found.hidden.items():
        say(f"Without `{typed}`: {words.count(number, 'more message')}.")
    say(f"Read one: `{outcome.show}`.")
    if found.next and not found.stopped:
        say(f"The next page: `{outcome.next_page}`.")
