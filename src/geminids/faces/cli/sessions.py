"""What is said of sessions beside data: which are meant, what could not be read, where others may lie."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from geminids.core.errors import PARTLY_DONE, Candidate, GeminidsError, Unreadable
from geminids.faces.cli.talk import cut, say, stderr_width
from geminids.sharing.transcript import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from geminids.core.model import SessionSummary
    from geminids.faces.cli.options import Choices
    from geminids.library import Library
    from geminids.query.health.overview import AgentOverview
    from geminids.query.projects.report import ProjectReport
    from geminids.storage.durable.values import Marks
    from geminids.storage.index.values import SessionRow

    Session = SessionRow | SessionSummary

MOST_NAMED = 3
"""So many files that were left unread are named."""


def marks_of(library: Library, sessions: Sequence[Session]) -> Mapping[str, Marks]:
    """What the user said of sessions, by their ids; if that cannot be read, they are shown without."""
    try:
        return library.marks([session.id for session in sessions])
    except (GeminidsError, OSError) as error:
        say(f"Names, tags and notes are not shown. {error}")
        return {}


def kinds_of(counted: AgentOverview | ProjectReport) -> dict[str, int]:
    """How many sessions of each kind an agent left, or a project has."""
    numbers = (counted.sessions, counted.checkpoints, counted.subagents, counted.lost)
    return dict(zip(("main", "checkpoint", "subagent", "lost"), numbers, strict=True))


def sessions_meant(
    choices: Choices, library: Library, wanted: Sequence[str], nothing_to_do: str
) -> list[SessionRow]:
    """The sessions that words name, each once; words that name none are looked for, and that is said."""
    from geminids.query.sessions.listing import Filter

    items, were_searched = library.items_meant(wanted, choices.now)
    meant = {(item.id, item.file) for item in items}
    rows = [row for row in library.listing(Filter()).sessions if (row.id, row.file) in meant]
    if were_searched:
        tell_search(choices, library, wanted, len(rows))
    elif not rows:
        say(f"It is a single file, not one of the indexed sessions. {nothing_to_do}")
    return rows


def tell_search(choices: Choices, library: Library, wanted: Sequence[str], number: int) -> None:
    """Say in how many sessions words were found that name none; or that their project is none."""
    from geminids.faces.cli.query_words import has_filters

    query = " ".join(wanted)
    if not number and (unknown := library.no_such_project(query, choices.now)):
        say(str(unknown))
    elif has_filters(query):
        say(f"{words.count(number, 'session')} for {query!r}.")
    else:
        held = (
            f"the words occur in {words.count(number, 'session')}" if number else "no message has these words"
        )
        say(f"No session is named {query!r}; {held}.")


def short_names(library: Library, sessions: Iterable[SessionRow | SessionSummary]) -> dict[str, str]:
    """What to type for each session, by its id: no more than tells it from all others that are known."""
    from geminids.query.sessions.ids import short_ids
    from geminids.query.sessions.listing import Filter

    native_ids = {session.id: session.native_id for session in sessions}
    known = {row.id: row.native_id for row in library.listing(Filter()).sessions} | native_ids
    shortest = short_ids(known.values())
    held = Counter(known.values())
    # Agents need not differ in what they call their sessions.
    return {
        session_id: shortest[native_id] if held[native_id] == 1 else session_id
        for session_id, native_id in native_ids.items()
    }


def candidate_line(candidate: Candidate) -> str:
    """A session that may have been meant, in one line."""
    when = words.moment(candidate.at) if candidate.at else "no time"
    told = f"  {candidate.id}  {when}  {candidate.place}  {candidate.title or 'untitled'}"
    return cut(told, stderr_width() or len(told))


def tell_unreadable(problems: Sequence[Unreadable]) -> int:
    """Name each place that could not be read; the exit code that follows from it."""
    for problem in problems:
        say(f"Cannot read {words.path(problem.file)}: {problem.detail}")
    return PARTLY_DONE if problems else 0


def tell_left_unread(problems: Sequence[Unreadable], show: Callable[[str], str]) -> None:
    """Name what was too large to be read for a list, and what shows all of it."""
    for problem in problems[:MOST_NAMED]:
        place = words.path(problem.file)
        say(f"Part of {place} was not read: {problem.detail}. `{show(problem.file)}` shows it.")
    if len(problems) > MOST_NAMED:
        say(f"The same is true of {words.count(len(problems) - MOST_NAMED, 'more file')}.")


def tell_memory(library: Library) -> None:
    """Say that links and what was learnt cannot be read, so that nobody takes them for gone."""
    if library.memory_is_damaged:
        say("Stored project folders and links cannot be read; `projects link` shows why.")


def tell_nothing_found(places: Iterable[str]) -> None:
    """Say where no session is, and where else some are."""
    where = ", ".join(map(words.path, places))
    here = f"No session found in {where}." if where else "No session found."
    say(f"{here} Use `--home DIR` to look elsewhere, or `--sample` to see sample sessions.")
